//! Where the nodes are: addresses with a user and a password, which no log and no error may show.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context as _;
use lapin::uri::{AMQPScheme, AMQPUri};
use proto::topology::VIRTUAL_HOST;

use crate::secret;

/// How often both ends say that they are alive. A node that says nothing for twice as long is given up: the least that
/// RabbitMQ recommends.
const HEARTBEAT_SECONDS: u16 = 5;
/// How long reaching a node may take before the next one is tried.
pub(super) const CONNECT_DEADLINE: Duration = Duration::from_secs(2);

/// Where RabbitMQ is.
#[derive(Debug, Clone, clap::Args)]
pub struct AmqpArgs {
    /// The RabbitMQ nodes, comma-separated, such as amqp://user:password@host:5672
    #[arg(long, env = "DOVETAIL_AMQP", hide_env_values = true, value_name = "URL,URL…")]
    amqp: Option<String>,
    /// A file that holds what --amqp would
    #[arg(long, env = "DOVETAIL_AMQP_FILE", value_name = "FILE")]
    amqp_file: Option<PathBuf>,
}

impl AmqpArgs {
    /// The addresses.
    ///
    /// # Errors
    /// When none are given, they are given twice, the file cannot be read, or one is not an address.
    pub fn urls(&self) -> anyhow::Result<AmqpUrls> {
        let text = secret::read("amqp", self.amqp.as_deref(), self.amqp_file.as_deref())?;
        let text =
            text.context("where is RabbitMQ? give --amqp, DOVETAIL_AMQP, --amqp-file or DOVETAIL_AMQP_FILE")?;
        text.parse().context("--amqp")
    }
}

/// The addresses of the RabbitMQ nodes; at least one. Shown without passwords.
#[derive(Clone, PartialEq, Eq)]
pub struct AmqpUrls(Vec<AmqpUrl>);

/// The address of one node.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct AmqpUrl(AMQPUri);

impl AmqpUrls {
    pub(super) fn iter(&self) -> impl Iterator<Item = &AmqpUrl> {
        self.0.iter()
    }
}

impl AmqpUrl {
    /// The whole address, password and all, for the client library alone.
    pub(super) fn secret_text(&self) -> String {
        let mut uri = self.0.clone();
        uri.query.heartbeat.get_or_insert(HEARTBEAT_SECONDS);
        let deadline = u64::try_from(CONNECT_DEADLINE.as_millis()).expect("seconds");
        uri.query.connection_timeout.get_or_insert(deadline);
        uri.to_string()
    }
}

impl fmt::Display for AmqpUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.0.authority.host, self.0.authority.port)
    }
}

impl fmt::Display for AmqpUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, url) in self.0.iter().enumerate() {
            let separator = if at == 0 { "" } else { ", " };
            write!(f, "{separator}{url}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for AmqpUrls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "AmqpUrls({self})")
    }
}

/// Which address is wrong, by its place: the text may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("address {place} is not like amqp://user:password@host:5672 (no TLS, no IPv6 literal)")]
pub struct InvalidAmqpUrls {
    /// Counted from 1.
    pub place: usize,
}

impl FromStr for AmqpUrls {
    type Err = InvalidAmqpUrls;

    fn from_str(text: &str) -> Result<Self, InvalidAmqpUrls> {
        let parse = |(at, text): (usize, &str)| {
            let invalid = InvalidAmqpUrls { place: at + 1 };
            let text = text.trim();
            // The library takes a host that it cannot read, such as an IPv6 literal, for localhost.
            if text.contains('[') || text.trim_start_matches("amqp://").is_empty() {
                return Err(invalid);
            }
            let mut uri: AMQPUri = text.parse().map_err(|_| invalid)?;
            if uri.vhost.is_empty() {
                // `amqp://host/` names a virtual host without a name, which nobody means.
                VIRTUAL_HOST.clone_into(&mut uri.vhost);
            }
            // There is no TLS in this build: better said at the start than at the first connection.
            if uri.scheme == AMQPScheme::AMQP { Ok(AmqpUrl(uri)) } else { Err(invalid) }
        };
        text.split(',').enumerate().map(parse).collect::<Result<_, _>>().map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_never_shown() {
        let urls: AmqpUrls =
            "amqp://ana:s3cret@one:5672, amqp://ana:s3cret@two/%2f,amqp://three:5673".parse().unwrap();
        assert_eq!(urls.to_string(), "one:5672, two:5672, three:5673");
        assert_eq!(format!("{urls:?}"), "AmqpUrls(one:5672, two:5672, three:5673)");
        for (place, text) in [(1, "amqp//ana:s3cret@one"), (2, "amqp://one,amqp://ana:s3cret@two:port")] {
            let error = text.parse::<AmqpUrls>().unwrap_err();
            assert_eq!(error.place, place);
            assert!(!error.to_string().contains("s3cret"));
        }
    }

    #[test]
    fn what_cannot_work_is_refused_at_once() {
        for text in ["", "amqp://", "amqp://one,", "amqps://one:5671", "http://one", "amqp://[::1]:5672"] {
            assert!(text.parse::<AmqpUrls>().is_err(), "{text}");
        }
    }

    #[test]
    fn the_library_gets_everything() {
        let urls: AmqpUrls = "amqp://ana:p%40ss@one:5673/%2f?heartbeat=9".parse().unwrap();
        let text = urls.iter().next().unwrap().secret_text();
        assert_eq!(text, "amqp://ana:p%40ss@one:5673/%2F?heartbeat=9&connection_timeout=2000");
        for text in ["amqp://127.0.0.1:5673", "amqp://127.0.0.1:5673/"] {
            let urls: AmqpUrls = text.parse().unwrap();
            let text = urls.iter().next().unwrap().secret_text();
            assert_eq!(text, "amqp://guest:guest@127.0.0.1:5673/%2F?heartbeat=5&connection_timeout=2000");
        }
    }
}
