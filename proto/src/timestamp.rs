//! Moments, as the store stamps them: milliseconds since 1970-01-01T00:00:00Z, shown as RFC 3339 UTC.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

/// A moment on the store's clock, in milliseconds since the Unix epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Timestamp(u64);

/// The text is not a moment in the form `2026-11-30T21:00:00.000Z`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidTimestamp;

impl fmt::Display for InvalidTimestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a moment is written as 2026-11-30T21:00:00.000Z")
    }
}

impl std::error::Error for InvalidTimestamp {}

const MS_PER_DAY: u64 = 86_400_000;

impl Timestamp {
    /// Wraps milliseconds since the Unix epoch.
    pub const fn from_millis(millis: u64) -> Self {
        Self(millis)
    }

    /// Milliseconds since the Unix epoch.
    pub const fn as_millis(self) -> u64 {
        self.0
    }

    /// The time from `earlier` to here; zero when `earlier` is later.
    pub const fn since(self, earlier: Self) -> Duration {
        Duration::from_millis(self.0.saturating_sub(earlier.0))
    }

    /// This moment moved later. Saturates after some 584 million years.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(self.0.saturating_add(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
    }

    /// This moment moved earlier, no further than the epoch.
    #[must_use]
    pub fn minus(self, by: Duration) -> Self {
        Self(self.0.saturating_sub(u64::try_from(by.as_millis()).unwrap_or(u64::MAX)))
    }
}

/// Year, month and day of a count of days since 1970-01-01.
///
/// `civil_from_days` of Howard Hinnant, <https://howardhinnant.github.io/date_algorithms.html>, for days after the epoch.
fn civil_from_days(days: u64) -> (u64, u64, u64) {
    let z = days + 719_468;
    let era = z / 146_097;
    let doe = z % 146_097;
    let yoe = (doe - doe / 1_460 + doe / 36_524 - doe / 146_096) / 365;
    let doy = doe - (365 * yoe + yoe / 4 - yoe / 100);
    let mp = (5 * doy + 2) / 153;
    let day = doy - (153 * mp + 2) / 5 + 1;
    let month = if mp < 10 { mp + 3 } else { mp - 9 };
    (yoe + era * 400 + u64::from(month <= 2), month, day)
}

/// The inverse of [`civil_from_days`] (`days_from_civil` of the same page).
fn days_from_civil(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = year - u64::from(month <= 2);
    let (era, yoe) = (year / 400, year % 400);
    let doy = (153 * (if month > 2 { month - 3 } else { month + 9 }) + 2) / 5 + day - 1;
    (era * 146_097 + yoe * 365 + yoe / 4 - yoe / 100 + doy).checked_sub(719_468)
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = civil_from_days(self.0 / MS_PER_DAY);
        let ms = self.0 % MS_PER_DAY;
        let (hour, minute, second, ms) = (ms / 3_600_000, ms / 60_000 % 60, ms / 1_000 % 60, ms % 1_000);
        write!(f, "{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ms:03}Z")
    }
}

impl FromStr for Timestamp {
    type Err = InvalidTimestamp;

    fn from_str(text: &str) -> Result<Self, InvalidTimestamp> {
        // Only what Display writes: every other spelling is refused by comparing.
        let digits = |from: usize, to: usize| {
            text.get(from..to).and_then(|part| part.parse::<u64>().ok()).ok_or(InvalidTimestamp)
        };
        let (year, month, day) = (digits(0, 4)?, digits(5, 7)?, digits(8, 10)?);
        if year < 1970 || !(1..=12).contains(&month) || day == 0 {
            return Err(InvalidTimestamp);
        }
        let seconds = digits(11, 13)? * 3_600 + digits(14, 16)? * 60 + digits(17, 19)?;
        let days = days_from_civil(year, month, day).ok_or(InvalidTimestamp)?;
        let moment = Self(days * MS_PER_DAY + seconds * 1_000 + digits(20, 23)?);
        if moment.to_string() == text { Ok(moment) } else { Err(InvalidTimestamp) }
    }
}

impl TryFrom<String> for Timestamp {
    type Error = InvalidTimestamp;

    fn try_from(text: String) -> Result<Self, InvalidTimestamp> {
        text.parse()
    }
}

impl From<Timestamp> for String {
    fn from(moment: Timestamp) -> Self {
        moment.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_agrees_with_the_jiff_crate(ms in 0u64..=253_402_207_200_999) {
            let moment = Timestamp::from_millis(ms);
            let oracle = jiff::Timestamp::from_millisecond(i64::try_from(ms).unwrap()).unwrap();
            prop_assert_eq!(moment.to_string(), format!("{oracle:.3}"));
            prop_assert_eq!(moment.to_string().parse(), Ok(moment));
        }

        #[test]
        fn parsing_never_panics(text in "[0-9T:.Z-]{0,26}") {
            let _ = text.parse::<Timestamp>();
        }
    }

    #[test]
    fn impossible_moments_are_refused() {
        for text in
            ["2026-02-30T00:00:00.000Z", "2026-01-01T24:00:00.000Z", "1969-12-31T23:59:59.999Z", "2026-01-01"]
        {
            assert_eq!(text.parse::<Timestamp>(), Err(InvalidTimestamp), "{text}");
        }
    }
}
