//! Reads and writes NumPy's array files, format 1.0 to 3.0. Numbers of any width are read as floats
//! of 32 bits, and floats are written.
//!
//! The format is that of NumPy's `numpy.lib.format`. Elements are stored consecutively, in the
//! order of rows or of columns. Numbers of either byte order are read.

use crate::{half, zip};
use std::fmt;

const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// LOCAL: the largest length of a header.
const LONGEST: usize = 1 << 16;

/// The error of bytes that are not an array of numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NpyError {
    /// The cause, as a clause.
    pub cause: String,
    /// The remedy, as a clause.
    pub remedy: &'static str,
}

impl fmt::Display for NpyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; {}", self.cause, self.remedy)
    }
}

impl std::error::Error for NpyError {}

fn wrong(cause: impl Into<String>) -> NpyError {
    NpyError { cause: cause.into(), remedy: "save it with numpy.save" }
}

fn no_number(cause: impl Into<String>) -> NpyError {
    NpyError { cause: cause.into(), remedy: "save it as numbers: array.astype(\"float32\")" }
}

/// The error of bytes that are not an array. It names their format if that is known.
fn other(bytes: &[u8]) -> NpyError {
    let named = |cause: String, remedy| NpyError { cause, remedy };
    match bytes {
        [b'P', b'K', 3, 4, ..] => match zip::first_name(bytes) {
            Some(name) if name.ends_with(b".npy") => {
                let array = String::from_utf8_lossy(&name[..name.len() - 4]);
                named(
                    format!("it is an archive of arrays (.npz), the first of which is called {array:?}"),
                    "save one array: numpy.save(\"x.npy\", numpy.load(\"x.npz\")[\"NAME\"])",
                )
            }
            _ => {
                named("it is a ZIP archive".to_owned(), "unpack it, and name the array's file that is in it")
            }
        },
        [0x80, 2..=5, ..] => {
            named("it is a Python pickle, which nobody should load".to_owned(), "save it with numpy.save")
        }
        _ if bytes.len() > 1
            && bytes.iter().take(512).all(|b| b.is_ascii_graphic() || b.is_ascii_whitespace()) =>
        {
            named(
                "it is text".to_owned(),
                "save its numbers as an array: numpy.save(\"x.npy\", numpy.loadtxt(\"x.csv\", delimiter=\",\"))",
            )
        }
        _ => wrong("it does not begin as one does"),
    }
}

/// Whether bytes begin like an array.
#[must_use]
pub fn is_array(bytes: &[u8]) -> bool {
    bytes.starts_with(MAGIC)
}

/// Reads an array: the lengths of its axes, and its elements in the order of rows.
///
/// # Errors
/// The bytes are not an array, or its elements are not numbers.
pub fn read(bytes: &[u8]) -> Result<(Vec<usize>, Vec<f32>), NpyError> {
    let array = NpyArray::parse(bytes)?;
    let numbers: Option<Vec<f32>> = (0..array.len()).map(|at| Some(array.number(at)?.single())).collect();
    let numbers = numbers.ok_or_else(|| array.no_number())?;
    Ok((array.lengths, numbers))
}

/// A number of an array. Its text is that of NumPy, without an exponent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum NpyNumber {
    /// A whole number. A truth value is 0 or 1.
    Whole(i128),
    /// A float of at most 32 bits.
    Single(f32),
    /// A float of 64 bits.
    Double(f64),
}

impl NpyNumber {
    fn single(self) -> f32 {
        match self {
            NpyNumber::Whole(n) => n as f32,
            NpyNumber::Single(x) => x,
            NpyNumber::Double(x) => x as f32,
        }
    }
}

impl fmt::Display for NpyNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            NpyNumber::Whole(n) => n.fmt(f),
            NpyNumber::Single(x) => x.fmt(f),
            NpyNumber::Double(x) => x.fmt(f),
        }
    }
}

/// An array in the bytes of its file.
pub struct NpyArray<'a> {
    /// The lengths of its axes.
    pub lengths: Vec<usize>,
    /// The type of its elements, such as `<f4`.
    kind: &'a str,
    width: usize,
    /// Whether elements are stored in the order of columns.
    columns: bool,
    data: &'a [u8],
}

