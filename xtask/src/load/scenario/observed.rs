//! What Prometheus saw of a run.

use super::prometheus::Prometheus;
use super::sent::Sent;
use super::series::{Series, levels, mean_rate, rates};
use crate::load::histogram::Histogram;

/// The parts that CPU is told of: what they are called here, and in the metrics of prometheus-process-exporter.
pub(super) const PARTS: [(&str, &str); 6] = [
    ("main_server", "main-server"),
    ("matching_server", "matching-server"),
    ("rabbitmq", "rabbitmq"),
    ("postgres", "postgres"),
    ("redis", "redis"),
    ("k6", "k6"),
];

/// What should not happen under load, and the counters that tell of it.
const TROUBLES: [(&str, &str); 8] = [
    ("answers 5xx", "dovetail_http_requests_total{status=~\"5..\"}"),
    ("errors of the store", "dovetail_store_errors_total"),
    ("hints dropped", "dovetail_hints_dropped_total"),
    ("publishes failed", "dovetail_publish_failures_total"),
    ("undecodable messages", "dovetail_messages_undecodable_total"),
    ("wake-ups dropped", "dovetail_wakeups_dropped_total"),
    ("consumers lost", "dovetail_consumers_lost_total"),
    ("warnings and errors logged", "dovetail_log_events_total"),
];

/// Where the versions of what ran are told: whose, the metric, its label.
const VERSIONS: [(&str, &str, &str); 5] = [
    ("Dovetail", "dovetail_build_info", "version"),
    ("RabbitMQ", "rabbitmq_build_info", "rabbitmq_version"),
    ("Postgres", "pg_static", "short_version"),
    ("Redis", "redis_instance_info", "redis_version"),
    ("Prometheus", "prometheus_build_info", "version"),
];

/// The moments of a run, in seconds since 1970.
#[derive(Debug, Clone, Copy)]
pub(super) struct Window {
    /// Before anything was sent, and after Prometheus had scraped everything at rest.
    pub(super) before: f64,
    /// When the first request was due.
    pub(super) started: f64,
    /// When the last request was due.
    pub(super) sent: f64,
    /// When Prometheus had scraped everything at rest again.
    pub(super) ended: f64,
}

impl Window {
    pub(super) fn new(before: f64, sent: &Sent, ended: f64) -> Self {
        let started = sent.started_ms / 1_000.0;
        Self { before, started, sent: started + sent.sending_seconds, ended }
    }
}

/// A part's use of processors.
#[derive(Debug, Clone)]
pub(super) struct Cpu {
    pub(super) part: &'static str,
    /// While requests were sent.
    pub(super) mean: f64,
    /// Second by second.
    pub(super) cores: Vec<(f64, f64)>,
}

