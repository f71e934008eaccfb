//! Redis whispers: without it, or cut from one side, people learn a second later and no more.

use std::time::Duration;

use testkit::Proxy;

use crate::ledger::Load;
use crate::world::{Cluster, Detour};

const LOAD: Load = Load { users: 800, seconds: 8 };
/// The patience of the policy, its reach, the second that a lost whisper costs, and what a busy machine with debug builds adds.
const LONGEST_WAIT: Duration = Duration::from_secs(12);

#[tokio::test]
async fn it_is_killed_and_comes_back() {
    let cluster = Cluster::start(2, 2).await;
    let playing = cluster.play(LOAD).await;
    cluster.stack.redis.kill().await.unwrap();
    let ledger = playing.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    assert!(ledger.longest_wait() < LONGEST_WAIT, "{:?}", ledger.longest_wait());
    cluster.stack.redis.restart().await.unwrap();
    let ledger = cluster.play(LOAD).await.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn one_side_does_not_hear_it() {
    let mut cluster = Cluster::start(1, 2).await;
    let proxy = Proxy::start(cluster.stack.redis.port()).await.unwrap();
    let redis = Some(format!("redis://127.0.0.1:{}", proxy.port()));
    cluster.add_main(&Detour { redis }).await;
    let playing = cluster.play(LOAD).await;
    // Connections stay open and nothing arrives: the worst way to be cut.
    proxy.silence(testkit::Direction::ToClient);
    let ledger = playing.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    assert!(ledger.longest_wait() < LONGEST_WAIT, "{:?}", ledger.longest_wait());
    cluster.stop().await;
}
