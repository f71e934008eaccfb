//! The pairing rule as the README of a much simpler engine would tell it: everybody is compared with everybody, in
//! texts and whole numbers, at every step.
//!
//! It follows the engine's events and judges each of them; the only thing it does not know is in which order tickets
//! that are due at one moment search.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use matching_engine::{Command, Event, Refusal, Rejection, Ticket, TicketId};

/// A policy in whole numbers: per cent and milliseconds.
#[derive(Debug, Clone)]
pub(crate) struct Rules {
    /// Asks by reservation values. Of these the model knows only that they are never below the floor, and at it after
    /// [`FLOOR_AFTER`].
    pub(crate) reservation: bool,
    pub(crate) start: u64,
    pub(crate) floor: u64,
    pub(crate) fall: u64,
    pub(crate) min_shared: u64,
    /// After how long, how many labels, the fewest labels.
    pub(crate) widen: Option<(u64, u64, u64)>,
    pub(crate) any_interest_after: Option<u64>,
    pub(crate) pool_bound: usize,
}

/// After how many milliseconds a ticket asks for the floor only, when it asks by reservation values.
pub(crate) const FLOOR_AFTER: u64 = 700;

#[derive(Debug)]
pub(crate) struct Naive {
    pub(crate) rules: Rules,
    pub(crate) now: u64,
    pub(crate) waiting: BTreeMap<TicketId, Ticket>,
    pub(crate) settling: Vec<[(Ticket, bool); 2]>,
    pub(crate) released: BTreeMap<TicketId, u64>,
    pub(crate) avoiding: BTreeSet<(TicketId, Box<str>)>,
}

impl Naive {
    pub(crate) fn new(rules: Rules) -> Self {
        Self {
            rules,
            now: 0,
            waiting: BTreeMap::new(),
            settling: Vec::new(),
            released: BTreeMap::new(),
            avoiding: BTreeSet::new(),
        }
    }

