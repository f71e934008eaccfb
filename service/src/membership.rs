//! Says once a second that this process runs, for processes that hold no shards.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use store::{Member, Members};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

/// How often: three times within a member's life.
const RENEW_EVERY: Duration = Duration::from_secs(1);

/// Keeps a membership until told to stop, then ends it; meanwhile counts the shards that nobody owns.
pub async fn keep(members: Arc<dyn Members>, member: Member, shard_count: u16, stop: CancellationToken) {
    let mut tick = tokio::time::interval(RENEW_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    while stop.run_until_cancelled(tick.tick()).await.is_some() {
        match members.renew(&member).await {
            Ok(roster) => {
                let unowned = usize::from(shard_count).saturating_sub(roster.leases.len());
                #[allow(clippy::cast_precision_loss, reason = "at most the shard count")]
                metrics::gauge!("dovetail_shards_unowned").set(unowned as f64);
            }
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
