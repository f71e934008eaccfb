//! `cargo xtask load --stack`: what the stack of `cargo xtask up` costs and how deep its queues get under the trace.
//!
//! CPU is read from the kernel for each program and all that it started; queue depths from RabbitMQ's own metrics, several
//! times a second; the pooling delay from the matching servers' histograms.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde::Serialize;
use testkit::http::get;
use tokio::time::MissedTickBehavior;

use super::play::{Generator, Played, Report};
use super::summary::{self, Row, Sample, count};
use super::usage;
use crate::load::histogram::Histogram;
use crate::stack::Running;

/// How often the queues are looked at. Their gauges are refreshed every 200 ms (`quorum_tick_interval`).
const LOOK_EVERY: Duration = Duration::from_millis(100);
const READY: &str = "rabbitmq_detailed_queue_messages_ready";
const UNACKNOWLEDGED: &str = "rabbitmq_detailed_queue_messages_unacked";
const QUEUES: &str = "/metrics/detailed?family=queue_coarse_metrics";
const POOLING_DELAY: &str = "dovetail_pooling_delay_seconds_bucket";

/// The parts of the stack that CPU is told of, and what their programs' names begin with.
const PARTS: [(&str, &str); 5] = [
    ("main-servers", "main-server"),
    ("matching-servers", "matching-server"),
    ("RabbitMQ", "rabbit"),
    ("Postgres", "postgres"),
    ("Redis", "redis"),
];

/// One play of the trace against the stack.
#[derive(Debug, Serialize)]
pub(super) struct ClusterSample {
    pub(super) report: Report,
    pub(super) faulty: bool,
    /// User and kernel time of each part, from before the first request until the last phone was done.
    pub(super) cpu_seconds: BTreeMap<&'static str, f64>,
    /// The most messages over all shard queues that waited at one time.
    pub(super) peak_ready: u64,
    /// The most that waited or were held by a consumer at one time.
    pub(super) peak_messages: u64,
    /// From a ticket's commit to its engine, the 99th percentile, by linear reading of the histogram. Seconds.
    pub(super) pooling_delay_p99: Option<f64>,
    /// From the last request to the last settled ticket.
    pub(super) drain_seconds: f64,
}

/// The stack, then the bare servers.
#[derive(Debug, Serialize)]
pub(super) struct ClusterRun {
    /// The machine's load average before.
    pub(super) busy: f64,
    pub(super) cluster: ClusterSample,
    /// As for a standalone server.
    pub(super) holding: Sample,
    /// As for a standalone server.
    pub(super) at_once: Sample,
}

impl ClusterRun {
    /// What never may happen and did.
    pub(super) fn faults(&self) -> Vec<String> {
        let mut faults = summary::faults("the stack", &self.cluster.report, self.cluster.faulty);
        faults.extend(summary::faults_of_bare(&self.holding, &self.at_once));
        faults
    }

    fn cpu(&self, part: &str) -> Option<f64> {
        self.cluster.cpu_seconds.get(part).copied()
    }
}

pub(super) const ROWS: &[Row<ClusterRun>] = &[
    Row("accepted", 0, |run| count(run.cluster.report.accepted)),
    Row("rejected", 0, |run| count(run.cluster.report.rejected)),
    Row("accept p50 ms", 1, |run| run.cluster.report.accept_ms.p50),
    Row("accept p99 ms", 1, |run| run.cluster.report.accept_ms.p99),
    Row("wait p50 ms", 0, |run| run.cluster.report.wait_ms.p50),
    Row("wait p99 ms", 0, |run| run.cluster.report.wait_ms.p99),
    Row("matched share", 4, |run| {
        let report = &run.cluster.report;
        (report.accepted > 0).then(|| report.matched as f64 / report.accepted as f64)
    }),
    Row("expired", 0, |run| count(run.cluster.report.expired)),
    Row("similarity sum", 1, |run| Some(run.cluster.report.similarity_sum)),
    Row("drain s", 2, |run| Some(run.cluster.drain_seconds)),
    Row("peak ready", 0, |run| count(run.cluster.peak_ready)),
    Row("peak ready + unacked", 0, |run| count(run.cluster.peak_messages)),
    Row("pooling delay p99 ms", 0, |run| run.cluster.pooling_delay_p99.map(|seconds| seconds * 1_000.0)),
    Row("retries", 0, |run| count(run.cluster.report.retries)),
    Row("send lag p99 ms", 1, |run| run.cluster.report.send_lag_ms.p99),
    Row("main-servers CPU s", 2, |run| run.cpu("main-servers")),
    Row("matching CPU s", 2, |run| run.cpu("matching-servers")),
    Row("RabbitMQ CPU s", 2, |run| run.cpu("RabbitMQ")),
    Row("Postgres CPU s", 2, |run| run.cpu("Postgres")),
    Row("Redis CPU s", 2, |run| run.cpu("Redis")),
    Row("bare, polls held, s", 2, |run| Some(run.holding.cpu_seconds)),
    Row("bare, at once, s", 2, |run| Some(run.at_once.cpu_seconds)),
    Row("main / bare, polls held", 2, |run| Some(run.cpu("main-servers")? / run.holding.cpu_seconds)),
    Row("main / bare, at once", 2, |run| Some(run.cpu("main-servers")? / run.at_once.cpu_seconds)),
    Row("machine load before", 2, |run| Some(run.busy)),
];

