//! Redis, as a server of its own that keeps nothing on disk.

use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::packages;
use crate::place::Place;
use crate::ports::free_port;
use crate::process::{Process, Signal};
use crate::program::Program;
use crate::wait::until;

/// How long it may take until it answers; it has nothing to load.
const START_DEADLINE: Duration = Duration::from_secs(30);
/// How long it may take to end when asked to; it has nothing to save.
const STOP_DEADLINE: Duration = Duration::from_secs(30);

/// A Redis server of its own.
#[derive(Debug)]
pub struct Redis {
    program: Program,
    port: u16,
}

impl Redis {
    /// Starts a server on a port, a free one when none is given, and waits until it answers.
    ///
    /// # Errors
    /// When its program is missing and cannot be installed, or it does not start.
    pub async fn start(place: &Place, port: Option<u16>) -> anyhow::Result<Self> {
        let mut command = Command::new(packages::redis()?);
        let port = port.map_or_else(free_port, Ok)?;
        let folder = place.folder("redis")?;
        command.args(["--port", &port.to_string(), "--bind", "127.0.0.1"]);
        command.args(["--save", "", "--appendonly", "no", "--dir"]).arg(&folder);
        command.env("PATH", packages::PATH).current_dir(&folder);
        let program = Program::new("redis", &command, place, &folder, Signal::KILL)?;
        let redis = Self { program, port };
        redis.restart().await?;
        Ok(redis)
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Where it is.
    #[must_use]
    pub fn url(&self) -> String {
        format!("redis://127.0.0.1:{}", self.port)
    }

    /// Kills it, and with it all that it held.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn kill(&self) -> anyhow::Result<()> {
        self.program.kill().await
    }

    /// Stops it in order.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn stop(&self) -> anyhow::Result<()> {
        self.program.end(Signal::TERM, STOP_DEADLINE).await
    }

    /// Starts it again, empty, on the same port, and waits until it answers. Does nothing when it runs.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn restart(&self) -> anyhow::Result<()> {
        self.program.start()?;
        let is_ready = async || {
            self.program.check()?;
            // Refused or cut off: not yet.
            Ok(self.answers().await.unwrap_or(false))
        };
        until("Redis answers", START_DEADLINE, is_ready).await.with_context(|| self.program.last_words())
    }

    /// Pauses it: connections stay open, and nothing is answered.
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

    /// The server's process.
    ///
    /// # Errors
    /// When it was never started.
    pub fn process(&self) -> anyhow::Result<Process> {
        self.program.process()
    }

    async fn answers(&self) -> std::io::Result<bool> {
        let mut connection = TcpStream::connect(("127.0.0.1", self.port)).await?;
        connection.write_all(b"PING\r\n").await?;
        let mut answer = [0; 5];
        connection.read_exact(&mut answer).await?;
        Ok(&answer == b"+PONG")
    }
}
