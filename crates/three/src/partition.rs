//! An order by one bit, without comparisons: rows of one value, then rows of the other, each as they came.
//!
//! A row's place follows from the ones up to it: `P − 1` of a one where ones come first, and `T + i − P` of a zero, of `P` ones up to
//! row `i` and `T` in all. One product chooses; the places, once shuffled, are opened: a uniform permutation, whatever the bits are.

use crate::{
    form::Ring,
    lower::{Lower, Lowered},
    picks::{Picks, Run},
    plan::{Axis, Prim, Slot},
};
use hushwire_compute::{Scalar, Tensor};
use std::sync::Arc;

impl Lower<'_> {
    /// The order of rows by a bit each, `ones` first or last.
    pub(crate) fn partition(&mut self, flags: Slot, rows: usize, ones_first: bool) -> Lowered<Slot> {
        let ring = Ring::U64;
        let axis = Axis { outer: 1, n: rows, inner: 1 };
        let ones = self.step(Prim::Inject(ring), vec![flags]);
        let so_far = self.step(Prim::Fold { axis, prefix: true }, vec![ones]);
        let all = self.step(Prim::Fold { axis, prefix: false }, vec![ones]);
        let all = self.pick(Picks::of_runs([Run::Steps { from: 0, step: 0, len: rows }]), vec![all]);
        let place = self.known(rows, |i| i as i128);
        let minus = |lower: &mut Self, a, b| lower.step(Prim::Sum { minus: true }, vec![a, b]);
        let plus = |lower: &mut Self, a, b| lower.step(Prim::Sum { minus: false }, vec![a, b]);
        // Zeros before this row, and where the first of them goes.
        let zeros = minus(self, place, so_far);
        let less_one = self.known(rows, |_| 1);
        let own = minus(self, so_far, less_one);
        let (of_zero, of_one) = if ones_first {
            (plus(self, zeros, all), own)
        } else {
            let every = self.known(rows, |_| rows as i128);
            let first = minus(self, every, all);
            (zeros, plus(self, own, first))
        };
        let more = minus(self, of_one, of_zero);
        let chosen = self.step(Prim::Product, vec![ones, more]);
        let places = plus(self, of_zero, chosen);
        // Rows go to places; an order says which row comes to each.
        let order = self.step(Prim::FromPlaces, vec![places]);
        Ok(self.step(Prim::Invert, vec![order]))
    }

    fn known(&mut self, rows: usize, number: impl Fn(usize) -> i128) -> Slot {
        let numbers = Tensor::from_numbers(Scalar::unsigned(64), &[rows], (0..rows).map(number));
        let known = self.step(Prim::Known(Arc::new(numbers)), vec![]);
        self.step(Prim::AsWords(Ring::U64), vec![known])
    }
}
