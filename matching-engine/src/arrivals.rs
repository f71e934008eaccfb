//! What a ticket may hope for: who arrived in its region lately, and how fast.
//!
//! Owns, per region, the interest sets of the latest arrivals and their rate. It outlives the pool: an empty pool says
//! nothing about how busy a region is. It keeps hashes of interests, never their texts, and a bounded number of regions.

use std::collections::HashMap;

use crate::Time;
use crate::policy::Reservation;
use crate::sample::{Comparer, Sample};

/// The mark of an interest: FNV-1a with 32 bits (<http://www.isthe.com/chongo/tech/comp/fnv/>), the same everywhere and always,
/// as std's hash is not. Two interests of one mark only make a bar a little wrong.
pub(crate) fn mark(interest: &str) -> u32 {
    interest.bytes().fold(0x811c_9dc5, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193))
}

/// Recent arrivals by region.
#[derive(Debug, Default)]
pub(crate) struct Arrivals {
    regions: HashMap<Box<str>, Recent>,
    /// When room was last made.
    cleared: Time,
    /// Memory that appraisals use again.
    similarities: Vec<(f64, f64)>,
    comparer: Comparer,
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
    tastes: Sample,
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
    /// What a ticket that waits may hope for; its taste is the marks of its interests, each once. One arrival of its own taste is
    /// left out: that was itself.
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
        own: u32,
        now: Time,
    ) -> Prospect {
        let Some(recent) = self.regions.get(region) else { return Prospect { bar: 0.0, rate: 0.0 } };
        let rate = recent.rate(now);
        let of = recent.tastes.len() as f64;
        let mut hope = Hope::new(rules, rate, of, &mut self.similarities);
        recent.tastes.compare(taste, &mut self.comparer, |similarity, count| {
            let count = if similarity.shared == similarity.union { count - own } else { count };
            hope.add(similarity.as_f64(), f64::from(count))
        });
        Prospect { bar: hope.reservation(), rate }
    }

    /// The same for a ticket that arrives, which is then remembered. Where few were seen yet it hopes.
    pub(crate) fn arrive(&mut self, rules: &Reservation, region: &str, taste: &[u32], now: Time) -> Prospect {
        let mut prospect = self.prospect_without(rules, region, taste, 0, now);
        let seen = self.regions.get(region).map_or(0.0, |recent| recent.tastes.len() as f64);
        prospect.bar = prospect.bar.max(HOPE * (1.0 - seen / BELIEVED));
        self.remember(rules, region, taste, now);
        prospect
    }

    fn remember(&mut self, rules: &Reservation, region: &str, taste: &[u32], now: Time) {
        if !self.regions.contains_key(region) {
            // Looks at them all: at most once a second, however many strange regions are named.
            if self.regions.len() >= MOST_REGIONS && seconds_between(self.cleared, now) >= 1.0 {
                self.regions.retain(|_, recent| seconds_between(recent.latest, now) < SILENT_SECONDS);
                self.cleared = now;
            }
            if self.regions.len() >= MOST_REGIONS {
                return;
            }
            let recent =
                Recent { tastes: Sample::new(rules.sample), since: now, latest: now, short: 0.0, long: 0.0 };
            self.regions.insert(region.into(), recent);
        }
        let Some(recent) = self.regions.get_mut(region) else { return };
        recent.count(now);
        recent.tastes.push(taste);
    }
}

/// McCall's reservation value: the `r` at which `rate x E[max(similarity - r, 0)]` equals the price of a second. 0 when
/// even that is not worth the wait.
///
/// It is the greatest `(sum - price) / count` over any of the similarities, each with its count: so what is known of some is
/// never too high, and nothing at or below it matters.
struct Hope<'a> {
    /// The price for the whole sample.
    price: f64,
    /// Similarities above 0 and how many have them; those that were not worth a look are missing.
    similarities: &'a mut Vec<(f64, f64)>,
    sum: f64,
    count: f64,
    /// The reservation value is no lower.
    least: f64,
}

impl<'a> Hope<'a> {
    /// Of a sample of so many.
    fn new(rules: &Reservation, rate: f64, of: f64, similarities: &'a mut Vec<(f64, f64)>) -> Self {
        similarities.clear();
        let price = if rate > 0.0 { rules.price * of / rate } else { f64::INFINITY };
        Self { price, similarities, sum: 0.0, count: 0.0, least: 0.0 }
    }

