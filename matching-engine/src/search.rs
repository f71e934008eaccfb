//! The best partner for one ticket.
//!
//! Owns the order in which candidates are looked at and the bounds that end a search early. It only reads: it must
//! never change the pool or the index, and never look at everybody.

use std::cmp::Ordering;

use crate::elders::Elders;
use crate::index::{Bucket, Index};
use crate::intern::Name;
use crate::pool::{Pool, Resident, Slot};
use crate::rule::{Rule, Similarity};
use crate::{TicketId, Time};

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
    pub(crate) seen: Seen,
    /// The ticket's interests, the rarest first, each with the number of its uses.
    pub(crate) rarest: Vec<(u32, Name)>,
    /// The marks of the ticket's interests.
    pub(crate) taste: Vec<u32>,
}

/// Who was looked at in this search.
#[derive(Debug, Default)]
pub(crate) struct Seen {
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
    pub(crate) fn is_first(&mut self, slot: Slot) -> bool {
        std::mem::replace(&mut self.last_search[slot.index()], self.search) != self.search
    }
}

impl Searcher {
    /// Begins a search for a ticket that waits, and says whose it is.
    pub(crate) fn begin<'p>(&mut self, pool: &'p Pool, slot: Slot) -> &'p Resident {
        self.seen.begin(pool.slots());
        self.seen.is_first(slot);
        let ticket = pool.get(slot);
        self.rarest.clear();
        self.rarest
            .extend(ticket.interests.iter().map(|&interest| (pool.interests.uses(interest), interest)));
        self.rarest.sort_unstable();
        ticket
    }

    /// Searches for a ticket that waits, among all others who wait, under the falling threshold.
    pub(crate) fn search(&mut self, grounds: Grounds<'_>, slot: Slot) -> Found {
        let ticket = self.begin(grounds.pool, slot);
        let Self { seen, rarest, .. } = self;
        let Grounds { rule, .. } = grounds;

        let mut quest = Quest { grounds, slot, ticket, seen, best: None, earliest: None };
        walk(grounds.index, ticket, rarest, &mut quest);
        if let (None, Some(wait_millis)) = (quest.best, rule.any_interest_millis()) {
            quest.look_by_age(slot, wait_millis);
        }
        match quest.best {
            Some(Best { slot, similarity, .. }) => Found::Partner { slot, similarity },
            None => Found::NobodyUntil(quest.earliest),
        }
    }
}

/// What a walk through the lists of a ticket's interests is for.
pub(crate) trait Look {
    /// Whether someone no more similar than this could change the result.
    fn is_worth(&self, bound: Similarity) -> bool;

    /// Looks at those in a bucket, who are no more similar than this.
    fn look_in(&mut self, bucket: &Bucket, bound: Similarity);
}

/// Shows those who share something with a ticket, the rarest interests first: who was not shown by then shares at most
/// the rest. Ends as soon as nobody that is left could change the result.
pub(crate) fn walk(index: &Index, ticket: &Resident, rarest: &[(u32, Name)], look: &mut impl Look) {
    let size = ticket.size();
    for (&(uses, interest), rest) in rarest.iter().zip((1..=size).rev()) {
        if !look.is_worth(Similarity { shared: rest, union: size }) {
            return;
        }
        if uses == 1 {
            continue;
        }
        for &scope in ticket.path.prefixes() {
            // The bound rises up to sets of exactly `rest` interests and falls after them.
            let buckets = index.buckets(scope, interest);
            let (smaller, larger) = buckets.split_at(buckets.partition_point(|bucket| bucket.size <= rest));
            let sides: [&mut dyn Iterator<Item = &Bucket>; 2] =
                [&mut smaller.iter().rev(), &mut larger.iter()];
            for bucket_side in sides {
                for bucket in bucket_side {
                    let bound = Similarity::of(rest.min(bucket.size), size, bucket.size);
                    if !look.is_worth(bound) {
                        break;
                    }
                    look.look_in(bucket, bound);
                }
            }
        }
    }
}

/// One search while it runs.
struct Quest<'a> {
    grounds: Grounds<'a>,
    slot: Slot,
    ticket: &'a Resident,
    seen: &'a mut Seen,
    /// The best of those it may pair with now.
    best: Option<Best>,
    /// While there is no best: the earliest moment found, which is after now.
    earliest: Option<Time>,
}

