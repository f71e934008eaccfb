//! Publishing: a message is published once the broker has confirmed it, and an error otherwise. Nothing is retried here.
//!
//! A publish holds a *lane*: one of a few channels in confirm mode that stay open, with one message under way on each. So a
//! confirm, and a message that the broker returns, can only be of that message; the client library pairs them by order,
//! which is not enough with several under way. The message's id is compared all the same.

use std::sync::Arc;
use std::time::Duration;

use lapin::options::{BasicPublishOptions, ConfirmSelectOptions};
use lapin::types::{AMQPValue, FieldTable, ShortString};
use lapin::{BasicProperties, Channel, Confirmation};
use tokio::sync::Semaphore;
use tokio::time::{Instant, timeout_at};
use uuid::Uuid;

use super::keeper::Keeper;
use super::link::Link;
use super::urls::AmqpUrls;
use crate::health::Health;
use crate::lifecycle::Tasks;

/// How long a publish may take, from the call to the confirm. Reconciliation finds a ticket after 2 s anyway.
const CONFIRM_DEADLINE: Duration = Duration::from_secs(2);
/// The most messages under way. One per shard, and a few for matches and undecodable messages.
const LANES: usize = 16;
/// Written to disk by the queue before it is confirmed (AMQP's delivery mode 2).
const PERSISTENT: u8 = 2;

/// A message to publish.
#[derive(Debug, Clone)]
pub struct Outgoing {
    /// The exchange; the empty name is the one that routes to the queue named by the routing key.
    pub exchange: &'static str,
    /// The routing key.
    pub routing_key: String,
    /// Whether it is an error when no queue takes it.
    pub mandatory: bool,
    /// The message.
    pub body: Vec<u8>,
    /// Texts that go beside it.
    pub headers: Vec<(&'static str, String)>,
}

impl Outgoing {
    /// For one queue, which must be there.
    pub fn to_queue(queue: String, body: Vec<u8>) -> Self {
        Self { exchange: "", routing_key: queue, mandatory: true, body, headers: Vec::new() }
    }

    /// For whoever has bound a queue to an exchange that sends to all; there may be nobody.
    pub fn to_all(exchange: &'static str, body: Vec<u8>) -> Self {
        Self { exchange, routing_key: String::new(), mandatory: false, body, headers: Vec::new() }
    }
}

/// Why a message does not count as published. After `Blocked`, `Unconfirmed` and `Broken` it may arrive all the same.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// No node can be had. Said at once, not after a wait.
    #[error("RabbitMQ is away")]
    Away,
    /// The broker takes nothing for now: it is short of memory or disk.
    #[error("RabbitMQ takes no messages for now")]
    Blocked,
    /// Every lane was taken until the deadline.
    #[error("too many messages are under way to RabbitMQ")]
    Busy,
    /// There was no confirm in time.
    #[error("RabbitMQ did not confirm within {} s", CONFIRM_DEADLINE.as_secs())]
    Unconfirmed,
    /// The queue is full, or has no leader for the moment.
    #[error("the queue refused the message")]
    Refused,
    /// No queue takes it although one must: the queues are not declared, or named otherwise.
    #[error("no queue took the message")]
    Unroutable,
    /// The broker answered without having been asked to confirm, or the channel or connection ended.
    #[error("publishing failed")]
    Broken(#[source] lapin::Error),
    /// The channel was not in confirm mode, so that nothing is known: a fault in this program.
    #[error("the channel does not confirm")]
    NotAsked,
}

impl PublishError {
    /// A word for the metric.
    fn word(&self) -> &'static str {
        match self {
            Self::Away => "away",
            Self::Blocked => "blocked",
            Self::Busy => "busy",
            Self::Unconfirmed => "unconfirmed",
            Self::Refused => "refused",
            Self::Unroutable => "unroutable",
            Self::Broken(_) => "broken",
            Self::NotAsked => "not-asked",
        }
    }
}

/// Publishes over a connection of its own. Cheap to clone.
#[derive(Clone)]
pub struct Publisher {
    keeper: Keeper,
    lanes: Arc<Semaphore>,
}

impl Publisher {
    /// Starts to keep a connection, at any of the nodes. `process` names it in RabbitMQ's management.
    pub fn start(tasks: &Tasks, urls: &AmqpUrls, process: &str) -> Self {
        let keeper = Keeper::start(tasks, urls, process, "amqp-publish");
        Self { keeper, lanes: Arc::new(Semaphore::new(LANES)) }
    }

