//! What `matching-server` can be told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use service::amqp::AmqpArgs;
use service::postgres::DatabaseArgs;
use service::runtime::RuntimeArgs;
use service::telemetry::LogArgs;
use service::wakeups::RedisArgs;

/// The matching server of Dovetail: pairs the people who wait.
///
/// Holds a fair share of the shards by leases in Postgres, hears of tickets through RabbitMQ, and settles matches in
/// Postgres. Start more of these to scale: shards move by themselves, also when one dies. It serves /live, /ready and
/// /metrics on --admin. SIGTERM or Ctrl-C gives its shards back and stops it; a second one at once.
#[derive(Debug, clap::Parser)]
#[command(version, name = "matching-server")]
pub(crate) struct Args {
    /// Address of the admin port: /live, /ready, /metrics. Not for the public
    #[arg(long, env = "DOVETAIL_ADMIN", default_value = "127.0.0.1:8082", value_name = "IP:PORT")]
    pub(crate) admin: SocketAddr,
    #[command(flatten)]
    pub(crate) database: DatabaseArgs,
    #[command(flatten)]
    pub(crate) amqp: AmqpArgs,
    #[command(flatten)]
    pub(crate) redis: RedisArgs,
    /// Matching policy, a TOML file, the same for all servers; --print-policy shows the defaults
    #[arg(long, env = "DOVETAIL_POLICY", value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    /// How long /ready fails before the shards are given back
    #[arg(long, env = "DOVETAIL_DRAIN_DELAY", default_value = "0s", value_parser = humantime::parse_duration, value_name = "TIME")]
    pub(crate) drain_delay: Duration,
    #[command(flatten)]
    pub(crate) runtime: RuntimeArgs,
    /// Print the default policy file, every setting explained, and end
    #[arg(long)]
    pub(crate) print_policy: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory as _;

    #[test]
    fn flags_are_consistent() {
        Args::command().debug_assert();
    }
}
