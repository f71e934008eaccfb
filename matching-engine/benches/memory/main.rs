//! How much memory a waiting ticket takes: `cargo bench -p matching-engine --bench memory`.

#![expect(clippy::print_stdout, reason = "what it prints is what it is for")]

#[path = "../engine/people.rs"]
mod people;

use std::alloc::System;
use std::time::Duration;

use matching_engine::{Command, Engine, Policy, Ticket, Time};
use people::{Crowd, arrives};
use stats_alloc::{INSTRUMENTED_SYSTEM, Region, StatsAlloc};

#[global_allocator]
static ALLOCATOR: &StatsAlloc<System> = &INSTRUMENTED_SYSTEM;

/// How many of the last admissions are asked what they allocate.
const ASKED: usize = 1_000;

fn main() {
    for (policy_name, policy) in people::policies() {
        for waiting in [1_000, 10_000, 100_000, 1_000_000] {
            let name = format!("{policy_name}/{waiting}");
            measure(&format!("{name}, 6 interests each"), &policy, waiting, |crowd| crowd.one_with(6));
            measure(&format!("{name}, as many as people have"), &policy, waiting, Crowd::one);
        }
    }
}

/// Fills a pool with people who share their interests as a crowd does, but were all created a moment from now, as by a
/// clock that is ahead: till then nobody is matched. More than 10,000 live in a larger country.
fn measure(name: &str, policy: &Policy, waiting: usize, one: fn(&mut Crowd) -> Ticket) {
    let districts = u32::try_from(waiting / 10_000).expect("a size").max(1);
    let mut crowd = Crowd::new(1, districts);
    let mut engine = Engine::new(policy.clone()).expect("the policy makes sense");
    let mut events = Vec::with_capacity(16);
    let now = Time::default();
    let mut admit = |engine: &mut Engine, ticket| {
        let ticket = arrives(ticket, now.plus(Duration::from_millis(1)));
        engine.handle(now, Command::Admit(ticket), &mut events);
        events.clear();
    };

    let before = Region::new(ALLOCATOR);
    for _ in 0..waiting {
        let ticket = one(&mut crowd);
        admit(&mut engine, ticket);
    }
    let held = before.change();
    assert_eq!(engine.waiting_len(), waiting, "somebody left");

    let tickets: Vec<_> = (0..ASKED).map(|_| one(&mut crowd)).collect();
    let before = Region::new(ALLOCATOR);
    for ticket in tickets {
        admit(&mut engine, ticket);
    }
    let asked = before.change();
    println!(
        "{name}: {:.0} bytes a ticket; {:.2} allocations and {:.2} reallocations an admission",
        (held.bytes_allocated - held.bytes_deallocated) as f64 / waiting as f64,
        asked.allocations as f64 / ASKED as f64,
        asked.reallocations as f64 / ASKED as f64,
    );
}
