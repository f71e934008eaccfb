//! What happens to tickets while they wait.
//!
//! Keeps index, ages and moments in step: a ticket enters and leaves all of them together, here and nowhere else.

use crate::bargain;
use crate::engine::Engine;
use crate::pool::{Slot, Stage};
use crate::scope::scope_at;
use crate::search::{Found, Grounds};
use crate::{Event, Time};

impl Engine {
    /// Does what is due, as [`Engine::handle`] says.
    pub(crate) fn do_due(&mut self, events: &mut Vec<Event>) {
        self.released.forget_due(self.now);
        while let Some((slot, _)) = self.waiting.deadlines.pop_due(&self.pool, self.now) {
            self.stop_waiting(slot);
            events.push(Event::Forgotten(self.pool.remove(slot).id));
        }
        while let Some((slot, moment)) = self.waiting.widenings.pop_due(&self.pool, self.now) {
            self.widen_scope(slot, moment);
        }
        while let Some((slot, _)) = self.waiting.searches.pop_due(&self.pool, self.now) {
            self.seek_partner(slot, events);
        }
    }

    /// Lets a resident wait, under the scope that its wait gives it by now. It must search afterwards.
    pub(crate) fn start_waiting(&mut self, slot: Slot) {
        let resident = self.pool.get_mut(slot);
        let scope =
            scope_at(self.policy.widen.as_ref(), resident.path.labels(), resident.created_at, self.now);
        resident.scope = scope.labels;
        resident.stage = Stage::Waiting;

        let waiting = &mut self.waiting;
        let resident = self.pool.get(slot);
        waiting.index.insert(slot, resident);
        waiting.elders.insert(slot, resident);
        waiting.created.insert(resident.created_at);
        waiting.deadlines.set(&self.pool, slot, resident.expires_at);
        if let Some(moment) = scope.widens_at.filter(|&moment| moment < resident.expires_at) {
            waiting.widenings.set(&self.pool, slot, moment);
        }
    }

    /// Takes a waiting ticket out of everything but the pool.
    pub(crate) fn stop_waiting(&mut self, slot: Slot) {
        let resident = self.pool.get(slot);
        let waiting = &mut self.waiting;
        waiting.index.remove(slot, resident);
        waiting.elders.remove(resident);
        waiting.created.remove(resident.created_at);
        waiting.deadlines.remove(&self.pool, slot);
        waiting.widenings.remove(&self.pool, slot);
        waiting.searches.remove(&self.pool, slot);
    }

    /// Proposes the best partner that a waiting ticket may have now, or notes when to search again.
    pub(crate) fn seek_partner(&mut self, slot: Slot, events: &mut Vec<Event>) {
        if let Some(rules) = &self.policy.reservation {
            let taste = &mut self.searcher.taste;
            self.pool.marks(slot, taste);
            let region = self.pool.regions.text(self.pool.get(slot).path.region());
            let prospect = self.arrivals.prospect(rules, region, taste, self.now);
            self.pool.asking_mut(slot).update(rules, prospect);
        }
        self.look_for_partner(slot, events);
    }

    /// Lets a ticket that arrives ask for what it may hope for, and do what [`Self::seek_partner`] does.
    pub(crate) fn arrive(&mut self, slot: Slot, events: &mut Vec<Event>) {
        if let Some(rules) = &self.policy.reservation {
            let taste = &mut self.searcher.taste;
            self.pool.marks(slot, taste);
            let region = self.pool.regions.text(self.pool.get(slot).path.region());
            let prospect = self.arrivals.arrive(rules, region, taste, self.now);
            self.pool.asking_mut(slot).update(rules, prospect);
        }
        self.look_for_partner(slot, events);
    }

    fn look_for_partner(&mut self, slot: Slot, events: &mut Vec<Event>) {
        let grounds = Grounds {
            rule: &self.rule,
            pool: &self.pool,
            index: &self.waiting.index,
            elders: &self.waiting.elders,
            now: self.now,
        };
        let found = match &self.policy.reservation {
            None => self.searcher.search(grounds, slot),
            Some(rules) => bargain::search(&mut self.searcher, &self.policy, rules, grounds, slot),
        };
        match found {
            Found::Partner { slot: partner, similarity } => {
                self.propose(slot, partner, similarity.as_f64(), events);
            }
            Found::NobodyUntil(Some(moment)) => {
                self.waiting.searches.set(&self.pool, slot, moment);
            }
            // Its entry, if it had one, was taken out for this search. Whoever comes later will look at it.
            Found::NobodyUntil(None) => {}
        }
    }

    fn propose(&mut self, slot: Slot, partner: Slot, similarity: f64, events: &mut Vec<Event>) {
        for (slot, partner) in [(slot, partner), (partner, slot)] {
            self.stop_waiting(slot);
            self.pool.get_mut(slot).stage = Stage::Settling { partner, withdrawn: false };
        }
        let mut pair = [slot, partner].map(|slot| self.pool.get(slot)).map(|r| (r.created_at, r.id));
        pair.sort_unstable();
        events.push(Event::Proposed { a: pair[0].1, b: pair[1].1, similarity });
    }

    /// Enters a waiting ticket under the wider scope that it has by now, and lets it search like one that arrives.
    fn widen_scope(&mut self, slot: Slot, moment: Time) {
        let resident = self.pool.get(slot);
        let scope =
            scope_at(self.policy.widen.as_ref(), resident.path.labels(), resident.created_at, self.now);
        self.waiting.index.remove(slot, resident);
        self.waiting.elders.remove(resident);

        self.pool.get_mut(slot).scope = scope.labels;

        let resident = self.pool.get(slot);
        self.waiting.index.insert(slot, resident);
        self.waiting.elders.insert(slot, resident);
        if let Some(moment) = scope.widens_at.filter(|&moment| moment < resident.expires_at) {
            self.waiting.widenings.set(&self.pool, slot, moment);
        }
        let search_at = self.waiting.searches.moment(slot).map_or(moment, |planned| planned.min(moment));
        self.waiting.searches.set(&self.pool, slot, search_at);
    }
}
