//! Files of targets: which addresses each job of Prometheus reads. Prometheus sees by itself when one changes.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde_json::json;

use super::MonitoringPorts;
use crate::stack::Stack;

/// What a job reads: an instance's name and its port on 127.0.0.1.
pub(super) type Targets = Vec<(String, u16)>;

/// All jobs but those of servers.
pub(super) fn of_services(stack: &Stack, ports: &MonitoringPorts) -> Vec<(&'static str, Targets)> {
    let one = |name: &str, port| vec![(name.to_owned(), port)];
    let nodes: Targets = (1..)
        .zip(stack.rabbit.nodes())
        .map(|(number, node)| (format!("rabbitmq-{number}"), node.ports().metrics))
        .collect();
    vec![
        ("rabbitmq", nodes.clone()),
        ("rabbitmq-detailed", nodes),
        ("postgres", one("postgres", ports.postgres)),
        ("redis", one("redis", ports.redis)),
        ("process", one("processes", ports.processes)),
        ("prometheus", one("prometheus", ports.prometheus)),
    ]
}

/// Writes a job's file, at once as a whole: Prometheus may look at any moment.
pub(super) fn write(folder: &Path, job: &str, targets: &Targets) -> anyhow::Result<()> {
    let groups: Vec<_> = targets
        .iter()
        .map(|(instance, port)| {
            json!({ "targets": [format!("127.0.0.1:{port}")], "labels": { "instance": instance } })
        })
        .collect();
    let path = path(folder, job);
    let part = path.with_extension("part");
    let write = || {
        fs::write(&part, serde_json::to_string_pretty(&groups)? + "\n")?;
        anyhow::Ok(fs::rename(&part, &path)?)
    };
    write().with_context(|| format!("cannot write {}", path.display()))
}

fn path(folder: &Path, job: &str) -> PathBuf {
    folder.join(job).with_extension("json")
}
