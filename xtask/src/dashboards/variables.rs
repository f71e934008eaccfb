//! Grafana's variables: what it puts into an expression before it asks.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail};
use serde_json::Value;

/// What Grafana gives by itself, for the time range that the dashboards open with, the last five minutes, on a wide screen:
/// a step of a second, which is what the data source says of the scrape interval, and rates over four scrapes.
const BUILT_IN: [(&str, &str); 6] = [
    ("__interval", "1s"),
    ("__interval_ms", "1000"),
    ("__rate_interval", "4s"),
    ("__range", "300s"),
    ("__range_s", "300"),
    ("__range_ms", "300000"),
];

/// Each variable of a dashboard and its value when the dashboard opens.
#[derive(Debug, Clone)]
pub(super) struct Variables(BTreeMap<String, String>);

impl Variables {
    /// Those of a dashboard. "All" is what `allValue` says; Grafana would list the values where that is missing, and this
    /// command does not.
    pub(super) fn of(dashboard: &Value) -> anyhow::Result<Self> {
        let mut values: BTreeMap<String, String> =
            BUILT_IN.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        for variable in list(dashboard) {
            let name = variable["name"].as_str().context("a variable has no name")?;
            let current = match &variable["current"]["value"] {
                Value::Array(chosen) => chosen.first().and_then(Value::as_str),
                one => one.as_str(),
            };
            let value = match current {
                Some("$__all") => variable["allValue"].as_str(),
                other => other,
            };
            let value = value.with_context(|| format!("the variable {name} has no value to begin with"))?;
            values.insert(name.to_owned(), value.to_owned());
        }
        Ok(Self(values))
    }

    /// The same with one value chosen. As Grafana's Prometheus data source does for a variable that may have several values, it
    /// is written so that it stands for itself in a regular expression within a string.
    #[must_use]
    pub(super) fn with_choice(&self, name: &str, value: &str) -> Self {
        let mut escaped = String::new();
        for letter in value.chars() {
            match letter {
                '\\' => escaped.push_str(r"\\\"),
                letter if "$^*{}[]'+?.()|".contains(letter) => escaped.push_str(r"\\"),
                _ => {}
            }
            escaped.push(letter);
        }
        let mut all = self.clone();
        all.0.insert(name.to_owned(), escaped);
        all
    }

    /// An expression as Grafana sends it.
    ///
    /// # Errors
    /// When it has a variable that nobody defines. Grafana would send it as it is written.
    pub(super) fn fill(&self, expression: &str) -> anyhow::Result<String> {
        let mut filled = String::new();
        let mut rest = expression;
        while let Some(at) = rest.find('$') {
            filled.push_str(&rest[..at]);
            rest = &rest[at + 1..];
            let braced = rest.strip_prefix('{').and_then(|inner| inner.split_once('}'));
            let (name, after) = match braced {
                // `${shard:regex}` says how to write several values; what stands for all of them is one.
                Some((inner, after)) => (inner.split(':').next().unwrap_or_default(), after),
                None => rest.split_at(
                    rest.find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
                        .unwrap_or(rest.len()),
                ),
            };
            if name.is_empty() {
                // The end of a regular expression.
                filled.push('$');
                continue;
            }
            let Some(value) = self.0.get(name) else { bail!("nobody defines ${name}") };
            filled.push_str(value);
            rest = after;
        }
        filled.push_str(rest);
        Ok(filled)
    }
}

/// The variables of a dashboard, as they are written.
pub(super) fn list(dashboard: &Value) -> &[Value] {
    dashboard["templating"]["list"].as_array().map_or(&[], Vec::as_slice)
}

/// The label whose values are a variable's choices, and the expression that has them, from `label_values(selector, label)`.
/// `None` for another query.
pub(super) fn choices(variable: &Value) -> Option<(String, String)> {
    let inner = variable["query"]["query"].as_str()?.strip_prefix("label_values(")?.strip_suffix(')')?;
    let (selector, label) = inner.rsplit_once(',')?;
    Some((label.trim().to_owned(), format!("count by ({}) ({})", label.trim(), selector.trim())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn variables() -> Variables {
        Variables::of(&json!({ "templating": { "list": [
            { "name": "shard", "allValue": ".*", "current": { "value": ["$__all"] } },
            { "name": "job", "current": { "value": "main-server" } },
        ] } }))
        .unwrap()
    }

    #[test]
    fn every_way_to_write_a_variable_is_filled() {
        let filled =
            variables().fill(r#"rate(a{s=~"x$shard",j="${job}",k=~"${shard:regex}"}[$__rate_interval])"#);
        assert_eq!(filled.unwrap(), r#"rate(a{s=~"x.*",j="main-server",k=~".*"}[4s])"#);
        assert_eq!(variables().fill(r#"a{b=~"c$",d="$"} $"#).unwrap(), r#"a{b=~"c$",d="$"} $"#);
    }

    #[test]
    fn what_nobody_defines_is_named() {
        for unknown in ["a{b=\"$shards\"}", "a{b=\"${nobody}\"}"] {
            assert!(variables().fill(unknown).unwrap_err().to_string().contains("nobody defines $"));
        }
        let without_all =
            json!({ "templating": { "list": [{ "name": "x", "current": { "value": ["$__all"] } }] } });
        assert!(Variables::of(&without_all).unwrap_err().to_string().contains('x'));
    }

    #[test]
    fn a_choice_stands_for_itself() {
        let chosen = variables().with_choice("shard", r"a.b\c");
        assert_eq!(chosen.fill(r#"a{s=~"$shard"}"#).unwrap(), r#"a{s=~"a\\.b\\\\c"}"#);
    }

    #[test]
    fn choices_are_asked_for_by_their_label() {
        let of = |query: &str| choices(&json!({ "query": { "query": query } }));
        let (label, expression) = of(r#"label_values(up{job=~"a|b"}, instance)"#).unwrap();
        assert_eq!(
            (label.as_str(), expression.as_str()),
            ("instance", r#"count by (instance) (up{job=~"a|b"})"#)
        );
        assert_eq!(of("query_result(x)"), None);
    }
}
