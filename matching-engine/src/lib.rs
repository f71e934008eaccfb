//! The pure pairing core: commands in, events out.
//!
//! Owns the pool of one shard and the pairing rule. It never reads a clock, never does I/O, never logs and
//! draws no random numbers: `now` is an argument, and the same commands give the same events, byte for byte.

mod command;
mod policy;
mod ticket;
mod time;

pub use command::{Command, Event, Refusal, Rejection};
pub use policy::{InvalidPolicy, Policy, Threshold, Widen};
pub use ticket::{Ticket, TicketId};
pub use time::Time;
