//! A choice of one server, shard, queue or node in place of all: panels must understand it, and show something of one of them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::Context as _;
use testkit::promql;

use super::answer::has_number;
use super::question::{Expects, Target, files, targets};
use super::variables::{self, Variables};

/// What a panel asks once a value of a variable is chosen.
#[derive(Debug)]
pub(super) struct Choice {
    /// The dashboard, the panel and the variable.
    place: String,
    /// The expression as it is written.
    written: String,
    /// The values of all other variables.
    variables: Variables,
    variable: String,
    label: String,
    /// Has a series for each value of the label that may be chosen.
    pub(super) values: String,
    pub(super) expects: Expects,
}

/// Those of every dashboard in a folder: each expression with each variable that it uses.
pub(super) fn of_dashboards(folder: &Path) -> anyhow::Result<Vec<Choice>> {
    let mut all = Vec::new();
    for (name, text) in files(folder, "json")? {
        let dashboard = serde_json::from_str(&text).with_context(|| format!("cannot read {name}"))?;
        let variables = Variables::of(&dashboard)?;
        for Target { place, written, expects } in targets(&name, &dashboard)? {
            for variable in variables::list(&dashboard) {
                let name = variable["name"].as_str().unwrap_or_default();
                let filled = |value| variables.with_choice(name, value).fill(&written);
                if filled("one")? == filled("other")? {
                    continue;
                }
                let (label, values) = variables::choices(variable).with_context(|| name.to_owned())?;
                all.push(Choice {
                    place: format!("{place}, ${name} chosen"),
                    written: written.clone(),
                    variables: variables.clone(),
                    variable: name.to_owned(),
                    label,
                    values,
                    expects,
                });
            }
        }
    }
    Ok(all)
}

/// The values of each variable that Prometheus knows, by the expression that has them.
async fn values(port: u16, choices: &[Choice]) -> anyhow::Result<BTreeMap<&str, BTreeSet<String>>> {
    let mut all = BTreeMap::new();
    for choice in choices {
        if !all.contains_key(choice.values.as_str()) {
            let series = promql::query(port, &choice.values).await?;
            let values = series.into_iter().filter_map(|mut one| one.labels.remove(&choice.label)).collect();
            all.insert(choice.values.as_str(), values);
        }
    }
    Ok(all)
}

/// Asks each with one value after the other, for each step between two times in seconds since 1970, and answers what is wrong
/// with each choice, in their order. A panel about one kind of server is empty for the other, so one value must give a number.
///
/// # Errors
/// When Prometheus does not say what may be chosen.
pub(super) async fn faults(
    port: u16,
    choices: &[Choice],
    between: (f64, f64),
) -> anyhow::Result<Vec<Vec<String>>> {
    let values = values(port, choices).await?;
    let mut all = Vec::new();
    for choice in choices {
        let values = &values[choice.values.as_str()];
        let (mut wrong, mut has_data) = (Vec::new(), false);
        for value in values {
            let expression = choice.variables.with_choice(&choice.variable, value).fill(&choice.written)?;
            match promql::query_range(port, &expression, between, super::STEP).await {
                Ok(series) => has_data |= series.iter().any(has_number),
                Err(error) => wrong.push(format!("{}: {error:#}\n    {expression}", choice.place)),
            }
        }
        if wrong.is_empty() && !has_data && choice.expects == Expects::Data {
            wrong.push(format!("{}: no data with any of {values:?}\n    {}", choice.place, choice.written));
        }
        all.push(wrong);
    }
    Ok(all)
}
