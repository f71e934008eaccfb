//! Small numbers for long names.
//!
//! Owns the text of every user, interest and region that someone in the pool mentions, once, and counts who does.
//! A name that nobody mentions any more must not stay here: names come from strangers, and most come once.

use std::hash::RandomState;
use std::sync::Arc;

use crate::arrivals::mark;
use crate::shards::Shards;

/// Stands for a text as long as somebody uses it; afterwards the number may stand for another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Name(pub(crate) u32);

/// Texts and their numbers. The map keeps std's keyed hasher, since the texts are hostile input.
#[derive(Debug, Default)]
pub(crate) struct Interner {
    names: Shards<Arc<str>, Name, RandomState>,
    /// By number; those without a text are in `free`.
    entries: Vec<Entry>,
    free: Vec<Name>,
}

#[derive(Debug)]
struct Entry {
    text: Option<Arc<str>>,
    uses: u32,
    /// What the text is remembered by when nobody uses it any more. Spreads the texts as well.
    mark: u32,
}

impl Interner {
    /// The number of a text, used once more from now on.
    pub(crate) fn take(&mut self, text: &str) -> Name {
        let mark = mark(text);
        if let Some(&name) = self.names.get(mark, text) {
            self.take_again(name);
            return name;
        }
        let text: Arc<str> = text.into();
        let entry = Entry { mark, text: Some(Arc::clone(&text)), uses: 1 };
        let name = if let Some(name) = self.free.pop() {
            self.entries[name.0 as usize] = entry;
            name
        } else {
            self.entries.push(entry);
            Name(u32::try_from(self.entries.len() - 1).expect("fewer than 2^32 names at a time"))
        };
        *self.names.get_or_insert_with(mark, text, || name)
    }

    /// One more use of a name that is in use.
    pub(crate) fn take_again(&mut self, name: Name) {
        let entry = &mut self.entries[name.0 as usize];
        debug_assert!(entry.uses > 0, "only a name in use can be used again");
        entry.uses += 1;
    }

    /// One use less. The last one frees the text.
    pub(crate) fn give_back(&mut self, name: Name) {
        let entry = &mut self.entries[name.0 as usize];
        entry.uses = entry.uses.checked_sub(1).expect("a name is given back once per use");
        if entry.uses > 0 {
            return;
        }
        let text = entry.text.take().expect("a name in use has a text");
        self.names.remove(entry.mark, &text);
        self.free.push(name);
    }

    /// How many mention it now.
    pub(crate) fn uses(&self, name: Name) -> u32 {
        self.entries[name.0 as usize].uses
    }

    /// The text of a name that is in use.
    pub(crate) fn text(&self, name: Name) -> &str {
        self.entries[name.0 as usize].text.as_deref().expect("a name in use has a text")
    }

    /// The mark of a name that is in use.
    pub(crate) fn mark(&self, name: Name) -> u32 {
        self.entries[name.0 as usize].mark
    }

    /// How many different texts are kept.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }

    /// Panics unless exactly these uses are counted, one item per use.
    pub(crate) fn check(&self, what: &str, uses: impl Iterator<Item = Name>) {
        let mut counted = vec![0_u32; self.entries.len()];
        for name in uses {
            counted[name.0 as usize] += 1;
        }
        for (number, (entry, &counted)) in self.entries.iter().zip(&counted).enumerate() {
            assert_eq!(entry.uses, counted, "uses of {what} {number} are miscounted");
            assert_eq!(entry.text.is_some(), counted > 0, "{what} {number} keeps its text while in use only");
            if let Some(text) = &entry.text {
                let name = self.names.get(entry.mark, text).map(|name| name.0 as usize);
                assert_eq!(name, Some(number), "{what} {text:?} has another number");
            }
        }
        assert_eq!(self.free.len(), self.entries.len() - self.names.len(), "free {what} numbers are lost");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number_while_it_is_used() {
        let mut interner = Interner::default();
        let jazz = interner.take("jazz");
        assert_eq!(interner.take("jazz"), jazz);
        assert_ne!(interner.take("rock"), jazz);
        interner.give_back(jazz);
        assert_eq!((interner.uses(jazz), interner.take("jazz")), (1, jazz));
    }

    #[test]
    fn a_million_one_off_texts_leave_nothing_behind() {
        let mut interner = Interner::default();
        for i in 0..1_000_000 {
            let name = interner.take(&format!("one-off {i}"));
            interner.give_back(name);
        }
        assert_eq!((interner.len(), interner.entries.len(), interner.free.len()), (0, 1, 1));
    }
}
