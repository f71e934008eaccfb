//! A waiting ticket as the engine takes it.

use std::sync::Arc;

use crate::Time;

/// Names one ticket. The engine does not look inside.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TicketId(pub u128);

/// One user's wish to be matched, as a caller admits it to the pool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ticket {
    /// The ticket's id.
    pub id: TicketId,
    /// Whose it is, compared byte for byte. Two tickets of one user never pair.
    pub user: Box<str>,
    /// Where its user is: a dotted path, widest label first.
    pub region: Box<str>,
    /// The keys of its interests, compared byte for byte. Repeats count once.
    pub interests: Vec<Arc<str>>,
    /// When it began to wait: thresholds fall and scopes widen from here.
    pub created_at: Time,
    /// Its deadline: it is never proposed at or after this moment.
    pub expires_at: Time,
    /// Users it must not be paired with. Pairing looks both ways, so one side's list is enough.
    pub avoid: Vec<Box<str>>,
}
