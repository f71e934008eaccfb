//! Where the stack listens: on the same ports each time, so that addresses can be remembered, unless they are taken.

use serde::{Deserialize, Serialize};
use testkit::{NodePorts, RabbitPorts, StackPorts, free_port, is_free};

use super::{Kind, MOST_SERVERS};

// None of these is the default of the service, which may run on this machine as well.
const POSTGRES: u16 = 17_432;
const REDIS: u16 = 17_379;
const EPMD: u16 = 17_369;
/// Of the first node; the others follow.
const AMQP: u16 = 17_672;
const RABBITMQ_METRICS: u16 = 17_692;
const DISTRIBUTION: u16 = 17_772;
const PROMETHEUS: u16 = 17_090;
/// Of the first exporter; the others follow.
const EXPORTERS: u16 = 17_091;
/// Of the first server; the others follow.
const MAIN: u16 = 17_801;
const MAIN_ADMIN: u16 = 17_821;
const MATCHING_ADMIN: u16 = 17_841;

/// The ports of the services.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ServicePorts {
    postgres: u16,
    redis: u16,
    epmd: u16,
    nodes: [Node; 3],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
struct Node {
    amqp: u16,
    metrics: u16,
    distribution: u16,
}

impl ServicePorts {
    /// The usual ones, each replaced by a free one when somebody else listens there.
    pub(super) fn choose() -> anyhow::Result<Self> {
        let node = |index: u16| -> anyhow::Result<Node> {
            Ok(Node {
                amqp: usual(AMQP + index)?,
                metrics: usual(RABBITMQ_METRICS + index)?,
                distribution: usual(DISTRIBUTION + index)?,
            })
        };
        Ok(Self {
            postgres: usual(POSTGRES)?,
            redis: usual(REDIS)?,
            epmd: usual(EPMD)?,
            nodes: [node(0)?, node(1)?, node(2)?],
        })
    }
}

impl From<ServicePorts> for StackPorts {
    fn from(ports: ServicePorts) -> Self {
        let nodes = ports.nodes.map(|node| NodePorts {
            amqp: node.amqp,
            metrics: node.metrics,
            distribution: node.distribution,
        });
        Self { postgres: ports.postgres, redis: ports.redis, rabbit: RabbitPorts { epmd: ports.epmd, nodes } }
    }
}

/// The ports of Prometheus and its exporters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MonitoringPorts {
    prometheus: u16,
    postgres: u16,
    redis: u16,
    processes: u16,
}

impl MonitoringPorts {
    /// The usual ones, each replaced by a free one when somebody else listens there.
    pub(super) fn choose() -> anyhow::Result<Self> {
        Ok(Self {
            prometheus: usual(PROMETHEUS)?,
            postgres: usual(EXPORTERS)?,
            redis: usual(EXPORTERS + 1)?,
            processes: usual(EXPORTERS + 2)?,
        })
    }
}

impl From<MonitoringPorts> for testkit::MonitoringPorts {
    fn from(ports: MonitoringPorts) -> Self {
        let MonitoringPorts { prometheus, postgres, redis, processes } = ports;
        Self { prometheus, postgres, redis, processes }
    }
}

/// The ports of the server with this number, which counts from 1: of its API, if it has one, and of its admin port.
pub(super) fn of_server(kind: Kind, number: u32) -> anyhow::Result<(Option<u16>, u16)> {
    let index = u16::try_from((number - 1).min(MOST_SERVERS))?;
    match kind {
        Kind::MainServer => Ok((Some(usual(MAIN + index)?), usual(MAIN_ADMIN + index)?)),
        Kind::MatchingServer => Ok((None, usual(MATCHING_ADMIN + index)?)),
    }
}

fn usual(port: u16) -> anyhow::Result<u16> {
    if is_free(port) { Ok(port) } else { free_port() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{Ipv4Addr, TcpListener};

    #[test]
    fn a_port_that_is_taken_is_replaced() {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let taken = listener.local_addr().unwrap().port();
        assert_ne!(usual(taken).unwrap(), taken);
        drop(listener);
        assert_eq!(usual(taken).unwrap(), taken);
    }

    #[test]
    fn usual_ports_do_not_overlap() {
        let most = u16::try_from(MOST_SERVERS).unwrap();
        let ranges =
            [(POSTGRES, 1), (REDIS, 1), (EPMD, 1), (AMQP, 3), (RABBITMQ_METRICS, 3), (DISTRIBUTION, 3)];
        let monitoring = [(PROMETHEUS, 1), (EXPORTERS, 3)];
        let servers = [(MAIN, most), (MAIN_ADMIN, most), (MATCHING_ADMIN, most)];
        let mut ports: Vec<u16> = ranges
            .into_iter()
            .chain(monitoring)
            .chain(servers)
            .flat_map(|(first, count)| first..first + count)
            .collect();
        let all = ports.len();
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), all);
    }
}
