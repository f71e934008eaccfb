//! The only truth: every SQL statement and migration, behind the [`Store`] trait.
//!
//! A ticket exists when its row is committed; settling is a compare-and-set on that row. Every moment here is on
//! the store's own clock. Nothing outside this crate writes SQL; nothing here waits for anything but the database.

mod decision;
mod error;
mod members;
mod model;
mod parse;
mod postgres;
mod sqlite;
mod timing;

pub use error::{OpenError, StoreError};
pub use members::{Lease, Member, MemberKind, Members, Roster};
pub use model::{
    Accepted, Cancelled, MatchCursor, NewTicket, OwnedTicket, Proposal, Rules, Settlement, ShardLoad,
    WideRule,
};
pub use postgres::{NOTICES_IN_LOGS, PostgresConfig, PostgresStore};
pub use sqlite::{SqliteLocation, SqliteStore};

use std::time::Duration;

use async_trait::async_trait;
use proto::{Match, MatchId, MatchMade, PoolTicket, ShardId, Ticket, TicketId, Timestamp, UserId};

/// The connections of one process to its database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Connections {
    /// Open, and nobody uses them.
    pub idle: u32,
    /// Open and in use.
    pub used: u32,
    /// The most that may be open.
    pub max: u32,
}

impl Connections {
    fn of<DB: sqlx::Database>(pool: &sqlx::Pool<DB>) -> Self {
        // Read one after the other, so that a connection may change hands in between.
        let (open, idle) = (pool.size(), u32::try_from(pool.num_idle()).unwrap_or(u32::MAX));
        Self {
            idle: idle.min(open),
            used: open.saturating_sub(idle),
            max: pool.options().get_max_connections(),
        }
    }
}

/// What every call answers.
pub type Result<T> = std::result::Result<T, StoreError>;

/// Tickets and matches, kept.
///
/// Batched calls answer in the order of their input. Every call is safe to repeat after [`StoreError`], whatever it did
/// the first time: ids are the caller's, and a repeat finds what the first try wrote.
#[async_trait]
pub trait Store: Send + Sync + 'static {
    /// The rules this store was opened with.
    fn rules(&self) -> &Rules;

    /// The time of record.
    async fn now(&self) -> Result<Timestamp>;

    /// Commits a batch of new tickets; those of users who already have one, or whose key is known, are answered with
    /// that ticket. A user's overdue ticket is settled first. All rows share one commit, and a losing row never fails
    /// its neighbours.
    async fn accept(&self, batch: &[NewTicket]) -> Result<Vec<Accepted>>;

    /// Settles proposals: each becomes a match with both tickets, or is refused and changes nothing. All share one
    /// commit. A ticket is used once a batch.
    async fn settle(&self, batch: &[Proposal]) -> Result<Vec<Settlement>>;

    /// Withdraws a waiting ticket.
    async fn cancel(&self, user: &UserId, id: TicketId) -> Result<Cancelled>;

    /// Settles up to `limit` overdue tickets as expired, the longest overdue first, and names them.
    async fn expire_overdue(&self, limit: u32) -> Result<Vec<TicketId>>;

    /// Removes up to `limit` idempotency keys that are past their life ([`Rules::KEY_LIFE`]); answers how many.
    async fn forget_old_keys(&self, limit: u32) -> Result<u64>;

    /// The tickets with these ids, in no particular order; unknown ids are left out.
    async fn tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>>;

    /// Those of these tickets that have settled, in no particular order.
    async fn settled_tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>>;

    /// The user's waiting ticket, else the last one that settled within [`Rules::RESUME_WINDOW`].
    async fn current_ticket(&self, user: &UserId) -> Result<Option<Ticket>>;

    /// The ticket that the user's idempotency key names, when the key is within [`Rules::KEY_LIFE`].
    async fn keyed_ticket(&self, user: &UserId, key: &str) -> Result<Option<Ticket>>;

    /// Up to `limit` of the user's matches, newest first, older than the cursor.
    async fn matches(&self, user: &UserId, before: Option<MatchCursor>, limit: u32) -> Result<Vec<Match>>;

    /// One of the user's matches.
    async fn match_by_id(&self, user: &UserId, id: MatchId) -> Result<Option<Match>>;

    /// The ids of the waiting tickets that belong in a shard's pool and came to belong there at `since` or later: those of
    /// its own regions by their creation, in that order; then those that have widened into it ([`Rules::wide_shard_of`]).
    async fn waiting_ids(&self, shard: ShardId, since: Timestamp) -> Result<Vec<TicketId>>;

    /// Those of these tickets that still wait, as an engine needs them, in no particular order.
    async fn pool_tickets(&self, ids: &[TicketId]) -> Result<Vec<PoolTicket>>;

    /// How many tickets wait in each shard that has any.
    async fn waiting_by_shard(&self) -> Result<Vec<ShardLoad>>;

    /// Blocks a user for another one: from the moment this returns the two are never matched, whoever is settling now.
    /// Answers the blocker's waiting ticket, if there is one, with the new list of whom to avoid.
    async fn block(&self, user: &UserId, blocked: &UserId) -> Result<Option<PoolTicket>>;

    /// Takes a block back. Nothing happens when there is none.
    async fn unblock(&self, user: &UserId, blocked: &UserId) -> Result<()>;

    /// Up to `limit` matches that were made at least `age` ago and were not announced yet, the oldest first.
    async fn unannounced_matches(&self, age: Duration, limit: u32) -> Result<Vec<MatchMade>>;

    /// Notes that these matches were announced.
    async fn note_announced(&self, ids: &[MatchId]) -> Result<()>;

    /// How many connections to the database there are at this moment.
    fn connections(&self) -> Connections;

    /// Finishes what is under way and closes the connections. Later calls fail.
    async fn close(&self);
}