    /// How the connection is.
    pub fn health(&self) -> Health {
        self.keeper.health()
    }

    /// Publishes a message and waits for the broker's confirm, 2 s at most.
    ///
    /// # Errors
    /// When the broker did not confirm; see [`PublishError`]. Counted by `dovetail_publish_failures_total`.
    pub async fn publish(&self, message: Outgoing) -> Result<(), PublishError> {
        let started = Instant::now();
        let outcome = self.try_publish(&message, started).await;
        match &outcome {
            Ok(()) => {
                metrics::histogram!("dovetail_publish_confirm_seconds")
                    .record(started.elapsed().as_secs_f64());
            }
            Err(error) => {
                metrics::counter!("dovetail_publish_failures_total", "why" => error.word()).increment(1);
            }
        }
        outcome
    }

    async fn try_publish(&self, message: &Outgoing, started: Instant) -> Result<(), PublishError> {
        let deadline = started + CONFIRM_DEADLINE;
        let lane = timeout_at(deadline, self.lanes.acquire()).await.map_err(|_| PublishError::Busy)?;
        let _lane = lane.expect("never closed");
        let link = timeout_at(deadline, self.keeper.link()).await.ok().flatten().ok_or(PublishError::Away)?;
        if link.is_blocked() {
            // It would only queue up in this process. The broker says when it takes messages again.
            return Err(PublishError::Blocked);
        }
        match timeout_at(deadline, publish_on(&link, message)).await {
            Ok(outcome) => outcome,
            Err(_) if link.is_blocked() => Err(PublishError::Blocked),
            Err(_) => {
                // Did others get a confirm meanwhile, then one queue has no leader, and another node would not help.
                if !link.has_answered_since(started) {
                    link.give_up("no confirm in time");
                }
                Err(PublishError::Unconfirmed)
            }
        }
    }
}

/// Publishes on one of the link's channels. Dropped half way, the channel is closed and its confirm is nobody's.
async fn publish_on(link: &Link, message: &Outgoing) -> Result<(), PublishError> {
    let outcome = confirmed(link, message).await;
    let broken = |error| {
        if !link.connection().status().connected() {
            link.give_up("the connection was lost");
        }
        PublishError::Broken(error)
    };
    let (channel, confirmation, id) = outcome.map_err(broken)?;
    link.note_answer();
    // A channel that first met a queue while its leader was dying remembers that leader, and is refused by it for as long as
    // its node is down (seen with 3.10). A new channel asks who leads now.
    if !confirmation.is_nack() {
        link.put_idle(channel);
    }
    match confirmation {
        Confirmation::Ack(None) => Ok(()),
        Confirmation::Ack(Some(returned)) => {
            let is_ours = returned.properties.message_id().as_ref() == Some(&id);
            debug_assert!(is_ours, "one message is under way on a channel");
            Err(PublishError::Unroutable)
        }
        Confirmation::Nack(_) => Err(PublishError::Refused),
        Confirmation::NotRequested => Err(PublishError::NotAsked),
    }
}

async fn confirmed(link: &Link, message: &Outgoing) -> lapin::Result<(Channel, Confirmation, ShortString)> {
    let channel = match link.take_idle() {
        Some(channel) if channel.status().connected() => channel,
        _ => {
            let channel = link.connection().create_channel().await?;
            channel.confirm_select(ConfirmSelectOptions::default()).await?;
            channel
        }
    };
    let id = ShortString::from(Uuid::now_v7().hyphenated().to_string());
    let options = BasicPublishOptions { mandatory: message.mandatory, ..BasicPublishOptions::default() };
    let mut headers = FieldTable::default();
    for (name, text) in &message.headers {
        headers.insert((*name).into(), AMQPValue::LongString(text.as_str().into()));
    }
    let properties = BasicProperties::default()
        .with_delivery_mode(PERSISTENT)
        .with_content_type("application/json".into())
        .with_message_id(id.clone())
        .with_headers(headers);
    let routing_key = message.routing_key.as_str().into();
    let sent =
        channel.basic_publish(message.exchange.into(), routing_key, options, &message.body, properties);
    let confirmation = sent.await?.await?;
    Ok((channel, confirmation, id))
}
