//! What samples say: how much counters grew, how fast, and how high gauges stood.

use std::collections::BTreeMap;

/// A gauge that was not scraped for so long says nothing any more, in seconds: its target is gone, or does not tell of it.
const FORGET_AFTER: f64 = 5.0;
/// A counter that turns up has counted from nothing since the scrape before, a second ago.
const SCRAPE_SECONDS: f64 = 1.0;

/// The samples of one combination of labels, in the order of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Series {
    pub(super) labels: BTreeMap<String, String>,
    /// When, in seconds since 1970, and what.
    pub(super) points: Vec<(f64, f64)>,
}

impl Series {
    /// A label's value; empty when there is no such label, as in Prometheus.
    pub(super) fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    pub(super) fn last(&self) -> Option<f64> {
        self.points.last().map(|(_, value)| *value)
    }

    /// How much a counter grew from one time to another, to the last one that was counted. What was first seen in between
    /// grew from nothing; what fell began anew.
    pub(super) fn increase(&self, from: f64, to: f64) -> f64 {
        self.growth(from)
            .points
            .iter()
            .take_while(|(time, _)| *time <= to)
            .last()
            .map_or(0.0, |(_, sum)| *sum)
    }

    /// How much a counter had grown at each sample since a time.
    pub(super) fn growth(&self, from: f64) -> Growth {
        let first_after = self.points.partition_point(|(time, _)| *time <= from);
        let mut last = match first_after.checked_sub(1) {
            Some(at) => self.points[at],
            None => match self.points.first() {
                Some((time, _)) => (time - SCRAPE_SECONDS, 0.0),
                None => return Growth::default(),
            },
        };
        let mut grown = Growth { points: vec![(last.0, 0.0)] };
        let mut sum = 0.0;
        for (time, value) in &self.points[first_after..] {
            sum += if *value >= last.1 { value - last.1 } else { *value };
            last = (*time, *value);
            grown.points.push((*time, sum));
        }
        grown
    }

    /// What a gauge was at a time.
    fn level(&self, at: f64) -> Option<f64> {
        let (time, value) = *self.points[..self.points.partition_point(|(time, _)| *time <= at)].last()?;
        (at - time <= FORGET_AFTER).then_some(value)
    }
}

/// A counter since a time, which it does not fall from.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Growth {
    points: Vec<(f64, f64)>,
}

impl Growth {
    /// How much it had grown at a time, read off a straight line between the samples around it.
    fn at(&self, time: f64) -> f64 {
        let after = self.points.partition_point(|(known, _)| *known <= time);
        match (after.checked_sub(1).map(|before| self.points[before]), self.points.get(after)) {
            (Some((earlier, low)), Some((later, high))) => {
                low + (high - low) * (time - earlier) / (later - earlier)
            }
            (Some((_, last)), None) => last,
            (None, _) => 0.0,
        }
    }
}

/// How fast counters grew together between two times, a second.
pub(super) fn mean_rate(counters: &[Series], from: f64, to: f64) -> f64 {
    let growths = counters.iter().map(|series| series.growth(from - SCRAPE_SECONDS));
    growths.map(|growth| growth.at(to) - growth.at(from)).sum::<f64>() / (to - from)
}

/// How fast counters grew together in each second between two times: the second's end, counted from the first, and the rate.
pub(super) fn rates(counters: &[Series], from: f64, to: f64) -> Vec<(f64, f64)> {
    let growths: Vec<Growth> = counters.iter().map(|series| series.growth(from - SCRAPE_SECONDS)).collect();
    let sum = |time: f64| growths.iter().map(|growth| growth.at(time)).sum::<f64>();
    let mut rates = Vec::new();
    let mut end = from + 1.0;
    while end <= to {
        rates.push((end - from, sum(end) - sum(end - 1.0)));
        end += 1.0;
    }
    rates
}

