//! Arithmetic and choices on words. A word is a slice of bits, the least significant first.
//!
//! ```text
//!                  ANDs for n bits       AND-depth
//! add, sub         n                     n            ripple
//! add_fast         n + n log n           1 + log n    prefix sums
//! less             n                     n
//! less_fast        3 n − log n − 2       1 + log n
//! span_fast        3 n − 2               1 + log n
//! equal            n − 1                 log n
//! mux              n                     1
//! mul              2 n² − n              2 n − 1
//! ```
//!
//! [`Adder`](crate::Adder) chooses between the two forms. Constant bits remove gates, and gates
//! that nothing reads are left out. Functions of two words panic if the widths differ (the caller's
//! bug).

use crate::{Bit, Builder};

/// `x ⊕ y`, bit by bit.
///
/// # Panics
/// If the words differ in width (the caller's bug).
#[must_use]
pub fn xor(b: &mut Builder, x: &[Bit], y: &[Bit]) -> Vec<Bit> {
    zip(x, y).map(|(x, y)| b.xor(x, y)).collect()
}

/// `¬x`, bit by bit.
#[must_use]
pub fn not(b: &mut Builder, x: &[Bit]) -> Vec<Bit> {
    x.iter().map(|x| b.not(*x)).collect()
}

/// A constant of `width` bits.
#[must_use]
pub fn constant(value: u128, width: usize) -> Vec<Bit> {
    (0..width).map(|i| Bit::constant(i < 128 && value >> i & 1 == 1)).collect()
}

/// `x + y + carry` and the carry out. A full adder has one AND: `c' = c ⊕ (x ⊕ c)(y ⊕ c)`, as in V.
/// Kolesnikov, T. Schneider, "Improved garbled circuit: free XOR gates and applications", ICALP
/// 2008, Sec. 4.
#[must_use]
pub fn add(b: &mut Builder, x: &[Bit], y: &[Bit], mut carry: Bit) -> (Vec<Bit>, Bit) {
    let mut sum = Vec::with_capacity(x.len());
    for (x, y) in zip(x, y) {
        let (xc, yc) = (b.xor(x, carry), b.xor(y, carry));
        sum.push(b.xor(xc, y));
        let both = b.and(xc, yc);
        carry = b.xor(both, carry);
    }
    (sum, carry)
}

/// `x + y` modulo 2^n.
#[must_use]
pub fn add_mod(b: &mut Builder, x: &[Bit], y: &[Bit]) -> Vec<Bit> {
    add(b, x, y, Bit::ZERO).0
}

/// `x + y` and the carry out at logarithmic depth: the prefix network of J. Sklansky,
/// "Conditional-sum addition logic", IRE Trans. EC-9 (1960), on pairs (generate, propagate).
#[must_use]
pub fn add_fast(b: &mut Builder, x: &[Bit], y: &[Bit]) -> (Vec<Bit>, Bit) {
    let half: Vec<Bit> = xor(b, x, y);
    let mut span: Vec<(Bit, Bit)> = zip(x, y).zip(&half).map(|((x, y), p)| (b.and(x, y), *p)).collect();
    let n = span.len();
    let mut reach = 1;
    while reach < n {
        for i in (0..n).filter(|i| i & reach != 0) {
            // The last bit of the lower half of i's block; its span starts at 0 or at that block.
            let low = (i & !(2 * reach - 1)) + reach - 1;
            span[i] = join(b, span[i], span[low]);
        }
        reach *= 2;
    }
    let mut sum = Vec::with_capacity(n);
    for i in 0..n {
        let carry = if i == 0 { Bit::ZERO } else { span[i - 1].0 };
        sum.push(b.xor(half[i], carry));
    }
    (sum, span.last().map_or(Bit::ZERO, |s| s.0))
}

/// Joins two neighbouring spans. They never both generate, since generating excludes propagating,
/// so that XOR serves as OR.
fn join(b: &mut Builder, high: (Bit, Bit), low: (Bit, Bit)) -> (Bit, Bit) {
    let through = b.and(high.1, low.0);
    (b.xor(high.0, through), b.and(high.1, low.1))
}

/// `x − y` modulo 2^n, and whether `x < y`.
#[must_use]
pub fn sub(b: &mut Builder, x: &[Bit], y: &[Bit]) -> (Vec<Bit>, Bit) {
    // With the borrow c: c' = y ⊕ (x ⊕ y ⊕ 1)(y ⊕ c), which is `add`'s formula with x complemented.
    let mut borrow = Bit::ZERO;
    let mut difference = Vec::with_capacity(x.len());
    for (x, y) in zip(x, y) {
        let (xb, yb) = (b.xor(x, borrow), b.xor(y, borrow));
        difference.push(b.xor(xb, y));
        let flip = b.not(xb);
        let both = b.and(flip, yb);
        borrow = b.xor(both, borrow);
    }
    (difference, borrow)
}

/// `−x` modulo 2^n.
#[must_use]
pub fn negate(b: &mut Builder, x: &[Bit]) -> Vec<Bit> {
    sub(b, &constant(0, x.len()), x).0
}

/// Whether `x < y`, unsigned.
#[must_use]
pub fn less(b: &mut Builder, x: &[Bit], y: &[Bit]) -> Bit {
    sub(b, x, y).1
}

