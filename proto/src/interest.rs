//! Interests: free text that is compared by its key.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use unicode_normalization::UnicodeNormalization;

/// One interest: the text as its user wrote it, and the key it is compared by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Interest {
    text: Arc<str>,
    /// The same allocation as `text` when they are equal, as they mostly are.
    key: Arc<str>,
}

/// Why a text is not an [`Interest`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum InvalidInterest {
    /// Nothing is left after trimming.
    Empty,
    /// It is longer than [`Interest::MAX_CHARS`].
    TooLong,
    /// It holds a control character.
    Control,
}

impl fmt::Display for InvalidInterest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Empty => f.write_str("an interest is not empty or white space"),
            Self::TooLong => write!(f, "an interest has at most {} characters", Interest::MAX_CHARS),
            Self::Control => f.write_str("an interest holds no control characters"),
        }
    }
}

impl std::error::Error for InvalidInterest {}

impl Interest {
    /// The longest interest, in characters, after trimming and collapsing white space.
    pub const MAX_CHARS: usize = 64;

    /// Checks an interest and works out its key.
    ///
    /// # Errors
    /// When it is empty, too long, or holds a control character.
    pub fn new(text: &str) -> Result<Self, InvalidInterest> {
        if text.chars().any(char::is_control) {
            return Err(InvalidInterest::Control);
        }
        let text = collapse(text);
        if text.chars().count() > Self::MAX_CHARS {
            return Err(InvalidInterest::TooLong);
        }
        let key = key_of(&text);
        if key.is_empty() {
            return Err(InvalidInterest::Empty);
        }
        let shown: Arc<str> = (&*text).into();
        let key = if key == text { Arc::clone(&shown) } else { (&*key).into() };
        Ok(Self { text: shown, key })
    }

    /// What the user wrote, trimmed and with inner white space collapsed.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What interests are compared by: NFKC, case-folded, trimmed, inner white space collapsed.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// The key, shared.
    pub fn shared_key(&self) -> Arc<str> {
        Arc::clone(&self.key)
    }
}

/// Trims, and makes one space of each run of white space.
fn collapse(text: &str) -> Cow<'_, str> {
    let text = text.trim();
    let tidy = !text.contains("  ") && text.chars().all(|c| c == ' ' || !c.is_whitespace());
    if tidy { text.into() } else { text.split_whitespace().collect::<Vec<_>>().join(" ").into() }
}

/// The key of an interest: two interests are one when their keys are equal.
///
/// Folding and normalising do not commute, so both are done twice, as for compatibility caseless matching
/// (The Unicode Standard, section 3.13, D146); the result is then composed to NFKC.
fn key_of(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        let folded = !text.bytes().any(|byte| byte.is_ascii_uppercase());
        return if folded { text.into() } else { text.to_ascii_lowercase().into() };
    }
    let once = caseless::default_case_fold_str(&text.nfd().collect::<String>());
    let twice = caseless::default_case_fold_str(&once.nfkd().collect::<String>());
    collapse(&twice.nfkc().collect::<String>()).into_owned().into()
}

/// The interests of one ticket: 1 to 64 that differ by key, ordered by key. Cheap to clone.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterestSet(Arc<[Interest]>);

/// Why a list of texts is not an [`InterestSet`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InvalidInterestSet {
    /// There are none, or more than [`InterestSet::MAX_LEN`], after duplicates were dropped.
    Count,
    /// These are not interests, by their place in the list.
    Interests(Vec<(usize, InvalidInterest)>),
}

impl fmt::Display for InvalidInterestSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Count => write!(f, "a ticket has 1 to {} different interests", InterestSet::MAX_LEN),
            Self::Interests(bad) => {
                for (n, (at, why)) in bad.iter().enumerate() {
                    let separator = if n == 0 { "" } else { "; " };
                    write!(f, "{separator}interests[{at}]: {why}")?;
                }
                Ok(())
            }
        }
    }
}

impl std::error::Error for InvalidInterestSet {}

/// What two interest sets have in common.
#[derive(Debug, Clone, PartialEq)]
pub struct Overlap {
    /// The interests both have, as the first set spells them, ordered by key.
    pub shared: Vec<String>,
    /// Jaccard index: shared / union, 0 to 1.
    pub similarity: f64,
}

impl InterestSet {
    /// The most interests a ticket has.
    pub const MAX_LEN: usize = 64;

    /// Checks a list of texts. Interests with the same key count once; the first spelling is kept.
    ///
    /// # Errors
    /// When a text is not an interest, or there are 0 or more than [`Self::MAX_LEN`] of them.
    pub fn new<T: AsRef<str>>(texts: &[T]) -> Result<Self, InvalidInterestSet> {
        let mut good = Vec::with_capacity(texts.len());
        let mut bad = Vec::new();
        for (at, text) in texts.iter().enumerate() {
            match Interest::new(text.as_ref()) {
                Ok(interest) => good.push(interest),
                Err(why) => bad.push((at, why)),
            }
        }
        if !bad.is_empty() {
            return Err(InvalidInterestSet::Interests(bad));
        }
        good.sort_by(|a, b| a.key.cmp(&b.key));
        good.dedup_by(|later, earlier| later.key == earlier.key);
        if good.is_empty() || good.len() > Self::MAX_LEN {
            return Err(InvalidInterestSet::Count);
        }
        Ok(Self(good.into()))
    }

