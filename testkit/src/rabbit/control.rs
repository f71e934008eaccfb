//! Asking a RabbitMQ node, through `erl_call`: the same calls as `rabbitmqctl` makes, in milliseconds and not in seconds.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use anyhow::{Context as _, bail};
use tokio::io::AsyncWriteExt as _;
use tokio::process::Command;

/// How long a node may take to answer: to import definitions it makes all queues, on all nodes.
const DEADLINE: Duration = Duration::from_secs(60);

/// The last expression, and what `erl_call` prints when it was come to.
const DONE: &str = "ok";
const RESULT: &str = "{ok, ok}";

/// How to reach one node.
#[derive(Debug)]
pub(super) struct Control {
    /// `erl_call`.
    pub(super) program: PathBuf,
    /// The node's name.
    pub(super) node: String,
    /// Where the nodes' common secret lies.
    pub(super) home: PathBuf,
    /// The port of the name server that knows the node.
    pub(super) epmd_port: u16,
}

impl Control {
    /// Has the node evaluate Erlang expressions, without a dot at the end, and answers what they print.
    pub(super) async fn evaluate(&self, expressions: &str) -> anyhow::Result<String> {
        let mut command = Command::new(&self.program);
        // A name of its own for each call, so that several can be under way.
        command.args(["-r", "-n", &self.node, "-e", "-fetch_stdout"]);
        command.env_clear().env("HOME", &self.home).env("ERL_EPMD_PORT", self.epmd_port.to_string());
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
        let mut asking = command.spawn().context("cannot start erl_call")?;
        let mut input = asking.stdin.take().context("erl_call takes no input")?;
        // It does not read when it cannot reach the node; then its exit code says so.
        let _ = input.write_all(format!("{expressions}, {DONE}.\n").as_bytes()).await;
        drop(input);
        let Ok(asked) = tokio::time::timeout(DEADLINE, asking.wait_with_output()).await else {
            bail!("{} does not answer within {DEADLINE:?}: {expressions}", self.node);
        };
        let asked = asked?;
        let (said, complained) =
            (String::from_utf8_lossy(&asked.stdout), String::from_utf8_lossy(&asked.stderr));
        // Its exit code tells of the connection alone, not of the expressions.
        let Some(printed) = said.trim_end().strip_suffix(RESULT) else {
            bail!("{}: {} {} for: {expressions}", self.node, said.trim_end(), complained.trim_end());
        };
        Ok(printed.trim_end().to_owned())
    }
}
