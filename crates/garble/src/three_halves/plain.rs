//! One gate as the paper writes it; tests compare the kernel with it.

use crate::gates::{ActiveLabel, ZeroLabel};
use hushwire_block::{Block, Tagged};
use std::array;

/// The kind of the label that has signal 0: bit 0 is 0, whatever the truth value.
pub(super) enum SignalZero {}

/// (X_L, X_R).
type LabelHalves = [u64; 2];

/// H(X).
#[derive(Clone, Copy)]
pub(super) struct Hash {
    pub(super) h: u64,
    pub(super) m: bool,
}

impl From<Block> for Hash {
    fn from(hash: Block) -> Self {
        Hash { h: halves(hash)[0], m: hash.bit(64) }
    }
}

pub(super) fn halves(block: Block) -> LabelHalves {
    let x = block.to_u128();
    [x as u64, (x >> 64) as u64]
}

fn block([left, right]: LabelHalves) -> Block {
    Block::from_u128(u128::from(right) << 64 | u128::from(left))
}

/// The product of x and an element of GF(2^64), x^64 = x^4 + x^3 + x + 1.
fn doubled(a: u64) -> u64 {
    a << 1 ^ times(a >> 63 == 1, 0x1b)
}

/// Both halves doubled.
pub(super) fn sigma(x: Block) -> Block {
    block(halves(x).map(doubled))
}

/// `x` if `bit` is set, otherwise 0; without a branch on `bit`.
fn times(bit: bool, x: u64) -> u64 {
    x & 0u64.wrapping_sub(u64::from(bit))
}

/// The rows are out_L and out_R, the columns A_L, A_R, B_L, B_R.
pub(super) type Matrix = [[bool; 4]; 2];

const fn matrix(rows: [[u8; 4]; 2]) -> Matrix {
    let mut m = [[false; 4]; 2];
    let mut k = 0;
    while k < 8 {
        m[k / 4][k % 4] = rows[k / 4][k % 4] == 1;
        k += 1;
    }
    m
}

const S1: Matrix = matrix([[1, 1, 1, 0], [1, 0, 0, 1]]);
const S2: Matrix = matrix([[1, 0, 0, 1], [0, 1, 1, 1]]);
/// The matrices P_ij, at place 2i + j.
const P: [Matrix; 4] = [
    matrix([[0, 0, 1, 0], [0, 1, 0, 0]]),
    matrix([[0, 0, 1, 0], [0, 0, 0, 0]]),
    matrix([[0, 0, 0, 0], [0, 1, 0, 0]]),
    matrix([[0; 4]; 2]),
];

/// R_ij. The place in `P` comes from signals: they are public to the evaluator, and the garbler
/// uses every one in turn.
pub(super) fn control([r, r_]: [bool; 2], i: bool, j: bool) -> Matrix {
    let p = &P[2 * usize::from(i) + usize::from(j)];
    array::from_fn(|row| array::from_fn(|k| (r & S1[row][k]) ^ (r_ & S2[row][k]) ^ p[row][k]))
}

/// The product of a matrix row and (A_L, A_R, B_L, B_R).
pub(super) fn product(row: [bool; 4], a: Block, b: Block) -> u64 {
    let columns = [halves(a), halves(b)].concat();
    row.into_iter().zip(columns).fold(0, |sum, (bit, x)| sum ^ times(bit, x))
}

/// R_ij(A, B).
fn controlled(coins: [bool; 2], i: bool, j: bool, a: Block, b: Block) -> LabelHalves {
    control(coins, i, j).map(|row| product(row, a, b))
}

fn xor([a, b]: LabelHalves, [c, d]: LabelHalves) -> LabelHalves {
    [a ^ c, b ^ d]
}

/// The garbler's hashes: of A0, A1, B0, B1, A0 ⊕ B0, A0 ⊕ B1.
pub(super) type Hashes = [Hash; 6];

/// The output's label of truth value 0, (G0, G1, G2) and z.
pub(super) struct PlainGate {
    pub(super) zero: ZeroLabel,
    pub(super) g: [u64; 3],
    pub(super) z: u8,
}

