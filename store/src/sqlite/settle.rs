//! Settling: every way into a final state. Each is a compare-and-set on rows that wait.

use proto::{MatchId, MatchMade, TicketId, TicketState, UserId};
use sqlx::sqlite::SqliteRow;
use sqlx::{Row, SqliteConnection};

use super::rows::{
    interests_at, moment_at, region_at, state_at, ticket_id_at, ticket_if_any, ticket_view, user_at,
};
use super::{SqliteStore, Transaction, duration_to_db, hex, now_ms, to_json};
use crate::decision::{Between, Decisions, Side};
use crate::{Cancelled, Proposal, Result, Rules, Settlement, StoreError};

/// `?1` pairs of ticket ids, `?2` the rematch time. One row a pair, in order; columns of `a`, of `b`, then both.
const READ_PAIRS: &str = concat!(
    "SELECT a.user, a.region, a.interests, a.created_at, a.state, a.expires_at <= ",
    now_ms!(),
    ", a.match_id, a.settled_at, \
     b.user, b.region, b.interests, b.created_at, b.state, b.expires_at <= ",
    now_ms!(),
    ", b.match_id, b.settled_at, \
     EXISTS (SELECT 1 FROM match_participants p \
             WHERE p.user = a.user AND p.partner = b.user AND p.made_at > ",
    now_ms!(),
    " - ?2), \
     EXISTS (SELECT 1 FROM blocks WHERE blocker = a.user AND blocked = b.user) \
         OR EXISTS (SELECT 1 FROM blocks WHERE blocker = b.user AND blocked = a.user), ",
    now_ms!(),
    " FROM json_each(?1) AS pair \
     LEFT JOIN tickets a ON a.id = unhex(pair.value ->> 0) \
     LEFT JOIN tickets b ON b.id = unhex(pair.value ->> 1) \
     ORDER BY pair.key"
);

const COLUMNS_A_TICKET: usize = 8;
/// Of [`READ_PAIRS`], after those of both tickets.
const RECENT: usize = 2 * COLUMNS_A_TICKET;
const BLOCKED: usize = RECENT + 1;
const NOW: usize = RECENT + 2;

/// Writes matches, their participants and the final state of their tickets, in one call to the database.
///
/// `?1` rows of match id, region, shared, similarity, ticket, user, ticket, user, the earlier ticket first; `?2` the moment.
const WRITE_MATCHES: &str = "
INSERT INTO matches (id, region, shared, similarity, earlier, later, made_at)
SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3, unhex(value ->> 4), unhex(value ->> 6), ?2
FROM json_each(?1);

INSERT INTO match_participants (ticket_id, match_id, user, partner, made_at)
SELECT unhex(value ->> 4), unhex(value ->> 0), value ->> 5, value ->> 7, ?2 FROM json_each(?1)
UNION ALL
SELECT unhex(value ->> 6), unhex(value ->> 0), value ->> 7, value ->> 5, ?2 FROM json_each(?1);

UPDATE tickets SET state = 'matched', settled_at = ?2, match_id = won.match_id
FROM (SELECT unhex(value ->> 4) AS ticket_id, unhex(value ->> 0) AS match_id FROM json_each(?1)
      UNION ALL
      SELECT unhex(value ->> 6), unhex(value ->> 0) FROM json_each(?1)) AS won
WHERE tickets.id = won.ticket_id AND tickets.state = 'waiting'";

/// Rows that [`WRITE_MATCHES`] changes a match: itself, two participants, two tickets.
const ROWS_A_MATCH: u64 = 5;

const CANCEL: &str = concat!(
    "UPDATE tickets SET state = 'cancelled', settled_at = ",
    now_ms!(),
    " WHERE id = ?1 AND user = ?2 AND state = 'waiting' AND expires_at > ",
    now_ms!()
);

const EXPIRE_ONE: &str = concat!(
    "UPDATE tickets SET state = 'expired', settled_at = ",
    now_ms!(),
    " WHERE id = ?1 AND user = ?2 AND state = 'waiting' AND expires_at <= ",
    now_ms!()
);

const TICKET_OF_USER: &str = concat!(ticket_view!(), "WHERE t.id = ?1 AND t.user = ?2");

const EXPIRE_OVERDUE: &str = concat!(
    "UPDATE tickets SET state = 'expired', settled_at = ",
    now_ms!(),
    " WHERE id IN (SELECT id FROM tickets WHERE state = 'waiting' AND expires_at <= ",
    now_ms!(),
    " ORDER BY expires_at LIMIT ?1) RETURNING id"
);

const FORGET_OLD_KEYS: &str = concat!(
    "DELETE FROM ticket_keys WHERE (user, key) IN \
     (SELECT user, key FROM ticket_keys WHERE created_at <= ",
    now_ms!(),
    " - ?1 ORDER BY created_at LIMIT ?2)"
);

