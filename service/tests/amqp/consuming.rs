//! What becomes of messages in a queue.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use lapin::types::AMQPValue;
use proto::topology::{DEAD_QUEUE, DEAD_QUEUE_HEADER, DEAD_REASON_HEADER};
use service::amqp::Verdict;
use tokio::sync::{Semaphore, mpsc};
use tokio_util::sync::CancellationToken;

use crate::world::{PATIENCE, World, until};

#[tokio::test]
async fn an_undecodable_message_moves_alone() {
    let world = World::start().await;
    let queue = world.quorum_queue("test.poison").await;
    while world.take(DEAD_QUEUE).await.is_some() {}
    for body in ["one", "poison", "two", "three"] {
        world.send(&queue, body).await;
    }
    let (sender, mut taken) = mpsc::channel(10);
    let handler = move |body: Vec<u8>| {
        let sender = sender.clone();
        async move {
            let body = String::from_utf8(body).unwrap();
            if body == "poison" {
                return Verdict::Undecodable("a skull on the label".to_owned());
            }
            sender.send(body).await.unwrap();
            Verdict::Taken
        }
    };
    let stop = CancellationToken::new();
    let consumer = world.consumers.consume(queue.clone(), stop.clone(), handler);
    let check = async {
        let mut dead = None;
        until("the message is among the dead", async || {
            dead = world.take(DEAD_QUEUE).await;
            dead.is_some()
        })
        .await;
        let (body, properties) = dead.unwrap();
        assert_eq!(body, "poison", "as it was");
        let headers = properties.headers().clone().unwrap();
        for (name, text) in [(DEAD_REASON_HEADER, "a skull on the label"), (DEAD_QUEUE_HEADER, "test.poison")]
        {
            assert_eq!(headers.inner().get(name), Some(&AMQPValue::LongString(text.into())), "{name}");
        }
        for body in ["one", "two", "three"] {
            assert_eq!(taken.recv().await.as_deref(), Some(body));
        }
        stop.cancel();
    };
    tokio::join!(consumer, check);
    assert_eq!(world.take(&queue).await, None, "all were acknowledged");
    assert_eq!(world.take(DEAD_QUEUE).await, None, "only one was moved");
}

#[tokio::test]
async fn stopping_finishes_what_is_under_way() {
    let world = World::start().await;
    let queue = world.quorum_queue("test.stopping").await;
    for body in ["one", "two"] {
        world.send(&queue, body).await;
    }
    let (begun, gate) = (Arc::new(AtomicUsize::new(0)), Arc::new(Semaphore::new(0)));
    let handler = |_| async {
        begun.fetch_add(1, Ordering::SeqCst);
        gate.acquire().await.unwrap().forget();
        Verdict::Taken
    };
    let stop = CancellationToken::new();
    let stopping = async {
        until("both are under way at once", async || begun.load(Ordering::SeqCst) == 2).await;
        stop.cancel();
        gate.add_permits(2);
    };
    tokio::join!(world.consumers.consume(queue.clone(), stop.clone(), handler), stopping);
    assert_eq!(world.take(&queue).await, None, "both were acknowledged");
}

#[tokio::test]
async fn what_is_not_finished_comes_again() {
    let world = World::start().await;
    let queue = world.quorum_queue("test.again").await;
    world.send(&queue, "one").await;
    let begun = AtomicUsize::new(0);
    let handler = |_| async {
        begun.fetch_add(1, Ordering::SeqCst);
        std::future::pending().await
    };
    let consumer = world.consumers.consume(queue.clone(), CancellationToken::new(), handler);
    tokio::select! {
        () = consumer => unreachable!("it was not stopped"),
        () = until("it is under way", async || begun.load(Ordering::SeqCst) == 1) => {}
    }
    let stop = CancellationToken::new();
    let mut taken = world.consume(&queue, &stop);
    assert_eq!(taken.recv().await.as_deref(), Some("one"));
}

#[tokio::test]
async fn a_queue_that_was_deleted_is_made_anew() {
    let world = World::start().await;
    let queue = world.quorum_queue("test.deleted").await;
    let mut taken = world.consume(&queue, &CancellationToken::new());
    world.send(&queue, "before").await;
    assert_eq!(taken.recv().await.as_deref(), Some("before"));
    world.delete_queue(&queue).await;
    until("it is there again", async || world.try_send(&queue, "after").await.is_ok()).await;
    assert_eq!(taken.recv().await.as_deref(), Some("after"));
}

#[tokio::test]
async fn a_queue_of_another_kind_is_consumed_once_it_is_gone() {
    let world = World::start().await;
    let queue = world.queue("test.other-kind", &[]).await;
    world.send(&queue, "old").await;
    let stop = CancellationToken::new();
    let mut taken = world.consume(&queue, &stop);
    // Another consumer on the same connection is not harmed by the refusals.
    let beside = world.quorum_queue("test.beside-other-kind").await;
    let mut taken_beside = world.consume(&beside, &stop);
    world.send(&beside, "one").await;
    assert_eq!(taken_beside.recv().await.as_deref(), Some("one"));
    assert!(taken.try_recv().is_err(), "it is not consumed as it is");
    world.delete_queue(&queue).await;
    until("it is there again", async || world.try_send(&queue, "new").await.is_ok()).await;
    assert_eq!(taken.recv().await.as_deref(), Some("new"));
}

#[tokio::test]
async fn a_consumer_that_the_broker_has_forgotten_is_started_anew() {
    let world = World::start().await;
    let queue = world.quorum_queue("test.forgotten").await;
    let mut taken = world.consume(&queue, &CancellationToken::new());
    world.send(&queue, "before").await;
    assert_eq!(taken.recv().await.as_deref(), Some("before"));
    // The queue's members agree that it has no consumer, and nobody tells the client's channel.
    let forget = format!(
        r#"
        {{ok, Q}} = rabbit_amqqueue:lookup(rabbit_misc:r(<<"/">>, queue, <<"{queue}">>)),
        Leader = amqqueue:get_pid(Q),
        {{ok, {{_, Consumers}}, _}} = ra:local_query(Leader, fun rabbit_fifo:query_consumers/1),
        [{{ok, _, _}} = ra:process_command(Leader, rabbit_fifo:make_checkout(Id, cancel, #{{}}))
            || Id <- maps:keys(Consumers)],
        io:format("~b", [maps:size(Consumers)])
        "#
    );
    let node = world.cluster.leader_of(&queue).await.unwrap();
    assert_eq!(world.cluster.node(node).evaluate(&forget).await.unwrap().trim(), "1");
    world.send(&queue, "after").await;
    let after = tokio::time::timeout(PATIENCE, taken.recv()).await.expect("it is consumed again");
    assert_eq!(after.as_deref(), Some("after"));
}
