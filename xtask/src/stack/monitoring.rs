//! Prometheus and its exporters: they run beside the stack and read all of it.

use std::path::Path;

use testkit::{Monitoring, Place, Stack, WatchedServer};

use super::ports::MonitoringPorts;
use super::state::State;
use crate::cargo::workspace;

/// Starts what does not run of them.
pub(super) async fn start(
    folder: &Path,
    ports: MonitoringPorts,
    stack: &Stack,
) -> anyhow::Result<Monitoring> {
    let programs = workspace()?.target_directory;
    let place = Place::Lasting(folder.to_owned());
    Monitoring::start(&place, Some(ports.into()), stack, programs.as_std_path()).await
}

/// Has Prometheus read the servers of `state` and no others.
pub(super) fn watch(monitoring: &Monitoring, state: &State) -> anyhow::Result<()> {
    let servers = state.servers.iter().map(|server| WatchedServer {
        job: server.kind.name(),
        instance: server.name(),
        admin_port: server.admin_port,
    });
    monitoring.set_servers(&servers.collect::<Vec<_>>())
}
