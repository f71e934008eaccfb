//! A ticket whose scope becomes its first label alone belongs to a second shard from then on.

use std::time::Duration;

use proto::{ShardId, TicketId, Timestamp};
use store::{Rules, WideRule};

use crate::world::{World, matched, rules, user};

crate::on_every_backend!(
    widening:
    a_ticket_joins_its_second_shard_when_it_is_due,
    it_is_in_no_second_shard_before,
    its_own_come_first,
    what_settles_leaves_both,
    a_policy_that_does_not_widen_has_no_second_shard,
);

async fn widening_after(world: &World, after: Duration) -> World {
    world.elsewhere(Rules { wide: Some(WideRule { after, labels: 1 }), ..rules() }).await
}

fn shard(region: &str) -> ShardId {
    rules().shard_of(&region.parse().unwrap())
}

async fn waiting_in(world: &World, region: &str, since: Timestamp) -> Vec<TicketId> {
    world.store.waiting_ids(shard(region), since).await.unwrap()
}

const EVER: Timestamp = Timestamp::from_millis(0);
/// A step of widening, short for a test.
const STEP: Duration = Duration::from_millis(10);

pub async fn a_ticket_joins_its_second_shard_when_it_is_due(world: &World) {
    let world = widening_after(world, STEP).await;
    let ana = world.pool(world.wish("ana", "kr.seoul.gangnam", &["a"])).await;
    // Two steps from three labels to one.
    let due = ana.created_at.plus(2 * STEP);
    world.until_past(due).await;
    assert_eq!(waiting_in(&world, "kr", EVER).await, [ana.id]);
    assert_eq!(waiting_in(&world, "kr.seoul", EVER).await, [ana.id]);
    assert_eq!(waiting_in(&world, "kr", due).await, [ana.id], "since then");
    assert_eq!(waiting_in(&world, "kr", due.plus(Duration::from_millis(1))).await, []);
    assert_eq!(world.store.waiting_by_shard().await.unwrap().len(), 1, "it is counted once");
}

pub async fn it_is_in_no_second_shard_before(world: &World) {
    let world = widening_after(world, Duration::from_secs(20)).await;
    let ana = world.pool(world.wish("ana", "kr.seoul", &["a"])).await;
    assert_eq!(waiting_in(&world, "kr", EVER).await, []);
    assert_eq!(waiting_in(&world, "kr.seoul", EVER).await, [ana.id]);
}

pub async fn its_own_come_first(world: &World) {
    let world = widening_after(world, STEP).await;
    let widened = world.pool(world.wish("ana", "kr.seoul", &["a"])).await;
    world.until_past(widened.created_at.plus(STEP)).await;
    let own = world.pool(world.wish("bo", "kr", &["a"])).await;
    assert_eq!(waiting_in(&world, "kr", EVER).await, [own.id, widened.id]);
}

pub async fn what_settles_leaves_both(world: &World) {
    let world = widening_after(world, STEP).await;
    let (ana, bo) = (world.wish("ana", "kr.seoul", &["a"]), world.wish("bo", "kr", &["a"]));
    let cy = world.wish("cy", "kr.seoul", &["a"]);
    let pools = [world.pool(ana.clone()).await, world.pool(bo.clone()).await, world.pool(cy.clone()).await];
    world.until_past(pools[2].created_at.plus(STEP)).await;
    assert!(matched(&world.settle_one(ana.id, bo.id).await));
    world.store.cancel(&user("cy"), cy.id).await.unwrap();
    assert_eq!(waiting_in(&world, "kr", EVER).await, []);
    assert_eq!(waiting_in(&world, "kr.seoul", EVER).await, []);
}

pub async fn a_policy_that_does_not_widen_has_no_second_shard(world: &World) {
    let ana = world.pool(world.wish("ana", "kr.seoul", &["a"])).await;
    world.until_past(ana.created_at.plus(STEP)).await;
    assert_eq!(waiting_in(world, "kr", EVER).await, []);
}
