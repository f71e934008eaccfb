//! The engines of one process on a real store: what is lost, late or refused on the way.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on panics")]

mod watched_store;
mod world;

use std::time::Duration;

use proto::TicketState;

use world::World;

#[tokio::test]
async fn two_people_are_matched_and_named() {
    let mut world = World::start().await;
    let (ana, bo) = (world.commit("ana", &["jazz"]).await, world.commit("bo", &["jazz"]).await);
    world.hint(&[&ana, &bo]);
    let mut settled = world.settled().await;
    settled.sort();
    assert_eq!(settled, [ana.id, bo.id]);
    assert_eq!(world.state(&ana).await, TicketState::Matched);
    world.stop().await;
}

#[tokio::test]
async fn what_waits_already_is_read_at_the_start() {
    let mut world = World::prepare().await;
    let (ana, bo) = (world.commit("ana", &["jazz"]).await, world.commit("bo", &["jazz"]).await);
    world.start_engines();
    world.settled().await;
    assert_eq!(
        (world.state(&ana).await, world.state(&bo).await),
        (TicketState::Matched, TicketState::Matched)
    );
    world.stop().await;
}

#[tokio::test]
async fn a_hint_that_is_lost_costs_seconds() {
    let mut world = World::start().await;
    world.until_compared().await;
    let ana = world.commit("ana", &["jazz"]).await;
    world.commit("bo", &["jazz"]).await;
    world.settled().await;
    assert_eq!(world.state(&ana).await, TicketState::Matched);
    world.stop().await;
}

#[tokio::test]
async fn a_hint_that_is_repeated_changes_nothing() {
    let mut world = World::start().await;
    let (ana, bo) = (world.commit("ana", &["jazz"]).await, world.commit("bo", &["jazz"]).await);
    world.hint(&[&ana, &bo]);
    world.settled().await;
    world.hint(&[&ana, &bo]);
    let (cy, di) = (world.commit("cy", &["jazz"]).await, world.commit("di", &["jazz"]).await);
    world.hint(&[&cy, &di]);
    let mut settled = world.settled().await;
    settled.sort();
    assert_eq!(settled, [cy.id, di.id], "the ghosts stayed away");
    assert_eq!(world.store.settle_calls(), 2, "one for each pair");
    world.stop().await;
}

#[tokio::test]
async fn a_ticket_that_settled_elsewhere_is_dropped_and_the_other_goes_on() {
    let mut world = World::start().await;
    let ana = world.commit("ana", &["jazz"]).await;
    world.hint(&[&ana]);
    world.cancel("ana", &ana).await;
    let bo = world.commit("bo", &["jazz"]).await;
    world.hint(&[&bo]);
    world.until(|store| store.settle_calls() == 1).await;
    let cy = world.commit("cy", &["jazz"]).await;
    world.hint(&[&cy]);
    let mut settled = world.settled().await;
    settled.sort();
    assert_eq!(settled, [bo.id, cy.id]);
    assert_eq!(world.state(&ana).await, TicketState::Cancelled);
    world.stop().await;
}

#[tokio::test]
async fn a_pair_that_was_refused_is_not_proposed_for_ever() {
    let mut world = World::start().await;
    let (ana, bo) = (world.commit("ana", &["jazz"]).await, world.commit("bo", &["jazz"]).await);
    world.hint(&[&ana, &bo]);
    world.settled().await;
    // They come again, and the hints do not know that they have met.
    let (mut ana, mut bo) = (world.commit("ana", &["jazz"]).await, world.commit("bo", &["jazz"]).await);
    ana.avoid.clear();
    bo.avoid.clear();
    world.hint(&[&ana, &bo]);
    world.until(|store| store.settle_calls() == 2).await;
    let cy = world.commit("cy", &["jazz"]).await;
    world.hint(&[&cy]);
    let settled = world.settled().await;
    assert!(settled.contains(&cy.id) && (settled.contains(&ana.id) || settled.contains(&bo.id)));
    assert_eq!(world.store.settle_calls(), 3, "the refused pair was proposed once");
    world.stop().await;
}

#[tokio::test]
async fn a_store_that_goes_away_is_asked_again_for_the_same_match() {
    let mut world = World::start().await;
    // The first answer is lost after the commit, the second call fails before it.
    world.store.lose_answers(1);
    world.store.refuse_after_that(1);
    let (ana, bo) = (world.commit("ana", &["jazz"]).await, world.commit("bo", &["jazz"]).await);
    world.hint(&[&ana, &bo]);
    world.settled().await;
    assert_eq!(world.store.settle_calls(), 3);
    assert_eq!(world.matches_of("ana").await, 1, "one match, however often it was asked for");
    world.stop().await;
}

#[tokio::test]
async fn stopping_finishes_what_is_being_settled() {
    let world = World::start().await;
    let (ana, bo) = (world.commit("ana", &["jazz"]).await, world.commit("bo", &["jazz"]).await);
    let held = world.store.hold_settling();
    world.hint(&[&ana, &bo]);
    world.until(|store| store.settle_calls() == 1).await;
    let stopping = world.stop_engines();
    tokio::pin!(stopping);
    let early = tokio::time::timeout(Duration::from_millis(50), &mut stopping).await;
    assert!(early.is_err(), "it waits for the settlement");
    drop(held);
    assert!(stopping.await);
    assert_eq!(world.state(&ana).await, TicketState::Matched);
}
