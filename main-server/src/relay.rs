//! Hints on their way to RabbitMQ: one message outstanding per shard, the next forms meanwhile.
//!
//! So the message rate is bounded by how fast the broker confirms, whatever the load. A hint that cannot be sent is dropped and
//! counted: its tickets are committed, and reconciliation finds them.

use std::collections::BTreeMap;
use std::error::Error;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use proto::{Hint, ShardId, encode, topology};
use service::amqp::{Outgoing, Publisher};
use tokio::sync::mpsc;

/// The most tickets in one message: some 100 KiB.
const MESSAGE_BATCH: usize = 500;
/// The most tickets that wait for one shard's message. Past it they are left to reconciliation.
const FORMING_BOUND: usize = 10_000;
/// The least time between two messages of a shard. After a longer silence one is sent at once.
const PACE: Duration = Duration::from_millis(100);

/// What waits to be sent to one shard.
#[derive(Default)]
struct Forming {
    hint: Option<Hint>,
    /// Whether a message is outstanding, or was sent less than the pace ago.
    busy: bool,
}

/// Sends hints for ever.
pub async fn relay_hints(mut hints: mpsc::Receiver<Hint>, publisher: Publisher) {
    let mut forming: BTreeMap<ShardId, Forming> = BTreeMap::new();
    let mut outstanding: FuturesUnordered<BoxFuture<'static, ShardId>> = FuturesUnordered::new();
    loop {
        let shard = tokio::select! {
            Some(hint) = hints.recv() => {
                let shard = hint.shard;
                add(forming.entry(shard).or_default(), hint);
                shard
            }
            Some(shard) = outstanding.next() => {
                forming.entry(shard).or_default().busy = false;
                shard
            }
            // The API has gone, and everything was sent.
            else => return std::future::pending().await,
        };
        let shard_forming = forming.entry(shard).or_default();
        if !shard_forming.busy
            && let Some(hint) = take(shard_forming)
        {
            shard_forming.busy = true;
            outstanding.push(Box::pin(send(publisher.clone(), hint)));
        }
    }
}

fn add(forming: &mut Forming, mut hint: Hint) {
    let Some(kept) = &mut forming.hint else {
        forming.hint = Some(hint);
        return;
    };
    let count = hint.waiting.len() + hint.withdrawn.len();
    if kept.waiting.len() + kept.withdrawn.len() + count > FORMING_BOUND {
        dropped(count, "full");
        return;
    }
    kept.waiting.append(&mut hint.waiting);
    kept.withdrawn.append(&mut hint.withdrawn);
}

/// The next message of a shard, no larger than one may be.
fn take(forming: &mut Forming) -> Option<Hint> {
    let mut hint = forming.hint.take()?;
    let waiting = hint.waiting.split_off(hint.waiting.len().min(MESSAGE_BATCH));
    let withdrawn = hint.withdrawn.split_off(hint.withdrawn.len().min(MESSAGE_BATCH));
    if !waiting.is_empty() || !withdrawn.is_empty() {
        forming.hint = Some(Hint { shard: hint.shard, waiting, withdrawn });
    }
    Some(hint)
}

async fn send(publisher: Publisher, hint: Hint) -> ShardId {
    let next = tokio::time::Instant::now() + PACE;
    let message = Outgoing::to_queue(topology::shard_queue(hint.shard), encode(&hint));
    if let Err(error) = publisher.publish(message).await {
        tracing::debug!(error = &error as &dyn Error, shard = hint.shard.0, "cannot send a hint");
        dropped(hint.waiting.len() + hint.withdrawn.len(), "broker");
    }
    tokio::time::sleep_until(next).await;
    hint.shard
}

fn dropped(tickets: usize, at: &'static str) {
    metrics::counter!("dovetail_hints_dropped_total", "at" => at).increment(tickets as u64);
}

#[cfg(test)]
mod tests {
    use super::*;
    use proto::{TicketId, Timestamp};

    fn withdrawn(ids: std::ops::Range<u128>) -> Hint {
        let withdrawn = ids.map(|id| (TicketId::from_u128(id), Timestamp::from_millis(1))).collect();
        Hint { shard: ShardId(3), waiting: Vec::new(), withdrawn }
    }

    #[test]
    fn what_forms_meanwhile_goes_together_in_order_and_bounded() {
        let mut forming = Forming::default();
        assert!(take(&mut forming).is_none());
        add(&mut forming, withdrawn(0..1));
        add(&mut forming, withdrawn(1..700));
        let sent = [take(&mut forming).unwrap(), take(&mut forming).unwrap()];
        assert_eq!(sent.each_ref().map(|hint| hint.withdrawn.len()), [MESSAGE_BATCH, 200]);
        let ids: Vec<u128> =
            sent.iter().flat_map(|hint| &hint.withdrawn).map(|(id, _)| id.as_u128()).collect();
        assert!(ids.into_iter().eq(0..700));
        assert!(take(&mut forming).is_none());
    }

    #[test]
    fn past_the_bound_nothing_is_kept() {
        let mut forming = Forming::default();
        add(&mut forming, withdrawn(0..10_000));
        add(&mut forming, withdrawn(10_000..10_001));
        assert_eq!(forming.hint.unwrap().withdrawn.len(), FORMING_BOUND);
    }
}
