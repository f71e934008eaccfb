//! Since when people wait.
//!
//! Owns how many of those who wait began at each moment, and nothing about who they are.

use std::collections::BTreeMap;

use crate::Time;

/// How many wait since when.
#[derive(Debug, Default)]
pub(crate) struct Ages {
    by_moment: BTreeMap<Time, u32>,
    len: usize,
}

impl Ages {
    pub(crate) fn insert(&mut self, created_at: Time) {
        *self.by_moment.entry(created_at).or_default() += 1;
        self.len += 1;
    }

    pub(crate) fn remove(&mut self, created_at: Time) {
        let count = self.by_moment.get_mut(&created_at).expect("whoever waits was counted");
        *count -= 1;
        if *count == 0 {
            self.by_moment.remove(&created_at);
        }
        self.len -= 1;
    }

    /// How many wait.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Since when the one who waits longest does.
    pub(crate) fn oldest(&self) -> Option<Time> {
        self.by_moment.first_key_value().map(|(&moment, _)| moment)
    }

    /// Panics unless exactly these wait.
    pub(crate) fn check(&self, waiting: impl Iterator<Item = Time>) {
        let mut expected = BTreeMap::new();
        waiting.for_each(|created_at| *expected.entry(created_at).or_default() += 1);
        assert_eq!(self.by_moment, expected, "ages are kept of tickets that do not wait");
        assert_eq!(self.len as u64, expected.values().map(|&count| u64::from(count)).sum::<u64>(), "ages");
    }
}
