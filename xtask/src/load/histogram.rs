//! Histograms as Prometheus keeps them: how many values were at most each bound.

/// The bounds in ascending order, the last one infinite, and how many values were at most that.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Histogram(Vec<(f64, f64)>);

impl Histogram {
    /// Counts so many values more that were at most `bound`.
    pub(super) fn add(&mut self, bound: f64, count: f64) {
        let at = self.0.partition_point(|(known, _)| *known < bound);
        match self.0.get_mut(at) {
            Some((known, sum)) if *known == bound => *sum += count,
            _ => self.0.insert(at, (bound, count)),
        }
    }

    /// The same, the bound as it is written.
    pub(super) fn add_written(&mut self, bound: &str, count: f64) -> Option<()> {
        let bound = if bound == "+Inf" { f64::INFINITY } else { bound.parse().ok()? };
        self.add(bound, count);
        Some(())
    }

    /// What was counted since.
    pub(super) fn since(&self, before: &Self) -> Self {
        let earlier =
            |bound: f64| before.0.iter().find(|(known, _)| *known == bound).map_or(0.0, |(_, count)| *count);
        Self(self.0.iter().map(|(bound, count)| (*bound, count - earlier(*bound))).collect())
    }

    /// Where a share of the values lies, by linear reading within its bucket; `None` without values.
    pub(super) fn percentile(&self, share: f64) -> Option<f64> {
        let total = self.0.last()?.1;
        let (mut lower, mut below) = (0.0, 0.0);
        for (bound, count) in &self.0 {
            if total > 0.0 && *count >= share * total {
                let width = if bound.is_finite() { bound - lower } else { 0.0 };
                return Some(lower + width * (share * total - below) / (count - below));
            }
            (lower, below) = (*bound, *count);
        }
        None
    }

    /// How many buckets lie between two values: 0 in the same one, 1 in neighbours.
    pub(super) fn distance(&self, one: f64, other: f64) -> usize {
        let bucket = |value: f64| self.0.partition_point(|(bound, _)| *bound < value);
        bucket(one).abs_diff(bucket(other))
    }

    /// Each bucket by itself: its lower and upper bound and how many values it holds.
    pub(super) fn buckets(&self) -> Vec<(f64, f64, f64)> {
        let mut before = (0.0, 0.0);
        let each = self.0.iter().map(|(bound, count)| {
            let (lower, below) = std::mem::replace(&mut before, (*bound, *count));
            (lower, *bound, count - below)
        });
        each.collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn histogram(counts: &[(&str, f64)]) -> Histogram {
        let mut histogram = Histogram::default();
        for (bound, count) in counts {
            histogram.add_written(bound, *count).unwrap();
        }
        histogram
    }

    #[test]
    fn a_percentile_is_read_within_its_bucket() {
        let before = histogram(&[("0.1", 5.0), ("0.2", 10.0), ("+Inf", 10.0)]);
        let after = histogram(&[("+Inf", 110.0), ("0.2", 110.0), ("0.1", 55.0)]);
        let between = after.since(&before);
        assert_eq!(between.percentile(0.5), Some(0.1));
        let p99 = between.percentile(0.99).unwrap();
        assert!((p99 - 0.198).abs() < 1e-9, "{p99}");
        assert_eq!(after.since(&after).percentile(0.99), None);
        assert_eq!(Histogram::default().percentile(0.5), None);
    }

    #[test]
    fn beyond_the_last_bound_the_last_bound_is_all_that_is_known() {
        let slow = histogram(&[("0.1", 0.0), ("0.2", 1.0), ("+Inf", 10.0)]);
        assert_eq!(slow.percentile(0.5), Some(0.2));
    }

    #[test]
    fn counts_of_several_servers_add_up() {
        let both = histogram(&[("0.1", 1.0), ("+Inf", 2.0), ("0.1", 3.0), ("+Inf", 4.0)]);
        assert_eq!(both.buckets(), [(0.0, 0.1, 4.0), (0.1, f64::INFINITY, 2.0)]);
        assert!(Histogram::default().add_written("wide", 1.0).is_none());
    }

    #[test]
    fn values_are_as_far_apart_as_their_buckets() {
        let bounds = histogram(&[("0.01", 0.0), ("0.025", 0.0), ("0.05", 0.0), ("+Inf", 0.0)]);
        assert_eq!(bounds.distance(0.011, 0.025), 0, "a bound belongs to the bucket below it");
        assert_eq!(bounds.distance(0.025, 0.026), 1);
        assert_eq!(bounds.distance(0.005, 0.03), 2);
        assert_eq!(bounds.distance(9.0, 0.04), 1);
    }
}
