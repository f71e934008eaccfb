//! Tickets and matches as the API shows them.

use serde::{Deserialize, Serialize};

use crate::{InterestSet, MatchId, Region, TicketId, Timestamp, UserId};

/// Where a ticket stands. Every state but `Waiting` is final.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum TicketState {
    /// Looking for a partner.
    Waiting,
    /// Joined with another ticket.
    Matched,
    /// Withdrawn by its user.
    Cancelled,
    /// Its deadline passed.
    Expired,
}

impl TicketState {
    /// Whether the state can never change again.
    pub fn is_final(self) -> bool {
        self != Self::Waiting
    }

    /// The state's word, as in JSON, metrics and the store.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Matched => "matched",
            Self::Cancelled => "cancelled",
            Self::Expired => "expired",
        }
    }
}

/// One user's wish to be matched, as its user sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ticket {
    /// The ticket's id.
    pub id: TicketId,
    /// Where it stands.
    pub state: TicketState,
    /// Where its user is.
    pub region: Region,
    /// What its user likes.
    pub interests: InterestSet,
    /// When it was committed, on the store's clock.
    pub created_at: Timestamp,
    /// Its deadline, on the store's clock.
    pub expires_at: Timestamp,
    /// Its match, when the state is `matched`.
    pub r#match: Option<Match>,
}

/// Two tickets joined, as one of the two users sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Match {
    /// The match's id: the key that a chat or call room is opened with.
    pub id: MatchId,
    /// The other person.
    pub partner: Partner,
    /// The interests both have, spelt as on the earlier ticket.
    pub shared_interests: Vec<String>,
    /// Jaccard index of the two interest sets, 0 to 1.
    pub similarity: f64,
    /// The narrowest region that holds both.
    pub region: Region,
    /// When it was committed, on the store's clock.
    pub made_at: Timestamp,
}

/// The other person of a match.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Partner {
    /// The partner's user id.
    pub user: UserId,
}

/// One page of a user's matches, newest first.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatchPage {
    /// The matches.
    pub items: Vec<Match>,
    /// Where the next page starts, or `None` when this is the last.
    pub next_cursor: Option<String>,
}
