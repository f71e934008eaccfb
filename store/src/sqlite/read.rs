//! Reads outside transactions.

use std::time::Duration;

use proto::{Match, MatchId, PoolTicket, ShardId, Ticket, TicketId, Timestamp, UserId};
use sqlx::Row;

use super::rows::{
    TICKETS_BY_ID, fetch_pool_tickets, fetch_tickets, match_from, match_view, moment_at, ticket_id_at,
    ticket_if_any, ticket_view,
};
use super::{SqliteStore, duration_to_db, ids_to_json, now_ms};
use crate::parse::{self, moment_to_db};
use crate::{MatchCursor, OwnedTicket, Result, Rules, ShardLoad};

const NOW: &str = concat!("SELECT ", now_ms!());

const SETTLED_TICKETS: &str = concat!(
    ticket_view!(),
    "WHERE t.state <> 'waiting' AND t.id IN (SELECT unhex(value) FROM json_each(?1))"
);

const WAITING_OF_USER: &str = concat!(ticket_view!(), "WHERE t.user = ?1 AND t.state = 'waiting'");

/// `?2` the resume window.
const LAST_SETTLED_OF_USER: &str = concat!(
    ticket_view!(),
    "WHERE t.user = ?1 AND t.state <> 'waiting' AND t.settled_at > ",
    now_ms!(),
    " - ?2 ORDER BY t.settled_at DESC, t.id DESC LIMIT 1"
);

/// `?2` the key, `?3` the life of a key.
const KEYED_OF_USER: &str = concat!(
    ticket_view!(),
    "WHERE t.id = (SELECT ticket_id FROM ticket_keys WHERE user = ?1 AND key = ?2 AND created_at > ",
    now_ms!(),
    " - ?3)"
);

/// `?2`, `?3` the cursor, `?4` the limit.
const MATCHES_OF_USER: &str = concat!(
    match_view!(),
    "WHERE p.user = ?1 AND (p.made_at, p.match_id) < (?2, ?3) ORDER BY p.made_at DESC, p.match_id DESC LIMIT ?4"
);

/// The match is found by its id, then the user's row by the index on user and moment.
const MATCH_OF_USER: &str =
    concat!(match_view!(), "WHERE m.id = ?1 AND p.user = ?2 AND p.made_at = m.made_at AND p.match_id = m.id");

/// `?1` the shard, `?2` since when. First the shard's own, then those that have widened into it.
const WAITING_IDS: &str = concat!(
    "SELECT id, 0 AS widened, created_at AS since FROM tickets \
     WHERE state = 'waiting' AND shard = ?1 AND created_at >= ?2 \
     UNION ALL \
     SELECT id, 1, wide_from FROM tickets \
     WHERE state = 'waiting' AND wide_shard = ?1 AND wide_from >= ?2 AND wide_from <= ",
    now_ms!(),
    " ORDER BY widened, since, id"
);

const LOADS: &str = concat!(
    "SELECT shard, count(*), max(0, ",
    now_ms!(),
    " - min(created_at)) FROM tickets WHERE state = 'waiting' GROUP BY shard"
);

impl SqliteStore {
    pub(super) async fn read_now(&self) -> Result<Timestamp> {
        moment_at(&sqlx::query(NOW).fetch_one(&self.reader).await?, 0)
    }

    pub(super) async fn read_tickets(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        fetch_tickets(&self.reader, TICKETS_BY_ID, ids_to_json(ids)?).await
    }

    pub(super) async fn read_settled(&self, ids: &[TicketId]) -> Result<Vec<OwnedTicket>> {
        fetch_tickets(&self.reader, SETTLED_TICKETS, ids_to_json(ids)?).await
    }

    pub(super) async fn read_current(&self, user: &UserId) -> Result<Option<Ticket>> {
        let waiting = sqlx::query(WAITING_OF_USER).bind(user.as_str()).fetch_optional(&self.reader).await?;
        let row = match waiting {
            Some(row) => Some(row),
            None => {
                sqlx::query(LAST_SETTLED_OF_USER)
                    .bind(user.as_str())
                    .bind(duration_to_db(Rules::RESUME_WINDOW))
                    .fetch_optional(&self.reader)
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
            .fetch_optional(&self.reader)
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
            .bind(before.id.to_bytes().to_vec())
            .bind(limit)
            .fetch_all(&self.reader)
            .await?;
        rows.iter().map(|row| match_from(row, 0)).collect()
    }

    pub(super) async fn read_match(&self, user: &UserId, id: MatchId) -> Result<Option<Match>> {
        let row = sqlx::query(MATCH_OF_USER)
            .bind(id.to_bytes().to_vec())
            .bind(user.as_str())
            .fetch_optional(&self.reader)
            .await?;
        row.as_ref().map(|row| match_from(row, 0)).transpose()
    }

    pub(super) async fn read_waiting_ids(&self, shard: ShardId, since: Timestamp) -> Result<Vec<TicketId>> {
        let since = moment_to_db(since);
        let rows = sqlx::query(WAITING_IDS).bind(shard.0).bind(since).fetch_all(&self.reader).await?;
        rows.iter().map(|row| ticket_id_at(row, 0)).collect()
    }

    pub(super) async fn read_pool_tickets(&self, ids: &[TicketId]) -> Result<Vec<PoolTicket>> {
        fetch_pool_tickets(&self.reader, ids, self.rules.no_rematch_for).await
    }

    pub(super) async fn read_loads(&self) -> Result<Vec<ShardLoad>> {
        let rows = sqlx::query(LOADS).fetch_all(&self.reader).await?;
        rows.iter()
            .map(|row| {
                Ok(ShardLoad {
                    shard: ShardId(row.try_get(0)?),
                    waiting: parse::count(row.try_get(1)?)?,
                    oldest_wait: Duration::from_millis(parse::count(row.try_get(2)?)?),
                })
            })
            .collect()
    }
}
