//! Building blocks for fused kernels of other crates. All functions here are inlined into the
//! caller's kernel.

use crate::rekey;
use hushwire_simd::Lanes;

pub use crate::batch::sigma;

/// Replaces `x[i][h]` by its encryption under key vector `i`, lane by lane, XORed with
/// `masks[i][h]`.
///
/// Groups of four key vectors have their schedules transposed, as in [`crate::Backend::rekeyed`],
/// with eight or twelve vectors interleaved. The remaining vectors are expanded in place.
#[inline(always)]
pub fn encrypt_keyed<L: Lanes, const K: usize, const H: usize>(
    l: L,
    keys: &[L::V; K],
    masks: &[[L::V; H]; K],
    x: &mut [[L::V; H]; K],
) {
    if !K.is_multiple_of(4) {
        if L::SOFT {
            called_in_place(l, keys, masks, x);
        } else {
            expanded_in_place(l, keys, masks, x);
        }
    } else if L::SOFT {
        for i in (0..K).step_by(4) {
            let mut four = [of::<_, K, 1>(x, i)[0]];
            four_called(l, &of::<_, K, 1>(keys, i), &of::<_, K, 1>(masks, i), &mut four);
            x[i..i + 4].copy_from_slice(&four[0]);
        }
    } else if K == 12 {
        groups::<L, K, 3, H>(l, 0, keys, masks, x);
    } else if K.is_multiple_of(8) {
        for i in (0..K).step_by(8) {
            groups::<L, K, 2, H>(l, i, keys, masks, x);
        }
    } else {
        for i in (0..K).step_by(4) {
            groups::<L, K, 1, H>(l, i, keys, masks, x);
        }
    }
}

/// `G` groups of four elements from place `at` on.
#[inline(always)]
fn of<T: Copy, const K: usize, const G: usize>(from: &[T; K], at: usize) -> [[T; 4]; G] {
    let mut groups = [[from[at]; 4]; G];
    for g in 0..G {
        for i in 0..4 {
            groups[g][i] = from[at + 4 * g + i];
        }
    }
    groups
}

/// Encrypts under `G` interleaved groups of four key vectors, from vector `at` on.
#[inline(always)]
fn groups<L: Lanes, const K: usize, const G: usize, const H: usize>(
    l: L,
    at: usize,
    keys: &[L::V; K],
    masks: &[[L::V; H]; K],
    x: &mut [[L::V; H]; K],
) {
    let mut now = of::<_, K, G>(x, at);
    rekey::encrypt(l, &of::<_, K, G>(keys, at), &of::<_, K, G>(masks, at), &mut now);
    for g in 0..G {
        for i in 0..4 {
            x[at + 4 * g + i] = now[g][i];
        }
    }
}

/// [`rekey::encrypt`], not inlined: a call is free compared with a bit-sliced cipher, and one copy
/// serves all kernels.
#[inline(never)]
fn four_called<L: Lanes, const H: usize>(
    l: L,
    keys: &[[L::V; 4]; 1],
    masks: &[[[L::V; H]; 4]; 1],
    x: &mut [[[L::V; H]; 4]; 1],
) {
    rekey::encrypt(l, keys, masks, x);
}

/// [`expanded_in_place`], not inlined for the same reason.
#[inline(never)]
fn called_in_place<L: Lanes, const K: usize, const H: usize>(
    l: L,
    keys: &[L::V; K],
    masks: &[[L::V; H]; K],
    x: &mut [[L::V; H]; K],
) {
    expanded_in_place(l, keys, masks, x);
}

/// Puts RotWord of the last word into every column; ShiftRows leaves such a block unchanged.
const LAST_WORD: [u8; 16] = [13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12, 13, 14, 15, 12];
const UP_4: [u8; 16] = [0x80, 0x80, 0x80, 0x80, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11];
const UP_8: [u8; 16] = [0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 1, 2, 3, 4, 5, 6, 7];

