//! Accepting: one statement inserts a batch; who lost is answered by [`losers`](super::losers), and tried again if what
//! stood in the way is gone meanwhile.
//!
//! Each statement commits by itself, so nobody waits for a round trip of ours. A ticket and its key are one statement's.

use std::collections::HashMap;

use proto::{Ticket, TicketId, TicketState};
use sqlx::PgConnection;
use uuid::Uuid;

use super::rows::{avoided_users, moment_at, ticket_id_at, users_at};
use super::{PostgresStore, with_clock};
use crate::parse::{duration_to_db, pool_ticket, to_json};
use crate::{Accepted, NewTicket, Result, Rules, StoreError};

/// Inserts new tickets, and with each the key it came with.
///
/// `$1` ids, `$2` as [`avoided_users`], `$3` users, `$4` regions, `$5` shards, `$6` interests, `$7` keys, `$8` second shards,
/// `$9` after how long they are in that one's pool; `$10` how long a ticket may wait, `$11` how long an equal wish is the
/// same press.
///
/// The lateral joins have a limit so that each row is looked up by index, one by one, in any plan. The rows go in by user:
/// two batches never wait for each other in a circle. A key that another process has just written fails the statement.
pub(super) const INSERT_TICKETS: &str = concat!(
    with_clock!(),
    ", made AS ( \
       INSERT INTO tickets (id, user_id, region, shard, interests, key, created_at, expires_at, wide_shard, wide_from) \
       SELECT new.id, new.user_id, new.region, new.shard, new.interests, new.key, \
              clock.now, clock.now + $10, new.wide_shard, clock.now + new.wide_after \
       FROM clock CROSS JOIN unnest($1::uuid[], $3::text[], $4::text[], $5::int[], $6::text[], $7::text[], \
                                    $8::int[], $9::bigint[]) WITH ORDINALITY \
            AS new (id, user_id, region, shard, interests, key, wide_shard, wide_after, place) \
       LEFT JOIN LATERAL ( \
         SELECT true AS there FROM ticket_keys k WHERE k.user_id = new.user_id AND k.key = new.key LIMIT 1 \
       ) AS known ON true \
       LEFT JOIN LATERAL ( \
         SELECT true AS there FROM tickets last \
         WHERE new.key IS NULL AND last.user_id = new.user_id AND last.state <> 'waiting' \
           AND last.settled_at > clock.now - $11 AND last.state = 'matched' \
           AND last.region = new.region AND last.interests = new.interests LIMIT 1 \
       ) AS same_press ON true \
       WHERE known.there IS NULL AND same_press.there IS NULL \
       ORDER BY new.place \
       ON CONFLICT DO NOTHING \
       RETURNING id, user_id, key, created_at, expires_at \
     ), keyed AS ( \
       INSERT INTO ticket_keys (user_id, key, ticket_id, created_at) \
       SELECT user_id, key, id, created_at FROM made WHERE key IS NOT NULL \
     ) \
     SELECT id, created_at, expires_at, ",
    avoided_users!("made.user_id"),
    " FROM made"
);

/// `$1` users. Who is locked is being settled, and will be found so.
pub(super) const EXPIRE_OVERDUE_OF_USERS: &str = concat!(
    with_clock!(),
    ", due AS MATERIALIZED ( \
       SELECT id FROM tickets \
       WHERE state = 'waiting' AND user_id = ANY($1) AND expires_at <= (SELECT now FROM clock) \
       ORDER BY id FOR UPDATE SKIP LOCKED \
     ) \
     UPDATE tickets t SET state = 'expired', settled_at = (SELECT now FROM clock) \
     FROM due WHERE t.id = due.id AND t.settled_at IS NULL"
);

/// `$1` users, `$2` keys, `$3` the life of a key.
pub(super) const FORGET_KEYS_PAST_THEIR_LIFE: &str = concat!(
    with_clock!(),
    " DELETE FROM ticket_keys k USING unnest($1::text[], $2::text[]) AS old (user_id, key) \
      WHERE k.user_id = old.user_id AND k.key = old.key AND k.created_at <= (SELECT now FROM clock) - $3"
);

/// The most times that a batch is tried. Each further time needs a ticket to settle between two of our statements, or a lock
/// to be held for long; with all of them waiting for locks a call still ends within its deadline.
const MAX_ROUNDS: u32 = 4;

/// The rows of a batch, one array a column: all arrays are equally long, since an element goes into each.
#[derive(Default)]
struct Columns<'a> {
    ids: Vec<Uuid>,
    users: Vec<&'a str>,
    regions: Vec<&'a str>,
    shards: Vec<i32>,
    interests: Vec<String>,
    keys: Vec<Option<&'a str>>,
    wide_shards: Vec<Option<i32>>,
    wide_after: Vec<Option<i64>>,
}

