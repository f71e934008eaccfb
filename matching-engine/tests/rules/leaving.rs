//! Deadlines, withdrawals, and ghosts.

use matching_engine::{Command, Event, Policy, Rejection, Time};

use crate::room::{Press, Room, plain, press};

#[test]
fn at_its_deadline_a_ticket_is_forgotten() {
    let mut room = Room::new(plain());
    room.press_alone(&[Press { stays: 500, ..press("ana", &["jazz"]) }]);
    assert_eq!((room.at(499), room.engine.oldest()), (vec![], Some(Time::from_millis(0))));
    assert_eq!(room.at(500), [Event::Forgotten(room.id("ana"))]);
    assert!(room.engine.is_empty() && !room.engine.is_released(room.id("ana")));
}

#[test]
fn a_pair_that_would_be_due_at_a_deadline_never_is() {
    let mut room = Room::new(plain());
    room.press_alone(&[Press { stays: 500, ..press("ana", &["jazz", "rock"]) }, press("bo", &["jazz"])]);
    assert_eq!(room.at(500), [Event::Forgotten(room.id("ana"))]);
}

#[test]
fn a_pair_whose_moment_was_slept_through_is_not_proposed_past_a_deadline() {
    let mut room = Room::new(plain());
    room.press_alone(&[Press { stays: 600, ..press("ana", &["jazz", "rock"]) }, press("bo", &["jazz"])]);
    assert_eq!(room.at(700), [Event::Forgotten(room.id("ana"))]);
    assert!(room.engine.contains(room.id("bo")));
}

#[test]
fn an_overdue_ticket_is_not_taken() {
    let mut room = Room::new(plain());
    let ticket = room.ticket(&Press { stays: 500, ..press("ana", &["jazz"]) });
    room.at(500);
    assert_eq!(room.rejection(ticket), Some(Rejection::Overdue));
}

#[test]
fn a_ticket_is_taken_once() {
    let mut room = Room::new(plain());
    let ticket = room.ticket(&press("ana", &["jazz"]));
    assert_eq!(room.rejection(ticket.clone()), None);
    assert_eq!(room.rejection(ticket.clone()), Some(Rejection::AlreadyPooled));
    room.press(&press("bo", &["jazz"]));
    assert_eq!(room.rejection(ticket), Some(Rejection::AlreadyPooled), "also while it is being settled");
}

#[test]
fn who_withdraws_is_gone_at_once() {
    let mut room = Room::new(plain());
    room.press_alone(&[press("ana", &["jazz"])]);
    assert_eq!(room.withdraw("ana"), []);
    assert!(!room.engine.contains(room.id("ana")) && room.engine.is_released(room.id("ana")));
    room.press_alone(&[press("bo", &["jazz"])]);
}

#[test]
fn a_late_message_brings_back_no_ghost() {
    let mut room = Room::new(plain());
    let ana = room.ticket(&press("ana", &["jazz"]));
    let bo = room.ticket(&press("bo", &["jazz"]));
    for ticket in [&ana, &bo] {
        assert_eq!(room.rejection(ticket.clone()), None);
    }
    room.confirm("ana", "bo");
    room.at(59_999);
    assert_eq!(room.rejection(ana.clone()), Some(Rejection::Released));
    room.at(60_000);
    assert_eq!(room.rejection(ana), Some(Rejection::Overdue));
    assert_eq!(room.engine.footprint(), matching_engine::Footprint::default(), "the memory is freed");
}

#[test]
fn a_withdrawal_that_overtakes_its_ticket_counts() {
    let mut room = Room::new(plain());
    let ticket = room.ticket(&press("ana", &["jazz"]));
    room.withdraw("ana");
    room.at(999);
    assert_eq!(room.rejection(ticket.clone()), Some(Rejection::Released));
    assert_eq!(room.next_due(), None, "not worth being woken for");
    room.at(1_000);
    assert_eq!(room.rejection(ticket), None, "no longer than it asked for");
}

#[test]
fn a_full_pool_takes_nobody_until_somebody_leaves() {
    let mut room = Room::new(Policy { pool_bound: 2, ..plain() });
    room.press_alone(&[press("ana", &["jazz"])]);
    room.press(&press("bo", &["jazz"]));
    let cleo = room.ticket(&press("cleo", &["jazz"]));
    assert_eq!(room.rejection(cleo.clone()), Some(Rejection::Full), "those being settled count");
    room.confirm("ana", "bo");
    assert_eq!(room.rejection(cleo), None);
}

#[test]
fn the_oldest_is_the_longest_waiting() {
    let mut room = Room::new(plain());
    room.press_alone(&[press("ana", &["jazz"])]);
    room.at(10);
    room.press_alone(&[press("bo", &["rock"])]);
    room.withdraw("ana");
    assert_eq!(room.engine.oldest(), Some(Time::from_millis(10)));
    assert_eq!(room.engine.ids().collect::<Vec<_>>(), [room.id("bo")]);
}

#[test]
fn what_is_due_is_done_before_the_command() {
    let mut told = Room::new(plain());
    let mut asked = Room::new(plain());
    for room in [&mut told, &mut asked] {
        room.press_alone(&[press("ana", &["jazz", "rock"]), press("bo", &["jazz"])]);
    }
    asked.at(500);
    let withdraw = Command::Withdraw { id: told.id("ana"), expires_at: Time::from_millis(60_000) };
    let mut events = Vec::new();
    told.engine.handle(Time::from_millis(500), withdraw, &mut events);
    assert_eq!(events, [told.proposed("ana", "bo", 0.5)]);
    assert_eq!((told.engine.len(), asked.engine.len()), (2, 2));
}
