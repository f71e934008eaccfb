//! Says once a second that this process runs, for processes that hold no shards.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use store::{Member, Members, Roster};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::metrics::{UNKNOWN, answer_or_forget};

/// How often: three times within a member's life.
const RENEW_EVERY: Duration = Duration::from_secs(1);

/// Keeps a membership until told to stop, then ends it; meanwhile counts the shards that nobody owns.
pub async fn keep(members: Arc<dyn Members>, member: Member, shard_count: u16, stop: CancellationToken) {
    let mut tick = tokio::time::interval(RENEW_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(tick.tick()).await.is_some() {
        match answer_or_forget(members.renew(&member), forget_unowned).await {
            Ok(roster) => show_unowned(&roster, shard_count),
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "cannot say that this process runs; trying again"
                );
            }
        }
    }
    if let Err(error) = members.leave(member.owner).await {
        tracing::warn!(
            error = &error as &dyn Error,
            "cannot say that this process ends; it counts a moment longer"
        );
    }
}

/// Shows how many shards nobody owns.
pub fn show_unowned(roster: &Roster, shard_count: u16) {
    let unowned = usize::from(shard_count).saturating_sub(roster.leases.len());
    #[allow(clippy::cast_precision_loss, reason = "at most the shard count")]
    metrics::gauge!("dovetail_shards_unowned").set(unowned as f64);
}

/// Shows no longer how many: the store does not say.
pub fn forget_unowned() {
    metrics::gauge!("dovetail_shards_unowned").set(UNKNOWN);
}
