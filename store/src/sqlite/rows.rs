//! From rows to values. A value that does not parse is [`StoreError::Invalid`]: this program never wrote it.

use std::time::Duration;

use proto::{
    InterestSet, Match, Partner, PoolTicket, Region, Ticket, TicketId, TicketState, Timestamp, UserId,
};
use sqlx::Row;
use sqlx::sqlite::SqliteRow;

use super::{duration_to_db, ids_to_json};
use crate::parse;
use crate::{OwnedTicket, Result};

/// The columns that [`ticket_from`] reads, in order, and where they come from.
macro_rules! ticket_view {
    () => {
        "SELECT t.id, t.user, t.region, t.interests, t.state, t.created_at, t.expires_at, \
                m.id, p.partner, m.shared, m.similarity, m.region, m.made_at \
         FROM tickets t \
         LEFT JOIN match_participants p ON p.ticket_id = t.id \
         LEFT JOIN matches m ON m.id = p.match_id "
    };
}
pub(super) use ticket_view;

/// The columns that [`match_from`] reads at offset 0, and where they come from.
macro_rules! match_view {
    () => {
        "SELECT m.id, p.partner, m.shared, m.similarity, m.region, m.made_at \
         FROM match_participants p JOIN matches m ON m.id = p.match_id "
    };
}
pub(super) use match_view;

/// The JSON array of the users whom the user of the row at hand must not meet: whom they have blocked, and their latest
/// partners, `?2` being the rematch time in milliseconds.
///
/// The limits ([`crate::Rules::MAX_AVOIDED_BLOCKS`], [`crate::Rules::MAX_AVOIDED_PARTNERS`]) are written out: SQLite
/// prepares a statement anew each time a parameter of a LIMIT is bound.
macro_rules! avoided_users {
    ($user:literal) => {
        concat!(
            "(SELECT json_group_array(other) FROM \
                (SELECT * FROM (SELECT blocked AS other FROM blocks WHERE blocker = ",
            $user,
            " ORDER BY created_at DESC LIMIT 1000) \
                 UNION ALL \
                 SELECT * FROM (SELECT partner FROM match_participants WHERE user = ",
            $user,
            " AND made_at > ",
            $crate::sqlite::now_ms!(),
            " - ?2 ORDER BY made_at DESC LIMIT 100)))"
        )
    };
}
pub(super) use avoided_users;

const MATCH_COLUMNS_IN_TICKET_VIEW: usize = 7;

pub(super) fn moment_at(row: &SqliteRow, column: usize) -> Result<Timestamp> {
    parse::moment(row.try_get(column)?)
}

pub(super) fn region_at(row: &SqliteRow, column: usize) -> Result<Region> {
    parse::region(row.try_get(column)?)
}

pub(super) fn user_at(row: &SqliteRow, column: usize) -> Result<UserId> {
    parse::user(row.try_get(column)?)
}

pub(super) fn interests_at(row: &SqliteRow, column: usize) -> Result<InterestSet> {
    parse::interests(row.try_get(column)?)
}

pub(super) fn ticket_id_at(row: &SqliteRow, column: usize) -> Result<TicketId> {
    Ok(TicketId::from_bytes(row.try_get(column)?)?)
}

pub(super) fn state_at(row: &SqliteRow, column: usize) -> Result<TicketState> {
    parse::state(row.try_get(column)?)
}

/// A row of [`match_view`], or the tail of one of [`ticket_view`].
pub(super) fn match_from(row: &SqliteRow, first: usize) -> Result<Match> {
    Ok(Match {
        id: proto::MatchId::from_bytes(row.try_get(first)?)?,
        partner: Partner { user: user_at(row, first + 1)? },
        shared_interests: parse::shared_interests(row.try_get(first + 2)?)?,
        similarity: row.try_get(first + 3)?,
        region: region_at(row, first + 4)?,
        made_at: moment_at(row, first + 5)?,
    })
}

/// A row of [`ticket_view`].
pub(super) fn ticket_from(row: &SqliteRow) -> Result<OwnedTicket> {
    let state = state_at(row, 4)?;
    let matched = state == TicketState::Matched;
    let r#match = matched.then(|| match_from(row, MATCH_COLUMNS_IN_TICKET_VIEW)).transpose()?;
    let ticket = Ticket {
        id: ticket_id_at(row, 0)?,
        state,
        region: region_at(row, 2)?,
        interests: interests_at(row, 3)?,
        created_at: moment_at(row, 5)?,
        expires_at: moment_at(row, 6)?,
        r#match,
    };
    Ok(OwnedTicket { user: user_at(row, 1)?, ticket })
}

/// `?1` ids.
pub(super) const TICKETS_BY_ID: &str =
    concat!(ticket_view!(), "WHERE t.id IN (SELECT unhex(value) FROM json_each(?1))");

/// The tickets of a statement on [`ticket_view`] with one JSON parameter.
pub(super) async fn fetch_tickets(
    executor: impl sqlx::SqliteExecutor<'_>,
    statement: &'static str,
    parameter: String,
) -> Result<Vec<OwnedTicket>> {
    let rows = sqlx::query(statement).bind(parameter).fetch_all(executor).await?;
    rows.iter().map(ticket_from).collect()
}

/// The ticket of a row of [`ticket_view`], if there is a row.
pub(super) fn ticket_if_any(row: Option<&SqliteRow>) -> Result<Option<Ticket>> {
    Ok(row.map(ticket_from).transpose()?.map(|owned| owned.ticket))
}

/// The users in a value of [`avoided_users`].
pub(super) fn avoided_at(row: &SqliteRow, column: usize) -> Result<Vec<UserId>> {
    parse::from_json(row.try_get(column)?, "list of users to avoid")
}

/// The columns that [`pool_ticket_from`] reads, in order, and where they come from. `?2` as [`avoided_users`].
macro_rules! pool_view {
    () => {
        concat!(
            "SELECT id, user, region, interests, created_at, expires_at, ",
            $crate::sqlite::rows::avoided_users!("tickets.user"),
            " FROM tickets "
        )
    };
}
pub(super) use pool_view;

/// `?1` ids.
const POOL_TICKETS: &str =
    concat!(pool_view!(), "WHERE state = 'waiting' AND id IN (SELECT unhex(value) FROM json_each(?1))");

/// A row of [`pool_view`].
pub(super) fn pool_ticket_from(row: &SqliteRow) -> Result<PoolTicket> {
    Ok(PoolTicket {
        id: ticket_id_at(row, 0)?,
        user: user_at(row, 1)?,
        region: region_at(row, 2)?,
        interests: interests_at(row, 3)?,
        created_at: moment_at(row, 4)?,
        expires_at: moment_at(row, 5)?,
        avoid: avoided_at(row, 6)?,
    })
}

/// Those of these tickets that wait.
pub(super) async fn fetch_pool_tickets(
    executor: impl sqlx::SqliteExecutor<'_>,
    ids: &[TicketId],
    no_rematch_for: Duration,
) -> Result<Vec<PoolTicket>> {
    let rows = sqlx::query(POOL_TICKETS)
        .bind(ids_to_json(ids)?)
        .bind(duration_to_db(no_rematch_for))
        .fetch_all(executor)
        .await?;
    rows.iter().map(pool_ticket_from).collect()
}
