//! The tickets in memory, each in a numbered slot.
//!
//! Owns every resident and every name it uses. Whether a resident is waiting or being settled is noted here, but
//! the order in which things happen to it is not decided here.

use std::collections::HashMap;

use crate::bargain::Asking;
use crate::due::Ids;
use crate::intern::{Interner, Name};
use crate::rule::count_shared;
use crate::scope::Path;
use crate::{Ticket, TicketId, Time};

/// Where a resident is kept. Used again after it left.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Slot(pub(crate) u32);

impl Slot {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }
}

/// A ticket in the pool.
#[derive(Debug)]
pub(crate) struct Resident {
    pub(crate) id: TicketId,
    pub(crate) user: Name,
    pub(crate) path: Path,
    /// How many labels of the region have to agree. What the index believes; follows the clock by due work.
    pub(crate) scope: u8,
    /// Sorted, each once.
    pub(crate) interests: Box<[Name]>,
    pub(crate) created_at: Time,
    pub(crate) expires_at: Time,
    /// Users it must not meet, sorted, each once. Grows by refusals.
    pub(crate) avoid: Vec<Name>,
    pub(crate) stage: Stage,
}

/// What a resident is doing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stage {
    /// It is in the index and may be proposed.
    Waiting,
    /// It was proposed; nothing may touch it until the outcome comes.
    Settling {
        /// With whom.
        partner: Slot,
        /// Whether it must leave when the outcome comes, whatever that is.
        withdrawn: bool,
    },
}

impl Resident {
    pub(crate) fn size(&self) -> u32 {
        u32::try_from(self.interests.len()).expect("an interest set is counted in u32")
    }

    /// The region prefix it accepts, under which it is indexed.
    pub(crate) fn scope_node(&self) -> Name {
        self.path.prefix(self.scope).expect("a scope is never longer than its region")
    }

    /// Whether each lies in the other's scope.
    pub(crate) fn scopes_fit(&self, other: &Self) -> bool {
        self.path.agrees(&other.path, self.scope.max(other.scope))
    }

    /// Whether they are two users of whom neither avoids the other.
    pub(crate) fn may_meet(&self, other: &Self) -> bool {
        self.user != other.user && !self.avoids(other.user) && !other.avoids(self.user)
    }

    fn avoids(&self, user: Name) -> bool {
        self.avoid.binary_search(&user).is_ok()
    }
}

/// What a search asks about nearly everybody it meets, kept apart from the rest so that it stays near.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Card {
    /// Of its interests those numbered below 128, a bit each. Common interests come early, so that most have no others.
    low: u128,
    /// How many others it has.
    high: u32,
    pub(crate) size: u32,
    pub(crate) created_at: Time,
    pub(crate) asking: Asking,
}

impl Card {
    fn new(resident: &Resident) -> Self {
        let low = resident.interests.iter().take_while(|name| name.0 < u128::BITS);
        let low = low.fold(0, |low, name| low | 1 << name.0);
        Self {
            low,
            high: resident.size() - low.count_ones(),
            size: resident.size(),
            created_at: resident.created_at,
            asking: Asking::default(),
        }
    }
}

/// Residents by slot and by id, and the names they use.
#[derive(Debug, Default)]
pub(crate) struct Pool {
    slots: Vec<Option<Resident>>,
    /// By slot; that of a vacant one means nothing.
    cards: Vec<Card>,
    free: Vec<Slot>,
    by_id: HashMap<TicketId, Slot>,
    pub(crate) users: Interner,
    pub(crate) interests: Interner,
    pub(crate) regions: Interner,
}

