//! The machine that a measurement was made on: numbers without it mean nothing.

use std::fmt;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;

use anyhow::{Context as _, ensure};
use serde::Serialize;

/// What k6 takes for 10,000 virtual users, at most 1.63 GB seen, and some more: bytes.
const MEMORY_OF_K6: usize = 2_000_000_000;

/// What the machine is.
#[derive(Debug, Serialize)]
pub(super) struct Machine {
    cpu: String,
    /// The processors that this process may use.
    processors: Vec<usize>,
    kernel: String,
    /// When the measurement began, by the clock on the wall.
    date: String,
}

impl Machine {
    pub(super) fn read() -> anyhow::Result<Self> {
        let cpu_info = read("/proc/cpuinfo")?;
        let cpu = field(&cpu_info, "model name").unwrap_or("unknown").to_owned();
        let status = read("/proc/self/status")?;
        let allowed = field(&status, "Cpus_allowed_list").unwrap_or_default();
        let processors =
            parse_list(allowed).with_context(|| format!("cannot read the processors {allowed:?}"))?;
        let kernel = read("/proc/sys/kernel/osrelease")?.trim().to_owned();
        let date = jiff::Timestamp::now().strftime("%Y-%m-%d %H:%M UTC").to_string();
        Ok(Self { cpu, processors, kernel, date })
    }

    /// What to say when the machine is in other use, by its load average: it would be measured too.
    pub(super) fn warning(&self, busy: f64) -> Option<String> {
        let processors = self.processors.len();
        (busy > processors as f64 / 2.0).then(|| {
            format!(
                "WARNING: the load average is {busy:.2}, more than half of {processors} processors: what else runs is measured too"
            )
        })
    }

    /// The first half of the processors for the server, the others for the phones.
    pub(super) fn split(&self) -> anyhow::Result<Pinning> {
        ensure!(self.processors.len() >= 2, "--pin needs two processors; there is one");
        let (server, phones) = self.processors.split_at(self.processors.len() / 2);
        Ok(Pinning(Some((write_list(server), write_list(phones)))))
    }
}

impl fmt::Display for Machine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { cpu, processors, kernel, date } = self;
        write!(f, "date: {date}\nmachine: {} processors, {cpu}, Linux {kernel}", processors.len())
    }
}

/// How many processes wanted a processor in the last minute, on average: a machine in other use measures itself.
pub(super) fn busy() -> anyhow::Result<f64> {
    let text = read("/proc/loadavg")?;
    text.split(' ').next().and_then(|first| first.parse().ok()).context("/proc/loadavg has another form")
}

/// Writes once to as much memory as k6 will ask for, and gives it back.
///
/// A virtual machine may have little of its memory from its host before it is first written to, and then gets it a page at a
/// time: about 14 µs each on the machine of docs/results.md, which is 6 s of a processor for what 10,000 virtual users take.
/// That would be measured in the first run after a boot and in no other.
pub(super) fn warm_memory() -> anyhow::Result<()> {
    let text = read("/proc/meminfo")?;
    let available = field(&text, "MemAvailable").and_then(|size| size.strip_suffix(" kB"));
    let available: usize =
        available.and_then(|size| size.parse().ok()).context("/proc/meminfo has another form")?;
    black_box(vec![1_u8; MEMORY_OF_K6.min(available * 1_024 / 2)]);
    Ok(())
}

/// Where programs may run: the server's processors and the phones', as `taskset` takes them.
#[derive(Debug, Default)]
pub(super) struct Pinning(Option<(String, String)>);

impl Pinning {
    pub(super) fn server(&self, program: &Path, arguments: &[&str]) -> Command {
        command(self.0.as_ref().map(|(server, _)| server), program, arguments)
    }

    pub(super) fn phones(&self, program: &Path, arguments: &[&str]) -> Command {
        command(self.0.as_ref().map(|(_, phones)| phones), program, arguments)
    }
}

impl fmt::Display for Pinning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Some((server, phones)) => write!(f, "server on processors {server}, phones on {phones}"),
            None => f.write_str("server and phones share all processors"),
        }
    }
}

/// `taskset` becomes the program, so the process id stays the same.
fn command(processors: Option<&String>, program: &Path, arguments: &[&str]) -> Command {
    let mut command = match processors {
        None => Command::new(program),
        Some(processors) => {
            let mut command = Command::new("taskset");
            command.arg("--cpu-list").arg(processors).arg(program);
            command
        }
    };
    command.args(arguments);
    command
}

fn read(path: &str) -> anyhow::Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {path}; this command needs Linux"))
}

fn field<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let mut pairs = text.lines().filter_map(|line| line.split_once(':'));
    pairs.find(|(key, _)| key.trim() == name).map(|(_, value)| value.trim())
}

/// Reads `0-3,8`.
fn parse_list(text: &str) -> Option<Vec<usize>> {
    let mut all = Vec::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        all.extend(first.parse::<usize>().ok()?..=last.parse().ok()?);
    }
    Some(all)
}

fn write_list(processors: &[usize]) -> String {
    processors.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(processors: Vec<usize>) -> Machine {
        Machine { cpu: String::new(), processors, kernel: String::new(), date: String::new() }
    }

    #[test]
    fn a_machine_in_other_use_is_warned_of() {
        assert_eq!(machine(vec![0, 1]).warning(1.0), None);
        assert!(machine(vec![0, 1]).warning(1.01).unwrap().contains("load average is 1.01"));
        assert_eq!(machine(vec![0, 1, 2, 3]).warning(1.9), None);
    }

    #[test]
    fn processors_are_halved() {
        assert_eq!(parse_list("0-2,5"), Some(vec![0, 1, 2, 5]));
        assert_eq!(parse_list("x"), None);
        let pinning = machine(vec![0, 1, 2, 5]).split().unwrap();
        assert_eq!(pinning.0, Some(("0,1".to_owned(), "2,5".to_owned())));
        assert!(machine(vec![7]).split().is_err());
    }
}
