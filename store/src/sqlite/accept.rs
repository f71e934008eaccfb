//! Accepting: one statement for a batch of new tickets, a transaction only when something stands in the way.

use std::collections::HashMap;
use std::time::Duration;

use proto::{Ticket, TicketId, TicketState};
use sqlx::{Row, SqliteConnection};

use super::rows::{
    TICKETS_BY_ID, avoided_at, avoided_users, fetch_pool_tickets, fetch_tickets, moment_at, ticket_from,
    ticket_id_at, ticket_view,
};
use super::{SqliteStore, duration_to_db, hex, ids_to_json, now_ms, to_json};
use crate::parse::pool_ticket;
use crate::{Accepted, NewTicket, OwnedTicket, Result, Rules, StoreError};

/// `?1` rows, `?2` as [`avoided_users`], `?3` how long a ticket may wait, `?4` how long an equal wish is the same press.
///
/// A user of such a wish gets no row, and is answered with the ticket by [`SAME_PRESS`].
const INSERT_TICKETS: &str = concat!(
    "INSERT INTO tickets (id, user, region, shard, interests, created_at, expires_at, wide_shard, wide_from) \
     SELECT unhex(value ->> 0), value ->> 1, value ->> 2, value ->> 3, value ->> 4, ",
    now_ms!(),
    ", ",
    now_ms!(),
    " + ?3, value ->> 6, ",
    now_ms!(),
    " + (value ->> 7) FROM json_each(?1) AS new WHERE value ->> 5 OR NOT EXISTS \
     (SELECT 1 FROM tickets AS last WHERE last.user = new.value ->> 1 AND last.state <> 'waiting' \
      AND last.settled_at > ",
    now_ms!(),
    " - ?4 AND last.state = 'matched' AND last.region = new.value ->> 2 AND last.interests = new.value ->> 4) \
     ON CONFLICT DO NOTHING \
     RETURNING id, created_at, expires_at, ",
    avoided_users!("tickets.user")
);

const EXPIRE_OVERDUE_OF_USERS: &str = concat!(
    "UPDATE tickets SET state = 'expired', settled_at = ",
    now_ms!(),
    " WHERE state = 'waiting' AND user IN (SELECT value FROM json_each(?1)) AND expires_at <= ",
    now_ms!()
);

const WAITING_OF_USERS: &str =
    concat!(ticket_view!(), "WHERE t.state = 'waiting' AND t.user IN (SELECT value FROM json_each(?1))");

/// How much further back [`SAME_PRESS`] looks than [`INSERT_TICKETS`] did: the time may have run out between the two, and
/// who got no row must find the ticket that stood in the way.
const SAME_PRESS_SLACK: Duration = Duration::from_secs(60);

/// `?1` rows as [`INSERT_TICKETS`], `?2` how long an equal wish is the same press.
const SAME_PRESS: &str = concat!(
    ticket_view!(),
    "JOIN json_each(?1) AS new ON t.user = new.value ->> 1 AND t.region = new.value ->> 2 \
       AND t.interests = new.value ->> 4 \
     WHERE t.state = 'matched' AND t.settled_at > ",
    now_ms!(),
    " - ?2 ORDER BY t.settled_at"
);

/// `?1` pairs of user and key, `?2` the life of a key.
const FORGET_OLD_KEYS: &str = concat!(
    "DELETE FROM ticket_keys WHERE (user, key) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1)) \
     AND created_at <= ",
    now_ms!(),
    " - ?2"
);

const TICKETS_BY_KEY: &str = "SELECT k.user, k.key, k.ticket_id FROM json_each(?1) AS wanted \
     JOIN ticket_keys k ON k.user = wanted.value ->> 0 AND k.key = wanted.value ->> 1";

const INSERT_KEYS: &str = concat!(
    "INSERT INTO ticket_keys (user, key, ticket_id, created_at) \
     SELECT value ->> 0, value ->> 1, unhex(value ->> 2), ",
    now_ms!(),
    " FROM json_each(?1) WHERE true ON CONFLICT DO NOTHING"
);

impl SqliteStore {
    pub(super) async fn accept_batch(&self, batch: &[NewTicket]) -> Result<Vec<Accepted>> {
        let mut answers: Vec<Option<Accepted>> = vec![None; batch.len()];
        if batch.iter().all(|row| row.key.is_none()) {
            // The usual case: nobody has a ticket yet, and the one statement is its own transaction.
            let mut writer = self.writer.acquire().await?;
            self.insert_tickets(&mut writer, batch, &mut answers).await?;
        }
        if answers.iter().any(Option::is_none) {
            let committed = answers.iter().any(Option::is_some);
            let done = self.accept_the_rest(batch, &mut answers).await;
            done.map_err(|error| if committed { error.after_commit() } else { error })?;
        }
        let answers = answers.into_iter().collect::<Option<Vec<_>>>();
        answers.ok_or(StoreError::Contradiction("a new ticket was neither inserted nor stood in its own way"))
    }