/// The sum of gauges at each of their samples between two times, counted from the first. Those that a label makes equal tell of
/// the same thing, and the highest one counts.
pub(super) fn levels(gauges: &[Series], same: &str, from: f64, to: f64) -> Vec<(f64, f64)> {
    let mut times: Vec<f64> = gauges
        .iter()
        .flat_map(|series| &series.points)
        .map(|(time, _)| *time)
        .filter(|time| (from..=to).contains(time))
        .collect();
    times.sort_unstable_by(f64::total_cmp);
    times.dedup();
    let sum = |time: f64| {
        let mut highest: BTreeMap<&str, f64> = BTreeMap::new();
        for series in gauges {
            if let Some(level) = series.level(time) {
                let known = highest.entry(series.label(same)).or_insert(level);
                *known = known.max(level);
            }
        }
        highest.values().sum::<f64>()
    };
    times.into_iter().map(|time| (time - from, sum(time))).collect()
}

/// The highest of some values; 0 of none.
pub(super) fn peak(points: &[(f64, f64)]) -> f64 {
    points.iter().map(|(_, value)| *value).fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn series(labels: &[(&str, &str)], points: &[(f64, f64)]) -> Series {
        let labels = labels.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        Series { labels: labels.collect(), points: points.to_vec() }
    }

    #[test]
    fn a_counter_is_counted_to_the_last_one() {
        let counter = series(&[], &[(1.0, 100.0), (2.0, 100.0), (3.0, 350.0), (4.0, 400.0), (5.0, 900.0)]);
        assert_eq!(counter.increase(2.5, 4.5), 300.0);
        assert_eq!(counter.increase(5.0, 9.0), 0.0);
        let restarted = series(&[], &[(1.0, 100.0), (2.0, 130.0), (3.0, 7.0), (4.0, 8.0)]);
        assert_eq!(restarted.increase(1.0, 4.0), 38.0);
        let new = series(&[], &[(3.0, 40.0), (4.0, 50.0)]);
        assert_eq!(new.increase(1.0, 4.0), 50.0);
        assert_eq!(series(&[], &[]).increase(1.0, 4.0), 0.0);
    }

    #[test]
    fn rates_are_read_between_samples() {
        // 10 a second from 10.5 to 12.5, and nothing else; scraped at other moments than is asked for.
        let counter = series(&[], &[(9.5, 5.0), (10.5, 5.0), (11.5, 15.0), (12.5, 25.0), (13.5, 25.0)]);
        let two = [counter.clone(), counter];
        assert_eq!(rates(&two, 10.0, 13.2), [(1.0, 10.0), (2.0, 20.0), (3.0, 10.0)]);
        assert_eq!(mean_rate(&two, 10.0, 13.0), 40.0 / 3.0);
        assert_eq!(peak(&rates(&two, 10.0, 13.0)), 20.0);
        // A program that is new: its counter was nothing before.
        let new = [series(&[], &[(11.0, 0.5), (12.0, 1.5)])];
        assert_eq!(rates(&new, 9.0, 12.0), [(1.0, 0.0), (2.0, 0.5), (3.0, 1.0)]);
    }

    #[test]
    fn gauges_of_the_same_thing_are_not_added() {
        let gauges = [
            series(&[("shard", "0"), ("instance", "a")], &[(1.0, 3.0), (2.0, 9.0)]),
            series(&[("shard", "0"), ("instance", "b")], &[(1.5, 4.0)]),
            series(&[("shard", "1"), ("instance", "a")], &[(1.0, 10.0), (9.0, 1.0)]),
        ];
        let seen = levels(&gauges, "shard", 1.0, 9.0);
        assert_eq!(seen, [(0.0, 13.0), (0.5, 14.0), (1.0, 19.0), (8.0, 1.0)], "what is old is forgotten");
        assert_eq!(peak(&seen), 19.0);
        assert_eq!(peak(&[]), 0.0);
    }
}
