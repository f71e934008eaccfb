//! Reconciliation instead of an outbox: what the store says waits is held against the pool, again and again.
//!
//! On taking a shard everything that waits is read; then, every two seconds, what was committed since; and every
//! twenty seconds everything again, both ways. So a lost, late or repeated hint costs seconds, never a ticket.

use std::sync::Arc;
use std::time::Duration;

use proto::{ShardId, Timestamp};
use service::lifecycle::Tasks;
use service::metrics::{UNKNOWN, answer_or_forget};
use store::Store;
use tokio::sync::oneshot;
use tokio::time::MissedTickBehavior;

use crate::Deps;
use crate::inbox::{Comparison, Inbox, Message};

/// How often what was committed lately is compared.
const COMPARE_EVERY: Duration = Duration::from_secs(2);
/// Every how many comparisons everything is compared.
const COMPLETE_EVERY: u32 = 10;
/// How far a comparison reaches back before the last one: longer than a commit can take to be seen.
const OVERLAP: Duration = Duration::from_secs(5);
/// The most tickets read and handed over at once.
const READ_BATCH: usize = 500;

/// Starts comparing a shard.
pub(crate) fn start(tasks: &Tasks, deps: &Deps, shard: ShardId, inbox: Inbox) {
    tasks.spawn_endless("reconciliation", run(deps.clone(), shard, inbox));
}

async fn run(deps: Deps, shard: ShardId, inbox: Inbox) {
    let mut tick = tokio::time::interval(COMPARE_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    // The moment up to which everything has been compared; `None` until the first comparison, a complete one.
    let mut compared_to: Option<Timestamp> = None;
    let mut round = 0_u32;
    loop {
        tick.tick().await;
        let complete = round.is_multiple_of(COMPLETE_EVERY);
        let asked_at = deps.clock.now();
        let since = compared_to.filter(|_| !complete).map(|moment| moment.minus(OVERLAP));
        let comparing = compare(&deps.store, shard, &inbox, since, asked_at);
        match answer_or_forget(comparing, || inbox.gauges().unpooled.set(UNKNOWN)).await {
            Ok(()) => {
                compared_to = Some(asked_at);
                round += 1;
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(
                    shard = shard.0,
                    error,
                    "cannot compare the pool with the store; trying again"
                );
            }
        }
    }
}

/// Compares what was committed since a moment, or everything.
async fn compare(
    store: &Arc<dyn Store>,
    shard: ShardId,
    inbox: &Inbox,
    since: Option<Timestamp>,
    asked_at: Timestamp,
) -> store::Result<()> {
    let waiting = store.waiting_ids(shard, since.unwrap_or(Timestamp::from_millis(0))).await?;
    let complete_before = since.is_none().then(|| asked_at.minus(OVERLAP));
    let (missing, answer) = oneshot::channel();
    if !inbox.send(Message::Compare(Comparison { waiting, complete_before, missing })).await {
        return Ok(());
    }
    let missing = answer.await.unwrap_or_default();
    #[allow(clippy::cast_precision_loss, reason = "far below 2^52")]
    inbox.gauges().unpooled.set(missing.len() as f64);
    for ids in missing.chunks(READ_BATCH) {
        let tickets = store.pool_tickets(ids).await?;
        if !tickets.is_empty() && !inbox.send(Message::Admit(tickets)).await {
            break;
        }
    }
    Ok(())
}
