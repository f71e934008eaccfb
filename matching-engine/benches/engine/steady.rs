//! A pool that stays as full as it is: as many people come as leave.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::time::Instant;

use matching_engine::{Command, Engine, Event, Policy, Ticket, TicketId, Time};

use crate::people::{Crowd, arrives, policies};
use crate::timings::{Timings, time};

/// How many wait, and at how many arrivals a second under reservation values and under the threshold about so many do. The
/// regions are as busy as this with up to 10,000; more people are a larger country, each region divided into districts as busy
/// as a region is with 10,000: in one place so many of this crowd would have twins that they hardly wait.
const SIZES: [(usize, u32, f64, f64); 5] = [
    (100, 1, 65.0, 65.0),
    (1_000, 1, 1_200.0, 1_050.0),
    (10_000, 1, 80_000.0, 19_000.0),
    (100_000, 10, 800_000.0, 190_000.0),
    (1_000_000, 100, 8_000_000.0, 1_900_000.0),
];

/// How many times as fast people come while a pool is filled, and how many interests they have at least: of such a pool is made.
const RUSH: f64 = 4.0;
const MANY: usize = 6;
/// How many arrivals come between the filling and what is measured.
const SETTLING: usize = 50_000;
/// How many arrivals are measured.
const MEASURED: usize = 50_000;
const WITHDRAWN: usize = 10_000;
/// A pool so large is only filled when its size is in the filter.
const MOST_UNASKED: usize = 1_000_000;

/// The engine and those who come, in simulated time.
pub(crate) struct Town {
    pub(crate) engine: Engine,
    events: Vec<Event>,
    /// Milliseconds.
    clock: f64,
    between_arrivals: f64,
    /// Of all proposals: two builds with the same number decided alike.
    decisions: DefaultHasher,
    pub(crate) matched_at_once: Timings,
    pub(crate) waits: Timings,
    pub(crate) due: Timings,
    pub(crate) confirm: Timings,
}

impl Town {
    pub(crate) fn new(policy: &Policy, arrivals_a_second: f64) -> Self {
        Self {
            engine: Engine::new(policy.clone()).expect("the policy makes sense"),
            events: Vec::new(),
            clock: 0.0,
            between_arrivals: 1e3 / arrivals_a_second,
            decisions: DefaultHasher::new(),
            matched_at_once: Timings::new("admit, matched"),
            waits: Timings::new("admit, waits"),
            due: Timings::new("due work of a moment"),
            confirm: Timings::new("confirm"),
        }
    }

    pub(crate) fn now(&self) -> Time {
        #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "a moment since 0")]
        Time::from_millis(self.clock as u64)
    }

    /// Lets one arrive, when its time has come, and confirms every proposal.
    pub(crate) fn admit(&mut self, ticket: Ticket) {
        self.clock += self.between_arrivals;
        let now = self.now();
        if self.engine.next_due().is_some_and(|due| due <= now) {
            let ((), took) = time(|| self.engine.handle(now, Command::Advance, &mut self.events));
            self.due.record(took);
            self.confirm_all(now);
        }
        let ticket = arrives(ticket, now);
        let ((), took) = time(|| self.engine.handle(now, Command::Admit(ticket), &mut self.events));
        match self.events.len() {
            1 => self.waits.record(took),
            _ => self.matched_at_once.record(took),
        }
        self.confirm_all(now);
    }

    fn confirm_all(&mut self, now: Time) {
        for event in std::mem::take(&mut self.events) {
            if let Event::Proposed { a, b, similarity } = event {
                (a, b, similarity.to_bits()).hash(&mut self.decisions);
                let confirm = Command::Confirm { a, b };
                let ((), took) = time(|| self.engine.handle(now, confirm, &mut self.events));
                self.confirm.record(took);
            }
        }
    }
}

/// Every size of pool that the filter lets through.
pub(crate) fn run_all(filter: &str) {
    for (policy_name, policy) in policies() {
        for (waiting, districts, rate, rate_plain) in SIZES {
            let name = format!("steady/{policy_name}/{waiting}");
            // A million takes minutes to fill, so it must be asked for.
            if format!("{name}/").contains(filter) && (waiting < MOST_UNASKED || filter.contains("1000000")) {
                let rate = if policy.reservation.is_some() { rate } else { rate_plain };
                run(&name, &policy, waiting, Crowd::new(1, districts), rate);
            }
        }
    }
}

fn run(name: &str, policy: &Policy, waiting: usize, mut crowd: Crowd, rate: f64) {
    let filling = Instant::now();
    let mut town = Town::new(policy, rate * RUSH);
    while town.engine.waiting_len() < waiting {
        let ticket = crowd.one();
        if ticket.interests.len() >= MANY {
            town.admit(ticket);
        }
    }
    let Town { engine, clock, .. } = town;
    let mut town = Town { engine, clock, ..Town::new(policy, rate) };
    for _ in 0..SETTLING {
        town.admit(crowd.one());
    }
    let filling = filling.elapsed();

    let Town { engine, clock, .. } = town;
    let mut town = Town { engine, clock, ..Town::new(policy, rate) };
    let tickets: Vec<Ticket> = (0..MEASURED).map(|_| crowd.one()).collect();
    let (before, start) = (town.engine.waiting_len(), Instant::now());
    for ticket in tickets {
        town.admit(ticket);
    }
    let took = start.elapsed();
    println!(
        "{name}: {:.0} admissions a second, {:.0} came a second, {before} to {} waited (filled in {:.1} s; decisions {:016x})",
        MEASURED as f64 / took.as_secs_f64(),
        rate,
        town.engine.waiting_len(),
        filling.as_secs_f64(),
        town.decisions.finish(),
    );
    town.matched_at_once.print();
    town.waits.print();
    town.confirm.print();
    town.due.print();
    withdraw(&mut town).print();
}

/// Withdraws some of those who wait, spread over all of them.
fn withdraw(town: &mut Town) -> Timings {
    let mut ids: Vec<TicketId> = town.engine.waiting().map(|(id, ..)| id).collect();
    ids.sort_unstable();
    let step = (ids.len() / WITHDRAWN).max(2);
    let (now, mut timings) = (town.now(), Timings::new("withdraw"));
    for &id in ids.iter().step_by(step) {
        let withdraw = Command::Withdraw { id, expires_at: now };
        let ((), took) = time(|| town.engine.handle(now, withdraw, &mut town.events));
        timings.record(took);
    }
    timings
}