/// One side of a row of [`READ_PAIRS`], or `None` when there is no such ticket.
fn side_from(row: &SqliteRow, first: usize, id: TicketId) -> Result<Option<Side>> {
    if row.try_get::<Option<&str>, _>(first)?.is_none() {
        return Ok(None);
    }
    let overdue: bool = row.try_get(first + 5)?;
    let match_id: Option<&[u8]> = row.try_get(first + 6)?;
    let matched = match match_id {
        Some(bytes) => Some((MatchId::from_bytes(bytes)?, moment_at(row, first + 7)?)),
        None => None,
    };
    Ok(Some(Side {
        id,
        user: user_at(row, first)?,
        region: region_at(row, first + 1)?,
        interests: interests_at(row, first + 2)?,
        created_at: moment_at(row, first + 3)?,
        open: state_at(row, first + 4)? == TicketState::Waiting && !overdue,
        matched,
    }))
}

impl SqliteStore {
    pub(super) async fn settle_batch(&self, batch: &[Proposal]) -> Result<Vec<Settlement>> {
        let mut transaction = self.begin().await?;
        let pairs: Vec<_> = batch.iter().map(|p| (hex(p.a.to_bytes()), hex(p.b.to_bytes()))).collect();
        let rows = sqlx::query(READ_PAIRS)
            .bind(to_json(&pairs)?)
            .bind(duration_to_db(self.rules.no_rematch_for))
            .fetch_all(&mut *transaction)
            .await?;
        if rows.len() != batch.len() {
            return Err(StoreError::Contradiction("a proposal was read twice, or not at all"));
        }
        let Some(first) = rows.first() else { return Ok(Vec::new()) };
        let mut decisions = Decisions::at(moment_at(first, NOW)?);
        let mut answers = Vec::with_capacity(batch.len());
        for (proposal, row) in batch.iter().zip(&rows) {
            let a = side_from(row, 0, proposal.a)?;
            let b = side_from(row, COLUMNS_A_TICKET, proposal.b)?;
            let between = Between { recent: row.try_get(RECENT)?, blocked: row.try_get(BLOCKED)? };
            answers.push(decisions.decide(proposal, a, b, between));
        }
        if !decisions.won.is_empty() {
            write_matches(&mut transaction, &decisions.won, first.try_get(NOW)?).await?;
            transaction.commit().await?;
        }
        Ok(answers)
    }

    pub(super) async fn cancel_ticket(&self, user: &UserId, id: TicketId) -> Result<Cancelled> {
        let mut transaction = self.begin().await?;
        let cancelled = compare_and_set(CANCEL, &mut transaction, user, id).await?;
        if !cancelled {
            compare_and_set(EXPIRE_ONE, &mut transaction, user, id).await?;
        }
        let row = sqlx::query(TICKET_OF_USER)
            .bind(id.to_bytes().to_vec())
            .bind(user.as_str())
            .fetch_optional(&mut *transaction)
            .await?;
        let ticket = ticket_if_any(row.as_ref())?;
        transaction.commit().await?;
        Ok(match ticket {
            None => Cancelled::Unknown,
            Some(ticket) if cancelled => Cancelled::Now(ticket),
            Some(ticket) if ticket.state == TicketState::Cancelled => Cancelled::Before(ticket),
            Some(ticket) => Cancelled::TooLate(ticket),
        })
    }

    pub(super) async fn expire_batch(&self, limit: u32) -> Result<Vec<TicketId>> {
        let rows = sqlx::query(EXPIRE_OVERDUE).bind(limit).fetch_all(&self.writer).await?;
        rows.iter().map(|row| ticket_id_at(row, 0)).collect()
    }

    pub(super) async fn delete_old_keys(&self, limit: u32) -> Result<u64> {
        let done = sqlx::query(FORGET_OLD_KEYS)
            .bind(duration_to_db(Rules::KEY_LIFE))
            .bind(limit)
            .execute(&self.writer)
            .await?;
        Ok(done.rows_affected())
    }
}

/// Writes decided matches. Anything but two tickets a match rolls the whole batch back: inserts change a row each or
/// fail, so a sum that falls short means that a ticket was not waiting any more.
async fn write_matches(transaction: &mut Transaction, won: &[MatchMade], made_at: i64) -> Result<()> {
    let rows = won
        .iter()
        .map(|made| {
            let [earlier, later] = &made.tickets;
            let (id, shared) = (hex(made.id.to_bytes()), to_json(&made.shared_interests)?);
            let (first, second) = (hex(earlier.id.to_bytes()), hex(later.id.to_bytes()));
            Ok((id, &made.region, shared, made.similarity, first, &earlier.user, second, &later.user))
        })
        .collect::<Result<Vec<_>>>()?;
    let written =
        sqlx::query(WRITE_MATCHES).bind(to_json(&rows)?).bind(made_at).execute(&mut **transaction).await?;
    if written.rows_affected() != ROWS_A_MATCH * won.len() as u64 {
        return Err(StoreError::Contradiction("a match did not settle exactly two tickets"));
    }
    Ok(())
}

async fn compare_and_set(
    statement: &'static str,
    connection: &mut SqliteConnection,
    user: &UserId,
    id: TicketId,
) -> Result<bool> {
    let done =
        sqlx::query(statement).bind(id.to_bytes().to_vec()).bind(user.as_str()).execute(connection).await?;
    Ok(done.rows_affected() == 1)
}
