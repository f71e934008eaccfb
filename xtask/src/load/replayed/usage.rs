//! What a process has used, from the kernel's own books (`man 5 proc`).

use std::process::Command;
use std::sync::OnceLock;
use std::time::Duration;

use anyhow::{Context as _, ensure};

/// The CPU time of all threads of a process since it started, in user and kernel mode.
pub(super) fn cpu_time(pid: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    let ticks = cpu_ticks(&text).with_context(|| format!("{path} has another form"))?;
    Ok(Duration::from_secs_f64(ticks as f64 / ticks_per_second()? as f64))
}

/// Every process and its parent.
pub(super) fn processes() -> anyhow::Result<Vec<(u32, u32)>> {
    let mut processes = Vec::new();
    for entry in std::fs::read_dir("/proc").context("cannot read /proc")? {
        let Ok(pid) = entry?.file_name().to_string_lossy().parse::<u32>() else { continue };
        // It may have ended meanwhile.
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        processes.extend(parent(&stat).map(|parent| (pid, parent)));
    }
    Ok(processes)
}

/// The CPU time of a process, of those it waited for, and of all that it started and that still run.
pub(super) fn cpu_time_with_children(processes: &[(u32, u32)], pid: u32) -> anyhow::Result<Duration> {
    let path = format!("/proc/{pid}/stat");
    let text = std::fs::read_to_string(&path).unwrap_or_default();
    // One that has ended meanwhile is counted by whoever waited for it.
    let ticks = cpu_ticks(&text).unwrap_or_default() + waited_for_ticks(&text).unwrap_or_default();
    let mut time = Duration::from_secs_f64(ticks as f64 / ticks_per_second()? as f64);
    for (child, _) in processes.iter().filter(|(_, parent)| *parent == pid) {
        time += cpu_time_with_children(processes, *child)?;
    }
    Ok(time)
}

/// The most memory that a process has held at one time.
pub(super) fn peak_memory_bytes(pid: u32) -> anyhow::Result<u64> {
    let path = format!("/proc/{pid}/status");
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {path}"))?;
    peak_bytes(&text).with_context(|| format!("{path} has no VmHWM"))
}

/// utime + stime: the 14th and 15th fields. The 2nd is a name in brackets that may hold anything.
fn cpu_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(11);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// cutime + cstime: the 16th and 17th fields.
fn waited_for_ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace().skip(13);
    Some(fields.next()?.parse::<u64>().ok()? + fields.next()?.parse::<u64>().ok()?)
}

/// ppid: the 4th field.
fn parent(stat: &str) -> Option<u32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

fn peak_bytes(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().strip_suffix(" kB")?.parse::<u64>().ok().map(|kibibytes| kibibytes * 1024)
}

fn ticks_per_second() -> anyhow::Result<u64> {
    static TICKS: OnceLock<u64> = OnceLock::new();
    if let Some(ticks) = TICKS.get() {
        return Ok(*ticks);
    }
    let said = Command::new("getconf").arg("CLK_TCK").output().context("cannot run getconf CLK_TCK")?;
    let ticks =
        String::from_utf8_lossy(&said.stdout).trim().parse().context("getconf CLK_TCK says no number")?;
    ensure!(ticks > 0, "getconf CLK_TCK says 0");
    Ok(*TICKS.get_or_init(|| ticks))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_kernels_files_are_read() {
        let stat = "42 (a) b (c) S 1 42 42 0 -1 4194560 100 0 0 0 250 75 9 9 20 0 3 0 1000 1 1 1";
        assert_eq!(cpu_ticks(stat), Some(325));
        assert_eq!((waited_for_ticks(stat), parent(stat)), (Some(18), Some(1)));
        assert_eq!(peak_bytes("VmPeak:\t  9 kB\nVmHWM:\t    2048 kB\n"), Some(2 * 1024 * 1024));
        assert_eq!(cpu_ticks("42 (a) S 1"), None);
    }

    #[test]
    fn this_process_has_used_memory() {
        assert!(peak_memory_bytes(std::process::id()).unwrap() > 0);
        assert!(cpu_time(std::process::id()).is_ok());
    }
}
