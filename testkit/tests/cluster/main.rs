//! The whole system over its real services: load from a printed seed, something that breaks, and a ledger that has to balance.
//!
//! One stack of services serves all of these; they run one after the other, each with a database and servers of its own.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]
#![allow(clippy::print_stdout, reason = "the seed, and what was measured, beside a test that failed")]

mod broker;
mod hints;
mod ledger;
mod phone;
mod postgres;
mod redis;
mod servers;
mod steady;
mod widening;
mod world;
