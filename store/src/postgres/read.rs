//! Reads. Each is one statement on an index, and so one moment of the database.

use std::time::Duration;

use proto::{Match, MatchId, PoolTicket, ShardId, Ticket, TicketId, Timestamp, UserId};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::rows::{
    match_from, match_view, moment_at, pool_ticket_from, pool_view, ticket_from, ticket_id_at, ticket_if_any,
    ticket_view,
};
use super::{PostgresStore, uuids, with_clock};
use crate::parse::{self, duration_to_db, moment_to_db};
use crate::{MatchCursor, OwnedTicket, Result, Rules, ShardLoad};

pub(super) const NOW: &str = concat!(with_clock!(), " SELECT now FROM clock");

/// `$1` ids.
pub(super) const TICKETS_BY_ID: &str = concat!(ticket_view!(), "WHERE t.id = ANY($1)");

/// `$1` ids.
pub(super) const SETTLED_TICKETS: &str =
    concat!(ticket_view!(), "WHERE t.state <> 'waiting' AND t.id = ANY($1)");

pub(super) const WAITING_OF_USER: &str =
    concat!(ticket_view!(), "WHERE t.user_id = $1 AND t.state = 'waiting'");

/// `$2` the resume window.
pub(super) const LAST_SETTLED_OF_USER: &str = concat!(
    ticket_view!(),
    "WHERE t.user_id = $1 AND t.state <> 'waiting' AND t.settled_at > (SELECT now FROM clock) - $2 \
     ORDER BY t.settled_at DESC, t.id DESC LIMIT 1"
);

/// `$2` the key, `$3` the life of a key.
pub(super) const KEYED_OF_USER: &str = concat!(
    ticket_view!(),
    "WHERE t.id = (SELECT ticket_id FROM ticket_keys \
                   WHERE user_id = $1 AND key = $2 AND created_at > (SELECT now FROM clock) - $3)"
);

/// `$2`, `$3` the cursor, `$4` the limit.
pub(super) const MATCHES_OF_USER: &str = concat!(
    match_view!(),
    "WHERE p.user_id = $1 AND (p.made_at, p.match_id) < ($2, $3) \
     ORDER BY p.made_at DESC, p.match_id DESC LIMIT $4"
);

/// The match is found by its id, then the user's row by the index on user and moment.
pub(super) const MATCH_OF_USER: &str = concat!(
    match_view!(),
    "WHERE m.id = $1 AND p.user_id = $2 AND p.made_at = m.made_at AND p.match_id = m.id"
);

/// `$1` ids, `$2` the rematch time.
pub(super) const POOL_TICKETS: &str = concat!(pool_view!(), "WHERE t.settled_at IS NULL AND t.id = ANY($1)");

/// `$1` the shard, `$2` since when. First the shard's own, then those that have widened into it.
pub(super) const WAITING_IDS: &str = concat!(
    with_clock!(),
    " SELECT id, false AS widened, created_at AS since FROM tickets \
      WHERE state = 'waiting' AND shard = $1 AND created_at >= $2 \
      UNION ALL \
      SELECT id, true, wide_from FROM tickets \
      WHERE state = 'waiting' AND wide_shard = $1 AND wide_from >= $2 AND wide_from <= (SELECT now FROM clock) \
      ORDER BY widened, since, id"
);

pub(super) const LOADS: &str = concat!(
    with_clock!(),
    " SELECT shard, count(*), greatest(0, (SELECT now FROM clock) - min(created_at)) \
      FROM tickets WHERE state = 'waiting' GROUP BY shard"
);

impl PostgresStore {
    pub(super) async fn read_now(&self) -> Result<Timestamp> {
        moment_at(&sqlx::query(NOW).fetch_one(&mut *self.acquire().await?).await?, 0)
    }

