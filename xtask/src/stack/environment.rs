//! `stack.env`: where everything is, as lines that a shell can read.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use testkit::{Monitoring, Stack};

use super::state::{Server, State};
use super::{Auth, Kind};

/// The database of the servers.
pub(super) const DATABASE: &str = "dovetail";

/// Where the services are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Services {
    pub(super) database: String,
    pub(super) redis: String,
    pub(super) amqp: Vec<String>,
    pub(super) rabbitmq_metrics: Vec<String>,
    pub(super) prometheus: String,
}

impl Services {
    pub(super) fn of(stack: &Stack, monitoring: &Monitoring) -> Self {
        Self {
            database: stack.postgres.url_of(DATABASE),
            redis: stack.redis.url(),
            amqp: stack.rabbit.amqp_urls(),
            rabbitmq_metrics: stack.rabbit.metrics_urls(),
            prometheus: monitoring.url(),
        }
    }
}

pub(super) fn path(folder: &Path) -> PathBuf {
    folder.join("stack.env")
}

/// The file with the secret that tokens are signed with.
pub(super) fn secret_path(folder: &Path) -> PathBuf {
    folder.join("jwt.secret")
}

pub(super) fn write(folder: &Path, state: &State, services: &Services) -> anyhow::Result<()> {
    let path = path(folder);
    let text = render(state, services, &secret_path(folder));
    fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))
}

/// What `write` wrote, by name.
pub(super) fn read(path: &Path) -> anyhow::Result<BTreeMap<String, String>> {
    let text = fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
    let lines = text.lines().filter_map(|line| line.split_once('='));
    Ok(lines.map(|(name, value)| (name.to_owned(), unquote(value))).collect())
}

fn render(state: &State, services: &Services, secret: &Path) -> String {
    let urls = |kind: Kind| state.of_kind(kind).filter_map(Server::url).collect::<Vec<_>>().join(",");
    let admin_urls = |kind: Kind| state.of_kind(kind).map(Server::admin_url).collect::<Vec<_>>().join(",");
    let mut lines = vec![
        ("MAIN_URLS", urls(Kind::MainServer)),
        ("MAIN_ADMIN_URLS", admin_urls(Kind::MainServer)),
        ("MATCHING_ADMIN_URLS", admin_urls(Kind::MatchingServer)),
        ("AMQP_URLS", services.amqp.join(",")),
        ("DATABASE_URL", services.database.clone()),
        ("REDIS_URL", services.redis.clone()),
        ("RABBITMQ_METRICS_URLS", services.rabbitmq_metrics.join(",")),
        ("PROMETHEUS_URL", services.prometheus.clone()),
    ];
    if state.auth == Auth::Jwt {
        lines.push(("JWT_SECRET_FILE", secret.display().to_string()));
    }
    lines.into_iter().map(|(name, value)| format!("{name}={}\n", quote(&value))).collect()
}

/// A value as a shell reads it back.
fn quote(value: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/:.,@%_+=-".contains(letter);
    if value.chars().all(is_plain) { value.to_owned() } else { format!("'{}'", value.replace('\'', r"'\''")) }
}

/// A value as `quote` was given it.
fn unquote(value: &str) -> String {
    let quoted = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
    quoted.map_or_else(|| value.to_owned(), |inner| inner.replace(r"'\''", "'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn services() -> Services {
        Services {
            database: "postgres://dovetail@127.0.0.1:1/dovetail".to_owned(),
            redis: "redis://127.0.0.1:2".to_owned(),
            amqp: vec![
                "amqp://guest:guest@127.0.0.1:3/%2f".to_owned(),
                "amqp://guest:guest@127.0.0.1:4/%2f".to_owned(),
            ],
            rabbitmq_metrics: vec!["http://127.0.0.1:5/metrics".to_owned()],
            prometheus: "http://127.0.0.1:11".to_owned(),
        }
    }

    fn state(auth: Auth) -> State {
        let mut state = State::new(auth).unwrap();
        for (kind, number, port, admin_port) in [
            (Kind::MainServer, 1, Some(6), 7),
            (Kind::MainServer, 2, Some(8), 9),
            (Kind::MatchingServer, 1, None, 10),
        ] {
            state.servers.push(Server { kind, number, port, admin_port });
        }
        state
    }

    #[test]
    fn every_name_has_its_line() {
        let text = render(&state(Auth::Dev), &services(), Path::new("/x/jwt.secret"));
        assert_eq!(
            text,
            "MAIN_URLS=http://127.0.0.1:6,http://127.0.0.1:8\n\
             MAIN_ADMIN_URLS=http://127.0.0.1:7,http://127.0.0.1:9\n\
             MATCHING_ADMIN_URLS=http://127.0.0.1:10\n\
             AMQP_URLS=amqp://guest:guest@127.0.0.1:3/%2f,amqp://guest:guest@127.0.0.1:4/%2f\n\
             DATABASE_URL=postgres://dovetail@127.0.0.1:1/dovetail\n\
             REDIS_URL=redis://127.0.0.1:2\n\
             RABBITMQ_METRICS_URLS=http://127.0.0.1:5/metrics\n\
             PROMETHEUS_URL=http://127.0.0.1:11\n"
        );
    }

    #[test]
    fn a_shell_reads_back_what_was_written() {
        let secret = "/x/it's a path/jwt.secret";
        let text = render(&state(Auth::Jwt), &services(), Path::new(secret));
        let script = format!("{text}\nprintf %s \"$JWT_SECRET_FILE $DATABASE_URL\"");
        let read = Command::new("/bin/sh").args(["-c", &script]).output().unwrap();
        assert_eq!(String::from_utf8(read.stdout).unwrap(), format!("{secret} {}", services().database));
    }

    #[test]
    fn what_was_quoted_is_read_back() {
        for value in ["", "http://127.0.0.1:1,http://127.0.0.1:2", "/x/it's a path, and more/jwt.secret", "'"]
        {
            assert_eq!(unquote(&quote(value)), value);
        }
    }
}
