//! Who was paired with whom, put together from what each side was told.
//!
//! Nothing but the match's id and the partner's name is believed: shared interests, similarity and region are
//! worked out again from the trace.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::io::Write;

use proto::{MatchId, Overlap, Region};
use serde::Serialize;

use crate::outcome::{Ending, Posted, Seen};
use crate::trace::{Request, Trace};

/// Two people of the trace, joined by one match as at least one of them was told.
#[derive(Debug, Clone, PartialEq)]
pub struct Pairing {
    /// One side: the earlier in the trace.
    pub a: Side,
    /// The other. The same request as `a` when somebody was matched with themselves.
    pub b: Side,
}

/// One side of a pairing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Side {
    /// Which request of the trace.
    pub request: usize,
    /// How long it waited until it was told, in milliseconds. `None` when it never was told of this match.
    pub told_after_ms: Option<f64>,
}

/// The pairings of a run, in the order of their earlier request.
#[derive(Debug, Default)]
pub struct Pairings {
    /// All of them.
    pub all: Vec<Pairing>,
    /// How many phones were told of a partner who is not of this run.
    pub with_strangers: usize,
}

/// Puts together what the phones were told. `seen[n]` is what came of request `n`.
pub fn put_together(trace: &Trace, seen: &[Seen]) -> Pairings {
    let requests = trace.requests();
    let mut by_user: HashMap<&str, Vec<usize>> = HashMap::new();
    for (n, request) in requests.iter().enumerate() {
        by_user.entry(request.user.as_str()).or_default().push(n);
    }
    // A match may be told under one id to three people, so the two users are part of the key.
    let mut places: HashMap<(MatchId, &str, &str), usize> = HashMap::new();
    let mut found = Pairings::default();
    for (n, one) in seen.iter().enumerate() {
        let Ending::Matched { match_id, partner } = &one.ending else { continue };
        let user = requests[n].user.as_str();
        let partner = partner.as_deref().and_then(|name| by_user.get_key_value(name));
        let Some((&partner, partner_requests)) = partner else {
            found.with_strangers += 1;
            continue;
        };
        let told = Side { request: n, told_after_ms: one.wait_ms };
        match places.entry((*match_id, user.min(partner), user.max(partner))) {
            Entry::Vacant(place) => {
                place.insert(found.all.len());
                let other =
                    if user == partner { n } else { likely_request(partner_requests, seen, *match_id) };
                found.all.push(Pairing { a: told, b: Side { request: other, told_after_ms: None } });
            }
            Entry::Occupied(place) => {
                let pairing = &mut found.all[*place.get()];
                // A second phone of the same user tells nothing new.
                if requests[pairing.a.request].user.as_str() != user {
                    pairing.b = if pairing.b.told_after_ms.is_none() { told } else { pairing.b };
                }
            }
        }
    }
    for pairing in &mut found.all {
        if pairing.b.request < pairing.a.request {
            std::mem::swap(&mut pairing.a, &mut pairing.b);
        }
    }
    found.all.sort_by_key(|pairing| (pairing.a.request, pairing.b.request));
    found
}

/// Which request of a partner a match is about: the one that was told of it, else the first that had a ticket.
fn likely_request(of_partner: &[usize], seen: &[Seen], id: MatchId) -> usize {
    let told = |n: &&usize| matches!(&seen[**n].ending, Ending::Matched { match_id, .. } if *match_id == id);
    let had_ticket = |n: &&usize| matches!(seen[**n].posted, Posted::Ticket(_));
    let mut best =
        of_partner.iter().filter(told).chain(of_partner.iter().filter(had_ticket)).chain(of_partner);
    best.next().copied().unwrap_or_default()
}

impl Pairing {
    /// Whether somebody was matched with themselves.
    pub fn is_self(&self, trace: &Trace) -> bool {
        let (a, b) = self.requests(trace);
        a.user == b.user
    }

    /// The two requests.
    pub fn requests<'t>(&self, trace: &'t Trace) -> (&'t Request, &'t Request) {
        (&trace.requests()[self.a.request], &trace.requests()[self.b.request])
    }

    /// What the two have in common.
    pub fn overlap(&self, trace: &Trace) -> Overlap {
        let (a, b) = self.requests(trace);
        a.interests.overlap(&b.interests)
    }
}

/// One line of a pairs file.
#[derive(Serialize)]
struct Line<'t> {
    a: &'t str,
    b: &'t str,
    /// The narrowest region that holds both; null when there is none.
    region: Option<Region>,
    shared: Vec<String>,
    similarity: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_a_ms: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    wait_b_ms: Option<f64>,
}

/// Writes the pairings, one JSON a line. The wait of a side that was never told is left out.
///
/// # Errors
/// When writing fails.
pub fn write_pairs(trace: &Trace, pairings: &Pairings, to: &mut impl Write) -> std::io::Result<()> {
    for pairing in &pairings.all {
        let (a, b) = pairing.requests(trace);
        let Overlap { shared, similarity } = pairing.overlap(trace);
        let line = Line {
            a: a.user.as_str(),
            b: b.user.as_str(),
            region: a.region.common(&b.region),
            shared,
            similarity,
            wait_a_ms: pairing.a.told_after_ms.map(crate::stats::round),
            wait_b_ms: pairing.b.told_after_ms.map(crate::stats::round),
        };
        serde_json::to_writer(&mut *to, &line)?;
        to.write_all(b"\n")?;
    }
    Ok(())
}
