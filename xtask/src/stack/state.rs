//! What was started and how: `state.json`. Which of it still runs, the programs' own files say.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde::{Deserialize, Serialize};

use super::ports::{MonitoringPorts, ServicePorts, of_server};
use super::{Auth, Kind};

const FILE: &str = "state.json";

/// What was started and how.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct State {
    pub(super) auth: Auth,
    pub(super) ports: ServicePorts,
    /// Not in the file of a stack that was started before there was any.
    #[serde(default)]
    monitoring: Option<MonitoringPorts>,
    /// Those that shall run, by kind and number.
    pub(super) servers: Vec<Server>,
}

/// One of our servers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Server {
    pub(super) kind: Kind,
    /// Counts from 1 for each kind.
    pub(super) number: u32,
    /// The API's port, of one that has an API.
    pub(super) port: Option<u16>,
    pub(super) admin_port: u16,
}

impl Server {
    /// What its process, folder and log are called.
    pub(super) fn name(&self) -> String {
        format!("{}-{}", self.kind.name(), self.number)
    }

    pub(super) fn url(&self) -> Option<String> {
        Some(format!("http://127.0.0.1:{}", self.port?))
    }

    pub(super) fn admin_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.admin_port)
    }
}

impl State {
    /// A stack without servers.
    pub(super) fn new(auth: Auth) -> anyhow::Result<Self> {
        Ok(Self { auth, ports: ServicePorts::choose()?, monitoring: None, servers: Vec::new() })
    }

    /// The ports of Prometheus and its exporters, chosen by the first call.
    pub(super) fn monitoring_ports(&mut self) -> anyhow::Result<MonitoringPorts> {
        let ports = self.monitoring.map_or_else(MonitoringPorts::choose, Ok)?;
        self.monitoring = Some(ports);
        Ok(ports)
    }

    /// What the last command left; `None` before the first one.
    pub(super) fn load(folder: &Path) -> anyhow::Result<Option<Self>> {
        let path = folder.join(FILE);
        if !path.exists() {
            return Ok(None);
        }
        let read = || anyhow::Ok(serde_json::from_str(&fs::read_to_string(&path)?)?);
        read().with_context(|| format!("cannot read {}", path.display())).map(Some)
    }

    pub(super) fn save(&self, folder: &Path) -> anyhow::Result<()> {
        let path = folder.join(FILE);
        let text = serde_json::to_string_pretty(self)? + "\n";
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
    }

    pub(super) fn of_kind(&self, kind: Kind) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(move |server| server.kind == kind)
    }

    /// Adds servers until there are `count` of a kind.
    pub(super) fn grow(&mut self, kind: Kind, count: u32) -> anyhow::Result<()> {
        for number in 1..=count {
            if !self.of_kind(kind).any(|server| server.number == number) {
                let (port, admin_port) = of_server(kind, number)?;
                self.servers.push(Server { kind, number, port, admin_port });
            }
        }
        self.servers.sort_by_key(|server| (server.kind.name(), server.number));
        Ok(())
    }

    /// Takes out servers until there are `count` of a kind, and answers them.
    pub(super) fn shrink(&mut self, kind: Kind, count: u32) -> Vec<Server> {
        self.servers.extract_if(.., |server| server.kind == kind && server.number > count).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(state: &State) -> Vec<String> {
        state.servers.iter().map(Server::name).collect()
    }

    #[test]
    fn servers_are_added_where_they_are_missing_and_taken_from_the_end() {
        let mut state = State::new(Auth::Dev).unwrap();
        state.grow(Kind::MatchingServer, 3).unwrap();
        state.grow(Kind::MainServer, 1).unwrap();
        assert_eq!(
            names(&state),
            ["main-server-1", "matching-server-1", "matching-server-2", "matching-server-3"]
        );
        let before = state.servers.clone();
        state.grow(Kind::MatchingServer, 2).unwrap();
        assert_eq!(state.servers, before, "there are enough");

        let gone = state.shrink(Kind::MatchingServer, 1);
        assert_eq!(
            gone.iter().map(Server::name).collect::<Vec<_>>(),
            ["matching-server-2", "matching-server-3"]
        );
        assert_eq!(names(&state), ["main-server-1", "matching-server-1"]);
        assert!(state.servers[0].url().is_some() && state.servers[1].url().is_none());
    }

    #[test]
    fn what_is_saved_is_loaded() {
        let folder = std::env::temp_dir().join(format!("xtask-state-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        assert_eq!(State::load(&folder).unwrap(), None);
        let mut state = State::new(Auth::Jwt).unwrap();
        state.grow(Kind::MainServer, 2).unwrap();
        state.save(&folder).unwrap();
        assert_eq!(State::load(&folder).unwrap(), Some(state));
        fs::remove_dir_all(folder).unwrap();
    }
}
