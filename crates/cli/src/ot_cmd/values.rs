//! The files: pairs of messages, choices, and what was chosen.

use crate::{error::Error, files::is_stream};
use hushwire_block::Block;
use hushwire_circuit::mark;
use hushwire_job::NewFile;
use std::{
    fs,
    io::{self, BufWriter, Write},
    path::Path,
};
use zeroize::Zeroizing;

/// LOCAL: digits of a message.
const DIGITS: usize = 32;

/// A file's lines, with their numbers from 0; a mark in front is none of them.
fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    mark::strip_str(text).lines().enumerate()
}

/// Messages, wiped when dropped.
pub(super) type Blocks = Zeroizing<Vec<Block>>;

fn text(path: &Path) -> Result<Zeroizing<String>, Error> {
    let text = if is_stream(path) { io::read_to_string(io::stdin()) } else { fs::read_to_string(path) };
    let text = text.map(Zeroizing::new).map_err(|e| match e.kind() {
        io::ErrorKind::InvalidData => Error::file("use", path, "it is not text", "write numbers in lines"),
        _ => Error::io("read", path, &e),
    })?;
    if mark::strip_str(&text).is_empty() {
        return Err(Error::file("use", path, "it is empty", "write a line for each OT"));
    }
    Ok(text)
}

fn wrong(path: &Path, line: usize, remedy: &str) -> Error {
    // Not what stands there: it is secret.
    Error::file("use", path, format!("line {} does not fit", line + 1), remedy)
}

/// A number of up to 32 hexadecimal digits.
fn number(digits: &str) -> Option<Block> {
    let good = (1..=DIGITS).contains(&digits.len()) && digits.bytes().all(|c| c.is_ascii_hexdigit());
    u128::from_str_radix(digits, 16).ok().filter(|_| good).map(Block::from_u128)
}

/// The sender's pairs.
pub(super) fn messages(path: &Path) -> Result<Zeroizing<Vec<[Block; 2]>>, Error> {
    let text = text(path)?;
    // As long as it becomes, so that no part of it is left behind.
    let mut pairs = Zeroizing::new(Vec::with_capacity(lines(&text).count()));
    for (i, line) in lines(&text) {
        let mut words = line.split_ascii_whitespace().map(number);
        match (words.next(), words.next(), words.next()) {
            (Some(Some(zero)), Some(Some(one)), None) => pairs.push([zero, one]),
            _ => return Err(wrong(path, i, "write two numbers of up to 32 hexadecimal digits each")),
        }
    }
    Ok(pairs)
}

/// The receiver's choices, packed: bit i of the string is bit i % 8 of byte i / 8.
pub(super) struct Choices {
    pub(super) bits: Zeroizing<Vec<u8>>,
    count: usize,
}

impl Choices {
    pub(super) fn count(&self) -> usize {
        self.count
    }
}

/// Reads the receiver's choices.
pub(super) fn choices(path: &Path) -> Result<Choices, Error> {
    let text = text(path)?;
    let count = lines(&text).count();
    let mut bits = Zeroizing::new(vec![0; count.div_ceil(8)]);
    for (i, line) in lines(&text) {
        match line.trim_ascii().as_bytes() {
            // The digits differ in the last bit alone.
            [digit] if digit & !1 == b'0' => bits[i / 8] |= (digit & 1) << (i % 8),
            _ => return Err(wrong(path, i, "write 0 or 1")),
        }
    }
    Ok(Choices { bits, count })
}

/// Puts all messages on the disk, still without a name.
pub(super) fn put(out: &NewFile, messages: &[Block]) -> Result<(), Error> {
    out.reserve((messages.len() * (DIGITS + 1)) as u64)?;
    let mut writer = BufWriter::new(out.writer()?);
    let mut put = || -> io::Result<()> {
        for message in messages {
            writeln!(writer, "{:032x}", message.to_u128())?;
        }
        writer.flush()
    };
    put().map_err(|e| Error::from(out.error(&e)))?;
    Ok(out.sync()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn in_file<T>(text: &str, read: impl Fn(&Path) -> Result<T, Error>) -> Result<T, Error> {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join("x");
        fs::write(&path, text).unwrap_or_else(|e| panic!("{e}"));
        read(&path)
    }

    #[test]
    fn pairs() {
        let big = "f".repeat(32);
        let text = format!("0 1\n  Ab\t{big} \r\n00000000000000000000000000000007 2");
        let pairs = in_file(&text, messages).unwrap_or_else(|e| panic!("{e}"));
        let wanted = [[0, 1], [0xab, u128::MAX], [7, 2]].map(|pair| pair.map(Block::from_u128));
        assert_eq!(pairs[..], wanted);
        for (text, line) in [
            ("1 2\n3", 2),
            ("1 2 3", 1),
            ("1 2\n\n3 4", 2),
            ("1 g", 1),
            ("+1 2", 1),
            ("0x1 2", 1),
            (&format!("1 0{big}"), 1),
        ] {
            let error = in_file(text, messages).err().map(|e| e.to_string()).unwrap_or_default();
            assert!(error.contains(&format!("line {line} ")), "{text:?}: {error}");
        }
        let marked = in_file("\u{feff}0 1\r\n", messages).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(marked[..], [[0, 1].map(Block::from_u128)]);
        assert!(in_file("", messages).is_err() && in_file("\u{feff}", messages).is_err());
        let error = in_file("5ec2e7 5ec2e7 5ec2e7", messages).err().map(|e| e.to_string());
        assert!(error.is_some_and(|e| !e.contains("5ec2e7")), "messages are secret");
    }

    #[test]
    fn packed_choices() {
        let lines = "1\n0\n1 \r\n1\n0\n0\n0\n0\n1\n";
        let read = in_file(lines, choices).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((&read.bits[..], read.count()), (&[0b1101, 1][..], 9));
        let marked = in_file(&format!("\u{feff}{lines}"), choices).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!((&marked.bits, marked.count()), (&read.bits, 9));
        for text in ["2", "1 0", "", "01", "1\n\n", "/"] {
            assert!(in_file(text, choices).is_err(), "{text:?}");
        }
    }

    #[test]
    fn a_result_has_no_name_before_it_is_committed() {
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join("out");
        let out = NewFile::create(&path, 0o600).unwrap_or_else(|e| panic!("{e}"));
        put(&out, &[Block::from_u128(0xabc)]).unwrap_or_else(|e| panic!("{e}"));
        assert!(!path.exists());
        out.commit().unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(fs::read_to_string(&path).ok(), Some(format!("{:032x}\n", 0xabc)));
    }
}
