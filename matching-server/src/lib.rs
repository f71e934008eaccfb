//! One engine task per shard, reconciliation and settling.
