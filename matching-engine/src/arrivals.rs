//! What a ticket may hope for: who arrived in its region lately, and how fast.
//!
//! Owns, per region, the interest sets of the latest arrivals and their rate. It outlives the pool: an empty pool says
//! nothing about how busy a region is. It keeps hashes of interests, never their texts, and a bounded number of regions.

use std::collections::{HashMap, VecDeque};

use crate::policy::Reservation;
use crate::rule::{Similarity, count_shared};
use crate::{Ticket, Time};

/// Hashes of a ticket's interests, sorted, each once. Two interests of one hash only make a bar a little wrong.
pub(crate) type Taste = Box<[u32]>;

/// The taste of a ticket.
pub(crate) fn taste(ticket: &Ticket) -> Taste {
    let mut taste: Vec<u32> = ticket.interests.iter().map(|interest| hash(interest)).collect();
    taste.sort_unstable();
    taste.dedup();
    taste.into_boxed_slice()
}

/// FNV-1a with 32 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>): the same everywhere and always, as std's is not.
fn hash(text: &str) -> u32 {
    text.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Recent arrivals by region.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    regions: HashMap<Box<str>, Recent>,
    /// When room was last made.
    cleared: Time,
    /// Memory that appraisals use again.
    similarities: Vec<f64>,
}

/// What a ticket may hope for at a moment.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Prospect {
    /// The similarity below which waiting on is worth more than pairing.
    pub(crate) bar: f64,
    /// Arrivals a second in its region.
    pub(crate) rate: f64,
}

#[derive(Debug)]
struct Recent {
    tastes: VecDeque<Taste>,
    since: Time,
    latest: Time,
    /// Arrivals, each weighing less the longer ago it was: over [`SHORT`] and over [`LONG`].
    short: f64,
    long: f64,
}

/// Over how many seconds the rate is taken in a busy region: the end of a burst is known at once.
const SHORT: f64 = 0.1;
/// Over how many seconds it is taken in a quiet one, where a tenth of a second without anybody says nothing.
const LONG: f64 = 0.3;
/// With so many arrivals in [`SHORT`], by the count over [`LONG`], each count has half the say.
const EVEN: f64 = 2.0;
/// No rate is taken over less than this: the first two arrivals are no torrent.
const SHORTEST: f64 = 0.01;
/// How many arrivals a region must have had before their tastes are believed.
const BELIEVED: f64 = 120.0;
/// What a ticket asks for in a region where nobody was seen yet, until it looks for the first time again.
const HOPE: f64 = 0.9;
/// A region that was silent for so long is forgotten when room is needed.
const SILENT_SECONDS: f64 = 60.0;
/// The most regions that are remembered. In any other nobody expects anything.
const MOST_REGIONS: usize = 4_096;

fn seconds_between(earlier: Time, later: Time) -> f64 {
    later.since(earlier).as_secs_f64()
}

impl Recent {
    /// Arrivals a second, between what the short and the long count say: the more the short one could have held, the more it
    /// counts. Half a second after the end of a burst little is left of the rate.
    fn rate(&self, now: Time) -> f64 {
        let (silent, known) = (seconds_between(self.latest, now), seconds_between(self.since, now));
        let [short, long] = [(self.short, SHORT), (self.long, LONG)].map(|(count, window)| {
            // A count whose weights fall by `e` each window, divided by what they would add up to at one a second.
            faded(count, silent, window) / (window * (1.0 - (-known / window).exp())).max(SHORTEST)
        });
        let held = long * SHORT;
        let say = held / (held + EVEN);
        short.powf(say) * long.powf(1.0 - say)
    }

    fn count(&mut self, now: Time) {
        let silent = seconds_between(self.latest, now);
        self.short = faded(self.short, silent, SHORT) + 1.0;
        self.long = faded(self.long, silent, LONG) + 1.0;
        self.latest = now;
    }
}

fn faded(count: f64, seconds: f64, window: f64) -> f64 {
    count * (-seconds / window).exp()
}

impl Arrivals {
    /// What a ticket that waits may hope for. One arrival of its own taste is left out: that was itself.
    pub(crate) fn prospect(
        &mut self,
        rules: &Reservation,
        region: &str,
        taste: &[u32],
        now: Time,
    ) -> Prospect {
        self.prospect_without(rules, region, taste, 1, now)
    }

    fn prospect_without(
        &mut self,
        rules: &Reservation,
        region: &str,
        taste: &[u32],
        mut own: u32,
        now: Time,
    ) -> Prospect {
        let Some(recent) = self.regions.get(region) else { return Prospect { bar: 0.0, rate: 0.0 } };
        let rate = recent.rate(now);
        let size = size(taste);
        self.similarities.clear();
        self.similarities.extend(recent.tastes.iter().filter_map(|other| {
            let shared = count_shared(taste, other);
            if shared == size && own > 0 && other.len() == taste.len() {
                own -= 1;
                return None;
            }
            (shared > 0).then(|| Similarity::of(shared, size, self::size(other)).as_f64())
        }));
        let of = recent.tastes.len() as f64;
        Prospect { bar: reservation(&self.similarities, of, rate, rules), rate }
    }