/// Plays the trace against the running stack.
pub(super) async fn sample(
    generator: &Generator<'_>,
    stack: &Running,
    files: &Path,
) -> anyhow::Result<ClusterSample> {
    let (cpu_before, pooled_before) = (cpu_seconds(stack)?, pooling_delays(stack).await?);
    let mut peaks = Peaks::default();
    let urls = stack.main_urls.join(",");
    let playing = generator.play(&urls, stack.jwt_secret_file.as_deref(), files);
    let Played { report, faulty } = tokio::select! {
        played = playing => played?,
        watched = watch(stack, &mut peaks) => match watched {
            Ok(never) => match never {},
            Err(error) => return Err(error),
        },
    };
    let mut cpu_seconds = cpu_seconds(stack)?;
    for (part, seconds) in &mut cpu_seconds {
        *seconds -= cpu_before.get(part).copied().unwrap_or_default();
    }
    let pooled = pooling_delays(stack).await?;
    let drain_seconds = report.elapsed_seconds - generator.trace.seconds();
    Ok(ClusterSample {
        report,
        faulty,
        cpu_seconds,
        peak_ready: peaks.ready,
        peak_messages: peaks.messages,
        pooling_delay_p99: pooled.since(&pooled_before).percentile(0.99),
        drain_seconds,
    })
}

fn cpu_seconds(stack: &Running) -> anyhow::Result<BTreeMap<&'static str, f64>> {
    let processes = usage::processes()?;
    let mut seconds = BTreeMap::new();
    for (part, begins) in PARTS {
        let of_part = stack.programs.iter().filter(|(name, _)| name.starts_with(begins));
        let mut total = Duration::ZERO;
        for (_, pid) in of_part {
            total += usage::cpu_time_with_children(&processes, *pid)?;
        }
        seconds.insert(part, total.as_secs_f64());
    }
    Ok(seconds)
}

#[derive(Default)]
struct Peaks {
    ready: u64,
    messages: u64,
}

/// Looks at the queues until it is dropped.
async fn watch(stack: &Running, peaks: &mut Peaks) -> anyhow::Result<std::convert::Infallible> {
    let mut tick = tokio::time::interval(LOOK_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        // Each node tells of the queues that it leads.
        let (mut ready, mut unacknowledged) = (0, 0);
        for port in &stack.rabbitmq_ports {
            let (status, text) = get(*port, QUEUES).await.context("RabbitMQ does not tell of its queues")?;
            if status != 200 {
                bail!("RabbitMQ answers {status} for {QUEUES}");
            }
            ready += messages(&text, READY);
            unacknowledged += messages(&text, UNACKNOWLEDGED);
        }
        peaks.ready = peaks.ready.max(ready);
        peaks.messages = peaks.messages.max(ready + unacknowledged);
    }
}

/// The sum of a gauge over the shard queues.
fn messages(text: &str, gauge: &str) -> u64 {
    let of_shards = text
        .lines()
        .filter(|line| line.starts_with(gauge) && line.contains("queue=\"tickets.shard."))
        .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok());
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count of messages")]
    let sum = of_shards.sum::<f64>() as u64;
    sum
}

/// How long tickets took from their commit to their engine, since the servers started.
async fn pooling_delays(stack: &Running) -> anyhow::Result<Histogram> {
    let mut delays = Histogram::default();
    for port in &stack.matching_admin_ports {
        let (_, text) = get(*port, "/metrics").await.context("a matching server does not answer")?;
        add_buckets(&mut delays, &text);
    }
    Ok(delays)
}

fn add_buckets(delays: &mut Histogram, text: &str) {
    for line in text.lines() {
        let Some((labels, count)) = line.strip_prefix(POOLING_DELAY).and_then(|rest| rest.rsplit_once(' '))
        else {
            continue;
        };
        let bound = labels.split_once("le=\"").and_then(|(_, rest)| rest.split_once('"'));
        if let (Some((bound, _)), Ok(count)) = (bound, count.parse()) {
            delays.add_written(bound, count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_shard_queues_are_added_up_and_no_others() {
        let text = "# TYPE x\n\
            rabbitmq_detailed_queue_messages_ready{vhost=\"/\",queue=\"tickets.shard.06\"} 4\n\
            rabbitmq_detailed_queue_messages_ready{vhost=\"/\",queue=\"tickets.shard.07\"} 2\n\
            rabbitmq_detailed_queue_messages_ready{vhost=\"/\",queue=\"tickets.dead\"} 9\n";
        assert_eq!((messages(text, READY), messages(text, UNACKNOWLEDGED)), (6, 0));
    }

    #[test]
    fn the_pooling_delay_is_read_from_its_buckets() {
        let text = format!(
            "{POOLING_DELAY}{{le=\"0.1\"}} 50\n{POOLING_DELAY}{{le=\"0.2\"}} 100\n\
             {POOLING_DELAY}{{le=\"+Inf\"}} 100\nother_bucket{{le=\"0.1\"}} 9\n"
        );
        let mut delays = Histogram::default();
        add_buckets(&mut delays, &text);
        assert_eq!(delays.percentile(0.5), Some(0.1));
        assert_eq!(delays.percentile(1.0), Some(0.2));
    }
}