impl Pool {
    /// Takes a ticket in, as one that waits with its whole region as scope.
    pub(crate) fn add(&mut self, ticket: &Ticket) -> Slot {
        let path = Path::take(&mut self.regions, &ticket.region);
        let resident = Resident {
            id: ticket.id,
            user: self.users.take(&ticket.user),
            path,
            scope: path.labels(),
            interests: take_set(&mut self.interests, &ticket.interests).into_boxed_slice(),
            created_at: ticket.created_at,
            expires_at: ticket.expires_at,
            avoid: take_set(&mut self.users, &ticket.avoid),
            stage: Stage::Waiting,
        };
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots.push(None);
            self.cards.push(Card::default());
            Slot(u32::try_from(self.slots.len() - 1).expect("fewer than 2^32 tickets at a time"))
        });
        self.cards[slot.index()] = Card::new(&resident);
        self.slots[slot.index()] = Some(resident);
        self.by_id.insert(ticket.id, slot);
        slot
    }

    /// Lets a resident go, with every name that it used.
    pub(crate) fn remove(&mut self, slot: Slot) -> Resident {
        let resident = self.slots[slot.index()].take().expect("a slot is vacated once");
        self.by_id.remove(&resident.id);
        self.free.push(slot);
        self.users.give_back(resident.user);
        resident.avoid.iter().for_each(|&user| self.users.give_back(user));
        resident.interests.iter().for_each(|&interest| self.interests.give_back(interest));
        resident.path.give_back(&mut self.regions);
        resident
    }

    pub(crate) fn get(&self, slot: Slot) -> &Resident {
        self.slots[slot.index()].as_ref().expect("only slots of residents are passed around")
    }

    pub(crate) fn get_mut(&mut self, slot: Slot) -> &mut Resident {
        self.slots[slot.index()].as_mut().expect("only slots of residents are passed around")
    }

    pub(crate) fn card(&self, slot: Slot) -> &Card {
        &self.cards[slot.index()]
    }

    pub(crate) fn asking_mut(&mut self, slot: Slot) -> &mut Asking {
        &mut self.cards[slot.index()].asking
    }

    /// How many interests two residents share.
    pub(crate) fn count_shared(&self, a: Slot, b: Slot) -> u32 {
        let (card_a, card_b) = (self.card(a), self.card(b));
        let shared = (card_a.low & card_b.low).count_ones();
        if card_a.high == 0 || card_b.high == 0 {
            return shared;
        }
        let [high_a, high_b] = [(a, card_a), (b, card_b)].map(|(slot, card)| {
            let interests = &self.get(slot).interests;
            &interests[interests.len() - card.high as usize..]
        });
        shared + count_shared(high_a, high_b)
    }

    /// The marks of a resident's interests, each once.
    pub(crate) fn marks(&self, slot: Slot, marks: &mut Vec<u32>) {
        marks.clear();
        marks.extend(self.get(slot).interests.iter().map(|&name| self.interests.mark(name)));
        marks.sort_unstable();
        marks.dedup();
    }

    pub(crate) fn find(&self, id: TicketId) -> Option<Slot> {
        self.by_id.get(&id).copied()
    }

    /// Notes that a resident must not meet a user.
    pub(crate) fn add_avoided(&mut self, slot: Slot, user: Name) {
        let resident = self.get_mut(slot);
        if let Err(place) = resident.avoid.binary_search(&user) {
            resident.avoid.insert(place, user);
            self.users.take_again(user);
        }
    }

    pub(crate) fn len(&self) -> usize {
        self.by_id.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.by_id.is_empty()
    }

    /// How many slots there are, vacant ones included.
    pub(crate) fn slots(&self) -> usize {
        self.slots.len()
    }

    /// Everybody, by slot.
    pub(crate) fn residents(&self) -> impl Iterator<Item = (Slot, &Resident)> {
        (0..).map(Slot).zip(&self.slots).filter_map(|(slot, resident)| Some((slot, resident.as_ref()?)))
    }

    /// Panics unless slots, ids and names agree.
    pub(crate) fn check(&self) {
        let mut residents = 0;
        for (slot, resident) in self.residents() {
            residents += 1;
            assert_eq!(self.find(resident.id), Some(slot), "{:?} is not found by its id", resident.id);
            for set in [&resident.interests[..], &resident.avoid] {
                assert!(set.is_sorted_by(|a, b| a < b), "{:?} holds a set that is none", resident.id);
            }
            let (card, expected) = (self.card(slot), Card::new(resident));
            assert_eq!(
                (card.low, card.high, card.size, card.created_at),
                (expected.low, expected.high, expected.size, expected.created_at),
                "the card of {:?} is another's",
                resident.id
            );
        }
        assert_eq!(residents, self.by_id.len(), "an id leads to nobody");
        assert_eq!(residents + self.free.len(), self.slots.len(), "a vacant slot is lost");
        let all = || self.residents().map(|(_, resident)| resident);
        self.users.check("user", all().flat_map(|r| r.avoid.iter().copied().chain([r.user])));
        self.interests.check("interest", all().flat_map(|r| r.interests.iter().copied()));
        self.regions.check("region", all().flat_map(|r| r.path.prefixes().iter().copied()));
    }
}

impl Ids for Pool {
    fn id(&self, slot: Slot) -> TicketId {
        self.get(slot).id
    }
}

/// One use of each different text, sorted by number.
fn take_set(interner: &mut Interner, texts: &[impl AsRef<str>]) -> Vec<Name> {
    let mut names: Vec<Name> = texts.iter().map(|text| interner.take(text.as_ref())).collect();
    names.sort_unstable();
    names.dedup_by(|name, previous| {
        let repeated = name == previous;
        if repeated {
            interner.give_back(*name);
        }
        repeated
    });
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ticket(id: u128, interests: &[&str], avoid: &[&str]) -> Ticket {
        Ticket {
            id: TicketId(id),
            user: format!("user {id}").into(),
            region: "kr.seoul".into(),
            interests: interests.iter().map(|&text| text.into()).collect(),
            created_at: Time::default(),
            expires_at: Time::from_millis(60_000),
            avoid: avoid.iter().map(|&text| text.into()).collect(),
        }
    }

    #[test]
    fn repeated_interests_count_once() {
        let mut pool = Pool::default();
        let slot = pool.add(&ticket(1, &["jazz", "rock", "jazz", "jazz"], &["ana", "ana"]));
        assert_eq!((pool.get(slot).size(), pool.get(slot).avoid.len()), (2, 1));
        pool.check();
    }

    #[test]
    fn names_leave_with_those_who_use_them() {
        let mut pool = Pool::default();
        let first = pool.add(&ticket(1, &["jazz", "rock"], &["user 2", "ana"]));
        let second = pool.add(&ticket(2, &["jazz"], &[]));
        pool.add_avoided(second, pool.get(first).user);
        pool.add_avoided(second, pool.get(first).user);
        pool.check();
        pool.remove(first);
        pool.check();
        assert_eq!((pool.users.len(), pool.interests.len(), pool.regions.len()), (2, 1, 2));
        pool.remove(second);
        pool.check();
        assert_eq!((pool.users.len(), pool.interests.len(), pool.regions.len()), (0, 0, 0));
    }
}
