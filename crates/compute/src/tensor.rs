//! Values in the clear: elements of one scalar in row-major order.

use crate::{Dim, Scalar, Shape};
use core::fmt;

/// Elements of one scalar, the last axis fastest. An element's bits, in two's complement if it is
/// signed, are in the fewest 64-bit words that hold them, low word first.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Tensor {
    scalar: Scalar,
    lengths: Vec<usize>,
    words: Vec<u64>,
}

/// The number of words of an element.
const fn stride(scalar: Scalar) -> usize {
    scalar.bits().div_ceil(64)
}

/// The number of elements; `None` if it overflows.
fn product(lengths: &[usize]) -> Option<usize> {
    lengths.iter().try_fold(1usize, |n, length| n.checked_mul(*length))
}

/// The mask of the lowest `bits` bits, at most 128.
pub(crate) const fn mask(bits: usize) -> u128 {
    if bits >= 128 { u128::MAX } else { (1 << bits) - 1 }
}

impl Tensor {
    /// Zeros.
    ///
    /// # Panics
    /// If there are more elements than a `usize` can count.
    #[must_use]
    pub fn zeros(scalar: Scalar, lengths: &[usize]) -> Self {
        let elements = product(lengths).expect("elements can be counted");
        Tensor { scalar, lengths: lengths.to_vec(), words: vec![0; elements * stride(scalar)] }
    }

    /// Elements of at most 128 bits, each taken modulo its width.
    ///
    /// # Panics
    /// If their number does not fit the lengths, or the scalar is wider.
    #[must_use]
    pub fn from_words(scalar: Scalar, lengths: &[usize], elements: impl IntoIterator<Item = u128>) -> Self {
        if stride(scalar) == 1 {
            let mask = mask(scalar.bits()) as u64;
            let words: Vec<u64> = elements.into_iter().map(|element| element as u64 & mask).collect();
            assert_eq!(Some(words.len()), product(lengths), "as many elements as the shape has");
            return Tensor { scalar, lengths: lengths.to_vec(), words };
        }
        let mut tensor = Tensor::zeros(scalar, lengths);
        let mut count = 0;
        for (i, element) in elements.into_iter().enumerate() {
            tensor.set(i, element);
            count = i + 1;
        }
        assert_eq!(count, tensor.len(), "as many elements as the shape has");
        tensor
    }

    /// Numbers, each modulo 2 to the width.
    ///
    /// # Panics
    /// The same as [`Tensor::from_words`].
    #[must_use]
    pub fn from_numbers(scalar: Scalar, lengths: &[usize], numbers: impl IntoIterator<Item = i128>) -> Self {
        Tensor::from_words(scalar, lengths, numbers.into_iter().map(i128::cast_unsigned))
    }

    /// A single element.
    #[must_use]
    pub fn single(scalar: Scalar, element: u128) -> Self {
        Tensor::from_words(scalar, &[], [element])
    }

    /// The elements' type.
    #[must_use]
    pub fn scalar(&self) -> Scalar {
        self.scalar
    }

    /// The lengths of the axes, the outermost first.
    #[must_use]
    pub fn lengths(&self) -> &[usize] {
        &self.lengths
    }

    /// The shape with these lengths.
    pub(crate) fn shape(&self) -> Shape {
        Shape(self.lengths.iter().map(|n| Dim::Known(*n as u64)).collect())
    }

