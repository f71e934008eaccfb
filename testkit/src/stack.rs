//! The three services that a cluster of servers needs.

use std::path::PathBuf;

use crate::place::{Place, root};
use crate::ports::free_port;
use crate::{Postgres, RabbitCluster, RabbitPorts, Redis};

/// Where the services listen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StackPorts {
    /// Postgres.
    pub postgres: u16,
    /// Redis.
    pub redis: u16,
    /// The three nodes of RabbitMQ.
    pub rabbit: RabbitPorts,
}

impl StackPorts {
    /// Free ones.
    ///
    /// # Errors
    /// When all are taken.
    pub fn free() -> anyhow::Result<Self> {
        Ok(Self { postgres: free_port()?, redis: free_port()?, rabbit: RabbitPorts::free()? })
    }
}

/// Postgres, Redis, and three RabbitMQ nodes with the queues and policies of `rabbitmq/definitions.json`.
#[derive(Debug)]
pub struct Stack {
    /// The truth.
    pub postgres: Postgres,
    /// Wake-ups.
    pub redis: Redis,
    /// Hints and match events.
    pub rabbit: RabbitCluster,
}

impl Stack {
    /// Starts all of them at once.
    ///
    /// # Errors
    /// When one does not start.
    pub async fn start(place: &Place, ports: Option<StackPorts>) -> anyhow::Result<Self> {
        let ports = ports.map_or_else(StackPorts::free, Ok)?;
        let (postgres, redis) = (place.of_part("postgres"), place.of_part("redis"));
        let definitions = definitions();
        let (postgres, redis, rabbit) = tokio::try_join!(
            Postgres::start(&postgres, Some(ports.postgres)),
            Redis::start(&redis, Some(ports.redis)),
            RabbitCluster::start(place, Some(ports.rabbit), Some(&definitions)),
        )?;
        Ok(Self { postgres, redis, rabbit })
    }
}

/// The queues and policies that all installations share.
#[must_use]
pub fn definitions() -> PathBuf {
    root().join("rabbitmq/definitions.json")
}

/// How many shards the servers share when they are not told otherwise.
#[must_use]
pub fn shard_count() -> u16 {
    proto::DEFAULT_SHARD_COUNT
}
