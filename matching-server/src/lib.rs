//! The matching server: one engine task per held shard, settling by group commit, reconciliation with the store.
//!
//! A hint from an API server, or reconciliation, brings a ticket to its shard's inbox; the [`shard`] task alone
//! touches the engine; what the engine proposes goes through the [`settler`] to the store, which decides.
//! Nothing here is the truth: every pool may be dropped at any moment and read again.
//!
//! One process alone holds every shard ([`start`]); processes beside each other share them by leases ([`start_leased`]).

mod announcer;
mod convert;
mod dispatch;
mod gauges;
mod held;
mod inbox;
mod intake;
mod ownership;
mod reconcile;
mod settler;
mod shard;
mod share;

use std::sync::Arc;
use std::time::Duration;

use matching_engine::{InvalidPolicy, Policy};
use proto::{Hint, ShardId, TicketId};
use service::amqp::{Consumers, Publisher};
use service::clock::StoreClock;
use service::lifecycle::Tasks;
use store::{Member, Members, Store};
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
    /// Told of every ticket that settles here, a batch at a time, if somebody passes it on. Bounded by its maker; a lost batch
    /// costs a second.
    pub wakeups: Option<mpsc::Sender<Vec<TicketId>>>,
}

/// What one of several processes shares the shards by.
pub struct Cluster {
    /// Where the leases are.
    pub members: Arc<dyn Members>,
    /// This process.
    pub member: Member,
    /// The queues of the shards. Without them shards live by reconciliation alone.
    pub consumers: Option<Consumers>,
    /// Where matches are announced, if they are.
    pub publisher: Option<Publisher>,
}

/// Starts an engine for every shard, fed by `hints` and by reconciliation.
///
/// When `tasks` are told to stop, engines propose nothing more and settlements in flight are finished.
///
/// # Errors
/// When the policy makes no sense.
pub fn start(tasks: &Tasks, deps: &Deps, hints: mpsc::Receiver<Hint>) -> Result<(), InvalidPolicy> {
    let shard_count = deps.store.rules().shard_count;
    let settler = settler::start(tasks, deps, None);
    let mut inboxes = Vec::with_capacity(shard_count.into());
    for shard in (0..shard_count).map(ShardId) {
        let inbox = shard::start(tasks, deps, shard, settler.clone())?;
        reconcile::start(tasks, deps, shard, inbox.clone());
        inboxes.push(inbox);
    }
    metrics::gauge!("dovetail_shards_owned").set(f64::from(shard_count));
    metrics::gauge!("dovetail_shards_unowned").set(0.0);
    tasks.spawn_endless("hint dispatch", dispatch::run(hints, inboxes));
    Ok(())
}

/// Starts an engine for each shard that this process holds, as long as it holds it.
///
/// When `tasks` are told to stop, all shards are let go, each after its settlements in flight, and given back.
///
/// # Errors
/// When the policy makes no sense.
pub fn start_leased(tasks: &Tasks, deps: &Deps, cluster: Cluster) -> Result<(), InvalidPolicy> {
    deps.policy.validate()?;
    let Cluster { members, member, consumers, publisher } = cluster;
    // What the engines hand in on their way out is still written: these stop after the shards.
    let behind = tasks.subgroup();
    let made = publisher.map(|publisher| announcer::start(&behind, Arc::clone(&deps.store), publisher));
    let settler = settler::start(&behind, deps, made);
    let (tasks, deps, stop) = (tasks.clone(), deps.clone(), tasks.stop_token());
    let group = tasks.clone();
    group.spawn("ownership", async move {
        ownership::Ownership { tasks, deps, settler, members, member, consumers }.run(stop).await;
        behind.stop(STOP_DEADLINE).await;
    });
    Ok(())
}

/// How long settling and announcing may take to finish once no shard is held any more.
const STOP_DEADLINE: Duration = Duration::from_secs(5);
