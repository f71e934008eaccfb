//! A process by its descriptor, so that a signal never reaches another process that was given the same pid.

use std::fs;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use rustix::event::{PollFd, PollFlags, poll};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, pidfd_open, pidfd_send_signal};

use crate::wait::until;

pub use rustix::process::Signal;

/// A process that was started, alive or dead.
#[derive(Debug, Clone)]
pub struct Process {
    pid: u32,
    started: u64,
    descriptor: Arc<OwnedFd>,
}

impl Process {
    /// The process that has this pid now.
    ///
    /// # Errors
    /// When there is none.
    pub fn open(pid: u32) -> anyhow::Result<Self> {
        let raw = i32::try_from(pid).ok().and_then(Pid::from_raw).context("not a pid")?;
        let descriptor = pidfd_open(raw, PidfdFlags::empty()).with_context(|| format!("no process {pid}"))?;
        // Read after the descriptor is held: both are of the same process, or there is none any more.
        let started = stat(pid).with_context(|| format!("no process {pid}"))?.started;
        Ok(Self { pid, started, descriptor: Arc::new(descriptor) })
    }

    /// The process that had this pid and start time, if it is still alive.
    #[must_use]
    pub fn find(pid: u32, started: u64) -> Option<Self> {
        Self::open(pid).ok().filter(|found| found.started == started && found.is_alive())
    }

    /// Its pid.
    #[must_use]
    pub fn pid(&self) -> u32 {
        self.pid
    }

    /// When it was started, in clock ticks since the machine was: with the pid it names a process for good.
    #[must_use]
    pub fn started(&self) -> u64 {
        self.started
    }

    /// Whether it runs, paused or not. One that has ended and was not reaped yet counts as dead.
    #[must_use]
    pub fn is_alive(&self) -> bool {
        let at_once = rustix::event::Timespec { tv_sec: 0, tv_nsec: 0 };
        // The descriptor becomes readable when the process ends.
        matches!(poll(&mut [PollFd::new(&*self.descriptor, PollFlags::IN)], Some(&at_once)), Ok(0))
    }

    /// Whether it is stopped by SIGSTOP.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        stat(self.pid).is_some_and(|stat| stat.started == self.started && stat.state == 'T')
    }

    /// Sends a signal. To a dead process that does nothing.
    ///
    /// # Errors
    /// When it may not be sent.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        match pidfd_send_signal(&*self.descriptor, signal) {
            Ok(()) | Err(Errno::SRCH) => Ok(()),
            Err(error) => {
                Err(error).with_context(|| format!("cannot send {signal:?} to process {}", self.pid))
            }
        }
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// When it did not within `deadline`.
    pub async fn ended_within(&self, deadline: Duration) -> anyhow::Result<()> {
        let what = format!("process {} has ended", self.pid);
        until(&what, deadline, async || Ok(!self.is_alive())).await
    }

    /// The processes that it started and that still run.
    pub(crate) fn children(&self) -> anyhow::Result<Vec<Self>> {
        let pids = fs::read_dir("/proc")?.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
        let children = pids.filter(|pid| stat(*pid).is_some_and(|stat| stat.parent == self.pid));
        // One that ended meanwhile is none.
        Ok(children.filter_map(|pid| Self::open(pid).ok()).collect())
    }
}

/// What the kernel says of a process.
struct Stat {
    state: char,
    parent: u32,
    started: u64,
}

fn stat(pid: u32) -> Option<Stat> {
    read_stat(&fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
}

/// The program's name comes second, in brackets, and may itself hold blanks and brackets; see proc(5).
fn read_stat(text: &str) -> Option<Stat> {
    let fields: Vec<&str> = text.rsplit_once(')')?.1.split_whitespace().collect();
    Some(Stat {
        state: fields.first()?.chars().next()?,
        parent: fields.get(1)?.parse().ok()?,
        started: fields.get(19)?.parse().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::{Command, Stdio};

    #[test]
    fn a_name_with_blanks_and_brackets_is_no_obstacle() {
        let text = "7 (a) b (c) S 3 7 7 0 -1 4 5 6 7 8 9 10 11 12 20 0 1 0 4711 99 98";
        let stat = read_stat(text).unwrap();
        assert_eq!((stat.state, stat.parent, stat.started), ('S', 3, 4711));
        assert!(read_stat("7 (a) S 3").is_none());
    }

    #[tokio::test]
    async fn a_process_is_watched_until_its_end() {
        let mut child = Command::new("cat").stdin(Stdio::piped()).spawn().unwrap();
        let process = Process::open(child.id()).unwrap();
        assert!(process.is_alive());
        assert!(Process::find(process.pid(), process.started()).is_some());
        assert!(Process::find(process.pid(), process.started() + 1).is_none(), "another process");
        let me = Process::open(std::process::id()).unwrap();
        assert!(me.children().unwrap().iter().any(|found| found.pid() == process.pid()));

        process.signal(Signal::KILL).unwrap();
        process.ended_within(Duration::from_secs(10)).await.unwrap();
        assert!(!process.is_alive(), "not reaped, and yet dead");
        child.wait().unwrap();
        process.signal(Signal::KILL).unwrap();
        assert!(Process::find(process.pid(), process.started()).is_none());
    }
}
