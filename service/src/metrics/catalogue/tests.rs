//! What holds for every metric: the rules of `promtool check metrics`, and those of this catalogue.

use std::collections::BTreeSet;

use super::*;

/// What is wrong with a metric.
fn problems(metric: &Metric) -> Vec<String> {
    let Metric { name, kind, unit, says, good, labels, at_start, query, .. } = metric;
    let total = name.ends_with("_total");
    let stem = name.strip_suffix("_total").unwrap_or(name);
    let is_counter = kind.as_str() == "counter";
    let is_word = |text: &str| {
        text.starts_with(|c: char| c.is_ascii_lowercase())
            && text.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_')
    };
    let mut rules = vec![
        (name.starts_with("dovetail_") || name.starts_with("process_"), "begins with dovetail_ or process_"),
        (is_word(name), "is of lower-case letters, digits and _"),
        (is_counter == total, "a counter ends in _total, and nothing else does"),
        (
            !["_count", "_sum", "_bucket", "_info"].iter().any(|end| stem.ends_with(end))
                || *name == "dovetail_build_info",
            "its end means something else",
        ),
        (
            !stem
                .split('_')
                .any(|word| ["counter", "gauge", "histogram", "ms", "sec", "kb", "percent"].contains(&word)),
            "names a kind or no base unit",
        ),
        ((*unit == Unit::Seconds) == stem.ends_with("_seconds"), "seconds are in the name"),
        ((*unit == Unit::Bytes) == stem.ends_with("_bytes"), "bytes are in the name"),
        (
            [says, good].iter().all(|text| text.ends_with('.') && !text.contains(['\n', '\\', '|'])),
            "its texts are sentences on one line",
        ),
        (
            labels.iter().all(|label| {
                is_word(label.name) && !["le", "quantile", "instance", "job"].contains(&label.name)
            }),
            "a label's name is its own",
        ),
        (query.is_none_or(|query| query.contains(name)), "its query is about it"),
        (
            !matches!(kind, Kind::Gauge | Kind::FractionalCounter) || matches!(at_start, AtStart::None),
            "a gauge begins when something is known",
        ),
        (
            !matches!(at_start, AtStart::All)
                || labels.iter().all(|label| matches!(label.values, Values::Known(_))),
            "all its series cannot be listed",
        ),
    ];
    if let Kind::Histogram(bounds) = kind {
        rules.push((bounds.is_sorted_by(|a, b| a < b) && bounds.len() > 5, "its buckets ascend"));
    }
    if let AtStart::These(series) = at_start {
        let fits = |values: &&[&str]| {
            values.len() == labels.len()
                && values.iter().zip(*labels).all(|(value, label)| match label.values {
                    Values::Known(known) => known.iter().any(|(_, values)| values.contains(value)),
                    Values::Like(..) => true,
                })
        };
        rules.push((series.iter().all(fits), "its series have its labels"));
        rules.push((
            series.iter().collect::<BTreeSet<_>>().len() == series.len(),
            "its series are there once",
        ));
    }
    rules.into_iter().filter(|(holds, _)| !holds).map(|(_, rule)| format!("{name}: {rule}")).collect()
}

#[test]
fn every_metric_keeps_the_rules() {
    let problems: Vec<String> = all().flat_map(problems).collect();
    assert!(problems.is_empty(), "{problems:#?}");
    let names: BTreeSet<&str> = all().map(|metric| metric.name).collect();
    assert_eq!(names.len(), all().count(), "names are there once");
}

#[test]
fn a_bad_metric_is_found() {
    let bad = Metric {
        name: "dovetail_Ticket_gauge_total",
        kind: Kind::Gauge,
        unit: Unit::Seconds,
        says: "Says something",
        good: "Something.",
        labels: &[SHARD],
        at_start: AtStart::All,
        servers: ALL,
        query: Some("up"),
    };
    assert_eq!(problems(&bad).len(), 8, "{:#?}", problems(&bad));
}

#[test]
fn the_resolution_is_there_where_people_are_judged() {
    for (name, judged) in [
        ("dovetail_http_request_duration_seconds", &[0.0005, 0.05, 5.0, 60.0][..]),
        ("dovetail_match_wait_seconds", &[0.01, 5.0, 60.0]),
        ("dovetail_pooling_delay_seconds", &[0.05, 0.2, 2.0]),
    ] {
        let Some(Kind::Histogram(bounds)) = find(name).map(|metric| metric.kind) else { panic!("{name}") };
        for bound in judged {
            assert!(bounds.contains(bound), "{name} has no bound at {bound}");
        }
    }
}

#[test]
fn series_are_the_product_of_what_the_labels_may_be() {
    let settled = find("dovetail_tickets_settled_total").unwrap();
    assert_eq!(settled.series_at_start(Server::MainServer), [["cancelled"], ["expired"]]);
    assert_eq!(settled.series_at_start(Server::Standalone).len(), 3);
    assert_eq!(find("dovetail_matches_total").unwrap().series_at_start(Server::Standalone), [[""; 0]]);
    assert!(find("dovetail_matches_total").unwrap().series_at_start(Server::MainServer).is_empty());
}
