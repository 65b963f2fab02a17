//! Values of a run: forms as a party has them, and forms that pieces make up.

use crate::{
    share::{Sharing, put_bits},
    size::Size,
};
use hushwire_compute::Tensor;
use std::{ops::Range, sync::Arc};

/// A value in one form, as a party has it.
pub enum Form<B: Sharing> {
    /// Elements that all parties know.
    Known(Arc<Tensor>),
    /// Shares of bit planes.
    Bits(Arc<B::Bits>),
    /// Shares of numbers.
    Words(B::Words),
    /// The party's part of an order of rows.
    Order(B::Order),
}

impl<B: Sharing> Clone for Form<B> {
    fn clone(&self) -> Self {
        match self {
            Form::Known(tensor) => Form::Known(tensor.clone()),
            Form::Bits(bits) => Form::Bits(bits.clone()),
            Form::Words(words) => Form::Words(words.clone()),
            Form::Order(order) => Form::Order(order.clone()),
        }
    }
}

/// A value in another form than its plan says.
///
/// # Panics
/// Always: it is the lowering's bug.
pub fn misplaced() -> ! {
    unreachable!("a plan keeps to its forms")
}

impl<B: Sharing> Form<B> {
    /// A value of bits.
    pub fn of_bits(bits: B::Bits) -> Self {
        Form::Bits(Arc::new(bits))
    }

    /// A value that all know.
    #[must_use]
    pub fn of_known(tensor: Tensor) -> Self {
        Form::Known(Arc::new(tensor))
    }

    /// Elements of a value that is no order.
    #[must_use]
    pub fn rows(&self) -> usize {
        match self {
            Form::Known(tensor) => tensor.len(),
            Form::Bits(bits) => B::size_of_bits(bits)[1],
            Form::Words(words) => B::size_of_words(words).1,
            Form::Order(_) => misplaced(),
        }
    }

    /// The elements of a known value.
    #[must_use]
    pub fn known(&self) -> &Arc<Tensor> {
        if let Form::Known(tensor) = self { tensor } else { misplaced() }
    }

    /// The planes of a value of bits.
    #[must_use]
    pub fn bits(&self) -> &Arc<B::Bits> {
        if let Form::Bits(bits) = self { bits } else { misplaced() }
    }

    /// The words of a value of words.
    #[must_use]
    pub fn words(&self) -> &B::Words {
        if let Form::Words(words) = self { words } else { misplaced() }
    }

    /// The order that a value is.
    #[must_use]
    pub fn order(&self) -> &B::Order {
        if let Form::Order(order) = self { order } else { misplaced() }
    }

    /// Whether this is shares of such a size that nobody else has.
    pub(crate) fn is_alone(&mut self, size: Size) -> bool {
        match self {
            Form::Bits(bits) => {
                let [width, rows] = B::size_of_bits(bits);
                size == Size::Bits(width, rows) && Arc::get_mut(bits).and_then(B::planes_mut).is_some()
            }
            Form::Words(words) => {
                let (ring, rows) = B::size_of_words(words);
                size == Size::Words(ring, rows) && B::is_alone(words)
            }
            Form::Known(_) | Form::Order(_) => false,
        }
    }
}

/// A value that pieces make up, in any order.
pub(crate) enum Joined<B: Sharing> {
    /// Nothing has come yet.
    Nothing,
    /// The pieces that have come; zeros elsewhere.
    Parts(Form<B>),
    /// A value that the step reads, of the same kind and size, over which pieces are put; nobody
    /// else has it.
    Over(Form<B>),
    /// All of it, in one piece.
    Whole(Form<B>),
}

impl<B: Sharing> Joined<B> {
    /// Takes a piece of a value of `of` rows.
    pub(crate) fn put(&mut self, of: usize, rows: &Range<usize>, piece: Form<B>) {
        if rows.len() == of {
            *self = Joined::Whole(piece);
            return;
        }
        if let Joined::Nothing = self {
            *self = Joined::Parts(match &piece {
                Form::Known(known) => Form::of_known(Tensor::zeros(known.scalar(), &[of])),
                Form::Bits(bits) => Form::of_bits(B::zero_bits(B::size_of_bits(bits)[0], of)),
                Form::Words(words) => Form::Words(B::zero_words(B::size_of_words(words).0, of)),
                Form::Order(_) => misplaced(),
            });
        }
        let (Joined::Parts(all) | Joined::Over(all)) = self else { misplaced() };
        match (all, piece) {
            (Form::Known(all), Form::Known(piece)) => {
                let all = Arc::get_mut(all).expect("nobody else has it yet");
                for (i, at) in rows.clone().enumerate() {
                    all.element_mut(at).copy_from_slice(piece.element(i));
                }
            }
            (Form::Bits(all), Form::Bits(piece)) => put_bits::<B>(all, rows, &piece),
            (Form::Words(all), Form::Words(piece)) => B::put_words(all, rows, &piece),
            (Form::Known(_) | Form::Bits(_) | Form::Words(_) | Form::Order(_), _) => misplaced(),
        }
    }

    /// The value that is written over.
    pub(crate) fn over(&self) -> &Form<B> {
        if let Joined::Over(form) = self { form } else { misplaced() }
    }

    /// The value, all of whose pieces have come, or the one that would be written over.
    pub(crate) fn take(&mut self) -> Form<B> {
        match std::mem::replace(self, Joined::Nothing) {
            Joined::Nothing => misplaced(),
            Joined::Parts(form) | Joined::Over(form) | Joined::Whole(form) => form,
        }
    }
}
