//! Where a ticket is, and how much of the country around it it accepts by now.
//!
//! Owns the arithmetic of regions and widening. Texts are compared as interned names only.

use crate::intern::{Interner, Name};
use crate::{Time, Widen};

/// The most labels that are told apart. Labels past it belong to the last one.
const MOST_LABELS: usize = 4;

/// A region: the name of each of its prefixes, widest first, itself last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Path {
    prefixes: [Name; MOST_LABELS],
    labels: u8,
}

impl Path {
    /// Takes one use of every prefix of the region.
    pub(crate) fn take(regions: &mut Interner, region: &str) -> Self {
        let mut path = Self { prefixes: [Name(0); MOST_LABELS], labels: 0 };
        let dots = region.match_indices('.').map(|(at, _)| at).take(MOST_LABELS - 1);
        for end in dots.chain([region.len()]) {
            path.prefixes[usize::from(path.labels)] = regions.take(&region[..end]);
            path.labels += 1;
        }
        path
    }

    /// Gives back what [`take`](Self::take) took.
    pub(crate) fn give_back(&self, regions: &mut Interner) {
        for &prefix in self.prefixes() {
            regions.give_back(prefix);
        }
    }

    /// Every prefix, widest first.
    pub(crate) fn prefixes(&self) -> &[Name] {
        &self.prefixes[..usize::from(self.labels)]
    }

    /// How many labels it has.
    pub(crate) fn labels(&self) -> u8 {
        self.labels
    }

    /// The whole region.
    pub(crate) fn region(&self) -> Name {
        self.prefixes[usize::from(self.labels) - 1]
    }

    /// Its prefix of so many labels, 1 or more; `None` when it is shorter.
    pub(crate) fn prefix(&self, labels: u8) -> Option<Name> {
        self.prefixes().get(usize::from(labels) - 1).copied()
    }

    /// Whether both begin with the same labels, so many of them.
    pub(crate) fn agrees(&self, other: &Self, labels: u8) -> bool {
        let prefix = self.prefix(labels);
        prefix.is_some() && prefix == other.prefix(labels)
    }
}

/// A scope at a moment, and when it widens next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scope {
    /// How many labels of the region still have to agree.
    pub(crate) labels: u8,
    /// `None` when it never widens again.
    pub(crate) widens_at: Option<Time>,
}

/// The scope at `now` of a ticket that waits since `created_at` in a region of so many labels.
pub(crate) fn scope_at(widen: Option<&Widen>, region_labels: u8, created_at: Time, now: Time) -> Scope {
    let mut scope = Scope { labels: region_labels, widens_at: None };
    let Some(widen) = widen else { return scope };
    let widest = widen.min_labels.min(region_labels);
    for step in 1.. {
        if scope.labels <= widest {
            break;
        }
        let moment = created_at.plus(widen.after.saturating_mul(step));
        if moment > now {
            scope.widens_at = Some(moment);
            break;
        }
        scope.labels = scope.labels.saturating_sub(widen.labels).max(widest);
    }
    scope
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_region_agrees_by_whole_labels() {
        let mut regions = Interner::default();
        let gangnam = Path::take(&mut regions, "kr.seoul.gangnam");
        let mapo = Path::take(&mut regions, "kr.seoul.mapo");
        let seo = Path::take(&mut regions, "kr.seo");
        assert_eq!((gangnam.labels(), regions.len()), (3, 5));
        assert!(gangnam.agrees(&mapo, 2) && !gangnam.agrees(&mapo, 3));
        assert!(gangnam.agrees(&seo, 1) && !gangnam.agrees(&seo, 2) && !gangnam.agrees(&gangnam, 4));
        for path in [gangnam, mapo, seo] {
            path.give_back(&mut regions);
        }
        assert_eq!(regions.len(), 0);
    }

    #[test]
    fn labels_past_the_fourth_belong_to_it() {
        let mut regions = Interner::default();
        let deep = Path::take(&mut regions, "a.b.c.d.e.f");
        let other = Path::take(&mut regions, "a.b.c.d");
        assert_eq!(deep.labels(), 4);
        assert!(deep.agrees(&other, 3) && !deep.agrees(&other, 4));
    }

    #[test]
    fn a_scope_widens_step_by_step_and_stops_at_the_widest() {
        let widen = Widen { after: Duration::from_micros(1_500), labels: 2, min_labels: 1 };
        let at = |millis| scope_at(Some(&widen), 4, Time::from_millis(10), Time::from_millis(millis));
        let moment = |millis| Some(Time::from_millis(millis));
        assert_eq!(at(11), Scope { labels: 4, widens_at: moment(12) });
        assert_eq!(at(12), Scope { labels: 2, widens_at: moment(13) });
        assert_eq!(at(13), Scope { labels: 1, widens_at: None });
        assert_eq!(at(5), Scope { labels: 4, widens_at: moment(12) });
    }

    #[test]
    fn a_region_shorter_than_the_widest_scope_stays_whole() {
        let widen = Widen { after: Duration::from_secs(1), labels: 1, min_labels: 2 };
        let scope = scope_at(Some(&widen), 1, Time::default(), Time::from_millis(60_000));
        assert_eq!(scope, Scope { labels: 1, widens_at: None });
    }
}
