//! Plays a trace through engines, in simulated time.
//!
//! There is one engine a shard, as on the servers, and a settlement takes no time. No clock is read and nothing
//! is left to chance: the same trace and policy give the same outcome.

use std::collections::HashMap;
use std::time::Duration;

use anyhow::{Context, bail, ensure};
use matching_engine::{Command, Engine, Event, Rejection, Ticket, TicketId, Time};
use proto::{DEFAULT_SHARD_COUNT, MatchId, shard_of};
use service::policy::MatchPolicy;

use crate::outcome::{Ending, Posted, Seen};
use crate::trace::{Request, Trace};

/// The labels that a shard is made of: a scope wider than this would be in the pools of two shards.
const SHARD_LABELS: u8 = 2;
/// The most former partners that a ticket carries, as on the servers.
const MAX_AVOIDED: usize = 100;

/// Plays a trace until every ticket is settled. `on_request` is called as each request comes.
///
/// # Errors
/// When the policy makes no sense, asks for what is not simulated, or the engine breaks its contract.
pub fn simulate(trace: &Trace, policy: &MatchPolicy, on_request: impl Fn()) -> anyhow::Result<Vec<Seen>> {
    if let Some(widen) = policy.pairing.widen {
        ensure!(
            widen.min_labels >= SHARD_LABELS,
            "widen.min_labels = {} is not simulated: scopes wider than {SHARD_LABELS} labels span shards; \
             play it against a server",
            widen.min_labels
        );
    }
    let mut world = World::new(trace, policy)?;
    for n in 0..trace.requests().len() {
        let now = Time::from_millis(trace.requests()[n].at_ms);
        world.pass_until(now)?;
        world.submit(n, now)?;
        on_request();
    }
    world.pass_until(Time::from_millis(u64::MAX))?;
    ensure!(world.open == 0, "{} tickets are left and no engine has anything due", world.open);
    Ok(world.seen)
}

struct World<'t> {
    trace: &'t Trace,
    policy: &'t MatchPolicy,
    engines: Vec<Engine>,
    seen: Vec<Seen>,
    /// The request of each user's latest ticket.
    latest: HashMap<&'t str, usize>,
    /// Each user's partners and when they met, in that order.
    met: HashMap<&'t str, Vec<(&'t str, Time)>>,
    /// How many tickets wait.
    open: usize,
    matches: u128,
}

impl<'t> World<'t> {
    fn new(trace: &'t Trace, policy: &'t MatchPolicy) -> anyhow::Result<Self> {
        let engine = |_| Engine::new(policy.pairing.clone());
        Ok(Self {
            trace,
            policy,
            engines: (0..DEFAULT_SHARD_COUNT).map(engine).collect::<Result<_, _>>()?,
            seen: vec![Seen::default(); trace.requests().len()],
            latest: HashMap::new(),
            met: HashMap::new(),
            open: 0,
            matches: 0,
        })
    }

    /// Lets the engines do what is due before `end`, the earliest first.
    fn pass_until(&mut self, end: Time) -> anyhow::Result<()> {
        while self.open > 0 {
            let due = self.engines.iter().enumerate().filter_map(|(n, engine)| Some((engine.next_due()?, n)));
            let Some((now, shard)) = due.min().filter(|(now, _)| *now < end) else { break };
            self.tell(shard, now, Command::Advance)?;
            let next = self.engines[shard].next_due();
            ensure!(
                next.is_none_or(|next| next > now),
                "the engine of shard {shard:02} left due work undone"
            );
        }
        Ok(())
    }

