//! `cargo xtask scale`: more servers, or fewer.

use std::path::Path;

use anyhow::{Context as _, ensure};
use testkit::{Place, Stack, find_programs};

use super::environment::{Services, write};
use super::servers::{Programs, drain, missing, start};
use super::shards::until_shared;
use super::state::{Server, State};
use super::{SERVICES, ScaleArgs, monitoring};

pub(super) async fn run(args: &ScaleArgs, folder: &Path) -> anyhow::Result<()> {
    let mut running = find_programs(folder)?;
    let state = State::load(folder)?.filter(|_| !running.is_empty());
    let mut state = state.context("the stack is not up: cargo xtask up")?;
    for service in SERVICES {
        ensure!(
            running.contains_key(service),
            "{service} does not run; cargo xtask up starts what is missing"
        );
    }
    // Finds the services, which run.
    let stack = Stack::start(&Place::Lasting(folder.to_owned()), Some(state.ports.into())).await?;
    let monitoring = monitoring::start(folder, state.monitoring_ports()?, &stack).await?;
    let services = Services::of(&stack, &monitoring);

    let gone = state.shrink(args.kind, args.count);
    state.grow(args.kind, args.count)?;
    let missing = missing(&state, &running);
    let programs = if missing.is_empty() { None } else { Some(Programs::build()?) };
    // Whoever reads it from now on does not go to those that leave.
    write(folder, &state, &services)?;
    state.save(folder)?;
    monitoring::watch(&monitoring, &state)?;
    let gone: Vec<_> = gone
        .iter()
        .map(Server::name)
        .filter_map(|name| Some((name.clone(), running.remove(&name)?)))
        .collect();
    drain(&gone).await?;
    if let Some(programs) = &programs {
        start(folder, programs, &state, &services, &missing).await?;
    }
    until_shared(&state).await?;
    let count = state.of_kind(args.kind).count();
    println!("{} {}", args.kind.how_many(count), if count == 1 { "runs" } else { "run" });
    Ok(())
}
