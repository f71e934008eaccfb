//! The contract of Dovetail: what crosses a process boundary, and nothing else.
//!
//! Owns the words: [`Ticket`], [`Match`], [`Region`], [`Interest`], [`ShardId`], [`Timestamp`], the messages between
//! processes ([`Hint`], [`Wakeup`], [`MatchesMade`]) and the [`topology`] of queues that carry them. Every value here is
//! valid once it exists: parsing is the only way in. This crate never does I/O and never reads a clock.

mod hint;
mod id;
mod interest;
mod made;
mod message;
mod problem;
mod region;
mod shard;
mod ticket;
mod timestamp;
pub mod topology;
mod user;

pub use hint::{Hint, PoolTicket};
pub use id::{InvalidId, MatchId, OwnerId, TicketId};
pub use interest::{Interest, InterestSet, InvalidInterest, InvalidInterestSet, Overlap};
pub use made::{MatchMade, MatchedTicket};
pub use message::{MatchesMade, Message, Undecodable, Wakeup, decode, encode};
pub use problem::{FieldError, Problem, ProblemType};
pub use region::{InvalidRegion, Region};
pub use shard::{DEFAULT_SHARD_COUNT, ShardId, shard_of};
pub use ticket::{Match, MatchPage, Partner, Ticket, TicketState};
pub use timestamp::Timestamp;
pub use user::{InvalidUser, UserId};
