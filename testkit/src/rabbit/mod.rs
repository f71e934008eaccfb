//! RabbitMQ: three nodes that form a cluster by configuration, with a name server of their own.

mod config;
mod control;
mod node;

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context as _, ensure};

use self::config::{MEMORY_LIMIT_BYTES, NODES};
pub use self::node::{NodePorts, RabbitNode};
use crate::packages;
use crate::place::Place;
use crate::ports::free_port;
use crate::process::{Process, Signal};
use crate::program::Program;
use crate::wait::{listens, until, until_some};

/// How long the nodes may take to find each other once each serves.
const CLUSTER_DEADLINE: Duration = Duration::from_secs(60);
/// How long a node may take to hear of all alarms: of another node's only once they have found each other again.
const ALARM_DEADLINE: Duration = Duration::from_secs(60);
/// How long the name server may take to listen.
const EPMD_DEADLINE: Duration = Duration::from_secs(30);
/// How long a queue may take to get a leader again: a candidate waits for some seconds first.
const LEADER_DEADLINE: Duration = Duration::from_secs(60);

/// Where a cluster listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RabbitPorts {
    /// Of the name server.
    pub epmd: u16,
    /// Of each node.
    pub nodes: [NodePorts; NODES],
}

impl RabbitPorts {
    /// Free ones.
    ///
    /// # Errors
    /// When all are taken.
    pub fn free() -> anyhow::Result<Self> {
        let node = || -> anyhow::Result<NodePorts> {
            Ok(NodePorts { amqp: free_port()?, metrics: free_port()?, distribution: free_port()? })
        };
        Ok(Self { epmd: free_port()?, nodes: [node()?, node()?, node()?] })
    }
}

/// What a queue holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Depth {
    /// Messages that wait for a consumer.
    pub ready: u64,
    /// Messages that a consumer has and did not acknowledge yet.
    pub unacknowledged: u64,
}

/// Three RabbitMQ nodes.
#[derive(Debug)]
pub struct RabbitCluster {
    nodes: [RabbitNode; NODES],
    /// The name server through which the nodes find each other.
    epmd: Program,
    epmd_port: u16,
}

impl RabbitCluster {
    /// Starts three nodes, on free ports when none are given, waits until they form a cluster, and then imports the
    /// definitions in a file, if there is one: queues get their replicas when they are made.
    ///
    /// # Errors
    /// When programs are missing and cannot be installed, the nodes do not start, or the definitions are not taken.
    pub async fn start(
        place: &Place,
        ports: Option<RabbitPorts>,
        definitions: Option<&Path>,
    ) -> anyhow::Result<Self> {
        packages::rabbitmq()?;
        let ports = ports.map_or_else(RabbitPorts::free, Ok)?;
        let folders = config::folders(place)?;
        let cookie = config::cookie(&folders)?;
        let node = |index: usize| {
            RabbitNode::new(place, index, &folders[index], ports.nodes[index], ports.epmd, &cookie)
        };
        let cluster = Self {
            nodes: [node(0)?, node(1)?, node(2)?],
            epmd: epmd(&place.of_part("epmd"), ports.epmd)?,
            epmd_port: ports.epmd,
        };
        cluster.start_all().await?;
        if let Some(definitions) = definitions {
            cluster.import_definitions(definitions).await?;
        }
        Ok(cluster)
    }

    /// The nodes.
    #[must_use]
    pub fn nodes(&self) -> &[RabbitNode] {
        &self.nodes
    }

    /// One node, from 0 to 2.
    #[must_use]
    pub fn node(&self, index: usize) -> &RabbitNode {
        &self.nodes[index]
    }

    /// Where clients connect to, node by node.
    #[must_use]
    pub fn amqp_urls(&self) -> Vec<String> {
        self.nodes.iter().map(RabbitNode::amqp_url).collect()
    }

    /// Where Prometheus reads, node by node.
    #[must_use]
    pub fn metrics_urls(&self) -> Vec<String> {
        self.nodes.iter().map(RabbitNode::metrics_url).collect()
    }

