//! What becomes of a proposal. Pure: a store reads both tickets under its locks, asks here, and writes what was decided.
//!
//! Every rule of promise 2 that is about two tickets is here, once, for all stores.

use std::collections::HashSet;

use proto::{InterestSet, MatchId, MatchMade, MatchedTicket, Region, TicketId, Timestamp, UserId};

use crate::{Proposal, Settlement};

/// One side of a proposal as the store knows it.
#[derive(Debug, Clone)]
pub(crate) struct Side {
    pub(crate) id: TicketId,
    pub(crate) user: UserId,
    pub(crate) region: Region,
    pub(crate) interests: InterestSet,
    pub(crate) created_at: Timestamp,
    /// Whether it waits and its deadline is still to come.
    pub(crate) open: bool,
    /// When it settled and the match it is in.
    pub(crate) matched: Option<(MatchId, Timestamp)>,
}

/// What the store knows of the two users of a proposal.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Between {
    /// They were partners not long ago.
    pub(crate) recent: bool,
    /// One of them has blocked the other.
    pub(crate) blocked: bool,
}

/// The decisions on one batch.
pub(crate) struct Decisions {
    now: Timestamp,
    used: HashSet<TicketId>,
    /// The matches to be written, in the order of their proposals.
    pub(crate) won: Vec<MatchMade>,
}

impl Decisions {
    /// `now` is the moment at which deadlines were looked at, and that of all matches made.
    pub(crate) fn at(now: Timestamp) -> Self {
        Self { now, used: HashSet::new(), won: Vec::new() }
    }

    /// Decides the next proposal. `None` is a ticket that the store does not know.
    pub(crate) fn decide(
        &mut self,
        proposal: &Proposal,
        a: Option<Side>,
        b: Option<Side>,
        between: Between,
    ) -> Settlement {
        let open = |side: &Option<Side>| {
            side.as_ref().is_some_and(|side| side.open && !self.used.contains(&side.id))
        };
        let gone = Settlement::Gone { a: !open(&a), b: !open(&b) };
        let (Some(a), Some(b)) = (a, b) else { return gone };
        if let Some(made_at) = made_before(proposal, &a, &b) {
            return matched(&a, &b, make(proposal, &a, &b, made_at));
        }
        if gone != (Settlement::Gone { a: false, b: false }) {
            return gone;
        }
        if between.blocked {
            return Settlement::Blocked;
        }
        if between.recent || a.user == b.user {
            return Settlement::Recent;
        }
        self.used.extend([a.id, b.id]);
        let made = make(proposal, &a, &b, self.now);
        self.won.push(made.clone());
        matched(&a, &b, made)
    }
}

/// When an earlier try of the same proposal made the match.
fn made_before(proposal: &Proposal, a: &Side, b: &Side) -> Option<Timestamp> {
    let (of_a, of_b) = (a.matched?, b.matched?);
    (of_a.0 == proposal.match_id && of_b.0 == proposal.match_id).then_some(of_a.1)
}

fn matched(a: &Side, b: &Side, made: MatchMade) -> Settlement {
    Settlement::Matched {
        wait_a: made.made_at.since(a.created_at),
        wait_b: made.made_at.since(b.created_at),
        made: Box::new(made),
    }
}

fn make(proposal: &Proposal, a: &Side, b: &Side, made_at: Timestamp) -> MatchMade {
    // Tickets of one commit have one moment; their ids then say which is the earlier, whoever proposes.
    let (earlier, later) = if (b.created_at, b.id) < (a.created_at, a.id) { (b, a) } else { (a, b) };
    let overlap = earlier.interests.overlap(&later.interests);
    let ticket = |side: &Side| MatchedTicket { id: side.id, user: side.user.clone() };
    MatchMade {
        id: proposal.match_id,
        tickets: [ticket(earlier), ticket(later)],
        shared_interests: overlap.shared,
        similarity: overlap.similarity,
        // Two regions without a common label are never proposed; the earlier one's names the match then.
        region: earlier.region.common(&later.region).unwrap_or_else(|| earlier.region.clone()),
        made_at,
    }
}
