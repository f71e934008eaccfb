//! The report of a run as people read it: in the terminal, and as a table in Markdown.

use super::observed::{Observed, PARTS};
use super::report::Report;
use super::sent::Sent;

/// A line of the report: what, as Prometheus saw it, as k6 saw it.
pub(super) struct Line {
    pub(super) what: String,
    pub(super) prometheus: String,
    pub(super) k6: String,
}

/// The report, line by line.
pub(super) fn lines(report: &Report, observed: &Observed, sent: &Sent) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut add = |what: &str, prometheus: String, k6: String| {
        lines.push(Line { what: what.to_owned(), prometheus, k6 });
    };
    let nothing = String::new;
    add("requests", nothing(), sent.requests.to_string());
    add("iterations started", nothing(), sent.iterations_started.to_string());
    add("accepted", report.accepted.to_string(), sent.accepted.to_string());
    add("rejected (429, 503)", report.rejected.to_string(), sent.rejected.to_string());
    add("dropped iterations", nothing(), report.dropped_iterations.to_string());
    add("matched", observed.matched.to_string(), sent.matched.to_string());
    add("matched, share", percent(report.matched_share), percent(share(sent.matched, sent.accepted)));
    add("matched within 5 s", nothing(), percent(sent.matched_within_5s));
    add("cancelled", observed.cancelled.to_string(), sent.cancelled.to_string());
    add("expired", observed.expired.to_string(), sent.expired.to_string());
    add("tickets abandoned", nothing(), sent.abandoned.to_string());
    add("second taps, same ticket", nothing(), sent.existing.to_string());
    add("unexpected answers", nothing(), sent.unexpected_answers.to_string());
    add("tickets without an outcome", nothing(), sent.unsettled.to_string());
    add(
        "users with two matches",
        nothing(),
        format!("{} of {} read again", sent.users_with_two_matches, sent.matches_read_again),
    );
    let (accept, wait) = (&report.accept_ms, &report.wait_ms);
    add(
        "accept p50, p95, p99, ms",
        join(1, &[accept.p50, accept.p95, accept.p99]),
        join(1, &[sent.accept_ms.p50, sent.accept_ms.p95, sent.accept_ms.p99]),
    );
    add(
        "wait p50, p95, p99, ms",
        join(0, &[wait.p50, wait.p95, wait.p99]),
        join(0, &[sent.wait_ms.p50, sent.wait_ms.p95, sent.wait_ms.p99]),
    );
    add("longest accept, wait, ms", nothing(), join(0, &[sent.accept_ms.max, sent.wait_ms.max]));
    let rate = &report.accepted_per_second;
    add("accepted a second, mean, peak", join(0, &[Some(rate.mean), Some(rate.peak)]), nothing());
    add("peak ready messages", report.peak_ready.to_string(), nothing());
    add("peak tickets waiting", report.peak_waiting.to_string(), nothing());
    for ((part, _), cores) in PARTS.iter().zip(report.cpu_cores.each()) {
        let what = format!("CPU of {}, mean, peak", part.replace('_', "-"));
        add(&what, join(2, &[cores.map(|cores| cores.mean), cores.map(|cores| cores.peak)]), nothing());
    }
    add("virtual users", nothing(), sent.virtual_users.map_or_else(nothing, |users| users.to_string()));
    lines
}

/// The lines in columns.
pub(super) fn columns(lines: &[Line]) -> String {
    let row = |what: &str, prometheus: &str, k6: &str| {
        format!("{what:<34}{prometheus:>22}{k6:>24}").trim_end().to_owned() + "\n"
    };
    let rows = lines.iter().map(|line| row(&line.what, &line.prometheus, &line.k6));
    std::iter::once(row("", "Prometheus", "k6")).chain(rows).collect()
}

/// The lines as a table in Markdown.
pub(super) fn markdown(lines: &[Line]) -> String {
    let rows =
        lines.iter().map(|Line { what, prometheus, k6 }| format!("| {what} | {prometheus} | {k6} |\n"));
    std::iter::once("| | Prometheus | k6 |\n| --- | --- | --- |\n".to_owned()).chain(rows).collect()
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

fn percent(share: Option<f64>) -> String {
    share.map_or_else(|| "-".to_owned(), |share| format!("{:.2} %", share * 100.0))
}

fn join(decimals: usize, values: &[Option<f64>]) -> String {
    let each = values.iter().map(|v| v.map_or_else(|| "-".to_owned(), |v| format!("{v:.decimals$}")));
    each.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::tests::{observed, sent};
    use super::*;

    #[test]
    fn both_columns_hold_what_their_measure_says() {
        let (observed, sent) = (observed(), sent());
        let report = Report::new(&observed, &sent);
        let lines = lines(&report, &observed, &sent);
        let text = columns(&lines);
        let words = |begins: &str| {
            let line = text.lines().find(|line| line.starts_with(begins)).expect(begins);
            line.split_whitespace().map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(words("accepted  "), ["accepted", "100", "100"]);
        assert_eq!(words("CPU of main-server")[5..], ["0.50,", "0.80"]);
        assert_eq!(words("CPU of k6")[5..], ["-,", "-"]);
        assert!(markdown(&lines).contains("| matched, share | 90.00 % | 90.00 % |"));
    }
}
