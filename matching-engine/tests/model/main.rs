//! The engine against a naive model, over random histories in which everything collides with everything.
//!
//! A failing history is printed, made as small as it can be, with the seed that finds it again.

mod naive;

use std::collections::BTreeSet;
use std::time::Duration;

use matching_engine::{
    Command, Engine, Event, Policy, Refusal, Reservation, Threshold, Ticket, TicketId, Time, Widen,
};
use naive::{Naive, Rules};
use proptest::prelude::*;
use proptest::sample::select;

/// One step of a history. Numbers pick among what there is by then.
#[derive(Debug, Clone)]
enum Step {
    Admit {
        id: u128,
        user: u8,
        region: &'static str,
        interests: Vec<u8>,
        age: u64,
        /// By how much the store's clock seems to be ahead of ours.
        ahead: u64,
        stays: u64,
        avoid: Vec<u8>,
    },
    Withdraw {
        id: u128,
        stays: u64,
    },
    WithdrawPooled {
        nth: usize,
    },
    Confirm {
        nth: usize,
        swapped: bool,
    },
    Refuse {
        nth: usize,
        swapped: bool,
        why: Refusal,
    },
    /// An outcome of a pair that perhaps never was.
    Stray {
        a: u128,
        b: u128,
        why: Option<Refusal>,
    },
    Pass {
        millis: u64,
    },
    /// Time passes up to the next moment that counts, or to just before it: then nobody may be pairable yet.
    PassUntilDue {
        early: u64,
    },
    /// The clock goes back.
    Back {
        millis: u64,
    },
}

const REGIONS: [&str; 9] = [
    "kr",
    "kr.seoul",
    "kr.seoul.mapo",
    "kr.seoul.gangnam",
    "kr.seoul.gangnam.a",
    "kr.seoul.gangnam.b",
    "kr.seoul.mapo.a",
    "kr.busan.a.b",
    "jp.seoul",
];

/// So few that late messages, repeats and ghosts happen.
const IDS: u128 = 40;

fn admit() -> impl Strategy<Value = Step> {
    let names = |most| prop::collection::vec(0..8_u8, 0..most);
    let interests = prop_oneof![1 => names(6), 1 => prop::collection::vec(0..3_u8, 1..3)];
    let age = prop_oneof![3 => Just(0), 1 => 0..1_500_u64];
    let ahead = prop_oneof![9 => Just(0), 1 => 0..300_u64];
    let avoid = prop_oneof![2 => Just(vec![]), 1 => names(4)];
    (0..IDS, 0..12_u8, select(&REGIONS[..]), interests, (age, ahead), 1..4_000_u64, avoid).prop_map(
        |(id, user, region, interests, (age, ahead), stays, avoid)| Step::Admit {
            id,
            user,
            region,
            interests,
            age,
            ahead,
            stays,
            avoid,
        },
    )
}

fn step() -> impl Strategy<Value = Step> {
    let why = || {
        prop_oneof![
            2 => Just(Refusal::Avoid),
            1 => (any::<bool>(), any::<bool>()).prop_map(|(a, b)| Refusal::Gone { a, b }),
        ]
    };
    let id = || 0..IDS;
    prop_oneof![
        12 => admit(),
        1 => (id(), 0..3_000_u64).prop_map(|(id, stays)| Step::Withdraw { id, stays }),
        1 => any::<usize>().prop_map(|nth| Step::WithdrawPooled { nth }),
        2 => (any::<usize>(), any::<bool>()).prop_map(|(nth, swapped)| Step::Confirm { nth, swapped }),
        4 => (any::<usize>(), any::<bool>(), why()).prop_map(|(nth, swapped, why)| Step::Refuse { nth, swapped, why }),
        1 => (id(), id(), prop::option::of(why())).prop_map(|(a, b, why)| Step::Stray { a, b, why }),
        4 => (0..400_u64).prop_map(|millis| Step::Pass { millis }),
        1 => (400..3_000_u64).prop_map(|millis| Step::Pass { millis }),
        6 => (0..2_u64).prop_map(|early| Step::PassUntilDue { early }),
        1 => (0..500_u64).prop_map(|millis| Step::Back { millis }),
    ]
}

