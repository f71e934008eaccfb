//! The running stack, as `stack.env` and the programs' own files tell of it.

use std::collections::HashMap;

use anyhow::{Context as _, ensure};

use super::{environment, folder};

/// Where the running stack is.
#[derive(Debug)]
pub(crate) struct Running {
    pub(crate) main_urls: Vec<String>,
    /// On 127.0.0.1, as all of these.
    pub(crate) matching_admin_ports: Vec<u16>,
    pub(crate) rabbitmq_ports: Vec<u16>,
    pub(crate) prometheus_port: u16,
    /// What tokens are signed with, when callers are known by them.
    pub(crate) jwt_secret_file: Option<String>,
    /// What runs: name and pid.
    pub(crate) programs: Vec<(String, u32)>,
}

impl Running {
    /// Finds it.
    pub(crate) fn find() -> anyhow::Result<Self> {
        let folder = folder()?;
        let programs = testkit::find_programs(&folder)?;
        ensure!(!programs.is_empty(), "nothing runs; start it with cargo xtask up");
        let path = environment::path(&folder);
        let text =
            std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let lines: HashMap<&str, &str> = text.lines().filter_map(|line| line.split_once('=')).collect();
        let list = |name: &str| -> anyhow::Result<Vec<String>> {
            let value = lines.get(name).with_context(|| format!("{} has no {name}", path.display()))?;
            let value = value.trim_matches(|quote| quote == '\'' || quote == '"');
            Ok(value.split(',').filter(|url| !url.is_empty()).map(str::to_owned).collect())
        };
        let ports =
            |name: &str| list(name)?.iter().map(|url| port_of(url)).collect::<anyhow::Result<Vec<u16>>>();
        let main_urls = list("MAIN_URLS")?;
        ensure!(!main_urls.is_empty(), "no API server runs; start some with cargo xtask scale main-server 2");
        let prometheus_port = ports("PROMETHEUS_URL")?.first().copied();
        Ok(Self {
            main_urls,
            matching_admin_ports: ports("MATCHING_ADMIN_URLS")?,
            rabbitmq_ports: ports("RABBITMQ_METRICS_URLS")?,
            prometheus_port: prometheus_port
                .context("no Prometheus runs; cargo xtask up starts what is missing")?,
            jwt_secret_file: list("JWT_SECRET_FILE").ok().and_then(|files| files.into_iter().next()),
            programs: programs.into_iter().map(|(name, process)| (name, process.pid())).collect(),
        })
    }
}

fn port_of(url: &str) -> anyhow::Result<u16> {
    let port = url.rsplit(':').next().and_then(|rest| rest.split('/').next()?.parse().ok());
    port.with_context(|| format!("{url} has no port"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_port_is_found_with_a_path_and_without() {
        assert_eq!(port_of("http://127.0.0.1:15692/metrics").unwrap(), 15_692);
        assert_eq!(port_of("http://127.0.0.1:8081").unwrap(), 8_081);
        assert!(port_of("http://127.0.0.1/").is_err());
    }
}
