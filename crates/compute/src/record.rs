//! Elements for people and files: as text, and as records of bytes.
//!
//! A record has an element's ⌈bits/8⌉ bytes, least significant first. Bits above the width are
//! copies of the sign if there is one, else zeros, so an `i12` is a 16-bit integer for other
//! programs.

use crate::{
    Scalar, Tensor,
    tensor::{Literal, Unfit, mask, parse_nearest},
};
use core::fmt;
use std::borrow::Cow;

/// The error of text, or of a record, that is not an element of a scalar. It repeats the input, so
/// it must be shown only to the member that brings it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{cause}; {remedy}")]
pub struct ElementError {
    /// The text that was found, and the text that its scalar takes.
    pub cause: String,
    /// A valid way to write it.
    pub remedy: String,
}

/// The least and the greatest number of a scalar, as people write them.
struct Range(Scalar);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all = mask(self.0.bits().min(128));
        let (least, most) = if self.0.is_signed() { (all ^ (all >> 1), all >> 1) } else { (0, all) };
        write!(f, "{} to {}", Literal(self.0, least), Literal(self.0, most))
    }
}

/// The most characters of an element that a message repeats.
const SHOWN: usize = 40;

fn shown(text: &str) -> String {
    let mut all = text.chars();
    let short: String = all.by_ref().take(SHOWN).flat_map(char::escape_default).collect();
    if all.next().is_some() { format!("\"{short}…\"") } else { format!("\"{short}\"") }
}

/// The number without a plus before its digits, and with digits on both sides of its point.
fn plain(text: &str) -> Cow<'_, str> {
    let is_digit = |c: char| c.is_ascii_digit();
    let text =
        text.strip_prefix('+').filter(|rest| rest.starts_with(|c| is_digit(c) || c == '.')).unwrap_or(text);
    let text = text.strip_suffix('.').filter(|rest| rest.ends_with(is_digit)).unwrap_or(text);
    match text.trim_start_matches('-').strip_prefix('.') {
        Some(rest) if rest.starts_with(is_digit) => text.replacen('.', "0.", 1).into(),
        _ => text.into(),
    }
}

impl Scalar {
    /// The number of bytes of an element's record.
    #[must_use]
    pub const fn record(self) -> usize {
        self.bits().div_ceil(8)
    }

    /// Reads an element's text into its record. A `bool` is `true` or `false`, also in capitals, or
    /// `1` or `0`. A `bits` has hexadecimal digits after `0x`. Other elements are a decimal number,
    /// or a hexadecimal one after `0x`. A decimal for `fixed` becomes the nearest element, and the
    /// even one of two that are equally near. Returns whether it was rounded.
    ///
    /// # Errors
    /// The text is not an element.
    ///
    /// # Panics
    /// If the record does not have the length [`Scalar::record`].
    pub fn read(self, text: &str, record: &mut [u8]) -> Result<bool, ElementError> {
        assert_eq!(record.len(), self.record(), "a record of {self}");
        let text = &*plain(text);
        let parsed = match (self, text) {
            (Scalar::Bool, _) if text == "1" || text.eq_ignore_ascii_case("true") => Ok((1, false)),
            (Scalar::Bool, _) if text == "0" || text.eq_ignore_ascii_case("false") => Ok((0, false)),
            (Scalar::Bits(n), _) if n > 128 => return self.read_digits(text, record).map(|()| false),
            _ => parse_nearest(self, text),
        };
        let (element, rounded) = parsed.map_err(|unfit| self.unfit(text, unfit))?;
        let bytes = element.to_le_bytes();
        record.copy_from_slice(&bytes[..record.len()]);
        self.extend(record);
        Ok(rounded)
    }

    /// Reads the digits of a string of more than 128 bits.
    fn read_digits(self, text: &str, record: &mut [u8]) -> Result<(), ElementError> {
        let digits = text.strip_prefix("0x").filter(|digits| !digits.is_empty());
        let digits = digits.ok_or_else(|| self.unfit(text, Unfit::Form))?;
        record.fill(0);
        for (i, digit) in digits.chars().rev().enumerate() {
            let digit = digit.to_digit(16).ok_or_else(|| self.unfit(text, Unfit::Form))? as u8;
            match record.get_mut(i / 2) {
                Some(byte) => *byte |= digit << (4 * (i % 2)),
                None if digit == 0 => {}
                None => return Err(self.unfit(text, Unfit::Range)),
            }
        }
        if self.fits(record) { Ok(()) } else { Err(self.unfit(text, Unfit::Range)) }
    }

