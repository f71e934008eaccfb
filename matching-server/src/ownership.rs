//! Which shards this process holds: a fair share of them, by leases in the store.
//!
//! Once a second it says that it runs, reads who else does, takes what it may hold and gives back what is too much. A lease
//! is for balance, not for safety: two owners for a moment only waste proposals, since the store decides. So an error
//! changes nothing here; a pool is dropped only when the store says that another owns the shard.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt as _};
use proto::ShardId;
use service::amqp::Consumers;
use service::lifecycle::Tasks;
use service::membership::{forget_unowned, show_unowned};
use service::metrics::answer_or_forget;
use store::{Member, Members, Roster};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::Deps;
use crate::held::Held;
use crate::settler::Settler;
use crate::share::fair_share;

/// How often leases are renewed: three times within their life.
const RENEW_EVERY: Duration = Duration::from_secs(1);

/// What a process needs to hold shards.
pub(crate) struct Ownership {
    pub(crate) tasks: Tasks,
    pub(crate) deps: Deps,
    pub(crate) settler: Settler,
    pub(crate) members: Arc<dyn Members>,
    pub(crate) member: Member,
    /// `None`: shards live by reconciliation alone.
    pub(crate) consumers: Option<Consumers>,
}

/// What it holds now.
#[derive(Default)]
struct Holdings {
    held: BTreeMap<ShardId, Held>,
    /// Being let go; the lease is ours until that is done.
    leaving: BTreeSet<ShardId>,
    /// One for each of `leaving`.
    departures: FuturesUnordered<BoxFuture<'static, ShardId>>,
}

impl Holdings {
    fn let_go(&mut self, shard: ShardId) {
        if let Some(held) = self.held.remove(&shard) {
            self.leaving.insert(shard);
            self.departures.push(Box::pin(held.let_go()));
        }
    }
}

impl Ownership {
    /// Runs until told to stop; then lets go of everything, so that others need not wait for leases to run out.
    pub(crate) async fn run(self, stop: CancellationToken) {
        let mut holdings = Holdings::default();
        let mut tick = tokio::time::interval(RENEW_EVERY);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                () = stop.cancelled() => break,
                Some(shard) = holdings.departures.next() => {
                    holdings.leaving.remove(&shard);
                    self.give_back(shard).await;
                }
                _ = tick.tick() => match answer_or_forget(self.members.renew(&self.member), forget_unowned).await {
                    Ok(roster) => self.follow(&roster, &mut holdings).await,
                    Err(error) => {
                        let (error, shards) = (&error as &dyn Error, holdings.held.len());
                        tracing::warn!(error, shards, "cannot renew the leases; keeping the pools");
                    }
                },
            }
            report_owned(holdings.held.len());
        }
        for shard in holdings.held.keys().copied().collect::<Vec<_>>() {
            holdings.let_go(shard);
        }
        while holdings.departures.next().await.is_some() {}
        report_owned(0);
        match self.members.leave(self.member.owner).await {
            Ok(()) => tracing::info!("gave back all shards"),
            Err(error) => {
                let error = &error as &dyn Error;
                tracing::warn!(
                    error,
                    "cannot give back the shards; others take them when the leases run out"
                );
            }
        }
    }

    /// Brings what is held into line with what the store says.
    async fn follow(&self, roster: &Roster, holdings: &mut Holdings) {
        let shard_count = self.deps.store.rules().shard_count;
        show_unowned(roster, shard_count);
        let owner = self.member.owner;
        let mine: BTreeSet<ShardId> =
            roster.leases.iter().filter(|lease| lease.owner == owner).map(|lease| lease.shard).collect();
        for shard in holdings.held.keys().copied().filter(|shard| !mine.contains(shard)).collect::<Vec<_>>() {
            let elsewhere = roster.leases.iter().any(|lease| lease.shard == shard);
            let why =
                if elsewhere { "another server owns it" } else { "the lease ran out before it was renewed" };
            tracing::warn!(shard = shard.0, why, "no longer holds a shard; dropping its pool");
            holdings.let_go(shard);
        }
        // Ours without our knowing: the answer to taking it, or to giving it back, was lost.
        for shard in mine {
            self.hold(shard, holdings);
        }
        let share = fair_share(&roster.matching_servers, owner, shard_count);
        for shard in holdings.held.keys().copied().skip(share).collect::<Vec<_>>() {
            tracing::info!(shard = shard.0, share, "handing over a shard");
            holdings.let_go(shard);
        }
        let room = share.saturating_sub(holdings.held.len() + holdings.leaving.len());
        if let Ok(room @ 1..) = u16::try_from(room) {
            match self.members.take_shards(owner, room).await {
                Ok(taken) => taken.into_iter().for_each(|shard| self.hold(shard, holdings)),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn Error, "cannot take shards; trying again")
                }
            }
        }
    }

    fn hold(&self, shard: ShardId, holdings: &mut Holdings) {
        if holdings.held.contains_key(&shard) || holdings.leaving.contains(&shard) {
            return;
        }
        match Held::take(&self.tasks, &self.deps, shard, self.settler.clone(), self.consumers.as_ref()) {
            Ok(held) => {
                tracing::info!(shard = shard.0, "took a shard");
                holdings.held.insert(shard, held);
            }
            // Not to be expected: the policy was checked when the process started.
            Err(error) => {
                tracing::error!(error = &error as &dyn Error, shard = shard.0, "cannot serve a shard");
            }
        }
    }

    async fn give_back(&self, shard: ShardId) {
        // Nothing happens to a lease that another server holds by now.
        if let Err(error) = self.members.release_shards(self.member.owner, &[shard]).await {
            tracing::warn!(error = &error as &dyn Error, shard = shard.0, "cannot give back a shard");
        }
    }
}

fn report_owned(shards: usize) {
    #[allow(clippy::cast_precision_loss, reason = "at most the shard count")]
    metrics::gauge!("dovetail_shards_owned").set(shards as f64);
}
