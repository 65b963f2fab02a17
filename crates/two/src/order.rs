//! Orders of rows that no party knows.
//!
//! ```text
//! stage     a network that party 0 knows, one that party 1 knows, then places that both know
//! order     stages one after the other
//! ```
//!
//! SECURITY: the places of a stage are uniformly random for each party, because the other party's
//! network has permuted the rows. So they reveal nothing about the order. A stage's networks serve
//! every use of its order, and nothing else about the rows that they move is opened.

use crate::network::Network;
use std::{ops::Range, sync::Arc};

#[derive(Clone)]
pub(crate) struct OrderStage {
    /// This party's network; `None` if the order is known.
    pub(crate) network: Option<Arc<Network>>,
    /// Place `i` gets row `places[i]`.
    pub(crate) places: Arc<Vec<u32>>,
    pub(crate) inverted: bool,
}

/// An order of rows: for each place, the row that comes there.
#[derive(Clone, Default)]
pub(crate) struct SharedOrder {
    pub(crate) stages: Vec<OrderStage>,
}

impl SharedOrder {
    /// An order that both parties know.
    pub(crate) fn known(places: Vec<u32>) -> SharedOrder {
        SharedOrder { stages: vec![OrderStage { network: None, places: Arc::new(places), inverted: false }] }
    }

    pub(crate) fn inverse(&self) -> SharedOrder {
        let stages = self.stages.iter().rev().cloned();
        SharedOrder {
            stages: stages.map(|stage| OrderStage { inverted: !stage.inverted, ..stage }).collect(),
        }
    }

    /// This order, followed by another one.
    pub(crate) fn then(&self, other: &SharedOrder) -> SharedOrder {
        SharedOrder { stages: [&self.stages[..], &other.stages].concat() }
    }
}

/// The inverse of a permutation; `None` if it is not a permutation.
pub(crate) fn inverse(places: &[u32]) -> Option<Vec<u32>> {
    let mut out = vec![u32::MAX; places.len()];
    for (i, place) in (0..).zip(places) {
        let at = out.get_mut(*place as usize)?;
        if std::mem::replace(at, i) != u32::MAX {
            return None;
        }
    }
    Some(out)
}

/// The bits of a row's number.
pub(crate) fn number_bits(rows: usize) -> u32 {
    usize::BITS - rows.saturating_sub(1).leading_zeros()
}

/// AGREEMENT: the bits of compared strings, including the row's number. With one more bit they fill
/// a block.
const STRING: u32 = 127;

/// The bits of keys that each of several sorts compares, the least significant part first. Each
/// sort is stable, so the last one gives the order by all bits.
pub(crate) fn sorts(rows: usize, bits: usize) -> impl Iterator<Item = Range<usize>> {
    let most = (STRING - number_bits(rows)) as usize;
    let count = if rows < 2 { 0 } else { bits.div_ceil(most).max(1) };
    (0..count).map(move |k| k * most..bits.min((k + 1) * most))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn permutations_are_told_from_what_is_none() {
        assert_eq!(inverse(&[2, 0, 1]), Some(vec![1, 2, 0]));
        assert_eq!(inverse(&[]), Some(vec![]));
        for none in [&[0, 0][..], &[0, 2], &[u32::MAX]] {
            assert_eq!(inverse(none), None);
        }
    }

    #[test]
    fn sorts_have_all_bits_once() {
        for (rows, bits) in [(2, 1), (1000, 64), (1000, 117), (1000, 118), (1 << 20, 500), (9, 0)] {
            let parts: Vec<_> = sorts(rows, bits).collect();
            assert_eq!((parts[0].start, parts[parts.len() - 1].end), (0, bits));
            assert!(parts.windows(2).all(|two| two[0].end == two[1].start));
            assert!(parts.iter().all(|part| part.len() as u32 + number_bits(rows) <= STRING));
        }
        assert_eq!(sorts(1, 64).count(), 0);
    }
}
