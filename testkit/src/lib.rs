//! The real services as child processes, for tests and for `cargo xtask up`.
//!
//! Owns: finding and installing their programs, starting, killing, pausing and restarting them on private loopback ports, and
//! seeing to it that nothing of a test's services outlives the test. It must never touch a service that it did not start,
//! listen on anything but loopback, or end a process by its name.

mod account;
mod keeper;
pub mod packages;
mod place;
mod ports;
mod postgres;
mod process;
mod program;
pub mod shared;
mod wait;

pub use place::Place;
pub use ports::{free_port, is_free};
pub use postgres::Postgres;
pub use process::{Process, Signal};
pub use wait::until;
