//! Settling: every way into a final state. Each is a compare-and-set on rows that wait.
//!
//! Matches are decided in separate statements at READ COMMITTED: the tickets are locked, and only then are they, the blocks
//! and the partners read, by a statement that sees all that was committed before the locks were had.

use std::collections::HashSet;

use proto::{MatchMade, TicketId, TicketState, UserId};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use super::rows::{
    interests_at, match_id_at, moment_at, region_at, state_at, ticket_id_at, ticket_if_any, ticket_view,
    user_at,
};
use super::{PostgresStore, Transaction, commit, with_clock};
use crate::decision::{Between, Decisions, Side};
use crate::parse::{duration_to_db, to_json};
use crate::{Cancelled, Proposal, Result, Rules, Settlement, StoreError};

/// `$1` ids. In id order, as everybody locks tickets.
///
/// Here and wherever tickets are found by id, whether they wait is asked of `settled_at`. Asked of the state, a plan from when
/// the tables were empty may go through an index of all that wait.
pub(super) const LOCK_WAITING: &str =
    "SELECT id FROM tickets WHERE id = ANY($1) AND settled_at IS NULL ORDER BY id FOR UPDATE";

/// `$1`, `$2` the tickets of each pair, `$3` the rematch time. One row a pair, in order; columns of `a`, of `b`, then both.
pub(super) const READ_PAIRS: &str = concat!(
    with_clock!(),
    " SELECT a.user_id, a.region, a.interests, a.created_at, a.state, a.expires_at, a.match_id, a.settled_at, \
             b.user_id, b.region, b.interests, b.created_at, b.state, b.expires_at, b.match_id, b.settled_at, \
             recent.there IS NOT NULL, ab.blocker IS NOT NULL OR ba.blocker IS NOT NULL, \
             (SELECT now FROM clock) \
      FROM unnest($1::uuid[], $2::uuid[]) WITH ORDINALITY AS pair (a, b, place) \
      LEFT JOIN tickets a ON a.id = pair.a \
      LEFT JOIN tickets b ON b.id = pair.b \
      LEFT JOIN blocks ab ON ab.blocker = a.user_id AND ab.blocked = b.user_id \
      LEFT JOIN blocks ba ON ba.blocker = b.user_id AND ba.blocked = a.user_id \
      LEFT JOIN LATERAL ( \
        SELECT true AS there FROM match_participants p \
        WHERE p.user_id = a.user_id AND p.partner = b.user_id AND p.made_at > (SELECT now FROM clock) - $3 \
        LIMIT 1 \
      ) AS recent ON true \
      ORDER BY pair.place"
);

const COLUMNS_A_TICKET: usize = 8;
/// Columns of [`READ_PAIRS`] after those of both tickets.
const RECENT: usize = 2 * COLUMNS_A_TICKET;
const BLOCKED: usize = RECENT + 1;
const NOW: usize = RECENT + 2;

/// Writes matches, their participants and the final state of their tickets, and counts what it wrote of each.
///
/// `$1` match ids, `$2` earlier tickets, `$3` their users, `$4` later tickets, `$5` their users, `$6` regions, `$7` shared
/// interests, `$8` similarities; `$9` the moment.
pub(super) const WRITE_MATCHES: &str = "
WITH won AS MATERIALIZED (
  SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::uuid[], $5::text[], $6::text[], $7::text[],
                       $8::double precision[])
         AS won (match_id, earlier, earlier_user, later, later_user, region, shared, similarity)
), sides AS MATERIALIZED (
  SELECT earlier AS ticket_id, match_id, earlier_user AS user_id, later_user AS partner FROM won
  UNION ALL
  SELECT later, match_id, later_user, earlier_user FROM won
), made AS (
  INSERT INTO matches (id, earlier, later, made_at, similarity, region, shared)
  SELECT match_id, earlier, later, $9, similarity, region, shared FROM won RETURNING 1
), joined AS (
  INSERT INTO match_participants (ticket_id, match_id, made_at, user_id, partner)
  SELECT ticket_id, match_id, $9, user_id, partner FROM sides RETURNING 1
), settled AS (
  UPDATE tickets t SET state = 'matched', settled_at = $9, match_id = sides.match_id
  FROM sides WHERE t.id = sides.ticket_id AND t.settled_at IS NULL RETURNING 1
)
SELECT (SELECT count(*) FROM made), (SELECT count(*) FROM joined), (SELECT count(*) FROM settled)";