/// What Prometheus saw. Lines over time count seconds from the first request.
#[derive(Debug, Clone)]
pub(super) struct Observed {
    pub(super) accepted: f64,
    pub(super) rejected: f64,
    pub(super) matched: f64,
    pub(super) cancelled: f64,
    pub(super) expired: f64,
    pub(super) accept_seconds: Histogram,
    pub(super) wait_seconds: Histogram,
    pub(super) accepted_per_second_mean: f64,
    pub(super) accepted_per_second: Vec<(f64, f64)>,
    pub(super) matches_per_second: Vec<(f64, f64)>,
    pub(super) ready: Vec<(f64, f64)>,
    pub(super) unacknowledged: Vec<(f64, f64)>,
    pub(super) waiting: Vec<(f64, f64)>,
    /// Those that were seen, in the order of `PARTS`.
    pub(super) cpu: Vec<Cpu>,
    /// What should not have happened and did.
    pub(super) troubles: Vec<(&'static str, f64)>,
    pub(super) versions: Vec<(&'static str, String)>,
}

impl Observed {
    pub(super) async fn read(prometheus: &Prometheus, window: &Window) -> anyhow::Result<Self> {
        let asked = Asked { prometheus, window };
        let created = asked.samples("dovetail_tickets_submitted_total{result=\"created\"}").await?;
        let matches = asked.samples("dovetail_matches_total").await?;
        let Window { started, sent, ended, .. } = *window;
        let mut cpu = Vec::new();
        let used = asked.samples("namedprocess_namegroup_cpu_seconds_total").await?;
        for (part, group) in PARTS {
            let of_part: Vec<Series> =
                used.iter().filter(|series| series.label("groupname") == group).cloned().collect();
            if !of_part.is_empty() {
                let mean = mean_rate(&of_part, started, sent);
                cpu.push(Cpu { part, mean, cores: rates(&of_part, started, ended) });
            }
        }
        let mut troubles = Vec::new();
        for (trouble, counter) in TROUBLES {
            let count = asked.increase(counter).await?;
            if count > 0.0 {
                troubles.push((trouble, count));
            }
        }
        Ok(Self {
            accepted: sum_of_increases(&created, window),
            rejected: asked
                .increase(
                    "dovetail_http_requests_total{method=\"POST\",route=\"/v1/tickets\",status=~\"429|503\"}",
                )
                .await?,
            matched: asked.increase("dovetail_tickets_settled_total{outcome=\"matched\"}").await?,
            cancelled: asked.increase("dovetail_tickets_settled_total{outcome=\"cancelled\"}").await?,
            expired: asked.increase("dovetail_tickets_settled_total{outcome=\"expired\"}").await?,
            accept_seconds: asked
                .histogram(
                    "dovetail_http_request_duration_seconds_bucket\
                     {method=\"POST\",route=\"/v1/tickets\",status=\"201\"}",
                )
                .await?,
            wait_seconds: asked.histogram("dovetail_match_wait_seconds_bucket").await?,
            accepted_per_second_mean: mean_rate(&created, started, sent),
            accepted_per_second: rates(&created, started, ended),
            matches_per_second: rates(&matches, started, ended),
            ready: asked.queues("rabbitmq_detailed_queue_messages_ready").await?,
            unacknowledged: asked.queues("rabbitmq_detailed_queue_messages_unacked").await?,
            // Every main-server tells the same count, from the store.
            waiting: levels(&asked.samples("dovetail_tickets_waiting").await?, "shard", started, ended),
            cpu,
            troubles,
            versions: asked.versions().await?,
        })
    }
}

/// The questions about one run.
struct Asked<'a> {
    prometheus: &'a Prometheus,
    window: &'a Window,
}

impl Asked<'_> {
    async fn samples(&self, selector: &str) -> anyhow::Result<Vec<Series>> {
        // A little earlier, for what counters stood at before.
        self.prometheus.samples(selector, self.window.before - 5.0, self.window.ended).await
    }

    async fn increase(&self, selector: &str) -> anyhow::Result<f64> {
        Ok(sum_of_increases(&self.samples(selector).await?, self.window))
    }

    async fn histogram(&self, selector: &str) -> anyhow::Result<Histogram> {
        let mut histogram = Histogram::default();
        for series in self.samples(selector).await? {
            let grown = series.increase(self.window.before, self.window.ended);
            histogram.add_written(series.label("le"), grown);
        }
        Ok(histogram)
    }

    /// Messages in the shard queues. Each node tells of those that it leads.
    async fn queues(&self, gauge: &str) -> anyhow::Result<Vec<(f64, f64)>> {
        let queues = self.samples(&format!("{gauge}{{queue=~\"tickets[.]shard[.].*\"}}")).await?;
        Ok(levels(&queues, "queue", self.window.started, self.window.ended))
    }

    async fn versions(&self) -> anyhow::Result<Vec<(&'static str, String)>> {
        let mut versions = Vec::new();
        for (whose, metric, label) in VERSIONS {
            let told = self.prometheus.at(metric, self.window.ended).await?;
            if let Some(series) = told.iter().find(|series| !series.label(label).is_empty()) {
                versions.push((whose, series.label(label).to_owned()));
            }
        }
        Ok(versions)
    }
}

fn sum_of_increases(counters: &[Series], window: &Window) -> f64 {
    counters.iter().map(|series| series.increase(window.before, window.ended)).sum()
}
