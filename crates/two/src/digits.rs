//! Compares digits by 1-of-16 OT, from correlated OTs of their bits. [`crate::compare`] describes
//! the protocol.
//!
//! ```text
//! halves    a digit's lower two bits l and the rest h
//! keys      K_l = q'_0 ⊕ 2 q'_1 and K_h = q'_2 ⊕ 2 q'_3 in GF(2^8)^16;
//!           at the receiver K_l ⊕ lΔ, K_h ⊕ hΔ
//! pads      two bits each: H(K_l ⊕ iΔ) ⊕ H(K_h ⊕ jΔ) at bit 2m for the value m = 4j + i
//! ```
//!
//! A hash has 32 bits, and each value uses two bits of its own. If one hash of a pad is unknown,
//! the pad has bits of that hash that no other pad has. So the sender needs eight hashes for
//! sixteen pads, and the receiver needs two.
//!
//! **Source.** M. Naor, B. Pinkas, "Computationally Secure Oblivious Transfer", J. Cryptology 2005,
//! section 3: 1-of-N from OTs of the bits.

use crate::{
    blocks::WipedBlocks,
    kit::{Kit, OtSide, STRIP, SentOts},
    ring::{pack_words, unpack_words},
};
use hushwire_aes::{Backend, Taken};
use hushwire_block::{Block, Wiped, as_bytes, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes};

/// AGREEMENT: the bits of a digit.
pub(crate) const DIGIT: u32 = 4;

/// Doubles the field element in each of sixteen bytes.
fn double(x: u128) -> u128 {
    const ONES: u128 = u128::from_ne_bytes([1; 16]);
    let high = x >> 7 & ONES;
    (x << 1 & !ONES) ^ high ^ high << 1 ^ high << 3 ^ high << 4
}

/// The same in each lane.
#[inline(always)]
fn doubled<L: Lanes>(l: L, x: L::V, ones: L::V) -> L::V {
    let high = l.and(l.shr64::<7>(x), ones);
    let low = l.xor3(l.andnot(ones, l.shl64::<1>(x)), high, l.shl64::<1>(high));
    l.xor3(low, l.shl64::<3>(high), l.shl64::<4>(high))
}

/// For each `d` blocks, the first one plus twice the second.
struct Joined<'a> {
    blocks: &'a [u8],
    d: usize,
    out: &'a mut [u8],
}

impl Kernel for Joined<'_> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let (ones, stride) = (l.splat(&[1; 16]), 16 * self.d);
        for (k, out) in self.out.chunks_exact_mut(L::BYTES).enumerate() {
            let from = &self.blocks[k * L::N * stride..];
            let [low, high] = [l.load_strided(from, stride), l.load_strided(&from[16..], stride)];
            l.store(l.xor(low, doubled(l, high, ones)), out);
        }
    }
}

/// A half of a digit: its first bit and its number of bits, one or two.
#[derive(Clone, Copy)]
struct Half {
    from: usize,
    bits: usize,
}

impl Half {
    /// The halves of a digit of `d` bits. A digit of at most two bits has only one.
    fn of(d: u32) -> impl Iterator<Item = Half> + Clone {
        (0..d as usize).step_by(2).map(move |from| Half { from, bits: 2.min(d as usize - from) })
    }

    /// Makes the keys from the blocks of each `d` OTs.
    fn keys(self, backend: Backend, blocks: &[Block], d: usize, out: &mut [Block]) {
        assert_eq!(blocks.len(), d * out.len(), "an OT for each bit");
        let blocks = blocks.get(self.from..).unwrap_or_default();
        let sum = |of: &[Block]| match self.bits {
            1 => of[0],
            _ => Block::from_u128(of[0].to_u128() ^ double(of[1].to_u128())),
        };
        let vectors = if self.bits == 1 { 0 } else { out.len() / 4 * 4 };
        backend.run(Joined { blocks: as_bytes(blocks), d, out: as_bytes_mut(&mut out[..vectors]) });
        for (out, of) in out.iter_mut().zip(blocks.chunks(d)).skip(vectors) {
            *out = sum(of);
        }
    }

