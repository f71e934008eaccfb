//! What is asked: the expressions of dashboards and rules, each with where it stands and what it must answer.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Deserialize;
use serde_json::Value;

use super::variables::{self, Variables};

/// The sentence in a panel's description that says that it may be empty. It is shown to people and survives Grafana's own
/// saving, which a member that Grafana does not know would not.
const SILENT: &str = "Silent when healthy.";

/// An expression.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Question {
    /// The file, and the panel, variable or rule in it.
    pub(super) place: String,
    pub(super) expression: String,
    pub(super) expects: Expects,
}

/// What an expression must answer while people are served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Expects {
    /// Values.
    Data,
    /// Perhaps none, but each metric that it reads has series: an alert is silent since they are fine, not since it reads
    /// something that is not there.
    Series,
    /// Perhaps neither values nor series.
    Nothing,
}

/// Those of every dashboard in a folder.
pub(super) fn of_dashboards(folder: &Path) -> anyhow::Result<Vec<Question>> {
    let mut questions = Vec::new();
    for (name, text) in files(folder, "json")? {
        let read = || of_dashboard(&name, &serde_json::from_str(&text)?);
        questions.extend(read().with_context(|| format!("cannot read the dashboard {name}"))?);
    }
    Ok(questions)
}

/// Those of every file of rules in a folder.
pub(super) fn of_rules(folder: &Path) -> anyhow::Result<Vec<Question>> {
    let mut questions = Vec::new();
    for (name, text) in files(folder, "yml")? {
        questions
            .extend(of_rule_file(&name, &text).with_context(|| format!("cannot read the rules {name}"))?);
    }
    Ok(questions)
}

/// The files of a folder that end so, in the order of their names: name and text.
pub(super) fn files(folder: &Path, ending: &str) -> anyhow::Result<Vec<(String, String)>> {
    let read = || -> std::io::Result<Vec<(String, String)>> {
        let entries = std::fs::read_dir(folder)?.map(|entry| Ok(entry?.path()));
        let mut paths = entries.collect::<std::io::Result<Vec<PathBuf>>>()?;
        paths.retain(|path| path.extension().is_some_and(|extension| extension == ending));
        paths.sort();
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        paths.iter().map(|path| Ok((name(path), std::fs::read_to_string(path)?))).collect()
    };
    read().with_context(|| format!("cannot read {}", folder.display()))
}

fn of_dashboard(name: &str, dashboard: &Value) -> anyhow::Result<Vec<Question>> {
    let variables = Variables::of(dashboard)?;
    let mut questions = Vec::new();
    for variable in variables::list(dashboard) {
        let title = variable["name"].as_str().unwrap_or_default();
        let (_, expression) = variables::choices(variable)
            .with_context(|| format!("the variable {title} is no label_values(…, …)"))?;
        let place = format!("{name}: variable {title}");
        questions.push(Question { place, expression, expects: Expects::Data });
    }
    for Target { place, written, expects } in targets(name, dashboard)? {
        let expression = variables.fill(&written).with_context(|| format!("{place}: {written}"))?;
        questions.push(Question { place, expression, expects });
    }
    Ok(questions)
}

/// What a panel asks, as it is written.
pub(super) struct Target {
    /// The file and the panel.
    pub(super) place: String,
    /// The expression, variables and all.
    pub(super) written: String,
    pub(super) expects: Expects,
}

/// What the panels of a dashboard ask.
pub(super) fn targets(name: &str, dashboard: &Value) -> anyhow::Result<Vec<Target>> {
    let mut all = Vec::new();
    for panel in panels(dashboard) {
        let title = panel["title"].as_str().unwrap_or("a panel without a title");
        let place = format!("{name}: {title}");
        let is_silent = panel["description"].as_str().is_some_and(|text| text.contains(SILENT));
        let expects = if is_silent { Expects::Nothing } else { Expects::Data };
        for target in panel["targets"].as_array().map_or(&[][..], Vec::as_slice) {
            let written = target["expr"].as_str().with_context(|| format!("{place}: no expression"))?;
            all.push(Target { place: place.clone(), written: written.to_owned(), expects });
        }
    }
    Ok(all)
}

/// All panels, also those that a folded row holds.
fn panels(dashboard: &Value) -> Vec<&Value> {
    let direct = dashboard["panels"].as_array().map_or(&[][..], Vec::as_slice);
    direct.iter().flat_map(|panel| [vec![panel], panels(panel)].concat()).collect()
}

#[derive(Deserialize)]
struct RuleFile {
    groups: Vec<Group>,
}

#[derive(Deserialize)]
struct Group {
    rules: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    record: Option<String>,
    alert: Option<String>,
    expr: String,
    #[serde(default)]
    annotations: BTreeMap<String, String>,
}

fn of_rule_file(name: &str, text: &str) -> anyhow::Result<Vec<Question>> {
    let file: RuleFile = serde_saphyr::from_str(text)?;
    let mut questions = Vec::new();
    for Rule { record, alert, expr, annotations } in file.groups.into_iter().flat_map(|group| group.rules) {
        if let Some(record) = record {
            let place = format!("{name}: {record}");
            // What it works out, and that Prometheus has written it down.
            for expression in [expr, record] {
                questions.push(Question { place: place.clone(), expression, expects: Expects::Data });
            }
        } else {
            let alert = alert.context("a rule is neither a record nor an alert")?;
            let is_absent = annotations.get("absent").is_some_and(|when| when == "healthy");
            let expects = if is_absent { Expects::Nothing } else { Expects::Series };
            questions.push(Question { place: format!("{name}: {alert}"), expression: expr, expects });
        }
    }
    Ok(questions)
}

#[cfg(test)]
#[path = "question_tests.rs"]
mod tests;
