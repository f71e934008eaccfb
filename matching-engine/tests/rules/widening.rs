//! Scopes, and how they widen while people wait.

use crate::room::{Press, Room, anybody, plain, press, widening};
use matching_engine::Policy;

fn from(region: &'static str, user: &'static str) -> Press {
    Press { region, ..press(user, &["jazz"]) }
}

#[test]
fn without_widening_only_equal_regions_meet() {
    let mut room = Room::new(plain());
    room.press_alone(&[
        from("kr.seoul.gangnam", "ana"),
        from("kr.seoul.mapo", "bo"),
        from("kr.seoul", "cleo"),
    ]);
    room.press_alone(&[from("kr.seoul.gangnamgu", "dan")]);
    assert_eq!(room.at(59_999), []);
    let events = room.press(&from("kr.seoul.mapo", "eve"));
    assert_eq!(events, [room.proposed("bo", "eve", 1.0)]);
}

#[test]
fn neighbours_meet_when_both_scopes_have_widened() {
    let mut room = Room::new(widening());
    room.press_alone(&[from("kr.seoul.gangnam", "ana")]);
    room.at(3_000);
    room.press_alone(&[from("kr.seoul.mapo", "bo")]);
    assert_eq!(room.at(7_999), [], "ana accepts all of Seoul, bo not yet");
    assert_eq!(room.at(8_000), [room.proposed("ana", "bo", 1.0)]);
}

#[test]
fn the_earlier_one_widening_last_works_as_well() {
    let mut room = Room::new(widening());
    room.press_alone(&[from("kr.seoul", "ana")]);
    room.at(1_000);
    room.press_alone(&[from("kr.seoul.gangnam", "bo")]);
    assert_eq!(room.at(5_999), [], "bo does not accept all of Seoul yet");
    assert_eq!(room.at(6_000), [room.proposed("ana", "bo", 1.0)]);
}

#[test]
fn a_narrow_scope_is_not_overruled_by_a_wide_one() {
    let mut room = Room::new(widening());
    room.press_alone(&[from("kr.seoul.gangnam", "ana")]);
    room.at(20_000);
    room.press_alone(&[from("kr.busan.haeundae", "bo")]);
    assert_eq!(room.at(29_999), []);
    assert_eq!(room.at(30_000), [room.proposed("ana", "bo", 1.0)]);
}

#[test]
fn a_scope_never_widens_past_its_widest() {
    let mut policy = widening();
    policy.widen.as_mut().unwrap().min_labels = 2;
    let mut room = Room::new(policy);
    room.press_alone(&[from("kr.seoul.gangnam", "ana"), from("kr.busan.haeundae", "bo"), from("kr", "cleo")]);
    assert_eq!(room.at(59_999), []);
}

#[test]
fn a_clock_that_jumps_widens_several_steps_at_once() {
    let mut room = Room::new(widening());
    room.press_alone(&[from("kr.seoul.gangnam.yeoksam", "ana"), from("kr.busan.haeundae.jung", "bo")]);
    assert_eq!(room.at(50_000), [room.proposed("ana", "bo", 1.0)]);
}

#[test]
fn a_ticket_that_comes_late_has_the_scope_of_its_wait() {
    let mut room = Room::new(widening());
    let late = room.ticket(&from("kr.seoul.gangnam", "ana"));
    room.at(4_000);
    room.press_alone(&[from("kr.seoul", "bo")]);
    room.at(5_000);
    let events = room.tell(matching_engine::Command::Admit(late));
    assert_eq!(events[1..], [room.proposed("ana", "bo", 1.0)]);
}

#[test]
fn anybody_still_means_somebody_in_scope() {
    let mut room = Room::new(Policy { widen: widening().widen, ..anybody() });
    let with = |interests, region, user| Press { region, ..press(user, interests) };
    room.press_alone(&[with(&["jazz"], "kr.seoul.gangnam", "ana"), with(&["rock"], "kr.seoul.mapo", "bo")]);
    assert_eq!(room.at(4_999), []);
    assert_eq!(room.at(5_000), [room.proposed("ana", "bo", 0.0)]);
}
