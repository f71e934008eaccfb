//! RabbitMQ: a node dies, all of it is away, or it blocks publishers.

use std::time::Duration;

use testkit::until;

use crate::ledger::Load;
use crate::world::Cluster;

/// The shard of `kr.seoul`, where a quarter of all people are.
const BUSY_QUEUE: &str = "tickets.shard.06";

#[tokio::test]
async fn the_node_that_leads_a_busy_shard_is_killed() {
    let cluster = Cluster::start(2, 2).await;
    let playing = cluster.play(Load { users: 1_500, seconds: 20 }).await;
    let leader = cluster.stack.rabbit.leader_of(BUSY_QUEUE).await.unwrap();
    cluster.stack.rabbit.node(leader).kill().await.unwrap();
    let another_leads = async || Ok(cluster.stack.rabbit.leader_of(BUSY_QUEUE).await? != leader);
    until("another node leads", Duration::from_secs(60), another_leads).await.unwrap();
    cluster.stack.rabbit.node(leader).start().await.unwrap();
    let ledger = playing.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn all_of_it_is_stopped_for_twenty_seconds() {
    let cluster = Cluster::start(2, 2).await;
    cluster.stack.rabbit.stop_all().await.unwrap();
    // Everybody presses and is matched while it is away.
    let ledger = cluster.play(Load { users: 1_500, seconds: 15 }).await.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    println!("without a broker the longest wait was {:?}", ledger.longest_wait());
    for main in &cluster.mains {
        let (status, body) = testkit::http::get(main.process.admin_port(), "/ready").await.unwrap();
        assert_eq!(status, 200, "a lost broker is no reason not to serve: {body}");
        assert!(body.contains("away"), "but it is said: {body}");
    }
    cluster.stack.rabbit.start_all().await.unwrap();
    let announced = async || {
        let announced = cluster.matching_metric("dovetail_matches_announced_total").await;
        Ok(announced >= cluster.matching_metric("dovetail_matches_total").await)
    };
    until("what was matched meanwhile is announced", Duration::from_secs(60), announced).await.unwrap();
    let ledger = cluster.play(Load { users: 400, seconds: 4 }).await.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn it_blocks_publishers() {
    let cluster = Cluster::start(2, 2).await;
    cluster.stack.rabbit.block_publishers().await.unwrap();
    let ledger = cluster.play(Load { users: 800, seconds: 8 }).await.ledger().await;
    cluster.stack.rabbit.unblock_publishers().await.unwrap();
    ledger.balance_with_all_matched(&cluster).await;
    let ledger = cluster.play(Load { users: 400, seconds: 4 }).await.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    cluster.stop().await;
}
