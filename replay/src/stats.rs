//! Percentiles, exact: nearest rank over all values, nothing interpolated.

use serde::Serialize;

/// How values spread. Members are null when there are no values.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Spread {
    /// Half of the values are at most this.
    pub p50: Option<f64>,
    /// 95 % of the values are at most this.
    pub p95: Option<f64>,
    /// 99 % of the values are at most this.
    pub p99: Option<f64>,
    /// The largest.
    pub max: Option<f64>,
    /// The mean.
    pub mean: Option<f64>,
}

impl Spread {
    /// The spread of some values.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_unstable_by(f64::total_cmp);
        let at = |percent: usize| {
            let rank = (values.len() * percent).div_ceil(100);
            values.get(rank.saturating_sub(1)).copied().map(round)
        };
        let sum: f64 = values.iter().sum();
        let mean = (!values.is_empty()).then(|| round(sum / values.len() as f64));
        Self { p50: at(50), p95: at(95), p99: at(99), max: at(100), mean }
    }

    /// How many times the p95 of `whole` this one's p95 is. `None` when either is missing or the whole's is 0.
    pub fn p95_factor(self, whole: Self) -> Option<f64> {
        let whole = whole.p95.filter(|p95| *p95 > 0.0)?;
        Some(self.p95? / whole)
    }
}

/// Rounds to three decimals: microseconds, when the value is in milliseconds.
pub(crate) fn round(value: f64) -> f64 {
    (value * 1_000.0).round() / 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_nearest_rank() {
        let spread = Spread::of((1..=200).rev().map(f64::from));
        let [p50, p95, p99, max, mean] = [100.0, 190.0, 198.0, 200.0, 100.5].map(Some);
        assert_eq!(spread, Spread { p50, p95, p99, max, mean });
        assert_eq!(Spread::of([5.00049]).p99, Some(5.0));
        assert_eq!(Spread::of([]), Spread::default());
    }
}
