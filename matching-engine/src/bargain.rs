//! The best partner for one ticket, when everybody asks for what waiting on is worth to them.
//!
//! Owns the bars of the tickets, the rule by which two of them agree, and when a ticket looks again. It must never let a
//! ticket wait past the moment from which it asks for no more than the floor without a look.

use std::cmp::{Ordering, Reverse};
use std::time::Duration;

use crate::arrivals::Prospect;
use crate::index::Bucket;
use crate::policy::{Policy, Reservation};
use crate::pool::{Card, Resident, Slot};
use crate::rule::Similarity;
use crate::search::{Found, Grounds, Look, Searcher, Seen, walk};
use crate::time::whole_millis;
use crate::{TicketId, Time};

/// What a ticket asks for, as of its latest look.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Asking {
    bar: f64,
    /// How long its bar holds.
    patience_millis: u64,
}

impl Asking {
    /// Notes what it may hope for by now.
    pub(crate) fn update(&mut self, rules: &Reservation, prospect: Prospect) {
        self.bar = prospect.bar;
        let by_arrivals = f64::from(rules.patience_arrivals) * 1e3 / prospect.rate;
        let [least, most] =
            [rules.patience, rules.patience.max(rules.patience_at_most)].map(|d| whole_millis(d) as f64);
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "between two bounds")]
        let millis = by_arrivals.max(least).min(most) as u64;
        self.patience_millis = millis;
    }

    /// What is asked for after so long a wait: the bar while it is patient, then less and less, slowly at first.
    fn asks(&self, end: &End, waited_millis: u64) -> f64 {
        let late = waited_millis.saturating_sub(self.patience_millis);
        if late == 0 {
            return self.bar.max(end.floor);
        }
        let fallen = late as f64 / end.fall_millis;
        (self.bar * (1.0 - fallen * fallen)).max(end.floor)
    }
}

/// What becomes of a bar, worked out once for a search: it asks a great many what they ask for.
struct End {
    floor: f64,
    fall_millis: f64,
}

impl End {
    fn new(policy: &Policy, rules: &Reservation) -> Self {
        Self { floor: policy.threshold.floor, fall_millis: whole_millis(rules.fall).max(1) as f64 }
    }

    /// What a ticket asks for at a moment.
    fn asks(&self, card: &Card, now: Time) -> f64 {
        let waited = now.as_millis().saturating_sub(card.created_at.as_millis());
        card.asking.asks(self, waited)
    }
}

/// How much the higher of two bars counts for a pair, the lower one counting for the rest. Half would make the most of all
/// pairs together, the whole lets nobody get less than they ask for.
const HIGHER: f64 = 0.7;
/// Far below what tells two similarities apart.
const NOISE: f64 = 1e-9;
/// How long a ticket waits between two looks. Who looks more often finds earlier, and less: it settles for those who are there.
const LOOK_EVERY: Duration = Duration::from_millis(400);

/// When a ticket that found nobody looks again. `None`: it asks for the floor by now, and who comes later will look at it;
/// or its deadline comes first.
pub(crate) fn next_look(policy: &Policy, rules: &Reservation, ticket: &Resident, now: Time) -> Option<Time> {
    let floor_at = ticket.created_at.plus(rules.floor_after());
    let moment = if now < floor_at {
        Some(now.plus(LOOK_EVERY).min(floor_at))
    } else {
        policy.any_interest_after.map(|after| ticket.created_at.plus(after)).filter(|&moment| moment > now)
    };
    moment.filter(|&moment| moment < ticket.expires_at)
}

/// One search while it runs.
struct Bargain<'a> {
    policy: &'a Policy,
    end: End,
    grounds: Grounds<'a>,
    slot: Slot,
    ticket: &'a Resident,
    asks: f64,
    seen: &'a mut Seen,
    best: Option<Best>,
}

#[derive(Clone, Copy)]
struct Best {
    slot: Slot,
    similarity: Similarity,
    rank: Reverse<(Time, TicketId)>,
}

