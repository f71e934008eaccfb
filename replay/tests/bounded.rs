//! The best possible similarity of generated traces, held against exact methods that share no code with it.

#![allow(clippy::unwrap_used, reason = "a test may panic")]

use std::collections::BTreeMap;

use replay::bound::Bound;
use replay::generate::{DEFAULT_REGIONS, Recipe, generate};
use replay::trace::{Request, Trace};

fn trace(users: usize, regions: &str, districts: u16, seed: u64) -> Trace {
    let regions = regions.split(',').map(|text| text.parse().unwrap()).collect();
    generate(&Recipe { users, duration_ms: 10_000, regions, districts, seed }).unwrap()
}

/// The similarities of a region's people to each other, 0 to themselves.
fn similarities(region: &[&Request]) -> Vec<Vec<f64>> {
    let to = |a: &Request, b: &Request| {
        if a.user == b.user { 0.0 } else { a.interests.overlap(&b.interests).similarity }
    };
    region.iter().map(|a| region.iter().map(|b| to(a, b)).collect()).collect()
}

/// The most that the people of a region can add up to when each picks one and each is picked once: for every set of
/// people, the best that the first so many can do by picking exactly them.
fn best_picks(similarity: &[Vec<f64>]) -> f64 {
    let people = similarity.len();
    let mut best = vec![0.0_f64; 1 << people];
    for set in 1..best.len() {
        let picker = &similarity[set.count_ones() as usize - 1];
        let picked = (0..people).filter(|n| set & (1 << n) != 0);
        best[set] = picked.map(|n| best[set ^ (1 << n)] + picker[n]).fold(0.0, f64::max);
    }
    best[best.len() - 1]
}

/// The most that pairs can add up to: for every set of people, the last of them stays alone or takes any other.
fn best_pairs(similarity: &[Vec<f64>]) -> f64 {
    let mut best = vec![0.0_f64; 1 << similarity.len()];
    for set in 1..best.len() {
        let last = set.ilog2() as usize;
        let rest = set ^ (1 << last);
        let others = (0..last).filter(|n| rest & (1 << n) != 0);
        best[set] = others.map(|n| best[rest ^ (1 << n)] + similarity[last][n]).fold(best[rest], f64::max);
    }
    best[best.len() - 1]
}

#[test]
fn the_bound_of_small_regions_is_the_best_of_all_picks_and_no_pairs_pass_it() {
    let regions: Vec<String> = (0..16).map(|n| format!("kr.r{n}")).collect();
    for seed in 1..=20 {
        let trace = trace(120, &regions.join(","), 0, seed);
        let mut by_region: BTreeMap<&str, Vec<&Request>> = BTreeMap::new();
        for request in trace.requests() {
            by_region.entry(request.region.as_str()).or_default().push(request);
        }
        let regions: Vec<_> = by_region.values().map(|region| similarities(region)).collect();
        let (mut picks, mut pairs) = (0.0, 0.0);
        for region in &regions {
            assert!(region.len() <= 18, "seed {seed}: {} people have too many sets", region.len());
            picks += best_picks(region) / 2.0;
            pairs += best_pairs(region);
        }
        let bound = Bound::of(&trace, |_| {}).unwrap();
        assert_eq!(bound.loose_requests, 0);
        assert!((bound.similarity - picks).abs() < 1e-6, "seed {seed}: {} is not {picks}", bound.similarity);
        assert!(
            pairs <= bound.similarity && pairs > 0.9 * bound.similarity,
            "seed {seed}: pairs reach {pairs}"
        );
    }
}

/// Of `replay generate --users 2000 --seconds 10 --seed 11 --districts 2`: for each of the 12 regions, half the value of
/// `scipy.optimize.linear_sum_assignment` (SciPy 1.17.1) on the matrix of Jaccard indices, 0 on its diagonal.
const BY_SCIPY: f64 = 670.117_506_736;

#[test]
fn the_bound_of_two_thousand_people_is_what_scipy_says() {
    let bound = Bound::of(&trace(2_000, DEFAULT_REGIONS, 2, 11), |_| {}).unwrap();
    // Each similarity is rounded up by less than one part of 2^30.
    let rounding = 2_000.0 / f64::from(1 << 30) / 2.0;
    assert!((BY_SCIPY..BY_SCIPY + rounding).contains(&bound.similarity), "{}", bound.similarity);
}
