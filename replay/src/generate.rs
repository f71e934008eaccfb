//! Synthetic traces, shaped like a real burst.
//!
//! Interests are as skewed as real ones: the most popular is held by about 80 % of people, a person has 6.0 on
//! average (p50 4, p99 24, at most 42). Only whole numbers are computed with, so that a seed gives the same
//! bytes on every machine.

use std::str::FromStr;

use proto::{InterestSet, Region, UserId};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{Rng, SeedableRng};

use crate::genres::GENRES;
use crate::trace::{Request, Trace};

/// What to generate.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// How many requests, each of another user.
    pub users: usize,
    /// Over how long they arrive, uniformly.
    pub duration_ms: u64,
    /// Where people are.
    pub regions: Vec<RegionShare>,
    /// Divides each region into this many equally likely districts, one label deeper. 0: not divided.
    pub districts: u16,
    /// Chance.
    pub seed: u64,
}

/// A region and how likely it is, relative to the others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RegionShare {
    /// The region.
    pub region: Region,
    /// Its weight.
    pub weight: u32,
}

impl FromStr for RegionShare {
    type Err = String;

    /// Parses `kr.seoul=40`; without a weight it is 1.
    fn from_str(text: &str) -> Result<Self, String> {
        let (region, weight) = text.split_once('=').unwrap_or((text, "1"));
        let region = region.parse().map_err(|why: proto::InvalidRegion| format!("{region:?}: {why}"))?;
        match weight.parse() {
            Ok(weight) if weight > 0 => Ok(Self { region, weight }),
            _ => Err(format!("the weight {weight:?} is not a whole number from 1")),
        }
    }
}

/// The default regions, as `--regions` takes them.
pub const DEFAULT_REGIONS: &str = "kr.seoul=40,kr.gyeonggi=25,kr.busan=15,kr.daegu=10,kr.gwangju=7,kr.jeju=3";

/// How many interests people have: from, to, and how many of 10,000 people are between (uniformly).
const INTEREST_COUNTS: [(u64, u64, u32); 10] = [
    (1, 1, 2270),
    (2, 2, 1310),
    (3, 3, 950),
    (4, 4, 760),
    (5, 6, 1220),
    (7, 9, 1320),
    (10, 13, 1300),
    (14, 18, 480),
    (19, 24, 300),
    (25, 42, 90),
];

/// Weight of the most popular interest, and of the next; each further one has 88 % of the one before.
const FIRST_WEIGHT: u32 = 66_000;
const SECOND_WEIGHT: u32 = 10_000;

/// Makes a trace. The same recipe gives the same trace.
///
/// # Errors
/// When a district would make a region too deep, there is no region, or no user.
pub fn generate(recipe: &Recipe) -> anyhow::Result<Trace> {
    anyhow::ensure!(!recipe.regions.is_empty(), "there is no region to put people in");
    let mut chance = Chance(ChaCha8Rng::seed_from_u64(recipe.seed));
    let mut arrivals: Vec<u64> = (0..recipe.users).map(|_| chance.below(recipe.duration_ms.max(1))).collect();
    arrivals.sort_unstable();

    let region_weights: Vec<u32> = recipe.regions.iter().map(|share| share.weight).collect();
    let count_weights = INTEREST_COUNTS.map(|(.., weight)| weight);
    let popularity = popularity();
    let mut requests = Vec::with_capacity(recipe.users);
    for (n, at_ms) in arrivals.into_iter().enumerate() {
        let mut region = recipe.regions[chance.pick(&region_weights)].region.clone();
        if recipe.districts > 0 {
            let district = 1 + chance.below(u64::from(recipe.districts));
            region = format!("{region}.d{district}").parse()?;
        }
        let (from, to, _) = INTEREST_COUNTS[chance.pick(&count_weights)];
        let count = from + chance.below(to - from + 1);
        let mut left = popularity;
        let interests: Vec<&str> = (0..count)
            .map(|_| {
                let at = chance.pick(&left);
                left[at] = 0;
                GENRES[at]
            })
            .collect();
        requests.push(Request {
            at_ms,
            user: UserId::new(&format!("u{n:06}"))?,
            region,
            interests: InterestSet::new(&interests)?,
        });
    }
    Ok(Trace::new(requests)?)
}

