//! The 10-local linear code of LPN (Ferret, ePrint 2020/924): every output adds ten entries of a table, chosen by a public
//! stream of AES blocks.
//!
//! What binds is the latency of ten random reads. Offsets are made a few steps ahead, their lines asked for at once, and
//! summed when they have come; making them fills the time in between.

use crate::batch::Counter;
use crate::{Aes128, Backend};
use hushwire_block::Block;
use hushwire_simd::{Kernel, Lanes, prefetch};

/// Entries per output.
const LOCAL: usize = 10;
/// Vectors of a step: `5 N` blocks, `20 N` words, `2 N` outputs.
const VECTORS: usize = 5;
/// Words of the widest step.
const WORDS: usize = VECTORS * 16;
/// Steps between asking for entries and adding them: long enough for the last cache, and fewer lines than the first holds.
const AHEAD: usize = 4;

struct Code<'a> {
    key: &'a Aes128,
    first: u128,
    table: &'a [Block],
    out: &'a mut [Block],
}

/// The counters of a step from `at` on; `offsets` are 0, 1, .. .
#[inline(always)]
fn counters<L: Lanes>(l: L, offsets: &[L::V; VECTORS], at: u128) -> [L::V; VECTORS] {
    let mut v = [l.zero(); VECTORS];
    if (at as u64).checked_add((VECTORS * L::N) as u64).is_some() {
        let base = l.splat(&at.to_le_bytes());
        for j in 0..VECTORS {
            v[j] = l.add64(base, offsets[j]);
        }
    } else {
        let mut bytes = [0; VECTORS * 64];
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
        // Twice the entry's number: eight bytes each, the largest unit of an address.
        let mask = (2 * (table.len() - 1) as u32).to_le_bytes();
        let mask = l.splat(&std::array::from_fn(|i| mask[i % 4]));
        let mut ring = [[0u32; WORDS]; AHEAD];
        let base = table.as_ptr().cast::<u64>();
        let (blocks, outputs) = (VECTORS * L::N, 2 * L::N);
        let steps = out.len().div_ceil(outputs);
        for step in 0..steps + AHEAD {
            let slot = &mut ring[step % AHEAD];
            if step >= AHEAD {
                let from = (step - AHEAD) * outputs;
                let to = out.len().min(from + outputs);
                for (out, words) in out[from..to].iter_mut().zip(slot.as_chunks::<LOCAL>().0) {
                    let mut sum = out.to_u128();
                    for word in words {
                        // SAFETY: the mask left an even number, at most twice the last entry's.
                        sum ^= unsafe { base.add(*word as usize).cast::<Block>().read() }.to_u128();
                    }
                    *out = Block::from_u128(sum);
                }
            }
            if step < steps {
                let mut v = counters(l, &offsets, at);
                at = at.wrapping_add(blocks as u128);
                l.encrypt(&keys, &mut v);
                let mut bytes = [0; VECTORS * 64];
                for j in 0..VECTORS {
                    l.store(l.and(l.shl64::<1>(v[j]), mask), &mut bytes[j * L::BYTES..]);
                }
                for (word, bytes) in slot.iter_mut().zip(bytes.as_chunks::<4>().0).take(4 * blocks) {
                    *word = u32::from_le_bytes(*bytes);
                    prefetch(base.wrapping_add(*word as usize));
                }
            }
        }
    }
}

impl Backend {
    /// Adds (xors) to `out[j]` the entries of `table` at words 10 j to 10 j + 9 of AES_k(LE128(first)),
    /// AES_k(LE128(first + 1)), .. , counting modulo 2^128: words are 32 bits, little-endian, four to a block, and a word
    /// stands for its value modulo the table's length.
    ///
    /// A call takes ⌈10 n / 4⌉ blocks for n outputs. So that calls continue one another, let every n but the last be even
    /// and advance `first` by 10 n / 4.
    ///
    /// Which entries are read is public: `key` and `first` must be, the table and `out` need not.
    ///
    /// # Panics
    /// If the table's length is not a power of two from 2 to 2^31.
    pub fn lpn_accumulate(&self, key: &Aes128, first: u128, table: &[Block], out: &mut [Block]) {
        let n = table.len();
        assert!(n.is_power_of_two() && (2..=1 << 31).contains(&n), "{n} entries: not a power of two");
        self.run(Code { key, first, table, out });
    }
}
