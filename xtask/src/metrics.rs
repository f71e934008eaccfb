//! `cargo xtask metrics`: the page of all metrics, written from the servers' own catalogue.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use anyhow::Context as _;
use service::metrics::catalogue::{GROUPS, Group, Kind, Label, Metric, Server, Values};

use crate::Verdict;
use crate::cargo::workspace;

const INTRODUCTION: &str = "\
# Metrics

Every server shows these at `/metrics` of its admin port, in Prometheus' text format. `cargo xtask metrics` writes this page from
`service/src/metrics/catalogue`; the same texts are the metrics' HELP. How to look at them: `grafana/dashboards`; what to do when
one looks bad: [runbook.md](runbook.md).

A gauge of a shard is shown by the server that serves the shard, and a gauge that is read from the store while the store
answers: what is not known is left out, never shown as it last was. What each main-server reads from the store
(`dovetail_tickets_waiting`, `dovetail_oldest_waiting_seconds`, `dovetail_shards_unowned`) is the same at all of them: take
the `max`, not the `sum`. No label holds what a caller chose: no user, no interest, no region.
";

/// `cargo xtask metrics`
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Write nothing; fail when the page is not as it would be written
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<Verdict> {
    let path = path()?;
    let page = page();
    if args.check {
        let is_current = fs::read_to_string(&path).is_ok_and(|text| text == page);
        println!(
            "{}",
            if is_current {
                "docs/metrics.md is current"
            } else {
                "docs/metrics.md is not: cargo xtask metrics"
            }
        );
        return Ok(if is_current { Verdict::Good } else { Verdict::Bad });
    }
    fs::write(&path, page).with_context(|| format!("cannot write {}", path.display()))?;
    println!("wrote {}", path.display());
    Ok(Verdict::Good)
}

fn path() -> anyhow::Result<PathBuf> {
    Ok(workspace()?.workspace_root.join("docs/metrics.md").into())
}

fn page() -> String {
    let mut page = INTRODUCTION.to_owned();
    for Group { title, about, metrics } in GROUPS {
        let _ = write!(page, "\n## {title}\n\n{about}\n");
        for metric in *metrics {
            page.push_str(&section(metric));
        }
    }
    page
}

fn section(metric: &Metric) -> String {
    let servers: Vec<&str> =
        Server::ALL.into_iter().filter(|server| metric.servers.contains(*server)).map(Server::name).collect();
    let mut text = format!(
        "\n### `{}`\n\n{}, {}; by {}.\n\n{}\n\nGood: {}\n",
        metric.name,
        metric.kind.as_str(),
        metric.unit.as_str(),
        servers.join(", "),
        metric.says,
        metric.good
    );
    if !metric.labels.is_empty() {
        text.push_str("\n| label | values |\n| --- | --- |\n");
        for label in metric.labels {
            let _ = writeln!(text, "| `{}` | {} |", label.name, values(label));
        }
    }
    if let Kind::Histogram(bounds) = metric.kind {
        let bounds: Vec<String> = bounds.iter().map(f64::to_string).collect();
        let _ = write!(text, "\nBuckets up to {}.\n", bounds.join(", "));
    }
    if let Some(query) = metric.query {
        let _ = write!(text, "\n```\n{query}\n```\n");
    }
    text
}

fn values(label: &Label) -> String {
    match label.values {
        Values::Like(looks, _) => looks.to_owned(),
        Values::Known(known) => {
            let mut values: Vec<&str> = known.iter().flat_map(|(_, values)| values.iter().copied()).collect();
            values.sort_unstable();
            values.dedup();
            values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(", ")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_page_is_as_the_catalogue_says() {
        let written = fs::read_to_string(path().unwrap()).unwrap_or_default();
        assert!(written == page(), "docs/metrics.md is not as the catalogue says; run: cargo xtask metrics");
    }

    #[test]
    fn every_metric_has_its_section() {
        let page = page();
        for metric in GROUPS.iter().flat_map(|group| group.metrics) {
            assert_eq!(page.matches(&format!("### `{}`\n", metric.name)).count(), 1, "{}", metric.name);
        }
    }
}
