//! Garbled tables, as the evaluator holds them.

use crate::shares::Blocks;
use hushwire_block::Buffer;
use zeroize::Zeroizing;

/// The tables at the evaluator, with its own part added: each garbler's rows ([`wrk::absorb`]), or
/// the sums of half gates' tables ([`half::absorb`]). They are not wiped, because what the
/// garblers' hashes hide is useless after one evaluation, but they use huge pages.
#[derive(Default)]
pub(crate) struct Tables {
    pub(crate) of: Vec<Buffer>,
    /// Party 0's bits of the rows, one byte for each AND; empty for half gates.
    pub(crate) own: Zeroizing<Vec<u8>>,
    /// Party 0's keys in the check of half gates: three blocks for each AND.
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
    /// The tables of the garbler in a slot.
    pub(crate) fn of(&self, slot: usize) -> &[u8] {
        &self.of[slot]
    }
}