    /// The labels that a ticket's partner has to agree with by now.
    fn scope<'t>(&self, ticket: &'t Ticket) -> Vec<&'t str> {
        let mut labels: Vec<&str> = ticket.region.split('.').collect();
        if let Some((after, lost, fewest)) = self.rules.widen {
            let steps = self.waited(ticket) / after;
            let left = (labels.len() as u64).saturating_sub(steps * lost);
            labels.truncate(left.max(fewest) as usize);
        }
        labels
    }

    fn waited(&self, ticket: &Ticket) -> u64 {
        self.now.saturating_sub(ticket.created_at.as_millis())
    }

    fn accepts_region(&self, a: &Ticket, b: &Ticket) -> bool {
        let theirs: Vec<&str> = b.region.split('.').collect();
        theirs.starts_with(&self.scope(a))
    }

    fn avoids(&self, a: &Ticket, b: &Ticket) -> bool {
        a.avoid.contains(&b.user) || self.avoiding.contains(&(a.id, b.user.clone()))
    }

    /// Shared interests, and those of both together.
    fn overlap(a: &Ticket, b: &Ticket) -> (u64, u64) {
        let [a, b] = [a, b].map(|ticket| ticket.interests.iter().collect::<BTreeSet<_>>());
        (a.intersection(&b).count() as u64, a.union(&b).count() as u64)
    }

    /// Whether the line of a ticket has come down to this by now: `start - (start - floor) * waited / fall <= s`.
    fn asks_no_more_than(&self, ticket: &Ticket, (shared, union): (u64, u64)) -> bool {
        let Rules { start, floor, fall, .. } = self.rules;
        let waited = self.waited(ticket);
        if waited >= fall || self.rules.reservation {
            return 100 * shared >= floor * union;
        }
        100 * shared * fall >= union * (start * fall - (start - floor) * waited)
    }

    /// Whether two may pair now.
    pub(crate) fn pairable(&self, a: &Ticket, b: &Ticket) -> bool {
        let overlap = Self::overlap(a, b);
        let similar = overlap.0 >= self.rules.min_shared
            && self.asks_no_more_than(a, overlap)
            && self.asks_no_more_than(b, overlap);
        let patient =
            |ticket| self.rules.any_interest_after.is_some_and(|after| self.waited(ticket) >= after);
        a.user != b.user
            && !self.avoids(a, b)
            && !self.avoids(b, a)
            && self.accepts_region(a, b)
            && self.accepts_region(b, a)
            && a.expires_at.as_millis() > self.now
            && b.expires_at.as_millis() > self.now
            && a.created_at.as_millis() <= self.now
            && b.created_at.as_millis() <= self.now
            && (similar || (patient(a) && patient(b)))
    }

    /// Whom a ticket should be proposed to now: the most similar, then the longest waiting, then the smaller id.
    pub(crate) fn best_partner(&self, ticket: &Ticket) -> Option<TicketId> {
        let candidates = self.waiting.values().filter(|other| self.pairable(ticket, other));
        let best = candidates.max_by(|a, b| {
            let rank = |other: &Ticket| Reverse((other.created_at, other.id));
            let ((shared_a, union_a), (shared_b, union_b)) =
                (Self::overlap(ticket, a), Self::overlap(ticket, b));
            (shared_a * union_b).cmp(&(shared_b * union_a)).then(rank(a).cmp(&rank(b)))
        });
        best.map(|other| other.id)
    }

    /// Nobody may be left who could pair.
    pub(crate) fn assert_nobody_is_pairable(&self) {
        for a in self.waiting.values() {
            for b in self.waiting.values().filter(|b| a.id < b.id) {
                let in_time = |ticket| self.rules.reservation && self.waited(ticket) < FLOOR_AFTER;
                let may_wait = in_time(a) || in_time(b);
                assert!(
                    may_wait || !self.pairable(a, b),
                    "left waiting, though they may pair:\n{a:?}\n{b:?}"
                );
            }
        }
    }

    /// Judges what time alone brought.
    pub(crate) fn follow_advance(&mut self, now: u64, events: &[Event]) {
        self.now = self.now.max(now);
        self.released.retain(|_, until| *until > self.now);
        let overdue = |ticket: &Ticket| ticket.expires_at.as_millis() <= self.now;
        let expected: BTreeSet<_> = self.waiting.values().filter(|t| overdue(t)).map(|t| t.id).collect();
        let (forgotten, proposals) = events.split_at(expected.len());
        let forgotten: BTreeSet<_> = forgotten
            .iter()
            .map(|event| match event {
                Event::Forgotten(id) => *id,
                Event::Proposed { .. } | Event::Admitted(_) | Event::Rejected { .. } => {
                    panic!("{event:?} before the overdue are forgotten")
                }
            })
            .collect();
        assert_eq!(forgotten, expected, "those whose deadline came");
        self.waiting.retain(|id, _| !expected.contains(id));
        proposals.iter().for_each(|event| self.follow_proposal(event, None));
        self.assert_nobody_is_pairable();
    }

    /// Judges one proposal, which a certain ticket asked for if that is known.
    pub(crate) fn follow_proposal(&mut self, event: &Event, seeker: Option<TicketId>) {
        let &Event::Proposed { a, b, similarity } = event else { panic!("{event:?} instead of a proposal") };
        let find =
            |id| self.waiting.get(&id).unwrap_or_else(|| panic!("{id:?} is proposed and does not wait"));
        let (ticket_a, ticket_b) = (find(a), find(b));
        assert!(
            self.pairable(ticket_a, ticket_b),
            "proposed, though they may not pair:\n{ticket_a:?}\n{ticket_b:?}"
        );
        assert!((ticket_a.created_at, a) < (ticket_b.created_at, b), "the longer waiting comes first");
        let (shared, union) = Self::overlap(ticket_a, ticket_b);
        assert_eq!(similarity.to_bits(), (shared as f64 / union.max(1) as f64).to_bits());

        let chosen = |x: &Ticket, y: TicketId| {
            seeker.is_none_or(|seeker| seeker == x.id) && self.best_partner(x) == Some(y)
        };
        assert!(
            self.rules.reservation || chosen(ticket_a, b) || chosen(ticket_b, a),
            "there was a better partner than in {event:?}"
        );
        let pair = [a, b].map(|id| (self.waiting.remove(&id).expect("found above"), false));
        self.settling.push(pair);
    }

    /// Judges what a command brought, once what was due is done.
    pub(crate) fn follow(&mut self, command: &Command, events: &[Event]) {
        match command {
            Command::Advance => assert_eq!(events, []),
            Command::Admit(ticket) => self.follow_admit(ticket, events),
            Command::Withdraw { id, expires_at } => {
                assert_eq!(events, []);
                self.follow_withdraw(*id, expires_at.as_millis());
            }
            Command::Confirm { a, b } => {
                assert_eq!(events, []);
                self.take_settling(*a, *b)
                    .into_iter()
                    .flatten()
                    .for_each(|(ticket, _)| self.release(&ticket));
            }
            Command::Refuse { a, b, why } => self.follow_refuse(*a, *b, *why, events),
        }
        self.assert_nobody_is_pairable();
    }

    fn follow_admit(&mut self, ticket: &Ticket, events: &[Event]) {
        let settling = self.settling.iter().flatten();
        let rejection =
            if self.waiting.contains_key(&ticket.id) || settling.clone().any(|s| s.0.id == ticket.id) {
                Some(Rejection::AlreadyPooled)
            } else if self.released.contains_key(&ticket.id) {
                Some(Rejection::Released)
            } else if ticket.expires_at.as_millis() <= self.now {
                Some(Rejection::Overdue)
            } else if self.waiting.len() + settling.count() >= self.rules.pool_bound {
                Some(Rejection::Full)
            } else {
                None
            };
        if let Some(why) = rejection {
            assert_eq!(events, [Event::Rejected { id: ticket.id, why }]);
            return;
        }
        assert_eq!(events[0], Event::Admitted(ticket.id));
        self.avoiding.retain(|(id, _)| *id != ticket.id);
        self.waiting.insert(ticket.id, ticket.clone());
        let proposals = usize::from(self.best_partner(ticket).is_some());
        if self.rules.reservation {
            assert!(events.len() <= 2, "an arrival is proposed once");
        } else {
            assert_eq!(events.len(), 1 + proposals, "an arrival is proposed at once or not at all");
        }
        events[1..].iter().for_each(|event| self.follow_proposal(event, Some(ticket.id)));
    }

    fn follow_withdraw(&mut self, id: TicketId, expires_at: u64) {
        if let Some(ticket) = self.waiting.remove(&id) {
            self.release(&ticket);
        } else if let Some((_, withdrawn)) = self.settling.iter_mut().flatten().find(|s| s.0.id == id) {
            *withdrawn = true;
        } else if expires_at > self.now {
            let until = self.released.entry(id).or_default();
            *until = expires_at.max(*until);
        }
    }

    fn follow_refuse(&mut self, a: TicketId, b: TicketId, why: Refusal, events: &[Event]) {
        let Some(pair) = self.take_settling(a, b) else {
            assert_eq!(events, []);
            return;
        };
        let users = [pair[0].0.user.clone(), pair[1].0.user.clone()];
        let mut forgotten = Vec::new();
        for (i, (ticket, withdrawn)) in pair.into_iter().enumerate() {
            let gone = match why {
                Refusal::Gone { a: gone_a, b: gone_b } => [gone_a, gone_b][i],
                Refusal::Avoid => {
                    self.avoiding.insert((ticket.id, users[1 - i].clone()));
                    false
                }
            };
            if gone || withdrawn {
                self.release(&ticket);
            } else if ticket.expires_at.as_millis() <= self.now {
                forgotten.push(Event::Forgotten(ticket.id));
            } else {
                self.waiting.insert(ticket.id, ticket);
            }
        }
        let (first, proposals) = events.split_at(forgotten.len());
        assert_eq!(first, forgotten);
        assert!(proposals.len() <= 2);
        proposals.iter().for_each(|event| self.follow_proposal(event, None));
    }

    /// The two as the command names them, if they were proposed and not decided.
    fn take_settling(&mut self, a: TicketId, b: TicketId) -> Option<[(Ticket, bool); 2]> {
        let ids = |pair: &[(Ticket, bool); 2]| [pair[0].0.id, pair[1].0.id];
        let at = self.settling.iter().position(|pair| ids(pair) == [a, b] || ids(pair) == [b, a])?;
        let mut pair = self.settling.remove(at);
        if pair[0].0.id != a {
            pair.reverse();
        }
        Some(pair)
    }

    fn release(&mut self, ticket: &Ticket) {
        if ticket.expires_at.as_millis() > self.now {
            self.released.insert(ticket.id, ticket.expires_at.as_millis());
        }
    }
}
