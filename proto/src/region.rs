//! Regions: dotted paths, widest label first.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A place, widest label first: `kr.seoul.gangnam`. 1 to 4 labels of `[a-z0-9-]`, each 1 to 32 characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Region(Box<str>);

/// Why a text is not a [`Region`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidRegion {
    /// There are no labels, or more than [`Region::MAX_LABELS`].
    LabelCount,
    /// A label is empty or longer than [`Region::MAX_LABEL_CHARS`].
    LabelLength,
    /// A label holds something other than `a-z`, `0-9` and `-`.
    LabelCharacter,
}

impl fmt::Display for InvalidRegion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::LabelCount => write!(
                f,
                "a region has 1 to {} labels joined by dots, widest first, such as kr.seoul.gangnam",
                Region::MAX_LABELS
            ),
            Self::LabelLength => {
                write!(f, "each label of a region has 1 to {} characters", Region::MAX_LABEL_CHARS)
            }
            Self::LabelCharacter => f.write_str("a label of a region holds only a-z, 0-9 and -"),
        }
    }
}

impl std::error::Error for InvalidRegion {}

impl Region {
    /// The most labels a region has.
    pub const MAX_LABELS: usize = 4;
    /// The most characters a label has.
    pub const MAX_LABEL_CHARS: usize = 32;

    /// The dotted path.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The labels, widest first.
    pub fn labels(&self) -> impl Iterator<Item = &str> {
        self.0.split('.')
    }

    /// The first `labels` labels, or the whole region when it has no more than that.
    ///
    /// # Panics
    /// When `labels` is 0: a region has at least one label.
    pub fn prefix(&self, labels: usize) -> &str {
        assert!(labels > 0, "a region has at least one label");
        match self.0.match_indices('.').nth(labels - 1) {
            Some((end, _)) => &self.0[..end],
            None => &self.0,
        }
    }

    /// The narrowest region that holds both, or `None` when they share no label.
    pub fn common(&self, other: &Self) -> Option<Self> {
        let shared = self.labels().zip(other.labels()).take_while(|(a, b)| a == b).count();
        (shared > 0).then(|| Self(self.prefix(shared).into()))
    }
}

impl fmt::Display for Region {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Region {
    type Err = InvalidRegion;

    fn from_str(text: &str) -> Result<Self, InvalidRegion> {
        let mut labels = 0;
        for label in text.split('.') {
            labels += 1;
            if labels > Self::MAX_LABELS || text.is_empty() {
                return Err(InvalidRegion::LabelCount);
            }
            if label.is_empty() || label.chars().count() > Self::MAX_LABEL_CHARS {
                return Err(InvalidRegion::LabelLength);
            }
            if !label.bytes().all(|b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-')) {
                return Err(InvalidRegion::LabelCharacter);
            }
        }
        Ok(Self(text.into()))
    }
}

impl TryFrom<String> for Region {
    type Error = InvalidRegion;

    fn try_from(text: String) -> Result<Self, InvalidRegion> {
        text.parse()
    }
}

impl From<Region> for String {
    fn from(region: Region) -> Self {
        region.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn region(text: &str) -> Region {
        text.parse().unwrap()
    }

    #[test]
    fn good_regions() {
        for text in ["kr", "kr.seoul", "a.b.c.d", "us-west-2.x", &"a".repeat(32)] {
            assert_eq!(region(text).as_str(), text);
        }
    }

    #[test]
    fn bad_regions_say_what_is_wrong() {
        use InvalidRegion::{LabelCharacter, LabelCount, LabelLength};
        let cases = [
            ("", LabelCount),
            ("a.b.c.d.e", LabelCount),
            (".", LabelLength),
            ("kr.", LabelLength),
            (".kr", LabelLength),
            ("kr..seoul", LabelLength),
            ("KR", LabelCharacter),
            ("kr seoul", LabelCharacter),
            ("서울", LabelCharacter),
            ("kr/seoul", LabelCharacter),
        ];
        for (text, error) in cases {
            assert_eq!(text.parse::<Region>(), Err(error), "{text:?}");
        }
        assert_eq!("a".repeat(33).parse::<Region>(), Err(LabelLength));
    }

    #[test]
    fn prefixes_and_common_regions() {
        let gangnam = region("kr.seoul.gangnam");
        assert_eq!(
            [gangnam.prefix(1), gangnam.prefix(2), gangnam.prefix(9)],
            ["kr", "kr.seoul", "kr.seoul.gangnam"]
        );
        assert_eq!(gangnam.common(&region("kr.seoul.mapo")), Some(region("kr.seoul")));
        assert_eq!(gangnam.common(&region("kr.seoul2")), Some(region("kr")));
        assert_eq!(gangnam.common(&region("jp")), None);
    }
}
