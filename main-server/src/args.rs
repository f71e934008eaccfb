//! What `main-server` can be told.

use std::net::SocketAddr;

use main_server::AuthArgs;
use service::settings::ServerArgs;

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
    pub(crate) server: ServerArgs,
    #[command(flatten)]
    pub(crate) auth: AuthArgs,
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
