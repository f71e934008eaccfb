//! Phones that wait, and how they learn that their ticket settled.
//!
//! Word comes from whoever settled a ticket; tickets that nobody here waits for are ignored, the others are read
//! again in one query. Word may be lost, so each second all tickets with a waiter are read as well.

use std::collections::HashMap;
use std::error::Error;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proto::{Ticket, TicketId, UserId};
use service::group_commit::{Bounds, GroupCommit};
use service::lifecycle::Tasks;
use store::{OwnedTicket, Store};
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, MissedTickBehavior};

use crate::fresh::Fresh;
use crate::problem::Refusal;

/// Reads of ticket state share queries.
const READ_BOUNDS: Bounds = Bounds { queue: 16_384, batch: 1_000, pace: Duration::from_millis(20) };
/// The most tickets in one query of the reader.
const READ_BATCH: usize = 1_000;
/// How often all tickets with a waiter are read.
const POLL_EVERY: Duration = Duration::from_secs(1);
/// The least time between the beginnings of two looks because of word. After a longer silence one begins at once.
const LOOK_PACE: Duration = Duration::from_millis(40);
/// The most batches of word that one look takes together.
const WORD_BATCH: usize = 256;

/// What one read answers: the ticket if there is one, or nothing when the store failed (which is logged there).
type ReadAnswer = Result<Option<OwnedTicket>, ReadFailed>;

/// The store failed a read.
#[derive(Debug, Clone, Copy)]
struct ReadFailed {
    transient: bool,
}

type Settled = watch::Sender<Option<Ticket>>;

/// Who waits for which ticket.
pub(crate) struct Waiters {
    /// Ended by the [`Changes`] that hold the receivers: the last one takes the entry out.
    waiting: Mutex<HashMap<TicketId, Settled>>,
    reads: GroupCommit<TicketId, ReadAnswer>,
    /// Spares a phone that has just pressed match its first read.
    fresh: Fresh,
    /// How many phones wait.
    phones: metrics::Gauge,
}

/// Starts reading for those who wait. `word` names tickets that settled.
pub(crate) fn start(
    tasks: &Tasks,
    store: Arc<dyn Store>,
    word: mpsc::Receiver<Vec<TicketId>>,
) -> Arc<Waiters> {
    let read_store = Arc::clone(&store);
    let reads = GroupCommit::start(tasks, "read", READ_BOUNDS, move |ids: Arc<[TicketId]>| {
        let store = Arc::clone(&read_store);
        async move { read_batch(&*store, &ids).await }
    });
    let waiters = Arc::new(Waiters {
        waiting: Mutex::default(),
        reads,
        fresh: Fresh::default(),
        phones: metrics::gauge!("dovetail_waiters"),
    });
    tasks.spawn_endless("wake-ups", tell(Arc::clone(&waiters), Arc::clone(&store), word));
    tasks.spawn_endless("wake-up poll", poll(Arc::clone(&waiters), store));
    waiters
}

async fn read_batch(store: &dyn Store, ids: &[TicketId]) -> Vec<ReadAnswer> {
    match store.tickets(ids).await {
        Ok(tickets) => {
            let mut by_id: HashMap<TicketId, OwnedTicket> =
                tickets.into_iter().map(|owned| (owned.ticket.id, owned)).collect();
            // The same ticket may be asked for twice, by two phones of one user.
            let answer = |(n, id): (usize, &TicketId)| match ids[n + 1..].contains(id) {
                true => by_id.get(id).cloned(),
                false => by_id.remove(id),
            };
            ids.iter().enumerate().map(answer).map(Ok).collect()
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn Error, tickets = ids.len(), "cannot read tickets");
            vec![Err(ReadFailed { transient: error.is_transient() }); ids.len()]
        }
    }
}

impl Waiters {
    /// The user's ticket as it is now.
    pub(crate) async fn read(&self, id: TicketId, user: &UserId) -> Result<Ticket, Refusal> {
        match self.reads.submit(id).await {
            Ok(Ok(Some(owned))) if owned.user == *user => Ok(owned.ticket),
            Ok(Ok(_)) => Err(Refusal::no_ticket()),
            Ok(Err(ReadFailed { transient: false })) => Err(Refusal::internal()),
            Ok(Err(ReadFailed { transient: true })) => Err(Refusal::store_unavailable()),
            Err(service::group_commit::NotDone::Full) => Err(Refusal::store_unavailable()),
            Err(service::group_commit::NotDone::Stopped) => Err(Refusal::draining()),
        }
    }

