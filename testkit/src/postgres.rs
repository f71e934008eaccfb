//! Postgres, as a server of its own.
//!
//! It keeps what it was told to: `fsync` and `synchronous_commit` are on, in tests too. Listens on loopback only, and trusts
//! whoever reaches it there.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::account::Account;
use crate::packages;
use crate::place::Place;
use crate::ports::free_port;
use crate::process::{Process, Signal};
use crate::program::Program;
use crate::wait::until;

/// How long it may take until it accepts connections, recovery after a crash included.
const START_DEADLINE: Duration = Duration::from_secs(60);
/// How long it may take to end when asked to: it writes all that changed to disk.
const STOP_DEADLINE: Duration = Duration::from_secs(60);
/// Enough for eight servers and the tests' own connections.
const MAX_CONNECTIONS: u32 = 200;
/// The account within Postgres, which may do everything.
const USER: &str = "dovetail";

/// A Postgres server of its own.
#[derive(Debug)]
pub struct Postgres {
    program: Program,
    programs: PathBuf,
    data: PathBuf,
    port: u16,
    databases: AtomicU32,
}

impl Postgres {
    /// Starts a server on a port, a free one when none is given, and waits until it accepts connections.
    ///
    /// # Errors
    /// When its programs are missing and cannot be installed, or it does not start.
    pub async fn start(place: &Place, port: Option<u16>) -> anyhow::Result<Self> {
        let programs = packages::postgres()?;
        let port = port.map_or_else(free_port, Ok)?;
        let folder = place.folder("postgres")?;
        let data = folder.join("data");
        let account = Account::for_postgres()?;
        if !data.exists() {
            init(&programs, &data, account)?;
        }
        let server = server_command(&programs, &data, port, account);
        // At the end of a test it stops at once, but not without removing its shared memory.
        let program = Program::new("postgres", &server, place, &folder, Signal::QUIT)?;
        let postgres = Self { program, programs, data, port, databases: AtomicU32::new(0) };
        postgres.restart().await?;
        Ok(postgres)
    }

    /// The port it listens on.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The folder of its data.
    pub(crate) fn data(&self) -> &Path {
        &self.data
    }

    /// The database that is there from the start.
    #[must_use]
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    /// A database, by name.
    #[must_use]
    pub fn url_of(&self, database: &str) -> String {
        format!("postgres://{USER}@127.0.0.1:{}/{database}", self.port)
    }

    /// Makes an empty database and answers its URL. A number is added to the name, so that each call makes another.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn new_database(&self, name: &str) -> anyhow::Result<String> {
        let name = format!("{name}_{}", self.databases.fetch_add(1, Ordering::Relaxed));
        self.create_database(&name).await?;
        Ok(self.url_of(&name))
    }

    /// Makes a database of exactly this name, unless there is one.
    ///
    /// # Errors
    /// When the server cannot be asked.
    pub async fn ensure_database(&self, name: &str) -> anyhow::Result<()> {
        let list = ["--no-psqlrc", "--list", "--tuples-only", "--no-align", "--dbname=postgres"];
        let known = self.ask("psql", &list).await?;
        if known.lines().any(|line| line.split('|').next() == Some(name)) {
            return Ok(());
        }
        self.create_database(name).await
    }

    /// Makes an empty database that is not there yet.
    ///
    /// # Errors
    /// When it is there, or cannot be made.
    pub async fn create_database(&self, name: &str) -> anyhow::Result<()> {
        self.ask("createdb", &["--template=template0", name]).await.map(drop)
    }

    /// What one of Postgres's own clients says.
    async fn ask(&self, program: &str, arguments: &[&str]) -> anyhow::Result<String> {
        let mut command = Command::new(self.programs.join(program));
        command.env_clear().env("PATH", packages::PATH).stdin(Stdio::null());
        command
            .args(["--host=127.0.0.1", "--username", USER, "--port", &self.port.to_string()])
            .args(arguments);
        let asked = tokio::process::Command::from(command).output().await;
        let asked = asked.with_context(|| format!("cannot start {program}"))?;
        ensure!(asked.status.success(), "{program}: {}", String::from_utf8_lossy(&asked.stderr).trim_end());
        Ok(String::from_utf8_lossy(&asked.stdout).into_owned())
    }

    /// Kills it: the server at once, and with it every connection. What was committed is on disk.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn kill(&self) -> anyhow::Result<()> {
        let Ok(server) = self.program.process() else { return Ok(()) };
        let connections = server.children()?;
        self.program.kill().await?;
        for connection in connections {
            // They end by themselves, except when they are paused.
            connection.signal(Signal::KILL)?;
            connection.ended_within(STOP_DEADLINE).await?;
        }
        Ok(())
    }

    /// Stops it in order, breaking connections off.
    ///
    /// # Errors
    /// When it does not end.
    pub async fn stop(&self) -> anyhow::Result<()> {
        self.resume()?;
        self.program.end(Signal::INT, STOP_DEADLINE).await
    }

    /// Starts it again, on the same port with the same data, and waits until it accepts connections. Does nothing when it
    /// runs.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn restart(&self) -> anyhow::Result<()> {
        self.program.start()?;
        let is_ready = async || {
            self.program.check()?;
            Ok(is_ready(&self.data, self.program.process()?.pid()))
        };
        until("Postgres accepts connections", START_DEADLINE, is_ready)
            .await
            .with_context(|| self.program.last_words())
    }

    /// Pauses the server and its connections, as they are: they stay open, and nothing is answered.
    ///
    /// # Errors
    /// When it does not run.
    pub fn pause(&self) -> anyhow::Result<()> {
        self.signal_all(Signal::STOP)
    }

    /// Goes on after a pause.
    ///
    /// # Errors
    /// When it does not run.
    pub fn resume(&self) -> anyhow::Result<()> {
        self.signal_all(Signal::CONT)
    }

    /// The server's process.
    ///
    /// # Errors
    /// When it was never started.
    pub fn process(&self) -> anyhow::Result<Process> {
        self.program.process()
    }

    fn signal_all(&self, signal: Signal) -> anyhow::Result<()> {
        let server = self.program.process()?;
        // The server first: paused, it makes no more connections.
        server.signal(signal)?;
        server.children()?.iter().try_for_each(|connection| connection.signal(signal))
    }
}

