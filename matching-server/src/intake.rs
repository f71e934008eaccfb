//! From a shard's queue to its engine: a message is acknowledged once the engine took it.

use proto::{Hint, ShardId, decode, topology};
use service::amqp::{Consumers, Verdict};
use tokio_util::sync::CancellationToken;

use crate::inbox::Inbox;

/// Consumes a shard's queue until told to stop.
pub(crate) async fn run(consumers: Consumers, shard: ShardId, inbox: Inbox, stop: CancellationToken) {
    let take = move |body: Vec<u8>| {
        let inbox = inbox.clone();
        async move { take(shard, &inbox, &body).await }
    };
    consumers.consume(topology::shard_queue(shard), stop, take).await;
}

async fn take(shard: ShardId, inbox: &Inbox, body: &[u8]) -> Verdict {
    match decode::<Hint>(body) {
        Ok(hint) if hint.shard == shard => {
            inbox.hand_over(hint).await;
            Verdict::Taken
        }
        Ok(hint) => {
            Verdict::Undecodable(format!("it is for shard {} but came for shard {shard}", hint.shard))
        }
        Err(error) => Verdict::Undecodable(error.to_string()),
    }
}
