//! When two tickets that fit may pair.
//!
//! Owns the one function that turns similarity into a wait. Whether a pair may pair *now* is decided by comparing
//! `now` with that moment; the falling line must never be evaluated a second time, or rounding would let a
//! pair be due and yet not pairable.

use crate::time::whole_millis;
use crate::{Policy, Threshold};

/// How alike two interest sets are, as the exact fraction `shared / union`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Similarity {
    pub(crate) shared: u32,
    pub(crate) union: u32,
}

impl Similarity {
    /// Of sets of these sizes that share so many.
    pub(crate) fn of(shared: u32, size: u32, other_size: u32) -> Self {
        Self { shared, union: size + other_size - shared }
    }

    /// From 0 to 1. Two empty sets have nothing in common.
    pub(crate) fn as_f64(self) -> f64 {
        if self.union == 0 { 0.0 } else { f64::from(self.shared) / f64::from(self.union) }
    }

    /// Compares exactly.
    pub(crate) fn compare(self, other: Self) -> std::cmp::Ordering {
        let (union, other_union) = (u64::from(self.union.max(1)), u64::from(other.union.max(1)));
        (u64::from(self.shared) * other_union).cmp(&(u64::from(other.shared) * union))
    }
}

/// How many members two sorted sets share.
pub(crate) fn count_shared<T: Ord>(a: &[T], b: &[T]) -> u32 {
    let (mut i, mut j, mut shared) = (0, 0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        shared += u32::from(x == y);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    shared
}

/// The time-dependent part of the pairing rule.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    threshold: Threshold,
    min_shared: u32,
    any_interest_millis: Option<u64>,
}

impl Rule {
    pub(crate) fn new(policy: &Policy) -> Self {
        Self {
            threshold: policy.threshold,
            min_shared: u32::from(policy.min_shared),
            any_interest_millis: policy.any_interest_after.map(whole_millis),
        }
    }

    /// How long both must have waited before they may pair; `None` means never. Never longer for a pair that shares
    /// more of sets of the same sizes.
    pub(crate) fn wait_millis(&self, similarity: Similarity) -> Option<u64> {
        let by_interest = if similarity.shared >= self.min_shared {
            millis_until(&self.threshold, similarity.as_f64())
        } else {
            None
        };
        match (by_interest, self.any_interest_millis) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        }
    }

    /// The same for two who need not share anything; `None` when the policy knows no such wait.
    pub(crate) fn any_interest_millis(&self) -> Option<u64> {
        self.any_interest_millis
    }
}

/// The wait, in whole milliseconds, after which the threshold asks for no more than this; `None` if it never does.
fn millis_until(threshold: &Threshold, similarity: f64) -> Option<u64> {
    /// Far above what rounding makes of a wait of hours, far below what anyone notices.
    const NOISE_MILLIS: f64 = 1e-6;

    let &Threshold { start, floor, fall } = threshold;
    if similarity < floor {
        return None;
    }
    if similarity >= start {
        return Some(0);
    }
    let fall_millis = fall.as_secs_f64() * 1e3;
    let wait = (fall_millis * ((start - similarity) / (start - floor)) - NOISE_MILLIS).ceil().max(0.0);
    #[expect(clippy::cast_sign_loss, reason = "clamped to 0 or more on the line above")]
    let wait = wait as u64;
    Some(wait.min(whole_millis(fall)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn line(start: f64, floor: f64, fall_millis: u64) -> Threshold {
        Threshold { start, floor, fall: Duration::from_millis(fall_millis) }
    }

    #[test]
    fn the_wait_is_where_the_line_meets_the_similarity() {
        assert_eq!(millis_until(&line(1.0, 0.0, 2_000), 1.0), Some(0));
        assert_eq!(millis_until(&line(1.0, 0.0, 2_000), 0.2), Some(1_600));
        assert_eq!(millis_until(&line(1.0, 0.0, 2_000), 1.0 / 3.0), Some(1_334));
        assert_eq!(millis_until(&line(0.6, 0.2, 3_000), 0.2), Some(3_000));
        assert_eq!(millis_until(&line(0.6, 0.2, 3_000), 0.19), None);
        assert_eq!(millis_until(&line(0.6, 0.6, 3_000), 0.6), Some(0));
        assert_eq!(millis_until(&line(1.0, 0.1, 0), 0.1), Some(0));
    }

    #[test]
    fn a_pair_more_alike_never_waits_longer() {
        for threshold in [line(1.0, 0.0, 2_000), line(0.7, 0.1, 333), line(0.9, 0.3, 86_400_000)] {
            let mut previous = Some(0);
            for step in (0..=10_000_u32).rev() {
                let wait = millis_until(&threshold, f64::from(step) / 10_000.0);
                assert!(
                    wait.is_none() || (previous.is_some() && wait >= previous),
                    "{threshold:?} at {step}"
                );
                previous = wait;
            }
        }
    }

    #[test]
    fn the_wait_is_the_first_whole_millisecond_that_asks_for_no_more() {
        for threshold in [line(1.0, 0.0, 2_000), line(0.7, 0.1, 333), line(0.9, 0.3, 60_000)] {
            let asks = |wait: u64| {
                let fallen = Duration::from_millis(wait).as_secs_f64() / threshold.fall.as_secs_f64();
                (threshold.start - (threshold.start - threshold.floor) * fallen).max(threshold.floor)
            };
            for union in 1..=128_u32 {
                for shared in 0..=union {
                    let similarity = Similarity { shared, union }.as_f64();
                    let Some(wait) = millis_until(&threshold, similarity) else { continue };
                    assert!(asks(wait) <= similarity + 1e-9, "{threshold:?} {shared}/{union} is early");
                    assert!(
                        wait == 0 || asks(wait - 1) > similarity,
                        "{threshold:?} {shared}/{union} is late"
                    );
                }
            }
        }
    }

    #[test]
    fn fractions_compare_exactly() {
        let third = Similarity { shared: 1, union: 3 };
        assert!(third.compare(Similarity { shared: 2, union: 6 }).is_eq());
        assert!(third.compare(Similarity { shared: 33, union: 100 }).is_gt());
        assert!(Similarity::of(0, 0, 0).compare(Similarity { shared: 1, union: 128 }).is_lt());
    }
}
