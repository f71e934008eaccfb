//! Waiting for a condition, with a deadline.

use std::future::Future;
use std::time::{Duration, Instant};

/// Long enough for anything that happens at all, on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);

/// What `condition` answers; the test fails when that takes longer than `deadline`.
pub(crate) async fn within<T>(deadline: Duration, what: &str, condition: impl Future<Output = T>) -> T {
    match tokio::time::timeout(deadline, condition).await {
        Ok(answer) => answer,
        Err(_) => panic!("{what}: not within {deadline:?}"),
    }
}

/// What `condition` answers; the test fails when that never happens.
pub(crate) async fn until<T>(what: &str, condition: impl Future<Output = T>) -> T {
    within(PATIENCE, what, condition).await
}

/// Until a moment is past, for what is about time itself: a deadline that passes while nobody is there to notice.
pub(crate) async fn until_past(moment: Instant) {
    tokio::time::sleep_until(moment.into()).await;
}
