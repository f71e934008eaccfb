//! Each service starts, dies, and comes back with what it had; and nothing outlives the tests.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod monitoring;
mod orphans;
mod postgres;
mod rabbit;
mod redis;

use std::time::Duration;

/// Long enough for anything that happens at all, on a busy machine.
const PATIENCE: Duration = Duration::from_secs(60);
