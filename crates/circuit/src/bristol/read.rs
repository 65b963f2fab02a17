//! Reads circuits line by line.

use super::{Format, gate, header::Header, lower::Gathered};
use crate::Circuit;
use std::io::{self, BufRead, Read};

/// The limit on a line's bytes; a MAND of forty thousand gates fits.
pub const MAX_LINE: usize = 1 << 20;
/// The number of wires that a file may have regardless of its gates.
const FREE_WIRES: u64 = 1 << 20;
/// The number of wires that a file may have in addition for each gate.
const WIRES_PER_GATE: u64 = 64;

/// A malformed place in a file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: found {found}, expected {expected}")]
pub struct BristolError {
    /// The line, counted from 1. If the file ends too early, the line that is missing.
    pub line: u64,
    /// The text at that place, shortened.
    pub found: String,
    /// A description of the right text.
    pub expected: String,
}

/// The reason why a circuit could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file is malformed.
    #[error(transparent)]
    Malformed(#[from] BristolError),
    /// The bytes could not be read.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Reads a circuit in either format; the third line that is not blank tells which one. Blank lines
/// and comments, from `#` or `//` to the end of a line, may appear anywhere. The header counts a
/// MAND as one gate or as its ANDs; it becomes ANDs. OR, NAND, NOR and XNOR become XORs, ANDs and
/// INVs, each with at most one AND, with new wires before the outputs.
///
/// Memory grows with the bytes read, not with a header's claims: 16 bytes a gate (48 for OR, NAND,
/// NOR, XNOR) and, where wires are written far apart, 0.5 KiB a gate, on top of 9 MiB. Numbers are
/// below 2^32, lines have at most [`MAX_LINE`] bytes, and there are at most 2^20 wires plus 64 for
/// each gate.
///
/// # Errors
/// The first fault of the file, or the error of `input`.
pub fn read(input: impl BufRead) -> Result<(Circuit, Format), ReadError> {
    let mut lines = Lines { input, number: 0, buffer: vec![] };
    let (header, first_gate) = Header::read(&mut lines)?;
    let Header { gates: count, wires, inputs, outputs, format, line: header_line } = header;
    let (input_bits, output_bits): (usize, usize) = (inputs.iter().sum(), outputs.iter().sum());
    let mut circuit = Gathered::new(input_bits, wires, count.min(1 << 12) as usize);
    let mut next = first_gate;
    // The number of gates so far if each AND of a MAND is one.
    let mut single = 0u64;
    for k in 0..count {
        let line = match next.take() {
            Some(line) => line,
            None => match lines.next()? {
                Some(line) => line,
                // Some tools count the ANDs of a MAND in the header.
                None if single == u64::from(count) => break,
                None => return Err(lines.ended(format!("gate {} of {count}", k + 1)).into()),
            },
        };
        single += gate::read(&line, &mut circuit)?;
    }
    let surplus = match next {
        Some(line) => Some(line),
        None => lines.next()?,
    };
    if let Some(line) = surplus {
        return Err(line.error(format!("the end of the file after {count} gates")).into());
    }
    let gates = circuit.gates();
    let most = FREE_WIRES + WIRES_PER_GATE * gates as u64;
    if u64::from(wires) > most {
        let found = format!("{wires} wires");
        let expected = format!("at most {most} wires for {gates} gates");
        return Err(BristolError { line: header_line, found, expected }.into());
    }
    if let Some(wire) = circuit.missing(output_bits) {
        return Err(lines.ended(format!("a gate that writes wire {wire}, an output")).into());
    }
    let circuit = circuit.circuit(inputs, outputs).ok_or_else(|| gate::too_many(header_line))?;
    Ok((circuit, format))
}

/// Lines that are not blank, with their numbers.
pub(super) struct Lines<R> {
    input: R,
    /// The number of the last line that was read, from 1; 0 before the first.
    number: u64,
    buffer: Vec<u8>,
}

impl<R: BufRead> Lines<R> {
    /// The next line that is not blank; `None` at the end of the file.
    ///
    /// # Errors
    /// A line has more than [`MAX_LINE`] bytes, or the input fails.
    pub(super) fn next(&mut self) -> Result<Option<FileLine>, ReadError> {
        loop {
            self.buffer.clear();
            (&mut self.input).take(MAX_LINE as u64 + 1).read_until(b'\n', &mut self.buffer)?;
            if self.buffer.is_empty() {
                return Ok(None);
            }
            self.number += 1;
            if self.buffer.len() > MAX_LINE {
                let found = format!("a line of more than {MAX_LINE} bytes");
                let expected = "a shorter line".to_owned();
                return Err(BristolError { line: self.number, found, expected }.into());
            }
            // The byte order mark with which some editors begin UTF-8 files is no part of the text.
            let marked = if self.number == 1 { self.buffer.strip_prefix(b"\xef\xbb\xbf") } else { None };
            let line = without_comment(marked.unwrap_or(&self.buffer));
            if !line.trim_ascii().is_empty() {
                // Bytes that are not text become replacement characters, which no word of the
                // format contains.
                let text = String::from_utf8_lossy(line).into_owned();
                return Ok(Some(FileLine { number: self.number, text }));
            }
        }
    }

    /// The error of a file that ends where `expected` should be.
    pub(super) fn ended(&self, expected: String) -> BristolError {
        BristolError { line: self.number + 1, found: "the end of the file".to_owned(), expected }
    }
}

/// A line up to the comment in it. No word of either format contains `#` or `/`.
fn without_comment(line: &[u8]) -> &[u8] {
    let begins = |at: &usize| line[*at] == b'#' || line[*at..].starts_with(b"//");
    &line[..(0..line.len()).find(begins).unwrap_or(line.len())]
}

/// A line of the file.
pub(super) struct FileLine {
    pub(super) number: u64,
    pub(super) text: String,
}

impl FileLine {
    /// The line's words, without the blanks between them.
    pub(super) fn words(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.text.split_ascii_whitespace()
    }

    /// The line's numbers, if it has nothing else.
    pub(super) fn numbers(&self) -> Option<Vec<u32>> {
        self.words().map(number).collect()
    }

    /// The error of a line that is not `expected`.
    pub(super) fn error(&self, expected: impl Into<String>) -> BristolError {
        BristolError { line: self.number, found: quote(&self.text), expected: expected.into() }
    }

    /// The error of a part of the line, `found`, that is not `expected`.
    pub(super) fn error_at(&self, found: impl Into<String>, expected: impl Into<String>) -> BristolError {
        BristolError { line: self.number, found: found.into(), expected: expected.into() }
    }
}

/// A number below 2^32, of digits only.
pub(super) fn number(word: &str) -> Option<u32> {
    if word.bytes().all(|b| b.is_ascii_digit()) { word.parse().ok() } else { None }
}

/// Text from a file for a message: one line of at most 60 characters, some of them escaped, without
/// characters that move a terminal's cursor.
pub(super) fn quote(text: &str) -> String {
    const MOST: usize = 60;
    let words: Vec<&str> = text.split_ascii_whitespace().take(MOST).collect();
    let text = words.join(" ");
    let short: String = text.chars().take(MOST).flat_map(char::escape_debug).collect();
    if text.chars().count() > MOST { format!("`{short}…`") } else { format!("`{short}`") }
}
