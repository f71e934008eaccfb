//! Which tickets came of a trace's requests, and how each ended.

use std::collections::HashMap;

use crate::outcome::{Ending, Posted, Seen};

/// One ticket: what its first phone saw of its making, and of its end whichever phone saw that first.
#[derive(Debug)]
pub(crate) struct Ticket<'s> {
    /// The request of the trace that it came of.
    pub(crate) request: usize,
    pub(crate) first: &'s Seen,
    pub(crate) end: &'s Seen,
}

impl Ticket<'_> {
    /// Whether its user was told of a match.
    pub(crate) fn is_matched(&self) -> bool {
        matches!(self.end.ending, Ending::Matched { .. })
    }
}

/// The tickets of a run. A user who submits again while waiting has two phones on one ticket: it counts once.
pub(crate) fn tickets(seen: &[Seen]) -> Vec<Ticket<'_>> {
    let mut places = HashMap::new();
    let mut tickets: Vec<Ticket<'_>> = Vec::new();
    for (request, one) in seen.iter().enumerate() {
        let Posted::Ticket(id) = one.posted else { continue };
        let place = *places.entry(id).or_insert(tickets.len());
        match tickets.get_mut(place) {
            None => tickets.push(Ticket { request, first: one, end: one }),
            Some(ticket) if ticket.end.ending == Ending::Unsettled => ticket.end = one,
            Some(_) => {}
        }
    }
    tickets
}
