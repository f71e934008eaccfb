//! The two designs that come to mind first, under the falling threshold, to measure the engine against.
//!
//! They do the least that the rule asks for (one region, who is most similar, the line of both) and keep no promise about
//! deadlines, users or widening, so that nothing slows them down but their idea.

use matching_engine::Ticket;

use crate::people::Crowd;
use crate::timings::{Timings, time};

/// How long the threshold takes to fall from 1 to 0, in milliseconds.
const FALL_MILLIS: f64 = 2_000.0;
/// How many arrivals, or ticks, are measured.
const MEASURED: usize = 200;

struct Waiting {
    region: usize,
    interests: Vec<u32>,
    /// Milliseconds.
    created_at: f64,
}

impl Waiting {
    fn similarity(&self, other: &Self) -> f64 {
        let shared = self.interests.iter().filter(|interest| other.interests.binary_search(interest).is_ok());
        let shared = shared.count();
        shared as f64 / (self.interests.len() + other.interests.len() - shared) as f64
    }

    /// The similarity, if they may pair now.
    fn pairs_with(&self, other: &Self, now: f64) -> Option<f64> {
        if self.region != other.region {
            return None;
        }
        let similarity = self.similarity(other);
        let asks = 1.0 - (now - self.created_at.max(other.created_at)) / FALL_MILLIS;
        (similarity > 0.0 && similarity >= asks).then_some(similarity)
    }
}

pub(crate) fn run_all(filter: &str) {
    for waiting in [100, 1_000, 10_000, 100_000] {
        let name = format!("obvious/scan-per-arrival/{waiting}");
        if format!("{name}/").contains(filter) {
            println!("{name}:");
            scan_per_arrival(waiting).print();
        }
    }
    for waiting in [100, 1_000, 10_000] {
        let name = format!("obvious/rescan-per-tick/{waiting}");
        if format!("{name}/").contains(filter) {
            println!("{name}:");
            rescan_per_tick(waiting).print();
        }
    }
}

/// Each arrival is compared with everybody in a list.
fn scan_per_arrival(waiting: usize) -> Timings {
    let mut people = people();
    let mut list: Vec<Waiting> = people.by_ref().take(waiting).collect();
    let mut timings = Timings::new("arrival");
    for mut arrival in people.take(MEASURED) {
        arrival.created_at = 500.0;
        let (best, took) = time(|| {
            let offers = list.iter().enumerate();
            let offers =
                offers.filter_map(|(at, other)| Some((arrival.pairs_with(other, arrival.created_at)?, at)));
            offers.max_by(|a, b| a.0.total_cmp(&b.0))
        });
        timings.record(took);
        // As full as before: who is paired is replaced by the one who came.
        if let Some((_, at)) = best {
            list[at] = arrival;
        }
    }
    timings
}

/// On each tick everybody is compared with everybody, and the most similar pair first.
fn rescan_per_tick(waiting: usize) -> Timings {
    let mut people = people();
    let mut list: Vec<Waiting> = people.by_ref().take(waiting).collect();
    let mut timings = Timings::new("tick");
    for tick in 1..=MEASURED.min(2_000_000 / waiting / waiting.min(1_000)) + 1 {
        let now = tick as f64 * 100.0;
        let (paired, took) = time(|| {
            let mut offers = Vec::new();
            for (a, one) in list.iter().enumerate() {
                for (b, other) in list.iter().enumerate().skip(a + 1) {
                    offers.extend(one.pairs_with(other, now).map(|similarity| (similarity, a, b)));
                }
            }
            offers.sort_by(|x, y| y.0.total_cmp(&x.0));
            let mut paired = vec![false; list.len()];
            for (_, a, b) in offers {
                if !paired[a] && !paired[b] {
                    (paired[a], paired[b]) = (true, true);
                }
            }
            paired
        });
        timings.record(took);
        for (waiting, _) in list.iter_mut().zip(paired).filter(|(_, paired)| *paired) {
            *waiting = people.next().expect("the crowd is endless");
            waiting.created_at = now;
        }
    }
    timings
}

/// The crowd, with numbers for names; the first have waited for up to half a second.
fn people() -> impl Iterator<Item = Waiting> {
    let mut crowd = Crowd::new(1, 1);
    let mut regions: Vec<Box<str>> = Vec::new();
    (0_u32..).map(move |nth| {
        let Ticket { region, interests, .. } = crowd.one();
        let region = regions.iter().position(|known| *known == region).unwrap_or_else(|| {
            regions.push(region);
            regions.len() - 1
        });
        let number = |name: &str| name.rsplit(' ').next().and_then(|number| number.parse().ok());
        let mut interests: Vec<u32> = interests.iter().filter_map(|name| number(name)).collect();
        interests.sort_unstable();
        Waiting { region, interests, created_at: f64::from(nth % 500) }
    })
}
