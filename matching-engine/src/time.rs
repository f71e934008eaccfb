//! Moments as the engine sees them.

use std::time::Duration;

/// A moment, in milliseconds since an epoch that the caller chose. Only differences mean anything here.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Time(u64);

impl Time {
    /// Wraps milliseconds.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the caller's epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// This moment moved later; a part of a millisecond counts as a whole one, so that nothing is early.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        let millis = by.as_nanos().div_ceil(1_000_000);
        Self(self.0.saturating_add(u64::try_from(millis).unwrap_or(u64::MAX)))
    }

    /// The time from `earlier` to here; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}
