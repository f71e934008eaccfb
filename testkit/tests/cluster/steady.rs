//! Nothing breaks: the ledger balances however many matching servers there are, and while they come and go.

use std::time::Duration;

use testkit::until;

use crate::ledger::Load;
use crate::world::Cluster;

const LOAD: Load = Load { users: 1_200, seconds: 10 };

async fn balances_with(servers: usize) {
    let cluster = Cluster::start(2, servers).await;
    let ledger = cluster.play(LOAD).await.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn one_matching_server() {
    balances_with(1).await;
}

#[tokio::test]
async fn two_matching_servers() {
    balances_with(2).await;
}

#[tokio::test]
async fn four_matching_servers() {
    balances_with(4).await;
}

#[tokio::test]
async fn from_one_to_three_matching_servers_and_back_under_load() {
    let mut cluster = Cluster::start(2, 1).await;
    let playing = cluster.play(Load { users: 2_000, seconds: 25 }).await;
    cluster.add_matching(2).await;
    cluster.drain_matching().await;
    cluster.until_balanced(2).await;
    cluster.drain_matching().await;
    cluster.until_balanced(1).await;
    let ledger = playing.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn messages_are_acknowledged_once_and_matches_are_announced() {
    let cluster = Cluster::start(2, 2).await;
    let ledger = cluster.play(Load { users: 400, seconds: 4 }).await.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    let deadline = Duration::from_secs(30);
    let announced = async || {
        let announced = cluster.matching_metric("dovetail_matches_announced_total").await;
        Ok(announced >= cluster.matching_metric("dovetail_matches_total").await)
    };
    until("every match is announced", deadline, announced).await.unwrap();
    let drained = async || {
        let depths = cluster.stack.rabbit.queue_depths().await?;
        let shards = depths.iter().filter(|(queue, _)| queue.starts_with("tickets.shard."));
        Ok(shards.clone().count() == 12
            && shards.into_iter().all(|(_, depth)| depth.ready + depth.unacknowledged == 0))
    };
    until("the queues are empty", deadline, drained).await.unwrap();
    cluster.stop().await;
}