    /// All processes of the cluster, the name server's too.
    ///
    /// # Errors
    /// When one was never started.
    pub fn processes(&self) -> anyhow::Result<Vec<Process>> {
        let nodes = self.nodes.iter().map(RabbitNode::process);
        nodes.chain([self.epmd.process()]).collect()
    }

    /// Starts the nodes that do not run, all at once, and waits until all three are in the cluster.
    ///
    /// # Errors
    /// When they do not start.
    pub async fn start_all(&self) -> anyhow::Result<()> {
        self.epmd.start()?;
        let is_there = async || {
            self.epmd.check()?;
            Ok(listens(self.epmd_port).await)
        };
        until("epmd listens", EPMD_DEADLINE, is_there).await?;
        let [first, second, third] = &self.nodes;
        tokio::try_join!(first.start(), second.start(), third.start())?;
        let wait = CLUSTER_DEADLINE.as_millis();
        first
            .evaluate(&format!("ok = rabbit_nodes:await_running_count({NODES}, {wait})"))
            .await
            .context("the nodes do not find each other")?;
        Ok(())
    }

    /// Stops all nodes in order, at once.
    ///
    /// # Errors
    /// When one does not end.
    pub async fn stop_all(&self) -> anyhow::Result<()> {
        let [first, second, third] = &self.nodes;
        tokio::try_join!(first.stop(), second.stop(), third.stop())?;
        Ok(())
    }

    /// Kills all nodes.
    ///
    /// # Errors
    /// When one does not end.
    pub async fn kill_all(&self) -> anyhow::Result<()> {
        let [first, second, third] = &self.nodes;
        tokio::try_join!(first.kill(), second.kill(), third.kill())?;
        Ok(())
    }

    /// Makes the queues, policies and whatever else a definitions file holds. It can be repeated.
    ///
    /// # Errors
    /// When they are not taken.
    pub async fn import_definitions(&self, file: &Path) -> anyhow::Result<()> {
        let file = std::path::absolute(file)?;
        ensure!(file.exists(), "there is no {}", file.display());
        // The path as a list of numbers needs no quoting.
        let path = file.as_os_str().as_encoded_bytes();
        let import =
            format!("{{ok, Text}} = file:read_file({path:?}), ok = rabbit_definitions:import_raw(Text)");
        self.ask(&import).await.with_context(|| format!("cannot import {}", file.display()))?;
        Ok(())
    }

    /// The node, from 0 to 2, on which a quorum queue of the virtual host `/` has its leader. When it has none at the moment,
    /// because the leader was killed, waits for the next one.
    ///
    /// # Errors
    /// When there is no such queue, or no leader in time.
    pub async fn leader_of(&self, queue: &str) -> anyhow::Result<usize> {
        // The leader itself answers this; the record of the queue may name one that is gone.
        let expressions = format!(
            "{{ok, Q}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>)), \
             {{Name, _}} = amqqueue:get_pid(Q), \
             case ra:members({{Name, node()}}, 1000) of \
             {{ok, _, {{_, Leader}}}} -> io:format(\"~s\", [Leader]); _ -> ok end"
        );
        let ask = async || Ok(Some(self.ask(&expressions).await?).filter(|leader| !leader.is_empty()));
        let leader = until_some(&format!("{queue} has a leader"), LEADER_DEADLINE, ask).await?;
        let index = self.nodes.iter().position(|node| node.name() == leader);
        index.with_context(|| format!("{leader} is none of our nodes"))
    }

