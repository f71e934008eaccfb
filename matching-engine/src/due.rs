//! Which ticket is next.
//!
//! Owns a heap with at most one moment per ticket. A moment that no longer counts is taken out at once, never
//! left behind to be skipped later, so a queue is exactly as long as the tickets it is about.

use std::cmp::Ordering;

use crate::pool::Slot;
use crate::{TicketId, Time};

/// Tickets by a moment, the earliest first; at one moment, the smaller id first.
#[derive(Debug, Default)]
pub(crate) struct DueQueue {
    /// A binary heap.
    heap: Vec<Due>,
    /// Where each slot is in the heap, or `ABSENT`.
    places: Vec<u32>,
}

#[derive(Debug, Clone, Copy)]
struct Due {
    at: Time,
    slot: Slot,
}

/// Who is in a slot. Ids are asked for at equal moments only, so they are not kept here again.
pub(crate) trait Ids {
    /// The id of the ticket in a slot.
    fn id(&self, slot: Slot) -> TicketId;
}

impl Due {
    fn is_before(self, other: Self, ids: &impl Ids) -> bool {
        match self.at.cmp(&other.at) {
            Ordering::Less => true,
            Ordering::Equal => ids.id(self.slot) < ids.id(other.slot),
            Ordering::Greater => false,
        }
    }
}

const ABSENT: u32 = u32::MAX;

impl DueQueue {
    /// Sets the moment of a ticket, whether or not it had one.
    pub(crate) fn set(&mut self, ids: &impl Ids, slot: Slot, at: Time) {
        self.remove(ids, slot);
        if self.places.len() <= slot.index() {
            self.places.resize(slot.index() + 1, ABSENT);
        }
        self.heap.push(Due { at, slot });
        self.rise(ids, self.heap.len() - 1);
    }

    /// Takes a ticket's moment out, if it has one.
    pub(crate) fn remove(&mut self, ids: &impl Ids, slot: Slot) {
        let Some(place) = self.place(slot) else { return };
        self.places[slot.index()] = ABSENT;
        self.heap.swap_remove(place);
        if place < self.heap.len() {
            let place = self.rise(ids, place);
            self.sink(ids, place);
        }
    }

    /// The earliest moment.
    pub(crate) fn first_moment(&self) -> Option<Time> {
        self.heap.first().map(|due| due.at)
    }

    /// Takes out the ticket whose moment is the earliest, if that has come.
    pub(crate) fn pop_due(&mut self, ids: &impl Ids, now: Time) -> Option<(Slot, Time)> {
        let due = *self.heap.first().filter(|due| due.at <= now)?;
        self.remove(ids, due.slot);
        Some((due.slot, due.at))
    }

    /// The moment of a ticket.
    pub(crate) fn moment(&self, slot: Slot) -> Option<Time> {
        self.place(slot).map(|place| self.heap[place].at)
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }

    fn place(&self, slot: Slot) -> Option<usize> {
        self.places.get(slot.index()).filter(|&&place| place != ABSENT).map(|&place| place as usize)
    }

    /// Moves an entry up to where it belongs, and notes its place.
    fn rise(&mut self, ids: &impl Ids, mut place: usize) -> usize {
        while place > 0 && self.heap[place].is_before(self.heap[(place - 1) / 2], ids) {
            self.swap(place, (place - 1) / 2);
            place = (place - 1) / 2;
        }
        self.note(place);
        place
    }

    fn sink(&mut self, ids: &impl Ids, mut place: usize) {
        loop {
            let mut smaller = 2 * place + 1;
            if smaller >= self.heap.len() {
                break;
            }
            if smaller + 1 < self.heap.len() && self.heap[smaller + 1].is_before(self.heap[smaller], ids) {
                smaller += 1;
            }
            if !self.heap[smaller].is_before(self.heap[place], ids) {
                break;
            }
            self.swap(place, smaller);
            place = smaller;
        }
        self.note(place);
    }

    fn swap(&mut self, a: usize, b: usize) {
        self.heap.swap(a, b);
        self.note(a);
        self.note(b);
    }

    fn note(&mut self, place: usize) {
        self.places[self.heap[place].slot.index()] =
            u32::try_from(place).expect("a queue is no longer than the pool");
    }

    /// Panics unless it is a heap and every place is noted.
    pub(crate) fn check(&self, what: &str, ids: &impl Ids) {
        for (place, due) in self.heap.iter().enumerate() {
            let above = self.heap[place.saturating_sub(1) / 2];
            assert!(place == 0 || above.is_before(*due, ids), "the {what} are not in order");
            assert_eq!(self.place(due.slot), Some(place), "a place in the {what} is wrong");
        }
        let noted = self.places.iter().filter(|&&place| place != ABSENT).count();
        assert_eq!(noted, self.heap.len(), "the {what} note places of tickets that are not there");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In slots that come first are greater ids.
    struct Reversed;

    impl Ids for Reversed {
        fn id(&self, slot: Slot) -> TicketId {
            TicketId(u128::from(1_000 - slot.0))
        }
    }

    #[test]
    fn moments_come_in_order_whatever_was_set_moved_and_removed() {
        let mut queue = DueQueue::default();
        for i in 0..500_u32 {
            let at = Time::from_millis(u64::from(i * 7_919 % 101));
            queue.set(&Reversed, Slot(i), at);
        }
        for i in (0..500_u32).step_by(3) {
            queue.remove(&Reversed, Slot(i));
            queue.check("test entries", &Reversed);
        }
        for i in (1..500_u32).step_by(3) {
            queue.set(&Reversed, Slot(i), Time::from_millis(u64::from(i * 31 % 57)));
            queue.check("test entries", &Reversed);
        }
        let mut seen = Vec::new();
        while let Some((slot, at)) = queue.pop_due(&Reversed, Time::from_millis(1_000)) {
            seen.push((at, 1_000 - slot.0));
            queue.check("test entries", &Reversed);
        }
        assert_eq!(seen.len(), 333);
        assert!(seen.is_sorted());
        assert_eq!(queue.len(), 0);
    }

    #[test]
    fn nothing_comes_before_its_moment() {
        let mut queue = DueQueue::default();
        queue.set(&Reversed, Slot(0), Time::from_millis(5));
        assert_eq!(queue.pop_due(&Reversed, Time::from_millis(4)), None);
        assert_eq!(queue.pop_due(&Reversed, Time::from_millis(5)), Some((Slot(0), Time::from_millis(5))));
    }
}
