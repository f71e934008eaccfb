//! Histograms of what single commands took.

use std::time::{Duration, Instant};

use hdrhistogram::Histogram;

/// What commands of one kind took, each on its own.
pub(crate) struct Timings {
    kind: &'static str,
    nanos: Histogram<u64>,
    total: Duration,
}

impl Timings {
    pub(crate) fn new(kind: &'static str) -> Self {
        Self { kind, nanos: Histogram::new(3).expect("3 digits are kept"), total: Duration::ZERO }
    }

    pub(crate) fn record(&mut self, took: Duration) {
        let nanos = u64::try_from(took.as_nanos()).unwrap_or(u64::MAX);
        self.nanos.record(nanos).expect("the histogram grows");
        self.total += took;
    }

    pub(crate) fn longest(&self) -> Duration {
        Duration::from_nanos(self.nanos.max())
    }

    /// One line, in microseconds.
    pub(crate) fn print(&self) {
        if self.nanos.is_empty() {
            return;
        }
        let micros = |nanos: u64| nanos as f64 / 1e3;
        println!(
            "  {:<22} {:>9} times, µs: mean {:>8.2}  p50 {:>8.2}  p99 {:>8.2}  p99.9 {:>8.2}  longest {:>9.1}",
            self.kind,
            self.nanos.len(),
            self.total.as_secs_f64() * 1e6 / self.nanos.len() as f64,
            micros(self.nanos.value_at_quantile(0.5)),
            micros(self.nanos.value_at_quantile(0.99)),
            micros(self.nanos.value_at_quantile(0.999)),
            micros(self.nanos.max()),
        );
    }
}

/// How long something takes.
pub(crate) fn time<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = Instant::now();
    let result = work();
    (result, start.elapsed())
}
