//! Wake-ups over a real Redis, present, gone and silent.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

use std::time::{Duration, Instant};

use proto::TicketId;
use service::health::Health;
use service::lifecycle::Tasks;
use service::wakeups::{RedisUrl, start_listening, start_telling};
use testkit::{Place, Redis};
use tokio::sync::mpsc;

/// Far more than anything here takes, on a busy machine too.
const PATIENCE: Duration = Duration::from_secs(30);
/// Within this a silent Redis is noticed: 2.5 s, and some for a busy machine.
const NOTICED: Duration = Duration::from_secs(5);

/// Two processes and the Redis between them.
struct World {
    redis: Redis,
    tell: mpsc::Sender<Vec<TicketId>>,
    heard: mpsc::Receiver<Vec<TicketId>>,
    telling: Health,
    listening: Health,
    _tasks: Tasks,
}

impl World {
    async fn start() -> Self {
        let redis = Redis::start(&Place::Temporary, None).await.unwrap();
        let url: RedisUrl = redis.url().parse().unwrap();
        let tasks = Tasks::new();
        let (tell, telling) = start_telling(&tasks, &url);
        let (hear, heard) = mpsc::channel(8);
        let listening = start_listening(&tasks, &url, hear);
        let world = Self { redis, tell, heard, telling, listening, _tasks: tasks };
        world.until_up().await;
        world
    }

    async fn until_up(&self) {
        until("both are connected", || self.telling.is_up() && self.listening.is_up()).await;
    }

    async fn until_away(&self) {
        until("both say that it is away", || !self.telling.is_up() && !self.listening.is_up()).await;
    }

    async fn tell_and_hear(&mut self, tickets: std::ops::Range<u128>) {
        let tickets: Vec<TicketId> = tickets.map(TicketId::from_u128).collect();
        self.tell.send(tickets.clone()).await.unwrap();
        let heard = tokio::time::timeout(PATIENCE, self.heard.recv()).await.expect("something is heard");
        assert_eq!(heard.unwrap(), tickets);
    }
}

async fn until(what: &str, condition: impl Fn() -> bool) {
    testkit::until(what, PATIENCE, async || Ok(condition())).await.unwrap();
}

#[tokio::test]
async fn what_is_told_is_heard() {
    let mut world = World::start().await;
    world.tell_and_hear(0..1).await;
    world.tell_and_hear(10..2_000).await;
    assert_eq!(world.telling.to_string(), "ok");
}

#[tokio::test]
async fn what_waits_is_told_together() {
    let mut world = World::start().await;
    let ids: Vec<TicketId> = (0..50).map(TicketId::from_u128).collect();
    for id in &ids {
        // One after the other without a pause: the teller runs only once this waits.
        world.tell.try_send(vec![*id]).unwrap();
    }
    let (mut heard, mut words) = (Vec::new(), 0);
    while heard.len() < ids.len() {
        heard.extend(tokio::time::timeout(PATIENCE, world.heard.recv()).await.unwrap().unwrap());
        words += 1;
    }
    assert_eq!((heard, words), (ids, 1));
}

#[tokio::test]
async fn redis_dies_and_comes_back() {
    let mut world = World::start().await;
    world.redis.kill().await.unwrap();
    world.until_away().await;
    assert!(world.telling.to_string().starts_with("away for"), "{}", world.telling);
    // Whoever tells is not held up, however much there is: it is dropped.
    for id in 0..1_000 {
        world.tell.send(vec![TicketId::from_u128(id)]).await.unwrap();
    }
    world.redis.restart().await.unwrap();
    world.until_up().await;
    world.tell_and_hear(5_000..5_001).await;
}

#[tokio::test]
async fn a_silent_redis_is_noticed_on_both_sides() {
    let mut world = World::start().await;
    world.redis.pause().unwrap();
    let since = Instant::now();
    world.until_away().await;
    assert!(since.elapsed() < NOTICED, "{:?}", since.elapsed());
    world.redis.resume().unwrap();
    world.until_up().await;
    world.tell_and_hear(0..3).await;
}

#[tokio::test]
async fn other_words_are_ignored() {
    let mut world = World::start().await;
    let client = redis::Client::open(world.redis.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    for word in ["", "nonsense", r#"{"kind":"hint","version":1,"body":{}}"#] {
        let listeners: usize = redis::cmd("PUBLISH")
            .arg("dovetail.wakeups")
            .arg(word)
            .query_async(&mut connection)
            .await
            .unwrap();
        assert_eq!(listeners, 1, "it was heard");
    }
    world.tell_and_hear(7..8).await;
    assert!(world.listening.is_up());
}

#[tokio::test]
async fn a_listener_that_falls_behind_holds_nobody_up() {
    let mut world = World::start().await;
    let client = redis::Client::open(world.redis.url()).unwrap();
    let mut connection = client.get_multiplexed_async_connection().await.unwrap();
    let word = proto::encode(&proto::Wakeup { tickets: vec![TicketId::from_u128(1)] });
    for _ in 0..100 {
        let publish = redis::cmd("PUBLISH").arg("dovetail.wakeups").arg(&word).to_owned();
        publish.exec_async(&mut connection).await.unwrap();
    }
    until("there is room for no more", || world.heard.len() == 8).await;
    // Some of the words may still be on their way.
    let last = vec![TicketId::from_u128(2)];
    let hears_again = async {
        loop {
            world.tell.send(last.clone()).await.unwrap();
            if world.heard.recv().await.unwrap() == last {
                break;
            }
        }
    };
    tokio::time::timeout(PATIENCE, hears_again).await.expect("it hears what comes later");
}
