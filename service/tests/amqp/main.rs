//! Publishing and consuming on a real RabbitMQ cluster, whole and broken.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod breaking;
mod consuming;
mod door;
mod publishing;
mod world;
