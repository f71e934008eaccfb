//! Postgres is the truth: without it nothing is accepted, and nothing that was accepted is lost.

use std::time::{Duration, Instant};

use testkit::until;

use crate::ledger::Load;
use crate::phone::Phone;
use crate::world::Cluster;

/// Nobody's time is over before a Postgres that was killed is back, also on a machine that is slow today.
const LONGER_THAN_THE_OUTAGE: &str = "expire_after = \"45s\"\n";

#[tokio::test]
async fn it_is_killed_under_load_and_comes_back() {
    let cluster = Cluster::start_with(LONGER_THAN_THE_OUTAGE, 2, 2).await;
    let playing = cluster.play(Load { users: 1_500, seconds: 20 }).await;
    cluster.until_waiting(1).await;
    cluster.stack.postgres.kill().await.unwrap();
    let ana = Phone { user: "ana", port: cluster.mains[0].port };
    let asked = Instant::now();
    let refused = ana.press_match("kr.nowhere", &["nothing that others like"]).await;
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.head.contains("\r\nretry-after:"), "{refused:?}");
    assert!(asked.elapsed() < Duration::from_secs(12), "it hears soon: {:?}", asked.elapsed());
    println!("refused after {:?}", asked.elapsed());
    let not_ready =
        async || Ok(testkit::http::get(cluster.mains[0].process.admin_port(), "/ready").await?.0 == 503);
    until("it is not ready", Duration::from_secs(10), not_ready).await.unwrap();
    cluster.stack.postgres.restart().await.unwrap();
    for main in &cluster.mains {
        main.process.until_ready(Duration::from_secs(10)).await.unwrap();
    }
    let ledger = playing.ledger().await;
    ledger.balance(&cluster).await;
    ledger.matched_at_least(0.95);
    println!("refused while it was away: {}", ledger.report.rejected);
    let accepted = ana.press_match("kr.nowhere", &["nothing that others like"]).await;
    assert_eq!(accepted.status, 201, "{accepted:?}");
    cluster.stop().await;
}
