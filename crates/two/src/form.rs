//! The shares of two parties. Each party holds one of the two shares of each value. Numbers are
//! words modulo 2^ℓ, with ℓ up to 64, and bits are planes. A value that one party alone knows is
//! that party's share, and the other's share is 0.

use crate::{
    ops::planes_of,
    order::SharedOrder,
    prim::Two,
    ring::{mask, unpack_bits},
};
use hushwire_block::Wiped;
use hushwire_circuit::{Planes, planes::plane_bytes};
use hushwire_compute::Tensor;
use hushwire_plan::{Sharing, WordMap};
use std::{iter, ops::Range, sync::Arc};

/// A value in one form.
pub(crate) type StepValue = hushwire_plan::StepValue<Two>;

/// This party's share of numbers modulo 2^ring.
#[derive(Clone)]
pub(crate) struct WordShare {
    pub(crate) ring: u32,
    pub(crate) own: Arc<Wiped<Vec<u64>>>,
}

impl WordShare {
    pub(crate) fn new(ring: u32, own: impl Into<Wiped<Vec<u64>>>) -> WordShare {
        WordShare { ring, own: Arc::new(own.into()) }
    }
}

impl Sharing for Two {
    /// Shares add up by exclusive OR.
    type BitShares = Planes;
    type WordShares = WordShare;
    type RowOrder = Arc<SharedOrder>;

    fn size_of_bits(bits: &Planes) -> [usize; 2] {
        [bits.width(), bits.instances()]
    }

    fn zero_bits(width: usize, rows: usize) -> Planes {
        Planes::zeros(width, rows)
    }

    fn planes(bits: &Planes) -> impl Iterator<Item = &[u8]> {
        iter::once(&bits[..])
    }

    fn planes_mut(bits: &mut Planes) -> Option<impl Iterator<Item = &mut [u8]>> {
        Some(iter::once(&mut bits[..]))
    }

    fn size_of_words(words: &WordShare) -> (u32, usize) {
        (words.ring, words.own.len())
    }

    fn zero_words(ring: u32, rows: usize) -> WordShare {
        WordShare::new(ring, vec![0; rows])
    }

    fn mapped(reads: &[&WordShare], map: &WordMap<'_>, rows: usize) -> WordShare {
        let (ring, mut out) = (reads[0].ring, Wiped::new(Vec::with_capacity(rows)));
        map.apply(&reads.iter().map(|words| &words.own[..]).collect::<Vec<_>>(), &mut out);
        out.iter_mut().for_each(|x| *x &= mask(ring));
        WordShare::new(ring, out)
    }

    fn narrowed(words: &WordShare, ring: u32) -> WordShare {
        WordShare::new(ring, words.own.iter().map(|x| x & mask(ring)).collect::<Vec<_>>())
    }

    fn put_words(words: &mut WordShare, rows: &Range<usize>, piece: &WordShare) {
        let own = Arc::get_mut(&mut words.own).expect("nobody else has it");
        own[rows.clone()].copy_from_slice(&piece.own);
    }

    fn is_alone(words: &mut WordShare) -> bool {
        Arc::get_mut(&mut words.own).is_some()
    }

    fn inverted(order: &Arc<SharedOrder>) -> Arc<SharedOrder> {
        Arc::new(order.inverse())
    }
}

/// The bits of a plane, one in each byte.
pub(crate) fn column(bits: &Planes, plane: usize) -> Wiped<Vec<u8>> {
    let (bytes, rows) = (plane_bytes(bits.instances()), bits.instances());
    Wiped::new(unpack_bits(&bits[plane * bytes..][..bytes], rows))
}

/// A column of bits as a value with one plane.
pub(crate) fn planes_of_bits(bits: &[u8]) -> Planes {
    let words: Wiped<Vec<u64>> = Wiped::new(bits.iter().map(|b| u64::from(*b)).collect());
    planes_of(&words, 1)
}

/// Known numbers modulo 2^ring.
pub(crate) fn numbers(tensor: &Tensor, ring: u32) -> Vec<u64> {
    (0..tensor.len()).map(|i| tensor.element(i)[0] & mask(ring)).collect()
}
