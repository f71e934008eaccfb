//! A ticket settles exactly once, and both sides of a match or none.

use std::time::Duration;

use proto::{TicketId, TicketState};
use store::{Cancelled, Rules, Settlement};

use crate::world::{World, matched, rules, until, user};

crate::on_every_backend!(
    settling:
    both_learn_the_same_match,
    a_ticket_is_in_one_match,
    a_batch_uses_a_ticket_once,
    a_cancelled_ticket_is_gone,
    an_overdue_ticket_is_gone,
    an_unknown_ticket_is_gone,
    a_repeated_proposal_finds_its_match,
    recent_partners_are_refused,
    a_user_never_meets_themselves,
    one_refusal_leaves_its_neighbours,
    cancelling_is_final_and_may_be_repeated,
    cancelling_after_the_match_is_too_late,
    cancelling_another_users_ticket_does_nothing,
    a_final_state_never_changes,
);

const UNKNOWN: TicketId = TicketId::from_u128(u128::MAX);

pub async fn both_learn_the_same_match(world: &World) {
    let ana = world.press_match("ana", &["Jazz", "go", "tea"]).await;
    until(async || (world.store.now().await.unwrap() > ana.created_at).then_some(())).await;
    let bo = world.press_match("bo", &["GO", "jazz"]).await;
    let Settlement::Matched { wait_a, wait_b, made } = world.settle_one(bo.id, ana.id).await else {
        panic!("refused")
    };
    assert!(wait_a < wait_b, "the first named came later");
    assert!((made.similarity - 2.0 / 3.0).abs() < 1e-9);
    assert_eq!(made.tickets.clone().map(|ticket| ticket.id), [ana.id, bo.id], "the earlier one first");
    assert_eq!(made.tickets.clone().map(|ticket| ticket.user), [user("ana"), user("bo")]);
    let (ana, bo) = (world.ticket(ana.id).await, world.ticket(bo.id).await);
    let (of_ana, of_bo) = (ana.r#match.unwrap(), bo.r#match.unwrap());
    assert_eq!((ana.state, bo.state), (TicketState::Matched, TicketState::Matched));
    assert_eq!((of_ana.partner.user.clone(), of_bo.partner.user.clone()), (user("bo"), user("ana")));
    assert_eq!(of_ana.shared_interests, ["go", "Jazz"], "as the earlier ticket spells them");
    assert_eq!(of_ana.region.as_str(), "kr.seoul");
    assert_eq!((of_ana.id, of_ana.made_at), (made.id, made.made_at));
    assert_eq!(of_ana.shared_interests, made.shared_interests);
    assert_eq!(proto::Match { partner: of_bo.partner.clone(), ..of_ana }, of_bo);
}

pub async fn a_ticket_is_in_one_match(world: &World) {
    let (ana, bo, cy) = trio(world).await;
    assert!(matched(&world.settle_one(ana, bo).await));
    assert_eq!(world.settle_one(cy, bo).await, Settlement::Gone { a: false, b: true });
    assert_eq!(world.settle_one(ana, bo).await, Settlement::Gone { a: true, b: true });
    assert_eq!(world.state(cy).await, TicketState::Waiting);
}

pub async fn a_batch_uses_a_ticket_once(world: &World) {
    let (ana, bo, cy) = trio(world).await;
    let batch = [world.propose(ana, bo), world.propose(bo, cy), world.propose(cy, cy)];
    let answers = world.store.settle(&batch).await.unwrap();
    assert!(matched(&answers[0]));
    assert_eq!(answers[1], Settlement::Gone { a: true, b: false });
    assert!(!matched(&answers[2]));
    assert_eq!(world.state(cy).await, TicketState::Waiting);
}

pub async fn a_cancelled_ticket_is_gone(world: &World) {
    let (ana, bo, _) = trio(world).await;
    world.store.cancel(&user("ana"), ana).await.unwrap();
    assert_eq!(world.settle_one(ana, bo).await, Settlement::Gone { a: true, b: false });
    assert_eq!(world.state(bo).await, TicketState::Waiting);
}

pub async fn an_overdue_ticket_is_gone(world: &World) {
    let world = world.elsewhere(Rules { expire_after: Duration::from_millis(1), ..rules() }).await;
    let (ana, bo, _) = trio(&world).await;
    let deadline = world.ticket(bo).await.expires_at;
    until(async || (world.store.now().await.unwrap() >= deadline).then_some(())).await;
    assert_eq!(world.settle_one(ana, bo).await, Settlement::Gone { a: true, b: true });
}

pub async fn an_unknown_ticket_is_gone(world: &World) {
    let (ana, ..) = trio(world).await;
    assert_eq!(world.settle_one(UNKNOWN, ana).await, Settlement::Gone { a: true, b: false });
    assert_eq!(world.settle_one(ana, UNKNOWN).await, Settlement::Gone { a: false, b: true });
}

pub async fn a_repeated_proposal_finds_its_match(world: &World) {
    let (ana, bo, _) = trio(world).await;
    let proposal = world.propose(ana, bo);
    let first = world.store.settle(&[proposal]).await.unwrap();
    world.until_past(world.store.now().await.unwrap()).await;
    let again = world.store.settle(&[proposal]).await.unwrap();
    assert!(matched(&first[0]));
    assert_eq!(first, again, "its moment and waits, too");
    assert_eq!(world.store.matches(&user("ana"), None, 10).await.unwrap().len(), 1);
}

pub async fn recent_partners_are_refused(world: &World) {
    let (ana, bo, _) = trio(world).await;
    assert!(matched(&world.settle_one(ana, bo).await));
    let (ana, bo) = (world.press_match("ana", &["a"]).await, world.press_match("bo", &["a"]).await);
    assert_eq!(world.settle_one(bo.id, ana.id).await, Settlement::Recent);
    assert_eq!(world.settle_one(ana.id, bo.id).await, Settlement::Recent);
    assert_eq!(world.state(ana.id).await, TicketState::Waiting);
}

pub async fn a_user_never_meets_themselves(world: &World) {
    let (ana, ..) = trio(world).await;
    assert!(!matched(&world.settle_one(ana, ana).await));
    assert_eq!(world.state(ana).await, TicketState::Waiting);
}

pub async fn one_refusal_leaves_its_neighbours(world: &World) {
    let (ana, bo, cy) = trio(world).await;
    let batch = [world.propose(UNKNOWN, cy), world.propose(ana, bo)];
    let answers = world.store.settle(&batch).await.unwrap();
    assert_eq!(answers[0], Settlement::Gone { a: true, b: false });
    assert!(matched(&answers[1]));
}

pub async fn cancelling_is_final_and_may_be_repeated(world: &World) {
    let ana = world.press_match("ana", &["a"]).await;
    let cancelled = |answer| match answer {
        Cancelled::Now(ticket) | Cancelled::Before(ticket) => ticket,
        other @ (Cancelled::TooLate(_) | Cancelled::Unknown) => panic!("{other:?}"),
    };
    let first = world.store.cancel(&user("ana"), ana.id).await.unwrap();
    assert!(matches!(first, Cancelled::Now(_)));
    let again = world.store.cancel(&user("ana"), ana.id).await.unwrap();
    assert!(matches!(again, Cancelled::Before(_)));
    assert_eq!(cancelled(first), cancelled(again));
    let next = world.press_match("ana", &["a"]).await;
    assert_ne!(next.id, ana.id, "there is room for a new one");
}

pub async fn cancelling_after_the_match_is_too_late(world: &World) {
    let (ana, bo, _) = trio(world).await;
    world.settle_one(ana, bo).await;
    let Cancelled::TooLate(ticket) = world.store.cancel(&user("ana"), ana).await.unwrap() else {
        panic!("cancelled a match")
    };
    assert_eq!(ticket.state, TicketState::Matched);
    assert!(ticket.r#match.is_some());
}

pub async fn cancelling_another_users_ticket_does_nothing(world: &World) {
    let (ana, ..) = trio(world).await;
    assert_eq!(world.store.cancel(&user("bo"), ana).await.unwrap(), Cancelled::Unknown);
    assert_eq!(world.store.cancel(&user("bo"), UNKNOWN).await.unwrap(), Cancelled::Unknown);
    assert_eq!(world.state(ana).await, TicketState::Waiting);
}

pub async fn a_final_state_never_changes(world: &World) {
    let world = world.elsewhere(Rules { expire_after: Duration::from_millis(1), ..rules() }).await;
    let ana = world.press_match("ana", &["a"]).await;
    until(async || (world.store.now().await.unwrap() >= ana.expires_at).then_some(())).await;
    assert_eq!(world.store.expire_overdue(10).await.unwrap(), [ana.id]);
    let Cancelled::TooLate(ticket) = world.store.cancel(&user("ana"), ana.id).await.unwrap() else {
        panic!("cancelled an expired ticket")
    };
    assert_eq!(ticket.state, TicketState::Expired);
    assert_eq!(world.store.expire_overdue(10).await.unwrap(), []);
}

async fn trio(world: &World) -> (TicketId, TicketId, TicketId) {
    (
        world.press_match("ana", &["a"]).await.id,
        world.press_match("bo", &["a"]).await.id,
        world.press_match("cy", &["a"]).await.id,
    )
}
