//! What the runs say together: a table of medians, and the faults.

use serde::Serialize;
use serde_json::{Value, json};

use super::play::{Report, Trace};
use crate::load::machine::Machine;

/// One server under the trace.
#[derive(Debug, Serialize)]
pub(super) struct Sample {
    pub(super) report: Report,
    /// Whether `replay` found something that never may happen.
    pub(super) faulty: bool,
    /// User and kernel time, from when the server listened until the last phone was done.
    pub(super) cpu_seconds: f64,
    /// The most memory at one time.
    pub(super) peak_bytes: u64,
    /// From the last request to the last settled ticket.
    pub(super) drain_seconds: f64,
}

/// The servers, one after the other.
#[derive(Debug, Serialize)]
pub(super) struct Run {
    /// The machine's load average before.
    pub(super) busy: f64,
    pub(super) dovetail: Sample,
    /// Bare axum, holding each poll for as long as half the people waited: the same phones hold as many connections.
    pub(super) holding: Sample,
    /// Bare axum, answering everything at once.
    pub(super) at_once: Sample,
}

impl Run {
    fn ratio(&self, bare: &Sample) -> f64 {
        self.dovetail.cpu_seconds / bare.cpu_seconds
    }

    /// What never may happen and did.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = faults("standalone", &self.dovetail.report, self.dovetail.faulty);
        faults.extend(faults_of_bare(&self.holding, &self.at_once));
        faults
    }
}

/// What the bare servers did that they never may. They invent everybody's partner, so strangers are none.
pub(super) fn faults_of_bare(holding: &Sample, at_once: &Sample) -> Vec<String> {
    let mut found = faults("holding", &holding.report, holding.faulty);
    found.extend(faults("at_once", &at_once.report, at_once.faulty));
    found.retain(|fault| !fault.contains("matched_with_strangers"));
    found
}

/// What never may happen and did, by the name of the server.
pub(super) fn faults(server: &str, report: &Report, faulty: bool) -> Vec<String> {
    let mut faults = Vec::new();
    let mut add = |what: &str, count: u64| {
        if count > 0 {
            faults.push(format!("{server}: {what} {count}"));
        }
    };
    for (kind, count) in &report.errors {
        add(kind, *count);
    }
    add("failed", report.failed);
    add("unsettled", report.unsettled);
    add("double_matched", report.double_matched);
    add("self_matched", report.self_matched);
    add("told_one_side", report.told_one_side);
    add("matched_with_strangers", report.matched_with_strangers);
    if faulty && faults.is_empty() {
        faults.push(format!("{server}: replay found a fault"));
    }
    faults
}

/// A line of the table: what it is called, how many decimals it has, and where it comes from.
pub(super) struct Row<R>(pub(super) &'static str, pub(super) usize, pub(super) fn(&R) -> Option<f64>);

pub(super) const ROWS: &[Row<Run>] = &[
    Row("accepted", 0, |run| count(run.dovetail.report.accepted)),
    Row("rejected", 0, |run| count(run.dovetail.report.rejected)),
    Row("accept p50 ms", 1, |run| run.dovetail.report.accept_ms.p50),
    Row("accept p99 ms", 1, |run| run.dovetail.report.accept_ms.p99),
    Row("accept max ms", 1, |run| run.dovetail.report.accept_ms.max),
    Row("wait p50 ms", 0, |run| run.dovetail.report.wait_ms.p50),
    Row("wait p99 ms", 0, |run| run.dovetail.report.wait_ms.p99),
    Row("matched share", 4, |run| {
        let report = &run.dovetail.report;
        (report.accepted > 0).then(|| report.matched as f64 / report.accepted as f64)
    }),
    Row("expired", 0, |run| count(run.dovetail.report.expired)),
    Row("similarity sum", 1, |run| Some(run.dovetail.report.similarity_sum)),
    Row("drain s", 2, |run| Some(run.dovetail.drain_seconds)),
    Row("peak memory MiB", 0, |run| Some(run.dovetail.peak_bytes as f64 / 1_048_576.0)),
    Row("retries", 0, |run| count(run.dovetail.report.retries)),
    Row("send lag p99 ms", 1, |run| run.dovetail.report.send_lag_ms.p99),
    Row("send lag max ms", 1, |run| run.dovetail.report.send_lag_ms.max),
    Row("server CPU s", 2, |run| Some(run.dovetail.cpu_seconds)),
    Row("bare, polls held, s", 2, |run| Some(run.holding.cpu_seconds)),
    Row("bare, at once, s", 2, |run| Some(run.at_once.cpu_seconds)),
    Row("CPU ratio, polls held", 2, |run| Some(run.ratio(&run.holding))),
    Row("CPU ratio, at once", 2, |run| Some(run.ratio(&run.at_once))),
    Row("held accept p99 ms", 1, |run| run.holding.report.accept_ms.p99),
    Row("held lag p99 ms", 1, |run| run.holding.report.send_lag_ms.p99),
    Row("machine load before", 2, |run| Some(run.busy)),
];

pub(super) fn count(value: u64) -> Option<f64> {
    Some(value as f64)
}

fn median(values: impl Iterator<Item = f64>) -> Option<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_unstable_by(f64::total_cmp);
    let middle = values.len() / 2;
    let upper = *values.get(middle)?;
    Some(if values.len() % 2 == 1 { upper } else { (values[middle - 1] + upper) / 2.0 })
}

