//! What an engine is told: tickets that wait, and tickets that should be withdrawn.
//!
//! A hint is never the truth. It may be lost, late or repeated; the store is asked again by reconciliation.

use serde::{Deserialize, Serialize};

use crate::{InterestSet, Region, ShardId, TicketId, Timestamp, UserId};

/// A waiting ticket as an engine needs it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PoolTicket {
    /// The ticket's id.
    pub id: TicketId,
    /// Whose it is.
    pub user: UserId,
    /// Where its user is.
    pub region: Region,
    /// What its user likes.
    pub interests: InterestSet,
    /// When it was committed, on the store's clock.
    pub created_at: Timestamp,
    /// Its deadline, on the store's clock.
    pub expires_at: Timestamp,
    /// Users it must not be paired with: blocked by its user, and its user's latest partners.
    pub avoid: Vec<UserId>,
}

/// News of committed tickets for the engine of one shard.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hint {
    /// The shard all of these belong to.
    pub shard: ShardId,
    /// Tickets that wait.
    pub waiting: Vec<PoolTicket>,
    /// Tickets that were settled elsewhere (cancelled), with their deadlines.
    pub withdrawn: Vec<(TicketId, Timestamp)>,
}
