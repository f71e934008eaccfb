//! The bounded inbox of a shard: the only way to its engine.

use proto::{PoolTicket, ShardId, TicketId, Timestamp};
use tokio::sync::{mpsc, oneshot};

/// The most messages that wait for one shard's engine.
const INBOX_BOUND: usize = 1_024;

/// Something a shard's engine is told.
pub(crate) enum Message {
    /// Tickets wait.
    Admit(Vec<PoolTicket>),
    /// Tickets were settled elsewhere; with their deadlines.
    Withdraw(Vec<(TicketId, Timestamp)>),
    /// What the store says waits here.
    Compare(Comparison),
}

/// What the store says waits in a shard, to be held against the pool.
pub(crate) struct Comparison {
    /// The ids of waiting tickets.
    pub(crate) waiting: Vec<TicketId>,
    /// When `waiting` is all that waits: pooled tickets that were committed before this moment and are not in it have
    /// settled elsewhere, and leave. `None` when it is only a part.
    pub(crate) complete_before: Option<Timestamp>,
    /// Answered with those that the pool neither holds nor has let go.
    pub(crate) missing: oneshot::Sender<Vec<TicketId>>,
}

/// The sending side. Cheap to clone.
#[derive(Clone)]
pub(crate) struct Inbox {
    shard: ShardId,
    messages: mpsc::Sender<Message>,
}

impl Inbox {
    pub(crate) fn new(shard: ShardId) -> (Self, mpsc::Receiver<Message>) {
        let (messages, receiver) = mpsc::channel(INBOX_BOUND);
        (Self { shard, messages }, receiver)
    }

    /// Hands over a message; at the bound it is dropped and counted, and reconciliation brings the tickets later.
    pub(crate) fn offer(&self, message: Message) {
        if self.messages.try_send(message).is_err() {
            metrics::counter!("dovetail_hints_dropped_total", "at" => "inbox").increment(1);
        }
    }

    /// Hands over a message, waiting for room; `false` when the shard has stopped.
    pub(crate) async fn send(&self, message: Message) -> bool {
        self.messages.send(message).await.is_ok()
    }

    /// How many messages wait.
    pub(crate) fn report_depth(&self) {
        let depth = self.messages.max_capacity() - self.messages.capacity();
        #[allow(clippy::cast_precision_loss, reason = "at most the bound")]
        metrics::gauge!("dovetail_engine_inbox_depth", "shard" => self.shard.to_string()).set(depth as f64);
    }
}
