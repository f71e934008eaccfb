//! A store, engines, and the words for what people do.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use matching_engine::Policy;
use proto::{Hint, InterestSet, PoolTicket, TicketId, TicketState, UserId};
use service::clock::StoreClock;
use service::lifecycle::Tasks;
use store::{Accepted, NewTicket, Rules, SqliteLocation, SqliteStore, Store};
use tokio::sync::mpsc;

use crate::watched_store::WatchedStore;

/// Everything here takes a few seconds at most.
const DEADLINE: Duration = Duration::from_secs(20);

pub struct World {
    pub store: Arc<WatchedStore>,
    tasks: Tasks,
    hints: mpsc::Sender<Hint>,
    hints_received: Option<mpsc::Receiver<Hint>>,
    wakeups: mpsc::Sender<Vec<TicketId>>,
    settled: mpsc::Receiver<Vec<TicketId>>,
    clock: Arc<StoreClock>,
    next_id: AtomicU64,
}

impl World {
    /// A store without engines.
    pub async fn prepare() -> Self {
        let rules = Rules {
            shard_count: 3,
            expire_after: Duration::from_secs(60),
            no_rematch_for: Duration::from_secs(3_600),
            same_press_within: Duration::ZERO,
            wide: None,
        };
        let open = || SqliteStore::open(&SqliteLocation::Memory, rules.clone());
        let (store, closed) = (open().await.unwrap(), open().await.unwrap());
        closed.close().await;
        let store = Arc::new(WatchedStore::new(store, closed));
        let clock = Arc::new(StoreClock::new(&*store).await.unwrap());
        let (hints, hints_received) = mpsc::channel(64);
        let (wakeups, settled) = mpsc::channel(64);
        Self {
            store,
            tasks: Tasks::new(),
            hints,
            hints_received: Some(hints_received),
            wakeups,
            settled,
            clock,
            next_id: AtomicU64::new(1),
        }
    }

    /// A store with engines.
    pub async fn start() -> Self {
        let mut world = Self::prepare().await;
        world.start_engines();
        world
    }

    pub fn start_engines(&mut self) {
        let store: Arc<dyn Store> = self.store.clone();
        let deps = matching_server::Deps {
            store,
            clock: Arc::clone(&self.clock),
            policy: Policy::default(),
            wakeups: Some(self.wakeups.clone()),
        };
        matching_server::start(&self.tasks, &deps, self.hints_received.take().unwrap()).unwrap();
    }

    /// Commits a ticket and tells nobody.
    pub async fn commit(&self, name: &str, interests: &[&str]) -> PoolTicket {
        let id = TicketId::from_u128(self.next_id.fetch_add(1, Ordering::Relaxed).into());
        let wish = NewTicket {
            id,
            user: UserId::new(name).unwrap(),
            region: "kr.seoul".parse().unwrap(),
            interests: InterestSet::new(interests).unwrap(),
            key: None,
        };
        match self.store.accept(&[wish]).await.unwrap().pop() {
            Some(Accepted::Created { pool, .. }) => pool,
            other => panic!("{name} has a ticket already: {other:?}"),
        }
    }

    pub fn hint(&self, tickets: &[&PoolTicket]) {
        let shard = self.store.rules().shard_of(&tickets[0].region);
        let waiting = tickets.iter().map(|ticket| (*ticket).clone()).collect();
        self.hints.try_send(Hint { shard, waiting, withdrawn: Vec::new() }).unwrap();
    }

    pub async fn cancel(&self, name: &str, ticket: &PoolTicket) {
        self.store.cancel(&UserId::new(name).unwrap(), ticket.id).await.unwrap();
    }

    /// The next tickets that the engines say have settled.
    pub async fn settled(&mut self) -> Vec<TicketId> {
        within_deadline(self.settled.recv()).await.expect("the engines run")
    }

    pub async fn state(&self, ticket: &PoolTicket) -> TicketState {
        self.store.tickets(&[ticket.id]).await.unwrap()[0].ticket.state
    }

    pub async fn matches_of(&self, name: &str) -> usize {
        self.store.matches(&UserId::new(name).unwrap(), None, 100).await.unwrap().len()
    }

    pub async fn until(&self, holds: impl Fn(&WatchedStore) -> bool) {
        within_deadline(async {
            while !holds(&self.store) {
                tokio::task::yield_now().await;
            }
        })
        .await;
    }

    /// Waits until every shard has been compared with the store once.
    pub async fn until_compared(&self) {
        self.until(|store| store.comparisons() >= 3).await;
    }

    pub fn stop_engines(&self) -> impl Future<Output = bool> + use<> {
        let tasks = self.tasks.clone();
        async move { tasks.stop(DEADLINE).await }
    }

    /// Stops, and holds that no task had failed.
    pub async fn stop(self) {
        assert!(self.stop_engines().await, "it stops in time");
        assert!(!self.tasks.has_failed());
    }
}

async fn within_deadline<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(DEADLINE, work).await.expect("it happened in time")
}
