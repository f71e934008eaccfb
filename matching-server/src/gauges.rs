//! What is shown of one shard, for as long as it is served here.

use metrics::Gauge;
use proto::ShardId;
use service::metrics::UNKNOWN;

/// The gauges of a shard, shared by all who work for it. When the last of them is gone, the gauges are too: the shard is
/// another server's by then, and what was last seen here is no longer true.
pub(crate) struct ShardGauges {
    /// Tickets in the pool.
    pub(crate) pooled: Gauge,
    /// Tickets that the last comparison found in no pool. Not known before the first one.
    pub(crate) unpooled: Gauge,
    /// Messages that wait for the engine.
    pub(crate) inbox_depth: Gauge,
}

impl ShardGauges {
    pub(crate) fn new(shard: ShardId) -> Self {
        let shard = shard.to_string();
        let gauges = Self {
            pooled: metrics::gauge!("dovetail_tickets_pooled", "shard" => shard.clone()),
            unpooled: metrics::gauge!("dovetail_tickets_unpooled", "shard" => shard.clone()),
            inbox_depth: metrics::gauge!("dovetail_engine_inbox_depth", "shard" => shard),
        };
        gauges.pooled.set(0.0);
        gauges.unpooled.set(UNKNOWN);
        gauges.inbox_depth.set(0.0);
        gauges
    }
}

impl Drop for ShardGauges {
    fn drop(&mut self) {
        for gauge in [&self.pooled, &self.unpooled, &self.inbox_depth] {
            gauge.set(UNKNOWN);
        }
    }
}
