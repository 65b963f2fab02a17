//! AES on shared blocks, with keys of 128, 192 or 256 bits.
//!
//! **Functionality.** `blocks` shared 16-byte blocks and shares of round keys (one set, or one per
//! block) → shares of the encrypted blocks. **Paper.** Araki et al. 2016 (multiplication),
//! Boyar–Peralta 2010 and 2011 (`bp32`, `depth4`); the other S-boxes are described in
//! `docs/internals/protocols.md`. **Security.** Semi-honest, one corrupted party, F = AES as PRF
//! (κ = 128).
//! **Rounds and bytes.** The rounds of the S-box, 10, 12 or 14 times, and those of its preparation.
//! Each time 16 S-boxes a block, [`Sbox::bits`] each, with the number of blocks padded to an even
//! one.
//! **Constant time.** Blocks, keys and shares are secret; their number is public.

use crate::kernels::{ByteShares, Linear, SboxSource};
use crate::keys::expansion_sboxes;
use crate::machine::{Between, SboxRounds, Sboxes};
use crate::{Context, ExpandedKeys, KeySize, Rep3, Sbox, Shares, Workspace, pool};
use hushwire_block::Buffer;
use hushwire_machine::{Cost, drive::Exchanged};
use std::sync::Arc;

/// The number of blocks that a batch of `blocks` is padded to: the two halves of a batch must not
/// share a block.
#[must_use]
pub const fn padded(blocks: usize) -> usize {
    blocks.next_multiple_of(2)
}

/// The cost of one batch for each party. Derived from the protocol's parameters, not from the code
/// that runs it.
#[must_use]
pub fn cost(size: KeySize, sbox: Sbox, blocks: usize) -> Cost {
    let rounds = size.rounds();
    Cost {
        rounds: (sbox.prepared_rounds() + rounds * sbox.rounds()) as u64,
        bytes_sent: (padded(blocks) * 16 * rounds) as u64 * sbox.bits() / 8,
    }
}

/// The cost for each party of expanding `keys` keys inside the computation, in addition to the
/// blocks.
#[must_use]
pub fn expansion_cost(size: KeySize, sbox: Sbox, keys: usize) -> Cost {
    let steps = size.expansion_steps();
    Cost {
        rounds: (sbox.prepared_rounds() + steps * sbox.rounds()) as u64,
        bytes_sent: (steps * expansion_sboxes(keys)) as u64 * sbox.bits() / 8,
    }
}

/// The number of 128-bit words that each party draws from its two streams for a batch, with two PRF
/// calls each.
#[must_use]
pub fn zero_words(size: KeySize, sbox: Sbox, blocks: usize) -> u64 {
    let (n, rounds) = (16 * padded(blocks), size.rounds());
    let of_messages = |bytes: usize| bytes.div_ceil(16) as u64;
    if sbox == Sbox::Lut256 {
        // Only the random bytes and the preparation take words; openings need no masks.
        let prepared = (0..sbox.prepared_rounds()).map(|k| of_messages(sbox.prepared_bytes(k, n, rounds)));
        return of_messages(n * rounds) + prepared.sum::<u64>();
    }
    rounds as u64 * (0..sbox.rounds()).map(|k| of_messages(sbox.message_bytes(k, n))).sum::<u64>()
}

/// One party's endpoint of the encryption of a batch of shared blocks.
pub type AesBlocks = SboxRounds<AesState>;

/// The blocks and the keys of an encryption.
pub struct AesState {
    blocks: usize,
    keys: Arc<ExpandedKeys>,
    /// The input blocks; after the run, the output blocks.
    state: [Buffer; 2],
}

impl AesBlocks {
    /// Encrypts the blocks of `input`, of 16 bytes each.
    ///
    /// # Panics
    /// If there are no blocks, the last block is not whole, or `keys` holds neither one key nor one
    /// per padded block (the caller's bug).
    #[must_use]
    pub fn new(sbox: Sbox, cx: Context, keys: Arc<ExpandedKeys>, input: &Shares, ws: Workspace) -> Self {
        let mut batch = Self::empty(sbox, cx, keys, input.len() / 16, ws);
        for (state, share) in batch.between.state.iter_mut().zip(input.pair()) {
            state[..share.len()].copy_from_slice(share);
        }
        batch
    }