    /// The number of elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / stride(self.scalar)
    }

    /// Whether there are no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// All words, element after element.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// All words, to be overwritten by elements of the scalar.
    pub(crate) fn words_mut(&mut self) -> &mut [u64] {
        &mut self.words
    }

    /// The words of one element.
    #[must_use]
    pub fn element(&self, i: usize) -> &[u64] {
        &self.words[i * stride(self.scalar)..][..stride(self.scalar)]
    }

    /// The words of one element.
    pub fn element_mut(&mut self, i: usize) -> &mut [u64] {
        let n = stride(self.scalar);
        &mut self.words[i * n..][..n]
    }

    /// The bits of an element of at most 128 bits.
    #[must_use]
    pub fn get(&self, i: usize) -> u128 {
        match self.element(i) {
            [low] => u128::from(*low),
            [low, high] => u128::from(*low) | u128::from(*high) << 64,
            _ => panic!("an element of at most 128 bits"),
        }
    }

    /// Sets the bits of an element of at most 128 bits; bits above its width are dropped.
    pub fn set(&mut self, i: usize, element: u128) {
        let element = element & mask(self.scalar.bits());
        match self.element_mut(i) {
            [low] => *low = element as u64,
            [low, high] => (*low, *high) = (element as u64, (element >> 64) as u64),
            _ => panic!("an element of at most 128 bits"),
        }
    }

    /// The truth value of an element: whether any of its bits is set.
    #[must_use]
    pub fn truth(&self, i: usize) -> bool {
        self.element(i).iter().any(|w| *w != 0)
    }

    /// An element as a number, in steps of its scalar, with its sign; `None` for unsigned numbers
    /// from 2^127 on.
    #[must_use]
    pub fn number(&self, i: usize) -> Option<i128> {
        number(self.scalar, self.get(i))
    }

    /// The same elements along other axes.
    ///
    /// # Panics
    /// If their number does not fit.
    #[must_use]
    pub fn reshaped(mut self, lengths: &[usize]) -> Self {
        assert_eq!(self.lengths.iter().product::<usize>(), lengths.iter().product(), "as many elements");
        self.lengths = lengths.to_vec();
        self
    }

    /// The elements `from(0), from(1), …` along new axes.
    pub(crate) fn picked(&self, lengths: &[usize], from: impl Fn(usize) -> usize) -> Self {
        if stride(self.scalar) == 1 {
            let count = product(lengths).expect("elements can be counted");
            let words = (0..count).map(|i| self.words[from(i)]).collect();
            return Tensor { scalar: self.scalar, lengths: lengths.to_vec(), words };
        }
        let mut out = Tensor::zeros(self.scalar, lengths);
        for i in 0..out.len() {
            out.element_mut(i).copy_from_slice(self.element(from(i)));
        }
        out
    }
}

/// Bits as a number, signed if the scalar is; `None` for unsigned numbers from 2^127 on.
pub(crate) fn number(scalar: Scalar, bits: u128) -> Option<i128> {
    if scalar.is_signed() {
        let unused = 128 - scalar.bits();
        Some((bits << unused).cast_signed() >> unused)
    } else {
        i128::try_from(bits).ok()
    }
}

/// An element of a scalar of at most 128 bits, as people write it.
pub(crate) struct Literal(pub Scalar, pub u128);

impl fmt::Display for Literal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Literal(scalar, bits) = *self;
        match scalar {
            Scalar::Bool => f.write_str(if bits == 1 { "true" } else { "false" }),
            Scalar::Bits(_) => write!(f, "0x{bits:x}"),
            Scalar::Fixed { frac, .. } if frac > 0 => {
                fixed(number(scalar, bits).expect("it has a sign"), frac, f)
            }
            _ => match number(scalar, bits) {
                Some(n) => n.fmt(f),
                None => bits.fmt(f),
            },
        }
    }
}

/// A number of steps of 2^-frac, exactly.
pub(crate) struct Decimal(pub i128, pub u8);

impl fmt::Display for Decimal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.1 == 0 { self.0.fmt(f) } else { fixed(self.0, self.1, f) }
    }
}

