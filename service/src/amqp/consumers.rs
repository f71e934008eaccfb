//! Consuming: each queue on a channel of its own, for as long as its consumer wants it, whatever dies meanwhile.
//!
//! A message is acknowledged after its handler took it, together with what else was taken meanwhile. One that cannot be
//! decoded goes to `tickets.dead`, alone, as it was, with the reason beside it; it never stops the consumer, fails its
//! neighbours or is lost on the way: it is acknowledged only after `tickets.dead` has confirmed it. What was handed out and
//! not acknowledged comes again, so handlers meet a message twice.

use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use futures::StreamExt as _;
use futures::stream::FuturesUnordered;
use lapin::message::Delivery;
use lapin::options::{
    BasicAckOptions, BasicCancelOptions, BasicConsumeOptions, BasicQosOptions, QueueDeclareOptions,
};
use lapin::protocol::{AMQPErrorKind, AMQPSoftError};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{Channel, ErrorKind};
use proto::topology::{DEAD_QUEUE, DEAD_QUEUE_HEADER, DEAD_REASON_HEADER, PREFETCH, QUEUE_TYPE};
use tokio::time::{Instant, timeout};
use tokio_util::sync::CancellationToken;

use super::acks::Acks;
use super::keeper::Keeper;
use super::link::Link;
use super::publisher::{Outgoing, Publisher};
use super::urls::AmqpUrls;
use crate::backoff::Backoff;
use crate::health::Health;
use crate::lifecycle::Tasks;

/// The waits before a queue is consumed again.
const RETRY: Backoff = Backoff::new(Duration::from_millis(100), Duration::from_secs(5));
/// How long a consumer must have lived for the next wait to be short again.
const CALM: Duration = Duration::from_secs(10);
/// How long declaring a queue and consuming it may take. A queue that is electing a leader takes a few seconds.
const SETUP_DEADLINE: Duration = Duration::from_secs(10);
/// How often a consumer asks whether the broker still knows it. A broker says when it ends a consumer, except when its queue
/// goes or moves together with the node that would say so.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// So many looks in a row must find a queue without consumers: while it elects a leader it says that it has none.
const LOOKS: u32 = 2;
/// How long a consumer that stops waits for its handlers, and then for the broker.
const FINISH_DEADLINE: Duration = Duration::from_secs(5);
/// How long a message that was taken waits for others to be acknowledged with it.
const ACK_PACE: Duration = Duration::from_millis(200);
/// So many are acknowledged at once: the broker must never run out of what it may hand out.
const ACK_BATCH: usize = PREFETCH as usize / 4;
/// The waits before an undecodable message is offered to its queue again.
const DEAD_RETRY: Backoff = Backoff::new(Duration::from_millis(200), Duration::from_secs(5));

/// What became of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// It is in good hands and need not come again.
    Taken,
    /// It can never be read, and why: a text for people that repeats nothing of it.
    Undecodable(String),
}

/// Consumes queues over a connection of its own. Cheap to clone.
#[derive(Clone)]
pub struct Consumers {
    keeper: Keeper,
    dead_letters: Publisher,
}

/// Why a consumer must be set up anew.
enum Lost {
    /// The broker ended it: the queue was deleted, or its node is leaving.
    Cancelled,
    /// The channel or the connection failed.
    Failed(lapin::Error),
    /// The queue is there and knows of no consumer, and nobody said so.
    Forgotten,
    /// Nothing was heard in time.
    Silent,
}

impl From<lapin::Error> for Lost {
    fn from(error: lapin::Error) -> Self {
        Self::Failed(error)
    }
}

impl Consumers {
    /// Starts to keep a connection, at any of the nodes. `process` names it in RabbitMQ's management; undecodable messages
    /// leave by `dead_letters`.
    pub fn start(tasks: &Tasks, urls: &AmqpUrls, process: &str, dead_letters: Publisher) -> Self {
        Self { keeper: Keeper::start(tasks, urls, process, "amqp-consume"), dead_letters }
    }

    /// How the connection is.
    pub fn health(&self) -> Health {
        self.keeper.health()
    }

