//! Forms of a value.

use crate::{ops::planes_of, order::Order, ring::mask};
use hushwire_block::Wiped;
use hushwire_block::bits::{put_range, xor_range};
use hushwire_circuit::{Planes, planes::plane_bytes};
use hushwire_compute::Tensor;
use hushwire_plan::misplaced;
use std::{ops::Range, sync::Arc};

/// This party's share of numbers modulo 2^ring.
#[derive(Clone)]
pub(crate) struct Words {
    pub(crate) ring: u32,
    pub(crate) own: Arc<Wiped<Vec<u64>>>,
}

impl Words {
    pub(crate) fn new(ring: u32, own: impl Into<Wiped<Vec<u64>>>) -> Words {
        Words { ring, own: Arc::new(own.into()) }
    }
}

#[derive(Clone)]
pub(crate) enum Form {
    /// Both parties have it.
    Known(Arc<Tensor>),
    /// Shares add up.
    Words(Words),
    /// Shares of bit planes, by exclusive or.
    Bits(Arc<Planes>),
    /// This party's part of an order.
    Order(Arc<Order>),
}

impl Form {
    pub(crate) fn known(&self) -> &Arc<Tensor> {
        match self {
            Form::Known(tensor) => tensor,
            _ => misplaced(),
        }
    }

    pub(crate) fn words(&self) -> &Words {
        match self {
            Form::Words(words) => words,
            _ => misplaced(),
        }
    }

    pub(crate) fn bits(&self) -> &Arc<Planes> {
        match self {
            Form::Bits(bits) => bits,
            _ => misplaced(),
        }
    }

    pub(crate) fn order(&self) -> &Arc<Order> {
        match self {
            Form::Order(order) => order,
            _ => misplaced(),
        }
    }

    /// The bits of plane 0 in bytes of their own.
    pub(crate) fn column(&self, plane: usize) -> Wiped<Vec<u8>> {
        let bits = self.bits();
        let bytes = plane_bytes(bits.instances());
        Wiped::new(crate::ring::unpack_bits(&bits[plane * bytes..][..bytes], bits.instances()))
    }

    /// Some rows of it.
    pub(crate) fn rows(&self, rows: &Range<usize>) -> Form {
        match self {
            Form::Known(tensor) => Form::Known(tensor.clone()),
            Form::Order(order) => Form::Order(order.clone()),
            Form::Words(words) => Form::Words(Words::new(words.ring, words.own[rows.clone()].to_vec())),
            Form::Bits(bits) => {
                let (from, to) = (plane_bytes(bits.instances()), plane_bytes(rows.len()));
                let mut out = Planes::zeros(bits.width(), rows.len());
                for plane in 0..bits.width() {
                    xor_range(
                        &bits[plane * from..][..from],
                        rows.start,
                        rows.len(),
                        &mut out[plane * to..][..to],
                    );
                }
                Form::Bits(Arc::new(out))
            }
        }
    }
}

/// A column of bits as planes of one.
pub(crate) fn planes_of_bits(bits: &[u8]) -> Planes {
    let words: Wiped<Vec<u64>> = Wiped::new(bits.iter().map(|b| u64::from(*b)).collect());
    planes_of(&words, 1)
}

/// Known numbers modulo 2^ring.
pub(crate) fn numbers(tensor: &Tensor, ring: u32) -> Vec<u64> {
    (0..tensor.len()).map(|i| tensor.element(i)[0] & mask(ring)).collect()
}

/// A value that comes in pieces of rows.
pub(crate) enum Joined {
    Nothing,
    Words(u32, Wiped<Vec<u64>>),
    Bits(Planes),
    Known(Arc<Tensor>),
    Order(Arc<Order>),
}

impl Joined {
    /// Puts a piece where it belongs, of a value of `all` rows.
    pub(crate) fn put(&mut self, all: usize, rows: &Range<usize>, piece: Form) {
        match (&mut *self, piece) {
            (_, Form::Known(tensor)) => *self = Joined::Known(tensor),
            (_, Form::Order(order)) => *self = Joined::Order(order),
            (Joined::Words(_, own), Form::Words(words)) => {
                own[rows.clone()].copy_from_slice(&words.own);
            }
            (Joined::Bits(planes), Form::Bits(bits)) => {
                let (to, from) = (plane_bytes(all), plane_bytes(rows.len()));
                for plane in 0..bits.width() {
                    put_range(
                        &bits[plane * from..][..from],
                        rows.len(),
                        &mut planes[plane * to..][..to],
                        rows.start,
                    );
                }
            }
            (_, Form::Words(words)) => {
                *self = Joined::Words(words.ring, Wiped::new(vec![0; all]));
                self.put(all, rows, Form::Words(words));
            }
            (_, Form::Bits(bits)) => {
                *self = Joined::Bits(Planes::zeros(bits.width(), all));
                self.put(all, rows, Form::Bits(bits));
            }
        }
    }

    pub(crate) fn form(self) -> Option<Form> {
        match self {
            Joined::Nothing => None,
            Joined::Words(ring, own) => Some(Form::Words(Words::new(ring, own))),
            Joined::Bits(planes) => Some(Form::Bits(Arc::new(planes))),
            Joined::Known(tensor) => Some(Form::Known(tensor)),
            Joined::Order(order) => Some(Form::Order(order)),
        }
    }
}
