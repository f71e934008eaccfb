//! `cargo xtask down`: ends what `up` and `scale` started, and nothing else.

use std::fs;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use testkit::{Process, Signal, find_programs};

use super::DownArgs;
use super::environment::path;
use super::servers::{drain, missing, no_strangers};
use super::state::State;

/// How long a service may take to end when asked to, before it is killed.
const STOP_DEADLINE: Duration = Duration::from_secs(60);
/// How long a process may take to be gone after SIGKILL.
const KILL_DEADLINE: Duration = Duration::from_secs(30);

/// The order of ending: who uses a service ends before it. Within a group all end at once.
const ORDER: [&[&str]; 6] = [
    &["prometheus", "exporter-"],
    &["main-server-"],
    &["matching-server-"],
    &["rabbit"],
    &["redis", "postgres"],
    &["epmd"],
];

pub(super) async fn run(args: &DownArgs, folder: &Path) -> anyhow::Result<()> {
    let known = find_programs(folder)?;
    let state = if known.is_empty() { None } else { State::load(folder)? };
    let running: Vec<(String, Process)> = known.clone().into_iter().collect();
    if running.is_empty() {
        println!("nothing runs");
    }
    // First, so that nobody is sent to what ends now.
    remove(&path(folder))?;
    for prefixes in ORDER {
        let is_next = |name: &str| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let group: Vec<_> = running.iter().filter(|(name, _)| is_next(name)).cloned().collect();
        end(&group).await?;
    }
    // Of a stack that ran: between two stacks others may have its ports.
    if let Some(state) = &state {
        no_strangers(missing(state, &known))?;
    }
    if args.remove_data {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            // The lock is ours still.
            if !path.ends_with("lock") {
                remove(&path)?;
            }
        }
        println!("removed the data and logs");
    }
    Ok(())
}

async fn end(group: &[(String, Process)]) -> anyhow::Result<()> {
    let (servers, services): (Vec<_>, Vec<_>) =
        group.iter().cloned().partition(|(name, _)| name.contains("-server-"));
    if drain(&servers).await.is_err() {
        // What was answered is in the store; who starts next finds it there.
        kill(&servers).await?;
    }
    for (name, process) in &services {
        // For Postgres SIGTERM waits until the last client is gone; SIGINT does not.
        process.signal(if name == "postgres" { Signal::INT } else { Signal::TERM })?;
        process.signal(Signal::CONT)?;
    }
    for (name, process) in &services {
        if process.ended_within(STOP_DEADLINE).await.is_ok() {
            println!("stopped {name}");
        }
    }
    kill(&services).await
}

/// Kills those that are still alive.
async fn kill(processes: &[(String, Process)]) -> anyhow::Result<()> {
    for (name, process) in processes.iter().filter(|(_, process)| process.is_alive()) {
        process.signal(Signal::KILL)?;
        process.ended_within(KILL_DEADLINE).await?;
        println!("killed {name}, which did not stop");
    }
    Ok(())
}

fn remove(path: &Path) -> anyhow::Result<()> {
    let removed = match path {
        path if path.is_dir() => fs::remove_dir_all(path),
        path if path.exists() => fs::remove_file(path),
        _ => Ok(()),
    };
    removed.with_context(|| format!("cannot remove {}", path.display()))
}
