//! Others are told of every match; the store knows of which they were not.

use std::time::Duration;

use proto::{MatchId, MatchMade};
use store::Settlement;

use crate::world::World;

crate::on_every_backend!(
    announcing:
    what_is_announced_is_what_was_settled,
    the_oldest_are_named_first_and_once,
    young_matches_are_left_to_their_settler,
    noting_again_does_nothing,
);

async fn make_match(world: &World, a: &str, b: &str) -> MatchMade {
    let a = world.accept_one(world.wish(a, "kr.seoul.mapo", &["Jazz", "tea"])).await;
    let b = world.accept_one(world.wish(b, "kr.seoul.gangnam", &["JAZZ", "go"])).await;
    let (store::Accepted::Created { ticket: a, .. }, store::Accepted::Created { ticket: b, .. }) = (a, b)
    else {
        panic!("they have tickets already")
    };
    // The later one is named first.
    match world.settle_one(b.id, a.id).await {
        Settlement::Matched { made, .. } => *made,
        other => panic!("refused: {other:?}"),
    }
}

async fn unannounced(world: &World, limit: u32) -> Vec<MatchMade> {
    world.store.unannounced_matches(Duration::ZERO, limit).await.unwrap()
}

pub async fn what_is_announced_is_what_was_settled(world: &World) {
    assert_eq!(unannounced(world, 10).await, []);
    let made = make_match(world, "ana", "bo").await;
    assert_eq!((made.region.as_str(), &*made.shared_interests), ("kr.seoul", &["Jazz".to_owned()][..]));
    assert_eq!(unannounced(world, 10).await, [made]);
}

pub async fn the_oldest_are_named_first_and_once(world: &World) {
    let mut made = Vec::new();
    for n in 0..4 {
        made.push(make_match(world, &format!("a{n}"), &format!("b{n}")).await);
        world.until_past(made[n].made_at).await;
    }
    assert_eq!(unannounced(world, 3).await, made[..3]);
    world.store.note_announced(&[made[0].id, made[2].id]).await.unwrap();
    assert_eq!(unannounced(world, 3).await, [made[1].clone(), made[3].clone()]);
}

pub async fn young_matches_are_left_to_their_settler(world: &World) {
    let made = make_match(world, "ana", "bo").await;
    let older_than = async |age| world.store.unannounced_matches(age, 10).await.unwrap();
    assert_eq!(older_than(Duration::from_secs(60)).await, []);
    world.until_past(made.made_at.plus(Duration::from_millis(20))).await;
    assert_eq!(older_than(Duration::from_millis(20)).await, [made]);
}

pub async fn noting_again_does_nothing(world: &World) {
    let made = make_match(world, "ana", "bo").await;
    for _ in 0..2 {
        world.store.note_announced(&[made.id, MatchId::from_u128(u128::MAX)]).await.unwrap();
    }
    world.store.note_announced(&[]).await.unwrap();
    assert_eq!(unannounced(world, 10).await, []);
    assert_eq!(world.ticket(made.tickets[0].id).await.r#match.unwrap().id, made.id, "it is kept");
}
