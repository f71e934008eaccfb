//! A block works both ways and at once.

use proto::{TicketState, UserId};
use store::{Rules, Settlement};

use crate::world::{World, matched, user};

crate::on_every_backend!(
    blocking:
    a_block_is_refused_both_ways,
    a_block_answers_with_the_waiting_ticket,
    a_new_ticket_avoids_whom_its_user_blocked,
    a_repeated_batch_avoids_them_too,
    blocks_and_partners_are_avoided_together,
    a_block_taken_back_is_no_more,
    blocking_twice_is_once,
    a_match_that_was_made_stays,
    the_latest_blocks_are_carried,
);

async fn block(world: &World, who: &str, whom: &str) -> Option<Vec<UserId>> {
    world.store.block(&user(who), &user(whom)).await.unwrap().map(|pool| pool.avoid)
}

pub async fn a_block_is_refused_both_ways(world: &World) {
    let (ana, bo) = (world.press_match("ana", &["a"]).await, world.press_match("bo", &["a"]).await);
    let cy = world.press_match("cy", &["a"]).await;
    block(world, "ana", "bo").await;
    let batch = [world.propose(ana.id, bo.id), world.propose(bo.id, ana.id)];
    let answers = world.store.settle(&batch).await.unwrap();
    assert_eq!(answers, [Settlement::Blocked, Settlement::Blocked]);
    assert_eq!(world.state(ana.id).await, TicketState::Waiting);
    assert!(matched(&world.settle_one(ana.id, cy.id).await), "others are still to be met");
}

pub async fn a_block_answers_with_the_waiting_ticket(world: &World) {
    assert_eq!(world.store.block(&user("ana"), &user("bo")).await.unwrap(), None);
    let ana = world.press_match("ana", &["Jazz"]).await;
    let pool = world.store.block(&user("ana"), &user("cy")).await.unwrap().expect("she waits");
    assert_eq!((pool.id, &pool.user, &pool.interests), (ana.id, &user("ana"), &ana.interests));
    assert_eq!((pool.created_at, pool.expires_at), (ana.created_at, ana.expires_at));
    let mut avoid = pool.avoid;
    avoid.sort();
    assert_eq!(avoid, [user("bo"), user("cy")]);
    assert_eq!(block(world, "bo", "ana").await, None, "nothing of bo's waits");
}

pub async fn a_new_ticket_avoids_whom_its_user_blocked(world: &World) {
    block(world, "ana", "bo").await;
    assert_eq!(world.pool(world.wish("ana", "kr.seoul", &["a"])).await.avoid, [user("bo")]);
    let of_bo = world.pool(world.wish("bo", "kr.seoul", &["a"])).await;
    assert_eq!(of_bo.avoid, [], "who blocked a user is not told to them; pairing looks both ways");
}

pub async fn a_repeated_batch_avoids_them_too(world: &World) {
    block(world, "ana", "bo").await;
    let wish = world.wish("ana", "kr.seoul", &["a"]);
    let first = world.pool(wish.clone()).await;
    assert_eq!(world.pool(wish).await, first);
}

pub async fn blocks_and_partners_are_avoided_together(world: &World) {
    let (ana, bo) = (world.press_match("ana", &["a"]).await, world.press_match("bo", &["a"]).await);
    world.settle_one(ana.id, bo.id).await;
    block(world, "ana", "cy").await;
    let ana = world.press_match("ana", &["a"]).await;
    let mut avoid = world.store.pool_tickets(&[ana.id]).await.unwrap().remove(0).avoid;
    avoid.sort();
    assert_eq!(avoid, [user("bo"), user("cy")]);
}

pub async fn a_block_taken_back_is_no_more(world: &World) {
    let (ana, bo) = (world.press_match("ana", &["a"]).await, world.press_match("bo", &["a"]).await);
    block(world, "ana", "bo").await;
    world.store.unblock(&user("bo"), &user("ana")).await.unwrap();
    assert_eq!(world.settle_one(ana.id, bo.id).await, Settlement::Blocked, "it was hers, not his");
    world.store.unblock(&user("ana"), &user("bo")).await.unwrap();
    world.store.unblock(&user("ana"), &user("bo")).await.unwrap();
    assert_eq!(world.store.pool_tickets(&[ana.id]).await.unwrap().remove(0).avoid, []);
    assert!(matched(&world.settle_one(ana.id, bo.id).await));
}

pub async fn blocking_twice_is_once(world: &World) {
    world.press_match("ana", &["a"]).await;
    assert_eq!(block(world, "ana", "bo").await.unwrap(), [user("bo")]);
    assert_eq!(block(world, "ana", "bo").await.unwrap(), [user("bo")]);
    world.store.unblock(&user("ana"), &user("bo")).await.unwrap();
    assert_eq!(block(world, "ana", "cy").await.unwrap(), [user("cy")]);
}

pub async fn a_match_that_was_made_stays(world: &World) {
    let (ana, bo) = (world.press_match("ana", &["a"]).await, world.press_match("bo", &["a"]).await);
    let proposal = world.propose(ana.id, bo.id);
    let first = world.store.settle(&[proposal]).await.unwrap();
    assert_eq!(block(world, "ana", "bo").await, None);
    assert_eq!(world.store.settle(&[proposal]).await.unwrap(), first, "a repeat finds its match");
    assert_eq!(world.state(ana.id).await, TicketState::Matched);
}

pub async fn the_latest_blocks_are_carried(world: &World) {
    let limit = Rules::MAX_AVOIDED_BLOCKS as usize;
    block(world, "ana", "the first").await;
    world.until_past(world.store.now().await.unwrap()).await;
    for n in 0..limit {
        block(world, "ana", &format!("u{n}")).await;
    }
    let (ana, first) = (world.wish("ana", "kr.seoul", &["a"]), world.press_match("the first", &["a"]).await);
    let avoid = world.pool(ana.clone()).await.avoid;
    assert_eq!(avoid.len(), limit);
    assert!(!avoid.contains(&user("the first")));
    assert_eq!(world.settle_one(ana.id, first.id).await, Settlement::Blocked, "it counts all the same");
}
