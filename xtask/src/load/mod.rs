//! `cargo xtask load`: what the system does under load.
//!
//! With the name of a scenario k6 drives the stack of `cargo xtask up` and Prometheus tells how it went (`scenario`). Without
//! one, a trace is replayed against a server beside a bare axum server, to tell what a change costs (`replayed`).

mod histogram;
mod machine;
mod replayed;
mod scenario;
mod trace_file;

use std::future::Future;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use cargo_metadata::Metadata;
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
        let prepared = replayed::prepare(&args.replayed)?;
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

/// The command line as one would type it. Of a trace only its file's name: where it lay says nothing to who reads a report, and
/// which one it was, its checksum says.
fn command_line(trace: Option<&Path>) -> String {
    named_by_file(std::env::args().skip(1), trace)
}

fn named_by_file(arguments: impl Iterator<Item = String>, trace: Option<&Path>) -> String {
    let path = trace.map(|path| path.display().to_string()).filter(|path| !path.is_empty());
    let named = |argument: String| match (&path, trace.and_then(Path::file_name)) {
        (Some(path), Some(name)) if argument == *path || argument == format!("--trace={path}") => {
            argument.replace(path.as_str(), &name.to_string_lossy())
        }
        _ => argument,
    };
    let arguments: Vec<String> = arguments.map(named).collect();
    format!("cargo xtask {}", arguments.join(" "))
}

/// A path as one would type it: what is printed is compared with what other machines print.
fn seen_from_here(path: &Path) -> anyhow::Result<PathBuf> {
    let here = std::env::current_dir().context("cannot tell the current folder")?;
    Ok(path.strip_prefix(here).unwrap_or(path).to_owned())
}

/// Where everything is kept that runs leave behind.
fn load_folder(workspace: &Metadata) -> anyhow::Result<PathBuf> {
    seen_from_here(workspace.target_directory.join("load").as_std_path())
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

/// Fails when a file could not be written that is to hold what a run says: better before the run than after it. Leaves it as it is.
fn ensure_writable(path: &Path) -> anyhow::Result<()> {
    let is_new = !path.exists();
    let opened = std::fs::OpenOptions::new().append(true).create(true).open(path);
    opened.with_context(|| format!("cannot write {}", path.display()))?;
    if is_new {
        std::fs::remove_file(path).with_context(|| format!("cannot remove {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trace_goes_by_the_name_of_its_file() {
        let said = |arguments: &[&str], trace: Option<&str>| {
            named_by_file(arguments.iter().map(|word| (*word).to_owned()), trace.map(Path::new))
        };
        let with = ["load", "burst", "--trace", "../data/a.ndjson", "--set", "RATE=9"];
        assert_eq!(
            said(&with, Some("../data/a.ndjson")),
            "cargo xtask load burst --trace a.ndjson --set RATE=9"
        );
        assert_eq!(said(&["load", "--trace=/x/a.b"], Some("/x/a.b")), "cargo xtask load --trace=a.b");
        assert_eq!(said(&["load", "soak"], None), "cargo xtask load soak");
    }

    #[test]
    fn what_can_be_written_is_left_as_it_is() {
        let folder = std::env::temp_dir().join(format!("xtask-writable-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join("page.md");
        ensure_writable(&file).unwrap();
        assert!(!file.exists(), "nothing is left behind");
        std::fs::write(&file, "text").unwrap();
        ensure_writable(&file).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "text");
        assert!(ensure_writable(&folder).is_err(), "a folder is no page");
        assert!(ensure_writable(&folder.join("none/page.md")).is_err());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
