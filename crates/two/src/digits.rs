//! Digits of comparisons by 1-of-16 OT, from correlated OTs of their bits; [`crate::compare`] has the protocol.

use crate::{
    blocks::Blocks,
    kit::{Kit, STRIP, Sent, Side},
    ring::{pack_words, unpack_words},
};
use hushwire_aes::Backend;
use hushwire_block::{Block, Wiped, as_bytes, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes};

/// AGREEMENT: bits of a digit.
pub(crate) const DIGIT: u32 = 4;

/// Twice the field element in each of sixteen bytes.
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

/// Σ 2^j x_j of each `D` blocks.
struct Joined<'a, const D: usize> {
    blocks: &'a [u8],
    out: &'a mut [u8],
}

impl<const D: usize> Joined<'_, D> {
    #[inline(always)]
    fn step<L: Lanes>(l: L, ones: L::V, from: &[u8], out: &mut [u8]) {
        let mut sum = l.load_strided(&from[16 * (D - 1)..], 16 * D);
        for j in (0..D - 1).rev() {
            sum = l.xor(doubled(l, sum, ones), l.load_strided(&from[16 * j..], 16 * D));
        }
        l.store(sum, out);
    }
}

impl<const D: usize> Kernel for Joined<'_, D> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let ones = l.splat(&[1; 16]);
        let mut from = self.blocks.chunks_exact(D * L::BYTES);
        let mut to = self.out.chunks_exact_mut(L::BYTES);
        for (from, out) in (&mut from).zip(&mut to) {
            Self::step(l, ones, from, out);
        }
        let (from, out) = (from.remainder(), to.into_remainder());
        if !out.is_empty() {
            let (mut blocks, mut sums) = ([0; 64 * DIGIT as usize], [0; 64]);
            blocks[..from.len()].copy_from_slice(from);
            Self::step(l, ones, &blocks, &mut sums);
            out.copy_from_slice(&sums[..out.len()]);
        }
    }
}

/// Keys from the blocks of each `d` OTs.
fn joined(backend: Backend, blocks: &[Block], d: usize, out: &mut [Block]) {
    assert_eq!(blocks.len(), d * out.len(), "an OT for each bit");
    let (blocks, out) = (as_bytes(blocks), as_bytes_mut(out));
    match d {
        1 => backend.run(Joined::<1> { blocks, out }),
        2 => backend.run(Joined::<2> { blocks, out }),
        3 => backend.run(Joined::<3> { blocks, out }),
        _ => backend.run(Joined::<4> { blocks, out }),
    }
}

/// The multiple of Δ that makes a key which no digit has.
pub(crate) const NOBODYS: usize = 16;

/// mΔ for all digits m, and for [`NOBODYS`].
pub(crate) fn multiples(delta: Block) -> Blocks {
    let powers: Vec<u128> =
        std::iter::successors(Some(delta.to_u128()), |x| Some(double(*x))).take(5).collect();
    let of = |m: usize| (0..5).filter(|j| m >> j & 1 == 1).fold(0, |sum, j| sum ^ powers[j]);
    (0..=NOBODYS).map(|m| Block::from_u128(of(m))).collect::<Vec<_>>().into()
}

/// The two bits of a digit against every value: a > m at bit 2m, a = m at bit 2m + 1.
#[inline(always)]
fn table(a: u64) -> u32 {
    let below = ((1u64 << (2 * a)) - 1) as u32 & 0x5555_5555;
    below | 2 << (2 * a)
}

/// The corrections of a digit's OTs as a number.
#[inline(always)]
fn number<const D: usize>(bits: &[u8; D]) -> usize {
    bits.iter().rev().fold(0, |number, bit| number << 1 | usize::from(*bit))
}

/// Adds to each key as many Δ as its OTs' corrections say, which the peer said: Σ 2^j q'_j is Σ 2^j q_j and those.
fn turn<const D: usize>(keys: &mut [Block], turned: &[u8], multiples: &[Block]) {
    for (key, turned) in keys.iter_mut().zip(turned.as_chunks::<D>().0) {
        *key ^= multiples[number(turned)];
    }
}

