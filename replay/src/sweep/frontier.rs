//! Which policies are worth a thought: nothing else gives as much for as short a wait.

/// What one policy gives.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    /// The mean wait of the matched, in seconds.
    pub wait_seconds: f64,
    /// The share of the best possible similarity.
    pub ratio: f64,
}

impl Point {
    /// Whether it has as much similarity for as short a wait, and more or a shorter one.
    fn beats(self, other: Self) -> bool {
        self.ratio >= other.ratio && self.wait_seconds <= other.wait_seconds && self != other
    }
}

/// Whether each point is on the frontier: no other beats it (Pareto). Nothing is no point.
pub fn on_frontier(points: &[Option<Point>]) -> Vec<bool> {
    let is_on = |point: &Option<Point>| {
        point.is_some_and(|point| !points.iter().flatten().any(|other| other.beats(point)))
    };
    points.iter().map(is_on).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_beats_is_not_on_the_frontier() {
        let point = |(wait_seconds, ratio)| Some(Point { wait_seconds, ratio });
        let mut points: Vec<_> =
            [(1.0, 0.8), (0.5, 0.7), (1.0, 0.7), (0.5, 0.6), (2.0, 0.8), (0.5, 0.7), (3.0, 0.9)]
                .map(point)
                .into();
        points.push(None);
        assert_eq!(on_frontier(&points), [true, true, false, false, false, true, true, false]);
        assert_eq!(on_frontier(&[]), [false; 0]);
    }
}
