//! How tickets leave the pool, or come back to it.
//!
//! Owns what the outcome of a proposal means. A pair that was not proposed, or whose outcome came before, must change
//! nothing: outcomes may come late and twice.

use crate::engine::Engine;
use crate::pool::{Slot, Stage};
use crate::{Event, Refusal, TicketId, Time};

/// What the outcome of a proposal means for one of the two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    /// It leaves the pool.
    Leaves,
    /// It waits on, unless it was withdrawn meanwhile or its deadline has come.
    Returns,
}

impl Engine {
    /// A waiting ticket leaves at once; one being settled leaves when the outcome comes.
    pub(crate) fn withdraw(&mut self, id: TicketId, expires_at: Time) {
        let Some(slot) = self.pool.find(id) else {
            self.released.remember(id, expires_at, self.now);
            return;
        };
        match &mut self.pool.get_mut(slot).stage {
            Stage::Settling { withdrawn, .. } => *withdrawn = true,
            Stage::Waiting => {
                self.stop_waiting(slot);
                self.release(slot);
            }
        }
    }

    /// Both leave, matched.
    pub(crate) fn confirm(&mut self, a: TicketId, b: TicketId) {
        if let Some((a, b)) = self.find_proposed(a, b) {
            self.release(a);
            self.release(b);
        }
    }

    /// Those not gone return, with their wait kept, and search as if they arrived, the longest waiting first.
    pub(crate) fn refuse(&mut self, a: TicketId, b: TicketId, why: Refusal, events: &mut Vec<Event>) {
        let Some((a, b)) = self.find_proposed(a, b) else { return };
        let outcome = |gone| if gone { Outcome::Leaves } else { Outcome::Returns };
        let outcomes = match why {
            Refusal::Gone { a: a_gone, b: b_gone } => [(a, outcome(a_gone)), (b, outcome(b_gone))],
            Refusal::Avoid => {
                let (user_a, user_b) = (self.pool.get(a).user, self.pool.get(b).user);
                self.pool.add_avoided(a, user_b);
                self.pool.add_avoided(b, user_a);
                [(a, Outcome::Returns), (b, Outcome::Returns)]
            }
        };
        let mut returned = Vec::new();
        for (slot, outcome) in outcomes {
            if self.finish_settling(slot, outcome, events) {
                let resident = self.pool.get(slot);
                returned.push((resident.created_at, resident.id, slot));
            }
        }
        returned.sort_unstable();
        for (_, _, slot) in returned {
            if self.pool.get(slot).stage == Stage::Waiting {
                self.seek_partner(slot, events);
            }
        }
    }

    /// Says whether the ticket waits again.
    fn finish_settling(&mut self, slot: Slot, outcome: Outcome, events: &mut Vec<Event>) -> bool {
        let resident = self.pool.get(slot);
        let withdrawn = matches!(resident.stage, Stage::Settling { withdrawn: true, .. });
        if outcome == Outcome::Leaves || withdrawn {
            self.release(slot);
            return false;
        }
        if resident.expires_at <= self.now {
            events.push(Event::Forgotten(self.pool.remove(slot).id));
            return false;
        }
        self.start_waiting(slot);
        true
    }

    /// The two, if they were proposed to each other and the outcome has not come yet.
    fn find_proposed(&self, a: TicketId, b: TicketId) -> Option<(Slot, Slot)> {
        let (a, b) = (self.pool.find(a)?, self.pool.find(b)?);
        match self.pool.get(a).stage {
            Stage::Settling { partner, .. } if partner == b => Some((a, b)),
            Stage::Settling { .. } | Stage::Waiting => None,
        }
    }

    /// Lets a ticket go that no longer waits, and remembers that it was here.
    fn release(&mut self, slot: Slot) {
        let resident = self.pool.remove(slot);
        self.released.remember(resident.id, resident.expires_at, self.now);
    }
}
