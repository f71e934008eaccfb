//! Tickets that were committed here a moment ago and of which no word has come since.
//!
//! A phone asks for its ticket right after it was made. If it has subscribed first, the ticket need not be read again:
//! had it settled before, word would have come and it would not be here; if it settles later, word will find the phone.
//! Lost word costs the same second that it costs any phone that waits.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use proto::{Ticket, TicketId, UserId};
use store::OwnedTicket;

/// The most tickets kept. Past it new ones are simply read from the store.
const BOUND: usize = 32_768;
/// How long a ticket is kept: longer than a phone takes to ask.
const KEEP_FOR: Duration = Duration::from_secs(3);

/// Tickets made here lately, by id.
#[derive(Default)]
pub(crate) struct Fresh(Mutex<HashMap<TicketId, (Instant, OwnedTicket)>>);

impl Fresh {
    /// Keeps a ticket that was committed just now.
    pub(crate) fn note(&self, user: UserId, ticket: Ticket) {
        let mut kept = self.lock();
        if kept.len() < BOUND {
            kept.insert(ticket.id, (Instant::now(), OwnedTicket { user, ticket }));
        }
    }

    /// Lets go of tickets that word has come of.
    pub(crate) fn forget(&self, ids: &[TicketId]) {
        let mut kept = self.lock();
        for id in ids {
            kept.remove(id);
        }
    }

    /// Lets go of tickets that are no longer fresh.
    pub(crate) fn forget_old(&self) {
        self.lock().retain(|_, (since, _)| since.elapsed() < KEEP_FOR);
    }

    /// The ticket, if it is kept. Only for those who have subscribed to it.
    pub(crate) fn take(&self, id: TicketId) -> Option<OwnedTicket> {
        self.lock().remove(&id).map(|(_, owned)| owned)
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<TicketId, (Instant, OwnedTicket)>> {
        // Nothing that panics runs under this lock.
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
