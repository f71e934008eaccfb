//! From rows to values, and the views that the values are read from.

use proto::{
    InterestSet, Match, MatchId, MatchMade, MatchedTicket, Partner, PoolTicket, Region, Ticket, TicketId,
    TicketState, Timestamp, UserId,
};
use sqlx::Row;
use sqlx::postgres::PgRow;
use uuid::Uuid;

use crate::{OwnedTicket, Result, parse};

/// The columns that [`ticket_from`] reads, in order. From [`ticket_tables`].
macro_rules! ticket_columns {
    () => {
        "t.id, t.user_id, t.region, t.interests, t.state, t.created_at, t.expires_at, \
         m.id, p.partner, m.shared, m.similarity, m.region, m.made_at"
    };
}
pub(super) use ticket_columns;

/// Where [`ticket_columns`] come from, after a table of tickets called `t`.
macro_rules! ticket_tables {
    () => {
        " LEFT JOIN match_participants p ON p.ticket_id = t.id LEFT JOIN matches m ON m.id = p.match_id "
    };
}
pub(super) use ticket_tables;

/// The columns that [`ticket_from`] reads at offset 0, and where they come from; preceded by the clock.
macro_rules! ticket_view {
    () => {
        concat!(
            $crate::postgres::with_clock!(),
            " SELECT ",
            $crate::postgres::rows::ticket_columns!(),
            " FROM tickets t ",
            $crate::postgres::rows::ticket_tables!()
        )
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

/// The array of the users whom a user must not meet: whom they have blocked, and their latest partners, `$2` being the
/// rematch time in milliseconds. The limits are [`crate::Rules::MAX_AVOIDED_BLOCKS`] and
/// [`crate::Rules::MAX_AVOIDED_PARTNERS`].
macro_rules! avoided_users {
    ($user:literal) => {
        concat!(
            "ARRAY(SELECT blocked FROM blocks WHERE blocker = ",
            $user,
            " ORDER BY created_at DESC LIMIT 1000) || \
             ARRAY(SELECT partner FROM match_participants WHERE user_id = ",
            $user,
            " AND made_at > (SELECT now FROM clock) - $2 ORDER BY made_at DESC LIMIT 100)"
        )
    };
}
pub(super) use avoided_users;

/// The columns that [`pool_ticket_from`] reads, in order, and where they come from; preceded by the clock. `$2` as
/// [`avoided_users`].
macro_rules! pool_view {
    () => {
        concat!(
            $crate::postgres::with_clock!(),
            " SELECT t.id, t.user_id, t.region, t.interests, t.created_at, t.expires_at, ",
            $crate::postgres::rows::avoided_users!("t.user_id"),
            " FROM tickets t "
        )
    };
}
pub(super) use pool_view;

const MATCH_COLUMNS_IN_TICKET_VIEW: usize = 7;

pub(super) fn moment_at(row: &PgRow, column: usize) -> Result<Timestamp> {
    parse::moment(row.try_get(column)?)
}

pub(super) fn region_at(row: &PgRow, column: usize) -> Result<Region> {
    parse::region(row.try_get(column)?)
}

pub(super) fn user_at(row: &PgRow, column: usize) -> Result<UserId> {
    parse::user(row.try_get(column)?)
}

pub(super) fn users_at(row: &PgRow, column: usize) -> Result<Vec<UserId>> {
    let users: Vec<String> = row.try_get(column)?;
    users.iter().map(|user| parse::user(user)).collect()
}

pub(super) fn interests_at(row: &PgRow, column: usize) -> Result<InterestSet> {
    parse::interests(row.try_get(column)?)
}

pub(super) fn state_at(row: &PgRow, column: usize) -> Result<TicketState> {
    parse::state(row.try_get(column)?)
}

pub(super) fn ticket_id_at(row: &PgRow, column: usize) -> Result<TicketId> {
    Ok(TicketId::from_u128(row.try_get::<Uuid, _>(column)?.as_u128()))
}

pub(super) fn match_id_at(row: &PgRow, column: usize) -> Result<MatchId> {
    Ok(MatchId::from_u128(row.try_get::<Uuid, _>(column)?.as_u128()))
}

/// A row of [`match_view`], or the tail of one of [`ticket_columns`].
pub(super) fn match_from(row: &PgRow, first: usize) -> Result<Match> {
    Ok(Match {
        id: match_id_at(row, first)?,
        partner: Partner { user: user_at(row, first + 1)? },
        shared_interests: parse::shared_interests(row.try_get(first + 2)?)?,
        similarity: row.try_get(first + 3)?,
        region: region_at(row, first + 4)?,
        made_at: moment_at(row, first + 5)?,
    })
}

/// The [`ticket_columns`] of a row, from this one on.
pub(super) fn ticket_from(row: &PgRow, first: usize) -> Result<OwnedTicket> {
    let state = state_at(row, first + 4)?;
    let matched = state == TicketState::Matched;
    let r#match = matched.then(|| match_from(row, first + MATCH_COLUMNS_IN_TICKET_VIEW)).transpose()?;
    let ticket = Ticket {
        id: ticket_id_at(row, first)?,
        state,
        region: region_at(row, first + 2)?,
        interests: interests_at(row, first + 3)?,
        created_at: moment_at(row, first + 5)?,
        expires_at: moment_at(row, first + 6)?,
        r#match,
    };
    Ok(OwnedTicket { user: user_at(row, first + 1)?, ticket })
}

/// The ticket of a row of [`ticket_view`], if there is a row.
pub(super) fn ticket_if_any(row: Option<&PgRow>) -> Result<Option<Ticket>> {
    Ok(row.map(|row| ticket_from(row, 0)).transpose()?.map(|owned| owned.ticket))
}

/// A row of [`pool_view`].
pub(super) fn pool_ticket_from(row: &PgRow) -> Result<PoolTicket> {
    Ok(PoolTicket {
        id: ticket_id_at(row, 0)?,
        user: user_at(row, 1)?,
        region: region_at(row, 2)?,
        interests: interests_at(row, 3)?,
        created_at: moment_at(row, 4)?,
        expires_at: moment_at(row, 5)?,
        avoid: users_at(row, 6)?,
    })
}

/// A row of match id, ticket, user, ticket, user, shared interests, similarity, region and moment, the earlier ticket first.
pub(super) fn made_from(row: &PgRow) -> Result<MatchMade> {
    Ok(MatchMade {
        id: match_id_at(row, 0)?,
        tickets: [
            MatchedTicket { id: ticket_id_at(row, 1)?, user: user_at(row, 2)? },
            MatchedTicket { id: ticket_id_at(row, 3)?, user: user_at(row, 4)? },
        ],
        shared_interests: parse::shared_interests(row.try_get(5)?)?,
        similarity: row.try_get(6)?,
        region: region_at(row, 7)?,
        made_at: moment_at(row, 8)?,
    })
}
