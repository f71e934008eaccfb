//! Shapes that hurt: everybody alike, nobody willing, nothing shared, all at once.

use std::collections::BTreeSet;

use matching_engine::{Command, Engine, Event, Footprint, Policy, Ticket, TicketId, Time};

use crate::room::{anybody, plain};

fn ticket(id: u32, interests: impl IntoIterator<Item = String>) -> Ticket {
    Ticket {
        id: TicketId(id.into()),
        user: format!("user {id}").into(),
        region: ["kr.seoul.mapo", "kr.seoul.gangnam", "kr.busan"][id as usize % 3].into(),
        interests: interests.into_iter().map(Into::into).collect(),
        created_at: Time::default(),
        expires_at: Time::from_millis(60_000),
        avoid: vec![],
    }
}

/// Admits all at one instant, confirms what is proposed, and lets time pass until nothing is left. Says how many pairs
/// there were.
fn play(policy: Policy, tickets: Vec<Ticket>) -> usize {
    let mut engine = Engine::new(policy).expect("the policy makes sense");
    let mut events = Vec::new();
    for ticket in tickets {
        engine.handle(Time::default(), Command::Admit(ticket), &mut events);
    }
    engine.check_invariants();
    let mut matched = BTreeSet::new();
    let mut confirm = |now, engine: &mut Engine, events: &mut Vec<Event>| {
        for event in std::mem::take(events) {
            if let Event::Proposed { a, b, .. } = event {
                assert!(matched.insert(a) && matched.insert(b), "a ticket is proposed again after its match");
                engine.handle(now, Command::Confirm { a, b }, events);
            }
        }
    };
    confirm(Time::default(), &mut engine, &mut events);
    while let Some(due) = engine.next_due() {
        engine.handle(due, Command::Advance, &mut events);
        confirm(due, &mut engine, &mut events);
    }
    engine.handle(Time::from_millis(u64::MAX), Command::Advance, &mut events);
    engine.check_invariants();
    assert_eq!(engine.footprint(), Footprint::default(), "nothing stays when all have left");
    matched.len() / 2
}

fn numbered(prefix: &str, numbers: std::ops::Range<u32>) -> Vec<String> {
    numbers.map(|i| format!("{prefix} {i}")).collect()
}

#[test]
fn all_with_the_same_64_interests() {
    let tickets = (0..900).map(|id| ticket(id, numbered("popular", 0..64))).collect();
    assert_eq!(play(plain(), tickets), 450);
}

#[test]
fn all_alike_but_for_one_interest() {
    let tickets = (0..600).map(|id| {
        let mut interests = numbered("popular", 0..20);
        interests.push(format!("own {id}"));
        ticket(id, interests)
    });
    assert_eq!(play(plain(), tickets.collect()), 300);
}

#[test]
fn everybody_avoids_everybody() {
    let users: Vec<Box<str>> = (0..150).map(|id| format!("user {id}").into()).collect();
    let tickets = (0..150).map(|id| Ticket { avoid: users.clone(), ..ticket(id, numbered("popular", 0..8)) });
    assert_eq!(play(anybody(), tickets.collect()), 0);
}

#[test]
fn thousands_of_interests_that_nobody_shares() {
    let tickets = |policy| {
        play(policy, (0..500).map(|id| ticket(id, numbered("own", id * 20..id * 20 + 20))).collect())
    };
    assert_eq!(tickets(plain()), 0);
    assert_eq!(tickets(anybody()), 249, "two regions hold an odd number");
}

#[test]
fn one_user_with_every_ticket() {
    let tickets = (0..300).map(|id| Ticket { user: "ana".into(), ..ticket(id, numbered("popular", 0..4)) });
    assert_eq!(play(anybody(), tickets.collect()), 0);
}

#[test]
fn a_million_one_off_interests_one_after_the_other_leave_nothing() {
    let mut engine = Engine::new(plain()).unwrap();
    let mut events = Vec::new();
    // One ticket stays throughout, so that nothing is freed just because the pool is empty.
    engine.handle(Time::default(), Command::Admit(ticket(0, numbered("kept", 0..3))), &mut events);
    let before = engine.footprint();
    for id in 1..=15_625 {
        let one_off = ticket(id, numbered("own", id * 64..id * 64 + 64));
        engine.handle(Time::default(), Command::Admit(one_off), &mut events);
        engine.handle(
            Time::default(),
            Command::Withdraw { id: TicketId(id.into()), expires_at: Time::default() },
            &mut events,
        );
        events.clear();
    }
    engine.check_invariants();
    assert_eq!(Footprint { released: 0, ..engine.footprint() }, before);
}
