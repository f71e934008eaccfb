//! Who has waited longest where.
//!
//! Owns, per scope, the waiting tickets by age, for those who after a while take anybody. Stays empty when the
//! policy has no such moment.

use std::collections::{BTreeMap, HashMap};
use std::hash::BuildHasherDefault;

use crate::index::NumberHasher;
use crate::intern::Name;
use crate::pool::{Pool, Resident, Slot, Stage};
use crate::{TicketId, Time};

/// Waiting tickets by scope, the longest waiting first; of one age, the smaller id first.
#[derive(Debug)]
pub(crate) struct Elders {
    kept: bool,
    by_scope: HashMap<Name, ByAge, BuildHasherDefault<NumberHasher>>,
}

type ByAge = BTreeMap<(Time, TicketId), Slot>;

impl Elders {
    /// Keeps ages, or stays empty for ever.
    pub(crate) fn new(kept: bool) -> Self {
        Self { kept, by_scope: HashMap::default() }
    }

    pub(crate) fn insert(&mut self, slot: Slot, resident: &Resident) {
        if self.kept {
            let by_age = self.by_scope.entry(resident.scope_node()).or_default();
            by_age.insert((resident.created_at, resident.id), slot);
        }
    }

    pub(crate) fn remove(&mut self, resident: &Resident) {
        let scope = resident.scope_node();
        let Some(by_age) = self.by_scope.get_mut(&scope) else { return };
        by_age.remove(&(resident.created_at, resident.id));
        if by_age.is_empty() {
            self.by_scope.remove(&scope);
        }
    }

    /// Those who wait in exactly this scope, the longest waiting first.
    pub(crate) fn by_age(&self, scope: Name) -> impl Iterator<Item = Slot> {
        self.by_scope.get(&scope).into_iter().flat_map(BTreeMap::values).copied()
    }

    /// How many are kept.
    pub(crate) fn len(&self) -> usize {
        self.by_scope.values().map(BTreeMap::len).sum()
    }

    /// Panics unless exactly those who wait are here, if anybody is to be.
    pub(crate) fn check(&self, pool: &Pool) {
        let mut waiting = 0;
        for (slot, resident) in pool.residents().filter(|(_, r)| self.kept && r.stage == Stage::Waiting) {
            waiting += 1;
            let by_age = self.by_scope.get(&resident.scope_node());
            let found = by_age.and_then(|by_age| by_age.get(&(resident.created_at, resident.id)));
            assert_eq!(found, Some(&slot), "{:?} is not kept by age", resident.id);
        }
        assert_eq!(self.len(), waiting, "someone is kept by age who does not wait");
        assert!(self.by_scope.values().all(|by_age| !by_age.is_empty()), "an empty scope stayed");
    }
}
