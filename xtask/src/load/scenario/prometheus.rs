//! Asking Prometheus. Only for samples as they were scraped: what is counted from them is worked out here, since
//! `increase()` and `rate()` extrapolate and never agree with a count to the last one.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde::Deserialize;
use testkit::http::get;
use testkit::until_some;

use super::series::Series;

/// How long Prometheus may take to reach its targets, or to scrape them once more: it does so every second.
const SCRAPE_DEADLINE: Duration = Duration::from_secs(60);

/// Prometheus on a port of 127.0.0.1.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prometheus {
    pub(super) port: u16,
}

impl Prometheus {
    /// Fails when it does not answer.
    pub(super) async fn ensure_answers(&self) -> anyhow::Result<()> {
        let asked = self.at("vector(1)", now()).await;
        asked.map(drop).with_context(|| {
            let port = self.port;
            format!(
                "the stack's Prometheus on port {port} does not answer; its log is in target/stack/prometheus"
            )
        })
    }

    /// The samples that a selector finds between two times, seconds since 1970.
    pub(super) async fn samples(&self, selector: &str, from: f64, to: f64) -> anyhow::Result<Vec<Series>> {
        // A range reaches back from the time that is asked for, its beginning left out.
        let milliseconds = ((to - from) * 1_000.0).ceil() + 1.0;
        self.query(&format!("{selector}[{milliseconds:.0}ms]"), to).await
    }

    /// What an expression was at a time: one sample for each combination of labels.
    pub(super) async fn at(&self, expression: &str, time: f64) -> anyhow::Result<Vec<Series>> {
        self.query(expression, time).await
    }

    async fn query(&self, query: &str, time: f64) -> anyhow::Result<Vec<Series>> {
        let parameters = form_urlencoded::Serializer::new(String::new())
            .append_pair("query", query)
            .append_pair("time", &format!("{time:.3}"))
            .finish();
        let (status, body) = get(self.port, &format!("/api/v1/query?{parameters}")).await?;
        parse(&body).with_context(|| format!("Prometheus answers {status} for {query}"))
    }

    /// Waits until every target of these jobs was scraped after a time, and answers when the last scrape was.
    pub(super) async fn until_scraped(&self, jobs: &str, after: f64) -> anyhow::Result<f64> {
        let all_scraped = async || {
            let up = self.at(&format!("up{{job=~\"{jobs}\"}}"), now()).await?;
            let when = self.at(&format!("timestamp(up{{job=~\"{jobs}\"}})"), now()).await?;
            let times: Vec<f64> = when.iter().filter_map(Series::last).collect();
            let is_up = !up.is_empty() && up.iter().all(|target| target.last() == Some(1.0));
            let is_new = times.iter().all(|time| *time > after);
            Ok((is_up && is_new).then(|| times.iter().copied().fold(after, f64::max)))
        };
        until_some("Prometheus reaches all of its targets", SCRAPE_DEADLINE, all_scraped).await
    }
}

/// The time on the wall, in seconds since 1970: the clock of Prometheus, which runs on this machine.
pub(super) fn now() -> f64 {
    jiff::Timestamp::now().as_millisecond() as f64 / 1_000.0
}

#[derive(Deserialize)]
struct Answer {
    status: String,
    #[serde(default)]
    error: String,
    data: Option<Data>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", tag = "resultType", content = "result")]
enum Data {
    Vector(Vec<Instant>),
    Matrix(Vec<Range>),
}

#[derive(Deserialize)]
struct Instant {
    metric: BTreeMap<String, String>,
    value: (f64, String),
}

#[derive(Deserialize)]
struct Range {
    metric: BTreeMap<String, String>,
    values: Vec<(f64, String)>,
}

fn parse(body: &str) -> anyhow::Result<Vec<Series>> {
    let answer: Answer = serde_json::from_str(body).context("this is no answer of Prometheus's API")?;
    ensure!(answer.status == "success", "{}", answer.error);
    let ranges: Vec<Range> = match answer.data.context("the answer holds no data")? {
        Data::Matrix(ranges) => ranges,
        Data::Vector(instants) => {
            let range = |instant: Instant| Range { metric: instant.metric, values: vec![instant.value] };
            instants.into_iter().map(range).collect()
        }
    };
    let read = |Range { metric, values }| {
        let numbers = values.iter().map(|(time, value): &(f64, String)| Ok((*time, value.parse()?)));
        Ok(Series { labels: metric, points: numbers.collect::<anyhow::Result<_>>()? })
    };
    ranges.into_iter().map(read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vectors_and_matrices_are_read() {
        let vector = r#"{"status":"success","data":{"resultType":"vector","result":[
            {"metric":{"job":"x"},"value":[1700000000.25,"3"]}]}}"#;
        let [series] = &parse(vector).unwrap()[..] else { panic!("one series") };
        assert_eq!((series.label("job"), series.last()), ("x", Some(3.0)));

        let matrix = r#"{"status":"success","data":{"resultType":"matrix","result":[
            {"metric":{},"values":[[1,"0.5"],[2,"+Inf"]]}]},"warnings":["w"]}"#;
        assert_eq!(parse(matrix).unwrap()[0].points, [(1.0, 0.5), (2.0, f64::INFINITY)]);
        let nothing = r#"{"status":"success","data":{"resultType":"vector","result":[]}}"#;
        assert!(parse(nothing).unwrap().is_empty());
    }

    #[test]
    fn a_refusal_says_why() {
        let refusal =
            r#"{"status":"error","errorType":"bad_data","error":"invalid parameter \"query\": 1:4"}"#;
        assert!(parse(refusal).unwrap_err().to_string().contains("1:4"));
        assert!(parse("<html>").is_err());
    }
}