    /// Adds a multiple of Δ to each key, given by the corrections of its OTs. The peer sent the
    /// corrections.
    fn turn(self, keys: &mut [Block], turned: &[u8], d: usize, multiples: &[Block]) {
        for (key, turned) in keys.iter_mut().zip(turned.chunks_exact(d)) {
            let bits = &turned[self.from..self.from + self.bits];
            *key ^= multiples[usize::from(bits[0]) | usize::from(bits[self.bits - 1]) << (self.bits - 1)];
        }
    }

    /// The number of values that the half may have.
    fn values(self) -> usize {
        1 << self.bits
    }

    /// For each of its values, the multiple of Δ, and two bits for each digit with that value.
    fn taken(self, d: u32, multiples: &[Block]) -> [Taken; 4] {
        let bits = |value: usize| {
            let has = |m: &usize| m >> self.from & (self.values() - 1) == value;
            (0..1 << d).filter(has).fold(0, |bits, m| bits | 3 << (2 * m))
        };
        std::array::from_fn(|value| (multiples[value], bits(value)))
    }
}

/// The multiple of Δ for a key that no half of a digit has.
pub(crate) const NOBODYS: usize = 4;

/// mΔ for all halves m of digits, and for [`NOBODYS`].
pub(crate) fn multiples(delta: Block) -> WipedBlocks {
    let one = delta.to_u128();
    let two = double(one);
    [0, one, two, one ^ two, double(two)].map(Block::from_u128).to_vec().into()
}

/// The two bits of a digit compared with every value: a > m at bit 2m, a = m at bit 2m + 1.
#[inline(always)]
fn table(a: u64) -> u32 {
    let below = ((1u64 << (2 * a)) - 1) as u32 & 0x5555_5555;
    below | 2 << (2 * a)
}

impl Kit {
    /// The sender's messages for a digit of `d` bits of each number in `a`, from bit `from` on, and
    /// its shares. The OTs are those from `at` on.
    pub(crate) fn say_digits(
        &mut self,
        sent: &SentOts,
        at: usize,
        a: &[u64],
        [from, d]: [u32; 2],
        message: &mut Vec<u8>,
    ) -> Wiped<Vec<u8>> {
        let (rows, bits) = (a.len(), d as usize);
        // SECURITY: this party's share comes from a key that no digit has. The key of digit 0 would
        // reveal it to a peer whose digit is 0.
        let own = self.tweaks(OtSide::Sent, rows);
        let multiples = multiples(self.delta());
        let nobodys = [(multiples[NOBODYS], 3)];
        let tweaks = [(); 2].map(|()| self.tweaks(OtSide::Sent, rows));
        let room = rows.min(STRIP);
        let mut keys = WipedBlocks::zeros(room);
        let [mut words, mut pads] = [(); 2].map(|()| Wiped::new(vec![0u32; room]));
        let mut shares = Wiped::new(Vec::with_capacity(rows));
        for (a, start) in a.chunks(STRIP).zip((0..).step_by(STRIP)) {
            let n = a.len();
            let (keys, words, pads) = (&mut keys[..n], &mut words[..n], &mut pads[..n]);
            let of = at + bits * start..at + bits * (start + n);
            for (word, a) in words.iter_mut().zip(a) {
                *word = table(a >> from & ((1 << d) - 1));
            }
            for (half, tweak) in Half::of(d).zip(tweaks) {
                half.keys(self.backend(), &sent.q[of.clone()], bits, keys);
                half.turn(keys, &sent.turned[of.clone()], bits, &multiples);
                let taken = half.taken(d, &multiples);
                self.tables(OtSide::Sent, tweak + start as u128, keys, &taken[..half.values()], pads);
                words.iter_mut().zip(&*pads).for_each(|(word, pad)| *word ^= pad);
            }
            self.tables(OtSide::Sent, own + start as u128, keys, &nobodys, pads);
            for (word, share) in words.iter_mut().zip(&*pads) {
                *word ^= ((share & 1) * 0x5555_5555) | ((share >> 1) * 0xaaaa_aaaa);
            }
            shares.extend(pads.iter().map(|share| *share as u8));
            pack_words(words, 2 << d, message);
        }
        shares
    }

