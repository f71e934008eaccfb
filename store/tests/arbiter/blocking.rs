//! A block that lands while the two are being matched: before it returns they may be, afterwards never.

use std::pin::pin;

use proto::{MatchId, TicketState};
use sqlx::Executor;
use store::{Settlement, Store};
use uuid::Uuid;

use crate::servers::Servers;
use crate::world::{matched, user};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_after_the_decision_waits_for_the_match() {
    let servers = Servers::start().await;
    let [ana, bo] = servers.press_match(["ana", "bo"]).await;
    let proposal = servers.propose(ana, bo);
    // The settlement has read that there is no block, and waits before it writes.
    let mut obstacle = servers.connect().await;
    obstacle.execute("BEGIN").await.unwrap();
    sqlx::query("INSERT INTO matches (id, earlier, later, made_at, similarity, region, shared) VALUES ($1, $2, $3, 0, 0, '', '')")
        .bind(Uuid::from_u128(proposal.match_id.as_u128()))
        .bind(Uuid::from_u128(ana.as_u128()))
        .bind(Uuid::from_u128(bo.as_u128()))
        .execute(&mut obstacle)
        .await
        .unwrap();
    let batch = [proposal];
    let (ana_user, bo_user) = (user("ana"), user("bo"));
    let mut settling = pin!(servers.one.settle(&batch));
    let mut blocking = pin!(servers.two.block(&ana_user, &bo_user));
    tokio::select! {
        outcome = &mut settling => panic!("settled past the obstacle: {outcome:?}"),
        () = servers.until_locked_out("INSERT INTO matches") => {}
    }
    tokio::select! {
        outcome = &mut blocking => panic!("returned before the settlement was done: {outcome:?}"),
        () = servers.until_locked_out("user_id = ANY") => {}
    }
    obstacle.execute("ROLLBACK").await.unwrap();
    let (settled, blocked) = tokio::join!(settling, blocking);
    assert!(matched(&settled.unwrap()[0]), "it was decided before the block");
    assert_eq!(blocked.unwrap(), None, "nothing of hers waits any more");
    never_again(&servers, proposal.match_id).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_block_before_the_decision_prevents_the_match() {
    let servers = Servers::start().await;
    let [ana, bo] = servers.press_match(["ana", "bo"]).await;
    // The settlement waits for its tickets, and the block is committed meanwhile.
    let mut obstacle = servers.connect().await;
    obstacle.execute("BEGIN; SELECT id FROM tickets ORDER BY id FOR UPDATE").await.unwrap();
    let batch = [servers.propose(ana, bo)];
    let (ana_user, bo_user) = (user("ana"), user("bo"));
    let mut settling = pin!(servers.one.settle(&batch));
    let mut blocking = pin!(servers.two.block(&bo_user, &ana_user));
    tokio::select! {
        outcome = &mut settling => panic!("settled past the obstacle: {outcome:?}"),
        () = servers.until_locked_out("id = ANY") => {}
    }
    tokio::select! {
        outcome = &mut blocking => panic!("returned while the tickets were locked: {outcome:?}"),
        () = servers.until_locked_out("user_id = ANY") => {}
    }
    servers.until_counted("SELECT count(*) FROM blocks").await;
    obstacle.execute("ROLLBACK").await.unwrap();
    let (settled, blocked) = tokio::join!(settling, blocking);
    assert_eq!(settled.unwrap(), [Settlement::Blocked]);
    let pool = blocked.unwrap().expect("bo still waits");
    assert_eq!((pool.id, pool.avoid), (bo, vec![user("ana")]));
    assert_eq!(servers.ticket(ana).await.state, TicketState::Waiting);
}

/// The two press again, and are refused on both servers.
async fn never_again(servers: &Servers, before: MatchId) {
    let [ana, bo] = servers.press_match(["ana", "bo"]).await;
    for server in [&servers.one, &servers.two] {
        let proposal = servers.propose(bo, ana);
        assert_eq!(server.settle(&[proposal]).await.unwrap(), [Settlement::Blocked]);
        let matches = server.matches(&user("ana"), None, 10).await.unwrap();
        assert_eq!(matches.iter().map(|made| made.id).collect::<Vec<_>>(), [before]);
    }
}
