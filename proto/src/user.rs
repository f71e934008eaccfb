//! Who a ticket belongs to: the subject of the caller's token.

use std::fmt;

use serde::{Deserialize, Serialize};

/// A user's id: 1 to 128 characters without control characters. Compared as it is, byte for byte.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct UserId(Box<str>);

/// Why a text is not a [`UserId`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidUser;

impl fmt::Display for InvalidUser {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a user id is 1 to {} characters without control characters", UserId::MAX_CHARS)
    }
}

impl std::error::Error for InvalidUser {}

impl UserId {
    /// The longest user id, in characters.
    pub const MAX_CHARS: usize = 128;

    /// Checks and wraps a user id.
    ///
    /// # Errors
    /// When it is empty, longer than [`Self::MAX_CHARS`] or holds a control character.
    pub fn new(text: &str) -> Result<Self, InvalidUser> {
        let chars = text.chars().count();
        if chars == 0 || chars > Self::MAX_CHARS || text.chars().any(char::is_control) {
            return Err(InvalidUser);
        }
        Ok(Self(text.into()))
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UserId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for UserId {
    type Error = InvalidUser;

    fn try_from(text: String) -> Result<Self, InvalidUser> {
        Self::new(&text)
    }
}

impl From<UserId> for String {
    fn from(user: UserId) -> Self {
        user.0.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn length_is_counted_in_characters() {
        assert!(UserId::new("").is_err());
        assert!(UserId::new("a").is_ok());
        assert!(UserId::new(&"가".repeat(128)).is_ok());
        assert!(UserId::new(&"a".repeat(129)).is_err());
    }

    #[test]
    fn controls_are_refused() {
        for text in ["a\nb", "\0", "a\u{7f}", "\u{85}x"] {
            assert_eq!(UserId::new(text), Err(InvalidUser), "{text:?}");
        }
    }
}
