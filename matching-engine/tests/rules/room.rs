//! A room where people press the match button, on a clock that the test moves.

use std::collections::BTreeMap;
use std::time::Duration;

use matching_engine::{Command, Engine, Event, Policy, Refusal, Rejection, Ticket, TicketId, Time, Widen};

/// Asks for equal interests at first, for one shared interest after 1000 ms; nothing else.
pub(crate) fn plain() -> Policy {
    let mut policy = Policy { widen: None, reservation: None, ..Policy::default() };
    policy.threshold.fall = Duration::from_millis(1_000);
    policy
}

/// The same, and scopes lose a label every 5000 ms, down to one.
pub(crate) fn widening() -> Policy {
    let widen = Widen { after: Duration::from_millis(5_000), labels: 1, min_labels: 1 };
    Policy { widen: Some(widen), ..plain() }
}

/// The same as plain, and after 3000 ms anybody will do.
pub(crate) fn anybody() -> Policy {
    Policy { any_interest_after: Some(Duration::from_millis(3_000)), ..plain() }
}

/// Reservation values as they are by default; nothing widens.
pub(crate) fn reserved() -> Policy {
    Policy { widen: None, ..Policy::default() }
}

/// A ticket of a user who is 60 s patient. The id is the user's; who comes later has a greater one.
#[derive(Debug, Clone)]
pub(crate) struct Press {
    pub(crate) user: &'static str,
    pub(crate) region: &'static str,
    pub(crate) interests: &'static [&'static str],
    pub(crate) avoid: &'static [&'static str],
    pub(crate) stays: u64,
}

/// In Seoul, with these interests.
pub(crate) fn press(user: &'static str, interests: &'static [&'static str]) -> Press {
    Press { user, region: "kr.seoul", interests, avoid: &[], stays: 60_000 }
}

pub(crate) struct Room {
    pub(crate) engine: Engine,
    clock: u64,
    ids: BTreeMap<&'static str, TicketId>,
}

impl Room {
    pub(crate) fn new(policy: Policy) -> Self {
        Self { engine: Engine::new(policy).expect("the policy makes sense"), clock: 0, ids: BTreeMap::new() }
    }

    /// What the engine says to a command now.
    pub(crate) fn tell(&mut self, command: Command) -> Vec<Event> {
        let mut events = Vec::new();
        self.engine.handle(Time::from_millis(self.clock), command, &mut events);
        self.engine.check_invariants();
        events
    }

    /// Moves the clock and says what came of that.
    pub(crate) fn at(&mut self, millis: u64) -> Vec<Event> {
        self.clock = millis;
        self.tell(Command::Advance)
    }

    /// The ticket of a user, the latest one pressed.
    pub(crate) fn id(&self, user: &str) -> TicketId {
        self.ids[user]
    }

    pub(crate) fn ticket(&mut self, press: &Press) -> Ticket {
        let id = TicketId(self.ids.values().max().map_or(1, |id| id.0 + 1));
        self.ids.insert(press.user, id);
        Ticket {
            id,
            user: press.user.into(),
            region: press.region.into(),
            interests: press.interests.iter().map(|&text| text.into()).collect(),
            created_at: Time::from_millis(self.clock),
            expires_at: Time::from_millis(self.clock + press.stays),
            avoid: press.avoid.iter().map(|&text| text.into()).collect(),
        }
    }

    /// Admits a ticket that must be taken, and says what came of it.
    pub(crate) fn press(&mut self, press: &Press) -> Vec<Event> {
        let ticket = self.ticket(press);
        let id = ticket.id;
        let mut events = self.tell(Command::Admit(ticket));
        let admitted = events.iter().position(|event| *event == Event::Admitted(id)).expect("it is admitted");
        events.remove(admitted);
        events
    }

    /// Several who find nobody.
    pub(crate) fn press_alone(&mut self, presses: &[Press]) {
        for press in presses {
            assert_eq!(self.press(press), [], "{} finds nobody yet", press.user);
        }
    }

    /// Why a ticket is not taken.
    pub(crate) fn rejection(&mut self, ticket: Ticket) -> Option<Rejection> {
        match self.tell(Command::Admit(ticket)).last() {
            Some(&Event::Rejected { why, .. }) => Some(why),
            Some(Event::Admitted(_) | Event::Proposed { .. } | Event::Forgotten(_)) | None => None,
        }
    }

    pub(crate) fn confirm(&mut self, a: &str, b: &str) -> Vec<Event> {
        self.tell(Command::Confirm { a: self.id(a), b: self.id(b) })
    }

    pub(crate) fn refuse(&mut self, a: &str, b: &str, why: Refusal) -> Vec<Event> {
        self.tell(Command::Refuse { a: self.id(a), b: self.id(b), why })
    }

    /// Withdraws by id and names a deadline that only counts for strangers.
    pub(crate) fn withdraw(&mut self, user: &str) -> Vec<Event> {
        let expires_at = Time::from_millis(self.clock + 1_000);
        self.tell(Command::Withdraw { id: self.id(user), expires_at })
    }

    /// The event that proposes these two, the first the longer waiting.
    pub(crate) fn proposed(&self, a: &str, b: &str, similarity: f64) -> Event {
        Event::Proposed { a: self.id(a), b: self.id(b), similarity }
    }

    pub(crate) fn next_due(&self) -> Option<u64> {
        self.engine.next_due().map(Time::as_millis)
    }
}
