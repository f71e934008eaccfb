//! The engine's outside: commands in, events out, and questions that change nothing.
//!
//! Owns the order of work: first everything that is due, then the command. It must never do the work of a command at
//! a moment other than `now`.

use crate::ages::Ages;
use crate::arrivals::Arrivals;
use crate::due::DueQueue;
use crate::elders::Elders;
use crate::index::Index;
use crate::pool::{Pool, Stage};
use crate::released::Released;
use crate::rule::Rule;
use crate::search::Searcher;
use crate::{Command, Event, InvalidPolicy, Policy, Rejection, Ticket, TicketId, Time};

/// Pairs the tickets of one shard.
///
/// Deterministic: the same commands at the same moments give the same events.
#[derive(Debug)]
pub struct Engine {
    pub(crate) policy: Policy,
    pub(crate) rule: Rule,
    /// The latest moment seen.
    pub(crate) now: Time,
    pub(crate) pool: Pool,
    pub(crate) waiting: Waiting,
    pub(crate) released: Released,
    pub(crate) searcher: Searcher,
    pub(crate) arrivals: Arrivals,
}

/// Everything that is known about tickets because they wait. Nobody being settled is in any of it.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) index: Index,
    pub(crate) elders: Elders,
    /// When they began to wait.
    pub(crate) created: Ages,
    /// When they leave.
    pub(crate) deadlines: DueQueue,
    /// When their scopes widen next, if that is before their deadlines.
    pub(crate) widenings: DueQueue,
    /// When they search next. For every two who will ever be pairable as things stand, one has an entry no later
    /// than the moment from which they are.
    pub(crate) searches: DueQueue,
}

impl Waiting {
    pub(crate) fn new(rule: &Rule) -> Self {
        Self {
            index: Index::default(),
            elders: Elders::new(rule.any_interest_millis().is_some()),
            created: Ages::default(),
            deadlines: DueQueue::default(),
            widenings: DueQueue::default(),
            searches: DueQueue::default(),
        }
    }
}

/// How much an engine holds. Everything but the released ids is zero when the pool is empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Footprint {
    /// Tickets that wait.
    pub waiting: usize,
    /// Tickets that were proposed and whose outcome has not come.
    pub settling: usize,
    /// Different users that tickets belong to or avoid.
    pub users: usize,
    /// Different interests.
    pub interests: usize,
    /// Different regions, the wider ones around them included.
    pub regions: usize,
    /// Lists of tickets by scope and interest.
    pub postings: usize,
    /// Moments at which something will be done.
    pub due: usize,
    /// Ids that left the pool and whose deadlines have not come.
    pub released: usize,
}

impl Engine {
    /// An empty engine.
    ///
    /// # Errors
    /// When the policy makes no sense.
    pub fn new(policy: Policy) -> Result<Self, InvalidPolicy> {
        policy.validate()?;
        let rule = Rule::new(&policy);
        Ok(Self {
            policy,
            now: Time::default(),
            pool: Pool::default(),
            waiting: Waiting::new(&rule),
            released: Released::default(),
            searcher: Searcher::default(),
            arrivals: Arrivals::default(),
            rule,
        })
    }

    /// Does everything that is due at or before `now`, then the command, and appends what there is to say.
    ///
    /// What is due is done in this order: deadlines, then scopes that widen, then searches; each in order of their
    /// moments, at one moment the smaller id first. All of it is judged at `now`, however late that is, so that a
    /// pair is never proposed past a deadline that has come meanwhile. A `now` before the latest one counts as that.
    ///
    /// The due work of one call needs no bound of its own: a ticket leaves, widens and searches at most once in it,
    /// since its next search always lies after `now`.
    pub fn handle(&mut self, now: Time, command: Command, events: &mut Vec<Event>) {
        self.now = self.now.max(now);
        self.do_due(events);
        match command {
            Command::Admit(ticket) => self.admit(&ticket, events),
            Command::Withdraw { id, expires_at } => self.withdraw(id, expires_at),
            Command::Confirm { a, b } => self.confirm(a, b),
            Command::Refuse { a, b, why } => self.refuse(a, b, why, events),
            Command::Advance => {}
        }
        self.give_back_storage();
    }

    fn admit(&mut self, ticket: &Ticket, events: &mut Vec<Event>) {
        let id = ticket.id;
        let rejection = if self.contains(id) {
            Some(Rejection::AlreadyPooled)
        } else if self.is_released(id) {
            Some(Rejection::Released)
        } else if ticket.expires_at <= self.now {
            Some(Rejection::Overdue)
        } else if self.pool.len() >= self.policy.pool_bound {
            Some(Rejection::Full)
        } else {
            None
        };
        if let Some(why) = rejection {
            events.push(Event::Rejected { id, why });
            return;
        }
        let slot = self.pool.add(ticket);
        events.push(Event::Admitted(id));
        self.start_waiting(slot);
        self.arrive(slot, events);
    }

    /// The earliest moment at which [`Command::Advance`] would have something to do for those who wait. Cheap.
    ///
    /// Ids that left are not counted: they are forgotten with whatever comes after their deadline, and are not worth
    /// being woken for.
    pub fn next_due(&self) -> Option<Time> {
        let Waiting { deadlines, widenings, searches, .. } = &self.waiting;
        [deadlines, widenings, searches].into_iter().filter_map(DueQueue::first_moment).min()
    }

    /// Whether the ticket waits or is being settled.
    pub fn contains(&self, id: TicketId) -> bool {
        self.pool.find(id).is_some()
    }

    /// Whether the ticket left, or was withdrawn before it came, and its deadline has not come yet.
    pub fn is_released(&self, id: TicketId) -> bool {
        self.released.contains(id)
    }

    /// How many tickets are in the pool, those being settled included.
    pub fn len(&self) -> usize {
        self.pool.len()
    }

    /// Whether nobody waits and nobody is being settled.
    pub fn is_empty(&self) -> bool {
        self.pool.is_empty()
    }

    /// How many tickets wait, those being settled not included.
    pub fn waiting_len(&self) -> usize {
        self.waiting.created.len()
    }

    /// The ids of all tickets in the pool, in no order that means anything.
    pub fn ids(&self) -> impl Iterator<Item = TicketId> + '_ {
        self.pool.residents().map(|(_, resident)| resident.id)
    }

    /// The tickets that wait, with when each was created and its deadline, in no order that means anything.
    pub fn waiting(&self) -> impl Iterator<Item = (TicketId, Time, Time)> + '_ {
        let waits = self.pool.residents().filter(|(_, resident)| resident.stage == Stage::Waiting);
        waits.map(|(_, resident)| (resident.id, resident.created_at, resident.expires_at))
    }

    /// When the ticket that has waited longest was created, those being settled not counted. Cheap.
    pub fn oldest(&self) -> Option<Time> {
        self.waiting.created.oldest()
    }

    /// How much is held.
    pub fn footprint(&self) -> Footprint {
        let Waiting { index, elders: _, created, deadlines, widenings, searches } = &self.waiting;
        Footprint {
            waiting: created.len(),
            settling: self.pool.len() - created.len(),
            users: self.pool.users.len(),
            interests: self.pool.interests.len(),
            regions: self.pool.regions.len(),
            postings: index.postings(),
            due: deadlines.len() + widenings.len() + searches.len(),
            released: self.released.len(),
        }
    }

    /// Lets go of the memory that a full pool needed, once the pool is empty.
    fn give_back_storage(&mut self) {
        if self.is_empty() && self.pool.slots() > 0 {
            self.pool = Pool::default();
            self.waiting = Waiting::new(&self.rule);
            self.searcher = Searcher::default();
        }
    }
}
