//! An order by one bit, without comparisons: rows of one value, then rows of the other, each as they came.
//!
//! A row's place follows from the ones up to it: `P − 1` of a one where ones come first, and `T + i − P` of a zero, of `P` ones up to
//! row `i` and `T` in all. One product chooses; the places, once shuffled, are opened: a uniform permutation, whatever the bits are.

use crate::{
    form::Ring,
    lower::{Lower, Lowered},
    plan::{Prim, Slot},
};

impl Lower<'_> {
    /// The order of rows by a bit each, `ones` first or last. There are fewer rows than 2^32 wherever rows are permuted, so that places take
    /// no wider words.
    pub(crate) fn partition(&mut self, flags: Slot, ones_first: bool) -> Lowered<Slot> {
        let ones = self.step(Prim::Inject(Ring::U32), vec![flags]);
        let more = self.step(Prim::Farther { ones_first }, vec![ones]);
        let chosen = self.step(Prim::Product, vec![ones, more]);
        let places = self.step(Prim::Targets { ones_first }, vec![ones, chosen]);
        // Rows go to places; an order says which row comes to each.
        let order = self.step(Prim::FromPlaces, vec![places]);
        Ok(self.step(Prim::Invert, vec![order]))
    }
}
