//! Publishing and consuming on a real RabbitMQ cluster, whole and broken.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod consuming;
mod publishing;
mod world;
