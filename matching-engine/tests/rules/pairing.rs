//! Who is proposed to whom, and when.

use matching_engine::{Engine, Policy};

use crate::room::{Press, Room, anybody, plain, press};

#[test]
fn equal_interests_pair_at_once() {
    let mut room = Room::new(plain());
    room.press_alone(&[press("ana", &["jazz", "rock"])]);
    let events = room.press(&press("bo", &["rock", "jazz", "rock"]));
    assert_eq!(events, [room.proposed("ana", "bo", 1.0)]);
    assert_eq!((room.engine.len(), room.engine.waiting_len(), room.next_due()), (2, 0, None));
}

#[test]
fn others_pair_when_the_younger_asks_for_no_more_than_they_share() {
    let mut room = Room::new(plain());
    room.press_alone(&[press("ana", &["jazz", "rock"])]);
    room.at(700);
    room.press_alone(&[press("bo", &["jazz"])]);
    assert_eq!(room.next_due(), Some(1_200));
    assert_eq!(room.at(1_199), []);
    assert_eq!(room.at(1_200), [room.proposed("ana", "bo", 0.5)]);
}

#[test]
fn below_the_floor_nobody_ever_pairs() {
    let mut policy = plain();
    policy.threshold.floor = 0.4;
    let mut room = Room::new(policy);
    room.press_alone(&[press("ana", &["jazz", "rock", "pop"]), press("bo", &["jazz"])]);
    assert_eq!(room.next_due(), Some(60_000), "only the deadlines are left to wait for");
}

#[test]
fn a_pair_exactly_at_the_floor_meets_when_the_line_gets_there() {
    let mut policy = plain();
    policy.threshold.floor = 0.2;
    let mut room = Room::new(policy);
    room.press_alone(&[press("ana", &["a", "b", "c", "d", "e"]), press("bo", &["a"])]);
    assert_eq!(room.at(999), []);
    assert_eq!(room.at(1_000), [room.proposed("ana", "bo", 0.2)]);
}

#[test]
fn one_shared_interest_is_not_enough_where_two_are_asked_for() {
    let mut room = Room::new(Policy { min_shared: 2, ..plain() });
    room.press_alone(&[press("ana", &["jazz"]), press("bo", &["jazz"])]);
    room.press_alone(&[press("cleo", &["jazz", "rock", "pop"])]);
    assert_eq!(room.at(5_000), []);
    assert_eq!(room.press(&press("dan", &["rock", "pop"])), []);
    assert_eq!(room.at(5_334), [room.proposed("cleo", "dan", 2.0 / 3.0)]);
}

#[test]
fn nobody_meets_themselves() {
    let mut room = Room::new(anybody());
    room.press_alone(&[press("ana", &["jazz"]), press("ana", &["jazz"])]);
    assert_eq!(room.at(10_000), []);
}

#[test]
fn avoiding_works_both_ways() {
    let mut room = Room::new(anybody());
    let ana = Press { avoid: &["bo"], ..press("ana", &["jazz"]) };
    room.press_alone(&[ana.clone(), press("bo", &["jazz"])]);
    assert_eq!(room.at(10_000), []);

    let mut room = Room::new(anybody());
    room.press_alone(&[press("bo", &["jazz"]), ana]);
    assert_eq!(room.at(10_000), []);
}

#[test]
fn the_most_similar_is_chosen_then_the_longest_waiting_then_the_smaller_id() {
    let mut room = Room::new(plain());
    let avoiders: &[&str] = &["ana", "bo", "cleo", "dan"];
    let waits = |user, interests| Press { avoid: avoiders, ..press(user, interests) };
    room.press_alone(&[waits("ana", &["jazz", "rock", "pop"])]);
    room.at(1);
    let bo = room.ticket(&waits("bo", &["jazz", "rock"]));
    room.press_alone(&[waits("cleo", &["jazz", "rock"])]);
    assert_eq!(room.rejection(bo), None, "it comes after cleo's, though its id is smaller");
    room.at(2);
    room.press_alone(&[waits("dan", &["jazz", "rock"])]);
    room.at(5_000);

    for best in ["bo", "cleo", "dan"] {
        let events = room.press(&press("eve", &["jazz", "rock"]));
        assert_eq!(events, [room.proposed(best, "eve", 1.0)]);
    }
    assert_eq!(room.press(&press("eve", &["jazz", "rock"])), []);
    assert_eq!(room.at(5_334), [room.proposed("ana", "eve", 2.0 / 3.0)]);
}

#[test]
fn someone_better_who_comes_in_time_is_preferred() {
    let mut room = Room::new(plain());
    room.press_alone(&[press("ana", &["jazz", "rock"]), press("bo", &["jazz"])]);
    room.at(499);
    let events = room.press(&press("cleo", &["jazz", "rock"]));
    assert_eq!(events, [room.proposed("ana", "cleo", 1.0)]);
    assert_eq!(room.at(500), [], "whom bo waited for is taken");
}

#[test]
fn after_a_while_anybody_will_do_but_only_when_both_have_waited_so_long() {
    let mut room = Room::new(anybody());
    room.press_alone(&[press("ana", &["jazz"])]);
    room.at(2_000);
    room.press_alone(&[press("bo", &["rock"]), press("cleo", &[])]);
    assert_eq!(room.at(4_999), []);
    assert_eq!(room.at(5_000), [room.proposed("ana", "bo", 0.0)]);
    assert_eq!(room.press(&press("dan", &[])), []);
    assert_eq!(room.at(8_000), [room.proposed("cleo", "dan", 0.0)]);
}

#[test]
fn even_then_the_most_similar_is_chosen() {
    let mut room = Room::new(Policy { min_shared: 3, ..anybody() });
    room.press_alone(&[press("ana", &["jazz"]), press("bo", &["rock", "pop"])]);
    room.press_alone(&[press("cleo", &["pop"])]);
    assert_eq!(room.at(3_000), [room.proposed("bo", "cleo", 0.5)], "though ana has waited as long");
}

#[test]
fn a_policy_that_makes_no_sense_is_refused() {
    let refusal = Engine::new(Policy { min_shared: 0, ..plain() }).unwrap_err();
    assert_eq!(refusal.setting, "min_shared");
}

#[test]
fn a_clock_that_goes_back_stands_still() {
    let mut room = Room::new(plain());
    room.press_alone(&[press("ana", &["jazz", "rock"]), press("bo", &["jazz"])]);
    room.at(499);
    assert_eq!(room.at(100), []);
    assert_eq!(room.at(500), [room.proposed("ana", "bo", 0.5)]);
    room.confirm("ana", "bo");
    room.press_alone(&[Press { stays: 10, ..press("cleo", &["jazz"]) }]);
    room.at(505);
    assert_eq!(room.at(0), [], "and nothing happens twice");
    assert!(room.engine.contains(room.id("cleo")));
}
