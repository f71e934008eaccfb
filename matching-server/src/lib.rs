//! The matching server: one engine task per shard, settling by group commit, reconciliation with the store.
//!
//! A hint from an API server, or reconciliation, brings a ticket to its shard's inbox; the [`shard`] task alone
//! touches the engine; what the engine proposes goes through the [`settler`] to the store, which decides.
//! Nothing here is the truth: every pool may be dropped at any moment and read again.

mod convert;
mod dispatch;
mod inbox;
mod reconcile;
mod settler;
mod shard;

use std::sync::Arc;

use matching_engine::{InvalidPolicy, Policy};
use proto::{Hint, ShardId, TicketId};
use service::clock::StoreClock;
use service::lifecycle::Tasks;
use store::Store;
use tokio::sync::mpsc;

/// The most hints that wait to be sorted to their shards.
pub const HINT_QUEUE: usize = 4_096;

/// What the engines of one process work with.
#[derive(Clone)]
pub struct Deps {
    /// The truth.
    pub store: Arc<dyn Store>,
    /// The store's time.
    pub clock: Arc<StoreClock>,
    /// The pairing rule.
    pub policy: Policy,
    /// Told of every ticket that settles here, a batch at a time. Bounded by its maker; a lost batch costs a second.
    pub wakeups: mpsc::Sender<Vec<TicketId>>,
}

/// Starts an engine for every shard, fed by `hints` and by reconciliation.
///
/// When `tasks` are told to stop, engines propose nothing more and settlements in flight are finished.
///
/// # Errors
/// When the policy makes no sense.
pub fn start(tasks: &Tasks, deps: &Deps, hints: mpsc::Receiver<Hint>) -> Result<(), InvalidPolicy> {
    let shard_count = deps.store.rules().shard_count;
    let settler = settler::start(tasks, deps);
    let mut inboxes = Vec::with_capacity(shard_count.into());
    for shard in (0..shard_count).map(ShardId) {
        let inbox = shard::start(tasks, deps, shard, settler.clone())?;
        reconcile::start(tasks, deps, shard, inbox.clone());
        inboxes.push(inbox);
    }
    metrics::gauge!("dovetail_shards_owned").set(f64::from(shard_count));
    tasks.spawn_endless("hint dispatch", dispatch::run(hints, inboxes));
    Ok(())
}
