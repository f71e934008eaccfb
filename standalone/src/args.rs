//! What `standalone` can be told.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use main_server::AuthArgs;
use service::telemetry::LogArgs;
use store::SqliteLocation;

/// Dovetail in one process: pairs people one to one by region and shared interests.
///
/// Needs no other service: tickets and matches are kept in SQLite. It serves the API on --listen and, for those who
/// run it, /live, /ready and /metrics on --admin. SIGTERM or Ctrl-C stops it gracefully; a second one at once.
#[derive(Debug, clap::Parser)]
#[command(version, name = "standalone")]
pub(crate) struct Args {
    /// Address of the public API
    #[arg(long, env = "DOVETAIL_LISTEN", default_value = "127.0.0.1:8080", value_name = "IP:PORT")]
    pub(crate) listen: SocketAddr,
    /// Address of the admin port: /live, /ready, /metrics. Not for the public
    #[arg(long, env = "DOVETAIL_ADMIN", default_value = "127.0.0.1:8081", value_name = "IP:PORT")]
    pub(crate) admin: SocketAddr,
    /// Folder of the database file dovetail.db; :memory: keeps nothing
    #[arg(long, env = "DOVETAIL_DATA", default_value = "./data", value_name = "DIR")]
    pub(crate) data: PathBuf,
    /// Matching policy, a TOML file; --print-policy shows the defaults
    #[arg(long, env = "DOVETAIL_POLICY", value_name = "FILE")]
    pub(crate) policy: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) auth: AuthArgs,
    /// How long /ready fails before the API closes, so that a load balancer looks elsewhere first
    #[arg(long, env = "DOVETAIL_DRAIN_DELAY", default_value = "0s", value_parser = humantime::parse_duration, value_name = "TIME")]
    pub(crate) drain_delay: Duration,
    /// Print the default policy file, every setting explained, and end
    #[arg(long)]
    pub(crate) print_policy: bool,
    #[command(flatten)]
    pub(crate) log: LogArgs,
}

impl Args {
    pub(crate) fn location(&self) -> SqliteLocation {
        if self.data.as_os_str() == ":memory:" {
            SqliteLocation::Memory
        } else {
            SqliteLocation::File(self.data.join("dovetail.db"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory as _, Parser as _};

    #[test]
    fn flags_are_consistent() {
        Args::command().debug_assert();
    }

    #[test]
    fn data_is_a_folder_or_memory() {
        let location = |data: &str| Args::parse_from(["standalone", "--data", data]).location();
        assert_eq!(location(":memory:"), SqliteLocation::Memory);
        assert_eq!(location("x"), SqliteLocation::File("x/dovetail.db".into()));
    }
}