/// `$1` the ticket, `$2` the user. An overdue ticket expires instead.
pub(super) const CANCEL: &str = concat!(
    with_clock!(),
    " UPDATE tickets SET settled_at = (SELECT now FROM clock), state = \
        CASE WHEN expires_at > (SELECT now FROM clock) THEN 'cancelled' ELSE 'expired' END \
      WHERE id = $1 AND user_id = $2 AND settled_at IS NULL RETURNING state = 'cancelled'"
);

pub(super) const TICKET_OF_USER: &str = concat!(ticket_view!(), "WHERE t.id = $1 AND t.user_id = $2");

/// `$1` how many. Who is locked is being settled.
pub(super) const EXPIRE_OVERDUE: &str = concat!(
    with_clock!(),
    ", due AS MATERIALIZED ( \
       SELECT id FROM tickets WHERE state = 'waiting' AND expires_at <= (SELECT now FROM clock) \
       ORDER BY expires_at LIMIT $1 FOR UPDATE SKIP LOCKED \
     ) \
     UPDATE tickets t SET state = 'expired', settled_at = (SELECT now FROM clock) \
     FROM due WHERE t.id = due.id AND t.settled_at IS NULL RETURNING t.id"
);

/// `$1` the life of a key, `$2` how many.
pub(super) const FORGET_OLD_KEYS: &str = concat!(
    with_clock!(),
    ", old AS MATERIALIZED ( \
       SELECT user_id, key FROM ticket_keys WHERE created_at <= (SELECT now FROM clock) - $1 \
       ORDER BY created_at LIMIT $2 FOR UPDATE SKIP LOCKED \
     ) \
     DELETE FROM ticket_keys k USING old WHERE k.user_id = old.user_id AND k.key = old.key"
);

/// One side of a row of [`READ_PAIRS`], or `None` when there is no such ticket.
fn side_from(row: &PgRow, first: usize, id: TicketId, locked: &HashSet<TicketId>) -> Result<Option<Side>> {
    if row.try_get::<Option<&str>, _>(first)?.is_none() {
        return Ok(None);
    }
    let matched = match row.try_get::<Option<Uuid>, _>(first + 6)? {
        Some(_) => Some((match_id_at(row, first + 6)?, moment_at(row, first + 7)?)),
        None => None,
    };
    let waits = state_at(row, first + 4)? == TicketState::Waiting && locked.contains(&id);
    Ok(Some(Side {
        id,
        user: user_at(row, first)?,
        region: region_at(row, first + 1)?,
        interests: interests_at(row, first + 2)?,
        created_at: moment_at(row, first + 3)?,
        open: waits && moment_at(row, first + 5)? > moment_at(row, NOW)?,
        matched,
    }))
}

impl PostgresStore {
    pub(super) async fn settle_batch(&self, batch: &[Proposal]) -> Result<Vec<Settlement>> {
        if batch.is_empty() {
            return Ok(Vec::new());
        }
        let mut transaction = self.begin().await?;
        let locked = lock_tickets(&mut transaction, batch).await?;
        let rows = sqlx::query(READ_PAIRS)
            .bind(batch.iter().map(|pair| Uuid::from_u128(pair.a.as_u128())).collect::<Vec<_>>())
            .bind(batch.iter().map(|pair| Uuid::from_u128(pair.b.as_u128())).collect::<Vec<_>>())
            .bind(duration_to_db(self.rules.no_rematch_for))
            .fetch_all(&mut *transaction)
            .await?;
        if rows.len() != batch.len() {
            return Err(StoreError::Contradiction("a proposal was read twice, or not at all"));
        }
        let made_at: i64 = rows[0].try_get(NOW)?;
        let mut decisions = Decisions::at(moment_at(&rows[0], NOW)?);
        let mut answers = Vec::with_capacity(batch.len());
        for (proposal, row) in batch.iter().zip(&rows) {
            let a = side_from(row, 0, proposal.a, &locked)?;
            let b = side_from(row, COLUMNS_A_TICKET, proposal.b, &locked)?;
            let between = Between { recent: row.try_get(RECENT)?, blocked: row.try_get(BLOCKED)? };
            answers.push(decisions.decide(proposal, a, b, between));
        }
        if !decisions.won.is_empty() {
            write_matches(&mut transaction, &decisions.won, made_at).await?;
        }
        commit(transaction).await?;
        Ok(answers)
    }

