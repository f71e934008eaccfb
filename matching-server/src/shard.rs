//! The owner of one shard's engine: the only task that touches it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt as _;
use futures::future::BoxFuture;
use futures::stream::{FuturesUnordered, StreamExt};
use matching_engine::{Command, Engine, Event, InvalidPolicy, Refusal, Rejection};
use proto::{PoolTicket, ShardId, TicketId};
use service::clock::StoreClock;
use service::lifecycle::Tasks;
use store::{Proposal, Settlement};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::Deps;
use crate::convert::{contract_id, engine_id, engine_ticket, moment_of, time_of};
use crate::gauges::ShardGauges;
use crate::inbox::{Comparison, Inbox, Message};
use crate::settler::Settler;

/// The least time between the beginnings of two rounds. After a longer silence a round begins at once. Without it a busy
/// engine would wake for every arrival and every due moment alone; people wait seconds, so this costs them nothing.
const ROUND: Duration = Duration::from_millis(20);
/// The most messages taken in one round.
const MESSAGES_A_ROUND: usize = 1_024;
/// In debug builds the engine checks itself each time it has handled this many messages.
const CHECK_EVERY: u64 = 256;

struct ShardTask {
    shard: ShardId,
    engine: Engine,
    clock: Arc<StoreClock>,
    settler: Settler,
    gauges: Arc<ShardGauges>,
    /// Proposals that the store has not answered yet. Finished before the task ends.
    settling: FuturesUnordered<BoxFuture<'static, (Proposal, Option<Settlement>)>>,
    /// What the engine said last; emptied after every command.
    events: Vec<Event>,
    handled: u64,
}

/// Starts the owner of a shard and answers its inbox.
pub(crate) fn start(
    tasks: &Tasks,
    deps: &Deps,
    shard: ShardId,
    settler: Settler,
) -> Result<Inbox, InvalidPolicy> {
    let (inbox, messages) = Inbox::new(shard);
    let task = ShardTask {
        shard,
        engine: Engine::new(deps.policy.clone())?,
        clock: Arc::clone(&deps.clock),
        settler,
        gauges: Arc::clone(inbox.gauges()),
        settling: FuturesUnordered::new(),
        events: Vec::new(),
        handled: 0,
    };
    tasks.spawn("shard", task.run(messages, tasks.stop_token()));
    Ok(inbox)
}

impl ShardTask {
    async fn run(mut self, mut messages: mpsc::Receiver<Message>, stop: CancellationToken) {
        loop {
            let due = self.engine.next_due().map(|time| self.clock.instant_of(moment_of(time)).into());
            tokio::select! {
                () = stop.cancelled() => break,
                Some((proposal, settlement)) = self.settling.next() => self.conclude(proposal, settlement.as_ref()),
                Some(message) = messages.recv() => self.take(message),
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => {}
            }
            let round = Instant::now();
            self.take_what_is_there(&mut messages);
            self.tell(Command::Advance);
            self.act();
            self.show(messages.len());
            stop.run_until_cancelled(tokio::time::sleep_until(round + ROUND)).await;
        }
        while let Some((proposal, settlement)) = self.settling.next().await {
            self.conclude(proposal, settlement.as_ref());
            self.events.clear();
        }
    }

    /// Takes the answers and messages that came since the last round, without waiting for more.
    fn take_what_is_there(&mut self, messages: &mut mpsc::Receiver<Message>) {
        while let Some(Some((proposal, settlement))) = self.settling.next().now_or_never() {
            self.conclude(proposal, settlement.as_ref());
        }
        for _ in 0..MESSAGES_A_ROUND {
            let Ok(message) = messages.try_recv() else { break };
            self.take(message);
        }
    }

    fn tell(&mut self, command: Command) {
        self.engine.handle(time_of(self.clock.now()), command, &mut self.events);
    }

