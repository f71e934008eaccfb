//! The pure pairing core: commands in, events out.
//!
//! Owns the pool of one shard and the pairing rule. It never reads a clock, never does I/O, never logs and
//! draws no random numbers: `now` is an argument, and the same commands give the same events, byte for byte.

mod ages;
mod arrivals;
mod bargain;
mod command;
mod due;
mod elders;
mod engine;
mod index;
mod intern;
mod invariants;
mod policy;
mod pool;
mod released;
mod rule;
mod sample;
mod scope;
mod search;
mod settling;
mod shards;
mod ticket;
mod time;
mod waiting;

pub use command::{Command, Event, Refusal, Rejection};
pub use engine::{Engine, Footprint};
pub use policy::{InvalidPolicy, Policy, Reservation, Threshold, Widen};
pub use ticket::{Ticket, TicketId};
pub use time::Time;
