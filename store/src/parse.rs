//! From what a database holds to values. What does not parse is [`StoreError::Invalid`]: this program never wrote it.

use std::time::Duration;

use proto::{InterestSet, PoolTicket, Region, ShardId, Ticket, TicketState, Timestamp, UserId};

use crate::{Result, StoreError};

pub(crate) fn moment(millis: i64) -> Result<Timestamp> {
    let millis = u64::try_from(millis).map_err(|error| StoreError::invalid("moment", error))?;
    Ok(Timestamp::from_millis(millis))
}

/// A moment as databases hold it. Later than they can hold is for ever.
pub(crate) fn moment_to_db(moment: Timestamp) -> i64 {
    i64::try_from(moment.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn duration_to_db(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}

pub(crate) fn count(value: i64) -> Result<u64> {
    u64::try_from(value).map_err(|error| StoreError::invalid("count", error))
}

/// A shard as Postgres holds it, which has no unsigned integers.
pub(crate) fn shard(id: i32) -> Result<ShardId> {
    u16::try_from(id).map(ShardId).map_err(|error| StoreError::invalid("shard", error))
}

pub(crate) fn region(text: &str) -> Result<Region> {
    text.parse().map_err(|error: proto::InvalidRegion| StoreError::invalid("region", error))
}

pub(crate) fn user(text: &str) -> Result<UserId> {
    UserId::new(text).map_err(|error| StoreError::invalid("user id", error))
}

pub(crate) fn state(text: &str) -> Result<TicketState> {
    [TicketState::Waiting, TicketState::Matched, TicketState::Cancelled, TicketState::Expired]
        .into_iter()
        .find(|state| state.as_str() == text)
        .ok_or_else(|| StoreError::invalid("ticket state", text))
}

pub(crate) fn interests(json: &str) -> Result<InterestSet> {
    from_json(json, "interest list")
}

pub(crate) fn shared_interests(json: &str) -> Result<Vec<String>> {
    from_json(json, "list of shared interests")
}

pub(crate) fn from_json<T: serde::de::DeserializeOwned>(json: &str, what: &'static str) -> Result<T> {
    serde_json::from_str(json).map_err(|error| StoreError::invalid(what, error))
}

pub(crate) fn to_json(value: &impl serde::Serialize) -> Result<String> {
    serde_json::to_string(value).map_err(|error| StoreError::invalid("batch", error))
}

/// A ticket as an engine needs it, from what its user sees of it.
pub(crate) fn pool_ticket(user: UserId, ticket: &Ticket, avoid: Vec<UserId>) -> PoolTicket {
    PoolTicket {
        id: ticket.id,
        user,
        region: ticket.region.clone(),
        interests: ticket.interests.clone(),
        created_at: ticket.created_at,
        expires_at: ticket.expires_at,
        avoid,
    }
}
