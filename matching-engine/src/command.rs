//! What the engine is told, and what it answers.

use crate::{Ticket, TicketId, Time};

/// Something the engine is told. Every command comes with `now`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Command {
    /// A ticket waits. Answered by [`Event::Admitted`] or [`Event::Rejected`].
    Admit(Ticket),
    /// A ticket was settled elsewhere, or must leave the pool. Unknown ids are remembered until `expires_at`, so
    /// that a late `Admit` does not bring back a ghost. Not answered.
    Withdraw {
        /// Which ticket.
        id: TicketId,
        /// Its deadline; when unknown, a moment after which no message about it can still arrive.
        expires_at: Time,
    },
    /// A proposed pair was settled as a match: both tickets leave the pool. Not answered.
    Confirm {
        /// One ticket of the proposal.
        a: TicketId,
        /// The other.
        b: TicketId,
    },
    /// A proposed pair was refused by the arbiter. Those not gone return to the pool, with their wait kept.
    Refuse {
        /// One ticket of the proposal.
        a: TicketId,
        /// The other.
        b: TicketId,
        /// Why.
        why: Refusal,
    },
    /// Time has passed: do what is due.
    Advance,
}

/// Why the arbiter refused a proposal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// One or both are settled, overdue or unknown: they leave the pool.
    Gone {
        /// Whether the first is.
        a: bool,
        /// Whether the second is.
        b: bool,
    },
    /// The two must not meet (blocked, or partners not long ago): each is added to the other's avoid set.
    Avoid,
}

/// Something the engine says.
#[derive(Debug, Clone, PartialEq)]
pub enum Event {
    /// The ticket is in the pool.
    Admitted(TicketId),
    /// The ticket was not taken.
    Rejected {
        /// Which ticket.
        id: TicketId,
        /// Why.
        why: Rejection,
    },
    /// These two should be settled as a match. Both stay in the pool, untouchable, until `Confirm` or `Refuse`.
    Proposed {
        /// The ticket that has waited longer (ties: the smaller id).
        a: TicketId,
        /// The other.
        b: TicketId,
        /// Jaccard index of the two interest sets, 0 to 1.
        similarity: f64,
    },
    /// The ticket's deadline passed, so it left the pool. The store settles it.
    Forgotten(TicketId),
}

/// Why a ticket was not taken into the pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rejection {
    /// It is there already.
    AlreadyPooled,
    /// It was there, or was withdrawn before it came.
    Released,
    /// Its deadline has passed.
    Overdue,
    /// The pool is at its bound. Nothing is lost: it may be admitted later.
    Full,
}
