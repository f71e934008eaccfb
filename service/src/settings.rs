//! The settings that the servers of a cluster share.

use std::path::PathBuf;
use std::time::Duration;

use crate::amqp::AmqpArgs;
use crate::postgres::DatabaseArgs;
use crate::runtime::RuntimeArgs;
use crate::telemetry::LogArgs;
use crate::wakeups::RedisArgs;

/// Where the services are, and how a server works and stops.
#[derive(Debug, Clone, clap::Args)]
pub struct ServerArgs {
    /// Where the store is.
    #[command(flatten)]
    pub database: DatabaseArgs,
    /// Where the broker is.
    #[command(flatten)]
    pub amqp: AmqpArgs,
    /// Where wake-ups go.
    #[command(flatten)]
    pub redis: RedisArgs,
    /// Matching policy, a TOML file, the same for all servers; --print-policy shows the defaults
    #[arg(long, env = "DOVETAIL_POLICY", value_name = "FILE")]
    pub policy: Option<PathBuf>,
    /// How long /ready fails before the server stops serving: a load balancer looks elsewhere meanwhile
    #[arg(long, env = "DOVETAIL_DRAIN_DELAY", default_value = "0s", value_parser = humantime::parse_duration, value_name = "TIME")]
    pub drain_delay: Duration,
    /// The threads.
    #[command(flatten)]
    pub runtime: RuntimeArgs,
    /// Print the default policy file, every setting explained, and end
    #[arg(long)]
    pub print_policy: bool,
    /// What is logged.
    #[command(flatten)]
    pub log: LogArgs,
}