    /// The interests, ordered by key.
    pub fn iter(&self) -> impl Iterator<Item = &Interest> {
        self.0.iter()
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(Interest::key)
    }

    /// How many there are: 1 to [`Self::MAX_LEN`].
    #[allow(clippy::len_without_is_empty, reason = "never empty")]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether both hold the same interests, however they are spelt.
    pub fn same_as(&self, other: &Self) -> bool {
        self.len() == other.len() && self.keys().eq(other.keys())
    }

    /// The shared interests and the similarity.
    pub fn overlap(&self, other: &Self) -> Overlap {
        let mut shared = Vec::new();
        let (mut a, mut b) = (self.0.iter().peekable(), other.0.iter().peekable());
        while let (Some(x), Some(y)) = (a.peek(), b.peek()) {
            match x.key.cmp(&y.key) {
                Ordering::Less => drop(a.next()),
                Ordering::Greater => drop(b.next()),
                Ordering::Equal => {
                    shared.push(x.text.to_string());
                    a.next();
                    b.next();
                }
            }
        }
        let union = self.len() + other.len() - shared.len();
        // Both are at most 128, far below where f64 stops being exact.
        #[allow(clippy::cast_precision_loss)]
        let similarity = shared.len() as f64 / union as f64;
        Overlap { shared, similarity }
    }
}

impl Serialize for InterestSet {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.iter().map(Interest::text))
    }
}

impl<'de> serde::Deserialize<'de> for InterestSet {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let texts = Vec::<String>::deserialize(deserializer)?;
        Self::new(&texts).map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn key(text: &str) -> String {
        Interest::new(text).unwrap().key().to_owned()
    }

    #[test]
    fn keys_fold_case_width_and_space() {
        assert_eq!(key("  Board   Games "), "board games");
        assert_eq!(key("CAFÉ"), key("Cafe\u{301}"));
        assert_eq!(key("Ｊａｚｚ"), "jazz");
        assert_eq!(key("STRASSE"), key("straße"));
        assert_eq!(key("ΣΊΣΥΦΟΣ"), key("σίσυφος"));
        assert_eq!(key("보드게임"), key("보드게임"));
    }

    #[test]
    fn different_interests_stay_different() {
        let texts = ["C++", "C", "C#", "보드게임", "Café", "Cafe"];
        for (n, a) in texts.iter().enumerate() {
            for b in &texts[n + 1..] {
                assert_ne!(key(a), key(b));
            }
        }
    }

    #[test]
    fn bad_interests_say_what_is_wrong() {
        assert_eq!(Interest::new(""), Err(InvalidInterest::Empty));
        assert_eq!(Interest::new(" \u{3000} "), Err(InvalidInterest::Empty));
        assert_eq!(Interest::new(&"x".repeat(65)), Err(InvalidInterest::TooLong));
        assert!(Interest::new(&"가".repeat(64)).is_ok());
        for text in ["a\0b", "tab\there", "line\nbreak", "\u{9b}"] {
            assert_eq!(Interest::new(text), Err(InvalidInterest::Control), "{text:?}");
        }
    }

    #[test]
    fn duplicates_count_once_and_keep_the_first_spelling() {
        let many: Vec<String> = (0..64).flat_map(|n| [format!("Tag {n}"), format!("tag  {n}")]).collect();
        let set = InterestSet::new(&many).unwrap();
        assert_eq!(set.len(), 64);
        assert!(set.iter().all(|interest| interest.text().starts_with('T')));
    }

    #[test]
    fn counts_and_places_are_checked() {
        let none: [&str; 0] = [];
        assert_eq!(InterestSet::new(&none), Err(InvalidInterestSet::Count));
        let many: Vec<String> = (0..65).map(|n| n.to_string()).collect();
        assert_eq!(InterestSet::new(&many), Err(InvalidInterestSet::Count));
        assert_eq!(
            InterestSet::new(&["ok", " ", "\0"]),
            Err(InvalidInterestSet::Interests(vec![
                (1, InvalidInterest::Empty),
                (2, InvalidInterest::Control)
            ]))
        );
    }

    #[test]
    fn overlap_is_the_jaccard_index() {
        let a = InterestSet::new(&["Pop", "rock", "jazz"]).unwrap();
        let b = InterestSet::new(&["pop", "Jazz", "metal", "folk"]).unwrap();
        assert_eq!(a.overlap(&b), Overlap { shared: vec!["jazz".into(), "Pop".into()], similarity: 0.4 });
        assert!((b.overlap(&a).similarity - 0.4).abs() < f64::EPSILON);
        assert!((a.overlap(&a).similarity - 1.0).abs() < f64::EPSILON);
    }

    proptest! {
        #[test]
        fn keys_are_stable(text in "\\PC{0,70}") {
            if let Ok(interest) = Interest::new(&text) {
                let key = interest.key().to_owned();
                prop_assert_eq!(&key_of(&key), &key, "folding again changes nothing");
                let composed: String = text.nfc().collect();
                let decomposed: String = text.nfd().collect();
                if let (Ok(c), Ok(d)) = (Interest::new(&composed), Interest::new(&decomposed)) {
                    prop_assert_eq!(c.key(), d.key());
                }
            }
        }
    }
}
