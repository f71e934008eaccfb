//! The best partner for one ticket.
//!
//! Owns the order in which candidates are looked at and the bounds that end a search early. It only reads: it must
//! never change the pool or the index, and never look at everybody.

use std::cmp::Ordering;

use crate::Time;
use crate::elders::Elders;
use crate::index::{Bucket, Index};
use crate::intern::Name;
use crate::pool::{Pool, Resident, Slot};
use crate::rule::{Rule, Similarity};

/// What a search found.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Found {
    /// Of those it may pair with now, the most similar; of these the longest waiting, then the smaller id.
    Partner { slot: Slot, similarity: Similarity },
    /// Nobody now. The earliest moment at which it may pair with someone who waits now.
    NobodyUntil(Option<Time>),
}

/// Where a search looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grounds<'a> {
    pub(crate) rule: &'a Rule,
    pub(crate) pool: &'a Pool,
    pub(crate) index: &'a Index,
    pub(crate) elders: &'a Elders,
    pub(crate) now: Time,
}

/// Memory that searches use again.
#[derive(Debug, Default)]
pub(crate) struct Searcher {
    seen: Seen,
    /// The ticket's interests, the rarest first, each with the number of its uses.
    rarest: Vec<(u32, Name)>,
}

/// Who was looked at in this search.
#[derive(Debug, Default)]
struct Seen {
    /// By slot: the last search that looked at it.
    last_search: Vec<u64>,
    /// The number of this search.
    search: u64,
}

impl Seen {
    fn begin(&mut self, slots: usize) {
        self.search += 1;
        self.last_search.resize(slots, 0);
    }

    /// Whether it is looked at for the first time.
    fn is_first(&mut self, slot: Slot) -> bool {
        std::mem::replace(&mut self.last_search[slot.index()], self.search) != self.search
    }
}

impl Searcher {
    /// Searches for a ticket that waits, among all others who wait.
    pub(crate) fn search(&mut self, grounds: Grounds<'_>, slot: Slot) -> Found {
        let Self { seen, rarest } = self;
        let Grounds { pool, rule, .. } = grounds;
        seen.begin(pool.slots());
        seen.is_first(slot);
        let ticket = pool.get(slot);
        rarest.clear();
        rarest.extend(ticket.interests.iter().map(|&interest| (pool.interests.uses(interest), interest)));
        rarest.sort_unstable();

        let mut quest = Quest { grounds, ticket, seen, best: None, earliest: None };
        quest.look_by_interest(rarest);
        if rule.pairs_any_interest() && quest.best.is_none() {
            quest.look_by_age(slot);
        }
        match quest.best {
            Some((slot, similarity)) => Found::Partner { slot, similarity },
            None => Found::NobodyUntil(quest.earliest),
        }
    }
}

/// One search while it runs.
struct Quest<'a> {
    grounds: Grounds<'a>,
    ticket: &'a Resident,
    seen: &'a mut Seen,
    /// The best of those it may pair with now.
    best: Option<(Slot, Similarity)>,
    /// While there is no best: the earliest moment found.
    earliest: Option<Time>,
}

