//! A pseudorandom stream: AES in counter mode under a key that is derived from a seed and a label.

use crate::Seed;
use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, registry};
use zeroize::Zeroize;

/// AES-CTR under a derived key: byte `n` of the stream is byte `n % 16` of AES_k(LE128(n / 16)),
/// regardless of the pieces in which it is read.
///
/// A stream ends after 2^64 blocks, more than any program reads.
pub struct Prg {
    backend: Backend,
    key: Aes128,
    /// The index of the next block.
    next: u128,
    /// The last block; its bytes from `used` on are unread.
    block: Block,
    used: usize,
}

impl Drop for Prg {
    fn drop(&mut self) {
        self.block.zeroize();
    }
}

impl Prg {
    /// The stream of `seed` for `label`. The backend is a local choice; the stream does not depend
    /// on it.
    #[must_use]
    pub fn new(backend: Backend, seed: &Seed, label: &str) -> Self {
        let derived = seed.derive("hushwire prg", label.as_bytes());
        registry::named(seed.expose(), derived.expose(), label, 0);
        let key = derived.key(backend);
        Prg { backend, key, next: 0, block: Block::ZERO, used: 16 }
    }

    /// The stream's next `out.len()` bytes.
    pub fn fill(&mut self, out: &mut [u8]) {
        let kept = out.len().min(16 - self.used);
        let (head, body) = out.split_at_mut(kept);
        head.copy_from_slice(&self.block.0[self.used..self.used + kept]);
        self.used += kept;
        let whole = body.len() - body.len() % 16;
        let (body, tail) = body.split_at_mut(whole);
        self.backend.counter_bytes(&self.key, self.next, body);
        self.next += (whole / 16) as u128;
        if !tail.is_empty() {
            let mut block = [Block::ZERO];
            self.backend.counter_blocks(&self.key, self.next, &mut block);
            self.next += 1;
            self.block = block[0];
            self.used = tail.len();
            tail.copy_from_slice(&self.block.0[..self.used]);
        }
    }

    /// The stream's next blocks.
    pub fn fill_blocks(&mut self, out: &mut [Block]) {
        self.fill(hushwire_block::as_bytes_mut(out));
    }

    /// The stream's next 16 bytes.
    #[must_use]
    pub fn next_block(&mut self) -> Block {
        let mut block = [0; 16];
        self.fill(&mut block);
        Block(block)
    }

    /// The stream's next 8 bytes, little-endian.
    #[must_use]
    pub fn next_u64(&mut self) -> u64 {
        let mut word = [0; 8];
        self.fill(&mut word);
        u64::from_le_bytes(word)
    }
}