    fn unfit(self, text: &str, unfit: Unfit) -> ElementError {
        let text = if text.is_empty() { "it is empty, which".to_owned() } else { shown(text) };
        let (cause, remedy) = match (unfit, self) {
            (Unfit::Form, Scalar::Bool) => {
                (format!("{text} is no bool"), "write true, false, 1 or 0".to_owned())
            }
            (Unfit::Form, Scalar::Bits(n)) => {
                (format!("{text} is no {self}"), format!("write up to {} digits, as in 0x2a", n.div_ceil(4)))
            }
            (Unfit::Form, Scalar::Fixed { .. }) => {
                (format!("{text} is no {self}"), "write a number, as in -42 or 7.5".to_owned())
            }
            (Unfit::Form, _) => {
                (format!("{text} is no {self}"), "write a number, as in -42 or 0x2a".to_owned())
            }
            (Unfit::Range, Scalar::Bits(n)) => {
                (format!("{text} has more than {n} bits"), "declare a longer string".to_owned())
            }
            (Unfit::Range, _) => (
                format!("{text} does not fit {self}, which has {}", Range(self)),
                "declare a wider type".to_owned(),
            ),
            (Unfit::Inexact, _) => (
                format!("{text} has a fraction, and {self} has none"),
                "round it before, or declare it fixed".to_owned(),
            ),
        };
        ElementError { cause, remedy }
    }

    /// The text of a record, which [`Scalar::read`] accepts.
    ///
    /// # Panics
    /// If the record does not have the length [`Scalar::record`].
    #[must_use]
    pub fn show(self, record: &[u8]) -> String {
        assert_eq!(record.len(), self.record(), "a record of {self}");
        if let Scalar::Bits(n) = self
            && n > 128
        {
            let digits: String = record.iter().rev().map(|byte| format!("{byte:02x}")).collect();
            let digits = digits.trim_start_matches('0');
            return format!("0x{}", if digits.is_empty() { "0" } else { digits });
        }
        let mut bytes = [0; 16];
        bytes[..record.len()].copy_from_slice(record);
        Literal(self, u128::from_le_bytes(bytes) & mask(self.bits())).to_string()
    }

    /// Sets the bits above the width as a record requires.
    pub fn extend(self, record: &mut [u8]) {
        let used = self.bits() % 8;
        if let (Some(last), 1..) = (record.last_mut(), used) {
            let negative = self.is_signed() && *last >> (used - 1) & 1 == 1;
            let above = u8::MAX << used;
            *last = if negative { *last | above } else { *last & !above };
        }
    }

    /// Whether the bits above the width are as a record requires.
    #[must_use]
    pub fn fits(self, record: &[u8]) -> bool {
        let mut whole = record.last().copied();
        whole.as_mut().is_none_or(|last| {
            let before = *last;
            self.extend(core::slice::from_mut(last));
            before == *last
        })
    }
}

impl Tensor {
    /// Reads elements from their records, one after the other.
    ///
    /// # Panics
    /// If the number of records does not fit the lengths.
    #[must_use]
    pub fn from_records(scalar: Scalar, lengths: &[usize], records: &[u8]) -> Self {
        let mut tensor = Tensor::zeros(scalar, lengths);
        assert_eq!(records.len(), tensor.len() * scalar.record(), "a record for each element");
        if scalar.bits() <= 64 {
            let (record, mask) = (scalar.record(), mask(scalar.bits()) as u64);
            for (word, bytes) in tensor.words_mut().iter_mut().zip(records.chunks_exact(record)) {
                let mut whole = [0; 8];
                whole[..record].copy_from_slice(bytes);
                *word = u64::from_le_bytes(whole) & mask;
            }
            return tensor;
        }
        for (i, record) in records.chunks_exact(scalar.record()).enumerate() {
            let words = tensor.element_mut(i);
            for (word, bytes) in words.iter_mut().zip(record.chunks(8)) {
                *word = bytes.iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
            }
            let used = scalar.bits() % 64;
            if let (Some(last), 1..) = (words.last_mut(), used) {
                *last &= u64::MAX >> (64 - used);
            }
        }
        tensor
    }