    fn submit(&mut self, n: usize, now: Time) -> anyhow::Result<()> {
        let request = &self.trace.requests()[n];
        self.seen[n].accept_ms = Some(0.0);
        let shard = usize::from(shard_of(&request.region, DEFAULT_SHARD_COUNT).0);
        // At a moment that is both, the deadline comes first: the server settles an overdue ticket before the new one.
        self.tell(shard, now, Command::Advance)?;
        if let Some(&waiting) = self.latest.get(request.user.as_str())
            && self.seen[waiting].ending == Ending::Unsettled
        {
            self.seen[n].posted = self.seen[waiting].posted;
            return Ok(());
        }
        if self.engines[shard].len() >= self.policy.pool_bound {
            self.seen[n].posted = Posted::Rejected;
            return Ok(());
        }
        self.seen[n].posted = Posted::Ticket(proto::TicketId::from_u128(n as u128));
        self.latest.insert(request.user.as_str(), n);
        self.open += 1;
        let ticket = self.ticket(n, request, now);
        self.tell(shard, now, Command::Admit(ticket))
    }

    fn ticket(&self, n: usize, request: &Request, now: Time) -> Ticket {
        let not_again = |met: &Time| now.since(*met) < self.policy.no_rematch_for;
        let met = self.met.get(request.user.as_str()).map_or(&[][..], Vec::as_slice);
        let avoid = met.iter().rev().filter(|(_, when)| not_again(when)).take(MAX_AVOIDED);
        Ticket {
            id: TicketId(n as u128),
            user: request.user.as_str().into(),
            region: request.region.as_str().into(),
            interests: request.interests.keys().map(Into::into).collect(),
            created_at: now,
            expires_at: now.plus(self.policy.expire_after),
            avoid: avoid.map(|(partner, _)| (*partner).into()).collect(),
        }
    }

    /// Tells an engine something, and settles what it proposes until it is quiet.
    fn tell(&mut self, shard: usize, now: Time, command: Command) -> anyhow::Result<()> {
        let mut events = Vec::new();
        self.engines[shard].handle(now, command, &mut events);
        while !events.is_empty() {
            for event in std::mem::take(&mut events) {
                match event {
                    Event::Admitted(_) => {}
                    Event::Proposed { a, b, .. } => {
                        self.settle(a, b, now)?;
                        self.engines[shard].handle(now, Command::Confirm { a, b }, &mut events);
                    }
                    Event::Forgotten(id) => self.end(id, now, Ending::Expired).map(drop)?,
                    Event::Rejected { id, why: Rejection::Full } => {
                        let seen = self.waiting(id)?;
                        seen.posted = Posted::Rejected;
                        self.latest.remove(self.trace.requests()[index(id)?].user.as_str());
                        self.open -= 1;
                    }
                    Event::Rejected { id, why } => bail!("the engine rejected ticket {} as {why:?}", id.0),
                }
            }
        }
        Ok(())
    }

    fn settle(&mut self, a: TicketId, b: TicketId, now: Time) -> anyhow::Result<()> {
        let requests = self.trace.requests();
        let match_id = MatchId::from_u128(self.matches);
        self.matches += 1;
        for (one, other) in [(a, b), (b, a)] {
            let partner =
                requests.get(index(other)?).context("a proposal names an unknown ticket")?.user.as_str();
            let user = self.end(one, now, Ending::Matched { match_id, partner: Some(partner.into()) })?;
            self.met.entry(user).or_default().push((partner, now));
        }
        Ok(())
    }

    /// Ends a ticket and gives its user. Whatever the engine does, a ticket ends once.
    fn end(&mut self, id: TicketId, now: Time, ending: Ending) -> anyhow::Result<&'t str> {
        let trace = self.trace;
        let request = trace.requests().get(index(id)?).context("the engine names an unknown ticket")?;
        let waited = now.since(Time::from_millis(request.at_ms));
        let seen = self.waiting(id)?;
        seen.ending = ending;
        seen.wait_ms = Some(as_ms(waited));
        self.open -= 1;
        Ok(request.user.as_str())
    }

    fn waiting(&mut self, id: TicketId) -> anyhow::Result<&mut Seen> {
        let seen = self.seen.get_mut(index(id)?).context("the engine names an unknown ticket")?;
        ensure!(seen.ending == Ending::Unsettled, "the engine settled ticket {} twice", id.0);
        Ok(seen)
    }
}

