//! One waiting ticket a user, whatever is pressed, repeated or retried.

use std::time::Duration;

use proto::{Ticket, TicketState};
use store::{Accepted, NewTicket, Rules};

use crate::world::{World, rules, until, user};

crate::on_every_backend!(
    accepting:
    a_new_ticket_waits_until_its_deadline,
    a_double_tap_gets_the_same_ticket,
    a_double_tap_after_the_match_gets_the_match,
    a_batch_answers_each_row_in_order,
    an_overdue_ticket_makes_room,
    a_repeated_batch_finds_its_own_rows,
    a_key_names_its_ticket_after_it_settled,
    a_key_binds_to_the_waiting_ticket_it_was_answered_with,
    a_key_does_not_bind_to_another_wish,
    one_batch_may_hold_the_same_key_twice,
    keys_of_two_users_are_apart,
    a_key_is_looked_up_without_a_new_ticket,
    partners_are_avoided,
    many_at_once_share_a_commit,
);

fn created(accepted: Accepted) -> Ticket {
    match accepted {
        Accepted::Created { ticket, .. } => ticket,
        other => panic!("not created: {other:?}"),
    }
}

fn waiting(accepted: Accepted) -> Ticket {
    match accepted {
        Accepted::Waiting(ticket) => ticket,
        other => panic!("not the waiting one: {other:?}"),
    }
}

fn keyed(accepted: Accepted) -> Ticket {
    match accepted {
        Accepted::Keyed(ticket) => ticket,
        other => panic!("not found by its key: {other:?}"),
    }
}

fn with_key(mut wish: NewTicket, key: &str) -> NewTicket {
    wish.key = Some(key.to_owned());
    wish
}

pub async fn a_new_ticket_waits_until_its_deadline(world: &World) {
    let before = world.store.now().await.unwrap();
    let wish = world.wish("ana", "kr.seoul.gangnam", &["Jazz", "보드게임", "C++"]);
    let Accepted::Created { ticket, pool } = world.accept_one(wish.clone()).await else {
        panic!("not created")
    };
    let after = world.store.now().await.unwrap();
    assert_eq!((ticket.id, ticket.state), (wish.id, TicketState::Waiting));
    assert!((before..=after).contains(&ticket.created_at));
    assert_eq!(ticket.expires_at.since(ticket.created_at), rules().expire_after);
    assert_eq!(ticket, world.ticket(wish.id).await, "what was answered is what is kept");
    assert_eq!(pool.interests.keys().collect::<Vec<_>>(), ["c++", "jazz", "보드게임"]);
    assert_eq!((pool.id, pool.user, pool.avoid), (wish.id, user("ana"), vec![]));
}

pub async fn a_double_tap_gets_the_same_ticket(world: &World) {
    let first = world.press_match("ana", &["jazz"]).await;
    let second = waiting(world.accept_one(world.wish("ana", "jp.tokyo", &["go"])).await);
    assert_eq!(first, second);
    let both =
        world.store.accept(&[world.wish("bo", "kr", &["a"]), world.wish("bo", "kr", &["a"])]).await.unwrap();
    let ids: Vec<_> = both
        .into_iter()
        .map(|answer| match answer {
            Accepted::Created { ticket, .. } | Accepted::Waiting(ticket) | Accepted::Keyed(ticket) => {
                ticket.id
            }
        })
        .collect();
    assert_eq!(ids[0], ids[1]);
}

pub async fn a_batch_answers_each_row_in_order(world: &World) {
    let ana = world.press_match("ana", &["jazz"]).await;
    let batch = [
        world.wish("zoe", "kr.seoul", &["a"]),
        world.wish("ana", "kr.seoul", &["b"]),
        world.wish("bo", "kr.busan", &["c"]),
    ];
    let answers = world.store.accept(&batch).await.unwrap();
    let [zoe, again, bo] = answers.try_into().unwrap();
    assert_eq!(created(zoe).id, batch[0].id);
    assert_eq!(waiting(again), ana);
    assert_eq!(created(bo).region.as_str(), "kr.busan");
}

pub async fn an_overdue_ticket_makes_room(world: &World) {
    let world = world.elsewhere(Rules { expire_after: Duration::from_millis(1), ..rules() }).await;
    let first = world.press_match("ana", &["jazz"]).await;
    until(async || (world.store.now().await.unwrap() >= first.expires_at).then_some(())).await;
    let second = world.press_match("ana", &["jazz"]).await;
    assert_ne!(first.id, second.id);
    assert_eq!(world.state(first.id).await, TicketState::Expired);
}

pub async fn a_repeated_batch_finds_its_own_rows(world: &World) {
    let batch = [world.wish("ana", "kr.seoul", &["a"]), with_key(world.wish("bo", "kr.seoul", &["a"]), "k")];
    let first = world.store.accept(&batch).await.unwrap();
    let again = world.store.accept(&batch).await.unwrap();
    assert_eq!(
        first.into_iter().map(created).collect::<Vec<_>>(),
        again.into_iter().map(created).collect::<Vec<_>>()
    );
}