    /// Remembers a ticket that was committed here just now.
    pub(crate) fn note_created(&self, user: UserId, ticket: Ticket) {
        self.fresh.note(user, ticket);
    }

    /// Waits for the user's ticket from now on, and the ticket as it is.
    pub(crate) async fn follow(
        self: &Arc<Self>,
        id: TicketId,
        user: &UserId,
    ) -> Result<(Ticket, Changes), Refusal> {
        // Subscribe, then read: a ticket that settles in between is not missed.
        let changes = self.subscribe(id);
        let ticket = match self.fresh.take(id) {
            Some(owned) if owned.user == *user => owned.ticket,
            Some(_) | None => self.read(id, user).await?,
        };
        Ok((ticket, changes))
    }

    /// Waits for a ticket from now on.
    fn subscribe(self: &Arc<Self>, id: TicketId) -> Changes {
        let mut waiting = self.lock();
        self.phones.increment(1.0);
        let receiver = waiting.entry(id).or_insert_with(|| watch::Sender::new(None)).subscribe();
        Changes { id, receiver, waiters: Arc::clone(self) }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<TicketId, Settled>> {
        // Nothing that panics runs under this lock.
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn all(&self) -> Vec<TicketId> {
        self.lock().keys().copied().collect()
    }

    fn those_waited_for(&self, ids: &[TicketId]) -> Vec<TicketId> {
        let waiting = self.lock();
        ids.iter().filter(|id| waiting.contains_key(id)).copied().collect()
    }

    /// Reads tickets and tells those who wait for the ones that settled.
    async fn look(&self, store: &dyn Store, ids: &[TicketId], path: &'static str) {
        for ids in ids.chunks(READ_BATCH) {
            let tickets = match store.settled_tickets(ids).await {
                Ok(tickets) => tickets,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "cannot read tickets that phones wait for; trying again"
                    );
                    return;
                }
            };
            let waiting = self.lock();
            for OwnedTicket { ticket, .. } in tickets {
                let Some(settled) = waiting.get(&ticket.id) else { continue };
                if settled.borrow().is_none() {
                    metrics::counter!("dovetail_wakeups_total", "path" => path).increment(1);
                    settled.send_replace(Some(ticket));
                }
            }
        }
    }
}

async fn tell(waiters: Arc<Waiters>, store: Arc<dyn Store>, mut word: mpsc::Receiver<Vec<TicketId>>) {
    let mut batches = Vec::new();
    while word.recv_many(&mut batches, WORD_BATCH).await > 0 {
        let round = Instant::now();
        let ids: Vec<TicketId> = batches.drain(..).flatten().collect();
        // In this order: a phone that comes in between reads the store.
        waiters.fresh.forget(&ids);
        let ids = waiters.those_waited_for(&ids);
        if !ids.is_empty() {
            waiters.look(&*store, &ids, "word").await;
            tokio::time::sleep_until(round + LOOK_PACE).await;
        }
    }
    // Whoever settles has gone; the poll goes on.
    std::future::pending::<()>().await;
}

async fn poll(waiters: Arc<Waiters>, store: Arc<dyn Store>) {
    let mut tick = tokio::time::interval(POLL_EVERY);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tick.tick().await;
        waiters.fresh.forget_old();
        let ids = waiters.all();
        waiters.look(&*store, &ids, "poll").await;
    }
}

/// One phone's wait for one ticket. Ends when dropped.
pub(crate) struct Changes {
    id: TicketId,
    receiver: watch::Receiver<Option<Ticket>>,
    waiters: Arc<Waiters>,
}

impl Changes {
    /// The ticket, once it has settled.
    pub(crate) async fn settled(&mut self) -> Ticket {
        let settled = self.receiver.wait_for(Option::is_some).await.ok().and_then(|ticket| ticket.clone());
        match settled {
            Some(ticket) => ticket,
            // The sender lives in the map for as long as this receiver does.
            None => std::future::pending().await,
        }
    }
}

impl Drop for Changes {
    fn drop(&mut self) {
        self.waiters.phones.decrement(1.0);
        let mut waiting = self.waiters.lock();
        if waiting.get(&self.id).is_some_and(|settled| settled.receiver_count() <= 1) {
            waiting.remove(&self.id);
        }
    }
}
