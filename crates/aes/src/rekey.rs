//! Many keys and a few blocks under each: schedules of `4 N` keys interleaved with their
//! encryptions.
//!
//! Four vectors of keys are transposed so that vector `w` holds word `w` of all keys. A round of
//! the schedule is then
//!
//! ```text
//! t = SubWord(RotWord(w3)) ^ rcon     a shuffle (ShiftRows undone), a last AES round per 4 N keys
//! w0 ^= t; w1 ^= w0; w2 ^= w1; w3 ^= w2
//! ```
//!
//! and transposing back gives four round-key vectors. There is no AESKEYGENASSIST, and no serial
//! chain of words for each key. Each step of a group depends on the step before it, so that two or
//! three interleaved groups take little longer than one.

use crate::Backend;
use hushwire_block::{Block, as_bytes, as_bytes_mut};
use hushwire_simd::{Kernel, Lanes};

/// Moves word `i` of vector `j`, in every lane, to word `j` of vector `i`.
#[inline(always)]
fn transpose<L: Lanes>(l: L, [a, b, c, d]: [L::V; 4]) -> [L::V; 4] {
    let ((ab0, ab1), (cd0, cd1)) = (l.unpack::<32>(a, b), l.unpack::<32>(c, d));
    let ((x0, x1), (x2, x3)) = (l.unpack::<64>(ab0, cd0), l.unpack::<64>(ab1, cd1));
    [x0, x1, x2, x3]
}

/// Maps an output byte's place through ShiftRows and RotWord back to its input place: with this
/// shuffle, a last AES round gives SubWord(RotWord(w)) for each of a lane's four words.
const ROTATED: [u8; 16] = {
    let mut idx = [0; 16];
    let mut p = 0;
    while p < 16 {
        let (column, row) = (p / 4, p % 4);
        idx[p] = (4 * ((column + 4 - row) % 4) + (row + 1) % 4) as u8;
        p += 1;
    }
    idx
};

/// The round constants of a key schedule, except for the last round's.
const RCON: [u8; 9] = [0x01, 0x02, 0x04, 0x08, 0x10, 0x20, 0x40, 0x80, 0x1b];
const RCON_LAST: u8 = 0x36;

/// Makes the next round key of `4 N` keys, word by word. `ALONE` is whether no other work fills the
/// pipeline: then `w3`, on which the next round waits, follows `t` by one operation instead of
/// four, at the price of two more operations.
#[inline(always)]
fn next_words<L: Lanes, const ALONE: bool>(l: L, rcon: u8, w: &mut [L::V; 4]) {
    let rcon = l.splat(&u128::to_le_bytes(0x0000_0001_0000_0001_0000_0001_0000_0001 * u128::from(rcon)));
    let t = l.enc_last(l.shuffle(w[3], l.splat(&ROTATED)), rcon);
    let sum = l.xor3(l.xor(w[0], w[1]), w[2], w[3]);
    w[0] = l.xor(w[0], t);
    w[1] = l.xor(w[1], w[0]);
    w[2] = l.xor(w[2], w[1]);
    w[3] = if ALONE { l.xor(sum, t) } else { l.xor(w[3], w[2]) };
}

/// Makes the next round key of every group, then encrypts every block by one round with it.
#[inline(always)]
fn round<L: Lanes, const G: usize, const H: usize, const LAST: bool>(
    l: L,
    rcon: u8,
    w: &mut [[L::V; 4]; G],
    masks: &[[[L::V; H]; 4]; G],
    x: &mut [[[L::V; H]; 4]; G],
) {
    for w in &mut *w {
        if G == 1 {
            next_words::<L, true>(l, rcon, w);
        } else {
            next_words::<L, false>(l, rcon, w);
        }
    }
    for g in 1..G {
        (w[g - 1][3], w[g][3]) = l.abreast(w[g - 1][3], w[g][3]);
    }
    for g in 0..G {
        let keys = transpose(l, w[g]);
        for i in 0..4 {
            for h in 0..H {
                x[g][i][h] = if LAST {
                    l.enc_last(x[g][i][h], l.xor(keys[i], masks[g][i][h]))
                } else {
                    l.enc(x[g][i][h], keys[i])
                };
            }
        }
    }
}

