//! Queues and exchanges, as data: what RabbitMQ is told by `rabbitmq/definitions.json`, and what a server may rely on.
//!
//! A queue's only argument is its type. Everything else is a policy, since arguments can never be changed, differ from
//! RabbitMQ 3.10 to 4, and end a channel with a 406 where they differ. A test holds the file against this page.

use std::time::Duration;

use crate::ShardId;

/// The virtual host that everything lives in: the one every RabbitMQ has.
pub const VIRTUAL_HOST: &str = "/";

/// What the queue of a shard begins with.
pub const SHARD_QUEUE_PREFIX: &str = "tickets.shard.";

/// The queue that carries hints to the engine of one shard, such as `tickets.shard.00`.
pub fn shard_queue(shard: ShardId) -> String {
    format!("{SHARD_QUEUE_PREFIX}{shard}")
}

/// Where undecodable messages go, as they were, with [`DEAD_REASON_HEADER`] and [`DEAD_QUEUE_HEADER`].
pub const DEAD_QUEUE: &str = "tickets.dead";

/// Why a message was undecodable: a text for people.
pub const DEAD_REASON_HEADER: &str = "dovetail-reason";

/// The queue that an undecodable message was taken from.
pub const DEAD_QUEUE_HEADER: &str = "dovetail-queue";

/// The exchange that batches of matches are published to. Durable; every queue bound to it gets every batch.
pub const MATCHES_EXCHANGE: &str = "matches";

/// The kind of [`MATCHES_EXCHANGE`]. Who consumes matches wants all of them; a routing key would name nobody.
pub const MATCHES_EXCHANGE_KIND: &str = "fanout";

/// What the queue of a consumer of matches begins with, such as `matches.push`: the policy applies to those.
pub const MATCHES_QUEUE_PREFIX: &str = "matches.";

/// The argument, and the only one, that a queue is declared with, and its value: replicated over the nodes.
pub const QUEUE_TYPE: (&str, &str) = ("x-queue-type", "quorum");

/// Where the leaders of new queues go: spread over the nodes, so that no node carries all of them.
pub const LEADER_LOCATOR: &str = "balanced";

/// How long a hint is kept. The longest a ticket waits by default; reconciliation has found it long before.
pub const HINT_TTL: Duration = Duration::from_secs(60);

/// The most hints in the queue of a shard. One message is outstanding per process and shard, so only a shard that
/// nobody consumes comes near: a minute of 160 messages a second.
pub const SHARD_QUEUE_MAX_LENGTH: u32 = 10_000;

/// The most bytes of hints in the queue of a shard, so that twelve full ones fit on a small node's disk.
pub const SHARD_QUEUE_MAX_BYTES: u32 = 64 * 1024 * 1024;

/// What a full shard queue does: it refuses, so that the publisher knows and counts. Nothing is dropped in silence.
pub const SHARD_QUEUE_OVERFLOW: &str = "reject-publish";

/// How often a message may come back before the broker drops it. A message that breaks its reader would come for ever.
pub const DELIVERY_LIMIT: u32 = 20;

/// The most messages that a consumer of one queue holds unacknowledged. A quorum queue takes 0 for 2,000, so it is
/// always said.
pub const PREFETCH: u16 = 256;

/// How long undecodable messages are kept for somebody to look at: they hold what users wrote, so not for ever.
pub const DEAD_TTL: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// The most undecodable messages that are kept.
pub const DEAD_QUEUE_MAX_LENGTH: u32 = 10_000;

/// What the full queue of undecodable messages does: it forgets the oldest. If it refused, consumers could not get rid
/// of an undecodable message and would stop at it.
pub const DEAD_QUEUE_OVERFLOW: &str = "drop-head";

/// How long a consumer of matches may be away before it misses some.
pub const MATCHES_TTL: Duration = Duration::from_secs(24 * 60 * 60);

/// The most batches of matches that wait for one consumer.
pub const MATCHES_QUEUE_MAX_LENGTH: u32 = 100_000;

/// What the full queue of a consumer of matches does: it forgets the oldest, so that it never holds up the others.
pub const MATCHES_QUEUE_OVERFLOW: &str = "drop-head";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shard_queues_order_by_name() {
        assert_eq!(shard_queue(ShardId(0)), "tickets.shard.00");
        assert_eq!(shard_queue(ShardId(11)), "tickets.shard.11");
    }
}
