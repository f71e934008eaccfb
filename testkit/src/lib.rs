//! The real services as child processes, for tests and for `cargo xtask up`.
//!
//! Owns: finding and installing their programs, starting, killing, pausing and restarting them on private loopback ports, and
//! seeing to it that nothing of a test's services outlives the test. It must never touch a service that it did not start,
//! listen on anything but loopback, or end a process by its name.

mod account;
mod binaries;
pub mod http;
mod keeper;
mod lasting;
mod monitoring;
pub mod packages;
mod place;
mod ports;
mod postgres;
mod process;
mod program;
pub mod promql;
mod proxy;
mod rabbit;
mod redis;
mod secret;
mod server;
pub mod shared;
mod stack;
mod wait;

pub use binaries::{Binaries, binaries};
pub use lasting::find_programs;
pub use monitoring::{Monitoring, MonitoringPorts, WatchedServer};
pub use place::Place;
pub use ports::{free_port, is_free};
pub use postgres::Postgres;
pub use process::{Process, Signal};
pub use proxy::{Direction, Proxy};
pub use rabbit::{Depth, NodePorts, RabbitCluster, RabbitNode, RabbitPorts};
pub use redis::Redis;
pub use secret::{new_secret, write_secret};
pub use server::{ServerProcess, ServerSpec};
pub use stack::{Stack, StackPorts, definitions, shard_count};
pub use wait::{until, until_some};
