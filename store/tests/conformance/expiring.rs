//! Deadlines are kept by the store's own clock.

use std::time::Duration;

use proto::TicketState;
use store::{Cancelled, Rules};

use crate::world::{World, rules, until, user};

crate::on_every_backend!(
    expiring:
    overdue_tickets_expire_longest_overdue_first,
    tickets_in_time_are_left_alone,
    cancelling_an_overdue_ticket_finds_it_expired,
    fresh_keys_are_kept,
);

pub async fn overdue_tickets_expire_longest_overdue_first(world: &World) {
    let world = world.elsewhere(Rules { expire_after: Duration::from_millis(20), ..rules() }).await;
    let ana = world.press_match("ana", &["a"]).await;
    until(async || (world.store.now().await.unwrap() > ana.created_at).then_some(())).await;
    let bo = world.press_match("bo", &["a"]).await;
    until(async || (world.store.now().await.unwrap() >= bo.expires_at).then_some(())).await;
    assert_eq!(world.store.expire_overdue(1).await.unwrap(), [ana.id]);
    assert_eq!(world.state(bo.id).await, TicketState::Waiting);
    assert_eq!(world.store.expire_overdue(10).await.unwrap(), [bo.id]);
    assert_eq!(world.state(bo.id).await, TicketState::Expired);
}

pub async fn tickets_in_time_are_left_alone(world: &World) {
    let ana = world.press_match("ana", &["a"]).await;
    assert_eq!(world.store.expire_overdue(10).await.unwrap(), []);
    assert_eq!(world.state(ana.id).await, TicketState::Waiting);
}

pub async fn cancelling_an_overdue_ticket_finds_it_expired(world: &World) {
    let world = world.elsewhere(Rules { expire_after: Duration::from_millis(1), ..rules() }).await;
    let ana = world.press_match("ana", &["a"]).await;
    until(async || (world.store.now().await.unwrap() >= ana.expires_at).then_some(())).await;
    let Cancelled::TooLate(ticket) = world.store.cancel(&user("ana"), ana.id).await.unwrap() else {
        panic!("cancelled past the deadline")
    };
    assert_eq!(ticket.state, TicketState::Expired);
}

pub async fn fresh_keys_are_kept(world: &World) {
    let mut wish = world.wish("ana", "kr.seoul", &["a"]);
    wish.key = Some("k".to_owned());
    world.accept_one(wish).await;
    assert_eq!(world.store.forget_old_keys(10).await.unwrap(), 0);
}
