//! The policy file: how tickets are paired and how long they wait.
//!
//! The defaults are the text of `service/policy.toml`, which also documents every setting.

use std::path::Path;
use std::time::Duration;

use matching_engine::{InvalidPolicy, Policy, Reservation, Threshold, Widen};
use serde::Deserialize;
use store::{Rules, WideRule};

/// The default policy file, with every setting explained.
pub const DEFAULT_POLICY: &str = include_str!("../policy.toml");

/// Everything that a policy file says.
#[derive(Debug, Clone, PartialEq)]
pub struct MatchPolicy {
    /// How the engine pairs. Its own pool bound is twice the one in the file.
    pub pairing: Policy,
    /// The most tickets that wait in one shard before new ones are refused.
    pub pool_bound: usize,
    /// How long a ticket may wait.
    pub expire_after: Duration,
    /// How long two people who were matched are not matched again.
    pub no_rematch_for: Duration,
    /// How long after its match an equal wish without an idempotency key counts as the same press of the button.
    pub same_press_within: Duration,
}

/// Why a policy file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum PolicyError {
    /// The file cannot be read.
    #[error("cannot read the policy file {path}")]
    Read {
        /// Which file.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file is one of the following.
    #[error("cannot use the policy file {path}")]
    File {
        /// Which file.
        path: String,
        /// Why.
        source: Box<PolicyError>,
    },
    /// It is not the TOML that is expected.
    #[error("the policy is not valid: {}", .0.to_string().trim_end())]
    Syntax(Box<toml::de::Error>),
    /// Its settings make no sense.
    #[error("the policy is not valid: {0}")]
    Setting(InvalidPolicy),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    expire_after: Option<Text>,
    no_rematch_for: Option<Text>,
    same_press_within: Option<Text>,
    min_shared: Option<u8>,
    any_interest_after: Option<Text>,
    pool_bound: Option<usize>,
    #[serde(default)]
    threshold: ThresholdSection,
    #[serde(default)]
    reservation: ReservationSection,
    #[serde(default)]
    widen: WidenSection,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct ThresholdSection {
    start: Option<f64>,
    floor: Option<f64>,
    fall: Option<Text>,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct ReservationSection {
    enabled: Option<bool>,
    price: Option<f64>,
    patience: Option<Text>,
    patience_arrivals: Option<u16>,
    patience_at_most: Option<Text>,
    fall: Option<Text>,
    sample: Option<u16>,
}

impl ReservationSection {
    fn over(&self, base: Option<Reservation>) -> Option<Reservation> {
        let enabled = self.enabled.unwrap_or(base.is_some());
        let base = base.unwrap_or_default();
        enabled.then(|| Reservation {
            price: self.price.unwrap_or(base.price),
            patience: self.patience.map_or(base.patience, |text| text.0),
            patience_arrivals: self.patience_arrivals.unwrap_or(base.patience_arrivals),
            patience_at_most: self.patience_at_most.map_or(base.patience_at_most, |text| text.0),
            fall: self.fall.map_or(base.fall, |text| text.0),
            sample: self.sample.unwrap_or(base.sample),
        })
    }
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields)]
struct WidenSection {
    enabled: Option<bool>,
    after: Option<Text>,
    labels: Option<u8>,
    min_labels: Option<u8>,
}

/// A duration as text.
#[derive(Deserialize, Clone, Copy)]
#[serde(try_from = "String")]
struct Text(Duration);

impl TryFrom<String> for Text {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        humantime::parse_duration(&text)
            .map(Self)
            .map_err(|error| format!("{text:?} is not a duration such as \"2s\" or \"500ms\": {error}"))
    }
}

/// The shortest a ticket may wait: below it nobody could be told.
const MIN_EXPIRE_AFTER: Duration = Duration::from_millis(100);
/// The longest a ticket may wait: longer than any patience, and far from overflow.
const MAX_EXPIRE_AFTER: Duration = Duration::from_secs(24 * 3600);
/// The largest pool bound: what fits in the memory of one large machine.
const MAX_POOL_BOUND: usize = 10_000_000;

impl MatchPolicy {
    /// Reads a policy file.
    ///
    /// # Errors
    /// When the file cannot be read, is not the expected TOML, or its settings make no sense together.
    pub fn load(path: &Path) -> Result<Self, PolicyError> {
        let text = std::fs::read_to_string(path)
            .map_err(|source| PolicyError::Read { path: path.display().to_string(), source })?;
        let in_file = |error| PolicyError::File { path: path.display().to_string(), source: Box::new(error) };
        text.parse().map_err(in_file)
    }

    /// Reads the file when there is one, else takes the defaults.
    ///
    /// # Errors
    /// As [`Self::load`].
    pub fn load_or_default(path: Option<&Path>) -> Result<Self, PolicyError> {
        path.map_or_else(|| Ok(Self::default()), Self::load)
    }

    /// What a store decides by under this policy.
    pub fn rules(&self) -> Rules {
        let wide = self.pairing.widen.filter(|widen| widen.min_labels == 1);
        Rules {
            shard_count: proto::DEFAULT_SHARD_COUNT,
            expire_after: self.expire_after,
            no_rematch_for: self.no_rematch_for,
            same_press_within: self.same_press_within,
            wide: wide.map(|widen| WideRule { after: widen.after, labels: widen.labels }),
        }
    }

