//! The real program, as a child process, over real sockets: what a phone and an operator see.
//!
//! Tests speak of apps, users, tickets and matches. They wait for conditions with a deadline and never sleep.

#![allow(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]
#![allow(
    clippy::print_stdout,
    reason = "the harness shows what a failed test needs; it is captured otherwise"
)]

mod app;
mod http;
mod process;
mod raw;
mod sse;
mod user;
mod wait;

mod bad_input;
mod contract;
mod full_pool;
mod idempotency;
mod k6;
mod ledger;
mod metrics;
mod operating;
mod pasting;
mod restarting;
mod starting;
mod stopping;