/// The label of signal 0 of the wire that has this label of truth value 0.
pub(super) fn at_zero(delta: Block, zero: ZeroLabel) -> Tagged<SignalZero> {
    Tagged::new(zero.block() ^ delta.and_bit(zero.block().lsb()))
}

/// (r, r')_ij from (r, r')_00.
pub(super) fn coins([a, b]: [bool; 2], [r, r_]: [bool; 2], i: bool, j: bool) -> [bool; 2] {
    match (i, j) {
        (false, false) => [r, r_],
        (false, true) => [r ^ a ^ b, r_ ^ a],
        (true, false) => [r ^ b, r_ ^ a ^ b],
        (true, true) => [r ^ a, r_ ^ b],
    }
}

/// z0 to z4, the lowest bit first. `m` has the bits m of A0, A1, B0, B1, A0 ⊕ B0, A0 ⊕ B1.
pub(super) fn control_bits([a, b]: [bool; 2], [r, r_]: [bool; 2], m: [bool; 6]) -> u8 {
    let z = [r ^ m[0] ^ m[4], r_ ^ m[2] ^ m[4], a ^ m[0] ^ m[1], b ^ m[2] ^ m[3], a ^ b ^ m[4] ^ m[5]];
    z.iter().rev().fold(0, |z, bit| z << 1 | u8::from(*bit))
}

/// (r, r')_ij from z and the evaluator's m(A), m(B), m(A ⊕ B).
pub(super) fn opened(z: u8, [ma, mb, mc]: [bool; 3], i: bool, j: bool) -> [bool; 2] {
    let z = [0, 1, 2, 3, 4].map(|k| z >> k & 1 == 1);
    let both = (i ^ j) & z[4];
    [z[0] ^ (i & z[2]) ^ both ^ ma ^ mc, z[1] ^ (j & z[3]) ^ both ^ mb ^ mc]
}

/// Garbles one gate with the drawn (r, r').
pub(super) fn garble(delta: Block, zeros: [ZeroLabel; 2], hashes: &Hashes, drawn: [bool; 2]) -> PlainGate {
    let [a0, b0] = zeros.map(|zero| at_zero(delta, zero).block());
    let ab = zeros.map(|zero| !zero.block().lsb());
    // base_ij ⊕ t_ij Δ: the label of truth value 0, before the table is applied.
    let base = |i: bool, j: bool| {
        let (ha, hb, hc) =
            (hashes[usize::from(i)].h, hashes[2 + usize::from(j)].h, hashes[4 + usize::from(i ^ j)].h);
        let (a, b) = (a0 ^ delta.and_bit(i), b0 ^ delta.and_bit(j));
        let one = !(ab[0] ^ i) & !(ab[1] ^ j);
        let x = xor([ha ^ hc, hb ^ hc], controlled(coins(ab, drawn, i, j), i, j, a, b));
        xor(x, halves(delta.and_bit(one)))
    };
    let zero = base(false, false);
    let [g0, g1] = xor(base(true, true), zero);
    let g2 = base(false, true)[0] ^ zero[0];
    PlainGate {
        zero: Tagged::new(block(zero)),
        g: [g0, g1, g2],
        z: control_bits(ab, drawn, hashes.map(|hash| hash.m)),
    }
}

/// Evaluates one gate. `hashes` has those of A, B, A ⊕ B.
pub(super) fn evaluate([a, b]: [ActiveLabel; 2], hashes: &[Hash; 3], g: [u64; 3], z: u8) -> ActiveLabel {
    let (a, b) = (a.block(), b.block());
    let (i, j) = (a.lsb(), b.lsb());
    let both = hashes[2].h ^ times(i ^ j, g[2]);
    let x = [hashes[0].h ^ both ^ times(i, g[0]), hashes[1].h ^ both ^ times(j, g[1])];
    let r = opened(z, hashes.map(|hash| hash.m), i, j);
    Tagged::new(block(xor(x, controlled(r, i, j, a, b))))
}
