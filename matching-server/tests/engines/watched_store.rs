//! A real store whose settling is counted, and can be held or made to fail at the border of the process.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use proto::{Match, MatchId, MatchMade, PoolTicket, ShardId, Ticket, TicketId, Timestamp, UserId};
use store::{
    Accepted, Cancelled, Connections, MatchCursor, NewTicket, OwnedTicket, Proposal, Result, Rules,
    Settlement, ShardLoad, SqliteStore, Store,
};
use tokio::sync::{RwLock, RwLockWriteGuard};

pub struct WatchedStore {
    inner: SqliteStore,
    /// A store that was closed: where errors come from.
    closed: SqliteStore,
    settle_calls: AtomicUsize,
    comparisons: AtomicUsize,
    /// How many answers to settling are still to be lost after the commit.
    answers_to_lose: AtomicUsize,
    /// How many calls after those are still to be refused before anything is done.
    calls_to_refuse: AtomicUsize,
    gate: Arc<RwLock<()>>,
}

impl WatchedStore {
    pub fn new(inner: SqliteStore, closed: SqliteStore) -> Self {
        Self {
            inner,
            closed,
            settle_calls: AtomicUsize::new(0),
            comparisons: AtomicUsize::new(0),
            answers_to_lose: AtomicUsize::new(0),
            calls_to_refuse: AtomicUsize::new(0),
            gate: Arc::default(),
        }
    }

    pub fn settle_calls(&self) -> usize {
        self.settle_calls.load(Ordering::SeqCst)
    }

    pub fn comparisons(&self) -> usize {
        self.comparisons.load(Ordering::SeqCst)
    }

    pub fn lose_answers(&self, count: usize) {
        self.answers_to_lose.store(count, Ordering::SeqCst);
    }

    pub fn refuse_after_that(&self, count: usize) {
        self.calls_to_refuse.store(count, Ordering::SeqCst);
    }

    /// Settling waits until this is dropped.
    pub fn hold_settling(&self) -> RwLockWriteGuard<'_, ()> {
        self.gate.try_write().expect("nothing is being settled")
    }
}

fn take_one(count: &AtomicUsize) -> bool {
    count.fetch_update(Ordering::SeqCst, Ordering::SeqCst, |left| left.checked_sub(1)).is_ok()
}

#[async_trait]
impl Store for WatchedStore {
    fn rules(&self) -> &Rules {
        self.inner.rules()
    }

    async fn now(&self) -> Result<Timestamp> {
        self.inner.now().await
    }

    async fn accept(&self, batch: &[NewTicket]) -> Result<Vec<Accepted>> {
        self.inner.accept(batch).await
    }

    async fn settle(&self, batch: &[Proposal]) -> Result<Vec<Settlement>> {
        self.settle_calls.fetch_add(1, Ordering::SeqCst);
        let _passed = self.gate.read().await;
        if take_one(&self.answers_to_lose) {
            self.inner.settle(batch).await?;
            return self.closed.settle(batch).await;
        }
        if take_one(&self.calls_to_refuse) {
            return self.closed.settle(batch).await;
        }
        self.inner.settle(batch).await
    }

    async fn cancel(&self, user: &UserId, id: TicketId) -> Result<Cancelled> {
        self.inner.cancel(user, id).await
    }

    async fn expire_overdue(&self, limit: u32) -> Result<Vec<TicketId>> {
        self.inner.expire_overdue(limit).await
    }

    async fn forget_old_keys(&self, limit: u32) -> Result<u64> {
        self.inner.forget_old_keys(limit).await
    }

    async fn tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        self.inner.tickets(ids).await
    }

    async fn settled_tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        self.inner.settled_tickets(ids).await
    }

    async fn current_ticket(&self, user: &UserId) -> Result<Option<Ticket>> {
        self.inner.current_ticket(user).await
    }

    async fn keyed_ticket(&self, user: &UserId, key: &str) -> Result<Option<Ticket>> {
        self.inner.keyed_ticket(user, key).await
    }

    async fn matches(&self, user: &UserId, before: Option<MatchCursor>, limit: u32) -> Result<Vec<Match>> {
        self.inner.matches(user, before, limit).await
    }

    async fn match_by_id(&self, user: &UserId, id: MatchId) -> Result<Option<Match>> {
        self.inner.match_by_id(user, id).await
    }

    async fn waiting_ids(&self, shard: ShardId, since: Timestamp) -> Result<Vec<TicketId>> {
        let ids = self.inner.waiting_ids(shard, since).await;
        self.comparisons.fetch_add(1, Ordering::SeqCst);
        ids
    }

    async fn pool_tickets(&self, ids: &[TicketId]) -> Result<Vec<PoolTicket>> {
        self.inner.pool_tickets(ids).await
    }

    async fn waiting_by_shard(&self) -> Result<Vec<ShardLoad>> {
        self.inner.waiting_by_shard().await
    }

    async fn block(&self, user: &UserId, blocked: &UserId) -> Result<Option<PoolTicket>> {
        self.inner.block(user, blocked).await
    }

    async fn unblock(&self, user: &UserId, blocked: &UserId) -> Result<()> {
        self.inner.unblock(user, blocked).await
    }

    async fn unannounced_matches(&self, age: Duration, limit: u32) -> Result<Vec<MatchMade>> {
        self.inner.unannounced_matches(age, limit).await
    }

    async fn note_announced(&self, ids: &[MatchId]) -> Result<()> {
        self.inner.note_announced(ids).await
    }

    fn connections(&self) -> Connections {
        self.inner.connections()
    }

    async fn close(&self) {
        self.inner.close().await;
    }
}
