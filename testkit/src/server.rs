//! Our own servers as processes.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use crate::http;
use crate::packages;
use crate::place::Place;
use crate::process::{Process, Signal};
use crate::program::Program;
use crate::wait::{until, until_some};

/// What a server is started with.
#[derive(Debug, Clone)]
pub struct ServerSpec {
    /// What to call it, and its log.
    pub name: String,
    /// Its program.
    pub program: PathBuf,
    /// Its flags.
    pub args: Vec<OsString>,
    /// Its environment. Of ours it gets nothing.
    pub envs: Vec<(String, OsString)>,
    /// The admin port that it was told to listen on.
    pub admin_port: u16,
}

/// A server of ours, as a process.
#[derive(Debug)]
pub struct ServerProcess {
    program: Program,
    name: String,
    admin_port: u16,
}

impl ServerProcess {
    /// Starts a server and waits for nothing: it may be one that is to fail.
    ///
    /// # Errors
    /// When there is no such program.
    pub fn launch(place: &Place, spec: &ServerSpec) -> anyhow::Result<Self> {
        let folder = place.folder(&spec.name)?;
        let mut command = Command::new(&spec.program);
        command.args(&spec.args).env("PATH", packages::PATH).current_dir(&folder);
        command.envs(spec.envs.iter().map(|(name, value)| (name, value)));
        let program = Program::new(&spec.name, &command, place, &folder, Signal::KILL)?;
        program.start()?;
        Ok(Self { program, name: spec.name.clone(), admin_port: spec.admin_port })
    }

    /// Starts a server and waits until it is ready.
    ///
    /// # Errors
    /// When it ends, or is not ready within `deadline`.
    pub async fn start(place: &Place, spec: &ServerSpec, deadline: Duration) -> anyhow::Result<Self> {
        let server = Self::launch(place, spec)?;
        server.until_ready(deadline).await?;
        Ok(server)
    }

    /// Waits until `/ready` says so.
    ///
    /// # Errors
    /// When the process ends, or is not ready within `deadline`.
    pub async fn until_ready(&self, deadline: Duration) -> anyhow::Result<()> {
        let is_ready = async || {
            self.program.check()?;
            // Not listening yet: not ready yet.
            Ok(http::get(self.admin_port, "/ready").await.is_ok_and(|(status, _)| status == 200))
        };
        until(&format!("{} is ready", self.name), deadline, is_ready)
            .await
            .with_context(|| self.program.last_words())
    }

    /// What it is called.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its admin port is, on 127.0.0.1.
    #[must_use]
    pub fn admin_port(&self) -> u16 {
        self.admin_port
    }

    /// What `/metrics` says.
    ///
    /// # Errors
    /// When it does not answer.
    pub async fn metrics(&self) -> anyhow::Result<String> {
        Ok(http::get(self.admin_port, "/metrics").await?.1)
    }

    /// Starts it again after its end, with the same flags. Does nothing when it runs.
    ///
    /// # Errors
    /// When it cannot be started.
    pub fn restart(&self) -> anyhow::Result<()> {
        self.program.start()
    }

    /// Ends it at once: SIGKILL.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.program.kill().await
    }

    /// Asks it to stop, and does not wait.
    ///
    /// # Errors
    /// When it cannot be asked.
    pub fn terminate(&self) -> anyhow::Result<()> {
        self.program.signal(Signal::TERM)
    }

    /// Asks it to stop and waits for its exit code.
    ///
    /// # Errors
    /// When it does not end within `deadline`.
    pub async fn stop(&self, deadline: Duration) -> anyhow::Result<i32> {
        self.resume()?;
        self.terminate()?;
        self.exit_code(deadline).await
    }

    /// Waits for its end; 128 and more when a signal ended it.
    ///
    /// # Errors
    /// When it does not end within `deadline`, or the exit code was asked for before.
    pub async fn exit_code(&self, deadline: Duration) -> anyhow::Result<i32> {
        let process = self.program.process()?;
        until_some(&format!("{} ends", self.name), deadline, async || {
            if process.is_alive() {
                return Ok(None);
            }
            self.program.exit_code()?.context("its exit code was asked for before").map(Some)
        })
        .await
        .with_context(|| self.program.last_words())
    }

    /// Pauses it: connections stay open, and it does nothing.
    ///
    /// # Errors
    /// When it cannot be.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.program.signal(Signal::STOP)
    }

    /// Goes on after a pause.
    ///
    /// # Errors
    /// When it cannot.
    pub fn resume(&self) -> anyhow::Result<()> {
        self.program.signal(Signal::CONT)
    }

    /// Its process.
    ///
    /// # Errors
    /// When its exit code was asked for: then there is none any more.
    pub fn process(&self) -> anyhow::Result<Process> {
        self.program.process()
    }

    /// The file that holds what it logged.
    #[must_use]
    pub fn log(&self) -> &Path {
        self.program.log()
    }
}
