//! The files that tell a RabbitMQ node who it is and who the others are.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::place::Place;
use crate::secret::{new_secret, write_secret};

/// How many nodes there are.
pub(super) const NODES: usize = 3;

/// More than the tests and a small load need; publishers are blocked at it.
pub(super) const MEMORY_LIMIT_BYTES: u64 = 512 * 1024 * 1024;

/// Publishers are blocked when less is free on the disk: a full machine shall be seen, a nearly full one shall do.
const DISK_FREE_BYTES: u64 = 64 * 1024 * 1024;

/// Quorum queues renew their gauges this often. With RabbitMQ's own 5 s the peak of a burst is not seen.
const ADVANCED: &str = "[{rabbit, [{quorum_tick_interval, 200}]}].\n";

/// Metrics, and no management: its samples cost more than all the rest.
const PLUGINS: &str = "[rabbitmq_prometheus].\n";

/// Where Erlang looks for it, in the home folder of whoever runs it.
const COOKIE: &str = ".erlang.cookie";

/// What a node's folder and log are called.
pub(super) fn part_name(index: usize) -> String {
    format!("rabbit{}", index + 1)
}

/// The name of a node, by its place in the cluster.
pub(super) fn node_name(index: usize) -> String {
    format!("{}@localhost", part_name(index))
}

/// What a node is told by its main configuration file.
pub(super) fn render(amqp_port: u16, metrics_port: u16) -> String {
    let mut text = format!(
        "cluster_name = dovetail\n\
         listeners.tcp.1 = 127.0.0.1:{amqp_port}\n\
         prometheus.tcp.ip = 127.0.0.1\n\
         prometheus.tcp.port = {metrics_port}\n\
         vm_memory_high_watermark.absolute = {MEMORY_LIMIT_BYTES}\n\
         disk_free_limit.absolute = {DISK_FREE_BYTES}\n\
         log.console.level = info\n\
         log.console = true\n\
         log.file = false\n\
         cluster_partition_handling = pause_minority\n\
         cluster_formation.peer_discovery_backend = classic_config\n"
    );
    for index in 0..NODES {
        text += &format!("cluster_formation.classic_config.nodes.{} = {}\n", index + 1, node_name(index));
    }
    // The first one to start holds a lock while it looks for others that already form a cluster. There are none, so it need
    // not look for the usual 5 s.
    text + "cluster_formation.discovery_retry_limit = 3\ncluster_formation.discovery_retry_interval = 100\n"
}

/// The folders of the nodes.
pub(super) fn folders(place: &Place) -> anyhow::Result<Vec<PathBuf>> {
    (0..NODES).map(|index| place.of_part(&part_name(index)).folder(&part_name(index))).collect()
}

/// What the nodes know each other by: the one that a node has already, or a new one.
pub(super) fn cookie(folders: &[PathBuf]) -> anyhow::Result<String> {
    let known = folders.iter().find_map(|folder| fs::read_to_string(folder.join(COOKIE)).ok());
    known.map_or_else(new_secret, Ok)
}

/// Writes all files of a node into its folder.
pub(super) fn write(folder: &Path, amqp_port: u16, metrics_port: u16, cookie: &str) -> anyhow::Result<()> {
    let write = |name: &str, text: &str| {
        let path = folder.join(name);
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    };
    write("rabbitmq.conf", &render(amqp_port, metrics_port))?;
    write("advanced.config", ADVANCED)?;
    write("enabled_plugins", PLUGINS)?;
    write_secret(&folder.join(COOKIE), cookie)
}
