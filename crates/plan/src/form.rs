//! The values of a run: the forms in which a party has them, and forms that are assembled from
//! pieces.
//!
//! A [`StepValue`] has one form: known elements, bits, words, or an order. Known elements and bits
//! are behind counted references, so that several steps can read them. A step that is the last
//! reader of a value may overwrite its memory.

use crate::{
    share::{Sharing, put_bits},
    size::Size,
};
use hushwire_compute::Tensor;
use std::{ops::Range, sync::Arc};

/// A value in one form, as a party holds it.
pub enum StepValue<B: Sharing> {
    /// Elements that all parties know.
    Known(Arc<Tensor>),
    /// Shares of bit planes.
    Bits(Arc<B::BitShares>),
    /// Shares of numbers.
    Words(B::WordShares),
    /// The party's part of an order of rows.
    Order(B::RowOrder),
}

impl<B: Sharing> Clone for StepValue<B> {
    fn clone(&self) -> Self {
        match self {
            StepValue::Known(tensor) => StepValue::Known(tensor.clone()),
            StepValue::Bits(bits) => StepValue::Bits(bits.clone()),
            StepValue::Words(words) => StepValue::Words(words.clone()),
            StepValue::Order(order) => StepValue::Order(order.clone()),
        }
    }
}

/// Reports a value in a form that differs from its plan.
///
/// # Panics
/// Always, because the lowering has a bug.
pub fn misplaced() -> ! {
    unreachable!("a plan keeps to its forms")
}

impl<B: Sharing> StepValue<B> {
    /// Makes a value of bits.
    pub fn of_bits(bits: B::BitShares) -> Self {
        StepValue::Bits(Arc::new(bits))
    }

    /// Makes a value that all parties know.
    #[must_use]
    pub fn of_known(tensor: Tensor) -> Self {
        StepValue::Known(Arc::new(tensor))
    }

    /// The number of elements of a value that is not an order.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            StepValue::Known(tensor) => tensor.len(),
            StepValue::Bits(bits) => B::size_of_bits(bits)[1],
            StepValue::Words(words) => B::size_of_words(words).1,
            StepValue::Order(_) => misplaced(),
        }
    }

    /// The elements of a known value.
    #[must_use]
    pub fn known(&self) -> &Arc<Tensor> {
        if let StepValue::Known(tensor) = self { tensor } else { misplaced() }
    }

    /// The planes of a value of bits.
    #[must_use]
    pub fn bits(&self) -> &Arc<B::BitShares> {
        if let StepValue::Bits(bits) = self { bits } else { misplaced() }
    }

    /// The words of a value of words.
    #[must_use]
    pub fn words(&self) -> &B::WordShares {
        if let StepValue::Words(words) = self { words } else { misplaced() }
    }

    /// The order, for a value that is one.
    #[must_use]
    pub fn order(&self) -> &B::RowOrder {
        if let StepValue::Order(order) = self { order } else { misplaced() }
    }

    /// Whether the value is shares of this size, and nothing else refers to it.
    pub(crate) fn is_alone(&mut self, size: Size) -> bool {
        match self {
            StepValue::Bits(bits) => {
                let [width, rows] = B::size_of_bits(bits);
                size == Size::Bits(width, rows) && Arc::get_mut(bits).and_then(B::planes_mut).is_some()
            }
            StepValue::Words(words) => {
                let (ring, rows) = B::size_of_words(words);
                size == Size::Words(ring, rows) && B::is_alone(words)
            }
            StepValue::Known(_) | StepValue::Order(_) => false,
        }
    }
}

/// A value that is assembled from pieces, in any order.
pub(crate) enum Joined<B: Sharing> {
    /// No piece has arrived.
    Nothing,
    /// The pieces that have arrived, with zeros elsewhere.
    Parts(StepValue<B>),
    /// A value that the step reads, of the same kind and size, which the pieces overwrite. Nothing
    /// else refers to it.
    Over(StepValue<B>),
    /// The whole value, in one piece.
    Whole(StepValue<B>),
}

impl<B: Sharing> Joined<B> {
    /// Adds a piece of a value of `of` rows.
    pub(crate) fn put(&mut self, of: usize, rows: &Range<usize>, piece: StepValue<B>) {
        if rows.len() == of {
            *self = Joined::Whole(piece);
            return;
        }
        if let Joined::Nothing = self {
            *self = Joined::Parts(match &piece {
                StepValue::Known(known) => StepValue::of_known(Tensor::zeros(known.scalar(), &[of])),
                StepValue::Bits(bits) => StepValue::of_bits(B::zero_bits(B::size_of_bits(bits)[0], of)),
                StepValue::Words(words) => StepValue::Words(B::zero_words(B::size_of_words(words).0, of)),
                StepValue::Order(_) => misplaced(),
            });
        }
        let (Joined::Parts(all) | Joined::Over(all)) = self else { misplaced() };
        match (all, piece) {
            (StepValue::Known(all), StepValue::Known(piece)) => {
                let all = Arc::get_mut(all).expect("nobody else has it yet");
                for (i, at) in rows.clone().enumerate() {
                    all.element_mut(at).copy_from_slice(piece.element(i));
                }
            }
            (StepValue::Bits(all), StepValue::Bits(piece)) => put_bits::<B>(all, rows, &piece),
            (StepValue::Words(all), StepValue::Words(piece)) => B::put_words(all, rows, &piece),
            (StepValue::Known(_) | StepValue::Bits(_) | StepValue::Words(_) | StepValue::Order(_), _) => {
                misplaced()
            }
        }
    }

    /// The value that is overwritten.
    pub(crate) fn over(&self) -> &StepValue<B> {
        if let Joined::Over(form) = self { form } else { misplaced() }
    }

    /// Takes the value after all pieces have arrived, or the value that would be overwritten.
    pub(crate) fn take(&mut self) -> StepValue<B> {
        match std::mem::replace(self, Joined::Nothing) {
            Joined::Nothing => misplaced(),
            Joined::Parts(form) | Joined::Over(form) | Joined::Whole(form) => form,
        }
    }
}