fn popularity() -> [u32; GENRES.len()] {
    let mut weights = [FIRST_WEIGHT; GENRES.len()];
    let mut weight = SECOND_WEIGHT;
    for slot in &mut weights[1..] {
        *slot = weight.max(1);
        weight = weight * 88 / 100;
    }
    weights
}

/// Whole-number draws from a seeded stream.
struct Chance(ChaCha8Rng);

impl Chance {
    /// A number from 0 to `bound` - 1. The bias is below one in 2^64 / `bound`.
    fn below(&mut self, bound: u64) -> u64 {
        let scaled = (u128::from(self.0.next_u64()) * u128::from(bound)) >> 64;
        u64::try_from(scaled).unwrap_or(0)
    }

    /// An index, as likely as its weight.
    fn pick(&mut self, weights: &[u32]) -> usize {
        let mut rest = self.below(weights.iter().map(|w| u64::from(*w)).sum());
        weights
            .iter()
            .position(|weight| {
                let here = rest < u64::from(*weight);
                rest = rest.saturating_sub(u64::from(*weight));
                here
            })
            .unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recipe(users: usize, seed: u64) -> Recipe {
        let regions = DEFAULT_REGIONS.split(',').map(|text| text.parse().unwrap()).collect();
        Recipe { users, duration_ms: 10_000, regions, districts: 0, seed }
    }

    fn bytes(recipe: &Recipe) -> Vec<u8> {
        let mut bytes = Vec::new();
        generate(recipe).unwrap().write(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn the_same_seed_gives_the_same_bytes_and_another_seed_others() {
        assert_eq!(bytes(&recipe(500, 7)), bytes(&recipe(500, 7)));
        assert_ne!(bytes(&recipe(500, 7)), bytes(&recipe(500, 8)));
    }

    #[test]
    fn interests_are_as_skewed_as_real_ones() {
        let trace = generate(&recipe(20_000, 3)).unwrap();
        let mut counts: Vec<usize> = trace.requests().iter().map(|r| r.interests.len()).collect();
        counts.sort_unstable();
        let mean = counts.iter().sum::<usize>() as f64 / 20_000.0;
        assert!((5.8..6.2).contains(&mean), "mean {mean}");
        assert_eq!((counts[0], counts[9_999], counts[19_999]), (1, 4, 42));
        assert!((23..=25).contains(&counts[19_799]), "p99 {}", counts[19_799]);

        let held = |name: &str| {
            let holders = trace.requests().iter().filter(|r| r.interests.keys().any(|key| key == name));
            holders.count() as f64 / 20_000.0
        };
        assert!((0.78..0.82).contains(&held("pop")), "pop {}", held("pop"));
        assert!((0.35..0.55).contains(&held("rock")), "rock {}", held("rock"));
        assert!(held("early music") < 0.01);
    }

    #[test]
    fn regions_have_their_shares_and_districts_a_label_more() {
        let mut recipe = recipe(20_000, 3);
        recipe.districts = 4;
        let trace = generate(&recipe).unwrap();
        let seoul = trace.requests().iter().filter(|r| r.region.prefix(2) == "kr.seoul");
        let share = seoul.clone().count() as f64 / 20_000.0;
        assert!((0.38..0.42).contains(&share), "{share}");
        let districts: std::collections::BTreeSet<_> = seoul.map(|r| r.region.as_str()).collect();
        assert_eq!(
            districts.into_iter().collect::<Vec<_>>(),
            ["kr.seoul.d1", "kr.seoul.d2", "kr.seoul.d3", "kr.seoul.d4"]
        );
        assert!(trace.requests().iter().all(|r| r.at_ms < 10_000));
        assert!(trace.requests()[10_000].at_ms.abs_diff(5_000) < 200, "arrivals are uniform");
    }

    #[test]
    fn region_shares_are_parsed() {
        assert_eq!("kr.seoul=40".parse::<RegionShare>().unwrap().weight, 40);
        assert_eq!("kr.seoul".parse::<RegionShare>().unwrap().weight, 1);
        for bad in ["kr.seoul=0", "kr.seoul=x", "KR=1", ""] {
            assert!(bad.parse::<RegionShare>().is_err(), "{bad}");
        }
    }
}
