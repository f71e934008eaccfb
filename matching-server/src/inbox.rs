//! The bounded inbox of a shard: the only way to its engine.

use std::sync::Arc;

use proto::{Hint, PoolTicket, ShardId, TicketId, Timestamp};
use tokio::sync::{mpsc, oneshot};

use crate::gauges::ShardGauges;

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
    messages: mpsc::Sender<Message>,
    gauges: Arc<ShardGauges>,
}

impl Inbox {
    pub(crate) fn new(shard: ShardId) -> (Self, mpsc::Receiver<Message>) {
        let (messages, receiver) = mpsc::channel(INBOX_BOUND);
        (Self { messages, gauges: Arc::new(ShardGauges::new(shard)) }, receiver)
    }

    /// What is shown of the shard.
    pub(crate) fn gauges(&self) -> &Arc<ShardGauges> {
        &self.gauges
    }

    /// Hands over a hint; at the bound it is dropped and counted, and reconciliation brings the tickets later.
    pub(crate) fn offer(&self, hint: Hint) {
        if self.messages.try_send(Message::Hint(hint, None)).is_err() {
            metrics::counter!("dovetail_hints_dropped_total", "at" => "inbox").increment(1);
        }
        self.show_depth();
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
        let sent = self.messages.send(message).await.is_ok();
        self.show_depth();
        sent
    }

    /// Shows how many messages wait. The engine shows it too when it has taken some.
    fn show_depth(&self) {
        let depth = self.messages.max_capacity() - self.messages.capacity();
        #[allow(clippy::cast_precision_loss, reason = "at most the bound")]
        self.gauges.inbox_depth.set(depth as f64);
    }
}
