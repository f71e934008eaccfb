//! One program of a service: started, signalled, waited for, and started again.
//!
//! A test's program is kept by a [`Keeper`]; one that is to stay is started in a session of its own. Nothing here is bound to
//! a runtime, because tests share services and each test has its own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, bail};

use crate::keeper::Keeper;
use crate::lasting::Lasting;
use crate::place::Place;
use crate::process::{Process, Signal};

/// How long a program may take to end after SIGKILL: no time at all, but the machine may be busy.
const KILL_DEADLINE: Duration = Duration::from_secs(30);
/// The most of a log that an error shows.
const LOG_SHOWN_BYTES: usize = 2_000;

/// One program of a service.
#[derive(Debug)]
pub(crate) struct Program {
    /// What to call it in errors.
    name: String,
    /// Where what it says goes.
    log: PathBuf,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    life: Life,
    /// The last one started, until it was reaped.
    process: Option<Process>,
}

/// Who starts it, and reaps it.
#[derive(Debug)]
enum Life {
    Kept(Keeper),
    Lasting(Lasting),
}

impl Program {
    /// A program that is not started yet, or is found running if it may last. `folder` is its own; `last_signal` is what it
    /// gets in the end when it is kept.
    pub(crate) fn new(
        name: &str,
        command: &Command,
        place: &Place,
        folder: &Path,
        last_signal: Signal,
    ) -> anyhow::Result<Self> {
        let log = folder.join(format!("{name}.log"));
        let (life, process) = match place {
            Place::Temporary => (Life::Kept(Keeper::new(command, last_signal, folder, &log)?), None),
            Place::Lasting(_) => {
                let lasting = Lasting::new(name, command, folder, &log);
                let process = lasting.find();
                (Life::Lasting(lasting), process)
            }
        };
        Ok(Self { name: name.to_owned(), log, state: Mutex::new(State { life, process }) })
    }

    /// Starts it. Does nothing when it runs.
    pub(crate) fn start(&self) -> anyhow::Result<()> {
        let mut state = self.state();
        if state.process.as_ref().is_some_and(Process::is_alive) {
            return Ok(());
        }
        state.reap()?;
        let process = match &mut state.life {
            Life::Kept(keeper) => keeper.start(),
            Life::Lasting(lasting) => lasting.start(),
        };
        state.process = Some(process.with_context(|| format!("cannot start {}", self.name))?);
        Ok(())
    }

    /// The process, alive or dead.
    ///
    /// # Errors
    /// When it was not started.
    pub(crate) fn process(&self) -> anyhow::Result<Process> {
        self.state().process.clone().with_context(|| format!("{} was not started", self.name))
    }

    /// Sends a signal. A program that does not run is no error.
    pub(crate) fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        self.state().process.as_ref().map_or(Ok(()), |process| process.signal(signal))
    }

    /// Ends it at once and waits until it is gone.
    pub(crate) async fn kill(&self) -> anyhow::Result<()> {
        self.end(Signal::KILL, KILL_DEADLINE).await
    }

    /// Sends a signal that ends it and waits until it is gone.
    pub(crate) async fn end(&self, signal: Signal, deadline: Duration) -> anyhow::Result<()> {
        let Some(process) = self.state().process.clone() else { return Ok(()) };
        process.signal(signal)?;
        // One that is paused hears of nothing but SIGKILL.
        process.signal(Signal::CONT)?;
        process.ended_within(deadline).await.with_context(|| self.last_words())
    }

    /// The exit code of a program that has ended, 128 and more when a signal ended it; `None` when it runs, or was asked
    /// before.
    pub(crate) fn exit_code(&self) -> anyhow::Result<Option<i32>> {
        let mut state = self.state();
        match &state.process {
            Some(process) if process.is_alive() => Ok(None),
            _ => state.reap(),
        }
    }

    /// Fails when it has ended.
    pub(crate) fn check(&self) -> anyhow::Result<()> {
        if self.process()?.is_alive() {
            return Ok(());
        }
        bail!("{} has ended; {}", self.name, self.last_words());
    }

    /// Where what it says goes.
    pub(crate) fn log(&self) -> &Path {
        &self.log
    }

    /// The end of its log: with a failed test the log itself is gone soon.
    pub(crate) fn last_words(&self) -> String {
        let log = std::fs::read(&self.log).unwrap_or_default();
        let end = &log[log.len().saturating_sub(LOG_SHOWN_BYTES)..];
        format!("{} says last:\n{}", self.log.display(), String::from_utf8_lossy(end))
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // Each change is whole before the lock is let go.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn reap(&mut self) -> anyhow::Result<Option<i32>> {
        if self.process.take().is_none() {
            return Ok(None);
        }
        match &mut self.life {
            Life::Kept(keeper) => keeper.reap().map(Some),
            Life::Lasting(lasting) => lasting.reap(),
        }
    }
}
