//! A real cluster, and what a test does with it beside the code under test.

use std::time::Duration;

use lapin::options::{BasicAckOptions, BasicGetOptions, QueueDeclareOptions, QueueDeleteOptions};
use lapin::types::{AMQPValue, FieldTable};
use lapin::{BasicProperties, Channel, Connection, ConnectionProperties};
use service::amqp::{AmqpUrls, Consumers, Outgoing, PublishError, Publisher, Verdict};
use service::health::Health;
use service::lifecycle::Tasks;
use testkit::{Place, RabbitCluster, definitions};
use tokio::sync::{OnceCell, RwLock, RwLockReadGuard, RwLockWriteGuard, mpsc};
use tokio_util::sync::CancellationToken;

use crate::door::Door;

/// Far more than anything here takes, on a busy machine too.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// The cluster of this test program: many tests use it as it is, those that break it are alone with it.
async fn cluster() -> &'static RabbitCluster {
    static CLUSTER: OnceCell<RabbitCluster> = OnceCell::const_new();
    let start = async || RabbitCluster::start(&Place::Temporary, None, Some(&definitions())).await;
    CLUSTER.get_or_try_init(start).await.unwrap()
}

enum Guard {
    Shared { _with_others: RwLockReadGuard<'static, ()> },
    Alone { _with_nobody: RwLockWriteGuard<'static, ()> },
}

/// Clients of the cluster, as a process has them, and a channel of the test's own.
pub(crate) struct World {
    pub(crate) tasks: Tasks,
    pub(crate) cluster: &'static RabbitCluster,
    pub(crate) doors: Vec<Door>,
    pub(crate) publisher: Publisher,
    pub(crate) consumers: Consumers,
    urls: AmqpUrls,
    _guard: Guard,
}

impl World {
    /// For a test that leaves the cluster as it is.
    pub(crate) async fn start() -> Self {
        Self::with(Guard::Shared { _with_others: lock().read().await }).await
    }

    /// For a test that breaks the cluster, and mends it before it ends.
    pub(crate) async fn start_alone() -> Self {
        Self::with(Guard::Alone { _with_nobody: lock().write().await }).await
    }

    async fn with(guard: Guard) -> Self {
        let cluster = cluster().await;
        let tasks = Tasks::new();
        let mut doors = Vec::new();
        for node in cluster.nodes() {
            doors.push(Door::to(node.ports().amqp, &tasks).await);
        }
        let urls: Vec<&str> = doors.iter().map(|door| door.url.as_str()).collect();
        let urls: AmqpUrls = urls.join(",").parse().unwrap();
        let publisher = Publisher::start(&tasks, &urls, "test");
        let consumers = Consumers::start(&tasks, &urls, "test", publisher.clone());
        let world = Self { tasks, cluster, doors, publisher, consumers, urls, _guard: guard };
        let (publisher, consumers) = (world.publisher.health(), world.consumers.health());
        until("both are connected", async || publisher.is_up() && consumers.is_up()).await;
        world
    }

    /// Makes new clients until both are at a node that will do. Where they start is chance.
    pub(crate) async fn move_to(&mut self, will_do: impl Fn(usize) -> bool) {
        loop {
            let publisher = Publisher::start(&self.tasks, &self.urls, "test");
            if will_do(self.newest_at(&publisher.health()).await) {
                self.publisher = publisher;
                break;
            }
        }
        loop {
            let dead_letters = self.publisher.clone();
            let consumers = Consumers::start(&self.tasks, &self.urls, "test", dead_letters);
            if will_do(self.newest_at(&consumers.health()).await) {
                self.consumers = consumers;
                break;
            }
        }
    }

    /// Which node the client that is connecting comes to.
    async fn newest_at(&self, health: &Health) -> usize {
        let before: Vec<usize> = self.doors.iter().map(Door::ever).collect();
        until("it is connected", async || health.is_up()).await;
        let node = self.doors.iter().zip(before).position(|(door, before)| door.ever() > before);
        node.expect("it came by a door")
    }

    /// Makes an empty queue.
    pub(crate) async fn queue(&self, name: &str, arguments: &[(&str, AMQPValue)]) -> String {
        self.delete_queue(name).await;
        let mut table = FieldTable::default();
        for (argument, value) in arguments {
            table.insert((*argument).into(), value.clone());
        }
        let (_connection, channel) = self.channel().await;
        channel.queue_declare(name.into(), QueueDeclareOptions::durable(), table).await.unwrap();
        name.to_owned()
    }

    pub(crate) async fn quorum_queue(&self, name: &str) -> String {
        self.queue(name, &[("x-queue-type", AMQPValue::LongString("quorum".into()))]).await
    }

    pub(crate) async fn delete_queue(&self, name: &str) {
        let (_connection, channel) = self.channel().await;
        channel.queue_delete(name.into(), QueueDeleteOptions::default()).await.unwrap();
    }

    pub(crate) async fn try_send(&self, queue: &str, body: &str) -> Result<(), PublishError> {
        self.publisher.publish(Outgoing::to_queue(queue.to_owned(), body.into())).await
    }

    pub(crate) async fn send(&self, queue: &str, body: &str) {
        self.try_send(queue, body).await.unwrap();
    }

    /// Takes the next message out of a queue, if there is one.
    pub(crate) async fn take(&self, queue: &str) -> Option<(String, BasicProperties)> {
        let (_connection, channel) = self.channel().await;
        let got = channel.basic_get(queue.into(), BasicGetOptions::default()).await.unwrap()?;
        got.delivery.ack(BasicAckOptions::default()).await.unwrap();
        Some((String::from_utf8(got.delivery.data).unwrap(), got.delivery.properties))
    }

    /// Consumes a queue in the background, passing every message on.
    pub(crate) fn consume(&self, queue: &str, stop: &CancellationToken) -> mpsc::Receiver<String> {
        let (sender, taken) = mpsc::channel(1_000);
        let (consumers, queue, stop) = (self.consumers.clone(), queue.to_owned(), stop.clone());
        self.tasks.spawn_endless("consumer", async move {
            let handler = move |body: Vec<u8>| {
                let sender = sender.clone();
                async move {
                    sender.send(String::from_utf8(body).unwrap()).await.unwrap();
                    Verdict::Taken
                }
            };
            consumers.consume(queue, stop.clone(), handler).await;
            assert!(stop.is_cancelled(), "it ends for no other reason");
            std::future::pending().await
        });
        taken
    }

    /// A channel of the test's own, past the doors.
    async fn channel(&self) -> (Connection, Channel) {
        let url = self.cluster.node(0).amqp_url();
        let connection = Connection::connect(&url, ConnectionProperties::default()).await.unwrap();
        let channel = connection.create_channel().await.unwrap();
        (connection, channel)
    }
}

fn lock() -> &'static RwLock<()> {
    static WHOLE: RwLock<()> = RwLock::const_new(());
    &WHOLE
}

/// Waits for a condition.
pub(crate) async fn until(what: &str, mut condition: impl AsyncFnMut() -> bool) {
    let waiting = async {
        while !condition().await {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting)
        .await
        .unwrap_or_else(|_| panic!("{what}: not within {PATIENCE:?}"));
}
