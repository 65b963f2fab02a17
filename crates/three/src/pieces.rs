//! Pieces of a value, and values made of pieces.

use crate::form::{Form, Held, Words, in_ring};
use hushwire_circuit::planes::plane_bytes;
use hushwire_compute::Tensor;
use hushwire_plan::misplaced;
use hushwire_rep3::{
    Rep3, ShareError, Shares, pool,
    ring::{Bits, Column},
};
use std::{ops::Range, sync::Arc};

/// Rows of a value of bits or words, from a multiple of eight on.
///
/// # Errors
/// Never: sizes follow from the value's.
pub(crate) fn piece(form: &Form, rows: &Range<usize>) -> Result<Form, ShareError> {
    match form {
        Form::Words(words) => Ok(Form::Words(in_ring!(words.ring(), words_of(words, rows)))),
        other => bits_of(other.bits(), rows).map(|bits| Form::Bits(Arc::new(bits))),
    }
}

fn words_of<W: Held>(words: &Words, rows: &Range<usize>) -> Words {
    let column = W::column(words);
    let of = |share: &[W]| pool::copy(&share[rows.clone()]);
    W::words(Rep3 { own: of(&column.own), next: of(&column.next) })
}

fn bits_of(bits: &Bits, rows: &Range<usize>) -> Result<Bits, ShareError> {
    let (height, first, len) = (plane_bytes(bits.rows()), rows.start / 8, plane_bytes(rows.len()));
    let of = |share: &[u8]| -> Vec<u8> {
        let mut out = pool::room(bits.width() * len);
        (0..bits.width()).for_each(|b| out.extend_from_slice(&share[b * height + first..][..len]));
        out
    };
    let shares = bits.shares();
    Bits::new(bits.width(), rows.len(), Rep3 { own: of(&shares.own), next: of(&shares.next) })
}

/// A value that pieces make up, in any order.
pub(crate) enum Joined {
    /// Nothing has come yet.
    Nothing,
    Words(Words),
    Bits {
        width: usize,
        shares: Shares,
    },
    /// A vector that all know.
    Known(Tensor),
    /// A value that the step reads, of the same kind and size, over which pieces are put; nobody else has it.
    Over(Form),
    /// All of it, in one piece.
    Whole(Form),
}

impl Joined {
    /// Takes a piece of a value of `of` rows.
    pub(crate) fn put(&mut self, of: usize, rows: &Range<usize>, piece: Form) {
        if rows.len() == of {
            *self = Joined::Whole(piece);
            return;
        }
        if let Joined::Nothing = self {
            *self = match &piece {
                Form::Words(words) => Joined::Words(in_ring!(words.ring(), zeros(of))),
                Form::Known(known) => Joined::Known(Tensor::zeros(known.scalar(), &[of])),
                other => {
                    let width = other.bits().width();
                    let zeros = || pool::zeros(width * plane_bytes(of));
                    Joined::Bits { width, shares: Rep3 { own: zeros(), next: zeros() } }
                }
            };
        }
        match self {
            Joined::Words(words) | Joined::Over(Form::Words(words)) => {
                in_ring!(words.ring(), put_words(words, rows, &piece));
            }
            Joined::Over(Form::Bits(bits)) => {
                let (from, height) = (piece.bits().shares(), plane_bytes(of));
                let shares = Arc::get_mut(bits).and_then(Bits::alone).expect("nobody else has it");
                put_planes(&mut shares.own, &from.own, height, rows);
                put_planes(&mut shares.next, &from.next, height, rows);
            }
            Joined::Known(all) => {
                let known = piece.known();
                rows.clone()
                    .enumerate()
                    .for_each(|(i, at)| all.element_mut(at).copy_from_slice(known.element(i)));
            }
            Joined::Bits { shares, .. } => {
                let (from, height) = (piece.bits().shares(), plane_bytes(of));
                put_planes(&mut shares.own, &from.own, height, rows);
                put_planes(&mut shares.next, &from.next, height, rows);
            }
            Joined::Nothing | Joined::Whole(_) | Joined::Over(Form::Known(_) | Form::Order(..)) => {
                misplaced()
            }
        }
    }

    /// The value that is written over.
    pub(crate) fn over(&self) -> &Form {
        match self {
            Joined::Over(form) => form,
            _ => misplaced(),
        }
    }

    /// The value that would be written over, for a step that runs whole.
    pub(crate) fn take_over(&mut self) -> Form {
        match std::mem::replace(self, Joined::Nothing) {
            Joined::Over(form) => form,
            _ => misplaced(),
        }
    }

    /// The value of so many rows, all of whose pieces have come.
    ///
    /// # Errors
    /// Never: sizes follow from the value's.
    pub(crate) fn form(self, rows: usize) -> Result<Form, ShareError> {
        Ok(match self {
            Joined::Nothing => misplaced(),
            Joined::Words(words) => Form::Words(words),
            Joined::Known(all) => Form::Known(Arc::new(all)),
            Joined::Bits { width, shares } => Form::Bits(Arc::new(Bits::new(width, rows, shares)?)),
            Joined::Whole(form) | Joined::Over(form) => form,
        })
    }
}

fn zeros<W: Held>(rows: usize) -> Words {
    W::words(Column::zeros(rows))
}

fn put_words<W: Held>(to: &mut Words, rows: &Range<usize>, piece: &Form) {
    let from = W::column(piece.words());
    let to = Arc::get_mut(W::column_mut(to)).expect("nobody else has it yet");
    to.own[rows.clone()].copy_from_slice(&from.own);
    to.next[rows.clone()].copy_from_slice(&from.next);
}

fn put_planes(to: &mut [u8], from: &[u8], height: usize, rows: &Range<usize>) {
    let len = plane_bytes(rows.len());
    for (to, from) in to.chunks_exact_mut(height).zip(from.chunks_exact(len)) {
        to[rows.start / 8..][..len].copy_from_slice(from);
    }
}
