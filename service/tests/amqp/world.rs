//! A real cluster, and what a test does with it beside the code under test.

use std::time::Duration;

use lapin::options::{BasicAckOptions, BasicGetOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use service::amqp::{AmqpUrls, Consumers, Outgoing, Publisher};
use service::lifecycle::Tasks;

/// Far more than anything here takes, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(30);

/// Clients of the cluster, as a process has them, and a channel of the test's own.
pub(crate) struct World {
    pub(crate) tasks: Tasks,
    pub(crate) publisher: Publisher,
    pub(crate) consumers: Consumers,
    channel: Channel,
    _connection: Connection,
}

impl World {
    pub(crate) async fn start() -> Self {
        let url = "amqp://127.0.0.1:25672";
        let urls: AmqpUrls = url.parse().unwrap();
        let tasks = Tasks::new();
        let publisher = Publisher::start(&tasks, &urls, "test");
        let consumers = Consumers::start(&tasks, &urls, "test", publisher.clone());
        let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        Self { tasks, publisher, consumers, channel, _connection: connection }
    }

    /// Makes an empty queue.
    pub(crate) async fn queue(&self, name: &str, arguments: &[(&str, AMQPValue)]) -> String {
        self.channel.queue_delete(name.into(), QueueDeleteOptions::default()).await.unwrap();
        let mut table = FieldTable::default();
        for (argument, value) in arguments {
            table.insert((*argument).into(), value.clone());
        }
        self.channel.queue_declare(name.into(), QueueDeclareOptions::durable(), table).await.unwrap();
        name.to_owned()
    }

    pub(crate) async fn quorum_queue(&self, name: &str) -> String {
        self.queue(name, &[("x-queue-type", AMQPValue::LongString("quorum".into()))]).await
    }

    pub(crate) async fn delete_queue(&self, name: &str) {
        self.channel.queue_delete(name.into(), QueueDeleteOptions::default()).await.unwrap();
    }

    pub(crate) async fn send(&self, queue: &str, body: &str) {
        self.publisher.publish(Outgoing::to_queue(queue.to_owned(), body.into())).await.unwrap();
    }

    /// Takes the next message out of a queue, if there is one.
    pub(crate) async fn take(&self, queue: &str) -> Option<(String, BasicProperties)> {
        let got = self.channel.basic_get(queue.into(), BasicGetOptions::default()).await.unwrap()?;
        got.delivery.ack(BasicAckOptions::default()).await.unwrap();
        Some((String::from_utf8(got.delivery.data).unwrap(), got.delivery.properties))
    }
}

/// Waits for a condition, and fails with what was waited for.
pub(crate) async fn until(what: &str, condition: impl AsyncFnMut() -> bool) {
    let mut condition = condition;
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("{what}: not within {PATIENCE:?}"));
}
