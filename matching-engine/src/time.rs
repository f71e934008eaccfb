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
        self.plus_millis(whole_millis(by))
    }

    /// This moment moved later by whole milliseconds.
    #[must_use]
    pub(crate) const fn plus_millis(self, millis: u64) -> Self {
        Self(self.0.saturating_add(millis))
    }

    /// The time from `earlier` to here; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }
}

/// A duration in milliseconds, a part of one counted as a whole one.
pub(crate) fn whole_millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX)
}
