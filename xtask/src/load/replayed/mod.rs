//! `cargo xtask load` without a scenario: what a server costs under load, beside what axum alone costs under the same load.
//!
//! Each run plays the trace against a new standalone server with an empty data folder, then twice against the bare
//! server of `replay/examples/bare_axum.rs`: holding polls for as long as half the people waited, and answering
//! at once. CPU is read from the kernel, from when the server listens until the last phone is done; times are what the
//! phones saw.

mod cluster;
mod play;
mod process;
mod summary;
mod usage;

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context as _;

use self::cluster::ClusterRun;
use self::play::{Generator, Played, Report, Trace};
use self::process::Server;
use self::summary::{Run, Sample};
use super::machine::{self, Machine, Pinning};
use super::{command_line, ensure_writable, fresh_folder, load_folder, seen_from_here};
use crate::Verdict;
use crate::cargo::{self, workspace};
use crate::stack::Running;

/// What is played, and against what.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Args {
    /// The trace to play, one JSON object a line; without it, replay/traces/sample-1k.ndjson
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// How many times faster than in the trace requests are sent
    #[arg(long, value_name = "N", default_value = "1")]
    speed: f64,
    /// How often to measure
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    runs: u32,
    /// Write the machine, every run's report and the medians to this file
    #[arg(long, value_name = "OUT")]
    json: Option<PathBuf>,
    /// Measure the stack that `cargo xtask up` started, all its servers and services, in place of standalone
    #[arg(long, conflicts_with = "pin")]
    stack: bool,
    /// Keep the server on the first half of the processors and the phones on the other half
    #[arg(long)]
    pin: bool,
}

/// What was looked at and built before anything is measured.
#[derive(Debug)]
pub(super) struct Prepared {
    folder: PathBuf,
    trace: Trace,
    machine: Machine,
    pinning: Pinning,
    /// With `--stack`.
    stack: Option<Running>,
    programs: Programs,
}

/// Looks at all that was given, and builds only then.
pub(super) fn prepare(args: &Args) -> anyhow::Result<Prepared> {
    let workspace = workspace()?;
    let path = match &args.trace {
        Some(path) => path.clone(),
        None => {
            seen_from_here(workspace.workspace_root.join("replay/traces/sample-1k.ndjson").as_std_path())?
        }
    };
    let trace = Trace::look_at(&path, args.speed)?;
    let machine = Machine::read()?;
    let pinning = if args.pin { machine.split()? } else { Pinning::default() };
    let stack = if args.stack { Some(Running::find()?) } else { None };
    if let Some(out) = &args.json {
        ensure_writable(out)?;
    }
    let folder = load_folder(&workspace)?;
    Ok(Prepared { folder, trace, machine, pinning, stack, programs: Programs::build()? })
}

pub(super) async fn run(args: &Args, prepared: &Prepared) -> anyhow::Result<Verdict> {
    let Prepared { folder, trace, machine, pinning, stack, programs } = prepared;
    let generator = Generator { program: &programs.replay, trace, pinning };
    let command = command_line(args.trace.as_deref());
    println!("{command}\n{machine}\n{trace}\n{pinning}");
    if let Some(warning) = machine.warning(machine::busy()?) {
        println!("{warning}");
    }

    let measured = Measured { args, generator: &generator, programs, folder };
    let (json, faults) = if let Some(stack) = stack {
        println!("{}", stack.servers());
        let runs = measured.stack(stack).await?;
        println!("\n{}", summary::render(cluster::ROWS, &runs));
        let faults: Vec<String> = runs.iter().flat_map(ClusterRun::faults).collect();
        (summary::json(&command, machine, trace, cluster::ROWS, &runs), faults)
    } else {
        let runs = measured.standalone().await?;
        println!("\n{}", summary::render(summary::ROWS, &runs));
        let faults: Vec<String> = runs.iter().flat_map(Run::faults).collect();
        (summary::json(&command, machine, trace, summary::ROWS, &runs), faults)
    };
    if let Some(out) = &args.json {
        let text = serde_json::to_string_pretty(&json)?;
        std::fs::write(out, text + "\n").with_context(|| format!("cannot write {}", out.display()))?;
    }
    for fault in &faults {
        println!("FAULT: {fault}");
    }
    Ok(if faults.is_empty() { Verdict::Good } else { Verdict::Bad })
}

