//! Moves values between the shards of a party. In an exchange, every shard sends each other shard a
//! part of a known length, which may be empty. No message goes to another party.

use crate::{
    ThreeError,
    form::{Held, RingWords, StepValue, in_ring},
    prim::Three,
};
use hushwire_block::Wipe;
use hushwire_compute::Tensor;
use hushwire_machine::NetError;
use hushwire_plan::{Picks, Route, Sharing, Size, misplaced, picked};
use hushwire_rep3::{
    Mover, Rep3, pool, ranges,
    ring::{Bits, Column},
};
use std::{ops::Range, sync::Arc};

/// The step's name in errors.
const MOVE: &str = "an exchange between shards";

/// The exchanges between one shard of a party and its other shards.
pub(crate) struct Between<'m> {
    mover: &'m mut dyn Mover,
}

impl<'m> Between<'m> {
    pub(crate) fn new(mover: &'m mut dyn Mover) -> Self {
        Between { mover }
    }

    pub(crate) fn shard(&self) -> usize {
        self.mover.shard()
    }

    pub(crate) fn shards(&self) -> usize {
        self.mover.shards()
    }

    /// The mover, for one machine at a time.
    pub(crate) fn mover(&mut self) -> &mut (dyn Mover + 'm) {
        self.mover
    }

    /// The bounds of a value of this many elements.
    pub(crate) fn bounds(&self, elements: usize) -> Vec<usize> {
        ranges(elements, self.shards())
    }

    /// The elements of a value that this shard has.
    pub(crate) fn own(&self, elements: usize) -> Range<usize> {
        let bounds = self.bounds(elements);
        bounds[self.shard()]..bounds[self.shard() + 1]
    }

    /// Sends each shard its part, and receives a part of a known length from each.
    pub(crate) fn exchange(
        &mut self,
        to: Vec<Vec<u8>>,
        expected: impl Fn(usize) -> usize,
    ) -> Result<Vec<Vec<u8>>, ThreeError> {
        let from = self.mover.exchange(to)?;
        for (shard, part) in from.iter().enumerate() {
            let (found, expected) = (part.len(), expected(shard));
            if found != expected {
                let cause = format!("it gave {found} bytes where the plan has {expected}").into();
                return Err(NetError::Shard { shard, step: MOVE.to_owned(), cause }.into());
            }
        }
        Ok(from)
    }

    /// Moves elements of values of one form, by a route.
    pub(crate) fn moved(&mut self, reads: &[&StepValue], route: &Route) -> Result<StepValue, ThreeError> {
        if !route.crosses {
            return Ok(picked(reads, &route.picks));
        }
        let size = size_of(reads[0]);
        let part = |picks: &Picks| if picks.is_empty() { vec![] } else { pack(&picked(reads, picks)) };
        let to = route.sends.iter().map(part).collect();
        let from = self.exchange(to, |shard| packed(size.with_rows(route.takes[shard])))?;
        let mut came = vec![];
        for (mut part, rows) in from.into_iter().zip(&route.takes) {
            came.push(unpack(&part, size.with_rows(*rows))?);
            part.wipe();
        }
        let all: Vec<&StepValue> = reads.iter().copied().chain(&came).collect();
        Ok(picked(&all, &route.picks))
    }

    /// Collects all elements of a value on shard 0, and none on the others. A known value stays as
    /// it is.
    pub(crate) fn collected(&mut self, form: &StepValue, size: Size) -> Result<StepValue, ThreeError> {
        match size {
            Size::Known(..) => Ok(form.clone()),
            Size::Order(..) => misplaced(),
            Size::Bits(_, rows) | Size::Words(_, rows) => {
                let route = Route::again(&self.bounds(rows), &self.first(rows), self.shard());
                self.moved(&[form], &route)
            }
        }
    }

    /// Distributes a value that shard 0 has whole. Returns this shard's elements.
    pub(crate) fn handed_out(
        &mut self,
        made: Option<StepValue>,
        size: Size,
    ) -> Result<StepValue, ThreeError> {
        let (form, rows) = match size {
            Size::Known(..) | Size::Order(..) => misplaced(),
            Size::Bits(width, rows) => {
                (made.unwrap_or_else(|| StepValue::of_bits(Three::zero_bits(width, 0))), rows)
            }
            Size::Words(ring, rows) => {
                (made.unwrap_or_else(|| StepValue::Words(Three::zero_words(ring, 0))), rows)
            }
        };
        let route = Route::again(&self.first(rows), &self.bounds(rows), self.shard());
        self.moved(&[&form], &route)
    }