#[derive(Clone, Copy)]
struct Best {
    slot: Slot,
    similarity: Similarity,
    created_at: Time,
    id: TicketId,
}

/// What a candidate offers, or at most could offer, and how long both must have waited for that.
#[derive(Clone, Copy)]
struct Offer {
    similarity: Similarity,
    wait_millis: u64,
}

const NOTHING_SHARED: Similarity = Similarity { shared: 0, union: 1 };
const LONGEST_AGO: Time = Time::from_millis(0);

impl Look for Quest<'_> {
    fn is_worth(&self, bound: Similarity) -> bool {
        self.promise(bound).is_some()
    }

    fn look_in(&mut self, bucket: &Bucket, bound: Similarity) {
        let Some(offer) = self.promise(bound) else { return };
        for slot in bucket.tickets() {
            // Nearly all fall at the first question, which needs nothing but a card.
            let created_at = self.grounds.pool.card(slot).created_at;
            let changed =
                self.could_help(offer, created_at) && self.seen.is_first(slot) && self.consider_similar(slot);
            if changed && !self.could_help(offer, LONGEST_AGO) {
                break;
            }
        }
    }
}

impl Quest<'_> {
    /// What someone no more similar than this could offer; `None` if that cannot change the result.
    fn promise(&self, similarity: Similarity) -> Option<Offer> {
        let wait_millis = self.grounds.rule.wait_millis(similarity)?;
        let offer = Offer { similarity, wait_millis };
        self.could_help(offer, LONGEST_AGO).then_some(offer)
    }

    /// Whether such an offer of someone so old could change the result.
    fn could_help(&self, offer: Offer, created_at: Time) -> bool {
        let due = self.due(offer, created_at);
        match (self.best, self.earliest) {
            (Some(best), _) => {
                due <= self.grounds.now
                    && match offer.similarity.compare(best.similarity) {
                        Ordering::Greater => true,
                        Ordering::Equal => created_at <= best.created_at,
                        Ordering::Less => false,
                    }
            }
            (None, Some(earliest)) => due < earliest,
            (None, None) => true,
        }
    }

    fn due(&self, offer: Offer, created_at: Time) -> Time {
        self.ticket.created_at.max(created_at).plus_millis(offer.wait_millis)
    }

    /// Looks at someone with whom the ticket shares something; says whether that changed the result.
    fn consider_similar(&mut self, slot: Slot) -> bool {
        let other = self.grounds.pool.get(slot);
        if !self.ticket.scopes_fit(other) {
            return false;
        }
        let shared = self.grounds.pool.count_shared(self.slot, slot);
        let similarity = Similarity::of(shared, self.ticket.size(), other.size());
        self.promise(similarity).is_some_and(|offer| self.consider(slot, other, offer))
    }

    fn consider(&mut self, slot: Slot, other: &Resident, offer: Offer) -> bool {
        let due = self.due(offer, other.created_at);
        if !self.could_help(offer, other.created_at)
            || self.best.is_some_and(|best| {
                offer.similarity.compare(best.similarity).is_eq()
                    && (other.created_at, other.id) > (best.created_at, best.id)
            })
            || due >= self.ticket.expires_at.min(other.expires_at)
            || !self.ticket.may_meet(other)
        {
            return false;
        }
        if due <= self.grounds.now {
            let &Resident { created_at, id, .. } = other;
            self.best = Some(Best { slot, similarity: offer.similarity, created_at, id });
        } else {
            self.earliest = Some(due);
        }
        true
    }

    /// Looks for somebody to pair with whatever they share. Those who share something were looked at before: had one
    /// been pairable now, there would be a best.
    fn look_by_age(&mut self, slot: Slot, wait_millis: u64) {
        let Grounds { pool, elders, .. } = self.grounds;
        let offer = Offer { similarity: NOTHING_SHARED, wait_millis };
        for &scope in self.ticket.path.prefixes() {
            for candidate in elders.by_age(scope).filter(|&candidate| candidate != slot) {
                let other = pool.get(candidate);
                // Those after it are younger, so none of them is due sooner.
                if !self.could_help(offer, other.created_at) {
                    break;
                }
                if self.ticket.scopes_fit(other) && self.consider(candidate, other, offer) {
                    break;
                }
            }
        }
    }
}
