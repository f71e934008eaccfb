//! The bounded inbox of a shard: the only way to its engine.

use proto::{Hint, PoolTicket, ShardId, TicketId, Timestamp};
use tokio::sync::{mpsc, oneshot};

/// The most messages that wait for one shard's engine.
const INBOX_BOUND: usize = 1_024;

/// Something a shard's engine is told.
pub(crate) enum Message {
    /// Tickets wait, says the store.
    Admit(Vec<PoolTicket>),
    /// An API server tells of tickets. Answered once the engine has been told, if somebody wants to know.
    Hint(Hint, Option<oneshot::Sender<()>>),
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

    /// Hands over a hint; at the bound it is dropped and counted, and reconciliation brings the tickets later.
    pub(crate) fn offer(&self, hint: Hint) {
        if self.messages.try_send(Message::Hint(hint, None)).is_err() {
            metrics::counter!("dovetail_hints_dropped_total", "at" => "inbox").increment(1);
        }
    }

    /// Hands over a hint, waiting for room, and returns once the engine has it, or the shard has stopped.
    pub(crate) async fn hand_over(&self, hint: Hint) {
        let (taken, answer) = oneshot::channel();
        if self.send(Message::Hint(hint, Some(taken))).await {
            // When the shard stops meanwhile, its next owner reads what waits from the store.
            let _ = answer.await;
        }
    }

    /// Hands over a message, waiting for room; `false` when the shard has stopped.
    pub(crate) async fn send(&self, message: Message) -> bool {
        self.messages.send(message).await.is_ok()
    }

    /// Nothing of this shard is here any more.
    pub(crate) fn report_gone(&self) {
        for gauge in ["dovetail_engine_inbox_depth", "dovetail_tickets_unpooled"] {
            metrics::gauge!(gauge, "shard" => self.shard.to_string()).set(0.0);
        }
    }

    /// How many messages wait.
    pub(crate) fn report_depth(&self) {
        let depth = self.messages.max_capacity() - self.messages.capacity();
        #[allow(clippy::cast_precision_loss, reason = "at most the bound")]
        metrics::gauge!("dovetail_engine_inbox_depth", "shard" => self.shard.to_string()).set(depth as f64);
    }
}
