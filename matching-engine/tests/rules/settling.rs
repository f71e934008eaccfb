//! What outcomes of proposals do.

use matching_engine::{Event, Refusal, Rejection};

use crate::room::{Press, Room, plain, press, widening};

const NOBODY_GONE: Refusal = Refusal::Gone { a: false, b: false };

/// Ana and Bo are proposed at 500 ms.
fn proposed() -> Room {
    let mut room = Room::new(plain());
    room.press_alone(&[press("ana", &["jazz", "rock"]), press("bo", &["jazz"])]);
    assert_eq!(room.at(500), [room.proposed("ana", "bo", 0.5)]);
    room
}

#[test]
fn those_being_settled_are_proposed_to_nobody_else() {
    let mut room = proposed();
    room.press_alone(&[press("cleo", &["jazz", "rock"])]);
    assert_eq!(room.at(10_000), []);
}

#[test]
fn the_matched_leave() {
    let mut room = proposed();
    assert_eq!(room.confirm("bo", "ana"), []);
    assert!(room.engine.is_empty());
    assert!(room.engine.is_released(room.id("ana")) && room.engine.is_released(room.id("bo")));
}

#[test]
fn when_one_is_gone_the_other_returns_with_its_wait_kept() {
    let mut room = proposed();
    room.at(600);
    room.press_alone(&[press("cleo", &["jazz", "rock", "pop"])]);
    assert_eq!(room.refuse("bo", "ana", Refusal::Gone { a: true, b: false }), []);
    assert!(room.engine.is_released(room.id("bo")));
    assert_eq!(room.next_due(), Some(934), "what cleo has to wait, ana has waited");
    assert_eq!(room.at(934), [room.proposed("ana", "cleo", 2.0 / 3.0)]);
}

#[test]
fn who_returns_searches_at_once() {
    let mut room = proposed();
    room.press_alone(&[press("cleo", &["jazz", "rock"])]);
    let events = room.refuse("ana", "bo", Refusal::Gone { a: false, b: true });
    assert_eq!(events, [room.proposed("ana", "cleo", 1.0)]);
}

#[test]
fn who_must_not_meet_is_never_proposed_again() {
    let mut room = proposed();
    assert_eq!(room.refuse("ana", "bo", Refusal::Avoid), []);
    assert_eq!(room.at(10_000), []);
    assert_eq!(room.press(&press("cleo", &["jazz"])), [room.proposed("bo", "cleo", 1.0)]);
    assert_eq!(room.press(&press("dan", &["jazz", "rock"])), [room.proposed("ana", "dan", 1.0)]);
}

#[test]
fn a_refusal_is_about_users_not_tickets() {
    let mut room = proposed();
    room.refuse("ana", "bo", Refusal::Avoid);
    room.withdraw("bo");
    assert_eq!(room.press(&press("bo", &["jazz", "rock"])), [], "ana avoids bo's next ticket too");
}

#[test]
fn a_refusal_that_blames_nobody_returns_both() {
    let mut room = proposed();
    assert_eq!(room.refuse("ana", "bo", NOBODY_GONE), [room.proposed("ana", "bo", 0.5)]);
}

#[test]
fn who_returns_past_its_deadline_is_forgotten() {
    let mut room = Room::new(plain());
    room.press_alone(&[Press { stays: 700, ..press("ana", &["jazz"]) }]);
    room.press(&press("bo", &["jazz"]));
    assert_eq!(room.at(700), [], "being settled, it stays");
    assert_eq!(room.refuse("ana", "bo", Refusal::Avoid), [Event::Forgotten(room.id("ana"))]);
    assert!(room.engine.contains(room.id("bo")));
}

#[test]
fn who_returns_has_the_scope_of_its_wait() {
    let mut room = Room::new(widening());
    let gangnam = |user| Press { region: "kr.seoul.gangnam", ..press(user, &["jazz"]) };
    room.press_alone(&[gangnam("ana")]);
    room.press(&gangnam("bo"));
    room.at(6_000);
    room.press_alone(&[Press { region: "kr.seoul", ..press("cleo", &["jazz"]) }]);
    let events = room.refuse("ana", "bo", Refusal::Avoid);
    assert_eq!(events, [room.proposed("ana", "cleo", 1.0)]);
}

#[test]
fn who_withdraws_while_being_settled_leaves_with_the_outcome() {
    let mut room = proposed();
    room.withdraw("ana");
    assert!(room.engine.contains(room.id("ana")));
    assert_eq!(room.refuse("ana", "bo", Refusal::Avoid), []);
    assert!(!room.engine.contains(room.id("ana")) && room.engine.is_released(room.id("ana")));
    assert_eq!(room.engine.waiting_len(), 1, "bo returns");

    let mut room = proposed();
    room.withdraw("bo");
    room.confirm("ana", "bo");
    assert!(room.engine.is_empty());
}

#[test]
fn outcomes_of_pairs_that_were_not_proposed_change_nothing() {
    let mut room = proposed();
    room.press(&press("cleo", &["jazz", "pop"]));
    let before = room.engine.footprint();
    for why in [Refusal::Avoid, Refusal::Gone { a: true, b: true }] {
        assert_eq!(room.refuse("ana", "cleo", why), []);
        assert_eq!(room.refuse("cleo", "cleo", why), []);
        assert_eq!(room.refuse("bo", "bo", why), []);
    }
    room.confirm("bo", "cleo");
    assert_eq!(room.engine.footprint(), before);
}

#[test]
fn an_outcome_that_comes_twice_counts_once() {
    let mut room = proposed();
    room.refuse("ana", "bo", Refusal::Avoid);
    room.confirm("ana", "bo");
    assert_eq!(room.engine.waiting_len(), 2);
    let ticket = room.ticket(&press("cleo", &["jazz"]));
    assert_eq!(room.rejection(ticket.clone()), None);
    room.confirm("bo", "cleo");
    room.confirm("bo", "cleo");
    assert_eq!(room.rejection(ticket), Some(Rejection::Released));
}
