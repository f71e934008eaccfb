//! People as in a real burst, from a seed.
//!
//! Owns the shape of the crowd: how many interests a person has, which, and where people are. It is never part of
//! what is measured.

use std::sync::Arc;
use std::time::Duration;

use matching_engine::{Policy, Reservation, Ticket, TicketId, Time};
use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// How many people of 10,000 have 1, 2, 3, ... interests, a range with its weight: mean 6.0, median 4, 99th percentile
/// 24. The table of `replay/src/generate.rs`, which was fitted to the music genres that real listeners like (Rozemberczki et
/// al., GEMSEC, arXiv 1802.03997).
const INTEREST_COUNTS: [(usize, usize, u32); 10] = [
    (1, 1, 2270),
    (2, 2, 1310),
    (3, 3, 950),
    (4, 4, 760),
    (5, 6, 1220),
    (7, 9, 1320),
    (10, 13, 1300),
    (14, 18, 480),
    (19, 24, 300),
    (25, 42, 90),
];

/// How many interests there are. The first is held by 80 % of the people; of the others each is 0.88 times as likely as the
/// one before. From the same place.
const INTERESTS: i32 = 84;
const FIRST_WEIGHT: f64 = 66_000.0;
const SECOND_WEIGHT: f64 = 10_000.0;
const NEXT: f64 = 0.88;

/// The population of Korea's provinces and metropolitan cities, in parts of 10,000 people (Statistics Korea).
const REGIONS: [(&str, u32); 17] = [
    ("kr.gyeonggi", 2660),
    ("kr.seoul", 1820),
    ("kr.busan", 640),
    ("kr.gyeongnam", 630),
    ("kr.incheon", 580),
    ("kr.gyeongbuk", 500),
    ("kr.daegu", 460),
    ("kr.chungnam", 410),
    ("kr.jeonnam", 350),
    ("kr.jeonbuk", 340),
    ("kr.chungbuk", 310),
    ("kr.gangwon", 300),
    ("kr.daejeon", 280),
    ("kr.gwangju", 280),
    ("kr.ulsan", 210),
    ("kr.jeju", 130),
    ("kr.sejong", 80),
];

/// How long a ticket may wait.
pub(crate) const EXPIRE_AFTER: Duration = Duration::from_secs(60);

/// The policies that are measured.
pub(crate) fn policies() -> [(&'static str, Policy); 2] {
    let policy = |reservation| Policy { reservation, pool_bound: usize::MAX, ..Policy::default() };
    [("reservation", policy(Some(Reservation::default()))), ("threshold", policy(None))]
}

/// An endless stream of people.
pub(crate) struct Crowd {
    chance: ChaCha8Rng,
    counts: WeightedIndex<u32>,
    interests: WeightedIndex<f64>,
    regions: WeightedIndex<u32>,
    names: Vec<Arc<str>>,
    next_id: u128,
    /// Into how many districts each region is divided, one label deeper; 1: not at all.
    districts: u32,
}

impl Crowd {
    /// With each region divided into so many districts.
    pub(crate) fn new(seed: u64, districts: u32) -> Self {
        let popularity = (0..INTERESTS).map(|nth| match nth {
            0 => FIRST_WEIGHT,
            _ => SECOND_WEIGHT * NEXT.powi(nth - 1),
        });
        Self {
            chance: ChaCha8Rng::seed_from_u64(seed),
            counts: WeightedIndex::new(INTEREST_COUNTS.map(|(.., weight)| weight)).expect("weights above 0"),
            interests: WeightedIndex::new(popularity).expect("weights above 0"),
            regions: WeightedIndex::new(REGIONS.map(|(_, weight)| weight)).expect("weights above 0"),
            names: (0..INTERESTS).map(|nth| format!("interest {nth}").into()).collect(),
            next_id: 1,
            districts,
        }
    }

    /// The next person.
    pub(crate) fn one(&mut self) -> Ticket {
        let (from, to, _) = INTEREST_COUNTS[self.counts.sample(&mut self.chance)];
        let count = self.chance.random_range(from..=to);
        self.one_with(count)
    }

    /// The next person with so many interests.
    pub(crate) fn one_with(&mut self, count: usize) -> Ticket {
        let mut interests: Vec<Arc<str>> = Vec::with_capacity(count);
        while interests.len() < count {
            let name = &self.names[self.interests.sample(&mut self.chance)];
            if !interests.contains(name) {
                interests.push(Arc::clone(name));
            }
        }
        let region = REGIONS[self.regions.sample(&mut self.chance)].0;
        if self.districts == 1 {
            return self.ticket(region, interests);
        }
        let district = self.chance.random_range(0..self.districts);
        self.ticket(&format!("{region}.d{district}"), interests)
    }

    /// A ticket of the next user, with these interests.
    pub(crate) fn ticket(&mut self, region: &str, interests: Vec<Arc<str>>) -> Ticket {
        let number = self.next_id;
        self.next_id += 1;
        Ticket {
            id: TicketId(number),
            user: format!("user-{number:09}").into(),
            region: region.into(),
            interests,
            created_at: Time::default(),
            expires_at: Time::default().plus(EXPIRE_AFTER),
            avoid: vec![],
        }
    }
}

/// Lets a ticket arrive at a moment.
pub(crate) fn arrives(mut ticket: Ticket, at: Time) -> Ticket {
    ticket.created_at = at;
    ticket.expires_at = at.plus(EXPIRE_AFTER);
    ticket
}
