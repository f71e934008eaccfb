//! What counts as published.

use futures::future::join_all;
use lapin::types::AMQPValue;
use proto::topology::MATCHES_EXCHANGE;
use service::amqp::{Outgoing, PublishError};

use crate::world::World;

#[tokio::test]
async fn a_published_message_is_in_the_queue() {
    let world = World::start().await;
    let queue = world.quorum_queue("test.published").await;
    let mut message = Outgoing::to_queue(queue.clone(), b"hello".to_vec());
    message.headers.push(("colour", "green".to_owned()));
    world.publisher.publish(message).await.unwrap();
    let (body, properties) = world.take(&queue).await.expect("it is there once it is confirmed");
    assert_eq!(body, "hello");
    assert_eq!(*properties.delivery_mode(), Some(2), "it is kept on disk");
    assert!(properties.message_id().is_some());
    let colour = properties.headers().as_ref().unwrap().inner().get("colour").cloned();
    assert_eq!(colour, Some(AMQPValue::LongString("green".into())));
    assert!(world.publisher.health().is_up());
}

#[tokio::test]
async fn exactly_the_messages_that_no_queue_takes_are_errors() {
    let world = World::start().await;
    let queue = world.quorum_queue("test.routed").await;
    let publishes = (0..200).map(|n| {
        let to = if n % 3 == 0 { "test.nowhere".to_owned() } else { queue.clone() };
        world.publisher.publish(Outgoing::to_queue(to, n.to_string().into()))
    });
    for (n, outcome) in join_all(publishes).await.into_iter().enumerate() {
        match outcome {
            Err(PublishError::Unroutable) => assert_eq!(n % 3, 0, "message {n} has a queue"),
            outcome => assert!(outcome.is_ok() && n % 3 != 0, "message {n}: {outcome:?}"),
        }
    }
}

#[tokio::test]
async fn nobody_need_listen_to_matches() {
    let world = World::start().await;
    world.publisher.publish(Outgoing::to_all(MATCHES_EXCHANGE, b"a match".to_vec())).await.unwrap();
}

#[tokio::test]
async fn a_full_queue_refuses() {
    let world = World::start().await;
    let full = [
        ("x-max-length", AMQPValue::LongInt(1)),
        ("x-overflow", AMQPValue::LongString("reject-publish".into())),
    ];
    let queue = world.queue("test.full", &full).await;
    world.send(&queue, "fits").await;
    let outcome = world.publisher.publish(Outgoing::to_queue(queue, b"does not".to_vec())).await;
    assert!(matches!(outcome, Err(PublishError::Refused)), "{outcome:?}");
}

#[tokio::test]
async fn an_exchange_that_is_not_there_spoils_nothing_else() {
    let world = World::start().await;
    let queue = world.quorum_queue("test.beside").await;
    let outcome = world.publisher.publish(Outgoing::to_all("test.no-exchange", b"x".to_vec())).await;
    assert!(matches!(outcome, Err(PublishError::Broken(_))), "{outcome:?}");
    world.send(&queue, "goes on").await;
}
