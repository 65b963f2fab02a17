//! Bits as numbers that people read and write.
//!
//! ```text
//! 002a     hexadecimal, exactly ⌈n/4⌉ digits for n bits, the most significant first; written so
//! 0x2a     hexadecimal, any number of digits
//! dec:42   decimal
//! ```
//! The forms cannot be confused: neither `x` nor a colon is a hexadecimal digit. If 4 does not
//! divide `n`, the first of exactly ⌈n/4⌉ digits has fewer bits. Each file has its own convention
//! for the wire of a number's least significant bit: [`BitOrder`].

use crate::bristol::Format;
use hushwire_block::Wiped;

/// The prefixes of hexadecimal digits in any number.
const HEX: [&str; 2] = ["0x", "0X"];
/// The prefix of decimal digits.
const DECIMAL: &str = "dec:";
/// LOCAL: the largest width of a decimal number, since reading takes quadratic time.
const MOST_DECIMAL: usize = 1 << 14;

/// The end of a number that is on wire 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BitOrder {
    /// Wire 0 is the least significant bit: published Bristol Fashion files, and the older
    /// arithmetic files.
    Lsb,
    /// Wire 0 is the most significant bit: the older ciphers.
    Msb,
}

impl BitOrder {
    /// The bit order of most files of a format.
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

/// The reason why a text is not a number of the given width.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum HexError {
    /// The number of digits is wrong.
    #[error("found {found} hexadecimal digits, expected {expected} for {width} bits")]
    Length { found: usize, expected: usize, width: usize },
    /// A character is not a digit.
    #[error("found {found:?} as digit {at} from the left, expected {expected}")]
    Digit { found: char, at: usize, expected: &'static str },
    /// Nothing follows a prefix.
    #[error("found {prefix} alone, expected digits behind it")]
    Empty { prefix: &'static str },
    /// The number has bits past the width.
    #[error("found a number of more than {width} bits")]
    TooLarge { width: usize },
    /// A decimal number is given for too many bits.
    #[error(
        "found a decimal number for {width} bits, expected hexadecimal digits for more than {MOST_DECIMAL}"
    )]
    Wide { width: usize },
}

impl HexError {
    /// The error without the text that was found, because the text may be secret.
    #[must_use]
    pub fn discreet(&self) -> String {
        match self {
            HexError::Digit { at, expected, .. } => format!("digit {at} from the left is none of {expected}"),
            other => other.to_string(),
        }
    }
}

/// A number's ⌈width/8⌉ bytes, least significant first. Capital digits are accepted, surrounding
/// white space is not.
///
/// # Errors
/// The text has none of the forms, or the number exceeds the width.
pub fn number(text: &str, width: usize) -> Result<Wiped<Vec<u8>>, HexError> {
    let text = text.trim();
    let mut bytes = Wiped::new(vec![0; width.div_ceil(8)]);
    let past = if let Some(digits) = text.strip_prefix(DECIMAL) {
        if width > MOST_DECIMAL {
            return Err(HexError::Wide { width });
        }
        decimal(digits, &mut bytes)?
    } else if let Some(digits) = HEX.iter().find_map(|prefix| text.strip_prefix(prefix)) {
        hexadecimal(digits, &mut bytes)?
    } else {
        let (found, expected) = (text.chars().count(), width.div_ceil(4));
        if found != expected {
            // A wrong character is reported before a wrong length.
            let odd = text.chars().enumerate().find(|(_, c)| !c.is_ascii_hexdigit());
            if let Some((i, found)) = odd {
                return Err(HexError::Digit { found, at: i + 1, expected: "0-9 or a-f" });
            }
            return Err(HexError::Length { found, expected, width });
        }
        if width == 0 { false } else { hexadecimal(text, &mut bytes)? }
    };
    let top = bytes.last().map_or(0, |byte| u16::from(*byte) >> (8 - (8 * bytes.len() - width)));
    if past || top != 0 { Err(HexError::TooLarge { width }) } else { Ok(bytes) }
}

/// Puts digits into zeroed bytes. Returns whether some did not fit.
fn hexadecimal(digits: &str, bytes: &mut [u8]) -> Result<bool, HexError> {
    if digits.is_empty() {
        return Err(HexError::Empty { prefix: HEX[0] });
    }
    let count = digits.chars().count();
    let mut past = 0;
    for (i, c) in digits.chars().rev().enumerate() {
        let expected = "0-9 or a-f";
        let digit = c.to_digit(16).ok_or(HexError::Digit { found: c, at: count - i, expected })? as u8;
        match bytes.get_mut(i / 2) {
            Some(byte) => *byte |= digit << (4 * (i % 2)),
            None => past |= digit,
        }
    }
    Ok(past != 0)
}

