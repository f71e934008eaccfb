//! Keeps programs alive no longer than this process.
//!
//! A test program may be killed at any moment, and libtest never drops what is static. So each program is started by a small
//! shell that holds one end of a pipe from us: when the pipe closes, the shell ends its program and removes its folder.

use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use anyhow::{Context as _, ensure};

use crate::process::{Process, Signal};

/// The shell's program.
const SCRIPT: &str = include_str!("keeper.sh");

/// The shell that keeps one program.
#[derive(Debug)]
pub(crate) struct Keeper {
    shell: Child,
    /// Closed to make the shell end everything.
    orders: Option<ChildStdin>,
    answers: BufReader<ChildStdout>,
}

impl Keeper {
    /// Makes a keeper for a program, which is not started yet. In the end the program gets `signal`, and `folder` is
    /// removed.
    pub(crate) fn new(program: &Command, signal: Signal, folder: &Path, log: &Path) -> anyhow::Result<Self> {
        let mut shell = Command::new("/bin/sh");
        shell.args(["-c", SCRIPT, "keeper", &signal.as_raw().to_string()]).args([folder, log]);
        shell.arg(program.get_program()).args(program.get_args());
        shell.env_clear();
        for (name, value) in program.get_envs() {
            if let Some(value) = value {
                shell.env(name, value);
            }
        }
        if let Some(folder) = program.get_current_dir() {
            shell.current_dir(folder);
        }
        // A group of its own: what a terminal sends to us must not reach the keeper before we are gone.
        shell.process_group(0).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut shell = shell.spawn().context("cannot start /bin/sh")?;
        let orders = shell.stdin.take();
        let answers = BufReader::new(shell.stdout.take().context("the keeper has no output")?);
        Ok(Self { shell, orders, answers })
    }

    /// Starts the program. The one before must have been reaped.
    pub(crate) fn start(&mut self) -> anyhow::Result<Process> {
        let pid = self.order("start")?;
        Process::open(pid.parse().with_context(|| format!("the keeper answered {pid:?}"))?)
    }

    /// The exit code of a program that has ended; 128 and the signal's number for one that was killed.
    pub(crate) fn reap(&mut self) -> anyhow::Result<i32> {
        let code = self.order("reap")?;
        code.parse().with_context(|| format!("the keeper answered {code:?}"))
    }

    fn order(&mut self, order: &str) -> anyhow::Result<String> {
        let orders = self.orders.as_mut().context("the keeper was dismissed")?;
        writeln!(orders, "{order}").context("the keeper is gone")?;
        let mut answer = String::new();
        self.answers.read_line(&mut answer)?;
        ensure!(answer.ends_with('\n'), "the keeper is gone");
        Ok(answer.trim_end().to_owned())
    }
}

impl Drop for Keeper {
    fn drop(&mut self) {
        drop(self.orders.take());
        // Until nothing is left, so that what comes next finds the port and the disk free.
        let _ = self.shell.wait();
    }
}