impl Kit {
    /// The sender's messages of a digit of `d` bits of each number in `a`, from bit `from` on, and its shares; the OTs are those from `at` on.
    pub(crate) fn say_digits(
        &mut self,
        sent: &Sent,
        at: usize,
        a: &[u64],
        [from, d]: [u32; 2],
        message: &mut Vec<u8>,
    ) -> Wiped<Vec<u8>> {
        let (rows, bits) = (a.len(), d as usize);
        let tweak = self.tweaks(Side::Sent, rows);
        // SECURITY: this party's share comes from a key that no digit has. That of digit 0 would tell it to a peer whose digit is 0.
        let own = self.tweaks(Side::Sent, rows);
        let multiples = multiples(self.delta());
        let room = rows.min(STRIP);
        let mut keys = Blocks::zeros(room);
        let [mut words, mut pads] = [(); 2].map(|()| Wiped::new(vec![0u32; room]));
        let mut shares = Wiped::new(Vec::with_capacity(rows));
        for (a, start) in a.chunks(STRIP).zip((0..).step_by(STRIP)) {
            let n = a.len();
            let (keys, words, pads) = (&mut keys[..n], &mut words[..n], &mut pads[..n]);
            let of = at + bits * start..at + bits * (start + n);
            joined(self.backend(), &sent.q[of.clone()], bits, keys);
            let turned = &sent.turned[of];
            match d {
                1 => turn::<1>(keys, turned, &multiples),
                2 => turn::<2>(keys, turned, &multiples),
                3 => turn::<3>(keys, turned, &multiples),
                _ => turn::<4>(keys, turned, &multiples),
            }
            self.tables(Side::Sent, tweak + start as u128, keys, &multiples[..1 << d], words);
            self.tables(Side::Sent, own + start as u128, keys, &multiples[NOBODYS..], pads);
            for ((word, a), share) in words.iter_mut().zip(a).zip(&*pads) {
                let shares_of_all = ((share & 1) * 0x5555_5555) | ((share >> 1) * 0xaaaa_aaaa);
                *word ^= table(a >> from & ((1 << d) - 1)) ^ shares_of_all;
            }
            shares.extend(pads.iter().map(|share| *share as u8));
            pack_words(words, 2 << d, message);
        }
        shares
    }

    /// The receiver's shares of a digit of each number in `b`, and the bytes that follow the digits'.
    pub(crate) fn hear_digits<'a>(
        &mut self,
        t: &[Block],
        b: &[u64],
        [from, d]: [u32; 2],
        heard: &'a [u8],
    ) -> (Wiped<Vec<u8>>, &'a [u8]) {
        let (rows, bits) = (b.len(), d as usize);
        let tweak = self.tweaks(Side::Received, rows);
        self.tweaks(Side::Received, rows);
        let room = rows.min(STRIP);
        let (mut keys, mut pads) = (Blocks::zeros(room), Wiped::new(vec![0u32; room]));
        let mut shares = Wiped::new(Vec::with_capacity(rows));
        let (words, rest) = unpack_words(heard, rows, 2 << d);
        for ((b, words), start) in b.chunks(STRIP).zip(words.chunks(STRIP)).zip((0..).step_by(STRIP)) {
            let (n, last) = (b.len(), start + b.len());
            let (keys, pads) = (&mut keys[..n], &mut pads[..n]);
            joined(self.backend(), &t[bits * start..bits * last], bits, keys);
            self.tables(Side::Received, tweak + start as u128, keys, &[Block::ZERO], pads);
            let digits = b.iter().map(|b| b >> from & ((1 << d) - 1));
            shares.extend(
                digits.zip(words).zip(&*pads).map(|((b, word), pad)| (word >> (2 * b) ^ pad) as u8 & 3),
            );
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
        fn blocks_are_joined_as_their_definition_says(
            d in 1usize..=4,
            blocks in prop::collection::vec(any::<u128>(), 0..120),
        ) {
            let blocks: Vec<Block> = blocks[..blocks.len() / d * d].iter().copied().map(Block::from_u128).collect();
            let sum = |of: &[Block]| of.iter().rev().fold(0, |sum, block| double(sum) ^ block.to_u128());
            let want: Vec<Block> = blocks.chunks(d).map(|of| Block::from_u128(sum(of))).collect();
            for backend in Backend::all() {
                let mut got = vec![Block::ZERO; want.len()];
                joined(backend, &blocks, d, &mut got);
                prop_assert_eq!(&got, &want);
            }
        }
    }
}
