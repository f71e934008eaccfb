//! Reading dashboards and rules, made-up ones and those of this tree.

use serde_json::json;
use service::metrics::catalogue;

use super::*;
use crate::dashboards::selectors::selectors;

#[test]
fn panels_variables_and_folded_rows_are_asked() {
    let dashboard = json!({
        "templating": { "list": [{ "name": "s", "allValue": ".*", "current": { "value": ["$__all"] },
            "query": { "query": "label_values(up, s)" } }] },
        "panels": [
            { "title": "Loud", "description": "Good: 1.", "targets": [{ "expr": "a{s=~\"$s\"}" }, { "expr": "b" }] },
            { "title": "Row", "panels": [
                { "title": "Quiet", "description": "Good: 0.\n\nSilent when healthy.", "targets": [{ "expr": "c" }] },
            ] },
        ],
    });
    let asked = of_dashboard("x.json", &dashboard).unwrap();
    let asked: Vec<_> = asked.iter().map(|q| (q.place.as_str(), q.expression.as_str(), q.expects)).collect();
    assert_eq!(
        asked,
        [
            ("x.json: variable s", "count by (s) (up)", Expects::Data),
            ("x.json: Loud", "a{s=~\".*\"}", Expects::Data),
            ("x.json: Loud", "b", Expects::Data),
            ("x.json: Quiet", "c", Expects::Nothing),
        ]
    );
    let without_definition = json!({ "panels": [{ "title": "T", "targets": [{ "expr": "a{s=~\"$s\"}" }] }] });
    let error = format!("{:#}", of_dashboard("x.json", &without_definition).unwrap_err());
    assert!(error.contains("T: a{s=~\"$s\"}") && error.contains("nobody defines $s"), "{error}");
}

#[test]
fn records_alerts_and_those_of_what_is_absent_are_told_apart() {
    let yaml = "groups:\n- name: g\n  rules:\n  - {record: 'x:y', expr: sum(y)}\n  - {alert: A, expr: a > 1}\n\
                \x20 - {alert: B, expr: b > 1, annotations: {absent: healthy}}\n";
    let asked = of_rule_file("r.yml", yaml).unwrap();
    let asked: Vec<_> = asked.iter().map(|q| (q.expression.as_str(), q.expects)).collect();
    let expected = [
        ("sum(y)", Expects::Data),
        ("x:y", Expects::Data),
        ("a > 1", Expects::Series),
        ("b > 1", Expects::Nothing),
    ];
    assert_eq!(asked, expected);
    assert!(of_rule_file("r.yml", "groups:\n- rules:\n  - {expr: a}\n").is_err());
}

#[test]
fn our_metrics_on_dashboards_and_in_rules_are_in_the_catalogue() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let mut questions = of_dashboards(&root.join("grafana/dashboards")).unwrap();
    questions.extend(of_rules(&root.join("prometheus/rules")).unwrap());
    assert!(questions.len() > 100, "{} expressions were read", questions.len());
    let is_known = |metric: &str| {
        let of_histogram =
            ["_bucket", "_sum", "_count"].iter().find_map(|end| catalogue::find(metric.strip_suffix(end)?));
        catalogue::find(metric).or(of_histogram).is_some()
    };
    for Question { place, expression, .. } in &questions {
        for selector in selectors(expression).iter().filter(|one| one.metric.starts_with("dovetail_")) {
            assert!(is_known(selector.metric), "{place}: nobody exports {}", selector.metric);
        }
    }
}
