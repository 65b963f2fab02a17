//! The formulas gate by gate, by signal, for tests: one block under one key at a time.

use super::{LABEL, Pair, Side, tweak};
use hushwire_aes::{Aes128, Backend};
use hushwire_block::{Block, Tagged};

/// F_X(g, r).
pub(super) fn prf(key: Block, gate: u64, row: u8, side: Side) -> Block {
    let mut block = [tweak(gate, row, side)];
    Backend::best().counter_blocks(&Aes128::new(&key.0), block[0].to_u128(), &mut block);
    block[0]
}

/// The label of a wire that has this signal.
fn of_signal(wire: Pair, signal: u8) -> Block {
    let [zero, one] = wire.map(Tagged::block);
    if u8::from(zero.lsb()) == signal { zero } else { one }
}

pub(super) fn permute_bit(wire: Pair) -> u8 {
    u8::from(wire[0].block().lsb())
}

fn made(by_truth: [Block; 2], permute: u8) -> Pair {
    let mut pair = by_truth.map(|x| x & LABEL);
    pair[0].0[0] |= permute;
    pair[1].0[0] |= permute ^ 1;
    pair.map(Tagged::new)
}

/// Result, T1 and T2, c.
pub(super) fn and(gate: u64, left: Pair, right: Pair, permute: u8) -> (Pair, [Block; 2], u8) {
    let k = [0u8, 1, 2, 3].map(|r| {
        let (a, b) = (r >> 1, r & 1);
        prf(of_signal(left, a), gate, r, Side::Left) ^ prf(of_signal(right, b), gate, r, Side::Right)
    });
    let s = 2 * (1 - permute_bit(left)) + (1 - permute_bit(right));
    let t1 = if s & 2 == 2 { k[0] ^ k[1] } else { k[2] ^ k[3] };
    let t2 = if s & 1 == 1 { k[0] ^ k[2] } else { k[1] ^ k[3] };
    let mut labels = [k[0], k[1] ^ k[2] ^ k[3]];
    if s == 0 {
        labels.swap(0, 1);
    }
    let mut c = 0;
    for r in 0..4 {
        c |= (u8::from(k[r as usize].lsb()) ^ permute ^ u8::from(r == s)) << r;
    }
    (made(labels, permute), [t1 & LABEL, t2 & LABEL], c)
}

/// Result, T.
pub(super) fn xor(gate: u64, left: Pair, right: Pair) -> (Pair, Block) {
    let f = |a| prf(of_signal(left, a), gate, 0, Side::Left);
    let d = f(0) ^ f(1);
    let t = prf(of_signal(right, 1), gate, 0, Side::Right) ^ of_signal(right, 0) ^ d;
    let shifted = [of_signal(right, 0), of_signal(right, 0) ^ d];
    let by_truth = [0, 1].map(|v| f(permute_bit(left) ^ v) ^ shifted[permute_bit(right) as usize]);
    (made(by_truth, permute_bit(left) ^ permute_bit(right)), t & LABEL)
}
