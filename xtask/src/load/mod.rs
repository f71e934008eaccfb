//! `cargo xtask load`: what the system does under load.
//!
//! With the name of a scenario k6 drives the stack of `cargo xtask up` and Prometheus tells how it went (`scenario`). Without
//! one, a trace is replayed against a server beside a bare axum server, to tell what a change costs (`replayed`).

mod histogram;
mod machine;
mod replayed;
mod scenario;

use std::future::Future;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use tokio::signal::unix::{SignalKind, signal};

use self::scenario::Scenario;
pub(crate) use self::scenario::print_k6;
use crate::Verdict;

/// `cargo xtask load`
#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_help_heading = "Scenarios")]
pub(crate) struct Args {
    #[command(subcommand)]
    scenario: Option<Scenario>,
    #[command(flatten)]
    replayed: replayed::Args,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Verdict> {
    // What is built, installed or started first is not measured, and an interrupt ends it as any command.
    if let Some(scenario) = &args.scenario {
        let prepared = scenario.prepare()?;
        block_on(scenario.run(&prepared))
    } else {
        let prepared = replayed::prepare()?;
        block_on(replayed::run(&args.replayed, &prepared))
    }
}

/// Runs until it is done or interrupted; then it is dropped, and with it every process that it started.
pub(crate) fn block_on(measuring: impl Future<Output = anyhow::Result<Verdict>>) -> anyhow::Result<Verdict> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let (mut interrupt, mut terminate) =
            (signal(SignalKind::interrupt())?, signal(SignalKind::terminate())?);
        tokio::select! {
            verdict = measuring => verdict,
            _ = interrupt.recv() => bail!("interrupted"),
            _ = terminate.recv() => bail!("terminated"),
        }
    })
}

/// The command line as one would type it.
fn command_line() -> String {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    format!("cargo xtask {}", arguments.join(" "))
}

/// A path as one would type it: what is printed is compared with what other machines print.
fn seen_from_here(path: &Path) -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    Ok(path.strip_prefix(here).unwrap_or(path).to_owned())
}

fn fresh_folder(path: &Path) -> anyhow::Result<PathBuf> {
    let made = || {
        if path.exists() {
            std::fs::remove_dir_all(path)?;
        }
        std::fs::create_dir_all(path)
    };
    made().with_context(|| format!("cannot empty {}", path.display()))?;
    Ok(path.to_owned())
}
