//! New ids: UUID version 7 (RFC 9562), which order by the moment they were made, so that the store's index grows at
//! one end. Uniqueness comes from their 74 random bits, not from the clock.

use proto::{MatchId, OwnerId, TicketId};
use uuid::Uuid;

/// An id for a new ticket.
pub fn new_ticket_id() -> TicketId {
    TicketId::from_u128(Uuid::now_v7().as_u128())
}

/// An id for a new match.
pub fn new_match_id() -> MatchId {
    MatchId::from_u128(Uuid::now_v7().as_u128())
}

/// A name for this start of a process, unlike any other start's.
pub fn new_owner_id() -> OwnerId {
    OwnerId::from_u128(Uuid::now_v7().as_u128())
}
