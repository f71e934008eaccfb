//! Plays the trace with `replay http` and reads its report.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::File;
use std::path::Path;
use std::process::Stdio;

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};

use crate::load::machine::Pinning;
use crate::load::trace_file::TraceFile;

/// The trace, as far as its length counts here.
#[derive(Debug, Serialize)]
pub(super) struct Trace {
    #[serde(flatten)]
    file: TraceFile,
    requests: usize,
    last_at_ms: u64,
    speed: f64,
}

#[derive(Deserialize)]
struct Request {
    at_ms: u64,
}

impl Trace {
    pub(super) fn look_at(path: &Path, speed: f64) -> anyhow::Result<Self> {
        ensure!(speed.is_finite() && speed > 0.0, "--speed must be a number above 0");
        let (file, requests) = TraceFile::read::<Request>(path)?;
        let last_at_ms = requests.iter().map(|request| request.at_ms).max().unwrap_or_default();
        Ok(Self { file, requests: requests.len(), last_at_ms, speed })
    }

    /// How long requests are sent.
    pub(super) fn seconds(&self) -> f64 {
        self.last_at_ms as f64 / 1_000.0 / self.speed
    }
}

impl fmt::Display for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (file, seconds) = (&self.file, self.seconds());
        write!(f, "trace: {file}, {} requests in {seconds:.1} s", self.requests)
    }
}

/// What `replay http --json` holds, as far as it is shown here. Its README says what each member means.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Report {
    pub(super) accepted: u64,
    pub(super) rejected: u64,
    pub(super) failed: u64,
    pub(super) matched: u64,
    pub(super) expired: u64,
    pub(super) unsettled: u64,
    pub(super) matched_with_strangers: u64,
    pub(super) double_matched: u64,
    pub(super) self_matched: u64,
    pub(super) told_one_side: u64,
    pub(super) similarity_sum: f64,
    pub(super) accept_ms: Spread,
    pub(super) wait_ms: Spread,
    pub(super) send_lag_ms: Spread,
    pub(super) elapsed_seconds: f64,
    pub(super) retries: u64,
    pub(super) errors: BTreeMap<String, u64>,
}

/// Null when nothing was measured.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Spread {
    pub(super) p50: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) max: Option<f64>,
}

/// One play of the trace.
pub(super) struct Played {
    pub(super) report: Report,
    /// Whether `replay` found something that never may happen.
    pub(super) faulty: bool,
}

/// The program that plays phones.
pub(super) struct Generator<'g> {
    pub(super) program: &'g Path,
    pub(super) trace: &'g Trace,
    pub(super) pinning: &'g Pinning,
}

impl Generator<'_> {
    /// Plays the trace against a server; the report and the pairs stay at `files`, each with its ending. With the path of its
    /// JWT secret the phones show such tokens, else those of `dev`.
    pub(super) async fn play(
        &self,
        url: &str,
        jwt_secret_file: Option<&str>,
        files: &Path,
    ) -> anyhow::Result<Played> {
        let json = files.with_extension("json");
        let (trace, json_name) = (self.trace.file.path.display().to_string(), json.display().to_string());
        let pairs = files.with_extension("pairs.ndjson").display().to_string();
        let speed = self.trace.speed.to_string();
        let mut arguments = vec!["http", "--url", url, "--trace", &trace, "--speed", &speed];
        arguments.extend(["--json", &json_name, "--pairs", &pairs]);
        if let Some(secret) = jwt_secret_file {
            arguments.extend(["--jwt-secret-file", secret]);
        }
        println!("  replay {}", arguments.join(" "));
        let mut command = self.pinning.phones(self.program, &arguments);
        command.stdin(Stdio::null()).stdout(File::create(files.with_extension("txt"))?);
        let mut child = tokio::process::Command::from(command).kill_on_drop(true).spawn()?;
        let status = child.wait().await?;
        let faulty = match status.code() {
            Some(0) => false,
            Some(1) => true,
            Some(_) | None => bail!("replay could not make the run: {status}"),
        };
        let text = std::fs::read_to_string(&json).with_context(|| format!("cannot read {json_name}"))?;
        let report = serde_json::from_str(&text).with_context(|| format!("{json_name} is no report"))?;
        Ok(Played { report, faulty })
    }
}