#[inline(always)]
fn expanded_in_place<L: Lanes, const K: usize, const H: usize>(
    l: L,
    keys: &[L::V; K],
    masks: &[[L::V; H]; K],
    x: &mut [[L::V; H]; K],
) {
    let mut k = *keys;
    for i in 0..K {
        for h in 0..H {
            x[i][h] = l.xor(x[i][h], k[i]);
        }
    }
    for (round, rcon) in [1, 2, 4, 8, 0x10, 0x20, 0x40, 0x80, 0x1b, 0x36u8].into_iter().enumerate() {
        let rcon = l.splat(&u128::to_le_bytes(0x0000_0001_0000_0001_0000_0001_0000_0001 * u128::from(rcon)));
        for i in 0..K {
            let t = l.enc_last(l.shuffle(k[i], l.splat(&LAST_WORD)), rcon);
            let k1 = l.xor(k[i], l.shuffle(k[i], l.splat(&UP_4)));
            k[i] = l.xor3(k1, l.shuffle(k1, l.splat(&UP_8)), t);
            for h in 0..H {
                x[i][h] = if round == 9 {
                    l.enc_last(x[i][h], l.xor(k[i], masks[i][h]))
                } else {
                    l.enc(x[i][h], k[i])
                };
            }
        }
    }
}