/// Makes a data folder without databases of ours. It gets its name when it is whole.
fn init(programs: &Path, whole: &Path, account: Option<Account>) -> anyhow::Result<()> {
    let data = &whole.with_extension("new");
    if data.exists() {
        fs::remove_dir_all(data).with_context(|| format!("cannot remove {}", data.display()))?;
    }
    fs::create_dir_all(data).with_context(|| format!("cannot make {}", data.display()))?;
    if let Some(account) = account {
        account.own(data)?;
    }
    let mut command = command_as(account, &programs.join("initdb"), data);
    // Nothing of value is in it yet, so it need not wait for the disk.
    command.args(["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--no-sync", "--no-instructions"]);
    command.arg(format!("--username={USER}")).arg("--pgdata").arg(data);
    let made = command.stdin(Stdio::null()).output().context("cannot start initdb")?;
    ensure!(made.status.success(), "initdb: {}", String::from_utf8_lossy(&made.stderr).trim_end());
    fs::rename(data, whole).with_context(|| format!("cannot make {}", whole.display()))
}

fn server_command(programs: &Path, data: &Path, port: u16, account: Option<Account>) -> Command {
    let mut command = command_as(account, &programs.join("postgres"), data);
    command.arg("-D").arg(data);
    for setting in [
        "listen_addresses=127.0.0.1".to_owned(),
        format!("port={port}"),
        // No socket outside of its folder; one inside would soon have too long a path.
        "unix_socket_directories=".to_owned(),
        format!("max_connections={MAX_CONNECTIONS}"),
        "fsync=on".to_owned(),
        "synchronous_commit=on".to_owned(),
        "full_page_writes=on".to_owned(),
        // In its folder, so that a killed server leaves nothing elsewhere.
        "dynamic_shared_memory_type=mmap".to_owned(),
    ] {
        command.arg("-c").arg(setting);
    }
    command
}

fn command_as(account: Option<Account>, program: &Path, data: &Path) -> Command {
    let mut command = match account {
        Some(account) => account.command(program, data),
        None => Command::new(program),
    };
    // The folder we are in may be one that the account cannot enter.
    command.env_clear().env("PATH", packages::PATH).current_dir("/");
    command
}

/// Whether the server with this pid says that it is ready. It does so in its pid file, as to `pg_ctl`.
fn is_ready(data: &Path, pid: u32) -> bool {
    let text = fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    let lines: Vec<&str> = text.lines().map(str::trim).collect();
    lines.first() == Some(&pid.to_string().as_str()) && lines.get(7) == Some(&"ready")
}