    fn from_file(file: &File, base: &Self) -> Result<Self, InvalidPolicy> {
        let pool_bound = file.pool_bound.unwrap_or(base.pool_bound);
        let expire_after = file.expire_after.map_or(base.expire_after, |text| text.0);
        let same_press_within = file.same_press_within.map_or(base.same_press_within, |text| text.0);
        let no_rematch_for = file.no_rematch_for.map_or(base.no_rematch_for, |text| text.0);
        if !(MIN_EXPIRE_AFTER..=MAX_EXPIRE_AFTER).contains(&expire_after) {
            return Err(InvalidPolicy { setting: "expire_after", why: "must be from 100ms to 24h" });
        }
        if !(1..=MAX_POOL_BOUND).contains(&pool_bound) {
            return Err(InvalidPolicy { setting: "pool_bound", why: "must be from 1 to 10000000" });
        }
        let threshold = base.pairing.threshold;
        let base_widen = base.pairing.widen.unwrap_or(DEFAULT_WIDEN);
        let pairing = Policy {
            threshold: Threshold {
                start: file.threshold.start.unwrap_or(threshold.start),
                floor: file.threshold.floor.unwrap_or(threshold.floor),
                fall: file.threshold.fall.map_or(threshold.fall, |text| text.0),
            },
            reservation: file.reservation.over(base.pairing.reservation),
            min_shared: file.min_shared.unwrap_or(base.pairing.min_shared),
            widen: file.widen.enabled.unwrap_or(base.pairing.widen.is_some()).then(|| Widen {
                after: file.widen.after.map_or(base_widen.after, |text| text.0),
                labels: file.widen.labels.unwrap_or(base_widen.labels),
                min_labels: file.widen.min_labels.unwrap_or(base_widen.min_labels),
            }),
            any_interest_after: file
                .any_interest_after
                .map(|text| text.0)
                .or(base.pairing.any_interest_after),
            pool_bound: pool_bound * 2,
        };
        pairing.validate()?;
        Ok(Self { pairing, pool_bound, expire_after, no_rematch_for, same_press_within })
    }
}

/// Used when a file turns widening on without saying how.
const DEFAULT_WIDEN: Widen = Widen { after: Duration::from_secs(5), labels: 1, min_labels: 2 };

impl Default for MatchPolicy {
    /// What stands before any file is read; the default file states every setting again.
    fn default() -> Self {
        Self {
            pairing: Policy::default(),
            pool_bound: 100_000,
            expire_after: Duration::from_secs(60),
            no_rematch_for: Duration::from_secs(24 * 3600),
            same_press_within: Duration::from_secs(5),
        }
    }
}

impl std::str::FromStr for MatchPolicy {
    type Err = PolicyError;

    fn from_str(text: &str) -> Result<Self, PolicyError> {
        let file: File = toml::from_str(text).map_err(|error| PolicyError::Syntax(Box::new(error)))?;
        Self::from_file(&file, &Self::default()).map_err(PolicyError::Setting)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_default_file_states_the_defaults() {
        assert_eq!(DEFAULT_POLICY.parse::<MatchPolicy>().unwrap(), MatchPolicy::default());
        assert_eq!("".parse::<MatchPolicy>().unwrap(), MatchPolicy::default());
    }

    #[test]
    fn a_file_changes_only_what_it_names() {
        let policy: MatchPolicy =
            "any_interest_after = \"30s\"\npool_bound = 10\n[threshold]\nfall = \"500ms\"".parse().unwrap();
        assert_eq!(policy.pairing.any_interest_after, Some(Duration::from_secs(30)));
        assert_eq!(policy.pairing.threshold.fall, Duration::from_millis(500));
        assert_eq!((policy.pool_bound, policy.pairing.pool_bound), (10, 20));
        assert_eq!(policy.expire_after, MatchPolicy::default().expire_after);
    }

    #[test]
    fn only_scopes_of_one_label_reach_other_shards() {
        assert_eq!(MatchPolicy::default().rules().wide, None);
        let wide: MatchPolicy = "[widen]\nafter = \"3s\"\nmin_labels = 1".parse().unwrap();
        let rules = wide.rules();
        assert_eq!(rules.wide, Some(WideRule { after: Duration::from_secs(3), labels: 1 }));
        let delay =
            |region: &str| rules.wide_shard_of(&region.parse().unwrap()).map(|(_, delay)| delay.as_secs());
        assert_eq!(["kr", "kr.seoul", "kr.seoul.gangnam"].map(delay), [None, Some(3), Some(6)]);
    }

    #[test]
    fn bad_files_name_the_setting() {
        for (text, named) in [
            ("min_shard = 1", "min_shard"),
            ("expire_after = 60", "expire_after"),
            ("expire_after = \"0s\"", "expire_after"),
            ("expire_after = \"48h\"", "expire_after"),
            ("min_shared = 0", "min_shared"),
            ("pool_bound = 0", "pool_bound"),
            ("[threshold]\nstart = 1.5", "threshold.start"),
            ("[threshold]\nstart = nan", "threshold.start"),
            ("[threshold]\nfloor = -1.0", "threshold.floor"),
            ("[threshold]\nfall = \"soon\"", "soon"),
            ("[reservation]\nenabled = true\nprice = 0.0", "reservation.price"),
            ("[reservation]\nenabled = true\npatience_at_most = \"48h\"", "reservation.patience"),
            ("[reservation]\nenabled = true\nsample = 0", "reservation.sample"),
            ("[reservation]\nprices = 1", "prices"),
            ("[widen]\nafter = \"0s\"", "widen.after"),
            ("[widen]\nlabels = 0", "widen.labels"),
            ("[widen]\nmin_labels = 0", "widen.min_labels"),
        ] {
            let error = text.parse::<MatchPolicy>().unwrap_err().to_string();
            assert!(error.contains(named), "{text:?} gave {error:?}");
        }
    }
}
