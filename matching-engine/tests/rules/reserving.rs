//! Who is proposed to whom when everybody asks for what waiting on is worth to them.

use matching_engine::{Event, Policy};

use crate::room::{Press, Room, press, reserved};

/// How long a ticket is patient in a busy region, and how long it then takes to ask for no more than the floor.
const PATIENCE: u64 = 2_100;
const FALL: u64 = 800;

const HALF_ALIKE: [&[&str]; 2] = [&["jazz", "rock"], &["jazz"]];

const CROWD: [&str; 2] = ["eve", "adam"];

/// From one moment to another somebody who likes jazz and rock comes each `every` ms: pairs among themselves, settled at once.
/// Ends early with what else happens, and when.
fn crowd(room: &mut Room, (from, to): (u64, u64), every: usize) -> Option<(u64, Vec<Event>)> {
    for (now, user) in (from..to).step_by(every).zip(CROWD.into_iter().cycle()) {
        let mut events = room.at(now);
        if events.is_empty() {
            events = room.press(&press(user, &["jazz", "rock"]));
        }
        match events[..] {
            [] => {}
            [Event::Proposed { a, b, .. }] if a == room.id(CROWD[0]) && b == room.id(CROWD[1]) => {
                room.confirm(CROWD[0], CROWD[1]);
            }
            _ => return Some((now, events)),
        }
    }
    None
}

/// Somebody whom none of the crowd will do.
fn apart(user: &'static str, interests: &'static [&'static str]) -> Press {
    Press { avoid: &CROWD, ..press(user, interests) }
}

#[test]
fn the_first_two_who_are_alike_pair_at_once() {
    let mut room = Room::new(reserved());
    room.press_alone(&[press("ana", &["jazz", "rock"])]);
    assert_eq!(room.press(&press("bo", &["rock", "jazz"])), [room.proposed("ana", "bo", 1.0)]);
}

#[test]
fn where_hardly_anybody_comes_less_will_do_at_the_next_look() {
    let mut room = Room::new(reserved());
    let [both, one] = HALF_ALIKE;
    room.press_alone(&[press("ana", both), press("bo", one)]);
    assert_eq!(room.next_due(), Some(400));
    assert_eq!(room.at(399), []);
    assert_eq!(room.at(400), [room.proposed("ana", "bo", 0.5)]);
}

#[test]
fn in_a_crowd_a_common_taste_waits_for_somebody_who_shares_it() {
    let mut room = Room::new(reserved());
    assert_eq!(crowd(&mut room, (0, 1_000), 2), None);
    let [both, one] = HALF_ALIKE;
    room.press_alone(&[apart("ana", one), apart("bo", both)]);
    assert_eq!(crowd(&mut room, (1_001, 2_001), 2), None, "none of them takes the other");
    assert_eq!(room.press(&apart("cleo", both)), [room.proposed("bo", "cleo", 1.0)]);
}

#[test]
fn within_a_second_a_tenth_of_the_traffic_is_known_to_be_less_to_hope_for() {
    let mut policy = reserved();
    // At 500 a second a bar of 1 - 20/500, at 50 a second one of 1 - 20/50.
    policy.reservation.as_mut().unwrap().price = 20.0;
    let mut room = Room::new(policy);
    assert_eq!(crowd(&mut room, (0, 1_000), 2), None);
    let [both, one] = HALF_ALIKE;
    room.press_alone(&[apart("ana", one), apart("bo", both)]);
    assert_eq!(crowd(&mut room, (1_001, 1_501), 2), None, "as long as as many come");
    let (when, events) = crowd(&mut room, (1_520, 3_000), 20).unwrap();
    assert_eq!(events, [room.proposed("ana", "bo", 0.5)]);
    assert!(when < 2_500, "{when}");
}

#[test]
fn after_all_patience_the_floor_is_enough_though_the_crowd_goes_on() {
    let mut room = Room::new(reserved());
    assert_eq!(crowd(&mut room, (0, 1_000), 20), None);
    let rare: [&[&str]; 2] = [&["jazz", "a", "b", "c", "d"], &["jazz", "v", "w", "x", "y"]];
    room.press_alone(&[apart("ana", rare[0]), apart("bo", rare[1])]);
    let (when, events) = crowd(&mut room, (1_000, 10_000), 20).unwrap();
    assert_eq!(events, [room.proposed("ana", "bo", 1.0 / 9.0)]);
    assert!((1_000 + PATIENCE..=1_020 + PATIENCE + FALL).contains(&when), "{when}");
}

#[test]
fn below_the_floor_nobody_ever_pairs() {
    let mut policy = reserved();
    policy.threshold.floor = 0.6;
    let mut room = Room::new(policy);
    let [both, one] = HALF_ALIKE;
    room.press_alone(&[press("ana", both), press("bo", one)]);
    while let Some(due) = room.next_due().filter(|&due| due < 60_000) {
        assert_eq!(room.at(due), []);
    }
    assert_eq!(room.engine.waiting_len(), 2);
}

#[test]
fn one_shared_interest_is_not_enough_where_two_are_asked_for() {
    let mut room = Room::new(Policy { min_shared: 2, ..reserved() });
    room.press_alone(&[press("ana", &["jazz"]), press("bo", &["jazz"])]);
    while let Some(due) = room.next_due().filter(|&due| due < 60_000) {
        assert_eq!(room.at(due), []);
    }
    assert_eq!(room.engine.waiting_len(), 2);
}

#[test]
fn of_two_who_are_alike_the_longer_waiting_is_taken() {
    let mut room = Room::new(reserved());
    room.press_alone(&[press("ana", &["jazz", "rock"])]);
    room.at(10);
    room.press_alone(&[Press { avoid: &["ana"], ..press("bo", &["jazz", "rock"]) }]);
    assert_eq!(room.press(&press("cleo", &["jazz", "rock"])), [room.proposed("ana", "cleo", 1.0)]);
}