/// The exact decimal of `steps` times 2^-frac: every such fraction is finite.
fn fixed(steps: i128, frac: u8, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let (sign, size) = (if steps < 0 { "-" } else { "" }, steps.unsigned_abs());
    let whole = if frac == 128 { 0 } else { size >> frac };
    write!(f, "{sign}{whole}.")?;
    let mut rest = size & mask(frac.into());
    let mut digits = String::new();
    while rest != 0 || digits.is_empty() {
        // Ten times the rest may need four bits more than there are, so the halves are multiplied
        // separately.
        let (low, high) = ((rest & u128::from(u64::MAX)) * 10, (rest >> 64) * 10);
        let high = high + (low >> 64);
        let low = low & u128::from(u64::MAX);
        let digit = match frac {
            64.. => high >> (frac - 64),
            _ => (high << (64 - frac)) | (low >> frac),
        };
        digits.push(char::from_digit(digit as u32, 10).expect("a digit is below ten"));
        rest = ((high << 64) | low) & mask(frac.into());
    }
    f.write_str(&digits)
}

/// The reason why a literal is not an element of its scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unfit {
    /// It does not have the form of such elements.
    Form,
    /// It is beyond the scalar's least or greatest element.
    Range,
    /// It has more fractional bits than the scalar.
    Inexact,
}

/// Reads the text of [`Literal`], and numbers of the form `0x…`. A decimal of a fixed-point scalar
/// must be exact.
pub(crate) fn parse_literal(scalar: Scalar, text: &str) -> Result<u128, Unfit> {
    match parse_nearest(scalar, text)? {
        (bits, false) => Ok(bits),
        (_, true) => Err(Unfit::Inexact),
    }
}

/// Like [`parse_literal`], but rounds a decimal of a fixed-point scalar to the nearest element, and
/// to the even one of two. Also returns whether it was rounded.
pub(crate) fn parse_nearest(scalar: Scalar, text: &str) -> Result<(u128, bool), Unfit> {
    if let Scalar::Bool = scalar {
        return match text {
            "true" => Ok((1, false)),
            "false" => Ok((0, false)),
            _ => Err(Unfit::Form),
        };
    }
    let (negative, size) = text.strip_prefix('-').map_or((false, text), |rest| (true, rest));
    let plain = if size.starts_with("0x") { None } else { without_exponent(size) };
    let size = plain.as_deref().unwrap_or(size);
    let (whole, fraction) = size.split_once('.').unwrap_or((size, ""));
    let (size, rounded) = if let Some(hex) = whole.strip_prefix("0x") {
        if size.contains('.') || hex.is_empty() || !hex.bytes().all(|b| b.is_ascii_hexdigit()) {
            return Err(Unfit::Form);
        }
        (u128::from_str_radix(hex, 16).map_err(|_| Unfit::Range)?, false)
    } else {
        let digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        if whole.is_empty()
            || !digits(whole)
            || !digits(fraction)
            || size.ends_with('.')
            || matches!(scalar, Scalar::Bits(_))
        {
            return Err(Unfit::Form);
        }
        if !matches!(scalar, Scalar::Fixed { .. }) && fraction.bytes().any(|b| b != b'0') {
            return Err(Unfit::Inexact);
        }
        steps(whole, fraction, scalar.frac())?
    };
    if matches!(scalar, Scalar::Bits(_)) && negative {
        return Err(Unfit::Form);
    }
    let bits = scalar.bits().min(128);
    let greatest = if scalar.is_signed() { mask(bits) >> 1 } else { mask(bits) };
    let most = if !negative {
        greatest
    } else if scalar.is_signed() {
        greatest + 1
    } else {
        0
    };
    if size > most {
        return Err(Unfit::Range);
    }
    Ok(((if negative { size.wrapping_neg() } else { size }) & mask(bits), rounded))
}

/// LOCAL: the largest exponent of a number. Larger ones make any number zero, or too large.
const MOST_EXPONENT: i32 = 100;