impl<'a> Columns<'a> {
    fn of(rows: &[(usize, &'a NewTicket)], rules: &Rules) -> Result<Self> {
        let mut columns = Self::default();
        for (_, row) in rows {
            let wide = rules.wide_shard_of(&row.region);
            columns.ids.push(Uuid::from_u128(row.id.as_u128()));
            columns.users.push(row.user.as_str());
            columns.regions.push(row.region.as_str());
            columns.shards.push(rules.shard_of(&row.region).0.into());
            columns.interests.push(to_json(&row.interests)?);
            columns.keys.push(row.key.as_deref());
            columns.wide_shards.push(wide.map(|(shard, _)| shard.0.into()));
            columns.wide_after.push(wide.map(|(_, delay)| duration_to_db(delay)));
        }
        Ok(columns)
    }
}

impl PostgresStore {
    pub(super) async fn accept_batch(&self, batch: &[NewTicket]) -> Result<Vec<Accepted>> {
        let mut answers: Vec<Option<Accepted>> = vec![None; batch.len()];
        let mut connection = self.acquire().await?;
        let mut in_the_way = None;
        for _ in 0..MAX_ROUNDS {
            if answers.iter().all(Option::is_some) {
                break;
            }
            match self.accept_once(&mut connection, batch, &mut answers).await {
                Ok(()) => {}
                Err(error) if error.is_contention() => in_the_way = Some(error),
                Err(error) => return Err(failed(error, &answers)),
            }
        }
        if answers.iter().any(Option::is_none) {
            let stuck =
                StoreError::Contradiction("a new ticket was neither inserted nor stood in its own way");
            return Err(failed(in_the_way.unwrap_or(stuck), &answers));
        }
        Ok(answers.into_iter().flatten().collect())
    }

    /// Answers what can be answered now, and makes room for the rest.
    async fn accept_once(
        &self,
        connection: &mut PgConnection,
        batch: &[NewTicket],
        answers: &mut [Option<Accepted>],
    ) -> Result<()> {
        self.insert_tickets(connection, batch, answers).await?;
        if answers.iter().all(Option::is_some) {
            return Ok(());
        }
        self.answer_losers(connection, batch, answers).await?;
        make_room(connection, &open_rows(batch, answers)).await
    }

    async fn insert_tickets(
        &self,
        connection: &mut PgConnection,
        batch: &[NewTicket],
        answers: &mut [Option<Accepted>],
    ) -> Result<()> {
        let open = open_rows(batch, answers);
        let columns = Columns::of(&open, &self.rules)?;
        let inserted = sqlx::query(INSERT_TICKETS)
            .bind(columns.ids)
            .bind(duration_to_db(self.rules.no_rematch_for))
            .bind(columns.users)
            .bind(columns.regions)
            .bind(columns.shards)
            .bind(columns.interests)
            .bind(columns.keys)
            .bind(columns.wide_shards)
            .bind(columns.wide_after)
            .bind(duration_to_db(self.rules.expire_after))
            .bind(duration_to_db(self.rules.same_press_within))
            .fetch_all(connection)
            .await?;
        let places: HashMap<TicketId, usize> = open.iter().map(|(place, row)| (row.id, *place)).collect();
        for row in &inserted {
            let id = ticket_id_at(row, 0)?;
            let place = places[&id];
            let new = &batch[place];
            let ticket = Ticket {
                id,
                state: TicketState::Waiting,
                region: new.region.clone(),
                interests: new.interests.clone(),
                created_at: moment_at(row, 1)?,
                expires_at: moment_at(row, 2)?,
                r#match: None,
            };
            let pool = pool_ticket(new.user.clone(), &ticket, users_at(row, 3)?);
            answers[place] = Some(Accepted::Created { ticket, pool });
        }
        Ok(())
    }
}

/// Why a batch failed some of whose rows may be committed: all that are have their answers.
fn failed(error: StoreError, answers: &[Option<Accepted>]) -> StoreError {
    if answers.iter().any(Option::is_some) { error.after_commit() } else { error }
}

/// Settles the users' overdue tickets and forgets their keys that are past their life.
async fn make_room(connection: &mut PgConnection, open: &[(usize, &NewTicket)]) -> Result<()> {
    if open.is_empty() {
        return Ok(());
    }
    let users: Vec<&str> = open.iter().map(|(_, row)| row.user.as_str()).collect();
    sqlx::query(EXPIRE_OVERDUE_OF_USERS).bind(users).execute(&mut *connection).await?;
    let (users, keys): (Vec<&str>, Vec<&str>) =
        open.iter().filter_map(|(_, row)| Some((row.user.as_str(), row.key.as_deref()?))).unzip();
    if !keys.is_empty() {
        sqlx::query(FORGET_KEYS_PAST_THEIR_LIFE)
            .bind(users)
            .bind(keys)
            .bind(duration_to_db(Rules::KEY_LIFE))
            .execute(connection)
            .await?;
    }
    Ok(())
}

/// The rows without an answer and their places in the batch, by user, then key.
pub(super) fn open_rows<'a>(
    batch: &'a [NewTicket],
    answers: &[Option<Accepted>],
) -> Vec<(usize, &'a NewTicket)> {
    let mut open: Vec<_> = batch.iter().enumerate().filter(|(place, _)| answers[*place].is_none()).collect();
    open.sort_by(|(_, a), (_, b)| (&a.user, &a.key).cmp(&(&b.user, &b.key)));
    open
}
