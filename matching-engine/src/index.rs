//! Who waits where with which interest.
//!
//! Owns the posting lists: for each scope and interest, the waiting tickets, set sizes kept apart. Nobody being
//! settled is in here, and an empty list must not stay.

use std::hash::{BuildHasherDefault, Hasher};

use crate::intern::Name;
use crate::pool::{Pool, Resident, Slot, Stage};
use crate::shards::Shards;

/// Posting lists by scope and interest.
#[derive(Debug, Default)]
pub(crate) struct Index {
    postings: Shards<PostingKey, Posting, BuildHasherDefault<NumberHasher>>,
    /// By slot: for each of its interests, in order, where in its bucket the ticket stands. Empty when not indexed.
    places: Vec<Box<[u32]>>,
}

/// A scope and an interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct PostingKey(u64);

impl PostingKey {
    fn new(scope: Name, interest: Name) -> Self {
        Self(u64::from(scope.0) << 32 | u64::from(interest.0))
    }

    /// For the choice of a shard.
    fn spread(self) -> u32 {
        (self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 48) as u32
    }
}

/// Those who wait in one scope with one interest, by the size of their interest set, smallest first.
type Posting = Vec<Bucket>;

/// Those whose interest sets have one size.
#[derive(Debug)]
pub(crate) struct Bucket {
    /// How many interests each of them has.
    pub(crate) size: u32,
    entries: Vec<Entry>,
}

impl Bucket {
    /// Its tickets, in no order that means anything.
    pub(crate) fn tickets(&self) -> impl Iterator<Item = Slot> {
        self.entries.iter().map(|entry| entry.slot)
    }
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    slot: Slot,
    /// Which of the ticket's interests this is, so that its place can be corrected when it is moved.
    nth: u32,
}

/// Below this a list is not worth shrinking.
const SMALL: usize = 1_024;

impl Index {
    /// Enters a ticket under its current scope.
    pub(crate) fn insert(&mut self, slot: Slot, resident: &Resident) {
        let scope = resident.scope_node();
        let size = resident.size();
        let places = resident.interests.iter().zip(0..).map(|(&interest, nth)| {
            let key = PostingKey::new(scope, interest);
            let posting = self.postings.get_or_insert_with(key.spread(), key, Posting::new);
            let bucket = match posting.binary_search_by_key(&size, |bucket| bucket.size) {
                Ok(at) => &mut posting[at],
                Err(at) => {
                    posting.insert(at, Bucket { size, entries: Vec::new() });
                    &mut posting[at]
                }
            };
            bucket.entries.push(Entry { slot, nth });
            u32::try_from(bucket.entries.len() - 1).expect("a bucket is no larger than the pool")
        });
        let places = places.collect();
        if self.places.len() <= slot.index() {
            self.places.resize_with(slot.index() + 1, Box::default);
        }
        self.places[slot.index()] = places;
    }

    /// Takes a ticket out. Its scope must be the one it was entered under.
    pub(crate) fn remove(&mut self, slot: Slot, resident: &Resident) {
        let scope = resident.scope_node();
        let size = resident.size();
        let places = std::mem::take(&mut self.places[slot.index()]);
        for (&interest, &place) in resident.interests.iter().zip(&places) {
            let key = PostingKey::new(scope, interest);
            let posting =
                self.postings.get_mut(key.spread(), &key).expect("an indexed ticket is in its lists");
            let at = posting
                .binary_search_by_key(&size, |bucket| bucket.size)
                .expect("an indexed ticket is in the bucket of its size");
            let entries = &mut posting[at].entries;
            let gone = entries.swap_remove(place as usize);
            debug_assert_eq!(gone.slot, slot, "a ticket stands at its place");
            if let Some(moved) = entries.get(place as usize) {
                self.places[moved.slot.index()][moved.nth as usize] = place;
            }
            if entries.is_empty() {
                posting.remove(at);
            } else if entries.capacity() > SMALL && entries.len() < entries.capacity() / 8 {
                entries.shrink_to(entries.len() * 2);
            }
            if posting.is_empty() {
                self.postings.remove(key.spread(), &key);
            }
        }
    }

    /// Those who wait in exactly this scope with this interest, by set size, smallest first.
    pub(crate) fn buckets(&self, scope: Name, interest: Name) -> &[Bucket] {
        let key = PostingKey::new(scope, interest);
        self.postings.get(key.spread(), &key).map_or(&[], Vec::as_slice)
    }

    /// How many lists there are.
    pub(crate) fn postings(&self) -> usize {
        self.postings.len()
    }

    /// Panics unless exactly those who wait are here, each under its scope and at its places.
    pub(crate) fn check(&self, pool: &Pool) {
        let mut entries = 0;
        for (slot, resident) in pool.residents() {
            let places = self.places.get(slot.index()).map_or(&[][..], |places| &places[..]);
            if resident.stage != Stage::Waiting {
                assert!(places.is_empty(), "{:?} is being settled and yet indexed", resident.id);
                continue;
            }
            assert_eq!(places.len(), resident.interests.len(), "{:?} is half indexed", resident.id);
            for ((&interest, &place), nth) in resident.interests.iter().zip(places).zip(0..) {
                entries += 1;
                let buckets = self.buckets(resident.scope_node(), interest);
                let bucket = buckets.iter().find(|bucket| bucket.size == resident.size());
                let entry = bucket.and_then(|bucket| bucket.entries.get(place as usize));
                let found = entry.map(|entry| (entry.slot, entry.nth));
                assert_eq!(found, Some((slot, nth)), "{:?} is not at its place", resident.id);
            }
        }
        let mut listed = 0;
        for posting in self.postings.values() {
            assert!(!posting.is_empty(), "an empty list stayed");
            assert!(posting.is_sorted_by(|a, b| a.size < b.size), "a list is not in order of size");
            assert!(posting.iter().all(|bucket| !bucket.entries.is_empty()), "an empty bucket stayed");
            listed += posting.iter().map(|bucket| bucket.entries.len()).sum::<usize>();
        }
        assert_eq!(listed, entries, "someone is listed who does not wait");
    }
}

/// Spreads numbers that we gave out ourselves, so no stranger can aim at it.
#[derive(Debug, Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.write_u64(u64::from(byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mixed = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        self.0 = mixed ^ (mixed >> 32);
    }

    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
}
