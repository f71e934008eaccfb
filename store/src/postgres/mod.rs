//! The store on Postgres: many processes, each with a small pool of connections.
//!
//! Batches travel as one array a column, so that every statement is prepared once, whatever the batch's size. Rows that
//! several transactions want are locked in one order: tickets by id, new tickets by user. A transaction is never held across
//! anything but its own statements.

mod accept;
mod announce;
mod blocks;
mod losers;
mod members;
mod open;
#[cfg(test)]
mod plans;
mod read;
mod rows;
mod settle;

use std::future::Future;
use std::time::Duration;

use async_trait::async_trait;
use proto::{Match, MatchId, MatchMade, PoolTicket, ShardId, Ticket, TicketId, Timestamp, UserId};
use sqlx::pool::PoolConnection;
use sqlx::{PgPool, Postgres};
use uuid::Uuid;

use crate::timing::timed;
use crate::{
    Accepted, Cancelled, Connections, MatchCursor, NewTicket, OwnedTicket, Proposal, Result, Rules,
    Settlement, ShardLoad, Store, StoreError,
};

pub use open::{NOTICES_IN_LOGS, PostgresConfig};

/// The time of record as a common table expression that begins a statement: the database's clock in milliseconds.
///
/// Not `now()`, which is when the transaction began, before it waited for its locks. Materialized, so that a statement reads
/// the clock once; used as `(SELECT now FROM clock)`, which an index can be searched with.
macro_rules! with_clock {
    () => {
        "WITH clock AS MATERIALIZED (SELECT (date_part('epoch', clock_timestamp()) * 1000)::bigint AS now)"
    };
}
use with_clock;

/// How long a call may take in all before it is given up as of unknown outcome: a server that is paused or cut off answers
/// nothing, not even its own time limits.
const CALL_DEADLINE: Duration = Duration::from_secs(10);
/// How long closing may take: connections that answer nothing are left behind.
const CLOSE_DEADLINE: Duration = Duration::from_secs(5);

/// A store in a Postgres database.
pub struct PostgresStore {
    rules: Rules,
    pool: PgPool,
}

type Transaction = sqlx::Transaction<'static, Postgres>;

impl PostgresStore {
    /// A connection. Whatever goes wrong here, nothing took effect.
    async fn acquire(&self) -> Result<PoolConnection<Postgres>> {
        self.pool.acquire().await.map_err(StoreError::Unavailable)
    }

    /// Begins a transaction. Whatever goes wrong here, nothing took effect.
    async fn begin(&self) -> Result<Transaction> {
        self.pool.begin().await.map_err(StoreError::Unavailable)
    }
}

/// Commits. Whatever goes wrong here, it may have taken effect.
async fn commit(transaction: Transaction) -> Result<()> {
    transaction.commit().await.map_err(StoreError::OutcomeUnknown)
}

/// Runs one operation within [`CALL_DEADLINE`] and records how long it took.
async fn bounded<T>(op: &'static str, work: impl Future<Output = Result<T>>) -> Result<T> {
    timed(op, async {
        tokio::time::timeout(CALL_DEADLINE, work).await.unwrap_or_else(|_| {
            let why = std::io::Error::new(std::io::ErrorKind::TimedOut, "no answer from Postgres");
            Err(StoreError::OutcomeUnknown(sqlx::Error::Io(why)))
        })
    })
    .await
}

fn uuids(ids: &[TicketId]) -> Vec<Uuid> {
    ids.iter().map(|id| Uuid::from_u128(id.as_u128())).collect()
}

#[async_trait]
impl Store for PostgresStore {
    fn rules(&self) -> &Rules {
        &self.rules
    }

    async fn now(&self) -> Result<Timestamp> {
        bounded("now", self.read_now()).await
    }

    async fn accept(&self, batch: &[NewTicket]) -> Result<Vec<Accepted>> {
        bounded("accept", self.accept_batch(batch)).await
    }

    async fn settle(&self, batch: &[Proposal]) -> Result<Vec<Settlement>> {
        bounded("settle", self.settle_batch(batch)).await
    }

    async fn cancel(&self, user: &UserId, id: TicketId) -> Result<Cancelled> {
        bounded("cancel", self.cancel_ticket(user, id)).await
    }

    async fn expire_overdue(&self, limit: u32) -> Result<Vec<TicketId>> {
        bounded("expire", self.expire_batch(limit)).await
    }

    async fn forget_old_keys(&self, limit: u32) -> Result<u64> {
        bounded("forget_keys", self.delete_old_keys(limit)).await
    }

    async fn tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        bounded("tickets", self.read_tickets(ids)).await
    }

    async fn settled_tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        bounded("settled_tickets", self.read_settled(ids)).await
    }

    async fn current_ticket(&self, user: &UserId) -> Result<Option<Ticket>> {
        bounded("current_ticket", self.read_current(user)).await
    }

    async fn keyed_ticket(&self, user: &UserId, key: &str) -> Result<Option<Ticket>> {
        bounded("keyed_ticket", self.read_keyed(user, key)).await
    }

    async fn matches(&self, user: &UserId, before: Option<MatchCursor>, limit: u32) -> Result<Vec<Match>> {
        bounded("matches", self.read_matches(user, before, limit)).await
    }

    async fn match_by_id(&self, user: &UserId, id: MatchId) -> Result<Option<Match>> {
        bounded("match_by_id", self.read_match(user, id)).await
    }

    async fn waiting_ids(&self, shard: ShardId, since: Timestamp) -> Result<Vec<TicketId>> {
        bounded("waiting_ids", self.read_waiting_ids(shard, since)).await
    }

    async fn pool_tickets(&self, ids: &[TicketId]) -> Result<Vec<PoolTicket>> {
        bounded("pool_tickets", self.read_pool_tickets(ids)).await
    }

    async fn waiting_by_shard(&self) -> Result<Vec<ShardLoad>> {
        bounded("waiting_by_shard", self.read_loads()).await
    }

    async fn block(&self, user: &UserId, blocked: &UserId) -> Result<Option<PoolTicket>> {
        bounded("block", self.insert_block(user, blocked)).await
    }

    async fn unblock(&self, user: &UserId, blocked: &UserId) -> Result<()> {
        bounded("unblock", self.delete_block(user, blocked)).await
    }

    async fn unannounced_matches(&self, age: Duration, limit: u32) -> Result<Vec<MatchMade>> {
        bounded("unannounced_matches", self.read_unannounced(age, limit)).await
    }

    async fn note_announced(&self, ids: &[MatchId]) -> Result<()> {
        bounded("note_announced", self.mark_announced(ids)).await
    }

    fn connections(&self) -> Connections {
        Connections::of(&self.pool)
    }

    async fn close(&self) {
        if tokio::time::timeout(CLOSE_DEADLINE, self.pool.close()).await.is_err() {
            tracing::warn!("Postgres did not answer; its connections are left behind");
        }
    }
}
