//! RabbitMQ keeps what it confirmed while two of its three nodes run.

use std::path::PathBuf;

use lapin::options::{BasicGetOptions, BasicPublishOptions, ConfirmSelectOptions};
use lapin::{BasicProperties, Channel, Confirmation, Connection, ConnectionProperties};
use testkit::{Depth, Place, RabbitCluster, until};

use crate::PATIENCE;

/// The queue of the definitions below.
const QUEUE: &str = "kept";

const DEFINITIONS: &str = r#"{
    "vhosts": [{"name": "/"}],
    "queues": [{"name": "kept", "vhost": "/", "durable": true, "auto_delete": false,
        "arguments": {"x-queue-type": "quorum"}}]
}"#;

fn definitions_file() -> PathBuf {
    let path = std::env::temp_dir().join(format!("testkit-definitions-{}.json", std::process::id()));
    std::fs::write(&path, DEFINITIONS).unwrap();
    path
}

async fn connect(url: &str) -> (Connection, Channel) {
    let connection = Connection::connect(url, ConnectionProperties::default()).await.unwrap();
    let channel = connection.create_channel().await.unwrap();
    channel.confirm_select(ConfirmSelectOptions::default()).await.unwrap();
    (connection, channel)
}

/// Publishes a message and waits for its confirmation.
async fn publish(channel: &Channel, text: &str) {
    let options = BasicPublishOptions::default();
    let properties = BasicProperties::default().with_delivery_mode(2);
    let sent = channel.basic_publish("".into(), QUEUE.into(), options, text.as_bytes(), properties).await;
    let confirmation = sent.unwrap().await.unwrap();
    assert!(matches!(confirmation, Confirmation::Ack(None)), "{confirmation:?}");
}

/// Until the queue holds as much; a consumer that is gone has given back what it took.
async fn until_depth(rabbit: &RabbitCluster, ready: u64, unacknowledged: u64) {
    let wanted = Depth { ready, unacknowledged };
    let has = async || Ok(rabbit.queue_depths().await?.get(QUEUE) == Some(&wanted));
    until(&format!("the queue holds {wanted:?}"), PATIENCE, has).await.unwrap();
}

#[tokio::test]
async fn a_confirmed_message_outlives_the_leader_and_all_nodes() {
    let definitions = definitions_file();
    let rabbit = RabbitCluster::start(&Place::Temporary, None, Some(&definitions)).await.unwrap();
    std::fs::remove_file(definitions).unwrap();
    let leader = rabbit.leader_of(QUEUE).await.unwrap();
    let (_connection, channel) = connect(&rabbit.amqp_urls()[leader]).await;
    publish(&channel, "first").await;
    until_depth(&rabbit, 1, 0).await;

    rabbit.node(leader).kill().await.unwrap();
    let next = rabbit.leader_of(QUEUE).await.unwrap();
    assert_ne!(next, leader);
    let (connection, channel) = connect(&rabbit.amqp_urls()[next]).await;
    publish(&channel, "second").await;
    let taken = channel.basic_get(QUEUE.into(), BasicGetOptions::default()).await.unwrap().unwrap();
    assert_eq!(taken.data, b"first");
    until_depth(&rabbit, 1, 1).await;

    rabbit.node(leader).start().await.unwrap();
    let counted = rabbit.node(leader).evaluate("ok = rabbit_nodes:await_running_count(3, 60000)").await;
    counted.unwrap();

    rabbit.node(next).pause().unwrap();
    let third = 3 - leader - next;
    until("others lead", PATIENCE, async || Ok(rabbit.leader_of(QUEUE).await? != next)).await.unwrap();
    rabbit.node(third).evaluate("io:format(\"here\")").await.unwrap();
    rabbit.node(next).resume().unwrap();
    // Given up: what it took is ready again.
    drop((connection, channel));
    until_depth(&rabbit, 2, 0).await;

    // Blocked, a publisher is not answered until the block is lifted.
    let (connection, channel) = connect(&rabbit.amqp_urls()[third]).await;
    rabbit.block_publishers().await.unwrap();
    let blocked = publish(&channel, "third");
    tokio::pin!(blocked);
    tokio::select! {
        () = &mut blocked => panic!("confirmed all the same"),
        told = until("the client is told", PATIENCE, async || Ok(connection.status().blocked())) => told.unwrap(),
    }
    rabbit.unblock_publishers().await.unwrap();
    blocked.await;
    until_depth(&rabbit, 3, 0).await;

    rabbit.stop_all().await.unwrap();
    rabbit.queue_depths().await.unwrap_err();
    rabbit.start_all().await.unwrap();
    until_depth(&rabbit, 3, 0).await;
}
