//! Messages: what crosses from one process to another, in one envelope.
//!
//! On the wire a message is `{"kind":"hint","version":1,"body":{…}}`. The kind says what it is, the version how its body
//! is to be read. Members that a reader does not know are ignored, so that old and new servers overlap; a version it
//! does not know is refused, since then it cannot tell what it would misread. Each kind and version has a golden file in
//! `proto/tests/golden`. An error never repeats what the message held: it goes to logs, and messages hold what users wrote.

use std::fmt;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::{Hint, MatchMade, TicketId};

/// Something that is sent between processes.
pub trait Message: Serialize + DeserializeOwned {
    /// What it is, as in the envelope.
    const KIND: &'static str;
    /// The version that is written, and the newest that can be read. Counted up when an older reader would misread it;
    /// a member that it may ignore is no reason.
    const VERSION: u16;
}

impl Message for Hint {
    const KIND: &'static str = "hint";
    const VERSION: u16 = 1;
}

/// Tickets that settled: whoever holds their phones reads them again.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Wakeup {
    /// The tickets, in no order.
    pub tickets: Vec<TicketId>,
}

impl Message for Wakeup {
    const KIND: &'static str = "wakeup";
    const VERSION: u16 = 1;
}

/// Matches of one settled batch, for whoever pushes to phones or counts.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MatchesMade {
    /// The matches. A receiver may see one twice and knows it by its id.
    pub matches: Vec<MatchMade>,
}

impl Message for MatchesMade {
    const KIND: &'static str = "matches-made";
    const VERSION: u16 = 1;
}

/// Why bytes are not the message that was expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undecodable {
    /// There is no envelope: not JSON, or a kind or version is missing.
    NotAnEnvelope,
    /// It is a message of another kind.
    WrongKind {
        /// What was expected.
        expected: &'static str,
    },
    /// It was written by a newer server than this one.
    Newer {
        /// What it is.
        kind: &'static str,
        /// Its version.
        version: u16,
        /// The newest version this process reads.
        known: u16,
    },
    /// The body is not what the kind and version promise.
    InvalidBody {
        /// What it claims to be.
        kind: &'static str,
        /// Its version.
        version: u16,
        /// Where reading failed, in bytes of its line from 1: the line itself is not repeated.
        column: usize,
    },
}

impl fmt::Display for Undecodable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnEnvelope => f.write_str("not a message: no JSON object with a kind and a version"),
            Self::WrongKind { expected } => write!(f, "a message of another kind than {expected}"),
            Self::Newer { kind, version, known } => {
                write!(f, "{kind} version {version} is newer than version {known}, the newest known here")
            }
            Self::InvalidBody { kind, version, column } => {
                write!(f, "the body is no valid {kind} version {version}: reading failed at byte {column}")
            }
        }
    }
}

impl std::error::Error for Undecodable {}

/// Writes a message.
pub fn encode<M: Message>(message: &M) -> Vec<u8> {
    #[derive(Serialize)]
    struct Envelope<'a, M> {
        kind: &'a str,
        version: u16,
        body: &'a M,
    }
    let envelope = Envelope { kind: M::KIND, version: M::VERSION, body: message };
    serde_json::to_vec(&envelope).expect("the contract's types have text keys and write to memory")
}

/// Reads a message. Whatever it returns is valid: reading checks as the types do.
///
/// # Errors
/// When the bytes are not a message of this kind, in a version known here.
pub fn decode<M: Message>(bytes: &[u8]) -> Result<M, Undecodable> {
    // The kind is looked at first: a body of another kind would only give a misleading error.
    #[derive(Deserialize)]
    struct Head {
        kind: String,
        version: u16,
    }
    #[derive(Deserialize)]
    struct Envelope<M> {
        body: M,
    }
    let Head { kind, version } = serde_json::from_slice(bytes).map_err(|_| Undecodable::NotAnEnvelope)?;
    if kind != M::KIND {
        return Err(Undecodable::WrongKind { expected: M::KIND });
    }
    if version > M::VERSION {
        return Err(Undecodable::Newer { kind: M::KIND, version, known: M::VERSION });
    }
    match serde_json::from_slice::<Envelope<M>>(bytes) {
        Ok(envelope) => Ok(envelope.body),
        Err(error) => Err(Undecodable::InvalidBody { kind: M::KIND, version, column: error.column() }),
    }
}
