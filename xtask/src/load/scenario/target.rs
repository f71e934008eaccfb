//! The stack that a run is made against: started when none runs, and left running.

use clap::Parser;

use super::prometheus::Prometheus;
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
    /// How many servers run.
    pub(super) servers: String,
}

/// The arguments of `cargo xtask up`.
#[derive(Debug, Parser)]
struct Up {
    #[command(flatten)]
    args: UpArgs,
}

impl Target {
    /// Finds the stack, or starts one when nothing runs. One that lacks something is not mended here: whoever stopped a part of
    /// it may have meant to.
    pub(super) fn find_or_start() -> anyhow::Result<Self> {
        if let Some(running) = Running::find_if_any()? {
            return Ok(Self::of(&running));
        }
        println!("no stack runs: cargo xtask {}", STACK.join(" "));
        stack::up(&Up::parse_from(STACK).args)?;
        Ok(Self::of(&Running::find()?))
    }

    fn of(running: &Running) -> Self {
        let mut settings = vec![("BASE_URLS".to_owned(), running.main_urls.join(","))];
        if let Some(secret) = &running.jwt_secret_file {
            settings.push(("JWT_SECRET_FILE".to_owned(), secret.clone()));
        }
        let prometheus = Prometheus { port: running.prometheus_port };
        Self { prometheus, settings, servers: running.servers() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k6_is_told_where_the_stack_is() {
        let running = Running {
            main_urls: vec!["http://127.0.0.1:1".to_owned(), "http://127.0.0.1:2".to_owned()],
            matching_admin_ports: vec![4],
            rabbitmq_ports: vec![5],
            prometheus_port: 3,
            jwt_secret_file: Some("/x/it's/jwt.secret".to_owned()),
            programs: Vec::new(),
        };
        let target = Target::of(&running);
        assert_eq!(target.prometheus.port, 3);
        let told: Vec<&str> = target.settings.iter().map(|(_, value)| value.as_str()).collect();
        assert_eq!(told, ["http://127.0.0.1:1,http://127.0.0.1:2", "/x/it's/jwt.secret"]);
    }

    #[test]
    fn the_stack_is_started_by_arguments_that_up_takes() {
        assert!(Up::try_parse_from(STACK).is_ok());
    }
}
