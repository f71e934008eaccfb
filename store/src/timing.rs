//! How long operations take, and how many fail.

use std::future::Future;
use std::time::Instant;

use crate::Result;

/// Runs one operation and records how long it took.
pub(crate) async fn timed<T>(op: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
    let start = Instant::now();
    let outcome = work.await;
    metrics::histogram!("dovetail_store_duration_seconds", "op" => op).record(start.elapsed());
    if outcome.is_err() {
        metrics::counter!("dovetail_store_errors_total", "op" => op).increment(1);
    }
    outcome
}
