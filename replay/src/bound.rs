//! The best possible total similarity of a trace: what no way of pairing its requests can pass.
//!
//! Everybody is taken to be there at once, and may pair with whoever asks from exactly the same region, is
//! another user and shares an interest: the scopes that tickets start with. A policy whose scopes widen can
//! therefore pass the bound, when a trace has people in neighbouring regions.
//!
//! The bound of a region is half the value of the best assignment (each request picks another, each is picked
//! once) on its matrix of similarities. A set of pairs is such an assignment, counted twice, so none is worth
//! more; an assignment may also go round in odd circles, so on real interests the bound is about 1 % above the
//! best pairs.

use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::anyhow;
use ndarray::Array2;

use crate::numbering::Numbering;
use crate::trace::Trace;

/// The most requests of one region that are assigned: 5,000 take a few seconds and 200 MB. Larger regions are
/// bounded by half of each request's best similarity, which is 2 to 3 % more.
const MOST_ASSIGNED: usize = 5_000;

/// Similarities are rounded up to whole numbers of this part. Whole numbers below 2^53 are added and subtracted
/// without error, so that the solver meets no rounding.
const PARTS: f64 = (1_u64 << 30) as f64;

/// What no way of pairing a trace can pass.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bound {
    /// The most that the similarities of all pairs can add up to.
    pub similarity: f64,
    /// Requests in regions too large to be assigned, for which the bound is 2 to 3 % wider.
    pub loose_requests: usize,
}

impl Bound {
    /// Computes the bound, on every processor. `on_region` is told how many requests are done each time.
    ///
    /// # Errors
    /// When the solver fails, which it does for no matrix that is made here.
    pub fn of(trace: &Trace, on_region: impl Fn(u64) + Sync) -> anyhow::Result<Self> {
        Self::with_limit(trace, MOST_ASSIGNED, on_region)
    }

    fn with_limit(trace: &Trace, limit: usize, on_region: impl Fn(u64) + Sync) -> anyhow::Result<Self> {
        let regions = regions(trace);
        let next = AtomicUsize::new(0);
        let total = Mutex::new(anyhow::Ok(0.0_f64));
        let work = || {
            while let Some(region) = regions.get(next.fetch_add(1, Ordering::Relaxed)) {
                let parts = if region.len() > limit {
                    Ok(sum_of_bests(region))
                } else {
                    twice_the_assignment(region)
                };
                let mut total = total.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                // The order does not matter: whole numbers.
                *total = std::mem::replace(&mut *total, Ok(0.0)).and_then(|sum| Ok(sum + parts?));
                on_region(region.len() as u64);
            }
        };
        std::thread::scope(|scope| {
            for _ in 1..std::thread::available_parallelism().map_or(1, usize::from) {
                scope.spawn(work);
            }
            work();
        });
        let twice = total.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner)?;
        let loose_requests = regions.iter().map(Vec::len).filter(|len| *len > limit).sum();
        Ok(Self { similarity: twice / PARTS / 2.0, loose_requests })
    }

    /// What share of the bound a sum of similarities is; `None` when nobody of the trace can pair.
    pub fn ratio(&self, sum: f64) -> Option<f64> {
        (self.similarity > 0.0).then(|| sum / self.similarity)
    }
}

/// A request as far as similarity goes.
struct Point {
    user: usize,
    /// In order.
    interests: Vec<usize>,
}

impl Point {
    /// In [`PARTS`], rounded up; 0 for two who may not pair.
    fn similarity(&self, other: &Self) -> f64 {
        let shared = self.shared(other);
        if shared == 0 || self.user == other.user {
            return 0.0;
        }
        let union = self.interests.len() + other.interests.len() - shared;
        (shared as f64 / union as f64 * PARTS).ceil()
    }

    fn shared(&self, other: &Self) -> usize {
        let (mut mine, mut theirs) = (self.interests.as_slice(), other.interests.as_slice());
        let mut shared = 0;
        while let ([a, mine_left @ ..], [b, theirs_left @ ..]) = (mine, theirs) {
            shared += usize::from(a == b);
            (mine, theirs) =
                (if a <= b { mine_left } else { mine }, if b <= a { theirs_left } else { theirs });
        }
        shared
    }
}

/// The requests of each region, the largest first.
fn regions(trace: &Trace) -> Vec<Vec<Point>> {
    let [mut users, mut keys, mut places] = [(); 3].map(|()| Numbering::default());
    let mut regions: Vec<Vec<Point>> = Vec::new();
    for request in trace.requests() {
        let place = places.of(request.region.as_str());
        let mut interests: Vec<usize> = request.interests.keys().map(|key| keys.of(key)).collect();
        interests.sort_unstable();
        let point = Point { user: users.of(request.user.as_str()), interests };
        match regions.get_mut(place) {
            Some(region) => region.push(point),
            None => regions.push(vec![point]),
        }
    }
    regions.sort_by_key(|region| std::cmp::Reverse(region.len()));
    regions
}