pub async fn a_key_names_its_ticket_after_it_settled(world: &World) {
    let wish = with_key(world.wish("ana", "kr.seoul", &["jazz"]), "tap-1");
    let ana = created(world.accept_one(wish).await);
    let bo = world.press_match("bo", &["jazz"]).await;
    world.settle_one(ana.id, bo.id).await;
    let again = keyed(world.accept_one(with_key(world.wish("ana", "kr.seoul", &["jazz"]), "tap-1")).await);
    assert_eq!((again.id, again.state), (ana.id, TicketState::Matched));
    assert_eq!(again.r#match.unwrap().partner.user, user("bo"));
    created(world.accept_one(with_key(world.wish("ana", "kr.seoul", &["jazz"]), "tap-2")).await);
}

pub async fn a_key_binds_to_the_waiting_ticket_it_was_answered_with(world: &World) {
    let ana = world.press_match("ana", &["jazz"]).await;
    let second_phone = with_key(world.wish("ana", "kr.seoul", &["JAZZ"]), "phone-2");
    assert_eq!(waiting(world.accept_one(second_phone).await).id, ana.id);
    let bo = world.press_match("bo", &["jazz"]).await;
    world.settle_one(ana.id, bo.id).await;
    let retry = with_key(world.wish("ana", "kr.seoul", &["jazz"]), "phone-2");
    assert_eq!(keyed(world.accept_one(retry).await).id, ana.id);
}

pub async fn a_key_does_not_bind_to_another_wish(world: &World) {
    world.press_match("ana", &["jazz"]).await;
    let other = || with_key(world.wish("ana", "kr.seoul", &["rock"]), "k");
    waiting(world.accept_one(other()).await);
    waiting(world.accept_one(other()).await);
}

pub async fn one_batch_may_hold_the_same_key_twice(world: &World) {
    let wish = || with_key(world.wish("ana", "kr.seoul", &["jazz"]), "k");
    let answers = world.store.accept(&[wish(), wish()]).await.unwrap();
    let ids: Vec<_> = answers
        .into_iter()
        .map(|answer| match answer {
            Accepted::Created { ticket, .. } | Accepted::Keyed(ticket) => ticket.id,
            Accepted::Waiting(ticket) => panic!("the key names it: {ticket:?}"),
        })
        .collect();
    assert_eq!(ids[0], ids[1]);
}

pub async fn keys_of_two_users_are_apart(world: &World) {
    let ana = created(world.accept_one(with_key(world.wish("ana", "kr.seoul", &["a"]), "k")).await);
    let bo = created(world.accept_one(with_key(world.wish("bo", "kr.seoul", &["a"]), "k")).await);
    assert_ne!(ana.id, bo.id);
}

pub async fn a_key_is_looked_up_without_a_new_ticket(world: &World) {
    let ana = created(world.accept_one(with_key(world.wish("ana", "kr.seoul", &["jazz"]), "k")).await);
    let named = |name: &'static str, key: &'static str| async move {
        world.store.keyed_ticket(&user(name), key).await.unwrap().map(|ticket| (ticket.id, ticket.state))
    };
    assert_eq!(named("ana", "k").await, Some((ana.id, TicketState::Waiting)));
    let bo = world.press_match("bo", &["jazz"]).await;
    world.settle_one(ana.id, bo.id).await;
    assert_eq!(named("ana", "k").await, Some((ana.id, TicketState::Matched)));
    assert_eq!((named("ana", "other").await, named("bo", "k").await), (None, None));
}

pub async fn partners_are_avoided(world: &World) {
    let (ana, bo) = (world.press_match("ana", &["a"]).await, world.press_match("bo", &["a"]).await);
    world.settle_one(ana.id, bo.id).await;
    let Accepted::Created { pool, .. } = world.accept_one(world.wish("ana", "kr.seoul", &["a"])).await else {
        panic!("not created")
    };
    assert_eq!(pool.avoid, [user("bo")]);
    let forgetful = world.elsewhere(Rules { no_rematch_for: Duration::ZERO, ..rules() }).await;
    let (ana, bo) = (forgetful.press_match("ana", &["a"]).await, forgetful.press_match("bo", &["a"]).await);
    forgetful.settle_one(ana.id, bo.id).await;
    let Accepted::Created { pool, .. } = forgetful.accept_one(forgetful.wish("ana", "kr", &["a"])).await
    else {
        panic!("not created")
    };
    assert_eq!(pool.avoid, []);
}

pub async fn many_at_once_share_a_commit(world: &World) {
    let batch: Vec<_> = (0..2_000).map(|n| world.wish(&format!("u{n}"), "kr.seoul", &["a"])).collect();
    let answers = world.store.accept(&batch).await.unwrap();
    let tickets: Vec<_> = answers.into_iter().map(created).collect();
    assert!(tickets.iter().zip(&batch).all(|(ticket, wish)| ticket.id == wish.id));
    assert!(tickets.windows(2).all(|pair| pair[0].created_at == pair[1].created_at));
}

pub async fn a_double_tap_after_the_match_gets_the_match(world: &World) {
    let world = world.elsewhere(Rules { same_press_within: Duration::from_secs(60), ..rules() }).await;
    let (ana, bo) = (world.press_match("ana", &["jazz"]).await, world.press_match("bo", &["jazz"]).await);
    world.settle_one(ana.id, bo.id).await;
    let again = waiting(world.accept_one(world.wish("ana", "kr.seoul", &["jazz"])).await);
    assert_eq!((again.id, again.state), (ana.id, TicketState::Matched));
    created(world.accept_one(with_key(world.wish("ana", "kr.seoul", &["jazz"]), "new press")).await);
    created(world.accept_one(world.wish("bo", "kr.seoul", &["rock"])).await);
}