    /// So many have this similarity. Gives the similarity at or below which nothing matters any more.
    fn add(&mut self, similarity: f64, count: f64) -> f64 {
        if similarity > self.least && count > 0.0 {
            self.similarities.push((similarity, count));
            self.sum += similarity * count;
            self.count += count;
            self.least = self.least.max((self.sum - self.price) / self.count);
        }
        self.least
    }

    /// Newton's steps from below: the left side is convex and falls, so that none goes too far; each drops the similarities
    /// at or below `r`, which ends it.
    fn reservation(self) -> f64 {
        let mut bar = 0.0;
        loop {
            let (sum, count) = self
                .similarities
                .iter()
                .filter(|&&(similarity, _)| similarity > bar)
                .fold((0.0, 0.0), |(sum, all), &(similarity, count)| (sum + similarity * count, all + count));
            let next = if count > 0.0 { (sum - self.price) / count } else { 0.0 };
            if next <= bar + 1e-9 {
                return bar;
            }
            bar = next;
        }
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
        let bar = |similarities: &[f64], rate| {
            let mut memory = Vec::new();
            let mut hope = Hope::new(&rules, rate, 4.0, &mut memory);
            for &similarity in similarities {
                hope.add(similarity, 1.0);
            }
            hope.reservation()
        };
        for similarities in [[0.4, 0.8], [0.8, 0.4]] {
            // 10 a second, one in four worth 0.8, one in four 0.4: above 0.4, 10 / 4 x (0.8 - r) = 0.5 at 0.6.
            assert!((bar(&similarities, 10.0) - 0.6).abs() < 1e-9);
            // At 5 a second both count: 5 / 4 x (0.8 - r + 0.4 - r) = 0.5 at 0.4.
            assert!((bar(&similarities, 5.0) - 0.4).abs() < 1e-9);
        }
        for (similarities, rate) in [(&[0.4, 0.8][..], 0.1), (&[][..], 10.0), (&[0.5][..], 0.0)] {
            assert_eq!(bar(similarities, rate).to_bits(), 0.0_f64.to_bits());
        }
    }

    #[test]
    fn a_tenfold_change_of_traffic_is_followed_within_a_second() {
        let rules = Reservation::default();
        let mut arrivals = Arrivals::default();
        let taste = [1, 2, 3];
        let mut now = 0;
        for (gap, from, to) in [(10, 70.0, 130.0), (1, 900.0, 1_100.0), (10, 70.0, 130.0)] {
            for _ in 0..1_000 / gap {
                now += gap;
                arrivals.arrive(&rules, "kr.seoul", &taste, at(now));
            }
            let rate = arrivals.prospect(&rules, "kr.seoul", &taste, at(now)).rate;
            assert!((from..to).contains(&rate), "{rate} a second at one each {gap} ms");
        }
        // Of 100 a second that end, at most a fiftieth is believed a second later.
        for (silent, most) in [(1_000, 2.0), (2_000, 0.2)] {
            let rate = arrivals.prospect(&rules, "kr.seoul", &taste, at(now + silent)).rate;
            assert!(rate < most, "{rate} a second after {silent} ms without anybody");
        }
    }

    #[test]
    fn where_nobody_was_seen_an_arrival_hopes_and_one_that_waits_does_not() {
        let rules = Reservation::default();
        let mut arrivals = Arrivals::default();
        let taste = [1];
        assert!(arrivals.prospect(&rules, "kr", &taste, at(0)).bar <= 0.0);
        assert!(arrivals.arrive(&rules, "kr", &taste, at(0)).bar >= HOPE);
    }

    #[test]
    fn a_million_regions_leave_a_bounded_number() {
        let rules = Reservation::default();
        let mut arrivals = Arrivals::default();
        for number in 0..1_000_000_u32 {
            arrivals.arrive(&rules, &format!("region-{number}"), &[1], at(u64::from(number)));
        }
        assert!(arrivals.regions.len() <= MOST_REGIONS);
        arrivals.arrive(&rules, "kr", &[1], at(1_061_000));
        assert!(arrivals.regions.contains_key("kr"), "the silent made no room");
    }
}
