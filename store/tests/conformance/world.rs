//! A store with people in it, in the domain's words.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use proto::{InterestSet, MatchId, OwnerId, PoolTicket, Ticket, TicketId, TicketState, Timestamp, UserId};
use store::{
    Accepted, Member, MemberKind, Members, NewTicket, PostgresConfig, PostgresStore, Proposal, Rules,
    Settlement, SqliteLocation, SqliteStore, Store,
};

use crate::databases::new_database;

#[derive(Debug, Clone, Copy)]
pub enum Backend {
    SqliteFile,
    SqliteMemory,
    Postgres,
}

/// Where a world's store keeps its data.
enum Home {
    Folder(tempfile::TempDir),
    Memory,
    Database(String),
}

pub struct World {
    pub store: Arc<dyn Store>,
    /// The same store.
    pub members: Arc<dyn Members>,
    backend: Backend,
    home: Home,
    next_id: AtomicU64,
}

pub fn rules() -> Rules {
    Rules {
        shard_count: 12,
        expire_after: Duration::from_secs(60),
        no_rematch_for: Duration::from_secs(24 * 3600),
        // Most checks let people press again at once; who does not says so.
        same_press_within: Duration::ZERO,
        wide: None,
    }
}

pub fn user(name: &str) -> UserId {
    UserId::new(name).unwrap()
}

impl World {
    pub async fn new(backend: Backend) -> Self {
        Self::with_rules(backend, rules()).await
    }

    pub async fn with_rules(backend: Backend, rules: Rules) -> Self {
        let home = match backend {
            Backend::SqliteFile => Home::Folder(tempfile::tempdir().unwrap()),
            Backend::SqliteMemory => Home::Memory,
            Backend::Postgres => Home::Database(new_database().await),
        };
        let (store, members) = open(&home, rules).await;
        Self { store, members, backend, home, next_id: AtomicU64::new(1) }
    }

    /// Another store of the same kind with other rules, empty.
    pub async fn elsewhere(&self, rules: Rules) -> Self {
        Self::with_rules(self.backend, rules).await
    }

    /// Closes the store and opens it again. `None` where nothing outlives a store.
    pub async fn reopened(self) -> Option<Self> {
        self.store.close().await;
        if matches!(self.home, Home::Memory) {
            return None;
        }
        let Self { store, members, backend, home, next_id } = self;
        drop((store, members));
        let (store, members) = open(&home, rules()).await;
        Some(Self { store, members, backend, home, next_id })
    }

    fn next_id(&self) -> u128 {
        self.next_id.fetch_add(1, Ordering::Relaxed).into()
    }

    pub fn wish(&self, name: &str, region: &str, interests: &[&str]) -> NewTicket {
        NewTicket {
            id: TicketId::from_u128(self.next_id()),
            user: user(name),
            region: region.parse().unwrap(),
            interests: InterestSet::new(interests).unwrap(),
            key: None,
        }
    }

    pub async fn accept_one(&self, wish: NewTicket) -> Accepted {
        self.store.accept(&[wish]).await.unwrap().pop().unwrap()
    }

    /// The same, as its engine is told of it.
    pub async fn pool(&self, wish: NewTicket) -> PoolTicket {
        match self.accept_one(wish).await {
            Accepted::Created { pool, .. } => pool,
            other => panic!("not created: {other:?}"),
        }
    }

    /// The ticket of somebody new who presses match.
    pub async fn press_match(&self, name: &str, interests: &[&str]) -> Ticket {
        match self.accept_one(self.wish(name, "kr.seoul", interests)).await {
            Accepted::Created { ticket, .. } => ticket,
            other => panic!("{name} has a ticket already: {other:?}"),
        }
    }

    pub fn propose(&self, a: TicketId, b: TicketId) -> Proposal {
        Proposal { match_id: MatchId::from_u128(self.next_id()), a, b }
    }

    pub async fn settle_one(&self, a: TicketId, b: TicketId) -> Settlement {
        self.store.settle(&[self.propose(a, b)]).await.unwrap().remove(0)
    }

    pub async fn ticket(&self, id: TicketId) -> Ticket {
        self.store.tickets(&[id]).await.unwrap().pop().expect("the ticket is there").ticket
    }

    /// Until the store's clock is past a moment.
    pub async fn until_past(&self, moment: Timestamp) {
        until(async || (self.store.now().await.unwrap() > moment).then_some(())).await;
    }

    pub async fn state(&self, id: TicketId) -> TicketState {
        self.ticket(id).await.state
    }
}

/// A process that opens a Postgres. A main-server, so that it is in no roster.
pub fn postgres_config(url: &str) -> PostgresConfig {
    static OPENED: AtomicU64 = AtomicU64::new(0);
    let owner = OwnerId::from_u128(u128::MAX - u128::from(OPENED.fetch_add(1, Ordering::Relaxed)));
    let member = Member { owner, kind: MemberKind::MainServer, connections: 4 };
    PostgresConfig { url: url.to_owned(), connections: member.connections, member }
}

async fn open(home: &Home, rules: Rules) -> (Arc<dyn Store>, Arc<dyn Members>) {
    let location = match home {
        Home::Folder(folder) => SqliteLocation::File(folder.path().join("dovetail.db")),
        Home::Memory => SqliteLocation::Memory,
        Home::Database(url) => {
            let store = Arc::new(PostgresStore::open(&postgres_config(url), rules).await.unwrap());
            return (Arc::<PostgresStore>::clone(&store), store);
        }
    };
    let store = Arc::new(SqliteStore::open(&location, rules).await.unwrap());
    (Arc::<SqliteStore>::clone(&store), store)
}

/// Asks again until the answer is there. The store's clock moves by itself; the deadline is generous.
pub async fn until<T, F: Future<Output = Option<T>>>(mut ask: impl FnMut() -> F) -> T {
    let deadline = Instant::now() + Duration::from_secs(20);
    loop {
        if let Some(answer) = ask().await {
            return answer;
        }
        assert!(Instant::now() < deadline, "nothing came in 20 s");
        tokio::task::yield_now().await;
    }
}

pub fn matched(settlement: &Settlement) -> bool {
    matches!(settlement, Settlement::Matched { .. })
}