impl Quest<'_> {
    /// Looks at those who share something, the rarest interests first: who was not seen by then shares at most the
    /// rest.
    fn look_by_interest(&mut self, rarest: &[(u32, Name)]) {
        let ticket = self.ticket;
        let index = self.grounds.index;
        for (&(uses, interest), rest) in rarest.iter().zip((1..=ticket.size()).rev()) {
            if !self.could_help(Similarity { shared: rest, union: ticket.size() }) {
                return;
            }
            if uses == 1 {
                continue;
            }
            for &scope in ticket.path.prefixes() {
                // The bound rises up to sets of exactly `rest` interests and falls after them.
                let buckets = index.buckets(scope, interest);
                let (smaller, larger) =
                    buckets.split_at(buckets.partition_point(|bucket| bucket.size <= rest));
                self.look_while_promising(smaller.iter().rev(), rest);
                self.look_while_promising(larger.iter(), rest);
            }
        }
    }

    fn look_while_promising<'b>(&mut self, buckets: impl Iterator<Item = &'b Bucket>, rest: u32) {
        for bucket in buckets {
            let bound = Similarity::of(rest.min(bucket.size), self.ticket.size(), bucket.size);
            if !self.could_help(bound) {
                return;
            }
            for slot in bucket.slots() {
                let changed = self.seen.is_first(slot) && self.consider(slot);
                if changed && !self.could_help(bound) {
                    break;
                }
            }
        }
    }

    /// Whether someone no more similar than this could change the result.
    fn could_help(&self, bound: Similarity) -> bool {
        match (self.best, self.earliest) {
            (Some((_, best)), _) => bound.compare(best).is_ge(),
            (None, earliest) => {
                let due = self.grounds.rule.due(self.ticket.created_at, bound);
                due.is_some_and(|due| earliest.is_none_or(|earliest| due < earliest))
            }
        }
    }

    /// Looks at one candidate; says whether that changed the result.
    fn consider(&mut self, slot: Slot) -> bool {
        let other = self.grounds.pool.get(slot);
        if !self.ticket.scopes_fit(other) {
            return false;
        }
        let shared = count_shared(&self.ticket.interests, &other.interests);
        let similarity = Similarity::of(shared, self.ticket.size(), other.size());
        if self.best.is_none() && !self.could_help(similarity) {
            return false;
        }
        let younger = self.ticket.created_at.max(other.created_at);
        let due = self.grounds.rule.due(younger, similarity);
        due.is_some_and(|due| self.take_if_better(slot, other, similarity, due))
    }

    fn take_if_better(&mut self, slot: Slot, other: &Resident, similarity: Similarity, due: Time) -> bool {
        if due >= self.ticket.expires_at.min(other.expires_at) {
            return false;
        }
        let pairable = due <= self.grounds.now;
        let better = match (self.best, self.earliest) {
            (Some(best), _) => pairable && self.is_better(other, similarity, best),
            (None, Some(earliest)) => pairable || due < earliest,
            (None, None) => true,
        };
        if !better || !self.ticket.may_meet(other) {
            return false;
        }
        if pairable {
            self.best = Some((slot, similarity));
        } else {
            self.earliest = Some(due);
        }
        true
    }

    fn is_better(&self, other: &Resident, similarity: Similarity, best: (Slot, Similarity)) -> bool {
        match similarity.compare(best.1) {
            Ordering::Greater => true,
            Ordering::Less => false,
            Ordering::Equal => {
                let best = self.grounds.pool.get(best.0);
                (other.created_at, other.id) < (best.created_at, best.id)
            }
        }
    }

    /// Looks for somebody to pair with whatever they share. Those who share something were looked at before: had one
    /// been pairable now, there would be a best.
    fn look_by_age(&mut self, slot: Slot) {
        let Grounds { pool, elders, rule, .. } = self.grounds;
        for &scope in self.ticket.path.prefixes() {
            for candidate in elders.by_age(scope).filter(|&candidate| candidate != slot) {
                let other = pool.get(candidate);
                let Some(due) = rule.any_interest_due(self.ticket.created_at.max(other.created_at)) else {
                    return;
                };
                // Those after it are younger, so none of them is due sooner.
                let too_late = match self.best {
                    Some(best) => !self.is_better(other, NOTHING_SHARED, best),
                    None => self.earliest.is_some_and(|earliest| due >= earliest),
                };
                if too_late {
                    break;
                }
                if self.ticket.scopes_fit(other) && self.take_if_better(candidate, other, NOTHING_SHARED, due)
                {
                    break;
                }
            }
        }
    }
}

const NOTHING_SHARED: Similarity = Similarity { shared: 0, union: 1 };

/// How many names two sorted sets share.
fn count_shared(a: &[Name], b: &[Name]) -> u32 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        shared += u32::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    shared
}