/// The value of the best assignment, in [`PARTS`]. Who picks nobody worth anything adds 0.
fn twice_the_assignment(region: &[Point]) -> anyhow::Result<f64> {
    let mut costs = Array2::zeros((region.len(), region.len()));
    for (n, a) in region.iter().enumerate() {
        for (m, b) in region[..n].iter().enumerate() {
            let cost = -a.similarity(b);
            costs[(n, m)] = cost;
            costs[(m, n)] = cost;
        }
    }
    let (picked, _) = lapjv::lapjv(&costs).map_err(|error| anyhow!("the bound cannot be solved: {error}"))?;
    Ok(-lapjv::cost(&costs, &picked))
}

/// Each request's best similarity, added up, in [`PARTS`]: no pair is worth more than half of its two bests each.
fn sum_of_bests(region: &[Point]) -> f64 {
    let best = |a: &Point| region.iter().map(|b| a.similarity(b)).fold(0.0, f64::max);
    region.iter().map(best).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::{Rng, SeedableRng};

    fn trace(lines: &[(&str, &str, &str)]) -> Trace {
        let line = |(user, region, likes): &(&str, &str, &str)| {
            let interests: Vec<_> = likes.split(' ').collect();
            serde_json::json!({"at_ms": 0, "user": user, "region": region, "interests": interests})
                .to_string()
        };
        Trace::read(lines.iter().map(line).collect::<Vec<_>>().join("\n").as_bytes()).unwrap()
    }

    fn bound(lines: &[(&str, &str, &str)]) -> f64 {
        Bound::of(&trace(lines), |_| {}).unwrap().similarity
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-6
    }

    #[test]
    fn small_bounds_worked_out_by_hand() {
        let (ana, ben) = (("ana", "kr.a", "pop jazz"), ("ben", "kr.a", "jazz rock"));
        assert!(near(bound(&[ana, ben]), 1.0 / 3.0));
        let same = |user| (user, "kr.a", "pop jazz");
        assert_eq!(bound(&[ana, ben, same("cem")]), 1.0, "the equal ones pair");
        assert_eq!(bound(&[ana, same("cem"), same("dan")]), 1.5, "three equal ones go round in a circle");
        assert_eq!(bound(&[ana, ("ben", "kr.b", "pop jazz")]), 0.0, "other regions never pair");
        assert_eq!(bound(&[ana, ("ana", "kr.a", "pop jazz")]), 0.0, "nor does a user with themselves");
        assert_eq!(bound(&[ana, ("ben", "kr.a", "folk")]), 0.0, "nor do people who share nothing");
        assert!(near(bound(&[("x", "kr", "a b"), ("y", "kr", "a b"), ("z", "kr", "c")]), 1.0), "an odd one");
        assert_eq!(bound(&[ana]), 0.0);
    }

    /// Tries every way to pair the region's requests.
    fn best_pairs(region: &[&Point]) -> f64 {
        let Some((first, rest)) = region.split_first() else { return 0.0 };
        let without = best_pairs(rest);
        let with = (0..rest.len()).map(|n| {
            let others: Vec<_> = [&rest[..n], &rest[n + 1..]].concat();
            first.similarity(rest[n]) + best_pairs(&others)
        });
        with.fold(without, f64::max)
    }

    #[test]
    fn no_pairs_pass_the_bound_and_the_quick_one_is_never_tighter() {
        let mut chance = ChaCha8Rng::seed_from_u64(5);
        let mut reached = 0;
        for round in 0..200 {
            let lines: Vec<_> = (0..9)
                .map(|n| {
                    let likes: Vec<_> = ["a", "b", "c", "d", "e"]
                        .into_iter()
                        .filter(|_| chance.next_u64() % 3 == 0)
                        .chain(["f"].into_iter().filter(|_| n % 2 == 0))
                        .chain(["g"].into_iter().filter(|_| n % 2 == 1))
                        .collect();
                    // Now and then the same user asks again.
                    let user = format!("u{}", if n == 8 { 7 } else { n });
                    (user, ["kr.a", "kr.b"][usize::from(chance.next_u64() % 4 == 0)], likes.join(" "))
                })
                .collect();
            let lines: Vec<_> = lines.iter().map(|(u, r, l)| (u.as_str(), *r, l.as_str())).collect();
            let trace = trace(&lines);
            let best: f64 = regions(&trace).iter().map(|r| best_pairs(&r.iter().collect::<Vec<_>>())).sum();
            let best = best / PARTS;
            let tight = Bound::of(&trace, |_| {}).unwrap();
            let quick = Bound::with_limit(&trace, 0, |_| {}).unwrap();
            assert!(best <= tight.similarity && tight.similarity <= quick.similarity, "round {round}");
            assert_eq!((tight.loose_requests, quick.loose_requests), (0, 9));
            reached += usize::from(near(best, tight.similarity));
        }
        assert!(reached > 20, "the bound is reached in {reached} of 200 rounds");
    }
}
