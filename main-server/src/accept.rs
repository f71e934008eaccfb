//! Accepting by group commit, and the hints that follow it.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use proto::{Hint, PoolTicket, ShardId, TicketId, Timestamp};
use service::backoff::Backoff;
use service::group_commit::{Bounds, GroupCommit, NotDone};
use service::lifecycle::Tasks;
use store::{Accepted, NewTicket, Store, StoreError};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::admission::Admission;
use crate::problem::Refusal;
use crate::waiters::Waiters;

/// The most requests that wait for the commit in flight. At the bound callers are refused before a ticket exists.
const QUEUE: usize = 16_384;
/// The most tickets in one commit.
const BATCH: usize = 1_000;
/// How often a batch is tried while the store is away, first try included.
const TRIES: u32 = 4;
/// No try begins later than this after the first one: a phone had better hear soon that it must come again. A store that has
/// gone takes some seconds to notice, at each try.
const TRY_FOR: Duration = Duration::from_secs(2);
/// Waits between tries: together well below what a phone waits for an answer.
const RETRY: Backoff = Backoff::new(Duration::from_millis(50), Duration::from_secs(1));

/// Why a request was not accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unaccepted {
    /// The store is away, and nothing was written.
    Unavailable,
    /// The store went away half way.
    OutcomeUnknown,
    /// The store cannot take it.
    Failed,
}

/// Where requests for tickets are handed in.
pub(crate) struct Acceptor {
    group: GroupCommit<NewTicket, Result<Accepted, Unaccepted>>,
}

impl Acceptor {
    /// Commits a ticket together with whatever else arrives now.
    pub(crate) async fn accept(&self, ticket: NewTicket) -> Result<Accepted, Refusal> {
        match self.group.submit(ticket).await {
            Ok(Ok(accepted)) => Ok(accepted),
            Ok(Err(Unaccepted::Unavailable)) | Err(NotDone::Full) => Err(Refusal::store_unavailable()),
            Ok(Err(Unaccepted::OutcomeUnknown)) => Err(Refusal::outcome_unknown()),
            Ok(Err(Unaccepted::Failed)) => Err(Refusal::internal()),
            Err(NotDone::Stopped) => Err(Refusal::draining()),
        }
    }
}

/// Starts accepting.
pub(crate) fn start(
    tasks: &Tasks,
    store: Arc<dyn Store>,
    hints: HintSender,
    admission: Arc<Admission>,
    waiters: Arc<Waiters>,
    pace: Duration,
) -> Acceptor {
    let bounds = Bounds { queue: QUEUE, batch: BATCH, pace };
    let group = GroupCommit::start(tasks, "accept", bounds, move |batch: Arc<[NewTicket]>| {
        let (store, hints) = (Arc::clone(&store), hints.clone());
        let (admission, waiters) = (Arc::clone(&admission), Arc::clone(&waiters));
        async move {
            let outcomes = accept_batch(&*store, &batch).await;
            announce(&*store, &outcomes, &hints, &admission, &waiters);
            outcomes
        }
    });
    Acceptor { group }
}

async fn accept_batch(store: &dyn Store, batch: &[NewTicket]) -> Vec<Result<Accepted, Unaccepted>> {
    let mut backoff = RETRY;
    let mut unaccepted = Unaccepted::Unavailable;
    let began = Instant::now();
    for last in (0..TRIES).rev() {
        match store.accept(batch).await {
            Ok(accepted) => return accepted.into_iter().map(Ok).collect(),
            Err(error) if error.is_transient() => {
                if matches!(error, StoreError::OutcomeUnknown(_)) {
                    unaccepted = Unaccepted::OutcomeUnknown;
                }
                tracing::warn!(
                    error = &error as &dyn Error,
                    tickets = batch.len(),
                    tries_left = last,
                    "cannot accept"
                );
                if last == 0 || began.elapsed() > TRY_FOR {
                    break;
                }
                tokio::time::sleep(backoff.next_wait()).await;
            }
            Err(error) if batch.len() == 1 => {
                tracing::error!(error = &error as &dyn Error, "a ticket cannot be accepted");
                return vec![Err(Unaccepted::Failed)];
            }
            Err(error) => {
                // A bad row must not fail its neighbours.
                tracing::error!(
                    error = &error as &dyn Error,
                    "a batch cannot be accepted; trying each alone"
                );
                let mut outcomes = Vec::with_capacity(batch.len());
                for ticket in batch {
                    outcomes.extend(Box::pin(accept_batch(store, std::slice::from_ref(ticket))).await);
                }
                return outcomes;
            }
        }
    }
    vec![Err(unaccepted); batch.len()]
}

/// Counts what was committed and tells the engines.
fn announce(
    store: &dyn Store,
    outcomes: &[Result<Accepted, Unaccepted>],
    hints: &HintSender,
    admission: &Admission,
    waiters: &Waiters,
) {
    let mut by_shard: BTreeMap<ShardId, Vec<PoolTicket>> = BTreeMap::new();
    for outcome in outcomes {
        if let Ok(Accepted::Created { ticket, pool }) = outcome {
            // Before the hint: no word of it can have come yet.
            waiters.note_created(pool.user.clone(), ticket.clone());
            by_shard.entry(store.rules().shard_of(&pool.region)).or_default().push(pool.clone());
        }
    }
    for (shard, waiting) in by_shard {
        admission.note_accepted(shard, waiting.len() as u64);
        hints.send(Hint { shard, waiting, withdrawn: Vec::new() });
    }
}

/// Sends hints without ever waiting: a hint that finds no room is dropped and counted, and reconciliation makes up
/// for it.
#[derive(Clone)]
pub(crate) struct HintSender(mpsc::Sender<Hint>);

impl HintSender {
    pub(crate) fn new(hints: mpsc::Sender<Hint>) -> Self {
        Self(hints)
    }

    pub(crate) fn send(&self, hint: Hint) {
        if self.0.try_send(hint).is_err() {
            metrics::counter!("dovetail_hints_dropped_total", "at" => "api").increment(1);
        }
    }

    pub(crate) fn withdraw(&self, shard: ShardId, id: TicketId, expires_at: Timestamp) {
        self.send(Hint { shard, waiting: Vec::new(), withdrawn: vec![(id, expires_at)] });
    }
}