    /// Hands each message of a queue to `handler`, several at a time, until told to stop. Then it takes no more, gives the
    /// handlers under way 5 s, acknowledges what they took and lets go of the queue.
    ///
    /// It ends for no other reason than `stop`. A handler that is dropped half way, since the connection was lost, gets
    /// its message again.
    pub async fn consume<H, F>(&self, queue: String, stop: CancellationToken, handler: H)
    where
        H: Fn(Vec<u8>) -> F,
        F: Future<Output = Verdict>,
    {
        // Here from now on, so that the first one is seen to happen.
        undecodable(&queue).increment(0);
        let mut backoff = RETRY.clone();
        while !stop.is_cancelled() {
            let Some(link) = stop.run_until_cancelled(self.keeper.link_at_last()).await else { return };
            let Some(link) = link else {
                // The process is stopping and keeps no connection any more.
                return stop.cancelled().await;
            };
            let started = Instant::now();
            let Err(lost) = self.consume_on(&link, &queue, &stop, &handler).await else { return };
            report(&queue, &lost);
            if !link.connection().status().connected() {
                link.give_up("the connection was lost");
            }
            if started.elapsed() > CALM {
                backoff.reset();
            }
            stop.run_until_cancelled(tokio::time::sleep(backoff.next_jittered())).await;
        }
    }

    /// Consumes until told to stop, or until it cannot go on.
    async fn consume_on<H, F>(
        &self,
        link: &Arc<Link>,
        queue: &str,
        stop: &CancellationToken,
        handler: &H,
    ) -> Result<(), Lost>
    where
        H: Fn(Vec<u8>) -> F,
        F: Future<Output = Verdict>,
    {
        let setup = timeout(SETUP_DEADLINE, start_consumer(link, queue));
        let Some(setup) = stop.run_until_cancelled(setup).await else { return Ok(()) };
        let (channel, mut deliveries) = setup.map_err(|_| Lost::Silent)??;
        link.note_answer();
        tracing::debug!(queue, node = link.node(), "consuming");
        // Bounded by the prefetch: the broker hands out no more before some are acknowledged.
        let mut under_way = FuturesUnordered::new();
        let mut acks = Acks::new();
        // When the next acknowledgement is due, if anything was taken since the last.
        let mut due = None;
        let mut forgotten = pin!(until_forgotten(&channel, queue));
        loop {
            let is_due = tokio::select! {
                biased;
                () = stop.cancelled() => break,
                lost = &mut forgotten => return Err(lost),
                Some(tag) = under_way.next() => {
                    acks.note_taken(tag);
                    due = due.or_else(|| Some(Instant::now() + ACK_PACE));
                    acks.unacknowledged() >= ACK_BATCH
                }
                delivery = deliveries.next() => {
                    let delivery = delivery.ok_or(Lost::Cancelled)??;
                    under_way.push(self.settle(queue, delivery, handler));
                    false
                }
                () = tokio::time::sleep_until(due.unwrap_or_else(Instant::now)), if due.is_some() => true,
            };
            if is_due {
                acknowledge(&channel, &mut acks).await?;
                due = None;
            }
        }
        let finish = async {
            channel.basic_cancel(deliveries.tag(), BasicCancelOptions::default()).await?;
            while let Some(tag) = under_way.next().await {
                acks.note_taken(tag);
            }
            acknowledge(&channel, &mut acks).await
        };
        // What was not finished is not acknowledged, and comes again to whoever is next.
        if let Ok(Err(lost)) = timeout(FINISH_DEADLINE, finish).await {
            report(queue, &lost);
        }
        let _ = timeout(FINISH_DEADLINE, channel.close(200, "done".into())).await;
        Ok(())
    }

    /// Has one message handled. Answers its tag, which is to be acknowledged.
    async fn settle<H, F>(&self, queue: &str, delivery: Delivery, handler: &H) -> u64
    where
        H: Fn(Vec<u8>) -> F,
        F: Future<Output = Verdict>,
    {
        let Delivery { data, delivery_tag, .. } = delivery;
        if let Verdict::Undecodable(reason) = handler(data.clone()).await {
            self.bury(queue, &reason, data).await;
        }
        delivery_tag
    }

