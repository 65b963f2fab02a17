//! The kernels of OT extension give the same results block by block as in batches, on every
//! backend.

use hushwire_aes::{Aes128, Backend, GgmKeys, Tier};
use hushwire_block::{Block, as_bytes_mut};

/// Lengths around every body and tail.
const LENGTHS: [usize; 14] = [0, 1, 2, 3, 5, 7, 8, 9, 15, 17, 31, 33, 65, 99];
/// The second start wraps in its lower half.
const FIRSTS: [u128; 2] = [7, (9 << 64) - 5];

fn blocks(seed: u128, n: usize) -> Vec<Block> {
    let mut out = vec![Block::ZERO; n];
    Backend::best().counter_blocks(&Aes128::new(&seed.to_le_bytes()), 0, &mut out);
    out
}

/// Runs `f` unbatched and batched on equal outputs of `n` blocks.
fn same(n: usize, f: impl Fn(Backend, &mut [Block])) {
    for b in Backend::all() {
        assert!(b.is_batched() && b.unbatched().is_batched() == (b.tier() == Tier::Portable));
        let start = blocks(99, n);
        let [mut want, mut got] = [start.clone(), start];
        f(b, &mut want);
        f(b.unbatched(), &mut got);
        assert_eq!(got, want, "{b:?}, {n} blocks");
    }
}

#[test]
fn streams_and_hashes() {
    let key = Aes128::new(&[1; 16]);
    let x = blocks(2, 99);
    for n in LENGTHS {
        same(n, |b, out| b.ccr(&key, &x[..n], out));
        for first in FIRSTS {
            same(n, |b, out| b.counter_blocks(&key, first, out));
            same(n, |b, out| {
                let len = (16 * n).saturating_sub(3);
                b.counter_bytes(&key, first, &mut as_bytes_mut(out)[..len]);
            });
            same(n, |b, out| b.tccr::<1>(&key, first, &x[..n], out));
            same(n, |b, out| b.tccr::<2>(&key, first, &x[..n], out));
        }
    }
}

#[test]
fn tree_levels() {
    let keys = GgmKeys { left: Aes128::new(&[1; 16]), right: Aes128::new(&[2; 16]) };
    let x = blocks(3, 99);
    for n in LENGTHS {
        same(2 * n, |b, out| b.ggm_level(&keys, &x[..n], out));
        same(2 * n, |b, out| b.half_tree_level(&keys.left, &x[..n], out));
    }
}

#[test]
fn leaf_sums() {
    for k in [1, 2, 4, 8] {
        let leaves: Vec<Aes128> = blocks(4, 1 << k).iter().map(|b| Aes128::new(&b.0)).collect();
        for (n, first) in LENGTHS.into_iter().flat_map(|n| FIRSTS.map(|first| (n, first))) {
            same((1 + k) * n, |b, out| {
                let (u, v) = out.split_at_mut(n);
                b.leaf_sums(&leaves, first, u, v);
            });
            same(k * n, |b, out| b.leaf_sums_punctured(&leaves, first, out));
        }
    }
}

#[test]
fn pads() {
    let (key, delta, q) = (Aes128::new(&[1; 16]), blocks(5, 1)[0], blocks(6, 99));
    let messages: Vec<[Block; 2]> = blocks(7, 198).chunks(2).map(|m| [m[0], m[1]]).collect();
    for n in LENGTHS {
        let (q, m) = (&q[..n], &messages[..n]);
        let pairs = |b: Backend, out: &mut [Block], f: &dyn Fn(Backend, &mut [[Block; 2]])| {
            f(b, out.as_chunks_mut().0);
        };
        same(2 * n, |b, out| pairs(b, out, &|b, out| b.pads_ccr(&key, delta, q, out)));
        same(2 * n, |b, out| pairs(b, out, &|b, out| b.pads_ccr_xor(&key, delta, q, m, out)));
        for first in FIRSTS {
            same(2 * n, |b, out| pairs(b, out, &|b, out| b.pads_tccr(&key, first, delta, q, out)));
            same(2 * n, |b, out| pairs(b, out, &|b, out| b.pads_tccr_xor(&key, first, delta, q, m, out)));
        }
    }
}

/// Selected bits of each hash, compared with the hashes.
#[test]
fn tables() {
    let (key, x) = (Aes128::new(&[1; 16]), blocks(9, 99));
    let of: Vec<(Block, u32)> = blocks(10, 7)
        .iter()
        .zip(blocks(11, 7))
        .map(|(distance, bits)| (*distance, bits.to_u128() as u32))
        .collect();
    for (n, first) in LENGTHS.into_iter().flat_map(|n| FIRSTS.map(|first| (n, first))) {
        for entries in 0..=of.len() {
            let mut want = vec![0u32; n];
            for (distance, bits) in &of[..entries] {
                let moved: Vec<Block> = x[..n].iter().map(|x| *x ^ *distance).collect();
                let mut hashes = vec![Block::ZERO; n];
                Backend::best().tccr::<1>(&key, first, &moved, &mut hashes);
                want.iter_mut().zip(&hashes).for_each(|(word, hash)| *word ^= hash.to_u128() as u32 & bits);
            }
            for b in Backend::all().into_iter().flat_map(|b| [b, b.unbatched()]) {
                let mut got = vec![7; n];
                b.tccr_tables(&key, first, &x[..n], &of[..entries], &mut got);
                assert_eq!(got, want, "{b:?}, {n} blocks, {entries} entries");
            }
        }
    }
}

#[test]
fn lpn() {
    let (key, table) = (Aes128::new(&[1; 16]), blocks(8, 64));
    for n in LENGTHS {
        for first in FIRSTS {
            same(n, |b, out| b.lpn_accumulate(&key, first, &table, out));
        }
    }
}
