//! Which messages of a channel are acknowledged next, in as few frames as can be.
//!
//! To a quorum queue an acknowledgement is an entry in its replicated log, written on every node, and costs about what a
//! message does. One that says `multiple` is a single entry, so what was taken is acknowledged together.

use std::collections::BTreeMap;

/// What became of a channel's deliveries. The broker numbers them from 1 on, without gaps.
#[derive(Debug)]
pub(super) struct Acks {
    /// The first delivery that is still with its handler.
    next: u64,
    /// Taken ahead of `next`, and whether that was acknowledged. Bounded by the prefetch.
    ahead: BTreeMap<u64, bool>,
    /// How many were taken and not acknowledged.
    unacknowledged: usize,
}

/// An acknowledgement to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ack {
    pub(super) tag: u64,
    /// Whether it stands for every delivery before it too.
    pub(super) multiple: bool,
}

impl Acks {
    pub(super) fn new() -> Self {
        Self { next: 1, ahead: BTreeMap::new(), unacknowledged: 0 }
    }

    /// A delivery's handler is done with it.
    pub(super) fn note_taken(&mut self, tag: u64) {
        self.ahead.insert(tag, false);
        self.unacknowledged += 1;
    }

    /// How many the next call of [`Self::take`] acknowledges.
    pub(super) fn unacknowledged(&self) -> usize {
        self.unacknowledged
    }

    /// What to acknowledge now: all that was taken. One that stays with its handler for long, on its way to the dead letters
    /// for instance, holds up none of those behind it.
    pub(super) fn take(&mut self) -> Vec<Ack> {
        self.unacknowledged = 0;
        let mut acks = Vec::new();
        let mut last = None;
        while let Some(acknowledged) = self.ahead.remove(&self.next) {
            if !acknowledged {
                last = Some(self.next);
            }
            self.next += 1;
        }
        // A tag that was acknowledged before would be an error, which ends the channel.
        acks.extend(last.map(|tag| Ack { tag, multiple: true }));
        for (&tag, acknowledged) in self.ahead.iter_mut().filter(|(_, acknowledged)| !**acknowledged) {
            acks.push(Ack { tag, multiple: false });
            *acknowledged = true;
        }
        acks
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(acks: &mut Acks, tags: &[u64]) -> Vec<(u64, bool)> {
        tags.iter().for_each(|&tag| acks.note_taken(tag));
        acks.take().into_iter().map(|ack| (ack.tag, ack.multiple)).collect()
    }

    #[test]
    fn a_run_without_gaps_is_one_acknowledgement() {
        let mut acks = Acks::new();
        assert_eq!(taken(&mut acks, &[]), []);
        assert_eq!(taken(&mut acks, &[2, 1, 3]), [(3, true)]);
        assert_eq!(taken(&mut acks, &[4]), [(4, true)]);
        assert_eq!(taken(&mut acks, &[]), []);
    }

    #[test]
    fn one_that_takes_long_holds_up_nobody_and_nothing_is_acknowledged_twice() {
        let mut acks = Acks::new();
        assert_eq!(taken(&mut acks, &[1, 3, 4]), [(1, true), (3, false), (4, false)]);
        assert_eq!(taken(&mut acks, &[6]), [(6, false)]);
        // 3, 4 and 6 were acknowledged before: 5 is the last that was not.
        assert_eq!(taken(&mut acks, &[2, 5]), [(5, true)]);
        assert_eq!(taken(&mut acks, &[7]), [(7, true)]);
    }

    #[test]
    fn a_gap_that_closes_after_all_behind_it_went_is_acknowledged_by_itself() {
        let mut acks = Acks::new();
        assert_eq!(taken(&mut acks, &[2, 3]), [(2, false), (3, false)]);
        assert_eq!(taken(&mut acks, &[1]), [(1, true)]);
        assert!(acks.ahead.is_empty());
    }
}