/// The same as [`hexadecimal`] for decimal digits: multiplies the number by ten and adds a digit,
/// for each digit.
fn decimal(digits: &str, bytes: &mut [u8]) -> Result<bool, HexError> {
    if digits.is_empty() {
        return Err(HexError::Empty { prefix: DECIMAL });
    }
    let mut past = 0;
    for (i, c) in digits.chars().enumerate() {
        let digit = c.to_digit(10).ok_or(HexError::Digit { found: c, at: i + 1, expected: "0-9" })?;
        let mut carry = digit as u16;
        for byte in bytes.iter_mut() {
            let wide = u16::from(*byte) * 10 + carry;
            (*byte, carry) = (wide as u8, wide >> 8);
        }
        past |= carry;
    }
    Ok(past != 0)
}

/// The bits of a number in any of the forms, wire 0 first.
///
/// # Errors
/// The same as for [`number`].
pub fn parse(text: &str, width: usize, order: BitOrder) -> Result<Vec<bool>, HexError> {
    let bytes = number(text, width)?;
    let mut bits: Vec<bool> = (0..width).map(|i| bytes[i / 8] >> (i % 8) & 1 == 1).collect();
    if order == BitOrder::Msb {
        bits.reverse();
    }
    Ok(bits)
}

/// The bits' number as exactly ⌈n/4⌉ hexadecimal digits in lower case.
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
    fn digits_are_exact_where_nothing_else_is_said() {
        let error = |text, width| parse(text, width, BitOrder::Lsb).unwrap_err().to_string();
        assert_eq!(error("123", 9 + 4), "found 3 hexadecimal digits, expected 4 for 13 bits");
        assert_eq!(error("1", 0), "found 1 hexadecimal digits, expected 0 for 0 bits");
        assert_eq!(error("0y1", 9), "found 'y' as digit 2 from the left, expected 0-9 or a-f");
        assert_eq!(error("é", 3), "found 'é' as digit 1 from the left, expected 0-9 or a-f");
        assert_eq!(error("4f", 6), "found a number of more than 6 bits");
        assert_eq!(parse("", 0, BitOrder::Msb), Ok(vec![]));
        assert_eq!(parse("1C", 5, BitOrder::Lsb), Ok(vec![false, false, true, true, true]));
        assert_eq!(parse("1c", 5, BitOrder::Msb), Ok(vec![true, true, true, false, false]));
    }

    #[test]
    fn other_forms_say_what_they_are() {
        let value = |text, width| number(text, width).map(|bytes| bytes.to_vec());
        for text in ["0000002a", "0x2a", "0X2A", "0x000000000000002a", "dec:42", "dec:0042", " dec:42\n"] {
            assert_eq!(value(text, 32), Ok(vec![42, 0, 0, 0]), "{text}");
        }
        // Without the prefix's colon, the letters are hexadecimal digits.
        assert_eq!(value("dec1", 16), Ok(vec![0xc1, 0xde]));
        assert_eq!(value("42", 8), Ok(vec![0x42]));
        assert_eq!((value("dec:255", 8), value("0xff", 8)), (Ok(vec![255]), Ok(vec![255])));
        assert_eq!((value("dec:0", 0), value("0x0", 0)), (Ok(vec![]), Ok(vec![])));
        let most = format!("dec:{}", u128::MAX);
        assert_eq!(value(&most, 128), Ok(vec![255; 16]));
        for (text, width) in
            [("dec:256", 8), ("0x100", 8), ("0x20", 5), ("dec:32", 5), (&most, 127), ("dec:1", 0)]
        {
            assert_eq!(value(text, width), Err(HexError::TooLarge { width }), "{text}");
        }
        assert_eq!(value("dec:", 8), Err(HexError::Empty { prefix: "dec:" }));
        assert_eq!(value("0x", 8), Err(HexError::Empty { prefix: "0x" }));
        assert_eq!(value("dec:1", 1 << 20), Err(HexError::Wide { width: 1 << 20 }));
        for text in ["dec:-1", "dec:+1", "dec:1a", "dec: 1", "dec:1_0", "0x-1", "0x0x1", "-0x1"] {
            let error = value(text, 16).unwrap_err();
            assert!(!error.discreet().contains('\''), "{text}: what was found is not repeated");
        }
    }

    proptest! {
        #[test]
        fn numbers_come_back(bits in proptest::collection::vec(any::<bool>(), 0..70), lsb in any::<bool>()) {
            let order = if lsb { BitOrder::Lsb } else { BitOrder::Msb };
            let text = format(&bits, order);
            prop_assert_eq!(text.len(), bits.len().div_ceil(4));
            prop_assert_eq!(&parse(&text, bits.len(), order).unwrap(), &bits);
            if !bits.is_empty() {
                prop_assert_eq!(&parse(&format!("0x{text}"), bits.len(), order).unwrap(), &bits);
                let number = u128::from_str_radix(&text, 16).unwrap();
                prop_assert_eq!(&parse(&format!("dec:{number}"), bits.len(), order).unwrap(), &bits);
            }
        }
    }
}
