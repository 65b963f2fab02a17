//! Packed entries: entries from correlated OTs alone, COTS of them for each; and further OTs for
//! the trees of other entries.

use core::marker::PhantomData;

use hushwire_block::{Block, Buffer, as_bytes};
use hushwire_simd::clmul::{Clmul, ClmulSum};
use zeroize::Zeroize;

use super::field::{Base, Field};
use crate::{
    CheckStep, Extension, Level, OtError, Role, Security,
    bits::lsbs,
    cost::{row_chunks, tree_chunks},
    ferret::end::buffer,
    protocol::Core,
};

/// The OTs and message bytes of the chunks that make `cots` OTs in one segment, if no more follow.
fn chunks(core: &Core, level: Level, cots: usize) -> Vec<(usize, usize)> {
    match core {
        Core::Rows(kind) => row_chunks(*kind, cots),
        Core::Ferret(set, _) => tree_chunks(set, level, cots, usize::MAX, true),
    }
}

/// The bytes of the messages that make `cots` OTs, and their sender.
pub(super) fn messages(core: &Core, level: Level, cots: usize) -> (Role, Vec<usize>) {
    let from = match core {
        Core::Rows(_) => Role::Receiver,
        Core::Ferret(..) => Role::Sender,
    };
    (from, chunks(core, level, cots).into_iter().map(|(_, bytes)| bytes).collect())
}

/// Packs the COTs of an extension into entries as they arrive.
pub(super) struct Packing<S: Security, F: Field> {
    extension: Box<dyn Extension<S>>,
    /// The number of entries, and of further COTs.
    count: usize,
    beside: usize,
    /// The numbers of entries and COTs that are made.
    entries: usize,
    cots: usize,
    /// COTs that do not yet make a whole entry, or that are further COTs; then room for a chunk.
    scratch: Buffer,
    rest: usize,
    /// The next step of the check, after all COTs are made.
    check: Option<usize>,
    powers: Vec<u128>,
    sums: Vec<ClmulSum>,
    bits: Vec<u8>,
    /// The values q, or t.
    pub(super) wide: Buffer,
    /// The receiver's values u.
    pub(super) narrow: Vec<F::Base>,
    field: PhantomData<F>,
}

impl<S: Security, F: Field> Packing<S, F> {
    /// For `count` entries and `beside` further COTs, from an endpoint of this kind that has made
    /// nothing yet.
    pub(super) fn new(
        mut extension: Box<dyn Extension<S>>,
        core: &Core,
        count: usize,
        beside: usize,
    ) -> Self {
        let cots = count * F::COTS + beside;
        extension.limit(cots);
        let most = chunks(core, S::LEVEL, cots).into_iter().map(|(len, _)| len).max().unwrap_or(0);
        // The entries of a chunk, and one that was begun before it.
        let (mut wide, whole) = (Buffer::new(), most.div_ceil(F::COTS) + 1);
        wide.set_len(16 * count);
        let narrow = if extension.role() == Role::Receiver { Vec::with_capacity(count) } else { Vec::new() };
        let mut packing = Self {
            extension,
            count,
            beside,
            entries: 0,
            cots: 0,
            // The capacity is the largest number that is ever held, because a buffer that grows
            // leaves a copy behind.
            scratch: buffer(beside + F::COTS + most),
            rest: 0,
            check: None,
            powers: (0..F::COTS).map(|i| 1 << i).collect(),
            // The capacity is the most that a chunk makes, because a vector that grows leaves a
            // copy behind.
            sums: Vec::with_capacity(whole),
            bits: Vec::with_capacity(whole * F::Base::BYTES),
            wide,
            narrow,
            field: PhantomData,
        };
        packing.end();
        packing
    }

    fn left(&self) -> usize {
        self.count * F::COTS + self.beside - self.cots
    }

    /// The next message: its name, its sender, its bytes.
    pub(super) fn step(&self) -> Option<CheckStep> {
        if let Some(step) = self.check {
            return self.extension.check_steps().get(step).copied();
        }
        let bytes = self.extension.chunk_bytes(self.extension.chunk_len(self.left()));
        Some(CheckStep { name: "VOLE: correlated OTs", from: self.extension.speaker(), bytes })
    }

    /// Makes or reads that message; one of `heard` and `said` is empty.
    pub(super) fn act(&mut self, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        if let Some(step) = self.check {
            self.extension.check(step, heard, said)?;
            self.check = Some(step + 1);
            return Ok(());
        }
        self.chunk(heard, said)?;
        self.end();
        Ok(())
    }

    /// Finishes after the last chunk.
    fn end(&mut self) {
        if self.left() == 0 {
            self.check = Some(0);
            if S::LEVEL == Level::Malicious {
                self.extension.close_segment();
            }
        }
    }

    fn chunk(&mut self, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        let len = self.extension.chunk_len(self.left());
        let mut scratch = core::mem::take(&mut self.scratch);
        let held = self.rest + len;
        let blocks = &mut scratch.blocks_mut()[..held];
        self.extension.chunk(heard, said, &mut blocks[self.rest..])?;
        self.cots += len;
        let whole = (held / F::COTS).min(self.count - self.entries) * F::COTS;
        self.pack(&blocks[..whole]);
        if whole > 0 {
            blocks.copy_within(whole.., 0);
        }
        self.rest = held - whole;
        self.scratch = scratch;
        Ok(())
    }

    /// Packs blocks into whole entries.
    fn pack(&mut self, blocks: &[Block]) {
        let entries = blocks.len() / F::COTS;
        let at = self.entries;
        self.entries += entries;
        self.sums.clear();
        self.sums.resize(entries, ClmulSum::ZERO);
        Clmul::best().fold(&self.powers, as_bytes(blocks), &mut self.sums);
        for (entry, sum) in self.wide.blocks_mut()[at..].iter_mut().zip(&self.sums) {
            *entry = F::folded(sum);
        }
        if self.extension.role() == Role::Receiver {
            self.bits.resize(blocks.len() / 8, 0);
            lsbs(blocks, &mut self.bits);
            self.narrow.extend(self.bits.chunks_exact(F::Base::BYTES).map(F::Base::from_bytes));
        }
    }

    /// The further COTs, after all are made.
    pub(super) fn beside(&mut self) -> Buffer {
        let mut cots = core::mem::take(&mut self.scratch);
        cots[16 * self.beside..].zeroize();
        cots.set_len(16 * self.beside);
        cots
    }

    /// The addresses of the buffers for COTs, for tests: a buffer that moved left a copy behind.
    #[cfg(test)]
    pub(super) fn places(&self) -> [usize; 3] {
        [self.scratch.as_ptr().addr(), self.sums.as_ptr().addr(), self.bits.as_ptr().addr()]
    }

    /// The sender's Δ.
    pub(super) fn delta(&self) -> Option<Block> {
        self.extension.delta()
    }
}

impl<S: Security, F: Field> Drop for Packing<S, F> {
    fn drop(&mut self) {
        self.scratch.zeroize();
        self.wide.zeroize();
        self.narrow.zeroize();
        self.bits.zeroize();
        // An earlier chunk may have had more.
        self.sums.resize(self.sums.capacity(), ClmulSum::ZERO);
        self.sums.iter_mut().for_each(|sum| sum.0.zeroize());
    }
}
