//! How people fared by how rare their taste is and by how many ask in their region.
//!
//! Both come from the trace alone, so every policy and every server is measured on the same people.

use serde::Serialize;

use crate::numbering::Numbering;
use crate::pairs::Pairing;
use crate::stats::Spread;
use crate::tickets::Ticket;
use crate::trace::Trace;

/// Users are ranked by rarity and cut into this many parts.
const TENTHS: usize = 10;

/// The most requests of a region in each group of regions but the last: a region in which somebody must take
/// whom there is, one with a choice, and one in which many fit.
const REGION_SIZES: [usize; 2] = [100, 1_000];

/// What came of some of a trace's requests. Times are in milliseconds; a mean or share of nothing is null.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Fared {
    /// Requests of the trace.
    pub requests: usize,
    /// Tickets that came of them.
    pub accepted: usize,
    /// Tickets whose user was told of a match.
    pub matched: usize,
    /// `matched` as a share of `accepted`.
    pub matched_share: Option<f64>,
    /// From the scheduled moment to learning of the match, over matched tickets.
    pub wait_ms: Spread,
    /// The similarity to their partners, each person once.
    pub similarity_mean: Option<f64>,
}

/// A tenth of the users, by the mean frequency of their interests: the number of the trace's users who have an
/// interest, averaged over a user's interests. Users of equal means are taken in the order of the trace.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RarityTenth {
    /// How many users: a tenth, give or take one.
    pub users: usize,
    /// The least mean frequency among them.
    pub mean_frequency_min: Option<f64>,
    /// The greatest.
    pub mean_frequency_max: Option<f64>,
    /// How they fared.
    #[serde(flatten)]
    pub fared: Fared,
}

/// The regions for which a trace has about as many requests.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RegionSize {
    /// The least requests of a region in this group.
    pub region_requests_min: usize,
    /// The most; null for the group of the largest.
    pub region_requests_max: Option<usize>,
    /// How many regions of the trace are in it.
    pub regions: usize,
    /// How their people fared.
    #[serde(flatten)]
    pub fared: Fared,
}

/// What came of a trace, for the groups to be told apart.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Played<'a> {
    pub(crate) trace: &'a Trace,
    pub(crate) tickets: &'a [Ticket<'a>],
    pub(crate) pairs: &'a [Pairing],
    /// Of each of `pairs`.
    pub(crate) similarities: &'a [f64],
}

impl Played<'_> {
    /// The tenths of the users, the rarest taste first. In a trace of fewer than ten users some are empty.
    pub(crate) fn by_rarity(self) -> Vec<RarityTenth> {
        let (user_of, mean_of) = mean_frequencies(self.trace);
        let mut rarest_first: Vec<usize> = (0..mean_of.len()).collect();
        rarest_first.sort_by(|a, b| mean_of[*a].total_cmp(&mean_of[*b]));
        let mut tenth_of = vec![0; mean_of.len()];
        let mut means = vec![Vec::new(); TENTHS];
        for (rank, user) in rarest_first.into_iter().enumerate() {
            tenth_of[user] = rank * TENTHS / mean_of.len();
            means[tenth_of[user]].push(mean_of[user]);
        }
        let group_of: Vec<usize> = user_of.into_iter().map(|user| tenth_of[user]).collect();
        let tenth = |(fared, means): (Fared, Vec<f64>)| RarityTenth {
            users: means.len(),
            mean_frequency_min: means.first().copied(),
            mean_frequency_max: means.last().copied(),
            fared,
        };
        self.fared(TENTHS, &group_of).into_iter().zip(means).map(tenth).collect()
    }

    /// The groups of regions, the smallest first. A group may be empty.
    pub(crate) fn by_region_size(self) -> Vec<RegionSize> {
        let mut numbers = Numbering::default();
        let region_of: Vec<usize> =
            self.trace.requests().iter().map(|request| numbers.of(request.region.as_str())).collect();
        let mut requests_of = vec![0_usize; numbers.len()];
        for region in &region_of {
            requests_of[*region] += 1;
        }
        let group = |requests: usize| REGION_SIZES.partition_point(|most| *most < requests);
        let group_of: Vec<usize> = region_of.iter().map(|region| group(requests_of[*region])).collect();
        let fared = self.fared(REGION_SIZES.len() + 1, &group_of);
        let size = |(n, fared): (usize, Fared)| RegionSize {
            region_requests_min: n.checked_sub(1).map_or(1, |before| REGION_SIZES[before] + 1),
            region_requests_max: REGION_SIZES.get(n).copied(),
            regions: requests_of.iter().filter(|requests| group(**requests) == n).count(),
            fared,
        };
        fared.into_iter().enumerate().map(size).collect()
    }

    /// How each group fared. `group_of[n]` is the group of request `n`.
    fn fared(self, groups: usize, group_of: &[usize]) -> Vec<Fared> {
        let mut similarities = vec![Vec::new(); groups];
        for (pair, similarity) in self.pairs.iter().zip(self.similarities) {
            for side in [pair.a, pair.b] {
                similarities[group_of[side.request]].push(*similarity);
            }
        }
        let fared = |(group, similarities): (usize, Vec<f64>)| {
            let tickets: Vec<_> = self.tickets.iter().filter(|t| group_of[t.request] == group).collect();
            let matched: Vec<_> = tickets.iter().filter(|ticket| ticket.is_matched()).collect();
            Fared {
                requests: group_of.iter().filter(|of| **of == group).count(),
                accepted: tickets.len(),
                matched: matched.len(),
                matched_share: share(matched.len() as f64, tickets.len()),
                wait_ms: Spread::of(matched.iter().filter_map(|ticket| ticket.end.wait_ms)),
                similarity_mean: share(similarities.iter().sum(), similarities.len()),
            }
        };
        similarities.into_iter().enumerate().map(fared).collect()
    }
}

fn share(sum: f64, of: usize) -> Option<f64> {
    (of > 0).then(|| sum / of as f64)
}

/// The user of each request, as a number, and how many users have an interest of each user, on average. A user of
/// several requests has the interests of all.
fn mean_frequencies(trace: &Trace) -> (Vec<usize>, Vec<f64>) {
    let (mut users, mut interests) = (Numbering::default(), Numbering::default());
    let (mut user_of, mut has) = (Vec::new(), Vec::new());
    for request in trace.requests() {
        let user = users.of(request.user.as_str());
        user_of.push(user);
        has.extend(request.interests.keys().map(|key| (user, interests.of(key))));
    }
    has.sort_unstable();
    has.dedup();
    let mut frequency = vec![0_usize; interests.len()];
    for (_, interest) in &has {
        frequency[*interest] += 1;
    }
    let mean = |of_user: &[(usize, usize)]| {
        of_user.iter().map(|(_, interest)| frequency[*interest] as f64).sum::<f64>() / of_user.len() as f64
    };
    // Users are numbered as they come and each has an interest, so the parts are in the order of their numbers.
    (user_of, has.chunk_by(|(a, _), (b, _)| a == b).map(mean).collect())
}
