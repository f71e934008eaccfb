//! The pairing policy: who may pair with whom, and when.

use std::fmt;
use std::time::Duration;

/// How the similarity that a ticket asks for falls while it waits.
///
/// After a wait of `w` it is `max(floor, start - (start - floor) * w / fall)`: a line from `start` to `floor`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Threshold {
    /// What a new ticket asks for, 0 to 1.
    pub start: f64,
    /// The least it ever asks for, 0 to `start`.
    pub floor: f64,
    /// How long it takes to fall from `start` to `floor`. Zero means the floor at once.
    pub fall: Duration,
}

/// How a ticket's bar follows from who else arrives: it asks for what waiting on is worth to it.
///
/// The bar of a ticket is McCall's reservation value (J. J. McCall, *Economics of Information and Job Search*, Quarterly
/// Journal of Economics 84, 1970): the `r` at which `rate x E[max(similarity - r, 0)]` over the recent arrivals of its region
/// equals what a second of waiting costs, `price`. It is taken anew each time the ticket looks for a partner: on arrival,
/// then each 400 ms. Two may pair when their similarity reaches 0.7 times the higher bar plus
/// 0.3 times the lower one. Of those it may have, a ticket takes the most similar, then the one who waits longest.
///
/// A bar holds while the ticket's patience lasts: `patience`, or the time of `patience_arrivals` arrivals in its region when
/// that is longer, but never more than `patience_at_most`. Then it falls to the floor within `fall`, slowly at first.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Reservation {
    /// What a second of waiting costs, in similarity.
    pub price: f64,
    /// How long a bar holds at least.
    pub patience: Duration,
    /// For how many arrivals in its region it holds.
    pub patience_arrivals: u16,
    /// How long it holds at most.
    pub patience_at_most: Duration,
    /// How long it takes to fall to the floor after that.
    pub fall: Duration,
    /// How many of the latest arrivals of a region it is taken from.
    pub sample: u16,
}

impl Reservation {
    /// After this wait a bar is at the floor, whatever the traffic.
    pub(crate) fn floor_after(&self) -> Duration {
        self.patience.max(self.patience_at_most) + self.fall
    }
}

impl Default for Reservation {
    /// What was found by replaying bursts of real interest sets.
    fn default() -> Self {
        Self {
            price: 0.035,
            patience: Duration::from_millis(2_100),
            patience_arrivals: 20,
            patience_at_most: Duration::from_secs(5),
            fall: Duration::from_millis(800),
            sample: 512,
        }
    }
}

/// How a ticket's scope widens while it waits.
///
/// A scope starts as the ticket's whole region. Each time `after` has passed it loses `labels` labels at its
/// narrow end, but never goes below `min_labels` (or below the region itself, when that is shorter).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Widen {
    /// How long a scope stays before it widens.
    pub after: Duration,
    /// How many labels it loses each time.
    pub labels: u8,
    /// The widest scope, in labels.
    pub min_labels: u8,
}

/// The rules of pairing. Data, not code: two engines with the same policy decide alike.
#[derive(Debug, Clone, PartialEq)]
pub struct Policy {
    /// The similarity that both tickets of a pair ask for.
    pub threshold: Threshold,
    /// Asks by reservation values instead; of the threshold only its floor counts then. `None`: by the threshold.
    pub reservation: Option<Reservation>,
    /// The least number of interests that a pair shares.
    pub min_shared: u8,
    /// How scopes widen; `None` means never.
    pub widen: Option<Widen>,
    /// When both tickets have waited this long, neither `min_shared` nor the threshold counts any more. `None`: never.
    pub any_interest_after: Option<Duration>,
    /// The most tickets the pool holds, those being settled included.
    pub pool_bound: usize,
}

impl Default for Policy {
    /// Reservation values; without them, equal interests at first and one shared interest after two seconds.
    fn default() -> Self {
        Self {
            threshold: Threshold { start: 1.0, floor: 0.0, fall: Duration::from_secs(2) },
            reservation: Some(Reservation::default()),
            min_shared: 1,
            widen: Some(Widen { after: Duration::from_secs(5), labels: 1, min_labels: 2 }),
            any_interest_after: None,
            pool_bound: 200_000,
        }
    }
}

/// A policy that makes no sense, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidPolicy {
    /// Which setting, as in `policy.toml`.
    pub setting: &'static str,
    /// What is wrong with it.
    pub why: &'static str,
}

impl fmt::Display for InvalidPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.setting, self.why)
    }
}

impl std::error::Error for InvalidPolicy {}

impl Policy {
    /// Whether the settings make sense together.
    ///
    /// # Errors
    /// Names the first setting that does not.
    pub fn validate(&self) -> Result<(), InvalidPolicy> {
        let Threshold { start, floor, .. } = self.threshold;
        let reservation = |good: fn(&Reservation) -> bool| self.reservation.as_ref().is_none_or(good);
        let checks = [
            ((0.0..=1.0).contains(&start), "threshold.start", "must be from 0 to 1"),
            ((0.0..=start).contains(&floor), "threshold.floor", "must be from 0 to threshold.start"),
            (
                self.min_shared >= 1,
                "min_shared",
                "must be at least 1; to pair people who share nothing set any_interest_after",
            ),
            (self.widen.is_none_or(|w| !w.after.is_zero()), "widen.after", "must be longer than 0"),
            (self.widen.is_none_or(|w| w.labels >= 1), "widen.labels", "must be at least 1"),
            (self.widen.is_none_or(|w| w.min_labels >= 1), "widen.min_labels", "must be at least 1"),
            (
                reservation(|r| r.price > 0.0 && r.price.is_finite()),
                "reservation.price",
                "must be a number above 0",
            ),
            (reservation(|r| r.sample >= 1), "reservation.sample", "must be at least 1"),
            (
                reservation(|r| r.floor_after() <= Duration::from_secs(24 * 3600)),
                "reservation.patience",
                "must be at most 24 hours, the fall included",
            ),
            (self.pool_bound >= 2, "pool_bound", "must be at least 2"),
        ];
        match checks.into_iter().find(|(good, ..)| !good) {
            Some((_, setting, why)) => Err(InvalidPolicy { setting, why }),
            None => Ok(()),
        }
    }
}
