//! The 10-local linear code of LPN (Ferret, ePrint 2020/924): every output adds ten entries of a
//! table, chosen by a public stream of AES blocks.
//!
//! The latency of ten random reads is the limit. The processor overlaps as many reads as its
//! first-level cache has line buffers if their addresses are ready, so that offsets are computed a
//! step ahead. Prefetching would only occupy those buffers.

use crate::batch::Counter;
use crate::{Aes128, Backend};
use hushwire_block::{
    Block,
    registry::{self, STREAM},
};
use hushwire_simd::{Kernel, Lanes};

/// The number of entries that an output adds.
const LOCAL: usize = 10;
/// The vectors of a step. With N blocks in a vector, a step has 5 N blocks, 20 N words and 2 N
/// outputs.
const VECTORS: usize = 5;
/// The bytes of a step's words in the widest vectors.
const BYTES: usize = VECTORS * 64;

/// The words of a step, on separate cache lines.
#[repr(align(64))]
struct StepWords([u8; BYTES]);

/// A call of [`Backend::lpn_accumulate`].
struct Code<'a> {
    key: &'a Aes128,
    /// The counter of the first block.
    first: u128,
    table: &'a [Block],
    out: &'a mut [Block],
}

/// The counters of a step from `at` on; `offsets` are 0, 1, 2 and so on.
#[inline(always)]
fn counters<L: Lanes>(l: L, offsets: &[L::V; VECTORS], at: u128) -> [L::V; VECTORS] {
    let mut v = [l.zero(); VECTORS];
    if (at as u64).checked_add((VECTORS * L::N) as u64).is_some() {
        let base = l.splat(&at.to_le_bytes());
        for j in 0..VECTORS {
            v[j] = l.add64(base, offsets[j]);
        }
    } else {
        let mut bytes = [0; BYTES];
        for (i, block) in bytes.chunks_exact_mut(16).enumerate() {
            block.copy_from_slice(&at.wrapping_add(i as u128).to_le_bytes());
        }
        for j in 0..VECTORS {
            v[j] = l.load(&bytes[j * L::BYTES..]);
        }
    }
    v
}

impl Kernel for Code<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Code { key, first: mut at, table, out } = self;
        let keys = key.vectors(l);
        let offsets = Counter::<L, VECTORS>::new(l, 0, 1).next(l);
        // Twice the entry's number: an index of 8-byte units, the largest unit of an x86 address.
        let mask = (2 * (table.len() - 1) as u32).to_le_bytes();
        let mask = l.splat(&std::array::from_fn(|i| mask[i % 4]));
        let base = table.as_ptr().cast::<u64>();
        let mut words = [const { StepWords([0; BYTES]) }; 2];
        let mut steps = out.chunks_exact_mut(2 * L::N);
        let mut now = 0;
        // The next step's words are made before this step's entries are added.
        make(l, &keys, &offsets, mask, &mut at, &mut words[now].0);
        for out in &mut steps {
            make(l, &keys, &offsets, mask, &mut at, &mut words[1 - now].0);
            // SAFETY: the mask left even numbers, at most twice the last entry's.
            unsafe { add(base, &words[now].0, &mut out[..2 * L::N]) };
            now = 1 - now;
        }
        // SAFETY: as above.
        unsafe { add(base, &words[now].0, steps.into_remainder()) };
    }
}

/// Makes the words of the step at `at`, doubled and masked.
#[inline(always)]
fn make<L: Lanes>(
    l: L,
    keys: &[L::V; 11],
    offsets: &[L::V; VECTORS],
    mask: L::V,
    at: &mut u128,
    words: &mut [u8; BYTES],
) {
    let mut v = counters(l, offsets, *at);
    *at = at.wrapping_add((VECTORS * L::N) as u128);
    l.encrypt(keys, &mut v);
    for j in 0..VECTORS {
        l.store(l.and(l.shl64::<1>(v[j]), mask), &mut words[j * L::BYTES..]);
    }
}

/// Adds to every output the entries that its words select.
///
/// # Safety
/// For every word, 16 bytes are readable at `base + 8 word`.
#[inline(always)]
unsafe fn add(base: *const u64, words: &[u8; BYTES], out: &mut [Block]) {
    for (out, words) in out.iter_mut().zip(words.as_chunks::<{ 4 * LOCAL }>().0) {
        let mut sum = out.to_u128();
        for word in words.as_chunks::<4>().0 {
            let word = u32::from_le_bytes(*word) as usize;
            // SAFETY: guaranteed by the caller.
            sum ^= unsafe { base.add(word).cast::<Block>().read() }.to_u128();
        }
        *out = Block::from_u128(sum);
    }
}

impl Backend {
    /// XORs into `out[j]` the entries of `table` that words 10 j to 10 j + 9 of
    /// AES_k(LE128(first)), AES_k(LE128(first + 1)), .. select, counting modulo 2^128. Words are 32
    /// bits, little-endian, four to a block; a word selects the entry at its value modulo the
    /// table's length.
    ///
    /// A call takes ⌈10 n / 4⌉ blocks for n outputs. If another call continues, every n but the
    /// last must be even, and `first` advances by 10 n / 4.
    ///
    /// The addresses of the reads depend on `key` and `first`, which must be public. The table and
    /// `out` may be secret.
    ///
    /// # Panics
    /// If the table's length is not a power of two from 2 to 2^31.
    pub fn lpn_accumulate(&self, key: &Aes128, first: u128, table: &[Block], out: &mut [Block]) {
        let n = table.len();
        let fits = n.is_power_of_two() && (2..=1 << 31).contains(&n);
        assert!(fits, "{n} entries: not a power of two from 2 to 2^31");
        registry::used(STREAM, key.bytes(), first, (LOCAL * out.len()).div_ceil(4));
        self.run_batch(Code { key, first, table, out });
    }
}
