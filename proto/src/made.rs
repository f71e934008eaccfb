//! A match as those learn of it who are neither of the two: whoever pushes to phones, or counts.

use serde::{Deserialize, Serialize};

use crate::{MatchId, Region, TicketId, Timestamp, UserId};

/// A match was made.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatchMade {
    /// The match's id.
    pub id: MatchId,
    /// The two tickets, the earlier one first.
    pub tickets: [MatchedTicket; 2],
    /// The interests both have, spelt as on the earlier ticket.
    pub shared_interests: Vec<String>,
    /// Jaccard index of the two interest sets, 0 to 1.
    pub similarity: f64,
    /// The narrowest region that holds both.
    pub region: Region,
    /// When it was committed, on the store's clock.
    pub made_at: Timestamp,
}

/// One ticket of a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MatchedTicket {
    /// The ticket's id.
    pub id: TicketId,
    /// Whose it is.
    pub user: UserId,
}