    fn take(&mut self, message: Message) {
        match message {
            Message::Admit(tickets) => tickets.iter().for_each(|ticket| self.admit(ticket)),
            Message::Hint(hint, taken) => {
                hint.waiting.iter().for_each(|ticket| self.admit(ticket));
                for (id, expires_at) in hint.withdrawn {
                    self.tell(Command::Withdraw { id: engine_id(id), expires_at: time_of(expires_at) });
                }
                if let Some(taken) = taken {
                    // Whoever asked may have stopped.
                    let _ = taken.send(());
                }
            }
            Message::Compare(comparison) => self.compare(comparison),
        }
        self.handled += 1;
        if cfg!(debug_assertions) && self.handled.is_multiple_of(CHECK_EVERY) {
            self.engine.check_invariants();
        }
    }

    fn admit(&mut self, ticket: &PoolTicket) {
        let (id, created_at) = (ticket.id, ticket.created_at);
        self.tell(Command::Admit(engine_ticket(ticket)));
        if self.events.contains(&Event::Admitted(engine_id(id))) {
            let delay = self.clock.now().since(created_at);
            metrics::histogram!("dovetail_pooling_delay_seconds").record(delay);
        }
    }

    fn compare(&mut self, comparison: Comparison) {
        let Comparison { waiting, complete_before, missing } = comparison;
        let unknown = |id: &TicketId| {
            let id = engine_id(*id);
            !self.engine.contains(id) && !self.engine.is_released(id)
        };
        // Whoever asked may have stopped.
        let _ = missing.send(waiting.iter().copied().filter(unknown).collect());
        let Some(complete_before) = complete_before else { return };
        let waiting: HashSet<TicketId> = waiting.into_iter().collect();
        let settled_elsewhere: Vec<_> = self
            .engine
            .waiting()
            .filter(|(id, created_at, _)| {
                *created_at < time_of(complete_before) && !waiting.contains(&contract_id(*id))
            })
            .map(|(id, _, expires_at)| (id, expires_at))
            .collect();
        for (id, expires_at) in settled_elsewhere {
            self.tell(Command::Withdraw { id, expires_at });
        }
    }

    /// Passes the store's answer on to the engine. No answer means that this process is stopping.
    fn conclude(&mut self, proposal: Proposal, settlement: Option<&Settlement>) {
        let (a, b) = (engine_id(proposal.a), engine_id(proposal.b));
        let command = match settlement {
            Some(Settlement::Matched { .. }) => Command::Confirm { a, b },
            Some(Settlement::Gone { a: gone_a, b: gone_b }) => {
                Command::Refuse { a, b, why: Refusal::Gone { a: *gone_a, b: *gone_b } }
            }
            Some(Settlement::Recent | Settlement::Blocked) => Command::Refuse { a, b, why: Refusal::Avoid },
            None => return,
        };
        self.tell(command);
    }

    /// Shows how much is held, and how much waits to be taken.
    #[allow(clippy::cast_precision_loss, reason = "both have bounds far below 2^52")]
    fn show(&self, inbox_depth: usize) {
        self.gauges.pooled.set(self.engine.len() as f64);
        self.gauges.inbox_depth.set(inbox_depth as f64);
    }

    /// Acts on what the engine said.
    fn act(&mut self) {
        for event in self.events.drain(..) {
            match event {
                Event::Proposed { a, b, .. } => {
                    let proposal = Proposal {
                        match_id: service::ids::new_match_id(),
                        a: contract_id(a),
                        b: contract_id(b),
                    };
                    let settler = self.settler.clone();
                    self.settling.push(Box::pin(async move { (proposal, settler.settle(proposal).await) }));
                }
                Event::Rejected { id, why: Rejection::Full } => {
                    let id = contract_id(id);
                    tracing::warn!(shard = self.shard.0, %id, "the pool is full; reconciliation will bring the ticket");
                    metrics::counter!("dovetail_pool_full_total").increment(1);
                }
                // Repeats and latecomers are usual, and the store settles what the engine forgets.
                Event::Rejected { .. } | Event::Admitted(_) | Event::Forgotten(_) => {}
            }
        }
    }
}
