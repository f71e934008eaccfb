//! The running stack, as `stack.env` and the programs' own files tell of it.

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};

use super::{Kind, environment, folder};

/// The program's name in the stack's folder.
const PROMETHEUS: &str = "prometheus";

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
    ///
    /// # Errors
    /// When nothing runs, or what runs is no stack that people could be played against: it says what is missing.
    pub(crate) fn find() -> anyhow::Result<Self> {
        Self::find_if_any()?.context("nothing runs; start it with cargo xtask up")
    }

    /// Finds it; `None` when nothing of it runs.
    pub(crate) fn find_if_any() -> anyhow::Result<Option<Self>> {
        let folder = folder()?;
        let programs = testkit::find_programs(&folder)?;
        if programs.is_empty() {
            return Ok(None);
        }
        let path = environment::path(&folder);
        let lines =
            environment::read(&path).context("the stack was not started to its end: cargo xtask up")?;
        let programs = programs.into_iter().map(|(name, process)| (name, process.pid())).collect();
        let read = Self::read(&lines, programs);
        read.context("the stack cannot be used").map(Some)
    }

    fn read(lines: &BTreeMap<String, String>, programs: Vec<(String, u32)>) -> anyhow::Result<Self> {
        let list = |name: &str| -> anyhow::Result<Vec<String>> {
            let value = lines.get(name).with_context(|| format!("it has no {name}"))?;
            Ok(value.split(',').filter(|url| !url.is_empty()).map(str::to_owned).collect())
        };
        let ports =
            |name: &str| list(name)?.iter().map(|url| port_of(url)).collect::<anyhow::Result<Vec<u16>>>();
        let main_urls = list("MAIN_URLS")?;
        let matching_admin_ports = ports("MATCHING_ADMIN_URLS")?;
        for (kind, known) in
            [(Kind::MainServer, main_urls.len()), (Kind::MatchingServer, matching_admin_ports.len())]
        {
            let (all, kind) = (kind.how_many(known), kind.name());
            ensure!(known > 0, "no {kind} runs; start some with cargo xtask scale {kind} 2");
            let alive = count(&programs, kind);
            ensure!(
                alive >= known,
                "of {all} {alive} can be found; cargo xtask up --{kind}s {known} starts what is missing"
            );
        }
        ensure!(
            programs.iter().any(|(name, _)| name == PROMETHEUS),
            "Prometheus does not run; cargo xtask up starts what is missing"
        );
        Ok(Self {
            main_urls,
            matching_admin_ports,
            rabbitmq_ports: ports("RABBITMQ_METRICS_URLS")?,
            prometheus_port: *ports("PROMETHEUS_URL")?.first().context("it has no PROMETHEUS_URL")?,
            jwt_secret_file: lines.get("JWT_SECRET_FILE").cloned(),
            programs,
        })
    }

    /// How many servers run, as a report says it.
    pub(crate) fn servers(&self) -> String {
        let of = |kind: Kind| kind.how_many(count(&self.programs, kind.name()));
        format!("servers: {}, {}", of(Kind::MainServer), of(Kind::MatchingServer))
    }
}

/// How many programs are of a kind: `main-server-1`, `main-server-2`.
fn count(programs: &[(String, u32)], kind: &str) -> usize {
    let number = |name: &str| name.strip_prefix(kind)?.strip_prefix('-')?.parse::<u32>().ok();
    programs.iter().filter(|(name, _)| number(name).is_some()).count()
}

fn port_of(url: &str) -> anyhow::Result<u16> {
    let port = url.rsplit(':').next().and_then(|rest| rest.split('/').next()?.parse().ok());
    port.with_context(|| format!("{url} has no port"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines() -> BTreeMap<String, String> {
        let lines = [
            ("MAIN_URLS", "http://127.0.0.1:1,http://127.0.0.1:2"),
            ("MATCHING_ADMIN_URLS", "http://127.0.0.1:3"),
            ("RABBITMQ_METRICS_URLS", "http://127.0.0.1:4/metrics"),
            ("PROMETHEUS_URL", "http://127.0.0.1:5"),
            ("JWT_SECRET_FILE", "/x, y/jwt.secret"),
        ];
        lines.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
    }

    fn programs(names: &[&str]) -> Vec<(String, u32)> {
        names.iter().map(|name| ((*name).to_owned(), 1)).collect()
    }

    const ALL: [&str; 5] = ["main-server-1", "main-server-2", "matching-server-1", "postgres", "prometheus"];

    #[test]
    fn a_whole_stack_is_read() {
        let running = Running::read(&lines(), programs(&ALL)).unwrap();
        assert_eq!(running.main_urls, ["http://127.0.0.1:1", "http://127.0.0.1:2"]);
        assert_eq!((&running.matching_admin_ports[..], running.prometheus_port), (&[3][..], 5));
        assert_eq!(running.jwt_secret_file.as_deref(), Some("/x, y/jwt.secret"));
        assert_eq!(running.servers(), "servers: 2 main-servers, 1 matching-server");
    }

    #[test]
    fn what_is_missing_is_said() {
        let said = |lines: &BTreeMap<String, String>, names: &[&str]| {
            Running::read(lines, programs(names)).unwrap_err().to_string()
        };
        assert!(said(&lines(), &ALL[1..]).starts_with("of 2 main-servers 1 can be found;"));
        assert!(said(&lines(), &ALL[..4]).starts_with("Prometheus does not run"));
        for (name, kind) in [("MAIN_URLS", "main-server"), ("MATCHING_ADMIN_URLS", "matching-server")] {
            let mut none = lines();
            none.insert(name.to_owned(), String::new());
            assert_eq!(
                said(&none, &ALL),
                format!("no {kind} runs; start some with cargo xtask scale {kind} 2")
            );
            none.remove(name);
            assert_eq!(said(&none, &ALL), format!("it has no {name}"));
        }
    }

    #[test]
    fn the_port_is_found_with_a_path_and_without() {
        assert_eq!(port_of("http://127.0.0.1:15692/metrics").unwrap(), 15_692);
        assert_eq!(port_of("http://127.0.0.1:8081").unwrap(), 8_081);
        assert!(port_of("http://127.0.0.1/").is_err());
    }
}
