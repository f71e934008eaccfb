//! The bound on what waits in a shard: at it, callers are refused before a ticket exists.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use proto::{Problem, ProblemType, ShardId};
use service::metrics::{UNKNOWN, answer_or_forget};
use store::{ShardLoad, Store};
use tokio::time::MissedTickBehavior;

use crate::problem::Refusal;

/// How often the store is asked how much waits.
const COUNT_EVERY: Duration = Duration::from_secs(1);
/// When to try again after a shard was full: about how long its people need to be paired.
const RETRY_AFTER: Duration = Duration::from_secs(5);

/// How much waits in each shard, as last counted, and what was accepted here since.
pub(crate) struct Admission {
    bound: u64,
    waiting: Vec<AtomicU64>,
}

impl Admission {
    pub(crate) fn new(shard_count: u16, bound: usize) -> Self {
        Self { bound: bound as u64, waiting: (0..shard_count).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Refuses when a shard is at its bound.
    pub(crate) fn check(&self, shard: ShardId) -> Result<(), Refusal> {
        if self.waiting[usize::from(shard.0)].load(Ordering::Relaxed) < self.bound {
            return Ok(());
        }
        let problem = Problem::new(
            ProblemType::PoolFull,
            "No ticket was made. Try again after the time in Retry-After.",
        );
        Err(Refusal(problem.with_retry_after(RETRY_AFTER)))
    }

    pub(crate) fn note_accepted(&self, shard: ShardId, tickets: u64) {
        self.waiting[usize::from(shard.0)].fetch_add(tickets, Ordering::Relaxed);
    }

    fn set(&self, loads: &[ShardLoad]) {
        for (n, waiting) in self.waiting.iter().enumerate() {
            let load = loads.iter().find(|load| usize::from(load.shard.0) == n);
            let (count, oldest) = load.map_or((0, Duration::ZERO), |load| (load.waiting, load.oldest_wait));
            waiting.store(count, Ordering::Relaxed);
            #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
            show(n, count as f64, oldest.as_secs_f64());
        }
    }

    /// Shows nothing any more. What was counted last still bounds: it is the best that is known.
    fn forget(&self) {
        (0..self.waiting.len()).for_each(|n| show(n, UNKNOWN, UNKNOWN));
    }
}

fn show(shard: usize, waiting: f64, oldest_seconds: f64) {
    let shard = format!("{shard:02}");
    metrics::gauge!("dovetail_tickets_waiting", "shard" => shard.clone()).set(waiting);
    metrics::gauge!("dovetail_oldest_waiting_seconds", "shard" => shard).set(oldest_seconds);
}

/// Counts for ever.
pub(crate) async fn keep(admission: Arc<Admission>, store: Arc<dyn Store>) {
    let mut tick = tokio::time::interval(COUNT_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        match answer_or_forget(store.waiting_by_shard(), || admission.forget()).await {
            Ok(loads) => admission.set(&loads),
            Err(error) => {
                tracing::warn!(error = &error as &dyn Error, "cannot count what waits; trying again")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_shard_refuses_and_others_do_not() {
        let admission = Admission::new(2, 3);
        admission.set(&[ShardLoad { shard: ShardId(1), waiting: 2, oldest_wait: Duration::ZERO }]);
        assert!(admission.check(ShardId(1)).is_ok());
        admission.note_accepted(ShardId(1), 1);
        let Refusal(problem) = admission.check(ShardId(1)).unwrap_err();
        assert_eq!((problem.status, problem.retry_after), (503, Some(RETRY_AFTER)));
        assert!(admission.check(ShardId(0)).is_ok());
        admission.set(&[]);
        assert!(admission.check(ShardId(1)).is_ok());
    }
}
