//! Servers that are killed, paused, stopped, or not there.

use std::time::{Duration, Instant};

use proto::TicketState;
use testkit::until;

use crate::ledger::Load;
use crate::phone::Phone;
use crate::world::{Cluster, Detour};

const LOAD: Load = Load { users: 1_200, seconds: 15 };
/// Within which a dead server's shards are somebody else's.
const TAKEOVER: Duration = Duration::from_secs(5);

#[tokio::test]
async fn a_matching_server_is_killed_and_its_shards_move_within_five_seconds() {
    let mut cluster = Cluster::start(2, 2).await;
    let playing = cluster.play(LOAD).await;
    let killed = cluster.matching.remove(0);
    let dead = cluster.leases().await;
    killed.kill().await.unwrap();
    let since = Instant::now();
    let survivor_owns_all = async || {
        let leases = cluster.leases().await;
        Ok(leases.len() == 12 && leases.iter().all(|lease| lease.owner == leases[0].owner))
    };
    until("the shards have moved", Duration::from_secs(30), survivor_owns_all).await.unwrap();
    let took = since.elapsed();
    println!("took over {} shards after {took:?}", dead.len() / 2);
    assert!(took <= TAKEOVER, "the shards moved after {took:?}");
    let ledger = playing.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn a_matching_server_is_paused_for_longer_than_its_leases() {
    let cluster = Cluster::start(2, 2).await;
    let playing = cluster.play(LOAD).await;
    cluster.matching[0].pause().unwrap();
    cluster.until_balanced(1).await;
    // It wakes up with pools that belong to another by now, and proposes from them.
    cluster.matching[0].resume().unwrap();
    cluster.until_balanced(2).await;
    let ledger = playing.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn an_api_server_is_killed_and_its_phones_read_elsewhere() {
    let mut cluster = Cluster::start(2, 2).await;
    let playing = cluster.play(LOAD).await;
    cluster.mains[0].process.kill().await.unwrap();
    // Where it was, after a while, as a supervisor would.
    let killed = cluster.mains.remove(0);
    cluster.until_waiting(1).await;
    killed.process.restart().unwrap();
    killed.process.until_ready(Duration::from_secs(30)).await.unwrap();
    cluster.mains.push(killed);
    let ledger = playing.ledger().await;
    ledger.balance_with_all_matched(&cluster).await;
    cluster.stop().await;
}

#[tokio::test]
async fn every_server_is_replaced_under_load_one_by_one() {
    let mut cluster = Cluster::start(2, 2).await;
    let playing = cluster.play(Load { users: 1_500, seconds: 20 }).await;
    for _ in 0..2 {
        cluster.add_matching(1).await;
        let old = cluster.matching.remove(0);
        assert_eq!(old.stop(Duration::from_secs(30)).await.unwrap(), 0, "it stops cleanly");
        let old = cluster.mains.remove(0);
        assert_eq!(old.process.stop(Duration::from_secs(30)).await.unwrap(), 0, "it stops cleanly");
        // The same address: phones know no other.
        old.process.restart().unwrap();
        old.process.until_ready(Duration::from_secs(30)).await.unwrap();
        cluster.mains.push(old);
    }
    let ledger = playing.ledger().await;
    ledger.balance(&cluster).await;
    ledger.matched_at_least(0.97);
    cluster.stop().await;
}

#[tokio::test]
async fn without_matching_servers_people_wait_cancel_and_expire_on_time() {
    let mut cluster = Cluster::start(1, 0).await;
    let phone = |user| Phone { user, port: cluster.mains[0].port };
    let (ana, bo, cem) = (phone("ana"), phone("bo"), phone("cem"));
    let answer = ana.press_match("kr.seoul", &["jazz"]).await;
    assert_eq!(answer.status, 201);
    let anas = answer.ticket();
    let bos = bo.press_match("kr.seoul", &["jazz"]).await.ticket();
    assert_eq!(bo.cancel(&bos).await.ticket().state, TicketState::Cancelled);
    let expired = ana.wait_for(&anas, 25).await;
    assert_eq!(expired.state, TicketState::Expired);
    let now = store::Store::now(&*cluster.store).await.unwrap();
    let late = now.since(anas.expires_at);
    assert!(late <= Duration::from_secs(2), "it expired {late:?} after its deadline");

    // Who waits when one comes is found.
    let anas = ana.press_match("kr.seoul", &["jazz"]).await.ticket();
    let cems = cem.press_match("kr.seoul", &["jazz"]).await.ticket();
    cluster.add_matching(1).await;
    assert_eq!(ana.wait_for(&anas, 20).await.state, TicketState::Matched);
    assert_eq!(cem.wait_for(&cems, 20).await.state, TicketState::Matched);
    cluster.stop().await;
}

#[tokio::test]
async fn a_newcomer_among_api_servers_knows_every_ticket() {
    let mut cluster = Cluster::start(1, 1).await;
    let ana = Phone { user: "ana", port: cluster.mains[0].port };
    let anas = ana.press_match("kr.seoul", &["jazz"]).await.ticket();
    cluster.add_main(&Detour::default()).await;
    let elsewhere = Phone { port: cluster.mains[1].port, ..ana };
    let again = elsewhere.press_match("kr.seoul", &["jazz"]).await;
    assert_eq!((again.status, again.ticket().id), (200, anas.id));
    let bo = Phone { user: "bo", port: cluster.mains[0].port };
    bo.press_match("kr.seoul", &["jazz"]).await;
    assert_eq!(elsewhere.wait_for(&anas, 20).await.state, TicketState::Matched);
    cluster.stop().await;
}
