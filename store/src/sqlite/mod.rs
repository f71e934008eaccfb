//! The store on SQLite: one file, one process, one writing connection.
//!
//! SQLite lets one connection write at a time, so one connection is all that is opened for writing; a second one
//! reads beside it (WAL). `synchronous` is FULL: what was answered survives a power cut. Batches travel as one JSON
//! parameter, so that every statement is prepared once, whatever the batch's size.

mod accept;
mod announce;
mod blocks;
mod members;
mod open;
mod read;
mod rows;
mod settle;

use std::time::Duration;

use async_trait::async_trait;
use proto::{Match, MatchId, MatchMade, PoolTicket, ShardId, Ticket, TicketId, Timestamp, UserId};
use sqlx::SqlitePool;

use crate::parse::{duration_to_db, to_json};
use crate::timing::timed;
use crate::{
    Accepted, Cancelled, Connections, MatchCursor, NewTicket, OwnedTicket, Proposal, Result, Rules,
    Settlement, ShardLoad, Store,
};

pub use open::SqliteLocation;

/// The time of record: the database's clock in milliseconds.
macro_rules! now_ms {
    () => {
        "CAST(round(unixepoch('subsec') * 1000) AS INTEGER)"
    };
}
use now_ms;

/// A store in one SQLite file, or in memory.
pub struct SqliteStore {
    rules: Rules,
    /// The only connection that writes. Begin transactions with [`Self::begin`].
    writer: SqlitePool,
    /// For reads outside transactions. In memory it is the writer: a second connection would see another database.
    reader: SqlitePool,
    /// Held for as long as the store is open, so that a second process is turned away. `None` in memory.
    lock: Option<std::fs::File>,
}

const BEGIN: &str = "BEGIN IMMEDIATE";

type Transaction = sqlx::Transaction<'static, sqlx::Sqlite>;

impl SqliteStore {
    /// Starts a transaction that writes. IMMEDIATE: it never has to be retried half way.
    ///
    /// On a full disk SQLite rolls a transaction back by itself; the client library then fails to do so and believes the
    /// connection to be inside one for ever. Such a connection is replaced.
    async fn begin(&self) -> Result<Transaction> {
        match self.writer.begin_with(BEGIN).await {
            Err(sqlx::Error::InvalidSavePointStatement) if self.outlives_its_connections() => {
                tracing::warn!(
                    "replacing the connection to the database: an earlier transaction ended badly"
                );
                self.writer.acquire().await?.close().await?;
                Ok(self.writer.begin_with(BEGIN).await?)
            }
            begun => Ok(begun?),
        }
    }

    /// Whether the data is in a file. In memory the connection is the database.
    fn outlives_its_connections(&self) -> bool {
        self.lock.is_some()
    }
}

fn hex(bytes: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(bytes))
}

fn ids_to_json(ids: &[TicketId]) -> Result<String> {
    to_json(&ids.iter().map(|id| hex(id.to_bytes())).collect::<Vec<_>>())
}

#[async_trait]
impl Store for SqliteStore {
    fn rules(&self) -> &Rules {
        &self.rules
    }

    async fn now(&self) -> Result<Timestamp> {
        timed("now", self.read_now()).await
    }

    async fn accept(&self, batch: &[NewTicket]) -> Result<Vec<Accepted>> {
        timed("accept", self.accept_batch(batch)).await
    }

    async fn settle(&self, batch: &[Proposal]) -> Result<Vec<Settlement>> {
        timed("settle", self.settle_batch(batch)).await
    }

    async fn cancel(&self, user: &UserId, id: TicketId) -> Result<Cancelled> {
        timed("cancel", self.cancel_ticket(user, id)).await
    }

    async fn expire_overdue(&self, limit: u32) -> Result<Vec<TicketId>> {
        timed("expire", self.expire_batch(limit)).await
    }

    async fn forget_old_keys(&self, limit: u32) -> Result<u64> {
        timed("forget_keys", self.delete_old_keys(limit)).await
    }