fn rules() -> impl Strategy<Value = Rules> {
    // Mostly where small sets can meet the line exactly.
    let ask = || prop_oneof![3 => select(vec![0, 20, 25, 40, 50, 60, 75, 100_u64]), 1 => 0..=100_u64];
    let line = (ask(), ask()).prop_map(|(a, b)| (a.max(b), a.min(b)));
    let line = prop_oneof![2 => Just((100, 0)), 1 => line];
    let fall = prop_oneof![1 => Just(0), 4 => 1..2_000_u64];
    let widen = prop::option::of((1..900_u64, 1..4_u64, 1..4_u64));
    let any = prop::option::of(0..2_500_u64);
    let bound = prop_oneof![1 => 2..8_usize, 3 => Just(1_000)];
    let reservation = prop::bool::weighted(0.4);
    (line, fall, 1..4_u64, widen, any, bound, reservation).prop_map(
        |((start, floor), fall, min_shared, widen, any_interest_after, pool_bound, reservation)| Rules {
            reservation,
            start,
            floor,
            fall,
            min_shared,
            widen,
            any_interest_after,
            pool_bound,
        },
    )
}

fn policy(rules: &Rules) -> Policy {
    Policy {
        threshold: Threshold {
            start: rules.start as f64 / 100.0,
            floor: rules.floor as f64 / 100.0,
            fall: Duration::from_millis(rules.fall),
        },
        reservation: rules.reservation.then(|| Reservation {
            patience: Duration::from_millis(200),
            patience_at_most: Duration::from_millis(naive::FLOOR_AFTER - 150),
            fall: Duration::from_millis(150),
            ..Reservation::default()
        }),
        min_shared: rules.min_shared as u8,
        widen: rules.widen.map(|(after, labels, min_labels)| Widen {
            after: Duration::from_millis(after),
            labels: labels as u8,
            min_labels: min_labels as u8,
        }),
        any_interest_after: rules.any_interest_after.map(Duration::from_millis),
        pool_bound: rules.pool_bound,
    }
}

/// The engine, a second one that is told the same, and the model.
struct Trial {
    engine: Engine,
    /// Is not told that time passes before it gets a command.
    terse: Engine,
    model: Naive,
    clock: u64,
}

impl Trial {
    fn new(rules: Rules) -> Self {
        let engine = || Engine::new(policy(&rules)).expect("the rules make sense");
        // Far enough from 0 that a ticket can be older than the history.
        let clock = 10_000;
        Self { engine: engine(), terse: engine(), model: Naive::new(rules), clock }
    }

    fn run(&mut self, step: Step) {
        let command = match step {
            Step::Admit { id, user, region, interests, age, ahead, stays, avoid } => Command::Admit(Ticket {
                id: TicketId(id),
                user: format!("user {user}").into(),
                region: region.into(),
                interests: interests.iter().map(|i| format!("interest {i}").into()).collect(),
                created_at: Time::from_millis(self.clock + ahead - age),
                expires_at: Time::from_millis(self.clock + ahead - age + stays),
                avoid: avoid.iter().map(|user| format!("user {user}").into()).collect(),
            }),
            Step::Withdraw { id, stays } => {
                Command::Withdraw { id: TicketId(id), expires_at: Time::from_millis(self.clock + stays) }
            }
            Step::WithdrawPooled { nth } => {
                let ids: Vec<TicketId> = self.engine.ids().collect();
                let Some(&id) = ids.get(nth % ids.len().max(1)) else { return };
                Command::Withdraw { id, expires_at: Time::from_millis(self.clock) }
            }
            Step::Confirm { nth, swapped } => {
                let Some((a, b)) = self.proposed(nth, swapped) else { return };
                Command::Confirm { a, b }
            }
            Step::Refuse { nth, swapped, why } => {
                let Some((a, b)) = self.proposed(nth, swapped) else { return };
                Command::Refuse { a, b, why }
            }
            Step::Stray { a, b, why: None } => Command::Confirm { a: TicketId(a), b: TicketId(b) },
            Step::Stray { a, b, why: Some(why) } => Command::Refuse { a: TicketId(a), b: TicketId(b), why },
            Step::Pass { millis } => {
                self.clock += millis;
                Command::Advance
            }
            Step::PassUntilDue { early } => {
                let Some(due) = self.engine.next_due() else { return };
                self.clock = self.clock.max(due.as_millis() - early);
                Command::Advance
            }
            Step::Back { millis } => return self.tell(self.clock - millis, Command::Advance),
        };
        self.tell(self.clock, command);
    }

    fn proposed(&self, nth: usize, swapped: bool) -> Option<(TicketId, TicketId)> {
        let pairs = &self.model.settling;
        let [a, b] = pairs.get(nth % pairs.len().max(1))?;
        Some(if swapped { (b.0.id, a.0.id) } else { (a.0.id, b.0.id) })
    }