/// A decimal without its exponent, such as `0.0012` for `1.2e-3`; `None` if the exponent is missing
/// or invalid.
fn without_exponent(text: &str) -> Option<String> {
    let (digits, exponent) = text.split_once(['e', 'E'])?;
    let size = exponent.strip_prefix(['+', '-']).unwrap_or(exponent);
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
    if !is_number(size) || !is_number(whole) || !is_number(fraction) {
        return None;
    }
    let exponent: i32 = exponent.parse().ok().filter(|e: &i32| e.abs() <= MOST_EXPONENT)?;
    let (places, all) = (usize::try_from(exponent.unsigned_abs()).ok()?, format!("{whole}{fraction}"));
    let (zeros, before) = match exponent < 0 {
        false if places >= fraction.len() => {
            return Some(format!("{all}{}", "0".repeat(places - fraction.len())));
        }
        false => (0, whole.len() + places),
        true => (places.saturating_sub(whole.len()), whole.len().saturating_sub(places)),
    };
    let (whole, fraction) = all.split_at(before);
    let whole = if whole.is_empty() { "0" } else { whole };
    Some(format!("{whole}.{}{fraction}", "0".repeat(zeros)))
}

/// `whole.fraction` as the nearest number of steps of 2^-frac, and whether it was rounded.
fn steps(whole: &str, fraction: &str, frac: u8) -> Result<(u128, bool), Unfit> {
    let whole: u128 = whole.parse().map_err(|_| Unfit::Range)?;
    let mut size = whole.checked_mul(1u128.checked_shl(frac.into()).unwrap_or(0)).ok_or(Unfit::Range)?;
    if frac == 128 && whole > 0 {
        return Err(Unfit::Range);
    }
    // Doubling a decimal fraction shifts its bits out at the front.
    let mut digits: Vec<u8> = fraction.bytes().map(|b| b - b'0').collect();
    for bit in (0..frac).rev() {
        let mut carry = 0;
        for digit in digits.iter_mut().rev() {
            let doubled = 2 * *digit + carry;
            (*digit, carry) = (doubled % 10, doubled / 10);
        }
        size += u128::from(carry) << bit;
    }
    // The remaining digits are less than a step.
    let left = digits.iter().rposition(|digit| *digit != 0).map_or(&[][..], |last| &digits[..=last]);
    let up = match left {
        [] | [0..=4, ..] => false,
        [5] => size % 2 == 1,
        _ => true,
    };
    Ok((size.checked_add(up.into()).ok_or(Unfit::Range)?, !left.is_empty()))
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;

    const I8: Scalar = Scalar::signed(8);

    #[test]
    fn literals_at_the_edges() {
        for (text, bits) in [("-128", 0x80), ("127", 0x7f), ("0x7f", 0x7f), ("-1", 0xff), ("-0", 0)] {
            assert_eq!(parse_literal(I8, text), Ok(bits), "{text}");
        }
        assert_eq!(parse_literal(Scalar::unsigned(128), &u128::MAX.to_string()), Ok(u128::MAX));
        assert_eq!(parse_literal(Scalar::signed(128), &i128::MIN.to_string()), Ok(1 << 127));
        for text in ["128", "-129", "0x80", "340282366920938463463374607431768211456"] {
            assert_eq!(parse_literal(I8, text), Err(Unfit::Range), "{text}");
        }
        for text in ["", "-", "+1", "1.", ".5", "0x", "0xg", "one", "--1", "1.2.3"] {
            assert_eq!(parse_literal(I8, text), Err(Unfit::Form), "{text}");
        }
        assert_eq!(parse_literal(I8, "1.5"), Err(Unfit::Inexact));
        let half = Scalar::Fixed { bits: 8, frac: 1 };
        assert_eq!(parse_literal(half, "-0.5"), Ok(0xff));
        assert_eq!(parse_literal(half, "0.25"), Err(Unfit::Inexact));
        assert_eq!(parse_literal(half, "64"), Err(Unfit::Range));
        for (text, steps, rounded) in [
            ("0.5", 1, false),
            ("0.24999", 0, true),
            ("0.25", 0, true),
            ("0.2500001", 1, true),
            ("0.75", 2, true),
            ("-0.74", 0xff, true),
            ("-0.76", 0xfe, true),
            ("63.74", 127, true),
            ("-64.2", 0x80, true),
            ("0.50000", 1, false),
        ] {
            assert_eq!(parse_nearest(half, text), Ok((steps, rounded)), "{text}");
        }
        assert_eq!(parse_nearest(half, "63.76"), Err(Unfit::Range));
        assert_eq!(parse_nearest(Scalar::Fixed { bits: 128, frac: 0 }, "2.5"), Ok((2, true)));
        assert_eq!(
            parse_nearest(
                Scalar::Fixed { bits: 128, frac: 128 },
                "0.4999999999999999999999999999999999999999"
            ),
            Err(Unfit::Range)
        );
        assert_eq!(parse_nearest(I8, "1.5"), Err(Unfit::Inexact));
        // Numbers with exponents, as programs write them.
        for (text, plain) in [
            ("1e0", "1"),
            ("1e1", "10"),
            ("1.25E+1", "12.5"),
            ("125e-1", "12.5"),
            ("-1.25e-1", "-0.125"),
            ("6.25e-2", "0.0625"),
            ("0.0625e3", "62.5"),
            ("0e100", "0"),
        ] {
            assert_eq!(parse_nearest(half, text), parse_nearest(half, plain), "{text}");
        }
        assert_eq!(parse_nearest(half, "1e-100"), Ok((0, true)));
        assert_eq!(parse_nearest(half, "1e100"), Err(Unfit::Range));
        assert_eq!(parse_nearest(I8, "1.2e2"), Ok((120, false)));
        assert_eq!(parse_nearest(I8, "12e-1"), Err(Unfit::Inexact));
        for text in ["e1", "1e", "1e+", "1e1.5", "1e101", "1ee1", "1.e1", "0x1.e1", "1e--1", "1e99999999999"]
        {
            assert_eq!(parse_nearest(half, text), Err(Unfit::Form), "{text}");
        }
        // 7.99 · 2^120, rounded to the nearest by independent exact arithmetic.
        let cents = Scalar::Fixed { bits: 128, frac: 120 };
        assert_eq!(
            parse_nearest(cents, "7.99"),
            Ok((10_620_531_686_321_477_824_501_418_411_639_953_162, true))
        );
        assert_eq!(parse_literal(Scalar::Bits(4), "0xf"), Ok(15));
        assert_eq!(parse_literal(Scalar::Bits(4), "15"), Err(Unfit::Form));
    }

    /// Scalars of all kinds, with strings of up to `longest` bits.
    pub(crate) fn scalars(longest: u16) -> impl Strategy<Value = Scalar> {
        prop_oneof![
            Just(Scalar::Bool),
            (any::<bool>(), 1..=128u8).prop_map(|(signed, bits)| Scalar::Int { signed, bits }),
            (1..=128u8)
                .prop_flat_map(|bits| (Just(bits), 0..=bits))
                .prop_map(|(bits, frac)| Scalar::Fixed { bits, frac }),
            (1..=longest).prop_map(Scalar::Bits),
        ]
    }

    proptest! {
        #[test]
        fn an_element_is_read_as_it_is_written(scalar in scalars(128), bits: u128) {
            let bits = bits & mask(scalar.bits());
            let text = Literal(scalar, bits).to_string();
            prop_assert_eq!(parse_literal(scalar, &text), Ok(bits), "{} {}", scalar, text);
        }

        #[test]
        fn elements_keep_their_places(scalar in scalars(128), elements in prop::collection::vec(any::<u128>(), 0..9)) {
            let tensor = Tensor::from_words(scalar, &[elements.len()], elements.iter().copied());
            for (i, element) in elements.iter().enumerate() {
                prop_assert_eq!(tensor.get(i), element & mask(scalar.bits()));
            }
        }
    }
}
