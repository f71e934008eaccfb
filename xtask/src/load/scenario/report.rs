//! The report of a run: its figures as JSON. All come from Prometheus but what only k6 can know, how many it did not send.

use serde::Serialize;

use super::observed::{Observed, PARTS};
use super::sent::Sent;
use super::series::peak;
use crate::load::histogram::Histogram;

/// What `report.json` holds.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Report {
    pub(super) accepted: u64,
    /// Refused with 429 or 503.
    pub(super) rejected: u64,
    /// From k6.
    pub(super) dropped_iterations: u64,
    /// Of what was accepted; null when nothing was.
    pub(super) matched_share: Option<f64>,
    /// From the request's head until its answer, by linear reading within buckets.
    pub(super) accept_ms: Percentiles,
    /// From a ticket's creation to its match, by linear reading within buckets.
    pub(super) wait_ms: Percentiles,
    /// The most messages in all shard queues together, waiting for a consumer.
    pub(super) peak_ready: u64,
    /// The most tickets waiting in the store.
    pub(super) peak_waiting: u64,
    pub(super) cpu_cores: CpuCores,
    pub(super) accepted_per_second: MeanPeak,
}

/// Null when there was nothing to time.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct Percentiles {
    pub(super) p50: Option<f64>,
    pub(super) p95: Option<f64>,
    pub(super) p99: Option<f64>,
}

/// Processors in use, by part; null for one that Prometheus did not see.
#[derive(Debug, Clone, Serialize)]
pub(super) struct CpuCores {
    pub(super) main_server: Option<MeanPeak>,
    pub(super) matching_server: Option<MeanPeak>,
    pub(super) rabbitmq: Option<MeanPeak>,
    pub(super) postgres: Option<MeanPeak>,
    pub(super) redis: Option<MeanPeak>,
    pub(super) k6: Option<MeanPeak>,
}

/// The mean while requests were sent, and the highest second of the whole run.
#[derive(Debug, Clone, Copy, Serialize)]
pub(super) struct MeanPeak {
    pub(super) mean: f64,
    pub(super) peak: f64,
}

impl Report {
    pub(super) fn new(observed: &Observed, sent: &Sent) -> Self {
        let cpu = |part: &str| {
            let found = observed.cpu.iter().find(|cpu| cpu.part == part)?;
            Some(MeanPeak { mean: found.mean, peak: peak(&found.cores) })
        };
        Self {
            accepted: whole(observed.accepted),
            rejected: whole(observed.rejected),
            dropped_iterations: sent.dropped_iterations,
            matched_share: (observed.accepted > 0.0).then(|| observed.matched / observed.accepted),
            accept_ms: Percentiles::of(&observed.accept_seconds),
            wait_ms: Percentiles::of(&observed.wait_seconds),
            peak_ready: whole(peak(&observed.ready)),
            peak_waiting: whole(peak(&observed.waiting)),
            cpu_cores: CpuCores {
                main_server: cpu("main_server"),
                matching_server: cpu("matching_server"),
                rabbitmq: cpu("rabbitmq"),
                postgres: cpu("postgres"),
                redis: cpu("redis"),
                k6: cpu("k6"),
            },
            accepted_per_second: MeanPeak {
                mean: observed.accepted_per_second_mean,
                peak: peak(&observed.accepted_per_second),
            },
        }
    }

    /// The parts that Prometheus should have seen and did not.
    pub(super) fn unseen_parts(&self) -> Vec<&'static str> {
        let cores = PARTS.iter().zip(self.cpu_cores.each());
        cores.filter(|(_, cores)| cores.is_none()).map(|((part, _), _)| *part).collect()
    }
}

impl CpuCores {
    /// In the order of `PARTS`.
    pub(super) fn each(&self) -> [Option<MeanPeak>; 6] {
        [self.main_server, self.matching_server, self.rabbitmq, self.postgres, self.redis, self.k6]
    }
}

impl Percentiles {
    /// In milliseconds, of a histogram of seconds.
    fn of(seconds: &Histogram) -> Self {
        let at = |share: f64| seconds.percentile(share).map(|seconds| seconds * 1_000.0);
        Self { p50: at(0.5), p95: at(0.95), p99: at(0.99) }
    }
}

/// A count, which Prometheus keeps as a floating-point number.
pub(super) fn whole(count: f64) -> u64 {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let whole = count.round().max(0.0) as u64;
    whole
}
