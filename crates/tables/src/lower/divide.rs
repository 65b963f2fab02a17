//! Division by narrow numbers.
//!
//! A quotient of n bits by a divisor of d bits takes n (2 d + 1) ANDs, while one of equal widths
//! takes 2 n². Counts and powers of ten are narrow compared with sums. A computation's general
//! division has one width for both.

use super::numbers::{beyond, mirrored, number, resized, width};
use crate::algebra::{Mean, Range};
use hushwire_circuit::{Bit, Builder as Circuits};
use hushwire_compute::{Netlist, Op, Scalar, Val};

/// The divisor.
#[derive(Clone, Copy)]
pub(crate) enum Divisor<'b> {
    /// A public positive number.
    Known(i128),
    /// Numbers of a range.
    Column(Val<'b>, Range),
}

/// A quotient, rounded towards 0, and the remainder with the dividend's sign. Both are arbitrary if
/// the divisor is 0.
pub(crate) struct Quotient<'b> {
    pub(crate) whole: Val<'b>,
    pub(crate) rest: Val<'b>,
}

/// The number of bits of the absolute values in a range.
fn size_bits(range: Range) -> u16 {
    let most = range.low.unsigned_abs().max(range.high.unsigned_abs());
    (128 - most.leading_zeros()).max(1) as u16
}

/// The lower bits of absolute values.
fn size<'b>(val: Val<'b>, bits: u16, signed: bool) -> Val<'b> {
    let Some(ty) = val.ty() else { return val };
    let all = ty.scalar.bits() as u16;
    let val = if signed { val.abs() } else { val };
    val.cast(Scalar::Bits(all)).part(0, bits)
}

/// Divides a number of a range.
pub(crate) fn divided<'b>(x: Val<'b>, range: Range, by: Divisor<'b>) -> Quotient<'b> {
    let b = x.builder();
    let n = size_bits(range);
    let bits = width(mirrored(range));
    let x = resized(x, bits);
    let (d, known, y) = match by {
        Divisor::Known(by) => (size_bits(Range { low: by, high: by }), Some(by.unsigned_abs()), None),
        Divisor::Column(y, range) => (size_bits(range), None, Some((resized(y, width(range)), range))),
    };
    let sizes: Vec<Val<'b>> = core::iter::once(size(x, n, range.low < 0))
        .chain(y.map(|(y, range)| size(y, d, range.low < 0)))
        .collect();
    let made = b.apply(Op::Circuit(divider(n, d, known)), &sizes);
    let bits = width_of(n).max(width_of(d));
    let number_of = |val: Val<'b>, n: u16| val.cast(Scalar::unsigned(n as u8)).cast(Scalar::signed(bits));
    let (whole, rest) = (number_of(made.part(0, n), n), number_of(made.part(n, n + d), d));
    let below = |val: Val<'b>, range: Range| (range.low < 0).then(|| val.less(number(val, 0)));
    let x_sign = below(x, range);
    let y_sign = y.and_then(|(y, range)| below(y, range));
    let turned = |val: Val<'b>, sign: Option<Val<'b>>| sign.map_or(val, |sign| b.select(sign, -val, val));
    let sign = match (x_sign, y_sign) {
        (Some(x), Some(y)) => Some(x ^ y),
        (x, y) => x.or(y),
    };
    Quotient { whole: turned(whole, sign), rest: turned(rest, x_sign) }
}

/// The width of signed numbers with this many bits; at most 128.
fn width_of(bits: u16) -> u8 {
    if bits >= 127 { 128 } else { width(Range { low: 0, high: (1 << bits) - 1 }) }
}