    /// The same for a ticket that arrives, which is then remembered. Where few were seen yet it hopes.
    pub(crate) fn arrive(&mut self, rules: &Reservation, region: &str, taste: &Taste, now: Time) -> Prospect {
        let mut prospect = self.prospect_without(rules, region, taste, 0, now);
        let seen = self.regions.get(region).map_or(0.0, |recent| recent.tastes.len() as f64);
        prospect.bar = prospect.bar.max(HOPE * (1.0 - seen / BELIEVED));
        self.remember(rules, region, taste.clone(), now);
        prospect
    }

    fn remember(&mut self, rules: &Reservation, region: &str, taste: Taste, now: Time) {
        if !self.regions.contains_key(region) {
            // Looks at them all: at most once a second, however many strange regions are named.
            if self.regions.len() >= MOST_REGIONS && seconds_between(self.cleared, now) >= 1.0 {
                self.regions.retain(|_, recent| seconds_between(recent.latest, now) < SILENT_SECONDS);
                self.cleared = now;
            }
            if self.regions.len() >= MOST_REGIONS {
                return;
            }
            let recent = Recent { tastes: VecDeque::new(), since: now, latest: now, short: 0.0, long: 0.0 };
            self.regions.insert(region.into(), recent);
        }
        let Some(recent) = self.regions.get_mut(region) else { return };
        recent.count(now);
        if recent.tastes.len() >= usize::from(rules.sample) {
            recent.tastes.pop_front();
        }
        recent.tastes.push_back(taste);
    }
}

fn size(taste: &[u32]) -> u32 {
    u32::try_from(taste.len()).expect("an interest set is counted in u32")
}

/// McCall's reservation value: the `r` at which `rate x E[max(similarity - r, 0)]` equals the price of a second. 0 when
/// even that is not worth the wait. `similarities` are those above 0, out of `of`.
///
/// The left side is convex and falls with `r`, so that Newton's steps from 0 never go too far; each step drops those at or
/// below `r`, which ends it.
fn reservation(similarities: &[f64], of: f64, rate: f64, rules: &Reservation) -> f64 {
    if rate <= 0.0 {
        return 0.0;
    }
    let price = rules.price * of / rate;
    let mut bar = 0.0;
    loop {
        let (sum, above) = similarities
            .iter()
            .filter(|&&similarity| similarity > bar)
            .fold((0.0, 0.0), |(sum, above), similarity| (sum + similarity, above + 1.0));
        let next = if above > 0.0 { (sum - price) / above } else { 0.0 };
        if next <= bar + 1e-9 {
            return bar;
        }
        bar = next;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(millis: u64) -> Time {
        Time::from_millis(millis)
    }

    #[test]
    fn the_bar_is_where_waiting_costs_what_it_brings() {
        let rules = Reservation { price: 0.5, ..Reservation::default() };
        // 10 a second, one in four worth 0.8, one in four 0.4: above 0.4, 10 / 4 x (0.8 - r) = 0.5 at 0.6.
        let bar = reservation(&[0.4, 0.8], 4.0, 10.0, &rules);
        assert!((bar - 0.6).abs() < 1e-9, "{bar}");
        // At 5 a second both count: 5 / 4 x (0.8 - r + 0.4 - r) = 0.5 at 0.4.
        let bar = reservation(&[0.4, 0.8], 4.0, 5.0, &rules);
        assert!((bar - 0.4).abs() < 1e-9, "{bar}");
        for (similarities, rate) in [(&[0.4, 0.8][..], 0.1), (&[][..], 10.0), (&[0.5][..], 0.0)] {
            assert_eq!(reservation(similarities, 4.0, rate, &rules).to_bits(), 0.0_f64.to_bits());
        }
    }

    #[test]
    fn a_tenfold_change_of_traffic_is_followed_within_a_second() {
        let rules = Reservation::default();
        let mut arrivals = Arrivals::default();
        let taste: Taste = [1, 2, 3].into();
        let mut now = 0;
        for (gap, from, to) in [(10, 70.0, 130.0), (1, 900.0, 1_100.0), (10, 70.0, 130.0)] {
            for _ in 0..1_000 / gap {
                now += gap;
                arrivals.arrive(&rules, "kr.seoul", &taste, at(now));
            }
            let rate = arrivals.prospect(&rules, "kr.seoul", &taste, at(now)).rate;
            assert!((from..to).contains(&rate), "{rate} a second at one each {gap} ms");
        }
        assert!(arrivals.prospect(&rules, "kr.seoul", &taste, at(now + 2_000)).rate < 0.5);
    }

    #[test]
    fn where_nobody_was_seen_an_arrival_hopes_and_one_that_waits_does_not() {
        let rules = Reservation::default();
        let mut arrivals = Arrivals::default();
        let taste: Taste = [1].into();
        assert!(arrivals.prospect(&rules, "kr", &taste, at(0)).bar <= 0.0);
        assert!(arrivals.arrive(&rules, "kr", &taste, at(0)).bar >= HOPE);
    }

    #[test]
    fn a_million_regions_leave_a_bounded_number() {
        let rules = Reservation::default();
        let mut arrivals = Arrivals::default();
        for number in 0..1_000_000_u32 {
            arrivals.arrive(&rules, &format!("region-{number}"), &[1].into(), at(u64::from(number)));
        }
        assert!(arrivals.regions.len() <= MOST_REGIONS);
        arrivals.arrive(&rules, "kr", &[1].into(), at(1_061_000));
        assert!(arrivals.regions.contains_key("kr"), "the silent made no room");
    }
}
