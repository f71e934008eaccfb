//! Wake-ups between processes, over Redis: which tickets settled, so that whoever holds their phones reads them again.
//!
//! One channel, one message for what waits to be told. Nothing depends on it: a lost wake-up costs a phone a second, and
//! Redis may vanish at any moment, from one side too. So nothing here waits for Redis without a bound, and what cannot be
//! told is dropped and counted. Only this file names what is used in Redis.

mod listening;
mod telling;

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use anyhow::Context as _;

use crate::backoff::Backoff;
use crate::secret;

pub use listening::start_listening;
pub use telling::start_telling;

/// The pub/sub channel of wake-ups.
const CHANNEL: &str = "dovetail.wakeups";
/// How long Redis may take to be connected to.
const CONNECT_DEADLINE: Duration = Duration::from_secs(1);
/// How long Redis may take to answer. A phone is looked up within a second anyway, so later is of no use.
const ANSWER_DEADLINE: Duration = Duration::from_millis(500);
/// How often a connection on which nothing happens is tried. With the deadline, one that looks open though the other side
/// is gone is noticed within 2.5 s.
const PING_EVERY: Duration = Duration::from_secs(2);
/// The waits between tries to connect.
const RETRY: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));

/// Where Redis is.
#[derive(Debug, Clone, clap::Args)]
pub struct RedisArgs {
    /// Redis, such as redis://:password@host:6379. Without it phones learn of their match up to a second later
    #[arg(long, env = "DOVETAIL_REDIS", hide_env_values = true, value_name = "URL")]
    redis: Option<String>,
    /// A file that holds what --redis would
    #[arg(long, env = "DOVETAIL_REDIS_FILE", value_name = "FILE")]
    redis_file: Option<PathBuf>,
}

impl RedisArgs {
    /// The address; `None` when none is given.
    ///
    /// # Errors
    /// When it is given twice, the file cannot be read, or it is not an address.
    pub fn url(&self) -> anyhow::Result<Option<RedisUrl>> {
        let text = secret::read("redis", self.redis.as_deref(), self.redis_file.as_deref())?;
        text.map(|text| text.parse().context("--redis")).transpose()
    }
}

/// The address of Redis. Shown without the password.
#[derive(Clone)]
pub struct RedisUrl(redis::Client);

/// The text is not an address of Redis; it is not repeated, since it may hold a password.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not like redis://:password@host:6379 (no TLS)")]
pub struct InvalidRedisUrl;

impl FromStr for RedisUrl {
    type Err = InvalidRedisUrl;

    fn from_str(text: &str) -> Result<Self, InvalidRedisUrl> {
        let text = text.trim();
        if !text.starts_with("redis://") {
            return Err(InvalidRedisUrl);
        }
        redis::Client::open(text).map(Self).map_err(|_| InvalidRedisUrl)
    }
}

impl fmt::Display for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.get_connection_info().addr())
    }
}

impl fmt::Debug for RedisUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "RedisUrl({self})")
    }
}

/// Why there is no use in the connection any more.
enum Lost {
    Failed(redis::RedisError),
    Silent,
    Closed,
}

impl From<redis::RedisError> for Lost {
    fn from(error: redis::RedisError) -> Self {
        Self::Failed(error)
    }
}

impl From<tokio::time::error::Elapsed> for Lost {
    fn from(_: tokio::time::error::Elapsed) -> Self {
        Self::Silent
    }
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(error) => write!(f, "{error}"),
            Self::Silent => f.write_str("no answer in time"),
            Self::Closed => f.write_str("the connection was closed"),
        }
    }
}

/// Counts wake-ups that nobody will hear of.
fn count_dropped(wakeups: u64, at: &'static str) {
    metrics::counter!("dovetail_wakeups_dropped_total", "at" => at).increment(wakeups);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_never_shown() {
        let url: RedisUrl = "redis://:s3cret@one:6380/2".parse().unwrap();
        assert_eq!((url.to_string(), format!("{url:?}")), ("one:6380".into(), "RedisUrl(one:6380)".into()));
        for text in ["", "one:6379", "rediss://one", "redis://:s3cret@", "http://s3cret@one"] {
            let error = text.parse::<RedisUrl>().unwrap_err();
            assert!(!error.to_string().contains("s3cret"));
        }
    }
}
