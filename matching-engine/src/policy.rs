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
    /// Asks for equal interests at first and for one shared interest after two seconds.
    fn default() -> Self {
        Self {
            threshold: Threshold { start: 1.0, floor: 0.0, fall: Duration::from_secs(2) },
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
            (self.pool_bound >= 2, "pool_bound", "must be at least 2"),
        ];
        match checks.into_iter().find(|(good, ..)| !good) {
            Some((_, setting, why)) => Err(InvalidPolicy { setting, why }),
            None => Ok(()),
        }
    }
}