    pub(super) async fn read_tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        self.tickets_of(TICKETS_BY_ID, ids).await
    }

    pub(super) async fn read_settled(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        self.tickets_of(SETTLED_TICKETS, ids).await
    }

    async fn tickets_of(&self, statement: &'static str, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        let rows = sqlx::query(statement).bind(uuids(ids)).fetch_all(&mut *self.acquire().await?).await?;
        rows.iter().map(|row| ticket_from(row, 0)).collect()
    }

    pub(super) async fn read_current(&self, user: &UserId) -> Result<Option<Ticket>> {
        let mut connection = self.acquire().await?;
        let waiting =
            sqlx::query(WAITING_OF_USER).bind(user.as_str()).fetch_optional(&mut *connection).await?;
        let row = match waiting {
            Some(row) => Some(row),
            None => {
                sqlx::query(LAST_SETTLED_OF_USER)
                    .bind(user.as_str())
                    .bind(duration_to_db(Rules::RESUME_WINDOW))
                    .fetch_optional(&mut *connection)
                    .await?
            }
        };
        ticket_if_any(row.as_ref())
    }

    pub(super) async fn read_keyed(&self, user: &UserId, key: &str) -> Result<Option<Ticket>> {
        let row = sqlx::query(KEYED_OF_USER)
            .bind(user.as_str())
            .bind(key)
            .bind(duration_to_db(Rules::KEY_LIFE))
            .fetch_optional(&mut *self.acquire().await?)
            .await?;
        ticket_if_any(row.as_ref())
    }

    pub(super) async fn read_matches(
        &self,
        user: &UserId,
        before: Option<MatchCursor>,
        limit: u32,
    ) -> Result<Vec<Match>> {
        let from_the_newest =
            MatchCursor { made_at: Timestamp::from_millis(u64::MAX), id: MatchId::from_u128(u128::MAX) };
        let before = before.unwrap_or(from_the_newest);
        let rows = sqlx::query(MATCHES_OF_USER)
            .bind(user.as_str())
            .bind(moment_to_db(before.made_at))
            .bind(Uuid::from_u128(before.id.as_u128()))
            .bind(i64::from(limit))
            .fetch_all(&mut *self.acquire().await?)
            .await?;
        rows.iter().map(|row| match_from(row, 0)).collect()
    }

    pub(super) async fn read_match(&self, user: &UserId, id: MatchId) -> Result<Option<Match>> {
        let row = sqlx::query(MATCH_OF_USER)
            .bind(Uuid::from_u128(id.as_u128()))
            .bind(user.as_str())
            .fetch_optional(&mut *self.acquire().await?)
            .await?;
        row.as_ref().map(|row| match_from(row, 0)).transpose()
    }

    pub(super) async fn read_waiting_ids(&self, shard: ShardId, since: Timestamp) -> Result<Vec<TicketId>> {
        let rows = sqlx::query(WAITING_IDS)
            .bind(i32::from(shard.0))
            .bind(moment_to_db(since))
            .fetch_all(&mut *self.acquire().await?)
            .await?;
        rows.iter().map(|row| ticket_id_at(row, 0)).collect()
    }

    pub(super) async fn read_pool_tickets(&self, ids: &[TicketId]) -> Result<Vec<PoolTicket>> {
        let rows = sqlx::query(POOL_TICKETS)
            .bind(uuids(ids))
            .bind(duration_to_db(self.rules.no_rematch_for))
            .fetch_all(&mut *self.acquire().await?)
            .await?;
        rows.iter().map(pool_ticket_from).collect()
    }

    pub(super) async fn read_loads(&self) -> Result<Vec<ShardLoad>> {
        let rows = sqlx::query(LOADS).fetch_all(&mut *self.acquire().await?).await?;
        rows.iter().map(load_from).collect()
    }
}

fn load_from(row: &PgRow) -> Result<ShardLoad> {
    Ok(ShardLoad {
        shard: parse::shard(row.try_get(0)?)?,
        waiting: parse::count(row.try_get(1)?)?,
        oldest_wait: Duration::from_millis(parse::count(row.try_get(2)?)?),
    })
}
