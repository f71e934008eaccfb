//! Crowds made to hurt: no single command may take longer than [`BOUND`], whoever comes.

use std::sync::Arc;
use std::time::Duration;

use matching_engine::{Command, Engine, Event, Policy, Ticket, Time};
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;

use crate::people::{Crowd, arrives, policies};
use crate::timings::{Timings, time};

/// As long as a server may keep everybody else waiting.
const BOUND: Duration = Duration::from_millis(50);

/// Who comes, and how many a millisecond; with 0 all come in the same instant.
struct Adversary {
    name: &'static str,
    tickets: fn() -> Vec<Ticket>,
    each_millisecond: usize,
}

const ADVERSARIES: [Adversary; 5] = [
    Adversary { name: "64-popular-interests", tickets: || with_popular(10_000), each_millisecond: 10 },
    Adversary { name: "all-avoid-each-other", tickets: || who_avoid(2_000), each_millisecond: 10 },
    Adversary { name: "a-million-one-off-interests", tickets: || one_offs(166_667), each_millisecond: 100 },
    Adversary { name: "one-instant-10000", tickets: || people(10_000), each_millisecond: 0 },
    Adversary { name: "one-instant-100000", tickets: || people(100_000), each_millisecond: 0 },
];

/// Runs those that the filter lets through, and says whether each command kept the bound.
pub(crate) fn run_all(filter: &str) -> bool {
    let mut kept = true;
    for (policy_name, policy) in policies() {
        for adversary in &ADVERSARIES {
            let name = format!("adversary/{policy_name}/{}", adversary.name);
            if format!("{name}/").contains(filter) {
                kept &= run(&name, &policy, adversary);
            }
        }
    }
    kept
}

/// Lets them come, and then wait until the last has left.
fn run(name: &str, policy: &Policy, adversary: &Adversary) -> bool {
    let mut engine = Engine::new(policy.clone()).expect("the policy makes sense");
    let mut events = Vec::new();
    let [mut admit, mut due, mut confirm] = ["admit", "due work of a moment", "confirm"].map(Timings::new);
    let (mut now, mut most, mut matched) = (Time::default(), 0, 0);
    let mut tell = |engine: &mut Engine, timings: &mut Timings, now, command| {
        let ((), took) = time(|| engine.handle(now, command, &mut events));
        timings.record(took);
        for event in std::mem::take(&mut events) {
            if let Event::Proposed { a, b, .. } = event {
                let ((), took) = time(|| engine.handle(now, Command::Confirm { a, b }, &mut events));
                confirm.record(took);
                matched += 2;
            }
        }
    };
    for (nth, ticket) in (adversary.tickets)().into_iter().enumerate() {
        if let Some(millis) = nth.checked_div(adversary.each_millisecond) {
            now = Time::from_millis(u64::try_from(millis).expect("a moment"));
        }
        if engine.next_due().is_some_and(|due| due <= now) {
            tell(&mut engine, &mut due, now, Command::Advance);
        }
        tell(&mut engine, &mut admit, now, Command::Admit(arrives(ticket, now)));
        most = most.max(engine.waiting_len());
    }
    while let Some(moment) = engine.next_due() {
        tell(&mut engine, &mut due, moment, Command::Advance);
    }
    let kept = [&admit, &due, &confirm].iter().all(|timings| timings.longest() <= BOUND);
    println!(
        "{name}: {most} waited at once, {matched} were matched; each command within {BOUND:?}: {}",
        if kept { "yes" } else { "NO" }
    );
    [admit, due, confirm].iter().for_each(Timings::print);
    kept
}

/// Each has 64 of the same 96 interests.
fn with_popular(count: usize) -> Vec<Ticket> {
    let mut crowd = Crowd::new(2, 1);
    let mut chance = ChaCha8Rng::seed_from_u64(2);
    let mut popular: Vec<Arc<str>> = (0..96).map(|nth| format!("popular {nth}").into()).collect();
    let mut one = || {
        let (chosen, _) = popular.partial_shuffle(&mut chance, 64);
        crowd.ticket("kr.seoul", chosen.to_vec())
    };
    (0..count).map(|_| one()).collect()
}

/// All like the same, and nobody may meet anybody.
fn who_avoid(count: usize) -> Vec<Ticket> {
    let mut crowd = Crowd::new(3, 1);
    let interests: Vec<Arc<str>> = (0..6).map(|nth| format!("interest {nth}").into()).collect();
    let mut tickets: Vec<Ticket> = (0..count).map(|_| crowd.ticket("kr.seoul", interests.clone())).collect();
    let users: Vec<Box<str>> = tickets.iter().map(|ticket| ticket.user.clone()).collect();
    tickets.iter_mut().for_each(|ticket| ticket.avoid.clone_from(&users));
    tickets
}

/// Nobody shares anything: 6 new interests each.
fn one_offs(count: usize) -> Vec<Ticket> {
    let mut crowd = Crowd::new(4, 1);
    let mut numbers = 0..;
    let mut one = || {
        let interests = numbers.by_ref().take(6).map(|number: u32| format!("one-off {number}").into());
        crowd.ticket("kr.seoul", interests.collect())
    };
    (0..count).map(|_| one()).collect()
}

fn people(count: usize) -> Vec<Ticket> {
    let mut crowd = Crowd::new(5, 1);
    (0..count).map(|_| crowd.one()).collect()
}
