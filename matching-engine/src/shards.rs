//! One large map as many small ones.
//!
//! A map that grows or shrinks moves all it holds, and for a million entries everybody waits for most of a second. These grow
//! one at a time: how full each is follows from hashes, so that no two do it for the same reason.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::{BuildHasher, Hash};

/// How many there are: with as many entries as a hundred thousand tickets can bring, each moves in milliseconds.
const SHARDS: usize = 128;
/// Below this a map is not worth shrinking.
const SMALL: usize = 1_024;

/// A map in shards. Whoever uses it names the shard of a key by any number that is spread well.
#[derive(Debug)]
pub(crate) struct Shards<K, V, S> {
    shards: Vec<HashMap<K, V, S>>,
    len: usize,
}

impl<K, V, S: Default> Default for Shards<K, V, S> {
    fn default() -> Self {
        Self { shards: (0..SHARDS).map(|_| HashMap::default()).collect(), len: 0 }
    }
}

impl<K: Eq + Hash, V, S: BuildHasher> Shards<K, V, S> {
    pub(crate) fn get<Q: Eq + Hash + ?Sized>(&self, spread: u32, key: &Q) -> Option<&V>
    where
        K: Borrow<Q>,
    {
        self.shards[spread as usize % SHARDS].get(key)
    }

    pub(crate) fn get_mut(&mut self, spread: u32, key: &K) -> Option<&mut V> {
        self.shards[spread as usize % SHARDS].get_mut(key)
    }

    /// What is there by then, which is `new()` if nothing was.
    pub(crate) fn get_or_insert_with(&mut self, spread: u32, key: K, new: impl FnOnce() -> V) -> &mut V {
        let Self { shards, len } = self;
        shards[spread as usize % SHARDS].entry(key).or_insert_with(|| {
            *len += 1;
            new()
        })
    }

    /// Takes an entry out, and lets go of memory that no longer is of use.
    pub(crate) fn remove<Q: Eq + Hash + ?Sized>(&mut self, spread: u32, key: &Q)
    where
        K: Borrow<Q>,
    {
        let shard = &mut self.shards[spread as usize % SHARDS];
        self.len -= usize::from(shard.remove(key).is_some());
        if shard.capacity() > SMALL && shard.len() < shard.capacity() / 8 {
            shard.shrink_to(shard.len() * 2);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Everything, in no order that means anything.
    pub(crate) fn values(&self) -> impl Iterator<Item = &V> {
        self.shards.iter().flat_map(HashMap::values)
    }
}