fn index(id: TicketId) -> anyhow::Result<usize> {
    usize::try_from(id.0).context("the engine names an unknown ticket")
}

fn as_ms(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trace(lines: &[(u64, &str, &str, &str)]) -> Trace {
        let request = |(at_ms, user, region, likes): &(u64, &str, &str, &str)| Request {
            at_ms: *at_ms,
            user: proto::UserId::new(user).unwrap(),
            region: region.parse().unwrap(),
            interests: proto::InterestSet::new(&likes.split(' ').collect::<Vec<_>>()).unwrap(),
        };
        Trace::new(lines.iter().map(request).collect()).unwrap()
    }

    fn play(lines: &[(u64, &str, &str, &str)], policy: &str) -> Vec<Seen> {
        simulate(&trace(lines), &policy.parse().unwrap(), || {}).unwrap()
    }

    fn partner(seen: &Seen) -> Option<&str> {
        match &seen.ending {
            Ending::Matched { partner, .. } => partner.as_deref(),
            Ending::Unsettled | Ending::Cancelled | Ending::Expired => None,
        }
    }

    #[test]
    fn equal_interests_meet_at_once_and_the_lonely_expire() {
        let lines =
            [(0, "ana", "kr.seoul", "a b"), (40, "ben", "kr.seoul", "a b"), (50, "cem", "kr.busan", "a b")];
        let seen = play(&lines, "");
        assert_eq!((partner(&seen[0]), seen[0].wait_ms), (Some("ben"), Some(40.0)));
        assert_eq!((partner(&seen[1]), seen[1].wait_ms), (Some("ana"), Some(0.0)));
        assert_eq!((&seen[2].ending, seen[2].wait_ms), (&Ending::Expired, Some(60_000.0)));
    }

    #[test]
    fn who_submits_again_while_waiting_keeps_the_ticket() {
        let lines = [(0, "ana", "kr.seoul", "a"), (10, "ana", "kr.seoul", "b"), (20, "ben", "kr.seoul", "a")];
        let seen = play(&lines, "");
        assert_eq!(seen[1].posted, seen[0].posted);
        assert_eq!((partner(&seen[0]), partner(&seen[2])), (Some("ben"), Some("ana")));
        assert_eq!(seen[1].ending, Ending::Unsettled);
    }

    #[test]
    fn partners_do_not_meet_again_too_soon() {
        let lines = [
            (0, "ana", "kr.seoul", "a"),
            (10, "ben", "kr.seoul", "a"),
            (1_000, "ana", "kr.seoul", "a"),
            (1_010, "ben", "kr.seoul", "a"),
        ];
        let seen = play(&lines, "");
        assert_eq!((partner(&seen[0]), &seen[2].ending), (Some("ben"), &Ending::Expired));
        let seen = play(&lines, "no_rematch_for = \"500ms\"");
        assert_eq!((partner(&seen[0]), partner(&seen[2])), (Some("ben"), Some("ben")));
    }

    #[test]
    fn the_pool_bound_refuses() {
        let lines = [(0, "ana", "kr.seoul", "a"), (1, "ben", "kr.seoul", "b"), (2, "cem", "kr.seoul", "a")];
        let seen = play(&lines, "pool_bound = 1");
        assert_eq!((seen[1].posted, seen[2].posted), (Posted::Rejected, Posted::Rejected));
        assert_eq!(seen[0].ending, Ending::Expired);
    }

    #[test]
    fn scopes_that_span_shards_are_refused() {
        let lines = [(0, "ana", "kr.seoul", "a")];
        let policy = "[widen]\nmin_labels = 1".parse().unwrap();
        let error = simulate(&trace(&lines), &policy, || {}).unwrap_err().to_string();
        assert!(error.contains("widen.min_labels"), "{error}");
    }
}
