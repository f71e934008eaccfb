//! Texts as small whole numbers, for work that compares them often.

use std::collections::HashMap;

/// Numbers texts from 0 in the order in which they are first seen.
#[derive(Debug, Default)]
pub(crate) struct Numbering<'t>(HashMap<&'t str, usize>);

impl<'t> Numbering<'t> {
    /// A text's number.
    pub(crate) fn of(&mut self, text: &'t str) -> usize {
        let next = self.0.len();
        *self.0.entry(text).or_insert(next)
    }

    /// How many texts have one.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }
}