    /// Encrypts the public counter blocks `first`, `first + 1`, … (big-endian, wrapping, as in NIST
    /// SP 800-38A), which gives a keystream.
    ///
    /// # Panics
    /// As [`AesBlocks::new`].
    #[must_use]
    pub fn counter(
        sbox: Sbox,
        cx: Context,
        keys: Arc<ExpandedKeys>,
        first: u128,
        blocks: usize,
        ws: Workspace,
    ) -> Self {
        let slot = cx.role().constant_slot();
        let mut batch = Self::empty(sbox, cx, keys, blocks, ws);
        if let Some(slot) = slot {
            for (i, block) in batch.between.state[slot][..16 * blocks].chunks_exact_mut(16).enumerate() {
                block.copy_from_slice(&first.wrapping_add(i as u128).to_be_bytes());
            }
        }
        batch
    }

    fn empty(sbox: Sbox, cx: Context, keys: Arc<ExpandedKeys>, blocks: usize, mut ws: Workspace) -> Self {
        assert!(blocks > 0, "a batch has at least one block");
        assert!(keys.keys() == 1 || keys.keys() == blocks, "one key for all blocks, or one for each");
        let n = 16 * padded(blocks);
        let mut state = std::mem::take(&mut ws.state);
        for s in &mut state {
            s.set_len(n);
            s.fill(0);
        }
        let sboxes = Sboxes::new(sbox, n, keys.size().rounds(), cx, ws);
        SboxRounds { sboxes, between: AesState { blocks, keys, state } }
    }

    /// This party's own share of every output byte, after the run. The three parties' own shares
    /// add up to the blocks.
    #[must_use]
    pub fn own(&self) -> &[u8] {
        &self.between.state[0][..16 * self.between.blocks]
    }

    /// Both of this party's shares of the output, after the run.
    #[must_use]
    pub fn output(&self) -> Shares {
        let AesState { blocks, state, .. } = &self.between;
        Rep3 { own: pool::copy(self.own()), next: pool::copy(&state[1][..16 * blocks]) }
    }

    /// The buffers, for the next batch.
    #[must_use]
    pub fn into_workspace(self) -> Workspace {
        let mut ws = self.sboxes.ws;
        ws.state = self.between.state;
        ws
    }
}

impl AesState {
    /// The linear step before the S-boxes of round `r`, or before the output, applied to the result
    /// of the previous S-boxes; and the round key.
    fn source<'a>(&'a self, affine: bool, r: usize, bytes: ByteShares<'a>) -> SboxSource<'a> {
        let linear = match r {
            0 => Linear::Nothing,
            r if r == self.keys.size().rounds() => Linear::LastRound { affine },
            _ => Linear::Round { affine },
        };
        SboxSource { bytes, linear, key: self.keys.round(r) }
    }
}

impl Between for AesState {
    fn between(&mut self, sboxes: &mut Sboxes, r: usize, arrived: Exchanged<'_>, message: &mut [u8]) {
        let affine = sboxes.affine();
        if r == 0 {
            let bytes = [&self.state[0][..], &self.state[1][..]];
            return sboxes.first(self.source(affine, r, bytes), message);
        }
        let mut buffer = std::mem::take(&mut sboxes.ws.bytes);
        let bytes = sboxes.output(arrived, &mut buffer);
        sboxes.first(self.source(affine, r, bytes), message);
        sboxes.ws.bytes = buffer;
    }

    fn end(&mut self, sboxes: &mut Sboxes, arrived: Exchanged<'_>) {
        let (affine, mut state) = (sboxes.affine(), std::mem::take(&mut self.state));
        let mut buffer = std::mem::take(&mut sboxes.ws.bytes);
        let bytes = sboxes.output(arrived, &mut buffer);
        sboxes.apply(self.source(affine, self.keys.size().rounds(), bytes), &mut state);
        (self.state, sboxes.ws.bytes) = (state, buffer);
    }

    fn cost(&self, sbox: Sbox) -> Cost {
        cost(self.keys.size(), sbox, self.blocks)
    }
}
