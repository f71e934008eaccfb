//! Who got no new ticket, and the ticket that answers them instead.

use std::collections::HashSet;

use proto::{Ticket, TicketState, Timestamp};
use sqlx::{PgConnection, Row};
use uuid::Uuid;

use super::accept::open_rows;
use super::rows::{avoided_users, moment_at, ticket_columns, ticket_from, ticket_tables, users_at};
use super::{PostgresStore, with_clock};
use crate::parse::{duration_to_db, pool_ticket, to_json};
use crate::{Accepted, NewTicket, OwnedTicket, Result, Rules};

/// What stands in each row's way, the first of: the row itself, from an earlier try whose outcome did not become known; the
/// ticket its key names; its user's waiting ticket, also when it is overdue; a match of an equal wish a moment ago. No row
/// when it is gone again.
///
/// `$1` ids, `$2` as [`avoided_users`], `$3` users, `$4` keys, `$5` regions, `$6` interests; `$7` the life of a key, `$8` how
/// long an equal wish is the same press.
pub(super) const LOSERS: &str = concat!(
    with_clock!(),
    " SELECT lost.place, found.why, CASE WHEN found.why = 0 THEN ",
    avoided_users!("t.user_id"),
    " ELSE '{}' END, (SELECT now FROM clock), ",
    ticket_columns!(),
    " FROM unnest($1::uuid[], $3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY \
           AS lost (id, user_id, key, region, interests, place) \
      CROSS JOIN LATERAL ( \
        (SELECT own.id, 0 AS why FROM tickets own WHERE own.id = lost.id AND own.user_id = lost.user_id) \
        UNION ALL \
        (SELECT k.ticket_id, 1 FROM ticket_keys k \
         WHERE k.user_id = lost.user_id AND k.key = lost.key AND k.created_at > (SELECT now FROM clock) - $7) \
        UNION ALL \
        (SELECT w.id, 2 FROM tickets w WHERE w.user_id = lost.user_id AND w.state = 'waiting') \
        UNION ALL \
        (SELECT s.id, 3 FROM tickets s \
         WHERE lost.key IS NULL AND s.user_id = lost.user_id AND s.state <> 'waiting' \
           AND s.settled_at > (SELECT now FROM clock) - $8 AND s.state = 'matched' \
           AND s.region = lost.region AND s.interests = lost.interests \
         ORDER BY s.settled_at DESC LIMIT 1) \
        ORDER BY why LIMIT 1 \
      ) AS found \
      JOIN tickets t ON t.id = found.id",
    ticket_tables!()
);

const OWN: i32 = 0;
const KEYED: i32 = 1;

/// Columns of [`LOSERS`] before those of the ticket.
const COLUMNS_BEFORE_TICKET: usize = 4;

/// `$1` users, `$2` keys, `$3` tickets. Answers those that were not bound before.
pub(super) const BIND_KEYS: &str = concat!(
    with_clock!(),
    " INSERT INTO ticket_keys (user_id, key, ticket_id, created_at) \
      SELECT new.user_id, new.key, new.ticket_id, clock.now \
      FROM clock CROSS JOIN unnest($1::text[], $2::text[], $3::uuid[]) WITH ORDINALITY \
           AS new (user_id, key, ticket_id, place) \
      ORDER BY new.place ON CONFLICT DO NOTHING RETURNING user_id, key"
);

/// A row whose key is to name the ticket that it is answered with.
struct ToBind<'a> {
    place: usize,
    user: &'a str,
    key: &'a str,
    ticket: Ticket,
}

impl PostgresStore {
    /// Answers the open rows of a batch with the tickets that stood in their way.
    pub(super) async fn answer_losers(
        &self,
        connection: &mut PgConnection,
        batch: &[NewTicket],
        answers: &mut [Option<Accepted>],
    ) -> Result<()> {
        let open = open_rows(batch, answers);
        let interests = open.iter().map(|(_, row)| to_json(&row.interests)).collect::<Result<Vec<_>>>()?;
        let rows = sqlx::query(LOSERS)
            .bind(open.iter().map(|(_, row)| Uuid::from_u128(row.id.as_u128())).collect::<Vec<_>>())
            .bind(duration_to_db(self.rules.no_rematch_for))
            .bind(open.iter().map(|(_, row)| row.user.as_str()).collect::<Vec<_>>())
            .bind(open.iter().map(|(_, row)| row.key.as_deref()).collect::<Vec<_>>())
            .bind(open.iter().map(|(_, row)| row.region.as_str()).collect::<Vec<_>>())
            .bind(interests)
            .bind(duration_to_db(Rules::KEY_LIFE))
            .bind(duration_to_db(self.rules.same_press_within))
            .fetch_all(&mut *connection)
            .await?;
        let mut to_bind = Vec::new();
        for row in &rows {
            // The database counts from 1.
            let nth: i64 = row.try_get(0)?;
            let (place, new) = open[usize::try_from(nth - 1).expect("a place in the batch")];
            let OwnedTicket { user, ticket } = ticket_from(row, COLUMNS_BEFORE_TICKET)?;
            answers[place] = match (row.try_get(1)?, &new.key) {
                (OWN, _) => {
                    let pool = pool_ticket(user, &ticket, users_at(row, 2)?);
                    Some(Accepted::Created { ticket, pool })
                }
                (KEYED, _) => Some(Accepted::Keyed(ticket)),
                // It makes room.
                _ if is_overdue(&ticket, moment_at(row, 3)?) => None,
                (_, Some(key)) if is_for(new, &ticket) => {
                    to_bind.push(ToBind { place, user: new.user.as_str(), key, ticket });
                    None
                }
                _ => Some(Accepted::Waiting(ticket)),
            };
        }
        bind_keys(connection, to_bind, answers).await
    }
}

fn is_overdue(ticket: &Ticket, now: Timestamp) -> bool {
    ticket.state == TicketState::Waiting && ticket.expires_at <= now
}

/// Whether a request was for the ticket that answers it.
fn is_for(new: &NewTicket, ticket: &Ticket) -> bool {
    ticket.region == new.region && ticket.interests.same_as(&new.interests)
}

/// Binds each key to the ticket that answers its row. Whose key another request has bound first stays open: the key names
/// that one's ticket.
async fn bind_keys(
    connection: &mut PgConnection,
    to_bind: Vec<ToBind<'_>>,
    answers: &mut [Option<Accepted>],
) -> Result<()> {
    if to_bind.is_empty() {
        return Ok(());
    }
    let ids: Vec<Uuid> = to_bind.iter().map(|bind| Uuid::from_u128(bind.ticket.id.as_u128())).collect();
    let rows = sqlx::query(BIND_KEYS)
        .bind(to_bind.iter().map(|bind| bind.user).collect::<Vec<_>>())
        .bind(to_bind.iter().map(|bind| bind.key).collect::<Vec<_>>())
        .bind(ids)
        .fetch_all(connection)
        .await?;
    let bound: Vec<(&str, &str)> =
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect::<Result<_>>()?;
    let mut bound: HashSet<(&str, &str)> = bound.into_iter().collect();
    for ToBind { place, user, key, ticket } in to_bind {
        // Once: of two rows with one key, the other finds it bound.
        if bound.remove(&(user, key)) {
            answers[place] = Some(Accepted::Waiting(ticket));
        }
    }
    Ok(())
}