/// The table: medians, then each run.
pub(super) fn render<R>(rows: &[Row<R>], runs: &[R]) -> String {
    let mut lines = vec![format!("{:<24}{:>12}   {}", "", "median", "each run")];
    for Row(name, decimals, value) in rows {
        let cell = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), |v| format!("{v:.decimals$}"));
        let each: Vec<String> = runs.iter().map(|run| cell(value(run))).collect();
        let middle = cell(median(runs.iter().filter_map(value)));
        lines.push(format!("{name:<24}{middle:>12}   {}", each.join("  ")));
    }
    lines.join("\n") + "\n"
}

/// What `--json` holds.
pub(super) fn json<R: Serialize>(
    command: &str,
    machine: &Machine,
    trace: &Trace,
    rows: &[Row<R>],
    runs: &[R],
) -> Value {
    let medians: serde_json::Map<String, Value> = rows
        .iter()
        .map(|Row(name, _, value)| (name.replace(' ', "_"), json!(median(runs.iter().filter_map(value)))))
        .collect();
    json!({"command": command, "machine": machine, "trace": trace, "medians": medians, "runs": runs})
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample(cpu_seconds: f64, errors: &Value) -> Sample {
        let spread = json!({"p50": 1.0, "p99": 2.0, "max": null});
        let report = json!({
            "accepted": 10, "rejected": 0, "failed": 0, "matched": 8, "expired": 2, "unsettled": 0,
            "matched_with_strangers": 8, "double_matched": 0, "self_matched": 0, "told_one_side": 0,
            "similarity_sum": 3.5, "accept_ms": spread, "wait_ms": spread, "send_lag_ms": spread,
            "elapsed_seconds": 1.0, "retries": 0, "errors": errors
        });
        let report = serde_json::from_value(report).unwrap();
        Sample { report, faulty: false, cpu_seconds, peak_bytes: 1 << 20, drain_seconds: 0.5 }
    }

    fn run(cpu_seconds: f64) -> Run {
        let bare = || sample(1.0, &json!({}));
        Run { busy: 0.0, dovetail: sample(cpu_seconds, &json!({})), holding: bare(), at_once: bare() }
    }

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median([3.0, 1.0, 2.0].into_iter()), Some(2.0));
        assert_eq!(median([4.0, 1.0].into_iter()), Some(2.5));
        assert_eq!(median(std::iter::empty()), None);
        let table = render(ROWS, &[run(2.0), run(9.0), run(3.0)]);
        let ratio = table.lines().find(|line| line.starts_with("CPU ratio, at once")).unwrap();
        assert_eq!(
            ratio.split_whitespace().collect::<Vec<_>>(),
            ["CPU", "ratio,", "at", "once", "3.00", "2.00", "9.00", "3.00"]
        );
    }

    #[test]
    fn faults_name_the_server() {
        let mut bad = run(1.0);
        bad.at_once = sample(1.0, &json!({"GET 500": 3}));
        assert_eq!(bad.faults(), ["standalone: matched_with_strangers 8", "at_once: GET 500 3"]);
    }
}
