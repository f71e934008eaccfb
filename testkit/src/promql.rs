//! Asking a Prometheus on loopback.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use crate::http::get;

/// One series of an answer, with its values.
#[derive(Debug, Clone, PartialEq)]
pub struct Series {
    /// Its labels, the metric's name as `__name__` if it has one.
    pub labels: BTreeMap<String, String>,
    /// Moments, in seconds since 1970, and the value at each.
    pub values: Vec<(f64, f64)>,
}

/// What an expression gives now.
///
/// # Errors
/// When Prometheus does not answer, or refuses the expression; the error has its words.
pub async fn query(port: u16, expression: &str) -> anyhow::Result<Vec<Series>> {
    let path = format!("/api/v1/query?query={}", encode(expression));
    series(&ask(port, &path).await?).with_context(|| format!("cannot read the answer to {expression}"))
}

/// What an expression gave at each step from one moment to another, both in seconds since 1970.
///
/// # Errors
/// When Prometheus does not answer, or refuses the expression; the error has its words.
pub async fn query_range(
    port: u16,
    expression: &str,
    (start, end): (f64, f64),
    step: Duration,
) -> anyhow::Result<Vec<Series>> {
    let (query, step) = (encode(expression), step.as_secs_f64());
    let path = format!("/api/v1/query_range?query={query}&start={start}&end={end}&step={step}");
    series(&ask(port, &path).await?).with_context(|| format!("cannot read the answer to {expression}"))
}

/// The names of all metrics that Prometheus has.
///
/// # Errors
/// When Prometheus does not answer.
pub async fn metric_names(port: u16) -> anyhow::Result<Vec<String>> {
    let names = ask(port, "/api/v1/label/__name__/values").await?;
    let names = names.as_array().context("the names of metrics are no list")?;
    Ok(names.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}

/// Prometheus's clock, in seconds since 1970.
///
/// # Errors
/// When Prometheus does not answer.
pub async fn now(port: u16) -> anyhow::Result<f64> {
    let answer = query(port, "time()").await?;
    answer.first().and_then(|series| Some(series.values.first()?.1)).context("Prometheus has no time")
}

/// The data of a successful answer.
async fn ask(port: u16, path: &str) -> anyhow::Result<Value> {
    let (status, body) = get(port, path).await?;
    let answer: Value =
        serde_json::from_str(&body).with_context(|| format!("Prometheus answers {status}, and no JSON"))?;
    if answer["status"] != "success" {
        bail!("Prometheus answers {status}: {}", answer["error"].as_str().unwrap_or("no reason"));
    }
    Ok(answer["data"].clone())
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// Series of an answer, whether of one moment or of many; a number alone is a series without labels.
fn series(data: &Value) -> anyhow::Result<Vec<Series>> {
    let result = &data["result"];
    match data["resultType"].as_str() {
        Some("scalar") => Ok(vec![Series { labels: BTreeMap::new(), values: vec![sample(result)?] }]),
        Some("vector" | "matrix") => {
            result.as_array().context("the result is no list")?.iter().map(one_series).collect()
        }
        other => bail!("a result of the type {other:?}"),
    }
}

fn one_series(entry: &Value) -> anyhow::Result<Series> {
    let labels = entry["metric"].as_object().context("a series has no labels")?;
    let labels =
        labels.iter().map(|(name, value)| (name.clone(), value.as_str().unwrap_or_default().to_owned()));
    let values = match (entry.get("values").and_then(Value::as_array), entry.get("value")) {
        (Some(values), _) => values.iter().map(sample).collect::<anyhow::Result<_>>()?,
        (None, Some(value)) => vec![sample(value)?],
        (None, None) => bail!("a series has no values"),
    };
    Ok(Series { labels: labels.collect(), values })
}

/// A moment and a value. Prometheus writes values as text, since JSON knows no infinity.
fn sample(pair: &Value) -> anyhow::Result<(f64, f64)> {
    let pair = pair.as_array().context("a sample is no pair")?;
    ensure!(pair.len() == 2, "a sample is no pair");
    let moment = pair[0].as_f64().context("a sample has no moment")?;
    let value = match pair[1].as_str().context("a sample has no value")? {
        "+Inf" => f64::INFINITY,
        "-Inf" => f64::NEG_INFINITY,
        text => text.parse()?,
    };
    Ok((moment, value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn all_kinds_of_answers_are_read() {
        let vector = json!({ "resultType": "vector", "result": [
            { "metric": { "__name__": "up", "job": "a" }, "value": [1.5, "1"] },
            { "metric": {}, "value": [1.5, "NaN"] },
        ] });
        let read = series(&vector).unwrap();
        assert_eq!((read.len(), read[0].labels["job"].as_str()), (2, "a"));
        assert_eq!(read[0].values, [(1.5, 1.0)]);
        assert!(read[1].values[0].1.is_nan());
        let matrix = json!({ "resultType": "matrix", "result": [
            { "metric": {}, "values": [[1, "2"], [2, "+Inf"]] },
        ] });
        assert_eq!(series(&matrix).unwrap()[0].values, [(1.0, 2.0), (2.0, f64::INFINITY)]);
        let scalar = json!({ "resultType": "scalar", "result": [7, "8.5"] });
        assert_eq!(series(&scalar).unwrap()[0].values, [(7.0, 8.5)]);
        assert!(series(&json!({ "resultType": "string", "result": [7, "x"] })).is_err());
    }
}