/// The runs under way.
struct Measured<'m> {
    args: &'m Args,
    generator: &'m Generator<'m>,
    programs: &'m Programs,
    folder: &'m Path,
}

impl Measured<'_> {
    /// A new standalone server each time, and the bare ones.
    async fn standalone(&self) -> anyhow::Result<Vec<Run>> {
        let mut runs = Vec::new();
        for number in 1..=self.args.runs {
            let folder = fresh_folder(&self.folder.join(format!("run-{number}")))?;
            let busy = machine::busy()?;
            println!("run {number} of {}: standalone, then bare_axum twice", self.args.runs);
            let data = folder.join("data").display().to_string();
            let arguments = ["--listen", "127.0.0.1:0", "--admin", "127.0.0.1:0", "--data", data.as_str()];
            let program = &self.programs.standalone;
            let dovetail = sample(self.generator, program, &arguments, &folder.join("standalone")).await?;
            std::fs::remove_dir_all(&data).with_context(|| format!("cannot remove {data}"))?;
            let (holding, at_once) = self.bare(&dovetail.report, &folder).await?;
            runs.push(Run { busy, dovetail, holding, at_once });
        }
        Ok(runs)
    }

    /// The running stack, the same each time, and the bare servers.
    async fn stack(&self, stack: &Running) -> anyhow::Result<Vec<ClusterRun>> {
        let mut runs = Vec::new();
        for number in 1..=self.args.runs {
            let folder = fresh_folder(&self.folder.join(format!("stack-{number}")))?;
            let busy = machine::busy()?;
            println!("run {number} of {}: the stack, then bare_axum twice", self.args.runs);
            let cluster = cluster::sample(self.generator, stack, &folder.join("stack")).await?;
            let (holding, at_once) = self.bare(&cluster.report, &folder).await?;
            runs.push(ClusterRun { busy, cluster, holding, at_once });
        }
        Ok(runs)
    }

    /// The bare server that holds polls for as long as half the people waited, and the one that answers at once.
    async fn bare(&self, report: &Report, folder: &Path) -> anyhow::Result<(Sample, Sample)> {
        let hold = format!("{:.0}ms", report.wait_ms.p50.unwrap_or_default());
        let bare = ["--listen", "127.0.0.1:0", "--hold", hold.as_str()];
        let program = &self.programs.bare_axum;
        let holding = sample(self.generator, program, &bare, &folder.join("holding")).await?;
        let at_once = sample(self.generator, program, &bare[..2], &folder.join("at_once")).await?;
        Ok((holding, at_once))
    }
}

/// Starts a server, plays the trace against it, and ends it.
async fn sample(
    generator: &Generator<'_>,
    program: &Path,
    arguments: &[&str],
    files: &Path,
) -> anyhow::Result<Sample> {
    let command = generator.pinning.server(program, arguments);
    let server = Server::start(command, &files.with_extension("log")).await?;
    let before = usage::cpu_time(server.pid)?;
    let Played { report, faulty } = generator.play(&server.url, None, files).await?;
    let cpu: Duration = usage::cpu_time(server.pid)?.saturating_sub(before);
    let peak_bytes = usage::peak_memory_bytes(server.pid)?;
    server.end().await?;
    let drain_seconds = report.elapsed_seconds - generator.trace.seconds();
    Ok(Sample { report, faulty, cpu_seconds: cpu.as_secs_f64(), peak_bytes, drain_seconds })
}

/// What is run, built with optimisation.
#[derive(Debug)]
struct Programs {
    standalone: PathBuf,
    replay: PathBuf,
    bare_axum: PathBuf,
}

impl Programs {
    fn build() -> anyhow::Result<Self> {
        let built = cargo::Programs::build()?.and_bare_axum()?;
        Ok(Self {
            standalone: built.path("standalone")?,
            replay: built.path("replay")?,
            bare_axum: built.path("bare_axum")?,
        })
    }
}