/// A mask of the lanes whose bit 0 is 0, without a branch on the bit.
#[inline(always)]
pub fn without_bit_0<L: Lanes>(l: L, x: L::V) -> L::V {
    let low =
        l.splat(&[0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80]);
    let bit = l.splat(&[1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
    l.add64(l.and(l.shuffle(x, low), bit), l.splat(&[0xff; 16]))
}

/// The tweaks of consecutive gates' hashes, `P` for each gate. Vector `i`, lane `k` of a group has
/// the tweak with number `P (N ⌊i / P⌋ + k) + i mod P`, counted from the group's first gate.
pub struct Tweaks<L: Lanes, const M: usize> {
    base: L::V,
    offsets: [L::V; M],
    step: L::V,
}

impl<L: Lanes, const M: usize> Tweaks<L, M> {
    /// Starts at gate `first`. `P` divides `M`, and `P` times any gate's number stays below 2^64.
    #[inline(always)]
    pub fn new<const P: usize>(l: L, first: u64) -> Self {
        let number = |n: usize| (n as u128).to_le_bytes();
        let mut offsets = [l.zero(); M];
        for (i, v) in offsets.iter_mut().enumerate() {
            let mut bytes = [0; 64];
            for (k, lane) in bytes.chunks_exact_mut(16).enumerate() {
                lane.copy_from_slice(&number(P * (L::N * (i / P) + k) + i % P));
            }
            *v = l.load(&bytes);
        }
        let base = l.splat(&(u128::from(first) * P as u128).to_le_bytes());
        Tweaks { base, offsets, step: l.splat(&number(M * L::N)) }
    }

    /// The tweaks of the next group.
    #[inline(always)]
    pub fn next(&mut self, l: L) -> [L::V; M] {
        let mut v = self.offsets;
        for v in &mut v {
            *v = l.add64(*v, self.base);
        }
        self.base = l.add64(self.base, self.step);
        v
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Aes128, Backend};
    use hushwire_block::{Block, as_bytes_mut};
    use hushwire_simd::Kernel;

    fn load<L: Lanes, const M: usize>(l: L, from: u8) -> [L::V; M] {
        let mut v = [l.zero(); M];
        for (i, v) in v.iter_mut().enumerate() {
            let bytes: [u8; 64] = std::array::from_fn(|j| (i * L::BYTES + j) as u8 ^ from);
            *v = l.load(&bytes);
        }
        v
    }

    fn blocks<L: Lanes>(l: L, v: L::V) -> Vec<Block> {
        let mut out = vec![Block::ZERO; 4];
        l.store(v, as_bytes_mut(&mut out));
        out.truncate(L::N);
        out
    }

    /// Encrypts with given keys, inputs and masks, block by block.
    struct Keyed<const K: usize>;

    impl<const K: usize> Kernel for Keyed<K> {
        type Out = Vec<[Block; 4]>;
        fn run<L: Lanes>(self, l: L) -> Self::Out {
            let keys = load::<L, K>(l, 0x35);
            let (mut x, mut masks) = ([[l.zero(); 2]; K], [[l.zero(); 2]; K]);
            for i in 0..K {
                x[i] = load(l, 7 * i as u8);
                masks[i] = load(l, 0xa0 ^ i as u8);
            }
            let mut y = x;
            encrypt_keyed(l, &keys, &masks, &mut y);
            let mut all = vec![];
            for i in 0..K {
                for h in 0..2 {
                    let v = [keys[i], x[i][h], masks[i][h], y[i][h]].map(|v| blocks(l, v));
                    all.extend((0..L::N).map(|k| [v[0][k], v[1][k], v[2][k], v[3][k]]));
                }
            }
            all
        }
    }

    #[test]
    fn keyed_encryptions_are_those_of_expanded_keys() {
        for b in Backend::all() {
            let groups = [b.run(Keyed::<4>), b.run(Keyed::<8>), b.run(Keyed::<12>), b.run(Keyed::<16>)];
            for all in [b.run(Keyed::<1>), b.run(Keyed::<2>), b.run(Keyed::<3>)].into_iter().chain(groups) {
                for [key, x, mask, y] in all {
                    let mut expected = [x];
                    b.ecb_encrypt(&Aes128::new(&key.0), &mut expected);
                    assert!(expected[0] ^ mask == y, "{b:?}");
                }
            }
        }
    }

    /// The vector of FIPS-197, C.1, in every place of `K` vectors of keys.
    struct Published<const K: usize>;

    impl<const K: usize> Kernel for Published<K> {
        type Out = Vec<Block>;
        fn run<L: Lanes>(self, l: L) -> Self::Out {
            let key = l.splat(&std::array::from_fn(|i| i as u8));
            let plain = l.splat(&std::array::from_fn(|i| 0x11 * i as u8));
            let mut x = [[plain]; K];
            encrypt_keyed(l, &[key; K], &[[l.zero()]; K], &mut x);
            x.into_iter().flat_map(|[x]| blocks(l, x)).collect()
        }
    }

    #[test]
    fn fips_197_appendix_c_1() {
        let expected = Block(0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a_u128.to_be_bytes());
        for b in Backend::all() {
            let few =
                [b.run(Published::<1>), b.run(Published::<2>), b.run(Published::<3>), b.run(Published::<4>)];
            let many = [b.run(Published::<8>), b.run(Published::<12>), b.run(Published::<16>)];
            for (k, all) in few.into_iter().chain(many).enumerate() {
                assert!(all.iter().all(|y| *y == expected), "{b:?}: form {k}");
            }
        }
    }

    /// Tweaks of three groups, vector by vector, and the mask of each from bit 0.
    struct Numbers<const P: usize>(u64);

    impl<const P: usize> Kernel for Numbers<P> {
        type Out = (usize, Vec<[Block; 2]>);
        fn run<L: Lanes>(self, l: L) -> Self::Out {
            let mut tweaks = Tweaks::<L, 4>::new::<P>(l, self.0);
            let mut all = vec![];
            for _ in 0..3 {
                for t in tweaks.next(l) {
                    all.extend(
                        blocks(l, t).into_iter().zip(blocks(l, without_bit_0(l, t))).map(|(t, z)| [t, z]),
                    );
                }
            }
            (L::N, all)
        }
    }

    #[test]
    fn tweaks_count_gates_and_their_hashes() {
        fn check<const P: usize>(b: Backend, first: u64) {
            let (lanes, all) = b.run(Numbers::<P>(first));
            for (n, [tweak, zeros]) in all.into_iter().enumerate() {
                let (vector, lane) = (n / lanes % 4, n % lanes);
                let gate = first + (n / (4 * lanes) * 4 / P * lanes + vector / P * lanes + lane) as u64;
                assert_eq!(tweak.to_u128(), P as u128 * u128::from(gate) + (vector % P) as u128, "{b:?}");
                assert_eq!(zeros, if tweak.lsb() { Block::ZERO } else { Block::ONES });
            }
        }
        for b in Backend::all() {
            for first in [0, 5, (1 << 32) - 3, 1 << 40] {
                check::<1>(b, first);
                check::<2>(b, first);
                check::<4>(b, first);
            }
        }
    }

    #[test]
    fn narrow_backends_hold_what_they_should() {
        for b in Backend::all() {
            for blocks in 1..5 {
                let narrow = b.narrowed(blocks);
                assert!(narrow.lanes() >= blocks.min(b.lanes()) && narrow.lanes() <= b.lanes());
                assert!(b.lanes() == 4 && b.tier() == crate::Tier::Portable || narrow.lanes() < 2 * blocks);
            }
        }
    }
}
