//! Garbled tables, as the evaluator holds them.

use crate::shares::Blocks;
use hushwire_block::Buffer;
use zeroize::Zeroizing;

/// The tables at the evaluator, with its own part in them: of rows those of each garbler
/// ([`wrk::absorb`]), of half gates their sums ([`half::absorb`]). What garblers' hashes hide is of
/// no use after one evaluation: not wiped, but on huge pages.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) of: Vec<Buffer>,
    /// Where tables are rows, party 0's bits of them, one byte for each AND.
    pub(crate) own: Zeroizing<Vec<u8>>,
    /// AuthgarbleParty 0's keys in the check of half gates: three blocks of each AND.
    pub(crate) checks: Blocks,
}

#[cfg(test)]
impl Clone for Tables {
    fn clone(&self) -> Tables {
        let copy = |old: &Buffer| {
            let mut buffer = Buffer::new();
            buffer.set_len(old.len());
            buffer.copy_from_slice(old);
            buffer
        };
        let Tables { of, own, checks } = self;
        Tables { of: of.iter().map(copy).collect(), own: own.clone(), checks: checks.clone() }
    }
}

impl Tables {
    /// The tables of the garbler of a slot.
    pub(crate) fn of(&self, slot: usize) -> &[u8] {
        &self.of[slot]
    }
}
