//! What a burst must reach on a machine with 2 processors, k6 on the same ones.

use super::report::Report;
use super::sent::Sent;

/// The least share of tickets that are matched: in a real trace a few fit nobody.
const MATCHED_SHARE: f64 = 0.995;
/// The most messages that wait for a consumer: more is a backlog.
const PEAK_READY: u64 = 150;
const ACCEPT_P95_MS: f64 = 50.0;

/// The goals that were missed.
pub(super) fn missed(report: &Report, sent: &Sent) -> Vec<String> {
    let mut missed = Vec::new();
    let mut check = |holds: bool, what: String| {
        if !holds {
            missed.push(what);
        }
    };
    let requests = sent.requests;
    check(report.accepted == requests, format!("{} of {requests} accepted", report.accepted));
    check(report.dropped_iterations == 0, format!("{} iterations dropped", report.dropped_iterations));
    let share = report.matched_share.unwrap_or_default();
    check(
        share >= MATCHED_SHARE,
        format!("{:.2} % matched, not {:.1} %", share * 100.0, MATCHED_SHARE * 100.0),
    );
    check(
        report.peak_ready <= PEAK_READY,
        format!("{} messages ready, more than {PEAK_READY}", report.peak_ready),
    );
    let p95 = report.accept_ms.p95.unwrap_or(f64::INFINITY);
    check(p95 <= ACCEPT_P95_MS, format!("accept p95 {p95:.1} ms, more than {ACCEPT_P95_MS} ms"));
    missed
}

#[cfg(test)]
mod tests {
    use super::super::tests::{observed, sent};
    use super::*;

    #[test]
    fn each_goal_can_be_missed() {
        let mut sent = sent();
        sent.requests = 100;
        let mut report = Report::new(&observed(), &sent);
        report.matched_share = Some(0.995);
        assert_eq!(missed(&report, &sent), Vec::<String>::new());
        let worse: [fn(&mut Report); 5] = [
            |report| report.accepted -= 1,
            |report| report.dropped_iterations = 1,
            |report| report.matched_share = Some(0.99),
            |report| report.peak_ready = 151,
            |report| report.accept_ms.p95 = Some(50.1),
        ];
        for change in worse {
            let mut worse = report.clone();
            change(&mut worse);
            assert_eq!(missed(&worse, &sent).len(), 1);
        }
    }
}
