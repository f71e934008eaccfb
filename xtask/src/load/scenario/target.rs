//! The stack that a run is made against: started when none runs, and left running.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, ensure};
use clap::Parser;

use super::prometheus::Prometheus;
use crate::cargo::workspace;
use crate::stack::{self, Running, UpArgs};

/// The stack that is started. One API server: k6 runs beside it and takes a third of two cores, and a second one would cost the
/// broker as many messages again.
const STACK: [&str; 5] = ["up", "--main-servers", "1", "--matching-servers", "2"];

/// Where the stack is.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) prometheus: Prometheus,
    /// What k6 is told of it.
    pub(super) settings: Vec<(String, String)>,
}

/// The arguments of `cargo xtask up`.
#[derive(Debug, Parser)]
struct Up {
    #[command(flatten)]
    args: UpArgs,
}

impl Target {
    /// Finds the stack, or starts one.
    pub(super) fn find_or_start() -> anyhow::Result<Self> {
        if Running::find().is_err() {
            println!("no stack runs: cargo xtask {}", STACK.join(" "));
            stack::up(&Up::parse_from(STACK).args)?;
        }
        let file = workspace()?.target_directory.join("stack/stack.env");
        Self::read(file.as_std_path())
    }

    fn read(file: &Path) -> anyhow::Result<Self> {
        let text =
            std::fs::read_to_string(file).with_context(|| format!("cannot read {}", file.display()))?;
        let lines = settings_in(&text);
        let find = |name: &str| {
            let value = lines.get(name).filter(|value| !value.is_empty());
            value.with_context(|| {
                format!("{} has no {name}; cargo xtask up starts what is missing", file.display())
            })
        };
        let mut settings = vec![("BASE_URLS".to_owned(), find("MAIN_URLS")?.clone())];
        if let Some(secret) = lines.get("JWT_SECRET_FILE") {
            settings.push(("JWT_SECRET_FILE".to_owned(), secret.clone()));
        }
        let url = find("PROMETHEUS_URL")?;
        ensure!(url.starts_with("http://127.0.0.1:"), "{url} is not on this machine's loopback");
        let port = url.trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok());
        let port = port.with_context(|| format!("{url} has no port"))?;
        Ok(Self { prometheus: Prometheus { port }, settings })
    }
}

/// The lines `NAME=value`, as a shell reads them.
fn settings_in(text: &str) -> BTreeMap<&str, String> {
    let plain = |value: &str| {
        let quoted = value.strip_prefix('\'').and_then(|value| value.strip_suffix('\''));
        quoted.map_or_else(|| value.to_owned(), |inner| inner.replace(r"'\''", "'"))
    };
    text.lines().filter_map(|line| line.split_once('=')).map(|(name, value)| (name, plain(value))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> anyhow::Result<Target> {
        let file = std::env::temp_dir().join(format!("xtask-target-{}-{}", std::process::id(), text.len()));
        std::fs::write(&file, text).unwrap();
        let target = Target::read(&file);
        std::fs::remove_file(file).unwrap();
        target
    }

    #[test]
    fn k6_is_told_what_stack_env_says() {
        let text = "MAIN_URLS=http://127.0.0.1:1,http://127.0.0.1:2\nPROMETHEUS_URL=http://127.0.0.1:3\n\
            JWT_SECRET_FILE='/x/it'\\''s/jwt.secret'\n";
        let target = read(text).unwrap();
        assert_eq!(target.prometheus.port, 3);
        let told: Vec<&str> = target.settings.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(told, ["http://127.0.0.1:1,http://127.0.0.1:2", "/x/it's/jwt.secret"]);
    }

    #[test]
    fn a_stack_without_prometheus_or_servers_is_no_target() {
        assert!(read("MAIN_URLS=http://127.0.0.1:1\n").unwrap_err().to_string().contains("PROMETHEUS_URL"));
        assert!(read("MAIN_URLS=\nPROMETHEUS_URL=http://127.0.0.1:3\n").is_err());
        assert!(read("MAIN_URLS=http://127.0.0.1:1\nPROMETHEUS_URL=http://10.0.0.1:3\n").is_err());
    }

    #[test]
    fn the_stack_is_started_by_arguments_that_up_takes() {
        assert!(Up::try_parse_from(STACK).is_ok());
    }
}
