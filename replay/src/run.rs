//! What the program does, each from its arguments to its files.

use std::io::Write;
use std::time::Instant;

use anyhow::Context;
use service::lifecycle::Signals;
use service::policy::MatchPolicy;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::cli::{Cli, Command, EngineArgs, GenerateArgs, HttpArgs, OutputArgs};
use crate::compare::compare;
use crate::drive::{Plan, drive};
use crate::generate::{Recipe, generate};
use crate::outcome::Seen;
use crate::output::Output;
use crate::pairs::{put_together, write_pairs};
use crate::progress::bar;
use crate::report::{Mode, Report, Run};
use crate::scene::{bound, load};
use crate::simulate::simulate;
use crate::sweep::sweep;
use crate::token::Tokens;
use crate::trace::Trace;
use crate::{server, table};

/// Whether a run found something that never may happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Clean,
    /// Something: the report names it.
    Faulty,
}

/// Does what the command line asks for.
///
/// # Errors
/// When it cannot be done: a bad trace or policy, a server that does not answer, a file that cannot be written.
pub fn run(cli: Cli) -> anyhow::Result<Verdict> {
    match cli.command {
        Command::Engine(args) => play_engine(&args),
        Command::Http(args) => {
            // One thread: it leaves the other processors to the servers.
            tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(play_http(args))
        }
        Command::Compare(args) => compare(&args),
        Command::Sweep(args) => sweep(&args),
        Command::Generate(args) => write_trace(args),
    }
}

fn play_engine(args: &EngineArgs) -> anyhow::Result<Verdict> {
    let trace = load(&args.trace)?.sped_up(args.speed);
    let policy = MatchPolicy::load_or_default(args.policy.as_deref())?;
    let files = Files::open(&args.output)?;
    let bound = (!args.output.no_bound).then(|| bound(&trace)).transpose()?;
    let bar = bar(trace.requests().len());
    let began = Instant::now();
    let seen = simulate(&trace, &policy, || bar.inc(1))?;
    bar.finish_and_clear();
    let elapsed_seconds = began.elapsed().as_secs_f64();
    files.report(&trace, &seen, Run { mode: Mode::Engine, elapsed_seconds, interrupted: false, bound })
}

async fn play_http(args: HttpArgs) -> anyhow::Result<Verdict> {
    let trace = load(&args.trace)?.sped_up(args.speed);
    let files = Files::open(&args.output)?;
    let bound = (!args.output.no_bound).then(|| bound(&trace)).transpose()?;
    raise_open_files(trace.requests().len());
    let mut servers = Vec::with_capacity(args.url.len());
    for url in &args.url {
        servers.push(server::find(url).await?);
    }
    let tokens = Tokens::from_file(args.jwt_secret_file.as_deref())?;
    let HttpArgs { timeout, idempotency_keys, .. } = args;
    let plan = Plan { servers, timeout, tokens, idempotency_keys };

    let stop = CancellationToken::new();
    let mut signals = Signals::listen()?;
    let mut listening = JoinSet::new();
    let on_signal = stop.clone();
    listening.spawn(async move {
        signals.next().await;
        on_signal.cancel();
    });

    let bar = bar(trace.requests().len());
    let began = Instant::now();
    let seen = drive(&trace, plan, &stop, |progress| {
        bar.set_position(progress.done as u64);
        bar.set_message(format!("{} waiting", progress.started - progress.done));
    })
    .await?;
    bar.finish_and_clear();
    let elapsed_seconds = began.elapsed().as_secs_f64();
    files.report(
        &trace,
        &seen,
        Run { mode: Mode::Http, elapsed_seconds, interrupted: stop.is_cancelled(), bound },
    )
}

fn write_trace(args: GenerateArgs) -> anyhow::Result<Verdict> {
    let out = Output::open(&args.out)?;
    let trace = generate(&Recipe {
        users: args.users as usize,
        duration_ms: u64::from(args.seconds) * 1_000,
        regions: args.regions,
        districts: args.districts,
        seed: args.seed,
    })?;
    out.finish(|mut to| trace.write(&mut to))?;
    Ok(Verdict::Clean)
}

/// The files that a run was asked for.
struct Files {
    json: Option<Output>,
    pairs: Option<Output>,
}

impl Files {
    fn open(args: &OutputArgs) -> anyhow::Result<Self> {
        let open = |path: &Option<_>| path.as_deref().map(Output::open).transpose();
        Ok(Self { json: open(&args.json)?, pairs: open(&args.pairs)? })
    }

    fn report(self, trace: &Trace, seen: &[Seen], run: Run) -> anyhow::Result<Verdict> {
        let pairings = put_together(trace, seen);
        let report = Report::new(trace, seen, &pairings, run);
        // First what people read: a full disk must not take the run's result with it.
        std::io::stdout().write_all(table::render(&report).as_bytes()).context("cannot print the report")?;
        warn_of_slow_client(&report);
        if let Some(pairs) = self.pairs {
            pairs.finish(|mut to| write_pairs(trace, &pairings, &mut to))?;
        }
        if let Some(json) = self.json {
            json.finish(|to| {
                serde_json::to_writer_pretty(&mut *to, &report)?;
                to.write_all(b"\n")
            })?;
        }
        Ok(if report.faults() == 0 { Verdict::Clean } else { Verdict::Faulty })
    }
}

/// Above this, times say more about this program's machine than about the server.
const MAX_SEND_LAG_MS: f64 = 20.0;

fn warn_of_slow_client(report: &Report) {
    if let Some(lag) = report.send_lag_ms.p99.filter(|lag| *lag > MAX_SEND_LAG_MS) {
        warn(&format!(
            "1 % of the requests were sent {lag:.0} ms late or more: this machine is too busy to send on time, \
             so part of the times above is its own"
        ));
    }
}

/// Besides one connection a phone: files, pipes, the runtime's own.
const OTHER_OPEN_FILES: u64 = 64;

fn raise_open_files(phones: usize) {
    let needed = phones as u64 + OTHER_OPEN_FILES;
    match rlimit::increase_nofile_limit(needed) {
        Ok(limit) if limit >= needed => {}
        Ok(limit) => warn(&format!(
            "only {limit} files may be open, and {phones} phones that wait at one time need {needed}: \
             connections may fail; raise it with `ulimit -n {needed}`"
        )),
        Err(error) => warn(&format!("cannot raise the limit on open files: {error}")),
    }
}

#[allow(clippy::print_stderr, reason = "for the person who runs it; the report alone goes to stdout")]
fn warn(text: &str) {
    eprintln!("warning: {text}");
}