    /// What each quorum queue holds at this moment, from the leaders themselves.
    ///
    /// # Errors
    /// When one has no leader at the moment.
    pub async fn queue_depths(&self) -> anyhow::Result<BTreeMap<String, Depth>> {
        let expressions = "\
            Count = fun(Q, What) -> \
              {Name, _} = amqqueue:get_pid(Q), \
              {ok, {_, N}, _} = ra:leader_query({Name, node()}, What), N end, \
            [begin \
              {resource, _, queue, Name} = amqqueue:get_name(Q), \
              Ready = Count(Q, fun rabbit_fifo:query_messages_ready/1), \
              Taken = Count(Q, fun rabbit_fifo:query_messages_checked_out/1), \
              io:format(\"~b ~b ~s~n\", [Ready, Taken, Name]) \
            end || Q <- rabbit_amqqueue:list(), amqqueue:get_type(Q) =:= rabbit_quorum_queue]";
        let said = self.ask(expressions).await?;
        said.lines().map(|line| read_depth(line).with_context(|| format!("a node said {line:?}"))).collect()
    }

    /// Makes the cluster block all publishers, as when its memory is used up, and answers once each node that runs does. What
    /// comes to a node from then on is not confirmed. Consumers go on.
    ///
    /// # Errors
    /// When a node that runs cannot be asked, or does not block.
    pub async fn block_publishers(&self) -> anyhow::Result<()> {
        self.limit_memory("0").await?;
        // Who keeps the alarms tells the connections of one before it answers that it is there.
        let knows = "io:format(\"~p\", [lists:keymember({resource_limit, memory, node()}, 1, rabbit_alarm:get_alarms())])";
        self.until_each("publishers are blocked", knows).await
    }

    /// Lets publishers go on, and answers once each node that runs does.
    ///
    /// # Errors
    /// When a node that runs cannot be asked, or goes on blocking.
    pub async fn unblock_publishers(&self) -> anyhow::Result<()> {
        self.limit_memory(&format!("{{absolute, {MEMORY_LIMIT_BYTES}}}")).await?;
        self.until_each("publishers go on", "io:format(\"~p\", [rabbit_alarm:get_alarms() =:= []])").await
    }

    /// Sets what each node that runs may use.
    async fn limit_memory(&self, limit: &str) -> anyhow::Result<()> {
        for node in self.nodes.iter().filter(|node| node.answers()) {
            node.evaluate(&format!("ok = vm_memory_monitor:set_vm_memory_high_watermark({limit})")).await?;
        }
        Ok(())
    }

    /// Asks each node that runs until it prints `true`.
    async fn until_each(&self, what: &str, expression: &str) -> anyhow::Result<()> {
        for node in self.nodes.iter().filter(|node| node.answers()) {
            let what = format!("{what} by {}", node.name());
            until(&what, ALARM_DEADLINE, async || Ok(node.evaluate(expression).await? == "true")).await?;
        }
        Ok(())
    }

    /// Asks the first node that can answer.
    async fn ask(&self, expressions: &str) -> anyhow::Result<String> {
        let node = self.nodes.iter().find(|node| node.answers()).context("no node of RabbitMQ runs")?;
        node.evaluate(expressions).await
    }
}

/// Erlang's name server, on a port of its own. Nothing is to be done with it once it runs.
fn epmd(place: &Place, port: u16) -> anyhow::Result<Program> {
    let folder = place.folder("epmd")?;
    let mut command = Command::new(packages::of_erlang("epmd")?);
    command.args(["-address", "127.0.0.1", "-port", &port.to_string()]);
    command.env("PATH", packages::PATH).current_dir(&folder);
    Program::new("epmd", &command, place, &folder, Signal::KILL)
}

/// A queue's line: two numbers, then its name.
fn read_depth(line: &str) -> Option<(String, Depth)> {
    let mut words = line.splitn(3, ' ');
    let ready = words.next()?.parse().ok()?;
    let unacknowledged = words.next()?.parse().ok()?;
    Some((words.next()?.to_owned(), Depth { ready, unacknowledged }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_read_from_its_line() {
        let depth = Depth { ready: 3, unacknowledged: 14 };
        assert_eq!(read_depth("3 14 tickets.shard.07"), Some(("tickets.shard.07".to_owned(), depth)));
        assert_eq!(read_depth("3 tickets"), None);
    }
}