    pub(super) async fn cancel_ticket(&self, user: &UserId, id: TicketId) -> Result<Cancelled> {
        let mut connection = self.acquire().await?;
        let id = Uuid::from_u128(id.as_u128());
        let settled =
            sqlx::query(CANCEL).bind(id).bind(user.as_str()).fetch_optional(&mut *connection).await?;
        let cancelled = settled.map(|row| row.try_get(0)).transpose()?.unwrap_or(false);
        // It is in a final state by now, whoever brought it there.
        let row = sqlx::query(TICKET_OF_USER)
            .bind(id)
            .bind(user.as_str())
            .fetch_optional(&mut *connection)
            .await
            .map_err(|error| StoreError::from(error).after_commit())?;
        Ok(match ticket_if_any(row.as_ref())? {
            None => Cancelled::Unknown,
            Some(ticket) if cancelled => Cancelled::Now(ticket),
            Some(ticket) if ticket.state == TicketState::Cancelled => Cancelled::Before(ticket),
            Some(ticket) => Cancelled::TooLate(ticket),
        })
    }

    pub(super) async fn expire_batch(&self, limit: u32) -> Result<Vec<TicketId>> {
        let rows =
            sqlx::query(EXPIRE_OVERDUE).bind(i64::from(limit)).fetch_all(&mut *self.acquire().await?).await?;
        rows.iter().map(|row| ticket_id_at(row, 0)).collect()
    }

    pub(super) async fn delete_old_keys(&self, limit: u32) -> Result<u64> {
        let done = sqlx::query(FORGET_OLD_KEYS)
            .bind(duration_to_db(Rules::KEY_LIFE))
            .bind(i64::from(limit))
            .execute(&mut *self.acquire().await?)
            .await?;
        Ok(done.rows_affected())
    }
}

/// Locks the tickets of a batch that wait, and names them.
async fn lock_tickets(transaction: &mut Transaction, batch: &[Proposal]) -> Result<HashSet<TicketId>> {
    let ids: Vec<Uuid> =
        batch.iter().flat_map(|pair| [pair.a, pair.b]).map(|id| Uuid::from_u128(id.as_u128())).collect();
    let rows = sqlx::query(LOCK_WAITING).bind(ids).fetch_all(&mut **transaction).await?;
    rows.iter().map(|row| ticket_id_at(row, 0)).collect()
}

/// Writes decided matches. Anything but two tickets a match rolls the whole batch back.
async fn write_matches(transaction: &mut Transaction, won: &[MatchMade], made_at: i64) -> Result<()> {
    let column = |side: usize| -> (Vec<Uuid>, Vec<&str>) {
        let tickets = won.iter().map(|made| &made.tickets[side]);
        tickets.map(|ticket| (Uuid::from_u128(ticket.id.as_u128()), ticket.user.as_str())).unzip()
    };
    let ((earlier, earlier_users), (later, later_users)) = (column(0), column(1));
    let shared = won.iter().map(|made| to_json(&made.shared_interests)).collect::<Result<Vec<_>>>()?;
    let row = sqlx::query(WRITE_MATCHES)
        .bind(won.iter().map(|made| Uuid::from_u128(made.id.as_u128())).collect::<Vec<_>>())
        .bind(earlier)
        .bind(earlier_users)
        .bind(later)
        .bind(later_users)
        .bind(won.iter().map(|made| made.region.as_str()).collect::<Vec<_>>())
        .bind(shared)
        .bind(won.iter().map(|made| made.similarity).collect::<Vec<_>>())
        .bind(made_at)
        .fetch_one(&mut **transaction)
        .await?;
    let written: [i64; 3] = [row.try_get(0)?, row.try_get(1)?, row.try_get(2)?];
    let matches = i64::try_from(won.len()).unwrap_or(i64::MAX);
    if written != [matches, 2 * matches, 2 * matches] {
        return Err(StoreError::Contradiction("a match did not settle exactly two tickets"));
    }
    Ok(())
}
