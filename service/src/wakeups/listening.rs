//! Hearing from other processes what settled there.

use futures::StreamExt as _;
use proto::{TicketId, Wakeup, decode};
use redis::aio::{PubSubSink, PubSubStream};
use tokio::sync::mpsc;
use tokio::time::timeout;

use super::{ANSWER_DEADLINE, CHANNEL, CONNECT_DEADLINE, Lost, PING_EVERY, RETRY, RedisUrl, count_dropped};
use crate::health::Health;
use crate::lifecycle::Tasks;

/// Starts to listen. What finds no room in `heard` is dropped and counted.
pub fn start_listening(tasks: &Tasks, url: &RedisUrl, heard: mpsc::Sender<Vec<TicketId>>) -> Health {
    let health = Health::new("redis-listen");
    tasks.spawn_endless("redis-listen", listen(url.clone(), heard, health.clone()));
    health
}

async fn listen(url: RedisUrl, heard: mpsc::Sender<Vec<TicketId>>, health: Health) {
    let mut backoff = RETRY.clone();
    loop {
        let lost = match subscribe(&url).await {
            Ok((sink, messages)) => {
                health.set_up();
                backoff.reset();
                hear(sink, messages, &heard).await
            }
            Err(lost) => lost,
        };
        health.set_away(&lost.to_string());
        tokio::time::sleep(backoff.next_jittered()).await;
    }
}

async fn subscribe(url: &RedisUrl) -> Result<(PubSubSink, PubSubStream), Lost> {
    let subscribe = async {
        let (mut sink, messages) = url.0.get_async_pubsub().await?.split();
        sink.subscribe(CHANNEL).await?;
        Ok((sink, messages))
    };
    timeout(CONNECT_DEADLINE + ANSWER_DEADLINE, subscribe).await?
}

/// Passes on what is heard, until nothing can be heard any more. Pings whether or not something is heard: messages that
/// were under way do not show that the other side is still there.
async fn hear(mut sink: PubSubSink, mut messages: PubSubStream, heard: &mpsc::Sender<Vec<TicketId>>) -> Lost {
    let pings = async {
        loop {
            tokio::time::sleep(PING_EVERY).await;
            match timeout(ANSWER_DEADLINE, sink.ping::<redis::Value>()).await {
                Ok(Ok(_)) => {}
                Ok(Err(error)) => return Lost::from(error),
                Err(elapsed) => return Lost::from(elapsed),
            }
        }
    };
    let words = async {
        while let Some(message) = messages.next().await {
            pass_on(message.get_payload_bytes(), heard);
        }
        Lost::Closed
    };
    tokio::select! {
        lost = pings => lost,
        lost = words => lost,
    }
}

fn pass_on(word: &[u8], heard: &mpsc::Sender<Vec<TicketId>>) {
    match decode::<Wakeup>(word) {
        Ok(Wakeup { tickets }) => {
            if heard.try_send(tickets).is_err() {
                count_dropped(1, "listening");
            }
        }
        Err(error) => {
            // Counted only: whoever sends such words sends many, and the phones are looked up each second anyway.
            metrics::counter!("dovetail_wakeups_undecodable_total").increment(1);
            tracing::debug!(error = &error as &dyn std::error::Error, "an undecodable wake-up");
        }
    }
}
