//! Circuits that several operations share, on words of any width, the lowest bit first.

use crate::{Scalar, tensor::mask};
use hushwire_circuit::{Bit, Builder, words};

/// The number of a word whose bits are constants.
fn known(x: &[Bit]) -> Option<u128> {
    let bits = x.iter().enumerate().map(|(i, bit)| match *bit {
        Bit::ZERO => Some(0),
        Bit::ONE => Some(1u128 << i),
        _ => None,
    });
    bits.sum()
}

/// A product. It costs a row of ANDs for each bit of its second factor that is not known to be 0.
/// A known factor therefore comes second, and is negated if that leaves fewer ones.
pub(crate) fn multiply(b: &mut Builder, x: &[Bit], y: &[Bit]) -> Vec<Bit> {
    let (x, y) = if known(x).is_some() { (y, x) } else { (x, y) };
    let width = x.len();
    let minus = known(y).map(|y| y.wrapping_neg() & mask(width));
    match minus.filter(|minus| 2 * minus.count_ones() as usize + 1 < width) {
        Some(minus) if minus.count_ones() + 1 < known(y).map_or(0, u128::count_ones) => {
            let product = words::mul(b, x, &words::constant(minus, width), width);
            words::negate(b, &product)
        }
        _ => words::mul(b, x, y, width),
    }
}

/// A word of another width: truncated, or extended by copies of its sign or by zeros.
pub(crate) fn resized(x: &[Bit], signed: bool, width: usize) -> Vec<Bit> {
    let more = if signed { *x.last().expect("a word has a bit") } else { Bit::ZERO };
    x.iter().copied().chain(core::iter::repeat(more)).take(width).collect()
}

/// Whether one word is less than another.
pub(crate) fn less(b: &mut Builder, signed: bool, x: &[Bit], y: &[Bit]) -> Bit {
    if signed { words::less_signed(b, x, y) } else { words::less(b, x, y) }
}

/// The absolute value and the sign.
pub(crate) fn absolute(b: &mut Builder, x: &[Bit]) -> (Vec<Bit>, Bit) {
    let sign = *x.last().expect("a word has a bit");
    (signed_by(b, x, sign), sign)
}

/// −x if the sign is 1, by complementing all bits and adding 1.
fn signed_by(b: &mut Builder, x: &[Bit], sign: Bit) -> Vec<Bit> {
    let turned: Vec<Bit> = x.iter().map(|x| b.xor(*x, sign)).collect();
    let mut one = vec![Bit::ZERO; x.len()];
    one[0] = sign;
    words::add_mod(b, &turned, &one)
}

/// The quotient and remainder of numbers of one scalar, with the edge cases of
/// [`Op::Div`](crate::Op::Div) and [`Op::Rem`](crate::Op::Rem). A quotient of fixed numbers has
/// their fractional bits. Takes about 2 k² ANDs for k bits, or 2 k l if the divisor is public and
/// has l bits.
pub(crate) fn divide(b: &mut Builder, x: &[Bit], y: &[Bit], scalar: Scalar) -> (Vec<Bit>, Vec<Bit>) {
    let width = x.len();
    let ((x, negative), (y_size, other)) = if scalar.is_signed() {
        (absolute(b, x), absolute(b, y))
    } else {
        ((x.to_vec(), Bit::ZERO), (y.to_vec(), Bit::ZERO))
    };
    let mut dividend = vec![Bit::ZERO; scalar.frac().into()];
    dividend.extend(&x);
    // Bit by bit from the top. The remainder stays below the divisor, except for one bit in
    // between. If the divisor is 0, the remainder grows to the dividend, as defined.
    let mut rest: Vec<Bit> = vec![];
    let mut quotient = vec![];
    // If high bits of the divisor are known to be 0, the remainder is just as short. A public
    // divisor therefore costs only its own bits.
    let short = match y_size.iter().rposition(|bit| *bit != Bit::ZERO) {
        Some(top) => top + 2,
        None => width + 1,
    };
    for bit in dividend.iter().rev() {
        rest.insert(0, *bit);
        let n = rest.len().min(short);
        rest.truncate(n);
        let divisor = resized(&y_size, false, width + 1);
        // If any bit of the divisor beyond the remainder is set, nothing is subtracted.
        let beyond = words::any(b, &divisor[n..]);
        let (difference, below) = words::sub(b, &rest, &divisor[..n]);
        let fits = b.not(below);
        let within = b.not(beyond);
        let fits = b.and(fits, within);
        rest = words::mux(b, fits, &difference, &rest);
        quotient.push(fits);
    }
    quotient.reverse();
    let differ = b.xor(negative, other);
    let mut quotient = signed_by(b, &resized(&quotient, false, width), differ);
    let rest = signed_by(b, &resized(&rest, false, width), negative);
    let zero = words::any(b, y);
    let zero = b.not(zero);
    quotient = words::mux(b, zero, &vec![Bit::ONE; width], &quotient);
    (quotient, rest)
}