    /// The receiver's shares for a digit of each number in `b`, and the bytes after those of the
    /// digits.
    pub(crate) fn hear_digits<'a>(
        &mut self,
        t: &[Block],
        b: &[u64],
        [from, d]: [u32; 2],
        heard: &'a [u8],
    ) -> (Wiped<Vec<u8>>, &'a [u8]) {
        let (rows, bits) = (b.len(), d as usize);
        self.tweaks(OtSide::Received, rows);
        let tweaks = [(); 2].map(|()| self.tweaks(OtSide::Received, rows));
        let room = rows.min(STRIP);
        let mut keys = WipedBlocks::zeros(room);
        let [mut words, mut pads] = [(); 2].map(|()| Wiped::new(vec![0u32; room]));
        let mut shares = Wiped::new(Vec::with_capacity(rows));
        let (said, rest) = unpack_words(heard, rows, 2 << d);
        for ((b, said), start) in b.chunks(STRIP).zip(said.chunks(STRIP)).zip((0..).step_by(STRIP)) {
            let n = b.len();
            let (keys, words, pads) = (&mut keys[..n], &mut words[..n], &mut pads[..n]);
            words.copy_from_slice(said);
            for (half, tweak) in Half::of(d).zip(tweaks) {
                half.keys(self.backend(), &t[bits * start..bits * (start + n)], bits, keys);
                self.tables(OtSide::Received, tweak + start as u128, keys, &[(Block::ZERO, u32::MAX)], pads);
                words.iter_mut().zip(&*pads).for_each(|(word, pad)| *word ^= pad);
            }
            let digits = b.iter().map(|b| b >> from & ((1 << d) - 1));
            shares.extend(digits.zip(&*words).map(|(b, word)| (word >> (2 * b)) as u8 & 3));
        }
        (shares, rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn keys_are_joined_as_their_definition_says(
            d in 1u32..=4,
            blocks in prop::collection::vec(any::<u128>(), 0..120),
        ) {
            let bits = d as usize;
            let blocks: Vec<Block> =
                blocks[..blocks.len() / bits * bits].iter().copied().map(Block::from_u128).collect();
            for (half, backend) in Half::of(d).flat_map(|half| Backend::all().into_iter().map(move |b| (half, b))) {
                let mut got = vec![Block::ZERO; blocks.len() / bits];
                half.keys(backend, &blocks, bits, &mut got);
                for (of, key) in blocks.chunks(bits).zip(got) {
                    let own = &of[half.from..half.from + half.bits];
                    let sum = own.iter().rev().fold(0, |sum, block| double(sum) ^ block.to_u128());
                    prop_assert_eq!(key.to_u128(), sum);
                }
            }
        }
    }

    /// Every two values differ in at least one half. There the pad has bits of a hash that no other
    /// value uses.
    #[test]
    fn each_value_has_bits_of_its_own_in_each_half() {
        let multiples = multiples(Block::from_u128(7));
        for d in 1..=DIGIT {
            let mut bits = 0;
            for half in Half::of(d) {
                bits += half.bits;
                let taken = half.taken(d, &multiples);
                assert!(taken[half.values()..].iter().all(|(_, bits)| *bits == 0), "nobody has them");
                for m in 0..1usize << d {
                    let value = m >> half.from & ((1 << half.bits) - 1);
                    for (i, (distance, bits)) in taken[..half.values()].iter().enumerate() {
                        assert_eq!(*distance, multiples[i]);
                        assert_eq!(bits >> (2 * m) & 3, if i == value { 3 } else { 0 });
                    }
                }
            }
            assert_eq!(bits, d as usize, "all bits of a digit are in its halves");
        }
    }
}
