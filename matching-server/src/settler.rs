//! Settling by group commit: proposals of every shard of this process share the store's commits.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use proto::{MatchMade, TicketId};
use service::backoff::Backoff;
use service::group_commit::{Bounds, GroupCommit};
use service::lifecycle::Tasks;
use store::{Proposal, Settlement, Store};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use crate::Deps;

/// The most proposals that wait for the commit in flight. Shards hold the rest back and offer it again.
const BOUNDS: Bounds = Bounds { queue: 16_384, batch: 1_000, pace: Duration::from_millis(40) };
/// How long a shard waits before it offers a proposal again.
const OFFER_AGAIN_AFTER: Duration = Duration::from_millis(50);
/// Waits between tries while the store is away.
const RETRY: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(1));

/// Where shards bring their proposals.
#[derive(Clone)]
pub(crate) struct Settler {
    group: GroupCommit<Proposal, Option<Settlement>>,
}

impl Settler {
    /// The store's answer; `None` when this process stopped before there was one.
    pub(crate) async fn settle(&self, proposal: Proposal) -> Option<Settlement> {
        loop {
            match self.group.submit(proposal).await {
                Ok(settlement) => return settlement,
                Err(service::group_commit::NotDone::Full) => tokio::time::sleep(OFFER_AGAIN_AFTER).await,
                Err(service::group_commit::NotDone::Stopped) => return None,
            }
        }
    }
}

/// Starts settling.
///
/// `made` is told of every match; what finds no room there is announced later, from the store.
pub(crate) fn start(tasks: &Tasks, deps: &Deps, made: Option<mpsc::Sender<Vec<MatchMade>>>) -> Settler {
    let (store, stop) = (Arc::clone(&deps.store), tasks.stop_token());
    let told = Told { wakeups: deps.wakeups.clone(), made };
    let group = GroupCommit::start(tasks, "settle", BOUNDS, move |batch: Arc<[Proposal]>| {
        let (store, told, stop) = (Arc::clone(&store), told.clone(), stop.clone());
        async move {
            let settlements = settle_batch(&*store, &batch, &stop).await;
            told.tell(&batch, &settlements);
            settlements
        }
    });
    Settler { group }
}

/// Settles a batch, however long the store is away. Match ids are fixed, so that a repeat finds what was written.
async fn settle_batch(
    store: &dyn Store,
    batch: &[Proposal],
    stop: &CancellationToken,
) -> Vec<Option<Settlement>> {
    let mut backoff = RETRY;
    loop {
        match store.settle(batch).await {
            Ok(settlements) => return settlements.into_iter().map(Some).collect(),
            Err(error) if error.is_transient() => {
                let wait = backoff.next_wait();
                tracing::warn!(error = &error as &dyn Error, proposals = batch.len(), ?wait, "cannot settle");
                if stop.run_until_cancelled(tokio::time::sleep(wait)).await.is_none() {
                    return vec![None; batch.len()];
                }
            }
            Err(error) if batch.len() == 1 => {
                let (error, Proposal { a, b, .. }) = (&error as &dyn Error, batch[0]);
                tracing::error!(error, %a, %b, "a pair cannot be settled; both leave the pool until they expire");
                return vec![Some(Settlement::Gone { a: true, b: true })];
            }
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn Error,
                    "a batch cannot be settled; trying each pair alone"
                );
                let mut settlements = Vec::with_capacity(batch.len());
                for proposal in batch {
                    let alone = std::slice::from_ref(proposal);
                    settlements.extend(Box::pin(settle_batch(store, alone, stop)).await);
                }
                return settlements;
            }
        }
    }
}

/// Who learns of what was settled. Both are bounded; what finds no room is made up for from the store.
#[derive(Clone)]
struct Told {
    wakeups: Option<mpsc::Sender<Vec<TicketId>>>,
    made: Option<mpsc::Sender<Vec<MatchMade>>>,
}

impl Told {
    /// Counts what was settled, wakes the phones that wait for it and hands the matches to whoever announces them.
    fn tell(&self, batch: &[Proposal], settlements: &[Option<Settlement>]) {
        let (mut settled, mut matches) = (Vec::with_capacity(2 * batch.len()), Vec::new());
        for (proposal, settlement) in batch.iter().zip(settlements) {
            let outcome = match settlement {
                Some(Settlement::Matched { wait_a, wait_b, made }) => {
                    settled.extend([proposal.a, proposal.b]);
                    metrics::histogram!("dovetail_match_wait_seconds").record(*wait_a);
                    metrics::histogram!("dovetail_match_wait_seconds").record(*wait_b);
                    metrics::histogram!("dovetail_match_similarity").record(made.similarity);
                    matches.push(MatchMade::clone(made));
                    "matched"
                }
                Some(Settlement::Gone { .. }) => "gone",
                Some(Settlement::Recent) => "recent",
                Some(Settlement::Blocked) => "blocked",
                None => "unknown",
            };
            metrics::counter!("dovetail_proposals_total", "outcome" => outcome).increment(1);
        }
        if settled.is_empty() {
            return;
        }
        metrics::counter!("dovetail_matches_total").increment(matches.len() as u64);
        metrics::counter!("dovetail_tickets_settled_total", "outcome" => "matched")
            .increment(settled.len() as u64);
        if let Some(wakeups) = &self.wakeups
            && wakeups.try_send(settled).is_err()
        {
            metrics::counter!("dovetail_wakeups_dropped_total", "at" => "settler").increment(1);
        }
        if let Some(made) = &self.made {
            let _ = made.try_send(matches);
        }
    }
}
