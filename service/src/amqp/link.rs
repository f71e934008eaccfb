//! One connection to one node, for as long as it works.

use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use lapin::Channel;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::health::Health;

/// How often an idle connection is looked at. One in use finds out by itself.
const LOOK_EVERY: Duration = Duration::from_millis(250);

/// A connection, shared by those who use it. Gone once it is broken and its last user has let go of it.
pub(super) struct Link {
    /// Always there until the drop, which must not give it back to the pool as it is.
    connection: Option<deadpool_lapin::Connection>,
    /// Which node, without the password.
    node: String,
    /// Cancelled by whoever finds that it is no good.
    broken: CancellationToken,
    /// Why, from the first who found.
    why: OnceLock<String>,
    /// When the broker last did what it was asked on this connection; `None` while it never has.
    answered: Mutex<Option<Instant>>,
    /// Channels that are open, confirm, and are in nobody's hands. A publisher's links alone have any.
    idle: Mutex<Vec<Channel>>,
}

impl Link {
    pub(super) fn new(connection: deadpool_lapin::Connection, node: String) -> Self {
        Self {
            connection: Some(connection),
            node,
            broken: CancellationToken::new(),
            why: OnceLock::new(),
            answered: Mutex::new(None),
            idle: Mutex::new(Vec::new()),
        }
    }

    pub(super) fn connection(&self) -> &lapin::Connection {
        self.connection.as_ref().expect("taken by the drop alone")
    }

    pub(super) fn node(&self) -> &str {
        &self.node
    }

    /// Whether it is still worth using.
    pub(super) fn is_good(&self) -> bool {
        !self.broken.is_cancelled() && self.connection().status().connected()
    }

    /// Whether the broker takes nothing on it for now: it is short of memory or disk.
    pub(super) fn is_blocked(&self) -> bool {
        self.connection().status().blocked()
    }

    /// Says that it is no good any more. The keeper opens another one; who uses this one finishes with it.
    pub(super) fn give_up(&self, why: &str) {
        let _ = self.why.set(why.to_owned());
        self.broken.cancel();
    }

    /// Notes that the broker did what it was asked.
    pub(super) fn note_answer(&self) {
        *lock(&self.answered) = Some(Instant::now());
    }

    /// Whether the broker has done anything on it since a moment.
    pub(super) fn has_answered_since(&self, moment: Instant) -> bool {
        lock(&self.answered).is_some_and(|answered| answered >= moment)
    }

    /// Whether it was ever of use.
    pub(super) fn has_served(&self) -> bool {
        lock(&self.answered).is_some()
    }

    pub(super) fn take_idle(&self) -> Option<Channel> {
        lock(&self.idle).pop()
    }

    pub(super) fn put_idle(&self, channel: Channel) {
        lock(&self.idle).push(channel);
    }

    /// Waits until it is no good any more and says why; meanwhile shows whether it is blocked.
    pub(super) async fn watch(&self, health: &Health) -> String {
        let mut look = tokio::time::interval(LOOK_EVERY);
        loop {
            tokio::select! {
                () = self.broken.cancelled() => break,
                _ = look.tick() => {}
            }
            if !self.connection().status().connected() {
                self.give_up("the connection was lost");
                break;
            }
            if self.is_blocked() {
                health.set_away("the broker takes no messages: it is short of memory or disk");
            } else {
                health.set_up();
            }
        }
        format!("{}: {}", self.node, self.why.get().map_or("given up", String::as_str))
    }
}

impl Drop for Link {
    fn drop(&mut self) {
        // Given back, a node that hangs would be handed out again, since its connection still looks connected.
        if let Some(connection) = self.connection.take() {
            drop(deadpool_lapin::Object::take(connection));
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing panics while one is held.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
