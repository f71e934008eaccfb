//! Our servers: built, started where they are missing, and drained.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, bail};
use testkit::{Place, Process, ServerProcess, ServerSpec, Signal, is_free};

use super::environment::{Services, secret_path};
use super::state::{Server, State};
use super::{Auth, DRAIN_DEADLINE, Kind};
use crate::cargo;

/// How long a server may take until it is ready; it waits for Postgres and makes the tables.
const READY_DEADLINE: Duration = Duration::from_secs(60);

/// The servers' programs, built with optimisation.
pub(super) struct Programs {
    main_server: PathBuf,
    matching_server: PathBuf,
}

impl Programs {
    pub(super) fn build() -> anyhow::Result<Self> {
        println!("builds the servers");
        let built = cargo::Programs::build()?;
        Ok(Self {
            main_server: built.path(Kind::MainServer.name())?,
            matching_server: built.path(Kind::MatchingServer.name())?,
        })
    }

    fn of(&self, kind: Kind) -> &Path {
        match kind {
            Kind::MainServer => &self.main_server,
            Kind::MatchingServer => &self.matching_server,
        }
    }
}

/// The servers of `state` that do not run.
pub(super) fn missing<'s>(state: &'s State, running: &BTreeMap<String, Process>) -> Vec<&'s Server> {
    state.servers.iter().filter(|server| !running.contains_key(&server.name())).collect()
}

/// Fails when somebody listens on a port of these servers, which are not known to run. Who runs is known by files in its
/// folder, so it may be the server itself, its folder removed.
pub(super) fn no_strangers<'s>(servers: impl IntoIterator<Item = &'s Server>) -> anyhow::Result<()> {
    for server in servers {
        let ports = [server.port, Some(server.admin_port)];
        if let Some(port) = ports.into_iter().flatten().find(|port| !is_free(*port)) {
            bail!(
                "{} is not known to run, but its port {port} is in use: by another program, or by the server itself if its \
                 folder was removed while it ran; end that process first",
                server.name()
            );
        }
    }
    Ok(())
}

/// Starts servers, all at once, and waits until each is ready.
pub(super) async fn start(
    folder: &Path,
    programs: &Programs,
    state: &State,
    services: &Services,
    servers: &[&Server],
) -> anyhow::Result<()> {
    no_strangers(servers.iter().copied())?;
    let mut started = Vec::new();
    for server in servers {
        let spec = spec(folder, programs, state.auth, services, server);
        started.push(ServerProcess::launch(&Place::Lasting(folder.join(&spec.name)), &spec)?);
    }
    for (server, process) in servers.iter().zip(started) {
        process.until_ready(READY_DEADLINE).await?;
        match server.url() {
            Some(url) => println!("started {}: {url}, admin {}", server.name(), server.admin_url()),
            None => println!("started {}: admin {}", server.name(), server.admin_url()),
        }
    }
    Ok(())
}

/// Addresses that hold passwords go through the environment: what is in the arguments, everybody on the machine can read.
fn spec(folder: &Path, programs: &Programs, auth: Auth, services: &Services, server: &Server) -> ServerSpec {
    let mut args: Vec<OsString> = vec!["--admin".into(), format!("127.0.0.1:{}", server.admin_port).into()];
    if let Some(port) = server.port {
        args.extend(["--listen".into(), format!("127.0.0.1:{port}").into()]);
        args.extend(["--auth".into(), auth.name().into()]);
        if auth == Auth::Jwt {
            args.extend(["--jwt-secret-file".into(), secret_path(folder).into()]);
        }
    }
    let envs = [
        ("DOVETAIL_DATABASE", services.database.clone()),
        ("DOVETAIL_AMQP", services.amqp.join(",")),
        ("DOVETAIL_REDIS", services.redis.clone()),
    ];
    ServerSpec {
        name: server.name(),
        program: programs.of(server.kind).to_owned(),
        args,
        envs: envs.map(|(name, value)| (name.to_owned(), value.into())).to_vec(),
        admin_port: server.admin_port,
    }
}

/// Asks servers to stop, all at once, and waits until they have handed over what they hold.
///
/// # Errors
/// When one does not end in time. It is left as it is.
pub(super) async fn drain(servers: &[(String, Process)]) -> anyhow::Result<()> {
    for (_, process) in servers {
        process.signal(Signal::TERM)?;
        process.signal(Signal::CONT)?;
    }
    for (name, process) in servers {
        process.ended_within(DRAIN_DEADLINE).await.with_context(|| format!("{name} does not stop"))?;
        println!("stopped {name}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec_of(kind: Kind, auth: Auth) -> ServerSpec {
        let programs = Programs { main_server: "main".into(), matching_server: "matching".into() };
        let services = Services {
            database: "postgres://secret".to_owned(),
            redis: "redis://secret".to_owned(),
            amqp: vec!["amqp://secret".to_owned(), "amqp://other".to_owned()],
            rabbitmq_metrics: Vec::new(),
            prometheus: String::new(),
        };
        let port = (kind == Kind::MainServer).then_some(7);
        spec(
            Path::new("/stack"),
            &programs,
            auth,
            &services,
            &Server { kind, number: 2, port, admin_port: 8 },
        )
    }

    #[test]
    fn a_server_is_told_all_it_needs_and_secrets_are_no_arguments() {
        let main = spec_of(Kind::MainServer, Auth::Jwt);
        let args = ["--admin", "127.0.0.1:8", "--listen", "127.0.0.1:7", "--auth", "jwt"];
        assert_eq!(main.args[..6], args);
        assert_eq!(main.args[6..], ["--jwt-secret-file", "/stack/jwt.secret"]);
        assert_eq!((main.name.as_str(), main.program.to_str()), ("main-server-2", Some("main")));

        let matching = spec_of(Kind::MatchingServer, Auth::Dev);
        assert_eq!(matching.args, ["--admin", "127.0.0.1:8"]);
        assert!(matching.envs.contains(&("DOVETAIL_AMQP".to_owned(), "amqp://secret,amqp://other".into())));
        let args = main.args.iter().chain(&matching.args);
        assert!(!args.into_iter().any(|argument| argument.to_string_lossy().contains("://")));
    }
}