/// Searches for a ticket that waits, among all others who wait.
pub(crate) fn search(
    searcher: &mut Searcher,
    policy: &Policy,
    rules: &Reservation,
    grounds: Grounds<'_>,
    slot: Slot,
) -> Found {
    let ticket = searcher.begin(grounds.pool, slot);
    let end = End::new(policy, rules);
    let asks = end.asks(grounds.pool.card(slot), grounds.now);
    let seen = &mut searcher.seen;
    let mut bargain = Bargain { policy, end, grounds, slot, ticket, asks, seen, best: None };
    walk(grounds.index, ticket, &searcher.rarest, &mut bargain);
    if bargain.best.is_none() {
        bargain.look_by_age();
    }
    match bargain.best {
        Some(Best { slot, similarity, .. }) => Found::Partner { slot, similarity },
        None => Found::NobodyUntil(next_look(policy, rules, ticket, grounds.now)),
    }
}

impl Look for Bargain<'_> {
    fn is_worth(&self, bound: Similarity) -> bool {
        let similarity = bound.as_f64() + NOISE;
        let floor = self.policy.threshold.floor;
        bound.shared >= u32::from(self.policy.min_shared)
            && similarity >= agreed(self.asks, floor)
            && self.best.is_none_or(|best| bound.compare(best.similarity).is_ge())
    }

    fn look_in(&mut self, bucket: &Bucket, bound: Similarity) {
        let similarity = bound.as_f64() + NOISE;
        for slot in bucket.tickets() {
            // Most ask for more than anybody in this bucket can offer; for that no more than a card need be read.
            let card = self.grounds.pool.card(slot);
            let asked = self.end.asks(card, self.grounds.now);
            if similarity >= agreed(self.asks, asked)
                && self.could_be_better(bound, card.created_at)
                && self.seen.is_first(slot)
            {
                self.consider(slot, asked);
            }
        }
    }
}

/// The similarity at which two who ask for these agree.
fn agreed(a: f64, b: f64) -> f64 {
    HIGHER * a.max(b) + (1.0 - HIGHER) * a.min(b)
}

impl Bargain<'_> {
    /// Whether somebody so old, who is no more similar than this, could be better than the best so far.
    fn could_be_better(&self, bound: Similarity, created_at: Time) -> bool {
        self.best.is_none_or(|best| match bound.compare(best.similarity) {
            Ordering::Greater => true,
            Ordering::Equal => created_at <= best.rank.0.0,
            Ordering::Less => false,
        })
    }

    fn consider(&mut self, slot: Slot, asked: f64) {
        let similarity = self.similarity(slot);
        if similarity.as_f64() + NOISE < agreed(self.asks, asked) || !self.is_worth(similarity) {
            return;
        }
        let other = self.grounds.pool.get(slot);
        if self.may_pair(other) {
            self.offer(slot, other, similarity);
        }
    }

    fn similarity(&self, other: Slot) -> Similarity {
        let pool = self.grounds.pool;
        let [size, other_size] = [self.slot, other].map(|slot| pool.card(slot).size);
        Similarity::of(pool.count_shared(self.slot, other), size, other_size)
    }

    fn may_pair(&self, other: &Resident) -> bool {
        let now = self.grounds.now;
        self.ticket.scopes_fit(other)
            && self.ticket.created_at.max(other.created_at) <= now
            && self.ticket.may_meet(other)
    }

    fn offer(&mut self, slot: Slot, other: &Resident, similarity: Similarity) {
        let offered = Best { slot, similarity, rank: Reverse((other.created_at, other.id)) };
        let is_better = self.best.is_none_or(|best| {
            similarity.compare(best.similarity).then(offered.rank.cmp(&best.rank)).is_gt()
        });
        if is_better {
            self.best = Some(offered);
        }
    }

    /// Looks for somebody to pair with whatever they share, when it has waited so long: the longest waiting.
    fn look_by_age(&mut self) {
        let Some(after) = self.policy.any_interest_after else { return };
        let now = self.grounds.now;
        let is_ready = |resident: &Resident| resident.created_at.plus(after) <= now;
        if !is_ready(self.ticket) {
            return;
        }
        for &scope in self.ticket.path.prefixes() {
            for candidate in self.grounds.elders.by_age(scope).filter(|&candidate| candidate != self.slot) {
                let other = self.grounds.pool.get(candidate);
                if !is_ready(other) {
                    break;
                }
                if self.may_pair(other) {
                    self.offer(candidate, other, self.similarity(candidate));
                    break;
                }
            }
        }
    }
}