/// Whether `x < y`, unsigned, at logarithmic depth: J. Garay, B. Schoenmakers, J. Villegas,
/// "Practical and secure solutions for integer comparison", PKC 2007, Sec. 4.
#[must_use]
pub fn less_fast(b: &mut Builder, x: &[Bit], y: &[Bit]) -> Bit {
    // Pairs (less, equal) of ever longer runs of bits, the lowest first.
    let runs: Vec<(Bit, Bit)> = zip(x, y)
        .map(|(x, y)| {
            let (nx, differ) = (b.not(x), b.xor(x, y));
            (b.and(nx, y), b.not(differ))
        })
        .collect();
    joined(b, runs).0
}

/// Whether `x + y` generates a carry, and whether it propagates one: at logarithmic depth, without
/// the sum.
#[must_use]
pub fn span_fast(b: &mut Builder, x: &[Bit], y: &[Bit]) -> (Bit, Bit) {
    let runs = zip(x, y).map(|(x, y)| (b.and(x, y), b.xor(x, y))).collect();
    joined(b, runs)
}

/// Joins neighbouring spans, the lowest first, by a tree. An empty list generates no carry and
/// propagates one.
fn joined(b: &mut Builder, mut runs: Vec<(Bit, Bit)>) -> (Bit, Bit) {
    while runs.len() > 1 {
        runs =
            runs.chunks(2).map(|c| if let [low, high] = c { join(b, *high, *low) } else { c[0] }).collect();
    }
    runs.first().copied().unwrap_or((Bit::ZERO, Bit::ONE))
}

/// Whether `x < y`, both in two's complement.
#[must_use]
pub fn less_signed(b: &mut Builder, x: &[Bit], y: &[Bit]) -> Bit {
    // With flipped signs, the order is the unsigned one.
    let (x, y) = (offset(b, x), offset(b, y));
    less(b, &x, &y)
}

/// `x + 2^(n−1)` modulo 2^n: flips the sign, which turns the order of two's complement into the
/// unsigned order.
#[must_use]
pub fn offset(b: &mut Builder, x: &[Bit]) -> Vec<Bit> {
    let mut x = x.to_vec();
    if let Some(sign) = x.last_mut() {
        *sign = b.not(*sign);
    }
    x
}

/// Whether `x = y`.
#[must_use]
pub fn equal(b: &mut Builder, x: &[Bit], y: &[Bit]) -> Bit {
    let same = zip(x, y).map(|(x, y)| {
        let differ = b.xor(x, y);
        b.not(differ)
    });
    let same: Vec<Bit> = same.collect();
    all(b, &same)
}

/// Whether every bit is 1.
#[must_use]
pub fn all(b: &mut Builder, bits: &[Bit]) -> Bit {
    let mut bits = bits.to_vec();
    while bits.len() > 1 {
        bits = bits.chunks(2).map(|c| if let [x, y] = c { b.and(*x, *y) } else { c[0] }).collect();
    }
    bits.first().copied().unwrap_or(Bit::ONE)
}

/// Whether any bit is 1.
#[must_use]
pub fn any(b: &mut Builder, bits: &[Bit]) -> Bit {
    let zeros = not(b, bits);
    let none = all(b, &zeros);
    b.not(none)
}

/// The AND of `bit` with every bit of `x`.
#[must_use]
pub fn and_bit(b: &mut Builder, bit: Bit, x: &[Bit]) -> Vec<Bit> {
    x.iter().map(|x| b.and(bit, *x)).collect()
}

/// `x` if `choose` is 1, otherwise `y`.
#[must_use]
pub fn mux(b: &mut Builder, choose: Bit, x: &[Bit], y: &[Bit]) -> Vec<Bit> {
    zip(x, y)
        .map(|(x, y)| {
            let differ = b.xor(x, y);
            let change = b.and(choose, differ);
            b.xor(y, change)
        })
        .collect()
}

/// `(x, y)`, or `(y, x)` if `swap` is 1; one AND for each bit.
#[must_use]
pub fn swap(b: &mut Builder, swap: Bit, x: &[Bit], y: &[Bit]) -> (Vec<Bit>, Vec<Bit>) {
    zip(x, y)
        .map(|(x, y)| {
            let differ = b.xor(x, y);
            let change = b.and(swap, differ);
            (b.xor(x, change), b.xor(y, change))
        })
        .unzip()
}

/// The low `width` bits of `x · y`, row by row; `width` is at most the sum of the two widths.
#[must_use]
pub fn mul(b: &mut Builder, x: &[Bit], y: &[Bit], width: usize) -> Vec<Bit> {
    assert!(width <= x.len() + y.len(), "a product has no bits past both widths together");
    let mut low: Vec<Bit> = vec![];
    // The sum of the rows so far, without the bits that are final.
    let mut high = vec![Bit::ZERO; x.len()];
    for y in y {
        let room = (width - low.len()).min(x.len());
        let row = and_bit(b, *y, &x[..room]);
        high.truncate(room);
        let (mut sum, carry) = add(b, &high, &row, Bit::ZERO);
        if low.len() < width {
            low.push(sum.remove(0));
            sum.push(carry);
        }
        high = sum;
    }
    low.extend(high);
    low.truncate(width);
    low
}

fn zip<'a>(x: &'a [Bit], y: &'a [Bit]) -> impl Iterator<Item = (Bit, Bit)> + 'a {
    assert_eq!(x.len(), y.len(), "words of one width");
    x.iter().copied().zip(y.iter().copied())
}