    fn tell(&mut self, now: u64, command: Command) {
        let at = Time::from_millis(now);
        let was_due = self.engine.next_due();

        let mut passed = Vec::new();
        self.engine.handle(at, Command::Advance, &mut passed);
        self.engine.check_invariants();
        if was_due.is_none_or(|due| due > at) {
            assert_eq!(passed, [], "something was done that was not due before {was_due:?}");
        }
        self.model.follow_advance(now, &passed);

        let mut said = Vec::new();
        self.engine.handle(at, command.clone(), &mut said);
        self.engine.check_invariants();
        self.model.follow(&command, &said);

        let mut said_tersely = Vec::new();
        self.terse.handle(at, command, &mut said_tersely);
        passed.append(&mut said);
        assert_eq!(said_tersely, passed, "a command does first what is due, and everything is determined");
        self.compare();
    }

    fn compare(&self) {
        let Self { engine, model, .. } = self;
        let settling = model.settling.iter().flatten().map(|(ticket, _)| ticket);
        let ids: BTreeSet<_> = model.waiting.values().chain(settling).map(|ticket| ticket.id).collect();
        assert_eq!(engine.ids().collect::<BTreeSet<_>>(), ids);
        assert_eq!((engine.len(), engine.is_empty()), (ids.len(), ids.is_empty()));
        assert_eq!(engine.waiting_len(), model.waiting.len());
        assert_eq!(engine.oldest(), model.waiting.values().map(|ticket| ticket.created_at).min());
        assert_eq!(engine.footprint().released, model.released.len());
        for id in (0..IDS).map(TicketId) {
            assert_eq!(engine.contains(id), ids.contains(&id));
            assert_eq!(engine.is_released(id), model.released.contains_key(&id), "{id:?} released");
        }
    }

    /// Lets everything come to its end: what is proposed is confirmed, what waits runs out.
    fn finish(mut self) {
        while let Some((a, b)) = self.proposed(0, false) {
            self.tell(self.clock, Command::Confirm { a, b });
        }
        let mut events = Vec::new();
        while let Some(due) = self.engine.next_due() {
            events.clear();
            self.engine.handle(due, Command::Advance, &mut events);
            assert!(self.engine.next_due() > Some(due) || self.engine.next_due().is_none());
            for event in events.clone() {
                if let Event::Proposed { a, b, .. } = event {
                    self.engine.handle(due, Command::Confirm { a, b }, &mut events);
                }
            }
        }
        // Nobody wakes the engine for ids that left; whatever comes long after frees them.
        self.engine.handle(Time::from_millis(u64::MAX), Command::Advance, &mut events);
        assert_eq!(self.engine.footprint(), matching_engine::Footprint::default());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 600, ..ProptestConfig::default() })]

    #[test]
    fn the_engine_does_what_the_naive_model_would(
        rules in rules(),
        steps in prop::collection::vec(step(), 1..90),
    ) {
        let mut trial = Trial::new(rules);
        steps.into_iter().for_each(|step| trial.run(step));
        trial.finish();
    }

    #[test]
    fn a_ticket_that_waits_longer_never_asks_for_more(rules in rules(), shared in 0..=64_u64, others in 0..=64_u64) {
        const DEADLINE: u64 = 1_000_000;
        // Seen from outside: two alone meet at a first moment, and whenever the second comes after it, at once.
        let meet = |second_after: u64| {
            let mut engine = Engine::new(policy(&Rules { pool_bound: 2, widen: None, reservation: false, ..rules.clone() })).unwrap();
            let mut events = Vec::new();
            for (id, more, now) in [(1, 0, 0), (2, others, second_after)] {
                let ticket = Ticket {
                    id: TicketId(id),
                    user: id.to_string().into(),
                    region: "kr".into(),
                    interests: (0..shared + more).map(|i| i.to_string().into()).collect(),
                    created_at: Time::from_millis(0),
                    expires_at: Time::from_millis(DEADLINE),
                    avoid: vec![],
                };
                engine.handle(Time::from_millis(now), Command::Admit(ticket), &mut events);
            }
            let proposed = |events: &[Event]| matches!(events.last(), Some(Event::Proposed { .. }));
            (proposed(&events), engine.next_due().map(Time::as_millis))
        };
        let (at_once, due) = meet(0);
        let due = if at_once { 0 } else { due.unwrap() };
        for late in [1, 10, 5_000] {
            if due < DEADLINE {
                prop_assert!(meet(due + late).0);
            }
        }
        if due > 0 {
            prop_assert!(!meet(due - 1).0);
        }
    }
}
