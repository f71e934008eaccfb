//! How a process gets on with the servers it can do without for a while: RabbitMQ and Redis.
//!
//! Whoever keeps a connection says so here, and here alone a change is logged. `/ready` and the gauge
//! `dovetail_dependency_up{name}` show it. It is never a reason to refuse people: the store is all that is needed for those.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::time::Instant;

/// The state of one connection, shared by who keeps it and who shows it.
#[derive(Debug, Clone)]
pub struct Health {
    name: &'static str,
    state: Arc<Mutex<State>>,
}

#[derive(Debug)]
enum State {
    Up,
    Away { since: Instant, why: String },
}

impl Health {
    /// A connection that is yet to be made.
    pub(crate) fn new(name: &'static str) -> Self {
        let health = Self {
            name,
            state: Arc::new(Mutex::new(State::Away {
                since: Instant::now(),
                why: "not connected yet".into(),
            })),
        };
        health.show(false);
        health
    }

    /// What is connected, such as `amqp-publish`.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether it works, as far as is known.
    pub fn is_up(&self) -> bool {
        matches!(*self.lock(), State::Up)
    }

    /// It works.
    pub(crate) fn set_up(&self) {
        let mut state = self.lock();
        if let State::Away { since, .. } = &*state {
            let away_ms = u64::try_from(since.elapsed().as_millis()).unwrap_or(u64::MAX);
            tracing::info!(dependency = self.name, away_ms, "connected");
            *state = State::Up;
            self.show(true);
        }
    }

    /// It does not work, and why. What is away already stays so, with the latest reason.
    pub(crate) fn set_away(&self, why: &str) {
        let mut state = self.lock();
        match &mut *state {
            State::Up => {
                tracing::warn!(dependency = self.name, why, "away; going on without");
                *state = State::Away { since: Instant::now(), why: why.to_owned() };
                self.show(false);
            }
            State::Away { why: known, .. } => {
                if known != why {
                    tracing::warn!(dependency = self.name, why, "still away");
                    why.clone_into(known);
                }
            }
        }
    }

    fn show(&self, up: bool) {
        metrics::gauge!("dovetail_dependency_up", "name" => self.name).set(f64::from(u8::from(up)));
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // Nothing panics while it is held.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Display for Health {
    /// `ok`, or since when it is away and why.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &*self.lock() {
            State::Up => f.write_str("ok"),
            State::Away { since, why } => write!(f, "away for {} s: {why}", since.elapsed().as_secs()),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn says_how_long_it_is_away_and_why() {
        let health = Health::new("amqp-publish");
        assert_eq!(health.to_string(), "away for 0 s: not connected yet");
        health.set_up();
        assert_eq!((health.is_up(), health.to_string()), (true, "ok".to_owned()));
        health.set_away("connection refused");
        tokio::time::advance(Duration::from_secs(12)).await;
        health.set_away("no answer");
        assert_eq!((health.is_up(), health.to_string()), (false, "away for 12 s: no answer".to_owned()));
    }
}
