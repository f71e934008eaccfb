//! The report of a run: how many were paired, how well, how fast, and what went wrong.
//!
//! Made from the trace and from what each client saw, never from what a server says about itself.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::Serialize;

use crate::bound::Bound;
use crate::groups::{Played, RarityTenth, RegionSize};
use crate::outcome::{Ending, Posted, Seen};
use crate::pairs::{Pairings, Side};
use crate::stats::{Spread, round};
use crate::tickets::tickets;
use crate::trace::Trace;

/// How a trace was played.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Mode {
    /// Through engines in this process, in simulated time.
    Engine,
    /// Against running servers.
    Http,
}

/// Facts about the run as a whole.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Run {
    /// How the trace was played.
    pub mode: Mode,
    /// How long the run took, in real seconds.
    pub elapsed_seconds: f64,
    /// Whether somebody ended it early, so that phones still waited for answers.
    pub interrupted: bool,
    /// What the pairs are measured against, when it was computed.
    pub bound: Option<Bound>,
}

/// What `--json` holds. Times are in milliseconds; a mean or percentile of nothing is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Report {
    /// Requests sent. `accepted + already_waiting + rejected + failed` of them were answered.
    pub submitted: usize,
    /// Tickets that exist because of them.
    pub accepted: usize,
    /// Requests refused with 429 or 503, or because the pool was at its bound.
    pub rejected: usize,
    /// Accepted tickets whose user was told of a match.
    pub matched: usize,
    /// Accepted tickets whose user was told that the deadline passed.
    pub expired: usize,
    /// Accepted tickets whose user was told that they were withdrawn.
    pub cancelled: usize,
    /// Accepted tickets whose user had learnt no final state when the run ended.
    pub unsettled: usize,
    /// Pairs of people of the trace, as at least one of the two was told.
    pub pairs: usize,
    /// From the scheduled moment to the answer with the ticket, over accepted tickets.
    pub accept_ms: Spread,
    /// From the scheduled moment to learning of the match, over matched tickets.
    pub wait_ms: Spread,
    /// The similarities of all pairs, added up.
    pub similarity_sum: f64,
    /// Their mean.
    pub similarity_mean: Option<f64>,
    /// How many interests a pair shares, on average.
    pub shared_mean: Option<f64>,
    /// Pairs with no shared interest.
    pub zero_shared_pairs: usize,
    /// Pairs whose regions differ.
    pub cross_region_pairs: usize,
    /// Users in more pairs than they had tickets.
    pub double_matched: usize,
    /// Pairs of somebody with themselves.
    pub self_matched: usize,
    /// Pairs of which only one side was told, though the other's phone had not been stopped early.
    pub told_one_side: usize,

    /// The similarities of all pairs, as a share of [`Self::similarity_bound`].
    pub similarity_ratio: Option<f64>,
    /// The most that they could add up to ([`crate::bound`]); null when it was not asked for.
    pub similarity_bound: Option<f64>,
    /// Requests in regions so large that this bound is 2 to 3 % wider there.
    pub similarity_bound_loose_requests: Option<usize>,
    /// How the tenths of the users fared, those of the rarest interests first. Ten.
    pub by_rarity: Vec<RarityTenth>,
    /// How many times [`Self::wait_ms`]'s p95 that of the rarest tenth is; null when nobody waited that long at all.
    pub rarest_tenth_wait_p95_factor: Option<f64>,
    /// How the people of small, middling and large regions fared. Three.
    pub by_region_size: Vec<RegionSize>,
    /// How the trace was played.
    pub mode: Mode,
    /// Requests answered with a ticket that was waiting for the same user already.
    pub already_waiting: usize,
    /// Requests that got no usable answer.
    pub failed: usize,
    /// Answers that no server should give, and answers that never came, by kind.
    pub errors: BTreeMap<String, usize>,
    /// How often phones sent again, after a lost answer or when asked to.
    pub retries: u64,
    /// Tickets that were matched with somebody who is not of this run. They are in no pair.
    pub matched_with_strangers: usize,
    /// From the scheduled moment to learning of the expiry, over expired tickets.
    pub expired_ms: Spread,
    /// How much later than scheduled requests were sent.
    pub send_lag_ms: Spread,
    /// How long the run took, in seconds.
    pub elapsed_seconds: f64,
    /// Whether it was ended early.
    pub interrupted: bool,
}