/// Key schedules of many keys.
struct Schedules<'a, const K: usize> {
    keys: &'a [Block; K],
    out: &'a mut [[Block; K]; 11],
}

impl<const K: usize> Schedules<'_, K> {
    /// Makes the next round key of two groups, the first at `i`. Two groups are interleaved, since
    /// each step of a schedule depends on the step before it.
    #[inline(always)]
    fn step<L: Lanes>(&mut self, l: L, round: usize, rcon: Option<u8>, i: usize, w: &mut [[L::V; 4]; 2]) {
        for half in 0..2 {
            if let Some(rcon) = rcon {
                next_words::<L, true>(l, rcon, &mut w[half]);
            }
            let keys = transpose(l, w[half]);
            let out = as_bytes_mut(&mut self.out[round][i + half * 4 * L::N..][..4 * L::N]);
            for j in 0..4 {
                l.store(keys[j], &mut out[j * L::BYTES..]);
            }
        }
    }
}

impl<const K: usize> Kernel for Schedules<'_, K> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(mut self, l: L) {
        const { assert!(K.is_multiple_of(32), "whole pairs of groups") };
        for i in (0..K).step_by(8 * L::N) {
            let keys = as_bytes(&self.keys[i..i + 8 * L::N]);
            let (first, second) = keys.split_at(4 * L::BYTES);
            let mut w = [transpose(l, load_keys(l, first)), transpose(l, load_keys(l, second))];
            self.step(l, 0, None, i, &mut w);
            if L::SOFT {
                for (round, rcon) in (1..).zip(RCON) {
                    self.step(l, round, Some(rcon), i, &mut w);
                }
            } else {
                // The rounds are unrolled by hand for the same reason as in `encrypt`.
                let [r1, r2, r3, r4, r5, r6, r7, r8, r9] = RCON.map(Some);
                self.step(l, 1, r1, i, &mut w);
                self.step(l, 2, r2, i, &mut w);
                self.step(l, 3, r3, i, &mut w);
                self.step(l, 4, r4, i, &mut w);
                self.step(l, 5, r5, i, &mut w);
                self.step(l, 6, r6, i, &mut w);
                self.step(l, 7, r7, i, &mut w);
                self.step(l, 8, r8, i, &mut w);
                self.step(l, 9, r9, i, &mut w);
            }
            self.step(l, 10, Some(RCON_LAST), i, &mut w);
        }
    }
}

/// Replaces `x[g][i][h]` by its encryption under key vector `i` of group `g`, XORed with
/// `masks[g][i][h]`. The groups are interleaved, round by round.
#[inline(always)]
pub(crate) fn encrypt<L: Lanes, const G: usize, const H: usize>(
    l: L,
    keys: &[[L::V; 4]; G],
    masks: &[[[L::V; H]; 4]; G],
    x: &mut [[[L::V; H]; 4]; G],
) {
    let mut w = *keys;
    for g in 0..G {
        for i in 0..4 {
            for h in 0..H {
                x[g][i][h] = l.xor(x[g][i][h], keys[g][i]);
            }
        }
        w[g] = transpose(l, keys[g]);
    }
    if L::SOFT {
        for rcon in RCON {
            round::<L, G, H, false>(l, rcon, &mut w, masks, x);
        }
    } else {
        // The rounds are unrolled by hand, since a loop would keep the state in memory.
        let [r1, r2, r3, r4, r5, r6, r7, r8, r9] = RCON;
        round::<L, G, H, false>(l, r1, &mut w, masks, x);
        round::<L, G, H, false>(l, r2, &mut w, masks, x);
        round::<L, G, H, false>(l, r3, &mut w, masks, x);
        round::<L, G, H, false>(l, r4, &mut w, masks, x);
        round::<L, G, H, false>(l, r5, &mut w, masks, x);
        round::<L, G, H, false>(l, r6, &mut w, masks, x);
        round::<L, G, H, false>(l, r7, &mut w, masks, x);
        round::<L, G, H, false>(l, r8, &mut w, masks, x);
        round::<L, G, H, false>(l, r9, &mut w, masks, x);
    }
    round::<L, G, H, true>(l, RCON_LAST, &mut w, masks, x);
}

