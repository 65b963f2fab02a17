//! Bits as hexadecimal numbers, for people.
//!
//! A number of `n` bits has exactly ⌈n/4⌉ digits, the most significant first; where 4 does not divide `n`, the first
//! digit is a small one. Which wire holds its least significant bit is a convention of each file: [`BitOrder`].

use crate::bristol::Format;

/// Which end of a number wire 0 is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOrder {
    /// Wire 0 is the least significant bit: published Bristol Fashion files, and the older arithmetic ones.
    Lsb,
    /// Wire 0 is the most significant bit: the older ciphers.
    Msb,
}

impl BitOrder {
    /// What files of a format have most often.
    #[must_use]
    pub const fn usual(format: Format) -> BitOrder {
        match format {
            Format::Fashion => BitOrder::Lsb,
            Format::Old => BitOrder::Msb,
        }
    }
}

impl std::fmt::Display for BitOrder {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            BitOrder::Lsb => "lsb",
            BitOrder::Msb => "msb",
        })
    }
}

/// Why text is not a number of so many bits.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum HexError {
    /// Too many digits, or too few.
    #[error("found {found} hexadecimal digits, expected {expected} for {width} bits")]
    Length { found: usize, expected: usize, width: usize },
    /// Something else among the digits.
    #[error("found {found:?} as digit {at} from the left, expected 0-9 or a-f")]
    Digit { found: char, at: usize },
    /// The first digit has bits past the width.
    #[error("found a number of more than {width} bits, expected a first digit of at most {most:x}")]
    TooLarge { width: usize, most: u32 },
}

/// The bits of a number, wire 0 first. Capital digits are read too.
///
/// # Errors
/// The text does not have exactly the digits of `width` bits.
pub fn parse(text: &str, width: usize, order: BitOrder) -> Result<Vec<bool>, HexError> {
    let expected = width.div_ceil(4);
    let found = text.chars().count();
    if found != expected {
        return Err(HexError::Length { found, expected, width });
    }
    let mut bits = Vec::with_capacity(4 * expected);
    for (i, c) in text.chars().rev().enumerate() {
        let digit = c.to_digit(16).ok_or(HexError::Digit { found: c, at: expected - i })?;
        bits.extend((0..4).map(|b| digit >> b & 1 == 1));
    }
    if bits[width..].contains(&true) {
        return Err(HexError::TooLarge { width, most: (1 << (width % 4)) - 1 });
    }
    bits.truncate(width);
    if order == BitOrder::Msb {
        bits.reverse();
    }
    Ok(bits)
}

/// The number that bits stand for, in lower case.
#[must_use]
pub fn format(bits: &[bool], order: BitOrder) -> String {
    let mut bits = bits.to_vec();
    if order == BitOrder::Msb {
        bits.reverse();
    }
    let digit = |b: &[bool]| b.iter().rev().fold(0, |n, bit| n << 1 | u32::from(*bit));
    bits.chunks(4).rev().filter_map(|b| char::from_digit(digit(b), 16)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn digits_are_exact() {
        let error = |text, width| parse(text, width, BitOrder::Lsb).unwrap_err().to_string();
        assert_eq!(error("123", 9 + 4), "found 3 hexadecimal digits, expected 4 for 13 bits");
        assert_eq!(error("1", 0), "found 1 hexadecimal digits, expected 0 for 0 bits");
        assert_eq!(error("0x1", 9), "found 'x' as digit 2 from the left, expected 0-9 or a-f");
        assert_eq!(error("é", 3), "found 'é' as digit 1 from the left, expected 0-9 or a-f");
        assert_eq!(error("4f", 6), "found a number of more than 6 bits, expected a first digit of at most 3");
        assert_eq!(parse("", 0, BitOrder::Msb), Ok(vec![]));
        assert_eq!(parse("1C", 5, BitOrder::Lsb), Ok(vec![false, false, true, true, true]));
        assert_eq!(parse("1c", 5, BitOrder::Msb), Ok(vec![true, true, true, false, false]));
    }

    proptest! {
        #[test]
        fn numbers_come_back(bits in proptest::collection::vec(any::<bool>(), 0..70), lsb in any::<bool>()) {
            let order = if lsb { BitOrder::Lsb } else { BitOrder::Msb };
            let text = format(&bits, order);
            prop_assert_eq!(text.len(), bits.len().div_ceil(4));
            prop_assert_eq!(parse(&text, bits.len(), order).unwrap(), bits);
        }
    }
}
