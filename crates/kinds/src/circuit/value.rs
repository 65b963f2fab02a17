//! Values in the forms of people and files, and in the form of wires.
//!
//! ```text
//! lsb   wire i is bit i of the number; a record is ⌈width/8⌉ bytes, least significant first
//! msb   wire 0 is the number's most significant bit; a record is ⌈width/8⌉ bytes, most significant
//!       first
//! ```
//! Text is the number in both orders, as [`hushwire_circuit::text`] writes it. Wires are packed
//! like
//! [`hushwire_circuit::planes`]: wire `i` is bit `i % 8` of byte `i / 8`.

use crate::BitOrderChoice;
use hushwire_block::Wiped;
use hushwire_circuit::text;
use hushwire_fault::code;
use hushwire_files::mark;
use hushwire_session::Fault;

/// Turns a record into packed wires in place, see [`turn_back`].
pub(crate) fn turn(order: BitOrderChoice, width: usize, record: &mut [u8]) {
    if order != BitOrderChoice::Msb {
        return;
    }
    // Bit i of the number, least significant first, becomes wire width-1-i: all bits of the padded
    // bytes are reversed, then the padding is shifted out. A record is the bytes in reverse, which
    // saves one reversal.
    let pad = 8 * record.len() - width;
    // Here byte 0 is most significant; its top `pad` bits are zero. Wire order within a byte is
    // from bit 7 down.
    if pad > 0 {
        shift_up(record, pad);
    }
    for byte in record {
        *byte = byte.reverse_bits();
    }
}

/// Undoes [`turn`].
pub(crate) fn turn_back(order: BitOrderChoice, width: usize, record: &mut [u8]) {
    if order != BitOrderChoice::Msb {
        return;
    }
    for byte in record.iter_mut() {
        *byte = byte.reverse_bits();
    }
    let pad = 8 * record.len() - width;
    if pad > 0 {
        shift_down(record, pad);
    }
}

/// Shifts big-endian bytes towards the top by fewer than 8 bits.
fn shift_up(bytes: &mut [u8], by: usize) {
    for i in 0..bytes.len() {
        let below = bytes.get(i + 1).copied().unwrap_or(0);
        bytes[i] = bytes[i] << by | below >> (8 - by);
    }
}

/// Shifts big-endian bytes towards the bottom by fewer than 8 bits.
fn shift_down(bytes: &mut [u8], by: usize) {
    for i in (0..bytes.len()).rev() {
        let above = if i == 0 { 0 } else { bytes[i - 1] };
        bytes[i] = bytes[i] >> by | above << (8 - by);
    }
}

/// Tests whether the bits above the width are zero, as they must be.
pub(crate) fn fits(order: BitOrderChoice, width: usize, record: &[u8]) -> bool {
    let top = if order == BitOrderChoice::Msb { record.first() } else { record.last() };
    let pad = 8 * record.len() - width;
    top.is_none_or(|byte| pad == 0 || u16::from(*byte) >> (8 - pad) == 0)
}

/// Reads a number in any of the forms of [`text`] as a record.
pub(crate) fn from_text(
    order: BitOrderChoice,
    width: usize,
    what: &str,
    number: &str,
) -> Result<Wiped<Vec<u8>>, Fault> {
    let mut record = text::number(mark::strip_str(number), width).map_err(|e| {
        // The error does not repeat the value, which is secret.
        Fault::new(code::PLACES, format!("reading {what}"), e.discreet(), hint(width))
    })?;
    if order == BitOrderChoice::Msb {
        record.reverse();
    }
    Ok(record)
}

fn hint(width: usize) -> String {
    let digits = width.div_ceil(4);
    format!("give exactly {digits} hexadecimal digits, or fewer behind 0x, or a decimal number behind dec:")
}

/// A record as hexadecimal digits, ⌈width/4⌉ of them.
pub(crate) fn to_hex(order: BitOrderChoice, width: usize, record: &[u8]) -> String {
    let mut bytes = record.to_vec();
    if order != BitOrderChoice::Msb {
        bytes.reverse();
    }
    let digits = hex::encode(bytes);
    digits[digits.len() - width.div_ceil(4)..].to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const LSB: BitOrderChoice = BitOrderChoice::Lsb;
    const MSB: BitOrderChoice = BitOrderChoice::Msb;

    fn wires(order: BitOrderChoice, width: usize, digits: &str) -> Result<String, String> {
        let mut record = from_text(order, width, "input 0", digits).map_err(|e| e.to_string())?;
        turn(order, width, &mut record);
        Ok((0..width).map(|i| if record[i / 8] >> (i % 8) & 1 == 1 { '1' } else { '0' }).collect())
    }

    #[test]
    fn digits_are_numbers_and_wires_their_bits() {
        assert_eq!(wires(LSB, 8, "2d").as_deref(), Ok("10110100"));
        assert_eq!(wires(MSB, 8, "2d").as_deref(), Ok("00101101"));
        assert_eq!(wires(LSB, 12, "a2d").as_deref(), Ok("101101000101"));
        assert_eq!(wires(MSB, 12, "a2d").as_deref(), Ok("101000101101"));
        assert_eq!(wires(LSB, 1, "1").as_deref(), Ok("1"));
        assert_eq!(wires(MSB, 17, "10001").as_deref(), Ok("10000000000000001"));
        for (width, digits) in [(8, "2"), (8, "123"), (8, "xy"), (7, "80"), (9, "200"), (1, "2"), (8, "")] {
            for order in [LSB, MSB] {
                let error = wires(order, width, digits).err().unwrap_or_default();
                assert!(error.contains("input 0") && error.contains("exactly"), "{width} {digits}: {error}");
            }
        }
        assert!(wires(LSB, 0, "").is_ok());
        for text in ["0x2d", "dec:45", "\u{feff}2d\r\n"] {
            assert_eq!(wires(LSB, 8, text).as_deref(), Ok("10110100"), "{text}");
            assert_eq!(wires(MSB, 8, text).as_deref(), Ok("00101101"), "{text}");
        }
        let error = from_text(LSB, 8, "input 0", "dec:4z").err().map(|e| e.to_string()).unwrap_or_default();
        assert!(error.contains("digit 2") && !error.contains('z'), "{error}");
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(width in 1usize..70, seed: u128, msb: bool) {
            let order = if msb { MSB } else { LSB };
            let digits = format!("{:032x}", seed >> (128 - width));
            let digits = &digits[32 - width.div_ceil(4)..];
            let mut record = from_text(order, width, "", digits).map_err(|e| TestCaseError::fail(e.to_string()))?;
            prop_assert_eq!(to_hex(order, width, &record), digits);
            let before = record.to_vec();
            turn(order, width, &mut record);
            prop_assert!(fits(LSB, width, &record), "no wire above the width");
            turn_back(order, width, &mut record);
            prop_assert_eq!(&before, &*record);
        }
    }
}
