//! The rules of Prometheus: sound, tried, and each alert with its section of the runbook.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::packages;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The files in a folder of `prometheus/`.
fn files(folder: &str) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(root().join("prometheus").join(folder)).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn promtool(arguments: &[&str], files: &[PathBuf]) {
    assert!(!files.is_empty());
    let mut command = Command::new(packages::promtool().unwrap());
    let output = command.args(arguments).args(files).output().unwrap();
    let said = [output.stdout, output.stderr].concat();
    assert!(output.status.success(), "promtool {arguments:?}:\n{}", String::from_utf8_lossy(&said));
}

#[test]
fn promtool_accepts_the_configuration_and_the_rules() {
    promtool(&["check", "config"], &[root().join("prometheus/prometheus.yml")]);
    promtool(&["check", "rules"], &files("rules"));
}

#[test]
fn each_alert_fires_when_it_should_and_stays_silent_when_not() {
    promtool(&["test", "rules"], &files("tests"));
    let tests: String = files("tests").iter().map(|file| std::fs::read_to_string(file).unwrap()).collect();
    for alert in alerts() {
        assert!(tests.contains(&format!("alertname: {alert}\n")), "no test has {alert} fire");
        assert!(tests.contains(&format!("alertname: {alert}, eval_time")), "no test has {alert} stay silent");
    }
}

/// The names of all alerts.
fn alerts() -> BTreeSet<String> {
    let text = std::fs::read_to_string(root().join("prometheus/rules/alerts.yml")).unwrap();
    let names = text.lines().filter_map(|line| line.trim().strip_prefix("- alert: "));
    let names: BTreeSet<String> = names.map(str::to_owned).collect();
    for name in &names {
        let address = format!("runbook: docs/runbook.md#{}\n", name.to_lowercase());
        assert!(text.contains(&address), "{name} does not name its section");
    }
    names
}

#[test]
fn each_alert_has_its_section_of_the_runbook_and_each_section_its_alert() {
    let page = std::fs::read_to_string(root().join("docs/runbook.md")).unwrap();
    let sections: BTreeSet<String> =
        page.lines().filter_map(|line| line.strip_prefix("### ")).map(str::to_owned).collect();
    assert_eq!(sections, alerts());
}
