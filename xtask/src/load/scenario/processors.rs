//! What all processors of the machine did while something ran, from the kernel's own books (`man 5 proc_stat`).
//!
//! A virtual machine's host may give its processors to others meanwhile: then everything took longer than it costs.

use std::fmt;
use std::future::Future;
use std::ops::RangeInclusive;
use std::time::Duration;

use tokio::time::{MissedTickBehavior, interval};

use super::prometheus::now;

/// How far apart readings are.
const PACE: Duration = Duration::from_millis(500);
/// More than this share taken by the host is said aloud.
const MUCH_TAKEN: f64 = 0.02;

/// Readings, each with its time in seconds since 1970.
#[derive(Debug, Default)]
pub(super) struct Readings(Vec<(f64, Ticks)>);

/// What each of the kernel's clock ticks went to, of all processors together since the machine started.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Ticks {
    used: f64,
    idle: f64,
    taken: f64,
}

/// How the processors' time was shared out; the shares are 1 together.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shares {
    used: f64,
    idle: f64,
    taken: f64,
}

/// Reads when `work` begins, while it goes on and when it is done, and gives what it gave.
pub(super) async fn beside<T>(work: impl Future<Output = T>) -> (T, Readings) {
    let mut readings = Readings::default();
    readings.read();
    let mut pace = interval(PACE);
    pace.set_missed_tick_behavior(MissedTickBehavior::Skip);
    tokio::pin!(work);
    loop {
        tokio::select! {
            _ = pace.tick() => readings.read(),
            done = &mut work => {
                readings.read();
                return (done, readings);
            }
        }
    }
}

impl Readings {
    /// A reading that fails is left out: the report then says nothing of processors.
    fn read(&mut self) {
        self.0.extend(Ticks::read().map(|ticks| (now(), ticks)));
    }

    /// The shares between these times; `None` when they are too near to each other.
    pub(super) fn shares(&self, times: RangeInclusive<f64>) -> Option<Shares> {
        let mut inside = self.0.iter().filter(|(at, _)| times.contains(at)).map(|(_, ticks)| ticks);
        let (first, last) = (inside.next()?, inside.next_back()?);
        let (used, idle, taken) = (last.used - first.used, last.idle - first.idle, last.taken - first.taken);
        let all = used + idle + taken;
        (all > 0.0).then_some(Shares { used: used / all, idle: idle / all, taken: taken / all })
    }
}

impl Ticks {
    fn read() -> Option<Self> {
        Self::parse(&std::fs::read_to_string("/proc/stat").ok()?)
    }

    /// user nice system idle iowait irq softirq steal; guests' time, which follows, is in user already.
    fn parse(stat: &str) -> Option<Self> {
        let line = stat.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let fields: Vec<f64> =
            line.split_whitespace().take(8).map(str::parse).collect::<Result<_, _>>().ok()?;
        let &[user, nice, system, idle, waiting, interrupts, soft_interrupts, stolen] = fields.as_slice()
        else {
            return None;
        };
        let used = user + nice + system + interrupts + soft_interrupts;
        Some(Self { used, idle: idle + waiting, taken: stolen })
    }
}

impl Shares {
    /// What to say when the host took much.
    pub(super) fn warning(&self) -> Option<String> {
        (self.taken > MUCH_TAKEN).then(|| {
            format!(
                "WARNING: the host gave {:.0} % of the processors' time to others: all times are longer by more than that",
                self.taken * 100.0
            )
        })
    }
}

impl fmt::Display for Shares {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [used, idle, taken] = [self.used, self.idle, self.taken].map(|share| share * 100.0);
        write!(f, "{used:.0} % used, {idle:.0} % idle, {taken:.0} % taken by the host")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STAT: &str = "cpu  100 10 50 800 20 5 15 40 7 0\ncpu0 1 2 3 4 5 6 7 8 9 0\n";

    #[test]
    fn ticks_are_read() {
        assert_eq!(Ticks::parse(STAT), Some(Ticks { used: 180.0, idle: 820.0, taken: 40.0 }));
        assert_eq!(Ticks::parse("cpu  1 2 3\n"), None);
        assert_eq!(Ticks::parse("cpu0 1 2 3 4 5 6 7 8\n"), None);
    }

    #[test]
    fn only_what_lies_between_the_times_is_shared_out() {
        let ticks = |used, idle, taken| Ticks { used, idle, taken };
        let readings = Readings(vec![
            (1.0, ticks(0.0, 0.0, 0.0)),
            (2.0, ticks(10.0, 50.0, 0.0)),
            (3.0, ticks(40.0, 60.0, 2.0)),
            (4.0, ticks(80.0, 70.0, 10.0)),
            (5.0, ticks(80.0, 170.0, 10.0)),
        ]);
        let shares = readings.shares(2.0..=4.5).unwrap();
        assert_eq!(shares.to_string(), "70 % used, 20 % idle, 10 % taken by the host");
        assert!(shares.warning().unwrap().contains("10 %"));
        assert_eq!(readings.shares(1.0..=2.0).unwrap().warning(), None);
        assert_eq!(readings.shares(2.5..=3.5), None);
    }

    #[tokio::test]
    async fn it_reads_from_the_beginning_to_the_end() {
        let (done, readings) = beside(async {
            tokio::task::yield_now().await;
            7
        })
        .await;
        assert_eq!(done, 7);
        assert!(readings.0.len() >= 2, "one when it began and one when it was done");
    }
}
