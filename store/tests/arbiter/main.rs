//! Several servers on one Postgres at once, and a Postgres that goes away: whatever they do, the store decides once.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod accepting;
mod blocking;
mod cancelling;
#[path = "../conformance/databases.rs"]
mod databases;
mod keys;
mod outages;
mod servers;
mod settling;
#[allow(dead_code, reason = "the conformance checks use all of it")]
#[path = "../conformance/world.rs"]
mod world;
