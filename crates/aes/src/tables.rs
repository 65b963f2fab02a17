//! Low bits of hashes of a block at several distances, for tables of one-of-many oblivious transfers: no hash goes to memory.

use crate::batch::{Counter, runs};
use crate::{Aes128, Backend};
use hushwire_block::{Block, as_bytes};
use hushwire_simd::{Kernel, Lanes};

/// Most entries of a table: two bits of each are a word.
const ENTRIES: usize = 16;

struct Tables<'a> {
    key: &'a Aes128,
    first: u128,
    x: &'a [u8],
    distances: &'a [Block],
    out: &'a mut [u32],
}

/// Two bits of `M` hashes of each block of `x`, below those that are in `out`.
#[inline(always)]
fn some<L: Lanes, const M: usize>(
    l: L,
    keys: &[L::V; 11],
    [x, tweak]: [L::V; 2],
    distances: &[Block; M],
    out: L::V,
) -> L::V {
    let mut v = [x; M];
    for (v, distance) in v.iter_mut().zip(distances) {
        *v = l.xor(*v, l.splat(&distance.0));
    }
    l.encrypt(keys, &mut v);
    let masks = v;
    for v in &mut v {
        *v = l.xor(*v, tweak);
    }
    l.encrypt_xor(keys, &masks, &mut v);
    let (mut out, two) = (out, l.splat(&3u128.to_le_bytes()));
    // The last entry first: two bits at a time move up.
    for v in v.iter().rev() {
        out = l.or(l.shl64::<2>(out), l.and(*v, two));
    }
    out
}

impl Tables<'_> {
    /// The words of a vector of blocks, each in the first bytes of its block.
    #[inline(always)]
    fn step<L: Lanes>(&self, l: L, keys: &[L::V; 11], tweaks: &mut Counter<L, 1>, x: &[u8]) -> [u8; 64] {
        let of = [l.load(x), tweaks.next(l)[0]];
        let mut out = l.zero();
        match self.distances.len() {
            1 => out = some::<L, 1>(l, keys, of, self.distances.first_chunk().expect("one"), out),
            2 => out = some::<L, 2>(l, keys, of, self.distances.first_chunk().expect("two"), out),
            4 => out = some::<L, 4>(l, keys, of, self.distances.first_chunk().expect("four"), out),
            _ => {
                for eight in self.distances.as_chunks().0.iter().rev() {
                    out = some::<L, 8>(l, keys, of, eight, out);
                }
            }
        }
        let mut bytes = [0; 64];
        l.store(out, &mut bytes);
        bytes
    }
}

impl Kernel for Tables<'_> {
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
    /// With H as [`Backend::tccr`] and tweak first + n: `out[n]` becomes Σ 4^m · (H(x\[n\] ⊕ distances\[m\]) mod 4).
    ///
    /// # Panics
    /// If the lengths of `x` and `out` differ, or there are not 1, 2, 4, 8 or 16 distances.
    pub fn tccr_tables(&self, key: &Aes128, first: u128, x: &[Block], distances: &[Block], out: &mut [u32]) {
        assert_eq!(x.len(), out.len(), "a table per input");
        let m = distances.len();
        assert!((1..=ENTRIES).contains(&m) && m.is_power_of_two(), "{m} distances: not 1, 2, 4, 8 or 16");
        for (first, start, end) in runs(first, x.len()) {
            let (x, out) = (as_bytes(&x[start..end]), &mut out[start..end]);
            self.run_batch(Tables { key, first, x, distances, out });
        }
    }
}