    /// The bounds of a value that is whole on shard 0.
    fn first(&self, elements: usize) -> Vec<usize> {
        let mut bounds = vec![elements; self.shards() + 1];
        bounds[0] = 0;
        bounds
    }

    /// This shard's elements of a known value. Other values stay as they are.
    pub(crate) fn own_of(&self, form: &StepValue) -> StepValue {
        match form {
            StepValue::Known(all) => {
                let own = self.own(all.len());
                let mut part = Tensor::zeros(all.scalar(), &[own.len()]);
                for (i, at) in own.enumerate() {
                    part.element_mut(i).copy_from_slice(all.element(at));
                }
                StepValue::of_known(part)
            }
            _ => form.clone(),
        }
    }

    /// All elements of an opened value, of which every shard has its own part.
    pub(crate) fn known(&mut self, own: &Tensor, mut all: Tensor) -> Result<StepValue, ThreeError> {
        let bounds = self.bounds(all.len());
        let part: Vec<u8> = own.words().iter().flat_map(|word| word.to_le_bytes()).collect();
        let words = all.words().len().checked_div(all.len()).unwrap_or(0);
        let to = vec![part; self.shards()];
        let from = self.exchange(to, |shard| 8 * words * (bounds[shard + 1] - bounds[shard]))?;
        let mut at = 0;
        for part in from {
            for element in part.chunks_exact(8 * words.max(1)) {
                let words = element.as_chunks::<8>().0.iter().map(|word| u64::from_le_bytes(*word));
                all.element_mut(at).iter_mut().zip(words).for_each(|(to, word)| *to = word);
                at += 1;
            }
        }
        Ok(StepValue::of_known(all))
    }
}

/// The form and size of a value on this shard. The value is not an order.
fn size_of(form: &StepValue) -> Size {
    match form {
        StepValue::Bits(bits) => Size::Bits(bits.width(), bits.rows()),
        StepValue::Words(words) => {
            let (ring, rows) = Three::size_of_words(words);
            Size::Words(ring, rows)
        }
        StepValue::Known(_) | StepValue::Order(_) => misplaced(),
    }
}

/// The bytes of a share of moved elements.
fn share_bytes(size: Size) -> usize {
    match size {
        Size::Bits(width, rows) => width * rows.div_ceil(8),
        Size::Words(ring, rows) => ring as usize / 8 * rows,
        Size::Known(..) | Size::Order(..) => misplaced(),
    }
}

/// The bytes of both shares of moved elements.
pub(crate) fn packed(size: Size) -> usize {
    2 * share_bytes(size)
}

/// Both shares, one after the other.
pub(crate) fn pack(form: &StepValue) -> Vec<u8> {
    match form {
        StepValue::Bits(bits) => {
            let shares = bits.shares();
            [&shares.own[..], &shares.next].concat()
        }
        StepValue::Words(words) => in_ring!(words.ring(), pack_words(words)),
        StepValue::Known(_) | StepValue::Order(_) => misplaced(),
    }
}

fn pack_words<W: Held>(words: &RingWords) -> Vec<u8> {
    let column = W::column(words);
    let mut bytes = vec![0; 2 * W::BYTES * column.rows()];
    let all = column.own.iter().chain(&column.next);
    bytes.chunks_exact_mut(W::BYTES).zip(all).for_each(|(to, word)| word.write(to));
    bytes
}

/// The reverse of [`pack`], for exactly the bytes of the size.
fn unpack(bytes: &[u8], size: Size) -> Result<StepValue, ThreeError> {
    let (own, next) = bytes.split_at(share_bytes(size));
    Ok(match size {
        Size::Bits(width, rows) => {
            let [own, next] = [own, next].map(pool::copy);
            StepValue::Bits(Arc::new(Bits::new(width, rows, Rep3 { own, next })?))
        }
        Size::Words(ring, _) => StepValue::Words(in_ring!(ring, unpack_words([own, next]))),
        Size::Known(..) | Size::Order(..) => misplaced(),
    })
}

pub(crate) fn unpack_words<W: Held>(shares: [&[u8]; 2]) -> RingWords {
    let [own, next] = shares.map(|share| pool::collect(share.chunks_exact(W::BYTES).map(W::read)));
    W::words(Column { own, next })
}