/// Blocks under separate keys, `H` under each, in place.
struct Rekeyed<'a, const H: usize> {
    keys: &'a [u8],
    blocks: &'a mut [u8],
}

impl<const H: usize> Kernel for Rekeyed<'_, H> {
    type Out = ();
    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let groups = self.keys.chunks(4 * L::BYTES).zip(self.blocks.chunks_mut(4 * H * L::BYTES));
        for (keys, blocks) in groups {
            if keys.len() == 4 * L::BYTES {
                group::<L, H>(l, keys, blocks);
            } else {
                let (mut k, mut x) = ([0; 256], [[0; 256]; H]);
                let x = x.as_flattened_mut();
                k[..keys.len()].copy_from_slice(keys);
                x[..blocks.len()].copy_from_slice(blocks);
                group::<L, H>(l, &k[..4 * L::BYTES], &mut x[..4 * H * L::BYTES]);
                blocks.copy_from_slice(&x[..blocks.len()]);
            }
        }
    }
}

/// Encrypts the blocks of `4 N` keys.
#[inline(always)]
fn group<L: Lanes, const H: usize>(l: L, keys: &[u8], blocks: &mut [u8]) {
    let mut x = [load::<L, H>(l, blocks)];
    encrypt(l, &[load_keys(l, keys)], &[[[l.zero(); H]; 4]], &mut x);
    store(l, x[0], blocks);
}

#[inline(always)]
fn load_keys<L: Lanes>(l: L, keys: &[u8]) -> [L::V; 4] {
    let mut v = [l.zero(); 4];
    for (v, keys) in v.iter_mut().zip(keys.chunks_exact(L::BYTES)) {
        *v = l.load(keys);
    }
    v
}

/// Loads block `h` of every key's `H` blocks, one key in each lane. If vectors and lanes are
/// numbered consecutively, each unzipping rotates the bits of the number by one place, until its
/// lowest log2(H) bits select the register.
#[inline(always)]
fn load<L: Lanes, const H: usize>(l: L, src: &[u8]) -> [[L::V; H]; 4] {
    const { assert!(H.is_power_of_two(), "1, 2, 4 or 8 blocks a key") };
    let mut x = [[l.zero(); H]; 4];
    for (x, src) in x.iter_mut().zip(src.chunks_exact(H * L::BYTES)) {
        for (x, src) in x.iter_mut().zip(src.chunks_exact(L::BYTES)) {
            *x = l.load(src);
        }
        for _ in 0..H.ilog2() {
            let v = *x;
            for i in 0..H / 2 {
                (x[i], x[H / 2 + i]) = l.unzip(v[2 * i], v[2 * i + 1]);
            }
        }
    }
    x
}

/// The inverse of [`load`].
#[inline(always)]
fn store<L: Lanes, const H: usize>(l: L, x: [[L::V; H]; 4], dst: &mut [u8]) {
    for (mut x, dst) in x.into_iter().zip(dst.chunks_exact_mut(H * L::BYTES)) {
        for _ in 0..H.ilog2() {
            let v = x;
            for i in 0..H / 2 {
                (x[2 * i], x[2 * i + 1]) = l.zip(v[i], v[H / 2 + i]);
            }
        }
        for (x, dst) in x.into_iter().zip(dst.chunks_exact_mut(L::BYTES)) {
            l.store(x, dst);
        }
    }
}

impl Backend {
    /// Expands keys, round by round: `out[r][j]` is round key `r` of `keys[j]`. `K` is a multiple
    /// of 32.
    pub fn schedules<const K: usize>(&self, keys: &[Block; K], out: &mut [[Block; K]; 11]) {
        self.run(Schedules { keys, out });
    }

    /// Replaces `blocks[H j + h]` by its encryption under `keys[j]`. `H` is 1, 2, 4 or 8.
    ///
    /// # Panics
    /// If the number of blocks is not `H` times the number of keys.
    pub fn rekeyed<const H: usize>(&self, keys: &[Block], blocks: &mut [Block]) {
        assert_eq!(H * keys.len(), blocks.len(), "{H} blocks for every key");
        self.run(Rekeyed::<H> { keys: as_bytes(keys), blocks: as_bytes_mut(blocks) });
    }
}