impl Report {
    /// Adds up a run. `seen[n]` is what came of request `n` of the trace.
    pub fn new(trace: &Trace, seen: &[Seen], pairings: &Pairings, run: Run) -> Self {
        let posted = |kind: Posted| seen.iter().filter(|one| one.posted == kind).count();
        let tickets = tickets(seen);
        let ended = |is: fn(&Ending) -> bool| tickets.iter().filter(|t| is(&t.end.ending)).count();
        let waits = |is: fn(&Ending) -> bool| {
            Spread::of(tickets.iter().filter(|t| is(&t.end.ending)).filter_map(|t| t.end.wait_ms))
        };
        let is_matched = |ending: &Ending| matches!(ending, Ending::Matched { .. });
        let is_expired = |ending: &Ending| *ending == Ending::Expired;

        let overlaps: Vec<_> = pairings.all.iter().map(|pairing| pairing.overlap(trace)).collect();
        let mean = |sum: f64| (!overlaps.is_empty()).then(|| sum / overlaps.len() as f64);
        let similarities: Vec<f64> = overlaps.iter().map(|overlap| overlap.similarity).collect();
        let similarity_sum: f64 = similarities.iter().sum();
        let shared_sum: usize = overlaps.iter().map(|overlap| overlap.shared.len()).sum();

        let played = Played { trace, tickets: &tickets, pairs: &pairings.all, similarities: &similarities };
        let by_rarity = played.by_rarity();
        let wait_ms = waits(is_matched);

        let mut errors = BTreeMap::new();
        for kind in seen.iter().flat_map(|one| &one.errors) {
            *errors.entry(kind.clone()).or_default() += 1;
        }
        Self {
            submitted: seen.len() - posted(Posted::NotSent),
            accepted: tickets.len(),
            rejected: posted(Posted::Rejected),
            matched: ended(is_matched),
            expired: ended(is_expired),
            cancelled: ended(|ending| *ending == Ending::Cancelled),
            unsettled: ended(|ending| *ending == Ending::Unsettled),
            pairs: pairings.all.len(),
            accept_ms: Spread::of(tickets.iter().filter_map(|t| t.first.accept_ms)),
            wait_ms,
            similarity_sum,
            similarity_mean: mean(similarity_sum),
            shared_mean: mean(shared_sum as f64),
            zero_shared_pairs: overlaps.iter().filter(|overlap| overlap.shared.is_empty()).count(),
            cross_region_pairs: pairings
                .all
                .iter()
                .map(|pairing| pairing.requests(trace))
                .filter(|(a, b)| a.region != b.region)
                .count(),
            double_matched: count_double_matched(trace, seen, pairings),
            self_matched: pairings.all.iter().filter(|pairing| pairing.is_self(trace)).count(),
            told_one_side: count_told_one_side(trace, seen, pairings, run.interrupted),
            similarity_ratio: run.bound.and_then(|bound| bound.ratio(similarity_sum)),
            similarity_bound: run.bound.map(|bound| bound.similarity),
            similarity_bound_loose_requests: run.bound.map(|bound| bound.loose_requests),
            rarest_tenth_wait_p95_factor: by_rarity[0].fared.wait_ms.p95_factor(wait_ms),
            by_rarity,
            by_region_size: played.by_region_size(),
            mode: run.mode,
            already_waiting: seen.iter().filter(|s| matches!(s.posted, Posted::Ticket(_))).count()
                - tickets.len(),
            failed: posted(Posted::Failed),
            errors,
            retries: seen.iter().map(|one| u64::from(one.retries)).sum(),
            matched_with_strangers: pairings.with_strangers,
            expired_ms: waits(is_expired),
            send_lag_ms: Spread::of(seen.iter().filter_map(|one| one.send_lag_ms)),
            elapsed_seconds: round(run.elapsed_seconds),
            interrupted: run.interrupted,
        }
    }

    /// Matched tickets as a share of the accepted; `None` when there are none.
    pub fn matched_share(&self) -> Option<f64> {
        (self.accepted > 0).then(|| self.matched as f64 / self.accepted as f64)
    }

    /// How many things happened that never may. The run has failed unless it is 0.
    pub fn faults(&self) -> usize {
        self.double_matched + self.self_matched + self.told_one_side + self.errors.values().sum::<usize>()
    }
}

/// Users whom the phones, their own and others', place in more pairs than they had tickets.
fn count_double_matched(trace: &Trace, seen: &[Seen], pairings: &Pairings) -> usize {
    let mut had: HashMap<&str, HashSet<_>> = HashMap::new();
    for (request, one) in trace.requests().iter().zip(seen) {
        if let Posted::Ticket(id) = one.posted {
            had.entry(request.user.as_str()).or_default().insert(id);
        }
    }
    let mut times: HashMap<&str, usize> = HashMap::new();
    for pairing in &pairings.all {
        let (a, b) = pairing.requests(trace);
        *times.entry(a.user.as_str()).or_default() += 1;
        if a.user != b.user {
            *times.entry(b.user.as_str()).or_default() += 1;
        }
    }
    // A ticket of which its user never learnt may still be matched once.
    times.iter().filter(|(user, times)| **times > had.get(*user).map_or(1, HashSet::len)).count()
}

fn count_told_one_side(trace: &Trace, seen: &[Seen], pairings: &Pairings, interrupted: bool) -> usize {
    let not_told = |side: &Side| {
        // In a run that was ended early the answer may have been on its way.
        let one = &seen[side.request];
        side.told_after_ms.is_none() && !(interrupted && one.ending == Ending::Unsettled)
    };
    let one_sided = pairings.all.iter().filter(|p| !p.is_self(trace) && (not_told(&p.a) || not_told(&p.b)));
    one_sided.count()
}
