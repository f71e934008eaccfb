//! One RabbitMQ node: an Erlang machine that is killed, stopped, paused and started again.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use super::config;
use super::control::Control;
use crate::packages;
use crate::place::Place;
use crate::process::{Process, Signal};
use crate::program::Program;
use crate::wait::{listens, until};

/// How long a node may take until it serves: five seconds of CPU, and it may wait for the others.
const START_DEADLINE: Duration = Duration::from_secs(180);
/// What a node says last that asked a neighbour for its feature flags before that one had loaded its own: it ends, and has to be
/// started again, as whatever supervises a node does. On a busy machine that happens when all start at once.
const ASKED_TOO_EARLY: &str = "incompatible_feature_flags";
/// How many times a node that asked too early is started again.
const EARLY_STARTS: usize = 3;
/// How long a node may take to end when asked to.
const STOP_DEADLINE: Duration = Duration::from_secs(90);

/// For every Erlang machine that is started here: one thread that runs Erlang, listening on loopback only, and no name
/// server of its own, which would stay.
const ERLANG_FLAGS: &str = "+S 1:1 -start_epmd false -kernel inet_dist_use_interface {127,0,0,1}";

/// The ports of a node, all on 127.0.0.1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NodePorts {
    /// For clients.
    pub amqp: u16,
    /// For Prometheus.
    pub metrics: u16,
    /// For the other nodes.
    pub distribution: u16,
}

/// One node of a cluster.
#[derive(Debug)]
pub struct RabbitNode {
    program: Program,
    ports: NodePorts,
    control: Control,
}

impl RabbitNode {
    /// Prepares a node, which is not started yet.
    pub(super) fn new(
        place: &Place,
        index: usize,
        folder: &Path,
        ports: NodePorts,
        epmd_port: u16,
        cookie: &str,
    ) -> anyhow::Result<Self> {
        config::write(folder, ports.amqp, ports.metrics, cookie)?;
        let script = packages::rabbitmq()?;
        let command = command(&script, folder, &config::node_name(index), ports, epmd_port);
        let program = Program::new(&config::part_name(index), &command, place, folder, Signal::KILL)?;
        let control = Control {
            program: packages::of_erlang("erl_call")?,
            node: config::node_name(index),
            home: folder.to_owned(),
            epmd_port,
        };
        Ok(Self { program, ports, control })
    }

    /// Its name in the cluster.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.control.node
    }

    /// The folder of its data, which is its home.
    pub(crate) fn folder(&self) -> &Path {
        &self.control.home
    }

    /// The ports it listens on.
    #[must_use]
    pub fn ports(&self) -> NodePorts {
        self.ports
    }

    /// Where clients connect to.
    #[must_use]
    pub fn amqp_url(&self) -> String {
        format!("amqp://guest:guest@127.0.0.1:{}/%2f", self.ports.amqp)
    }

    /// Where Prometheus reads; `/detailed?family=queue_coarse_metrics` behind it tells of each queue.
    #[must_use]
    pub fn metrics_url(&self) -> String {
        format!("http://127.0.0.1:{}/metrics", self.ports.metrics)
    }

    /// Kills it.
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

    /// Starts it, on the same ports with the same data, and waits until it serves. After the first time it needs one other
    /// node that runs or starts as well. Does nothing when it runs.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start(&self) -> anyhow::Result<()> {
        for _ in 0..EARLY_STARTS {
            match self.start_once().await {
                Err(error) if format!("{error:#}").contains(ASKED_TOO_EARLY) => {}
                started => return started,
            }
        }
        self.start_once().await
    }

    async fn start_once(&self) -> anyhow::Result<()> {
        self.program.start()?;
        let serves = async || {
            self.program.check()?;
            Ok(listens(self.ports.amqp).await && listens(self.ports.metrics).await)
        };
        until(&format!("{} serves", self.name()), START_DEADLINE, serves)
            .await
            .with_context(|| self.program.last_words())
    }

    /// Pauses it: connections stay open, and nothing is answered. The other nodes notice after about a minute, the queues'
    /// replicas sooner.
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

    /// Whether it runs and is not paused.
    pub(super) fn answers(&self) -> bool {
        self.process().is_ok_and(|process| process.is_alive() && !process.is_paused())
    }

    /// Its process.
    ///
    /// # Errors
    /// When it was never started.
    pub fn process(&self) -> anyhow::Result<Process> {
        self.program.process()
    }

    /// Has it evaluate Erlang expressions, without a dot at the end, and answers what they print.
    ///
    /// # Errors
    /// When it cannot be reached, or they fail.
    pub async fn evaluate(&self, expressions: &str) -> anyhow::Result<String> {
        self.control.evaluate(expressions).await
    }
}

fn command(script: &Path, folder: &Path, name: &str, ports: NodePorts, epmd_port: u16) -> Command {
    let mut command = Command::new(script);
    command.env("PATH", packages::PATH).env("HOME", folder).current_dir(folder);
    command.env("LANG", "C.UTF-8");
    command.env("ERL_FLAGS", ERLANG_FLAGS);
    command.env("ERL_EPMD_PORT", epmd_port.to_string()).env("ERL_EPMD_ADDRESS", "127.0.0.1");
    command.env("RABBITMQ_NODENAME", name).env("RABBITMQ_DIST_PORT", ports.distribution.to_string());
    // Not the machine's own settings.
    command.env("RABBITMQ_CONF_ENV_FILE", "/dev/null");
    command.env("RABBITMQ_CONFIG_FILE", folder.join("rabbitmq.conf"));
    command.env("RABBITMQ_ADVANCED_CONFIG_FILE", folder.join("advanced.config"));
    command.env("RABBITMQ_ENABLED_PLUGINS_FILE", folder.join("enabled_plugins"));
    command.env("RABBITMQ_MNESIA_BASE", folder.join("data")).env("RABBITMQ_LOG_BASE", folder.join("log"));
    // Makes the script become the Erlang machine, so that a signal reaches that, and not a shell that waits for it.
    command.env("RABBITMQ_ALLOW_INPUT", "true").env("RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS", "-noinput");
    command
}
