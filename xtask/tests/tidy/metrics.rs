//! Metrics: what the sources record is what the catalogue promises, and the other way round.

use std::collections::BTreeMap;

use regex::Regex;
use service::metrics::catalogue::{self, Kind};

use crate::assert_none;
use crate::repository::{TextFile, members, text_files};

/// Crates that record metrics.
const RECORDING: &[&str] = &["store", "service", "main-server", "matching-server", "standalone"];

/// One call of a macro that records.
#[derive(Debug, PartialEq, Eq)]
struct Recorded {
    place: String,
    kind: String,
    name: String,
    /// Those that are written at the call; a slice of labels is not looked into.
    labels: Vec<String>,
}

/// What a source records: calls with a literal name.
fn recorded(file: &TextFile) -> Vec<Recorded> {
    let call = Regex::new(r#"\b(counter|gauge|histogram)!\(\s*"([a-z_]+)"([^;]*?)\)\s*[.;,]"#)
        .expect("a regular expression");
    let label = Regex::new(r#""([a-z_]+)"\s*=>"#).expect("a regular expression");
    let calls = call.captures_iter(&file.text).map(|found| Recorded {
        place: format!("{}: {}", file.path, &found[2]),
        kind: found[1].to_owned(),
        name: found[2].to_owned(),
        labels: label.captures_iter(&found[3]).map(|found| found[1].to_owned()).collect(),
    });
    calls.collect()
}

fn sources() -> impl Iterator<Item = &'static TextFile> {
    text_files().iter().filter(|file| {
        let of_a_server = RECORDING.iter().any(|member| file.path.starts_with(&format!("{member}/src/")));
        of_a_server && file.has_ending("rs")
    })
}

fn objection(recorded: &Recorded) -> Option<String> {
    let Recorded { place, kind, name, labels } = recorded;
    let Some(metric) = catalogue::find(name) else {
        return Some(format!("{place} is not in the catalogue"));
    };
    if metric.kind.recorded_as() != kind {
        return Some(format!(
            "{place} is recorded as {kind}, and a {} in the catalogue",
            metric.kind.as_str()
        ));
    }
    let promised: Vec<&str> = metric.labels.iter().map(|label| label.name).collect();
    let unknown = labels.iter().find(|label| !promised.contains(&label.as_str()));
    unknown.map(|label| format!("{place} has a label {label} that is not in the catalogue"))
}

#[test]
fn what_is_recorded_is_in_the_catalogue() {
    let wrong: Vec<String> = sources().flat_map(recorded).filter_map(|found| objection(&found)).collect();
    assert_none(&wrong, "Add it to service/src/metrics/catalogue, then run cargo xtask metrics.");
}

#[test]
fn what_is_in_the_catalogue_is_recorded() {
    assert!(members().iter().any(|member| member.name == "service"), "the crates were renamed");
    let in_sources: BTreeMap<&str, bool> = catalogue::all()
        .filter(|metric| metric.name.starts_with("dovetail_"))
        .map(|metric| {
            let name = format!("\"{}\"", metric.name);
            let outside = sources().filter(|file| !file.path.starts_with("service/src/metrics/catalogue/"));
            (metric.name, outside.into_iter().any(|file| file.text.contains(&name)))
        })
        .collect();
    let missing: Vec<String> =
        in_sources.iter().filter(|(_, found)| !**found).map(|(name, _)| (*name).to_owned()).collect();
    assert_none(&missing, "Nobody records these: take them out of service/src/metrics/catalogue.");
}

#[test]
fn names_end_as_prometheus_wants_them() {
    let wrong: Vec<String> = catalogue::all()
        .filter(|metric| {
            let is_counter = matches!(metric.kind, Kind::Counter | Kind::FractionalCounter);
            is_counter != metric.name.ends_with("_total")
        })
        .map(|metric| metric.name.to_owned())
        .collect();
    assert_none(&wrong, "Counters, and only counters, end in _total.");
}

#[test]
fn calls_are_found() {
    let text = "metrics::counter!(\"dovetail_x_total\", \"at\" => at).increment(1);\n\
                let g = gauge!(\n    \"dovetail_y\"\n);\nmetrics::gauge!(\"dovetail_z\", labels.iter()).set(1.0);";
    let found = recorded(&TextFile::new("a/src/lib.rs", text));
    let names: Vec<(&str, &str, usize)> =
        found.iter().map(|call| (call.kind.as_str(), call.name.as_str(), call.labels.len())).collect();
    assert_eq!(
        names,
        [("counter", "dovetail_x_total", 1), ("gauge", "dovetail_y", 0), ("gauge", "dovetail_z", 0)]
    );
    assert!(found.iter().all(|call| objection(call).is_some()));
}
