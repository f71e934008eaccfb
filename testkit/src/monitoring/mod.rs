//! Prometheus, and the exporters that tell it of Postgres, Redis and of processes, as servers of their own.
//!
//! Prometheus reads what `prometheus/prometheus.yml` says, rules included, with the addresses of one stack. Everything
//! listens on loopback only.

mod config;
mod exporters;
mod targets;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use crate::http::get;
use crate::packages;
use crate::place::{Place, root};
use crate::ports::free_port;
use crate::process::{Process, Signal};
use crate::program::Program;
use crate::stack::Stack;
use crate::wait::{listens, until};

/// How long it may take until it answers; it reads back what it kept.
const START_DEADLINE: Duration = Duration::from_secs(60);
/// How long samples are kept: a soak run and the night after it.
const RETENTION: &str = "2d";
/// How far Prometheus and the exporters stand back, as `nice` counts: another 10 is about a tenth of the weight.
const NICENESS: &str = "10";

/// Where Prometheus and its exporters listen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MonitoringPorts {
    /// Prometheus.
    pub prometheus: u16,
    /// The exporter for Postgres.
    pub postgres: u16,
    /// The exporter for Redis.
    pub redis: u16,
    /// The exporter for processes.
    pub processes: u16,
}

impl MonitoringPorts {
    /// Free ones.
    ///
    /// # Errors
    /// When all are taken.
    pub fn free() -> anyhow::Result<Self> {
        Ok(Self {
            prometheus: free_port()?,
            postgres: free_port()?,
            redis: free_port()?,
            processes: free_port()?,
        })
    }
}

/// One of our servers, to be read by Prometheus.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WatchedServer {
    /// Its job: `main-server` or `matching-server`.
    pub job: &'static str,
    /// What it is called on dashboards, such as `main-server-1`.
    pub instance: String,
    /// Its admin port on 127.0.0.1.
    pub admin_port: u16,
}

/// The jobs of our servers.
const SERVER_JOBS: [&str; 2] = ["main-server", "matching-server"];

/// Prometheus and its exporters.
#[derive(Debug)]
pub struct Monitoring {
    prometheus: Program,
    exporters: Vec<Program>,
    targets: PathBuf,
    port: u16,
}

impl Monitoring {
    /// Starts them, on free ports when none are given, and waits until Prometheus answers. Of our servers only programs that
    /// lie below `programs` count as processes of this stack. No server is read yet: see [`Self::set_servers`].
    ///
    /// # Errors
    /// When programs are missing and cannot be installed, or do not start.
    pub async fn start(
        place: &Place,
        ports: Option<MonitoringPorts>,
        stack: &Stack,
        programs: &Path,
    ) -> anyhow::Result<Self> {
        let ports = ports.map_or_else(MonitoringPorts::free, Ok)?;
        let exporters = exporters::all(place, &ports, stack, programs)?;
        let place = place.of_part("prometheus");
        let folder = place.folder("prometheus")?;
        let targets = folder.join("targets");
        fs::create_dir_all(&targets).with_context(|| format!("cannot make {}", targets.display()))?;
        let services = targets::of_services(stack, &ports);
        for (job, of_job) in &services {
            targets::write(&targets, job, of_job)?;
        }
        let known: Vec<&str> = services.iter().map(|(job, _)| *job).chain(SERVER_JOBS).collect();
        let prometheus = prometheus(&place, &folder, &targets, &known, ports.prometheus)?;
        let (exporters, exporter_ports): (Vec<_>, Vec<_>) = exporters.into_iter().unzip();
        let monitoring = Self { prometheus, exporters, targets, port: ports.prometheus };
        monitoring.start_all(&exporter_ports).await?;
        Ok(monitoring)
    }

    async fn start_all(&self, exporter_ports: &[u16]) -> anyhow::Result<()> {
        for (exporter, port) in self.exporters.iter().zip(exporter_ports) {
            exporter.start()?;
            let is_there = async || {
                exporter.check()?;
                Ok(listens(*port).await)
            };
            until("an exporter listens", START_DEADLINE, is_there)
                .await
                .with_context(|| exporter.last_words())?;
        }
        if self.prometheus.process().is_ok_and(|process| process.is_alive()) {
            // It reads its configuration again: the rules may be others by now.
            self.prometheus.signal(Signal::HUP)?;
        }
        self.prometheus.start()?;
        let is_ready = async || {
            self.prometheus.check()?;
            Ok(get(self.port, "/-/ready").await.is_ok_and(|(status, _)| status == 200))
        };
        until("Prometheus is ready", START_DEADLINE, is_ready)
            .await
            .with_context(|| self.prometheus.last_words())
    }

    /// Has Prometheus read exactly these servers, within a second or so.
    ///
    /// # Errors
    /// When that cannot be written down.
    pub fn set_servers(&self, servers: &[WatchedServer]) -> anyhow::Result<()> {
        for job in SERVER_JOBS {
            let of_job = servers.iter().filter(|server| server.job == job);
            let of_job = of_job.map(|server| (server.instance.clone(), server.admin_port)).collect();
            targets::write(&self.targets, job, &of_job)?;
        }
        Ok(())
    }

    /// Where Prometheus answers.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// The port of [`Self::url`].
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The processes, Prometheus's first.
    ///
    /// # Errors
    /// When one was never started.
    pub fn processes(&self) -> anyhow::Result<Vec<Process>> {
        [&self.prometheus].into_iter().chain(&self.exporters).map(Program::process).collect()
    }
}

fn prometheus(
    place: &Place,
    folder: &Path,
    targets: &Path,
    known: &[&str],
    port: u16,
) -> anyhow::Result<Program> {
    let shared = root().join("prometheus");
    let yaml = fs::read_to_string(shared.join("prometheus.yml")).context("cannot read prometheus.yml")?;
    for job in config::jobs(&yaml)? {
        ensure!(known.contains(&job.as_str()), "nobody knows the addresses of prometheus.yml's job {job}");
    }
    let config = folder.join("prometheus.yml");
    fs::write(&config, config::prometheus(&yaml, &shared, targets)?)
        .with_context(|| format!("cannot write {}", config.display()))?;
    let mut command = behind(&packages::prometheus()?);
    command.arg("--config.file").arg(&config).arg("--storage.tsdb.path").arg(folder.join("data"));
    command.arg(format!("--storage.tsdb.retention.time={RETENTION}"));
    command.arg(format!("--web.listen-address=127.0.0.1:{port}")).arg("--log.level=warn");
    command.env("PATH", packages::PATH).current_dir(folder);
    Program::new("prometheus", &command, place, folder, Signal::KILL)
}

/// A program that gets a processor when the servers leave one: on a full machine, to be watched must not slow them down.
fn behind(program: &Path) -> Command {
    let mut command = Command::new("nice");
    command.args(["-n", NICENESS]).arg(program);
    command
}
