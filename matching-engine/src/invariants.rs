//! What must be true between two commands.
//!
//! Only reads. Costs as much as the pool is large: for tests, simulations and debug builds.

use crate::engine::{Engine, Waiting};
use crate::pool::{Resident, Slot, Stage};
use crate::scope::scope_at;

impl Engine {
    /// Checks that everything the engine holds agrees.
    ///
    /// # Panics
    /// When something does not, naming it.
    pub fn check_invariants(&self) {
        self.pool.check();
        self.released.check(self.now);
        let Waiting { index, elders, created, deadlines, widenings, searches } = &self.waiting;
        index.check(&self.pool);
        elders.check(&self.pool);
        let waiting_ones = self.pool.residents().filter(|(_, resident)| resident.stage == Stage::Waiting);
        created.check(waiting_ones.map(|(_, resident)| resident.created_at));
        deadlines.check("deadlines", &self.pool);
        widenings.check("widenings", &self.pool);
        searches.check("searches", &self.pool);

        let mut waiting = 0;
        for (slot, resident) in self.pool.residents() {
            assert!(!self.is_released(resident.id), "{:?} is here and released", resident.id);
            match resident.stage {
                Stage::Waiting => {
                    waiting += 1;
                    self.check_waiting(slot, resident);
                }
                Stage::Settling { partner, .. } => self.check_settling(slot, resident, partner),
            }
        }
        assert_eq!(created.len(), waiting, "ages are kept of tickets that do not wait");
        assert_eq!(deadlines.len(), waiting, "deadlines are kept of tickets that do not wait");
        assert!(self.next_due().is_none_or(|moment| moment > self.now), "something is overdue");
        if self.is_empty() {
            let left = self.footprint();
            let released = left.released;
            assert_eq!(
                left,
                crate::Footprint { released, ..Default::default() },
                "an empty pool holds something"
            );
        }
    }

    fn check_waiting(&self, slot: Slot, resident: &Resident) {
        let id = resident.id;
        let Waiting { deadlines, widenings, searches, .. } = &self.waiting;
        assert_eq!(deadlines.moment(slot), Some(resident.expires_at), "the deadline of {id:?} is wrong");
        let scope =
            scope_at(self.policy.widen.as_ref(), resident.path.labels(), resident.created_at, self.now);
        assert_eq!(resident.scope, scope.labels, "the scope of {id:?} is not what its wait makes it");
        let widens_at = scope.widens_at.filter(|&moment| moment < resident.expires_at);
        assert_eq!(widenings.moment(slot), widens_at, "{id:?} widens at another moment");
        let search = searches.moment(slot);
        assert!(
            search.is_none_or(|moment| moment < resident.expires_at),
            "{id:?} searches past its deadline"
        );
    }

    fn check_settling(&self, slot: Slot, resident: &Resident, partner: Slot) {
        let id = resident.id;
        let mutual = match self.pool.get(partner).stage {
            Stage::Settling { partner, .. } => partner == slot,
            Stage::Waiting => false,
        };
        assert!(mutual, "{id:?} is being settled alone");
        let Waiting { deadlines, widenings, searches, created: _, index: _, elders: _ } = &self.waiting;
        let moments = [deadlines, widenings, searches].map(|queue| queue.moment(slot));
        assert_eq!(moments, [None; 3], "{id:?} is being settled and yet due");
    }
}
