//! What every process needs to run: the policy file, logs, metrics, lifecycle, group commit, the admin port, and the ways to
//! RabbitMQ and Redis.
//!
//! Owns how a process starts, is watched and stops. Knows nothing of HTTP routes or of pairing.

pub mod admin;
mod allocator;
pub mod amqp;
pub mod backoff;
pub mod clock;
pub mod group_commit;
pub mod health;
pub mod http;
pub mod ids;
pub mod lifecycle;
pub mod log_filter;
pub mod membership;
pub mod metrics;
pub mod policy;
pub mod postgres;
pub mod runtime;
mod secret;
pub mod settings;
pub mod shutdown;
pub mod sweep;
pub mod telemetry;
pub mod wakeups;
