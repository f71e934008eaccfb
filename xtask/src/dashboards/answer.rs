//! What Prometheus answered to a question, over all the times that it was asked, and what is wrong with that.

use std::collections::BTreeSet;

use service::metrics::catalogue::{self, AtStart, Kind};
use testkit::promql::{self, Series};

use super::question::{Expects, Question};
use super::selectors::selectors;

/// What Prometheus makes itself, and only once an alert is pending or fires.
const OF_ALERTS: [&str; 2] = ["ALERTS", "ALERTS_FOR_STATE"];

/// What came of a question so far.
#[derive(Debug, Default)]
pub(super) struct Answer {
    /// Prometheus's words, when it refused.
    refusal: Option<String>,
    has_data: bool,
    /// Which metrics of an alert had series, as they are selected.
    with_series: BTreeSet<String>,
}

impl Answer {
    /// Asks as a panel does, for each step between two times in seconds since 1970, and adds what comes to what is known.
    pub(super) async fn ask(&mut self, port: u16, question: &Question, between: (f64, f64)) {
        match promql::query_range(port, &question.expression, between, super::STEP).await {
            Ok(series) => self.has_data |= series.iter().any(has_number),
            Err(error) => self.refusal = Some(format!("{error:#}")),
        }
        if question.expects == Expects::Series {
            for selector in selectors(&question.expression) {
                let counting = format!("count({})", selector.text);
                if promql::query(port, &counting).await.is_ok_and(|series| !series.is_empty()) {
                    self.with_series.insert(selector.text.to_owned());
                }
            }
        }
    }

    /// What is wrong, given the names of all metrics that Prometheus has.
    pub(super) fn faults(&self, question: &Question, known: &BTreeSet<String>) -> Vec<String> {
        let Question { place, expression, expects } = question;
        let mut wrong = Vec::new();
        let mut read = selectors(expression);
        read.retain(|selector| !OF_ALERTS.contains(&selector.metric));
        let late = |metric: &str| *expects == Expects::Nothing && begins_late(metric);
        for selector in &read {
            if !known.contains(selector.metric) && !late(selector.metric) {
                wrong.push(format!("Prometheus knows no metric {}", selector.metric));
            } else if *expects == Expects::Series && !self.with_series.contains(selector.text) {
                wrong.push(format!("no series of {}, and `absent: healthy` is not said", selector.text));
            }
        }
        if let Some(refusal) = &self.refusal {
            wrong.push(refusal.clone());
        } else if *expects == Expects::Data && !self.has_data {
            wrong.push("no data, and not marked as silent when healthy".to_owned());
        }
        wrong.into_iter().map(|wrong| format!("{place}: {wrong}\n    {expression}")).collect()
    }
}

/// Whether a panel would show something of it: it shows nothing of what is no number, such as a percentile of no requests.
pub(super) fn has_number(series: &Series) -> bool {
    series.values.iter().any(|(_, value)| !value.is_nan())
}

/// Whether it is a counter of ours that is not there before its first event.
fn begins_late(metric: &str) -> bool {
    catalogue::find(metric)
        .is_some_and(|found| matches!((found.kind, found.at_start), (Kind::Counter, AtStart::None)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults(answer: &Answer, expression: &str, expects: Expects) -> Vec<String> {
        let known = BTreeSet::from(["up".to_owned(), "dovetail_store_errors_total".to_owned()]);
        let question = Question { place: "a.json: B".to_owned(), expression: expression.to_owned(), expects };
        answer.faults(&question, &known)
    }

    #[test]
    fn a_panel_without_data_is_at_fault_unless_it_says_so() {
        let (nothing, data) = (Answer::default(), Answer { has_data: true, ..Answer::default() });
        let [fault] = &faults(&nothing, "up", Expects::Data)[..] else { panic!("one fault") };
        assert!(fault.starts_with("a.json: B: no data") && fault.ends_with("\n    up"), "{fault}");
        assert!(faults(&nothing, "up", Expects::Nothing).is_empty());
        assert!(faults(&data, "up", Expects::Data).is_empty());
    }

    #[test]
    fn a_metric_that_is_not_there_is_at_fault_also_where_it_is_silent() {
        let data = Answer { has_data: true, ..Answer::default() };
        for expects in [Expects::Data, Expects::Nothing] {
            assert_eq!(faults(&data, "ups or vector(0)", expects).len(), 1);
            assert!(faults(&data, "count(ALERTS) or vector(0)", expects).is_empty());
        }
        // It begins with the first message that cannot be read.
        let late = "dovetail_messages_undecodable_total or vector(0)";
        assert_eq!(faults(&data, late, Expects::Data).len(), 1);
        assert!(faults(&data, late, Expects::Nothing).is_empty());
        assert_eq!(faults(&data, "dovetail_tickets_pooled", Expects::Nothing).len(), 1, "a gauge");
    }

    #[test]
    fn an_alert_may_be_silent_and_not_blind() {
        let alert = "up{job=\"a\"} == 0";
        let seen = Answer { with_series: BTreeSet::from(["up{job=\"a\"}".to_owned()]), ..Answer::default() };
        assert!(faults(&seen, alert, Expects::Series).is_empty());
        assert_eq!(faults(&Answer::default(), alert, Expects::Series).len(), 1);
        assert!(faults(&Answer::default(), alert, Expects::Nothing).is_empty());
    }

    #[test]
    fn a_refusal_is_told_in_prometheus_words() {
        let refused = Answer { refusal: Some("parse error".to_owned()), ..Answer::default() };
        for expects in [Expects::Data, Expects::Nothing] {
            assert_eq!(faults(&refused, "up", expects), ["a.json: B: parse error\n    up"]);
        }
    }

    #[test]
    fn what_is_no_number_is_no_data() {
        let series = |value| Series { labels: std::collections::BTreeMap::new(), values: vec![(1.0, value)] };
        assert!(!has_number(&series(f64::NAN)));
        assert!(has_number(&series(0.0)) && has_number(&series(f64::INFINITY)));
    }
}