impl<'a> NpyArray<'a> {
    /// Parses the array of a file.
    ///
    /// # Errors
    /// The bytes are not an array.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, NpyError> {
        let rest = bytes.strip_prefix(MAGIC).ok_or_else(|| other(bytes))?;
        let (length, rest) = match rest {
            [1, _, low, high, rest @ ..] => (usize::from(u16::from_le_bytes([*low, *high])), rest),
            [2 | 3, _, a, b, c, d, rest @ ..] => (u32::from_le_bytes([*a, *b, *c, *d]) as usize, rest),
            _ => return Err(wrong("it is of another version than 1, 2 and 3")),
        };
        if length > LONGEST {
            return Err(wrong("its header is longer than 64 KiB"));
        }
        let (header, data) =
            rest.split_at_checked(length).ok_or_else(|| wrong("it ends within its header"))?;
        let header = std::str::from_utf8(header).map_err(|_| wrong("its header is not text"))?;
        let kind = quoted(value(header, "descr")?)?;
        if !matches!(kind.get(1..2), Some("b" | "f" | "i" | "u")) {
            return Err(no_number(format!("its elements are {kind:?}")));
        }
        let columns = value(header, "fortran_order")?.starts_with("True");
        let lengths = shape(value(header, "shape")?)?;
        let count = lengths.iter().try_fold(1usize, |n, l| n.checked_mul(*l));
        let width = kind.get(2..).and_then(|n| n.parse::<usize>().ok()).filter(|n| (1..=8).contains(n));
        let Some(width) = width else { return Err(no_number(format!("its elements are {kind:?}"))) };
        let Some(count) = count else {
            return Err(wrong(format!("its elements are {kind:?} along {lengths:?}")));
        };
        if count.checked_mul(width) != Some(data.len()) {
            let cause = format!("it has {} bytes for {count} elements of {width} bytes each", data.len());
            return Err(wrong(cause));
        }
        Ok(Self { lengths, kind, width, columns, data })
    }

    /// The number of its elements.
    #[must_use]
    pub fn len(&self) -> usize {
        self.data.len() / self.width
    }

    /// Whether it has no elements.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.data.is_empty()
    }

    /// The element at this place in the order of rows; `None` if its type is not numeric.
    #[must_use]
    pub fn number(&self, at: usize) -> Option<NpyNumber> {
        let at = if self.columns { self.by_columns(at) } else { at };
        number(self.kind, self.data.get(at * self.width..)?.get(..self.width)?)
    }

    /// The error of elements that are not numbers.
    #[must_use]
    pub fn no_number(&self) -> NpyError {
        no_number(format!("its elements are {:?}", self.kind))
    }

    /// Converts the place of an element from the order of rows to the order of columns.
    fn by_columns(&self, mut at: usize) -> usize {
        // The last axis varies fastest in `at`, and the first axis in the file's order.
        let coordinates = self.lengths.iter().rev().map(|n| {
            let along = at % n;
            at /= n;
            (along, *n)
        });
        let coordinates: Vec<_> = coordinates.collect();
        coordinates.iter().fold(0, |place, (along, n)| place * n + along)
    }
}

/// Writes an array as floats of 32 bits.
#[must_use]
pub fn write(lengths: &[usize], numbers: &[f32]) -> Vec<u8> {
    written("<f4", lengths, numbers.iter().flat_map(|x| x.to_le_bytes()))
}

/// Writes whole numbers as integers of 64 bits.
#[must_use]
pub fn write_whole(lengths: &[usize], numbers: &[f32]) -> Vec<u8> {
    written("<i8", lengths, numbers.iter().flat_map(|x| (*x as i64).to_le_bytes()))
}

/// Writes consecutive elements of a type such as `<i4`.
pub fn written(kind: &str, lengths: &[usize], data: impl Iterator<Item = u8>) -> Vec<u8> {
    let shape: String = lengths.iter().map(|n| format!("{n}, ")).collect();
    let shape = if lengths.len() == 1 { shape.trim_end() } else { shape.trim_end_matches(", ") };
    let mut header = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': ({shape}), }}");
    // The elements begin at a multiple of 64 bytes.
    let whole = (MAGIC.len() + 4 + header.len() + 1).next_multiple_of(64);
    header.extend(std::iter::repeat_n(' ', whole - MAGIC.len() - 4 - header.len() - 1));
    header.push('\n');
    let mut out = MAGIC.to_vec();
    out.extend([1, 0]);
    out.extend((header.len() as u16).to_le_bytes());
    out.extend(header.bytes());
    out.extend(data);
    out
}

/// The text after a key of the header's dictionary.
fn value<'a>(header: &'a str, key: &str) -> Result<&'a str, NpyError> {
    let missing = || wrong(format!("its header has no {key}"));
    let quotes = [format!("'{key}'"), format!("\"{key}\"")];
    let behind = quotes.iter().find_map(|key| header.split_once(&key[..])).ok_or_else(missing)?.1;
    Ok(behind.trim_start().strip_prefix(':').ok_or_else(missing)?.trim_start())
}

fn quoted(text: &str) -> Result<&str, NpyError> {
    let quote = text.chars().next().filter(|c| ['\'', '"'].contains(c));
    let inner = quote.and_then(|quote| text[1..].split(quote).next());
    inner.ok_or_else(|| no_number("its elements are records"))
}

fn shape(text: &str) -> Result<Vec<usize>, NpyError> {
    let inner = text.strip_prefix('(').and_then(|text| text.split(')').next());
    let inner = inner.ok_or_else(|| wrong("its shape is no tuple"))?;
    let parts = inner.split(',').map(str::trim).filter(|part| !part.is_empty());
    let lengths: Result<Vec<usize>, _> = parts.map(str::parse).collect();
    match lengths {
        Ok(lengths) if lengths.len() <= 8 => Ok(lengths),
        _ => Err(wrong(format!("its shape is ({inner})"))),
    }
}

/// Reads a number of a type such as `<f4`; `None` if the type is not numeric.
fn number(kind: &str, bytes: &[u8]) -> Option<NpyNumber> {
    let mut little = [0; 8];
    little[..bytes.len()].copy_from_slice(bytes);
    if kind.starts_with('>') {
        little[..bytes.len()].reverse();
    }
    let whole = u64::from_le_bytes(little);
    let unused = 64 - 8 * bytes.len() as u32;
    let [a, b, c, d, ..] = little;
    Some(match (kind.get(1..2)?, bytes.len()) {
        ("f", 2) => NpyNumber::Single(half(whole as u16)),
        ("f", 4) => NpyNumber::Single(f32::from_le_bytes([a, b, c, d])),
        ("f", 8) => NpyNumber::Double(f64::from_bits(whole)),
        ("u" | "b", 1) | ("u", 2 | 4 | 8) => NpyNumber::Whole(whole.into()),
        ("i", 1 | 2 | 4 | 8) => NpyNumber::Whole(((whole << unused).cast_signed() >> unused).into()),
        _ => return None,
    })
}
