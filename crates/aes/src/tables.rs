//! The low bits of a block's hashes at several distances, for tables of one-of-many oblivious
//! transfer. No hash is written to memory.

use crate::batch::{Counter, runs};
use crate::{Aes128, Backend};
use hushwire_block::{
    Block, as_bytes,
    registry::{self, HASH},
};
use hushwire_simd::{Kernel, Lanes};

/// A distance, and a mask that selects bits of the hash.
pub type Taken = (Block, u32);

struct TableHashes<'a> {
    key: &'a Aes128,
    first: u128,
    x: &'a [u8],
    taken: &'a [Taken],
    out: &'a mut [u32],
}

/// Adds the selected bits of `M` hashes of each block of `x` to `out`.
#[inline(always)]
fn some<L: Lanes, const M: usize>(
    l: L,
    keys: &[L::V; 11],
    [x, tweak]: [L::V; 2],
    taken: &[Taken; M],
    out: L::V,
) -> L::V {
    let mut v = [x; M];
    for (v, (distance, _)) in v.iter_mut().zip(taken) {
        *v = l.xor(*v, l.splat(&distance.0));
    }
    l.encrypt(keys, &mut v);
    let masks = v;
    for v in &mut v {
        *v = l.xor(*v, tweak);
    }
    l.encrypt_xor(keys, &masks, &mut v);
    let mut out = out;
    for (v, (_, mask)) in v.iter().zip(taken) {
        out = l.xor(out, l.and(*v, l.splat(&u128::from(*mask).to_le_bytes())));
    }
    out
}

impl TableHashes<'_> {
    /// The output words of a vector of blocks; each is in the first bytes of its block.
    #[inline(always)]
    fn step<L: Lanes>(&self, l: L, keys: &[L::V; 11], tweaks: &mut Counter<L, 1>, x: &[u8]) -> [u8; 64] {
        let x = [l.load(x), tweaks.next(l)[0]];
        let mut out = l.zero();
        let (fours, rest) = self.taken.as_chunks::<4>();
        for four in fours {
            out = some(l, keys, x, four, out);
        }
        let (twos, rest) = rest.as_chunks::<2>();
        for two in twos {
            out = some(l, keys, x, two, out);
        }
        for one in rest.as_chunks::<1>().0 {
            out = some(l, keys, x, one, out);
        }
        let mut bytes = [0; 64];
        l.store(out, &mut bytes);
        bytes
    }
}

impl Kernel for TableHashes<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        let keys = self.key.vectors(l);
        let mut tweaks = Counter::<L, 1>::new(l, self.first, 1);
        let out = std::mem::take(&mut self.out);
        for (x, out) in self.x.chunks(L::BYTES).zip(out.chunks_mut(L::N)) {
            let words = if x.len() == L::BYTES {
                self.step(l, &keys, &mut tweaks, x)
            } else {
                let mut buffer = [0; 64];
                buffer[..x.len()].copy_from_slice(x);
                self.step(l, &keys, &mut tweaks, &buffer)
            };
            for (out, word) in out.iter_mut().zip(words.as_chunks::<16>().0) {
                *out = u32::from_le_bytes(*word.first_chunk().expect("four of sixteen"));
            }
        }
    }
}

impl Backend {
    /// Hashes each block at all distances of `taken`, with H as in [`Backend::tccr`] and tweak
    /// first + n: sets `out[n]` to the XOR of (H(x\[n\] ⊕ distance) mod 2^32) ∧ bits over all
    /// entries of `taken`.
    ///
    /// # Panics
    /// If the lengths of `x` and `out` differ.
    pub fn tccr_tables(&self, key: &Aes128, first: u128, x: &[Block], taken: &[Taken], out: &mut [u32]) {
        assert_eq!(x.len(), out.len(), "a word per input");
        registry::used(HASH, key.bytes(), first, x.len());
        for (first, start, end) in runs(first, x.len()) {
            let (x, out) = (as_bytes(&x[start..end]), &mut out[start..end]);
            self.run_batch(TableHashes { key, first, x, taken, out });
        }
    }
}
