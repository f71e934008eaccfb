//! What `matching-server` can be told.

use std::net::SocketAddr;

use service::settings::ServerArgs;

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
    pub(crate) server: ServerArgs,
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