    /// Moves an undecodable message to where somebody will look at it, however long that takes.
    async fn bury(&self, queue: &str, reason: &str, body: Vec<u8>) {
        undecodable(queue).increment(1);
        tracing::warn!(queue, reason, bytes = body.len(), "undecodable message; moved to {DEAD_QUEUE}");
        let mut message = Outgoing::to_queue(DEAD_QUEUE.to_owned(), body);
        message.headers =
            vec![(DEAD_REASON_HEADER, reason.to_owned()), (DEAD_QUEUE_HEADER, queue.to_owned())];
        let mut backoff = DEAD_RETRY.clone();
        while let Err(error) = self.dead_letters.publish(message.clone()).await {
            // Not bound to a name, which would live across the wait and keep this from moving between threads.
            tracing::warn!(
                queue,
                error = &error as &dyn std::error::Error,
                "cannot move an undecodable message; trying again"
            );
            tokio::time::sleep(backoff.next_jittered()).await;
        }
    }
}

/// Acknowledges what was taken.
async fn acknowledge(channel: &Channel, acks: &mut Acks) -> Result<(), Lost> {
    for ack in acks.take() {
        channel.basic_ack(ack.tag, BasicAckOptions { multiple: ack.multiple }).await?;
    }
    Ok(())
}

/// Looks after a consumer for as long as its queue is there and has one.
async fn until_forgotten(channel: &Channel, queue: &str) -> Lost {
    let passively = QueueDeclareOptions { passive: true, ..QueueDeclareOptions::durable() };
    let mut looks = 0;
    while looks < LOOKS {
        tokio::time::sleep(LOOK_EVERY).await;
        let look = channel.queue_declare(queue.into(), passively, FieldTable::default());
        match timeout(SETUP_DEADLINE, look).await {
            Ok(Ok(found)) if found.consumer_count() > 0 => looks = 0,
            Ok(Ok(_)) => looks += 1,
            Ok(Err(error)) => return Lost::Failed(error),
            Err(_) => return Lost::Silent,
        }
    }
    Lost::Forgotten
}

fn undecodable(queue: &str) -> metrics::Counter {
    metrics::counter!("dovetail_messages_undecodable_total", "queue" => queue.to_owned())
}

/// Opens a channel, makes sure that the queue is there, and consumes it.
async fn start_consumer(link: &Link, queue: &str) -> lapin::Result<(Channel, lapin::Consumer)> {
    let channel = link.connection().create_channel().await?;
    let (argument, value) = QUEUE_TYPE;
    let mut arguments = FieldTable::default();
    arguments.insert(argument.into(), AMQPValue::LongString(value.into()));
    channel.queue_declare(queue.into(), QueueDeclareOptions::durable(), arguments).await?;
    channel.basic_qos(PREFETCH, BasicQosOptions::default()).await?;
    // Not exclusive, which quorum queues do not keep to: during a handover two consume, and the store decides.
    let options = BasicConsumeOptions::default();
    let deliveries = channel.basic_consume(queue.into(), "".into(), options, FieldTable::default()).await?;
    Ok((channel, deliveries))
}

fn report(queue: &str, lost: &Lost) {
    let word = match lost {
        Lost::Cancelled => {
            tracing::warn!(queue, "the broker ended the consumer; consuming again");
            "cancelled"
        }
        Lost::Forgotten => {
            tracing::warn!(queue, "the broker has forgotten the consumer; consuming again");
            "forgotten"
        }
        Lost::Silent => {
            tracing::warn!(queue, "the broker does not let the queue be consumed in time; trying again");
            "silent"
        }
        Lost::Failed(error) if is_mismatch(error) => {
            let (argument, value) = QUEUE_TYPE;
            let error = error as &dyn std::error::Error;
            tracing::error!(
                queue,
                error,
                "the queue is there with other properties than durable and {argument}={value} and cannot be consumed: \
                 delete it, and it is made as it must be"
            );
            "mismatch"
        }
        Lost::Failed(error) => {
            let error = error as &dyn std::error::Error;
            tracing::warn!(queue, error, "consuming failed; consuming again");
            "failed"
        }
    };
    metrics::counter!("dovetail_consumers_lost_total", "why" => word).increment(1);
}

/// Whether the queue is declared otherwise: a 406.
fn is_mismatch(error: &lapin::Error) -> bool {
    let ErrorKind::ProtocolError(error) = error.kind() else { return false };
    matches!(error.kind(), AMQPErrorKind::Soft(AMQPSoftError::PRECONDITIONFAILED))
}