    /// Answers what is still open, step by step in one transaction.
    async fn accept_the_rest(&self, batch: &[NewTicket], answers: &mut [Option<Accepted>]) -> Result<()> {
        let mut transaction = self.begin().await?;
        self.find_own(&mut transaction, batch, answers).await?;
        self.find_keyed(&mut transaction, batch, answers).await?;
        let open = open_rows(batch, answers);
        sqlx::query(EXPIRE_OVERDUE_OF_USERS).bind(users_json(&open)?).execute(&mut *transaction).await?;
        self.insert_tickets(&mut transaction, batch, answers).await?;
        self.record_keys(&mut transaction, batch, answers).await?;
        // A key that a neighbour in this batch has just used names that neighbour's ticket.
        self.find_keyed(&mut transaction, batch, answers).await?;
        self.find_waiting(&mut transaction, batch, answers).await?;
        self.find_same_press(&mut transaction, batch, answers).await?;
        self.record_keys(&mut transaction, batch, answers).await?;
        Ok(transaction.commit().await?)
    }

    async fn insert_tickets(
        &self,
        connection: &mut SqliteConnection,
        batch: &[NewTicket],
        answers: &mut [Option<Accepted>],
    ) -> Result<()> {
        let mut open = open_rows(batch, answers);
        if open.is_empty() {
            return Ok(());
        }
        // In user order, as on every store: two batches never wait for each other in a circle.
        open.sort_by(|(_, a), (_, b)| a.user.cmp(&b.user));
        let inserted = sqlx::query(INSERT_TICKETS)
            .bind(self.rows_json(&open)?)
            .bind(duration_to_db(self.rules.no_rematch_for))
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
            let pool = pool_ticket(new.user.clone(), &ticket, avoided_at(row, 3)?);
            answers[place] = Some(Accepted::Created { ticket, pool });
        }
        Ok(())
    }

    /// The parameter of [`INSERT_TICKETS`]: id, user, region, shard, interests, whether there is a key, the second shard
    /// and after how long.
    fn rows_json(&self, rows: &[(usize, &NewTicket)]) -> Result<String> {
        let rows = rows
            .iter()
            .map(|(_, row)| {
                let (id, shard) = (hex(row.id.to_bytes()), self.rules.shard_of(&row.region).0);
                let (wide_shard, wide_after) = match self.rules.wide_shard_of(&row.region) {
                    Some((shard, delay)) => (Some(shard.0), Some(duration_to_db(delay))),
                    None => (None, None),
                };
                let interests = to_json(&row.interests)?;
                Ok((id, &row.user, &row.region, shard, interests, row.key.is_some(), wide_shard, wide_after))
            })
            .collect::<Result<Vec<_>>>()?;
        to_json(&rows)
    }

    /// Equal wishes of people who were matched a moment ago.
    async fn find_same_press(
        &self,
        connection: &mut SqliteConnection,
        batch: &[NewTicket],
        answers: &mut [Option<Accepted>],
    ) -> Result<()> {
        let mut open = open_rows(batch, answers);
        open.retain(|(_, row)| row.key.is_none());
        if open.is_empty() {
            return Ok(());
        }
        let rows = sqlx::query(SAME_PRESS)
            .bind(self.rows_json(&open)?)
            .bind(duration_to_db(self.rules.same_press_within + SAME_PRESS_SLACK))
            .fetch_all(connection)
            .await?;
        let matched = rows.iter().map(ticket_from).collect::<Result<Vec<_>>>()?;
        for (place, row) in open {
            let same = matched.iter().rfind(|owned| owned.user == row.user);
            answers[place] = same.map(|owned| Accepted::Waiting(owned.ticket.clone()));
        }
        Ok(())
    }

    /// Rows that an earlier try of the same batch committed without its outcome becoming known.
    async fn find_own(
        &self,
        connection: &mut SqliteConnection,
        batch: &[NewTicket],
        answers: &mut [Option<Accepted>],
    ) -> Result<()> {
        let open = open_rows(batch, answers);
        let ids: Vec<TicketId> = open.iter().map(|(_, row)| row.id).collect();
        let own = tickets_by_id(connection, &ids).await?;
        if own.is_empty() {
            return Ok(());
        }
        let mut pools: HashMap<_, _> = fetch_pool_tickets(connection, &ids, self.rules.no_rematch_for)
            .await?
            .into_iter()
            .map(|pool| (pool.id, pool))
            .collect();
        for (place, row) in open {
            let Some(owned) = own.get(&row.id) else { continue };
            let pool = match pools.remove(&row.id) {
                Some(pool) => pool,
                // It has settled: no engine will take it.
                None => pool_ticket(owned.user.clone(), &owned.ticket, Vec::new()),
            };
            answers[place] = Some(Accepted::Created { ticket: owned.ticket.clone(), pool });
        }
        Ok(())
    }

    async fn find_keyed(
        &self,
        connection: &mut SqliteConnection,
        batch: &[NewTicket],
        answers: &mut [Option<Accepted>],
    ) -> Result<()> {
        let open = open_rows(batch, answers);
        let wanted: Vec<_> =
            open.iter().filter_map(|(_, row)| Some((&row.user, row.key.as_deref()?))).collect();
        if wanted.is_empty() {
            return Ok(());
        }
        let wanted = to_json(&wanted)?;
        sqlx::query(FORGET_OLD_KEYS)
            .bind(&wanted)
            .bind(duration_to_db(Rules::KEY_LIFE))
            .execute(&mut *connection)
            .await?;
        let rows = sqlx::query(TICKETS_BY_KEY).bind(&wanted).fetch_all(&mut *connection).await?;
        let mut named: HashMap<(String, String), TicketId> = HashMap::new();
        for row in &rows {
            named.insert((row.try_get(0)?, row.try_get(1)?), ticket_id_at(row, 2)?);
        }
        let ids: Vec<TicketId> = named.values().copied().collect();
        let tickets = tickets_by_id(connection, &ids).await?;
        for (place, row) in open {
            let Some(key) = &row.key else { continue };
            if let Some(id) = named.get(&(row.user.as_str().to_owned(), key.clone())) {
                answers[place] = tickets.get(id).map(|owned| Accepted::Keyed(owned.ticket.clone()));
            }
        }
        Ok(())
    }

    async fn find_waiting(
        &self,
        connection: &mut SqliteConnection,
        batch: &[NewTicket],
        answers: &mut [Option<Accepted>],
    ) -> Result<()> {
        let open = open_rows(batch, answers);
        if open.is_empty() {
            return Ok(());
        }
        let waiting = fetch_tickets(connection, WAITING_OF_USERS, users_json(&open)?).await?;
        let waiting: HashMap<_, _> = waiting.iter().map(|owned| (&owned.user, &owned.ticket)).collect();
        for (place, row) in open {
            answers[place] = waiting.get(&row.user).map(|ticket| Accepted::Waiting((*ticket).clone()));
        }
        Ok(())
    }

    /// Binds each key to the ticket that answered it, if the request was for that ticket.
    async fn record_keys(
        &self,
        connection: &mut SqliteConnection,
        batch: &[NewTicket],
        answers: &[Option<Accepted>],
    ) -> Result<()> {
        let rows: Vec<_> = batch
            .iter()
            .zip(answers)
            .filter_map(|(row, answer)| {
                let key = row.key.as_deref()?;
                let ticket = match answer.as_ref()? {
                    Accepted::Created { ticket, .. } => ticket,
                    Accepted::Waiting(ticket) => Some(ticket).filter(|ticket| {
                        ticket.region == row.region && ticket.interests.same_as(&row.interests)
                    })?,
                    Accepted::Keyed(_) => return None,
                };
                Some((&row.user, key, hex(ticket.id.to_bytes())))
            })
            .collect();
        if !rows.is_empty() {
            sqlx::query(INSERT_KEYS).bind(to_json(&rows)?).execute(connection).await?;
        }
        Ok(())
    }
}

fn open_rows<'a>(batch: &'a [NewTicket], answers: &[Option<Accepted>]) -> Vec<(usize, &'a NewTicket)> {
    batch.iter().enumerate().filter(|(place, _)| answers[*place].is_none()).collect()
}

fn users_json(rows: &[(usize, &NewTicket)]) -> Result<String> {
    to_json(&rows.iter().map(|(_, row)| &row.user).collect::<Vec<_>>())
}

async fn tickets_by_id(
    connection: &mut SqliteConnection,
    ids: &[TicketId],
) -> Result<HashMap<TicketId, OwnedTicket>> {
    let tickets = fetch_tickets(connection, TICKETS_BY_ID, ids_to_json(ids)?).await?;
    Ok(tickets.into_iter().map(|owned| (owned.ticket.id, owned)).collect())
}
