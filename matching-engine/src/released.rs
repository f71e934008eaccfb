//! The ids of tickets that left, so that a late message cannot bring them back.
//!
//! Owns nothing but ids and deadlines. An id must not stay past its deadline: then it would be refused as overdue
//! anyway.

use std::collections::{BTreeSet, HashMap};

use crate::{TicketId, Time};

/// Released ids, each kept until a moment. As many as left the pool within the time that a ticket may wait.
#[derive(Debug, Default)]
pub(crate) struct Released {
    until: HashMap<TicketId, Time>,
    by_moment: BTreeSet<(Time, TicketId)>,
}

impl Released {
    /// Keeps an id until then; of two moments the later counts.
    pub(crate) fn remember(&mut self, id: TicketId, until: Time, now: Time) {
        if until <= now {
            return;
        }
        match self.until.insert(id, until) {
            Some(before) if before >= until => {
                self.until.insert(id, before);
            }
            Some(before) => {
                self.by_moment.remove(&(before, id));
                self.by_moment.insert((until, id));
            }
            None => {
                self.by_moment.insert((until, id));
            }
        }
    }

    /// Forgets the ids whose moment has come.
    pub(crate) fn forget_due(&mut self, now: Time) {
        while let Some(&(moment, id)) = self.by_moment.first().filter(|(moment, _)| *moment <= now) {
            self.by_moment.remove(&(moment, id));
            self.until.remove(&id);
        }
        if self.until.is_empty() && self.until.capacity() > 0 {
            self.until = HashMap::new();
        }
    }

    pub(crate) fn contains(&self, id: TicketId) -> bool {
        self.until.contains_key(&id)
    }

    pub(crate) fn len(&self) -> usize {
        self.until.len()
    }

    /// Panics unless both views agree and nothing is kept too long.
    pub(crate) fn check(&self, now: Time) {
        assert_eq!(self.until.len(), self.by_moment.len(), "released ids and their moments differ in number");
        for (moment, id) in &self.by_moment {
            assert_eq!(self.until.get(id), Some(moment), "{id:?} is released until another moment");
            assert!(*moment > now, "{id:?} is remembered past its deadline");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn the_later_moment_counts() {
        let mut released = Released::default();
        for until in [5, 9, 7] {
            released.remember(TicketId(1), at(until), at(0));
            released.check(at(0));
        }
        released.forget_due(at(8));
        assert!(released.contains(TicketId(1)));
        released.forget_due(at(9));
        assert_eq!(released.len(), 0);
    }

    #[test]
    fn what_is_past_is_not_remembered() {
        let mut released = Released::default();
        released.remember(TicketId(1), at(5), at(5));
        assert_eq!(released.len(), 0);
    }
}
