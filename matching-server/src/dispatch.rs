//! Sorts hints to the shards they are for.

use proto::Hint;
use tokio::sync::mpsc;

use crate::inbox::Inbox;

/// Runs until every sender of hints is gone. `inboxes` are in shard order.
pub(crate) async fn run(mut hints: mpsc::Receiver<Hint>, inboxes: Vec<Inbox>) {
    while let Some(hint) = hints.recv().await {
        let Some(inbox) = inboxes.get(usize::from(hint.shard.0)) else {
            tracing::warn!(shard = hint.shard.0, "a hint names a shard that does not exist");
            metrics::counter!("dovetail_hints_dropped_total", "at" => "dispatch").increment(1);
            continue;
        };
        inbox.offer(hint);
    }
    // The API server beside us has gone. Reconciliation still finds what it committed.
    std::future::pending::<()>().await;
}