    /// The records of all elements, one after the other.
    #[must_use]
    pub fn records(&self) -> Vec<u8> {
        let (scalar, record) = (self.scalar(), self.scalar().record());
        if scalar.bits() == 32 {
            // There are no bits above the width.
            let mut records = vec![0; self.len() * record];
            let all = records.as_chunks_mut().0.iter_mut().zip(self.words());
            all.for_each(|(record, word)| *record = (*word as u32).to_le_bytes());
            return records;
        }
        let mut records = Vec::with_capacity(self.len() * record);
        if scalar.bits() <= 64 {
            for word in self.words() {
                let mut whole = word.to_le_bytes();
                scalar.extend(&mut whole[..record]);
                records.extend_from_slice(&whole[..record]);
            }
            return records;
        }
        for i in 0..self.len() {
            let start = records.len();
            records.extend(self.element(i).iter().flat_map(|word| word.to_le_bytes()).take(record));
            scalar.extend(&mut records[start..]);
        }
        records
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tensor::tests::scalars;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn text_and_records_are_read_as_they_are_written(scalar in scalars(300), bytes: [u8; 40]) {
            let mut record = bytes[..scalar.record()].to_vec();
            scalar.extend(&mut record);
            prop_assert!(scalar.fits(&record));
            let mut again = vec![0x55; record.len()];
            let text = scalar.show(&record);
            prop_assert_eq!(scalar.read(&text, &mut again), Ok(false), "{} {}", scalar, text);
            prop_assert_eq!(&again, &record);
            let tensor = Tensor::from_records(scalar, &[2], &[&record[..], &record].concat());
            prop_assert_eq!(tensor.records(), [&record[..], &record].concat());
            prop_assert!(scalar.bits() > 128 || Literal(scalar, tensor.get(1)).to_string() == text);
        }
    }

    fn refused(scalar: Scalar, text: &str) -> String {
        scalar.read(text, &mut vec![0; scalar.record()]).unwrap_err().to_string()
    }

    #[test]
    fn what_is_no_element_is_named_with_the_range() {
        assert!(refused(Scalar::unsigned(8), "300").contains("\"300\" does not fit u8, which has 0 to 255"));
        assert!(refused(Scalar::unsigned(8), "-1").contains("0 to 255"));
        assert!(refused(Scalar::signed(12), "2048").contains("-2048 to 2047"));
        assert!(refused(Scalar::unsigned(8), "").contains("it is empty"));
        assert!(refused(Scalar::unsigned(8), "1.5").contains("has a fraction"));
        assert!(refused(Scalar::Fixed { bits: 16, frac: 8 }, "128").contains("does not fit"));
        assert!(refused(Scalar::Bool, "yes").contains("write true, false, 1 or 0"));
        assert!(refused(Scalar::unsigned(8), "++1").contains("is no u8"));
        assert!(refused(Scalar::unsigned(8), "+").contains("is no u8"));
        assert!(refused(Scalar::Fixed { bits: 16, frac: 8 }, ".").contains("as in -42 or 7.5"));
        assert!(refused(Scalar::Bits(200), "2a").contains("up to 50 digits"));
        assert!(refused(Scalar::Bits(130), &format!("0x4{}", "0".repeat(32))).contains("more than 130 bits"));
        assert!(refused(Scalar::Bits(130), "0xä").contains("is no bits(130)"));
        let long = refused(Scalar::unsigned(8), &"9".repeat(100));
        assert!(long.contains(&format!("\"{}…\"", "9".repeat(SHOWN))), "{long}");
    }

    #[test]
    fn decimals_become_the_nearest_element() {
        let (fixed, mut record) = (Scalar::Fixed { bits: 16, frac: 8 }, [0; 2]);
        for (text, shown, rounded) in [
            ("0.1", "0.1015625", true),
            ("-0.1", "-0.1015625", true),
            ("0.25", "0.25", false),
            ("-3", "-3.0", false),
            ("+3", "3.0", false),
            (".5", "0.5", false),
            ("-3.", "-3.0", false),
            ("-.5e1", "-5.0", false),
        ] {
            assert_eq!(fixed.read(text, &mut record), Ok(rounded), "{text}");
            assert_eq!(fixed.show(&record), shown, "{text}");
        }
    }

    #[test]
    fn truth_values_are_read_as_other_programs_write_them() {
        for (text, truth) in [("True", 1), ("FALSE", 0), ("true", 1), ("1", 1)] {
            let mut record = [7];
            assert_eq!((Scalar::Bool.read(text, &mut record), record), (Ok(false), [truth]), "{text}");
        }
    }

    #[test]
    fn records_of_odd_widths_are_those_of_wider_integers() {
        let (i12, mut record) = (Scalar::signed(12), [0; 2]);
        i12.read("-2", &mut record).unwrap();
        assert_eq!(record, (-2i16).to_le_bytes());
        assert!(!i12.fits(&0x0fff_u16.to_le_bytes()), "a number above the greatest");
        assert_eq!(i12.show(&record), "-2");
        let mut record = [0; 25];
        Scalar::Bits(200).read("0x0abc", &mut record).unwrap();
        assert_eq!(Scalar::Bits(200).show(&record), "0xabc");
        assert_eq!(Scalar::Bits(200).show(&[0; 25]), "0x0");
    }
}
