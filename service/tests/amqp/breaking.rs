//! What happens when nodes die, fall silent or take no more.

use std::sync::Arc;
use std::time::{Duration, Instant};

use service::amqp::{PublishError, Verdict};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use crate::door::Door;
use crate::world::{PATIENCE, World, until};

/// A publish waits 2 s at most; the rest is for a busy machine.
const SOON: Duration = Duration::from_secs(4);
/// Without a wait, which would be of 2 s; the rest is the same.
const AT_ONCE: Duration = Duration::from_secs(1);

#[tokio::test]
async fn a_node_that_dies_is_left_and_nothing_confirmed_is_lost() {
    let mut world = World::start_alone().await;
    // Everything at once: the queue's leader, the publisher and the consumer are at the node that dies.
    let queue = world.quorum_queue("test.survives").await;
    let victim = world.cluster.leader_of(&queue).await.unwrap();
    world.move_to(|node| node == victim).await;
    let mut taken = world.consume(&queue, &CancellationToken::new());
    world.send(&queue, "first").await;
    assert_eq!(taken.recv().await.as_deref(), Some("first"));
    world.cluster.node(victim).kill().await.unwrap();
    let (mut confirmed, mut n) = (Vec::new(), 0);
    until("twenty more are confirmed", async || {
        n += 1;
        if world.try_send(&queue, &n.to_string()).await.is_ok() {
            confirmed.push(n.to_string());
        }
        confirmed.len() == 20
    })
    .await;
    let all_taken = async {
        while !confirmed.is_empty() {
            let body = taken.recv().await.expect("consumed as before");
            confirmed.retain(|other| *other != body);
        }
    };
    tokio::time::timeout(PATIENCE, all_taken).await.expect("what was confirmed is consumed");
    world.cluster.start_all().await.unwrap();
}

#[tokio::test]
async fn an_absent_broker_is_an_error_at_once_and_comes_back_by_itself() {
    let world = World::start_alone().await;
    let queue = world.quorum_queue("test.absent").await;
    let mut taken = world.consume(&queue, &CancellationToken::new());
    world.send(&queue, "before").await;
    assert_eq!(taken.recv().await.as_deref(), Some("before"));
    world.cluster.stop_all().await.unwrap();
    let asked = Instant::now();
    assert!(world.try_send(&queue, "lost").await.is_err());
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    until("nothing is tried any more", async || {
        matches!(world.try_send(&queue, "lost").await, Err(PublishError::Away))
    })
    .await;
    let asked = Instant::now();
    assert!(matches!(world.try_send(&queue, "lost").await, Err(PublishError::Away)));
    assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
    for health in [world.publisher.health(), world.consumers.health()] {
        until("it says so", async || !health.is_up()).await;
        assert!(health.to_string().contains("away for"), "{health}");
    }
    world.cluster.start_all().await.unwrap();
    until("it publishes again", async || world.try_send(&queue, "after").await.is_ok()).await;
    // What was taken in the last moments before the end was not acknowledged yet, and comes again.
    let mut next = taken.recv().await;
    while next.as_deref() == Some("before") {
        next = taken.recv().await;
    }
    assert_eq!(next.as_deref(), Some("after"));
    for health in [world.publisher.health(), world.consumers.health()] {
        until("it says so", async || health.to_string() == "ok").await;
    }
}

#[tokio::test]
async fn a_blocked_publisher_is_told_and_consumers_go_on() {
    let world = World::start_alone().await;
    let queue = world.quorum_queue("test.blocked").await;
    for body in ["one", "two", "three"] {
        world.send(&queue, body).await;
    }
    let gate = Arc::new(Semaphore::new(0));
    let handler = |_| async {
        gate.acquire().await.unwrap().forget();
        Verdict::Taken
    };
    let stop = CancellationToken::new();
    let blocked = async {
        world.cluster.block_publishers().await.unwrap();
        let asked = Instant::now();
        let outcome = world.try_send(&queue, "too much").await;
        assert!(matches!(outcome, Err(PublishError::Blocked)), "{outcome:?}");
        assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
        let asked = Instant::now();
        assert!(matches!(world.try_send(&queue, "too much").await, Err(PublishError::Blocked)));
        assert!(asked.elapsed() < AT_ONCE, "{:?}", asked.elapsed());
        let health = world.publisher.health();
        until("it says so", async || health.to_string().contains("short of memory")).await;
        gate.add_permits(100);
        until("what is there is consumed and acknowledged", async || {
            let depth = world.cluster.queue_depths().await.unwrap()[&queue];
            depth.ready + depth.unacknowledged == 0
        })
        .await;
        assert!(world.consumers.health().is_up());
        let connections: usize = world.doors.iter().map(Door::ever).sum();
        world.cluster.unblock_publishers().await.unwrap();
        until("it publishes again", async || world.try_send(&queue, "after").await.is_ok()).await;
        assert_eq!(world.doors.iter().map(Door::ever).sum::<usize>(), connections, "by the same connection");
        stop.cancel();
    };
    tokio::join!(world.consumers.consume(queue.clone(), stop.clone(), handler), blocked);
}

#[tokio::test]
async fn a_silent_node_is_left_for_another() {
    let mut world = World::start_alone().await;
    let queue = world.quorum_queue("test.silent").await;
    // Not the queue's leader, or no other node could confirm either.
    let leader = world.cluster.leader_of(&queue).await.unwrap();
    let silent = (leader + 1) % 3;
    world.move_to(|node| node == silent).await;
    let mut taken = world.consume(&queue, &CancellationToken::new());
    world.send(&queue, "before").await;
    assert_eq!(taken.recv().await.as_deref(), Some("before"));
    world.cluster.node(silent).pause().unwrap();
    let asked = Instant::now();
    let outcome = world.try_send(&queue, "unheard").await;
    assert!(matches!(outcome, Err(PublishError::Unconfirmed)), "{outcome:?}");
    assert!(asked.elapsed() < SOON, "{:?}", asked.elapsed());
    until("it publishes by another node", async || world.try_send(&queue, "after").await.is_ok()).await;
    // The consumer moves once it misses heartbeats. The queue goes on handing every other message to the consumer that it
    // knows of at the silent node, for as long as it believes in that node: about a minute.
    until("consumed by another node too", async || {
        world.try_send(&queue, "after").await.is_ok() && taken.try_recv().is_ok()
    })
    .await;
    world.cluster.node(silent).resume().unwrap();
}
