//! `cargo xtask up`: starts what is missing.

use std::path::Path;

use anyhow::ensure;
use testkit::{Place, Stack, find_programs, new_secret, write_secret};

use super::environment::{DATABASE, Services, path, secret_path, write};
use super::servers::{Programs, missing, start};
use super::shards::until_shared;
use super::state::State;
use super::{Auth, Kind, SERVICES, UpArgs, monitoring};

pub(super) async fn run(args: &UpArgs, folder: &Path) -> anyhow::Result<()> {
    let running = find_programs(folder)?;
    let mut state = match State::load(folder)? {
        Some(state) if !running.is_empty() => state,
        // Nothing runs, so nothing is bound to the ports of last time.
        _ => State::new(args.auth)?,
    };
    ensure!(
        state.auth == args.auth,
        "the stack runs with --auth {}; end it first: cargo xtask down",
        state.auth.name()
    );
    state.grow(Kind::MainServer, args.main_servers)?;
    state.grow(Kind::MatchingServer, args.matching_servers)?;
    let monitoring_ports = state.monitoring_ports()?;
    let missing = missing(&state, &running);
    // Before anything is started: a failed build leaves nothing half done.
    let programs = if missing.is_empty() { None } else { Some(Programs::build()?) };
    state.save(folder)?;

    let names: Vec<&str> = running.keys().map(String::as_str).collect();
    if !names.is_empty() {
        println!("run already: {}", names.join(", "));
    }
    let down: Vec<&str> =
        SERVICES.iter().copied().filter(|service| !running.contains_key(*service)).collect();
    if !down.is_empty() {
        println!("starts {}; RabbitMQ takes some 20 seconds", down.join(", "));
    }
    let stack = Stack::start(&Place::Lasting(folder.to_owned()), Some(state.ports.into())).await?;
    stack.postgres.ensure_database(DATABASE).await?;
    let monitoring = monitoring::start(folder, monitoring_ports, &stack).await?;
    let services = Services::of(&stack, &monitoring);
    println!("services run:\n  {}\n  {}\n  {}", services.database, services.redis, services.amqp.join(" "));
    println!("Prometheus reads all of it each second: {}", services.prometheus);

    if state.auth == Auth::Jwt {
        write_secret(&secret_path(folder), &new_secret()?)?;
    }
    if let Some(programs) = &programs {
        start(folder, programs, &state, &services, &missing).await?;
    }
    monitoring::watch(&monitoring, &state)?;
    write(folder, &state, &services)?;
    until_shared(&state).await?;
    tell_what_next(folder, &state);
    Ok(())
}

fn tell_what_next(folder: &Path, state: &State) {
    let here = std::env::current_dir().unwrap_or_default();
    let seen = |path: &Path| path.strip_prefix(&here).unwrap_or(path).display().to_string();
    println!(
        "\nThe stack is up and goes on without this command. Data and logs, a folder each: {}",
        seen(folder)
    );
    println!("  . {}", seen(&path(folder)));
    if state.of_kind(Kind::MainServer).next().is_some() {
        let token = match state.auth {
            Auth::Dev => "",
            Auth::Jwt => " --jwt-secret-file $JWT_SECRET_FILE",
        };
        println!(
            "  cargo run --release -p replay -- http --url $MAIN_URLS{token} --trace replay/traces/sample-1k.ndjson"
        );
    }
    println!("  cargo xtask scale matching-server 4");
    println!("  cargo xtask down");
}