    async fn tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        timed("tickets", self.read_tickets(ids)).await
    }

    async fn settled_tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        timed("settled_tickets", self.read_settled(ids)).await
    }

    async fn current_ticket(&self, user: &UserId) -> Result<Option<Ticket>> {
        timed("current_ticket", self.read_current(user)).await
    }

    async fn keyed_ticket(&self, user: &UserId, key: &str) -> Result<Option<Ticket>> {
        timed("keyed_ticket", self.read_keyed(user, key)).await
    }

    async fn matches(&self, user: &UserId, before: Option<MatchCursor>, limit: u32) -> Result<Vec<Match>> {
        timed("matches", self.read_matches(user, before, limit)).await
    }

    async fn match_by_id(&self, user: &UserId, id: MatchId) -> Result<Option<Match>> {
        timed("match_by_id", self.read_match(user, id)).await
    }

    async fn waiting_ids(&self, shard: ShardId, since: Timestamp) -> Result<Vec<TicketId>> {
        timed("waiting_ids", self.read_waiting_ids(shard, since)).await
    }

    async fn pool_tickets(&self, ids: &[TicketId]) -> Result<Vec<PoolTicket>> {
        timed("pool_tickets", self.read_pool_tickets(ids)).await
    }

    async fn waiting_by_shard(&self) -> Result<Vec<ShardLoad>> {
        timed("waiting_by_shard", self.read_loads()).await
    }

    async fn block(&self, user: &UserId, blocked: &UserId) -> Result<Option<PoolTicket>> {
        timed("block", self.insert_block(user, blocked)).await
    }

    async fn unblock(&self, user: &UserId, blocked: &UserId) -> Result<()> {
        timed("unblock", self.delete_block(user, blocked)).await
    }

    async fn unannounced_matches(&self, age: Duration, limit: u32) -> Result<Vec<MatchMade>> {
        timed("unannounced_matches", self.read_unannounced(age, limit)).await
    }

    async fn note_announced(&self, ids: &[MatchId]) -> Result<()> {
        timed("note_announced", self.mark_announced(ids)).await
    }

    fn connections(&self) -> Connections {
        let writer = Connections::of(&self.writer);
        if !self.outlives_its_connections() {
            // In memory the reader is the writer.
            return writer;
        }
        let reader = Connections::of(&self.reader);
        Connections {
            idle: writer.idle + reader.idle,
            used: writer.used + reader.used,
            max: writer.max + reader.max,
        }
    }

    async fn close(&self) {
        self.reader.close().await;
        self.writer.close().await;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn wish(n: u128) -> NewTicket {
        NewTicket {
            id: TicketId::from_u128(n),
            user: UserId::new(&format!("user {n}")).unwrap(),
            region: "kr.seoul".parse().unwrap(),
            interests: proto::InterestSet::new(&["jazz"]).unwrap(),
            // With a key it takes a transaction.
            key: Some("key".to_owned()),
        }
    }

    #[test]
    fn the_limits_on_users_to_avoid_are_the_documented_ones() {
        for limit in [Rules::MAX_AVOIDED_BLOCKS, Rules::MAX_AVOIDED_PARTNERS] {
            assert!(rows::avoided_users!("?").contains(&format!("LIMIT {limit})")), "{limit}");
        }
    }

    #[tokio::test]
    async fn it_goes_on_after_the_database_rolled_back_by_itself() {
        let folder = tempfile::tempdir().unwrap();
        let rules = Rules {
            shard_count: 12,
            expire_after: Duration::from_secs(60),
            no_rematch_for: Duration::ZERO,
            same_press_within: Duration::ZERO,
            wide: None,
        };
        let location = SqliteLocation::File(folder.path().join("d.db"));
        let store = SqliteStore::open(&location, rules).await.unwrap();
        let mut transaction = store.begin().await.unwrap();
        // What SQLite does on a full disk, without telling the client library.
        sqlx::query("ROLLBACK").execute(&mut *transaction).await.unwrap();
        assert!(transaction.commit().await.is_err());
        let accepted = store.accept(&[wish(1)]).await.unwrap();
        assert!(matches!(accepted[0], Accepted::Created { .. }));
    }
}
