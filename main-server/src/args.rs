//! What `main-server` can be told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use main_server::AuthArgs;
use service::amqp::AmqpArgs;
use service::postgres::DatabaseArgs;
use service::runtime::RuntimeArgs;
use service::telemetry::LogArgs;
use service::wakeups::RedisArgs;

/// The API server of Dovetail: accepts match tickets and tells phones what became of them.
///
/// Keeps tickets in Postgres, tells matching servers of them through RabbitMQ and hears of matches through Redis. Any number
/// of these run side by side. It serves the API on --listen and, for those who run it, /live, /ready and /metrics on
/// --admin. SIGTERM or Ctrl-C stops it gracefully; a second one at once.
#[derive(Debug, clap::Parser)]
#[command(version, name = "main-server")]
pub(crate) struct Args {
    /// Address of the public API
    #[arg(long, env = "DOVETAIL_LISTEN", default_value = "127.0.0.1:8080", value_name = "IP:PORT")]
    pub(crate) listen: SocketAddr,
    /// Address of the admin port: /live, /ready, /metrics. Not for the public
    #[arg(long, env = "DOVETAIL_ADMIN", default_value = "127.0.0.1:8081", value_name = "IP:PORT")]
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
    #[command(flatten)]
    pub(crate) auth: AuthArgs,
    /// How long /ready fails before the API closes, so that a load balancer looks elsewhere first
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
