//! The sizes of a bin of bands, and a digest's row.

use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, as_bytes_mut};
use hushwire_simd::Lanes;

use crate::okvs::layout::below;
use crate::okvs::{Digest, word};

/// SECURITY: the number of bits of a band, in bins with at least that many entries.
const WIDTH: usize = 64 * WORDS;
/// The number of words of a band.
pub(super) const WORDS: usize = 7;
/// SECURITY: the number of a band's columns that may pass without a waiting row that has a bit
/// there.
const MISSED: usize = 8;
/// SECURITY: the number of entries in addition to the share of the rows: random bits with this many
/// more columns than rows have full rank except with probability 2^−48.
const SPARE: usize = 48;
/// LOCAL: the number of starts of a group: with a band's width they cover 11 KiB of entries.
const STEP: usize = 256;
/// AGREEMENT: the key of the permutation that makes bands; public.
const KEY: [u8; 16] = *b"hushwire band v1";
/// The number of blocks of a band.
const BLOCKS: usize = WORDS.div_ceil(2);
/// LOCAL: the number of rows that are made together.
pub(super) const BATCH: usize = 64;

/// The sizes of a bin. AGREEMENT.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Band {
    columns: usize,
    width: usize,
}

impl Band {
    /// The sizes for `rows` rows. Such a bin fails with probability below 2^−(bits − log2 rows).
    pub(crate) fn new(rows: usize, bits: f64) -> Self {
        let rate = bits * core::f64::consts::LN_2 / (WIDTH - MISSED) as f64;
        // (e^η − 1) / η − 1 = η/2 + η²/6 + …, by operations that every machine rounds alike.
        let more = (2..20).rev().fold(0.0, |sum, i| rate / f64::from(i) * (1.0 + sum));
        let columns = rows + (more * rows as f64) as usize + 1 + SPARE;
        Band { columns, width: WIDTH.min(columns) }
    }

    /// Sizes for a test.
    #[cfg(test)]
    pub(crate) fn with_width(columns: usize, width: usize) -> Self {
        Band { columns, width }
    }

    /// The number of entries.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The number of bits of a row.
    #[cfg(test)]
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The number of places where a row may start.
    fn starts(&self) -> usize {
        self.columns - self.width + 1
    }

    /// The first column of a digest's row.
    #[inline(always)]
    pub(crate) fn start(&self, digest: &Digest) -> u32 {
        below(word(digest, 1), self.starts() as u32)
    }

    /// The number of groups of rows with nearby starts.
    pub(crate) fn groups(&self) -> usize {
        self.starts().div_ceil(STEP)
    }

    /// The group of a digest's row.
    #[inline(always)]
    pub(crate) fn group(&self, digest: &Digest) -> usize {
        self.start(digest) as usize / STEP
    }

    /// The bits of up to [`BATCH`] rows from their seeds, lowest first.
    pub(super) fn rows(&self, makes: &Makes, seeds: impl Iterator<Item = Block>, out: &mut [[u64; WORDS]]) {
        let mut blocks = [Block::ZERO; BATCH * BLOCKS];
        let blocks = &mut blocks[..out.len() * BLOCKS];
        for (seed, blocks) in seeds.zip(blocks.chunks_exact_mut(BLOCKS)) {
            for (i, block) in blocks.iter_mut().enumerate() {
                *block = seed ^ Block::from_u128(i as u128);
            }
        }
        makes.backend.ecb_encrypt(&makes.key, blocks);
        for (blocks, out) in blocks.chunks_exact(BLOCKS).zip(out) {
            for (i, word) in out.iter_mut().enumerate() {
                let bits = blocks[i / 2].to_u128();
                *word = (bits >> (64 * (i % 2))) as u64 & below_bit(self.width.saturating_sub(64 * i));
            }
        }
    }
}

/// The mask of the lowest `bits` bits, or of all.
fn below_bit(bits: usize) -> u64 {
    if bits < 64 { (1 << bits) - 1 } else { u64::MAX }
}

/// The part of a digest from which its band is made.
#[inline(always)]
pub(super) fn seed(digest: &Digest) -> Block {
    let mut seed = Block::ZERO;
    seed.0.copy_from_slice(&digest[8..24]);
    seed
}

/// The permutation that makes bands.
pub(super) struct Makes {
    pub(super) backend: Backend,
    key: Aes128,
}

impl Makes {
    pub(super) fn new(backend: Backend) -> Self {
        Makes { backend, key: Aes128::on(backend, &KEY) }
    }
}

/// The bytes of eight words.
pub(super) const GROUP: usize = 64;

/// For each byte, a mask for those of eight words that its bits select.
static MASKS: [[u8; GROUP]; 256] = {
    let mut masks = [[0; GROUP]; 256];
    let mut bits = 0;
    while bits < 256 {
        let mut at = 0;
        while at < GROUP {
            masks[bits][at] = 0u8.wrapping_sub((bits >> (at / 8) & 1) as u8);
            at += 1;
        }
        bits += 1;
    }
    masks
};

/// Eight partial sums.
#[derive(Clone, Copy)]
pub(super) struct Sum<L: Lanes>([L::V; 4]);

impl<L: Lanes> Sum<L> {
    #[inline(always)]
    pub(super) fn new(l: L) -> Self {
        Sum([l.zero(); 4])
    }

    /// Adds those of eight words that `bits` selects.
    #[inline(always)]
    pub(super) fn add(&mut self, l: L, words: &[u8], bits: u8) {
        let mask = &MASKS[usize::from(bits)];
        for i in 0..GROUP / L::BYTES {
            let at = i * L::BYTES;
            self.0[i] = l.xor(self.0[i], l.and(l.load(&mask[at..]), l.load(&words[at..])));
        }
    }

    /// The sum of all eight.
    #[inline(always)]
    pub(super) fn total(&self, l: L) -> u64 {
        let mut bytes = [0; GROUP];
        for i in 0..GROUP / L::BYTES {
            l.store(self.0[i], &mut bytes[i * L::BYTES..]);
        }
        let words =
            bytes.chunks_exact(8).map(|word| u64::from_le_bytes(*word.first_chunk().expect("8 bytes")));
        words.fold(0, |sum, word| sum ^ word)
    }
}

/// Words side by side in memory for vector reads, followed by `behind` zero words.
pub(super) fn plane(words: impl Iterator<Item = u64>, count: usize, behind: usize) -> Vec<Block> {
    let mut plane = vec![Block::ZERO; (count + behind).div_ceil(2)];
    for (at, word) in as_bytes_mut(&mut plane).chunks_exact_mut(8).zip(words) {
        at.copy_from_slice(&word.to_le_bytes());
    }
    plane
}
