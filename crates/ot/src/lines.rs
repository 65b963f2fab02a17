//! Reads and writes messages and choices as lines of text.

use std::io::{self, Write};

use hushwire_block::Block;
use zeroize::Zeroizing;

/// The number, from 0, of a line that has another form. The line's text is not included, because it
/// is secret.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BadLine(pub usize);

/// AGREEMENT: the number of hexadecimal digits of a message.
pub const DIGITS: usize = 32;

/// A number of up to 32 hexadecimal digits.
fn number(digits: &str) -> Option<Block> {
    let good = (1..=DIGITS).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_hexdigit());
    u128::from_str_radix(digits, 16).ok().filter(|_| good).map(Block::from_u128)
}

/// Reads a sender's pairs, one in each line: two numbers of up to 32 hexadecimal digits.
///
/// # Errors
/// The first line that is not a pair.
pub fn messages(text: &str) -> Result<Zeroizing<Vec<[Block; 2]>>, BadLine> {
    // The buffer has its final capacity from the start, so that no part of it is left behind.
    let mut pairs = Zeroizing::new(Vec::with_capacity(text.lines().count()));
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_ascii_whitespace().map(number);
        match (words.next(), words.next(), words.next()) {
            (Some(Some(zero)), Some(Some(one)), None) => pairs.push([zero, one]),
            _ => return Err(BadLine(i)),
        }
    }
    Ok(pairs)
}

/// A receiver's choices, packed: bit i of the string is bit i % 8 of byte i / 8.
pub struct Choices {
    /// The bits; those after the last choice are 0.
    pub bits: Zeroizing<Vec<u8>>,
    /// The number of choices.
    pub count: usize,
}

/// Reads a receiver's choices, one in each line: 0 or 1.
///
/// # Errors
/// The first line that is not a choice.
pub fn choices(text: &str) -> Result<Choices, BadLine> {
    let count = text.lines().count();
    let mut bits = Zeroizing::new(vec![0; count.div_ceil(8)]);
    for (i, line) in text.lines().enumerate() {
        match line.trim_ascii().as_bytes() {
            // The two digits differ only in the last bit.
            [digit] if digit & !1 == b'0' => bits[i / 8] |= (digit & 1) << (i % 8),
            _ => return Err(BadLine(i)),
        }
    }
    Ok(Choices { bits, count })
}

/// Writes messages, one in each line, as 32 hexadecimal digits.
///
/// # Errors
/// The writer's error.
pub fn write(writer: &mut dyn Write, messages: &[Block]) -> io::Result<()> {
    messages.iter().try_for_each(|message| writeln!(writer, "{:032x}", message.to_u128()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pairs() {
        let big = "f".repeat(32);
        let text = format!("0 1\n  Ab\t{big} \r\n00000000000000000000000000000007 2");
        let wanted = [[0, 1], [0xab, u128::MAX], [7, 2]].map(|pair| pair.map(Block::from_u128));
        assert_eq!(messages(&text).map(|pairs| pairs.to_vec()), Ok(wanted.to_vec()));
        for (text, line) in [
            ("1 2\n3", 1),
            ("1 2 3", 0),
            ("1 2\n\n3 4", 1),
            ("1 g", 0),
            ("+1 2", 0),
            ("0x1 2", 0),
            (&format!("1 0{big}"), 0),
        ] {
            assert_eq!(messages(text).map(|pairs| pairs.to_vec()), Err(BadLine(line)), "{text:?}");
        }
    }

    #[test]
    fn packed_choices() {
        let read = choices("1\n0\n1 \r\n1\n0\n0\n0\n0\n1\n");
        assert_eq!(read.map(|read| (read.bits.to_vec(), read.count)), Ok((vec![0b1101, 1], 9)));
        for (text, line) in [("2", 0), ("1 0", 0), ("01", 0), ("1\n\n", 1), ("/", 0)] {
            assert_eq!(choices(text).err(), Some(BadLine(line)), "{text:?}");
        }
    }

    #[test]
    fn written_messages_are_read_as_they_were() {
        let mut text = Vec::new();
        write(&mut text, &[Block::from_u128(0xabc)]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(String::from_utf8(text), Ok(format!("{:032x}\n", 0xabc)));
    }
}
