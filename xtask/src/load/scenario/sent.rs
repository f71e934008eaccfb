//! What k6 says of a run: the JSON that `k6/lib/summary.js` writes.

use std::path::Path;

use anyhow::Context as _;
use serde::Deserialize;

/// What the phones of a run saw.
#[derive(Debug, Clone, Deserialize)]
pub(super) struct Sent {
    /// How many were to be sent, within `sending_seconds`.
    pub(super) requests: u64,
    pub(super) sending_seconds: f64,
    /// How many began. k6 may begin a few more than `requests`, which then send nothing.
    pub(super) iterations_started: u64,
    /// When the first request was due, in milliseconds since 1970.
    pub(super) started_ms: f64,
    /// When the last phone was done.
    pub(super) ended_ms: f64,
    /// Requests that k6 was too slow to send.
    pub(super) dropped_iterations: u64,
    pub(super) virtual_users: Option<u64>,
    pub(super) accepted: u64,
    pub(super) existing: u64,
    pub(super) rejected: u64,
    pub(super) matched: u64,
    pub(super) cancelled: u64,
    pub(super) expired: u64,
    /// Tickets whose phone never asked again.
    pub(super) abandoned: u64,
    pub(super) unsettled: u64,
    pub(super) unexpected_answers: u64,
    pub(super) matches_read_again: u64,
    pub(super) users_with_two_matches: u64,
    pub(super) matched_within_5s: Option<f64>,
    pub(super) accept_ms: Spread,
    pub(super) wait_ms: Spread,
    pub(super) failed_thresholds: Vec<String>,
}

/// Null when nothing was timed.
#[derive(Debug, Clone, Copy, Deserialize)]
pub(super) struct Spread {
    pub(super) p50: Option<f64>,
    pub(super) p95: Option<f64>,
    pub(super) p99: Option<f64>,
    pub(super) max: Option<f64>,
}

impl Sent {
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let read = || anyhow::Ok(serde_json::from_str(&std::fs::read_to_string(path)?)?);
        read().with_context(|| format!("cannot read {}, which k6 should have written", path.display()))
    }
}