/// A circuit for the quotient and remainder of n bits by d bits, by restoring division: after each
/// bit the remainder is below the divisor.
fn divider(n: u16, d: u16, known: Option<u128>) -> Netlist {
    let mut c = Circuits::new();
    let x = c.input(n.into());
    let y: Vec<Bit> = match known {
        Some(by) => (0..d).map(|i| Bit::constant(by >> i & 1 == 1)).collect(),
        None => c.input(d.into()),
    };
    let not: Vec<Bit> = y.iter().map(|bit| c.not(*bit)).chain([Bit::ONE]).collect();
    let mut rest = vec![Bit::ZERO; d.into()];
    let mut quotient = vec![Bit::ZERO; n.into()];
    for i in (0..usize::from(n)).rev() {
        rest.insert(0, x[i]);
        // rest − y is rest + ¬y + 1; the carry out means that rest ≥ y.
        let mut carry = Bit::ONE;
        let mut less = vec![];
        for (a, b) in rest.iter().zip(&not) {
            let (p, q) = (c.xor(*a, carry), c.xor(*b, carry));
            less.push(c.xor(*a, q));
            let both = c.and(p, q);
            carry = c.xor(both, carry);
        }
        quotient[i] = carry;
        rest.pop();
        for (bit, less) in rest.iter_mut().zip(less) {
            let change = c.xor(*bit, less);
            let change = c.and(carry, change);
            *bit = c.xor(*bit, change);
        }
    }
    Netlist::new(c.finish(&[quotient, rest])).expect("at most 128 bits each")
}

/// A range times a number; `None` if 128 bits do not hold it.
pub(super) fn multiplied(range: Range, times: i128) -> Option<Range> {
    Some(Range { low: range.low.checked_mul(times)?, high: range.high.checked_mul(times)? })
}

/// Sums divided by counts, with the digits of a mean, and flags for those that are NULL because of
/// their size.
pub(crate) fn mean<'b>(
    (sum, range): (Val<'b>, Range),
    (count, counts): (Val<'b>, Range),
    digits: &Mean,
) -> (Val<'b>, Option<Val<'b>>) {
    let times = digits.times;
    let by = || Divisor::Column(count, counts);
    if let Some(range) = multiplied(range, times) {
        let sum = resized(sum, width(range));
        let sum = if times == 1 { sum } else { sum * number(sum, times) };
        return (divided(sum, range, by()).whole, None);
    }
    let Quotient { whole, rest } = divided(sum, range, by());
    let leaves = digits.most.map(|most| beyond(whole, most));
    let rests = mirrored(Range { low: 0, high: counts.high.saturating_mul(times) });
    let rest = resized(rest, width(rests));
    let more = divided(rest * number(rest, times), rests, by()).whole;
    let bits = width(digits.range);
    let whole = resized(whole, bits);
    (whole * number(whole, times) + resized(more, bits), leaves)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_compute::{Builder, Shape, Tensor, evaluate};
    use std::collections::BTreeMap;

    #[test]
    fn quotients_are_those_of_numbers() {
        let most = i128::MAX;
        let xs = [0, 1, -1, 7, -7, 99, -100, 1 << 40, -(1 << 40), most, -most, i128::MIN];
        for (bits, by) in [(8u16, 3i128), (8, 127), (64, 10), (64, 86_400_000_000), (128, 1), (128, most)] {
            for column in [false, true] {
                let range = Range::of_bits(bits);
                let b = Builder::new("c");
                let m = b.member("m");
                let signed = Scalar::signed(bits as u8);
                let shape = || Shape::vector(xs.len() as u64);
                let x = b.input("x", signed, shape(), m);
                let y = b.input("y", signed, shape(), m);
                let divisor = if column { Divisor::Column(y, range) } else { Divisor::Known(by) };
                let q = divided(x, range, divisor);
                b.output("whole", q.whole.cast(signed), &[m]);
                b.output("rest", q.rest.cast(signed), &[m]);
                b.output("y", y, &[m]);
                let c = b.finish().unwrap();
                let tensor = |f: &dyn Fn(i128) -> i128| {
                    Tensor::from_numbers(signed, &[xs.len()], xs.iter().map(|x| f(*x)))
                };
                let signs = |x: i128| if x % 2 == 0 { by } else { -by };
                let given =
                    BTreeMap::from([("x".to_owned(), tensor(&|x| x)), ("y".to_owned(), tensor(&signs))]);
                let made = evaluate(&c, &given).unwrap();
                for i in 0..xs.len() {
                    let of =
                        |name: &str| if name == "x" { &given["x"] } else { &made[name] }.number(i).unwrap();
                    let (x, y) = (of("x"), if column { of("y") } else { by });
                    let wrapped = |n: i128| (n << (128 - bits)) >> (128 - bits);
                    assert_eq!(of("whole"), wrapped(x.wrapping_div(y)), "{x} / {y} in {bits}");
                    assert_eq!(of("rest"), x.wrapping_rem(y), "{x} % {y} in {bits}");
                }
            }
        }
    }
}
