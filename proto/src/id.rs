//! Ids of tickets, matches and running processes: 128 bits, written as a lower-case hyphenated UUID.
//!
//! Processes make them as UUID version 7 (RFC 9562), so that ids of one moment lie side by side in the
//! store's index. Nothing may read the time back out of them: the time of record is the store's.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// The text is not a lower- or upper-case hyphenated UUID.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct InvalidId;

impl fmt::Display for InvalidId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an id is 36 characters, such as 0192f3c1-7b4e-7c3a-9d1e-5f60718293a4")
    }
}

impl std::error::Error for InvalidId {}

const HYPHENS: [usize; 4] = [8, 13, 18, 23];
const TEXT_LEN: usize = 36;

fn parse(text: &str) -> Result<u128, InvalidId> {
    if text.len() != TEXT_LEN {
        return Err(InvalidId);
    }
    let mut value = 0u128;
    for (at, byte) in text.bytes().enumerate() {
        if HYPHENS.contains(&at) {
            if byte != b'-' {
                return Err(InvalidId);
            }
            continue;
        }
        let digit = char::from(byte).to_digit(16).ok_or(InvalidId)?;
        value = value << 4 | u128::from(digit);
    }
    Ok(value)
}

fn write(value: u128, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    write!(
        f,
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        value >> 96,
        value >> 80 & 0xffff,
        value >> 64 & 0xffff,
        value >> 48 & 0xffff,
        value & 0xffff_ffff_ffff
    )
}

macro_rules! id {
    ($name:ident, $what:literal) => {
        #[doc = concat!("Names one ", $what, ". Shown and parsed as a hyphenated UUID.")]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(try_from = "String", into = "String")]
        pub struct $name(u128);

        impl $name {
            /// Wraps 128 bits that were made elsewhere.
            pub const fn from_u128(value: u128) -> Self {
                Self(value)
            }

            /// The 128 bits.
            pub const fn as_u128(self) -> u128 {
                self.0
            }

            /// The bits as the store keeps them: 16 bytes, most significant first.
            pub const fn to_bytes(self) -> [u8; 16] {
                self.0.to_be_bytes()
            }

            /// The inverse of [`Self::to_bytes`].
            ///
            /// # Errors
            /// When there are not exactly 16 bytes.
            pub fn from_bytes(bytes: &[u8]) -> Result<Self, InvalidId> {
                let bytes: [u8; 16] = bytes.try_into().map_err(|_| InvalidId)?;
                Ok(Self(u128::from_be_bytes(bytes)))
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write(self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = InvalidId;

            fn from_str(text: &str) -> Result<Self, InvalidId> {
                parse(text).map(Self)
            }
        }

        impl TryFrom<String> for $name {
            type Error = InvalidId;

            fn try_from(text: String) -> Result<Self, InvalidId> {
                text.parse()
            }
        }

        impl From<$name> for String {
            fn from(id: $name) -> Self {
                id.to_string()
            }
        }
    };
}

id!(TicketId, "ticket");
id!(MatchId, "match");
id!(OwnerId, "run of a process: new at each start");

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_and_bytes_agree_with_the_uuid_crate(value: u128) {
            let id = TicketId::from_u128(value);
            prop_assert_eq!(id.to_string(), uuid::Uuid::from_u128(value).hyphenated().to_string());
            prop_assert_eq!(id.to_string().parse(), Ok(id));
            prop_assert_eq!(TicketId::from_bytes(&id.to_bytes()), Ok(id));
        }

        #[test]
        fn any_other_text_is_refused(text in "\\PC{0,40}") {
            if uuid::Uuid::parse_str(&text).is_err() {
                prop_assert_eq!(text.parse::<MatchId>(), Err(InvalidId));
            }
        }
    }
}
