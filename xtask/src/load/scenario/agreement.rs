//! Whether Prometheus and k6 tell of the same run. Two measures that do not agree are worth nothing, so a run fails then.

use super::observed::Observed;
use super::report::whole;
use super::sent::{Sent, Spread};
use crate::load::histogram::Histogram;

/// What does not agree; empty when all does.
///
/// Counts agree to the last ticket. Percentiles agree when k6's lies in the bucket of Prometheus's or in a neighbour: k6's
/// hold also the way to the server and back. Where k6 could not send all, it fell behind, and its percentiles tell of itself.
pub(super) fn disagreements(observed: &Observed, sent: &Sent) -> Vec<String> {
    let mut found = Vec::new();
    let mut equal = |what: &str, prometheus: f64, k6: u64| {
        if whole(prometheus) != k6 {
            found.push(format!("{what}: Prometheus counts {prometheus}, k6 {k6}"));
        }
    };
    equal("accepted", observed.accepted, sent.accepted);
    equal("rejected", observed.rejected, sent.rejected);
    equal("all that settled", observed.matched + observed.cancelled + observed.expired, sent.accepted);
    if sent.abandoned == 0 {
        equal("matched", observed.matched, sent.matched);
        equal("cancelled", observed.cancelled, sent.cancelled);
        equal("expired", observed.expired, sent.expired);
    } else {
        // How a ticket ended whose phone never asked again, k6 cannot know.
        equal("cancelled", observed.cancelled, sent.cancelled);
        let known = sent.matched..=sent.matched + sent.abandoned;
        if !known.contains(&whole(observed.matched)) {
            found.push(format!("matched: Prometheus counts {}, k6 {known:?}", observed.matched));
        }
    }
    if sent.dropped_iterations == 0 {
        found.extend(far_apart("accept", &observed.accept_seconds, &sent.accept_ms));
        found.extend(far_apart("wait", &observed.wait_seconds, &sent.wait_ms));
    }
    found
}

fn far_apart(what: &str, seconds: &Histogram, milliseconds: &Spread) -> Vec<String> {
    let Spread { p50, p95, p99, .. } = milliseconds;
    let each = [("p50", 0.50, p50), ("p95", 0.95, p95), ("p99", 0.99, p99)];
    let compare = |(name, share, k6): (&str, f64, &Option<f64>)| match (seconds.percentile(share), *k6) {
        (None, None) => None,
        (Some(seen), Some(k6)) => {
            let distance = seconds.distance(seen, k6 / 1_000.0);
            let seen = seen * 1_000.0;
            (distance > 1).then(|| {
                format!(
                    "{what} {name}: {seen:.1} ms in Prometheus, {k6:.1} ms in k6, {distance} buckets apart"
                )
            })
        }
        (seen, k6) => Some(format!("{what} {name}: {seen:?} in Prometheus, {k6:?} in k6")),
    };
    each.into_iter().filter_map(compare).collect()
}

#[cfg(test)]
mod tests {
    use super::super::tests::{observed, sent};
    use super::*;

    #[test]
    fn the_same_run_agrees() {
        assert_eq!(disagreements(&observed(), &sent()), Vec::<String>::new());
    }

    #[test]
    fn one_ticket_more_is_found() {
        for (what, change) in [
            ("accepted", (|observed| observed.accepted += 1.0) as fn(&mut Observed)),
            ("rejected", |observed| observed.rejected += 1.0),
            ("matched", |observed| {
                observed.matched -= 1.0;
                observed.expired += 1.0;
            }),
            ("all that settled", |observed| observed.expired += 1.0),
        ] {
            let mut changed = observed();
            change(&mut changed);
            let found = disagreements(&changed, &sent());
            assert!(found.iter().any(|line| line.starts_with(what)), "{what}: {found:?}");
        }
    }

    #[test]
    fn of_abandoned_tickets_only_the_number_is_known() {
        let (mut observed, mut sent) = (observed(), sent());
        sent.abandoned = 3;
        sent.matched -= 3;
        assert_eq!(disagreements(&observed, &sent), Vec::<String>::new());
        observed.matched += 1.0;
        assert!(!disagreements(&observed, &sent).is_empty());
    }

    #[test]
    fn percentiles_may_lie_in_neighbouring_buckets_and_no_further() {
        let mut sent = sent();
        sent.accept_ms.p95 = Some(49.0);
        assert_eq!(disagreements(&observed(), &sent), Vec::<String>::new());
        sent.accept_ms.p95 = Some(51.0);
        assert_eq!(disagreements(&observed(), &sent).len(), 1);
        sent.accept_ms.p95 = None;
        assert_eq!(disagreements(&observed(), &sent).len(), 1);
        sent.dropped_iterations = 1;
        assert_eq!(disagreements(&observed(), &sent), Vec::<String>::new(), "k6 fell behind");
    }
}
