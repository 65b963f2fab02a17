//! Reads the values of a column in one record batch. A batch has a header with the places of its
//! buffers, and the buffers themselves, which may be compressed. Every place is checked against the
//! bytes that exist.

use super::{
    Broken,
    flat::FlatTable,
    schema::{ArrowField, ArrowForm, Extent},
};
use crate::{
    half,
    parquet::{Record, fields},
};
use std::{
    fs::File,
    io::{self, Read},
    os::unix::fs::FileExt,
};

/// The reason why a batch or a value cannot be read.
pub(super) enum Trouble {
    /// The operating system refuses to read the file.
    Io(io::Error),
    Broken(Broken),
    /// A value has no text. The cause and the remedy follow.
    Odd(fields::Odd),
}

impl From<Broken> for Trouble {
    fn from(what: Broken) -> Self {
        Trouble::Broken(what)
    }
}

const SHORT: Broken = "a column of it has fewer values than rows";
const COMPRESSED: Broken = "its compressed bytes are damaged, or end early";

/// The bytes of a message after its header.
pub(super) struct Body<'f> {
    pub(super) file: &'f File,
    pub(super) at: u64,
    pub(super) length: u64,
}

/// A record batch: its header, and the places of its buffers.
pub(super) struct RecordBatch<'f, 'b> {
    header: FlatTable<'b>,
    body: Body<'f>,
    pub(super) rows: u64,
}

impl<'f, 'b> RecordBatch<'f, 'b> {
    pub(super) fn new(header: FlatTable<'b>, body: Body<'f>) -> Result<Self, Broken> {
        let rows = u64::try_from(header.i64(0)?).map_err(|_| "a batch has fewer rows than none")?;
        Ok(Self { header, body, rows })
    }

    /// Loads the column `at` of `fields`.
    pub(super) fn column(&self, fields: &[ArrowField], at: usize) -> Result<Column, Trouble> {
        let mut before = Extent::default();
        let further = self.header.list(4, 8)?;
        let mut buffer_at = 0usize;
        for field in &fields[..at] {
            before.nodes += field.extent.nodes;
            buffer_at += field.extent.buffers;
            for view in before.views..before.views + field.extent.views {
                let more = usize::try_from(further.i64(view, 0)?).map_err(|_| SHORT)?;
                buffer_at = buffer_at.checked_add(more).ok_or(SHORT)?;
            }
            before.views += field.extent.views;
        }
        let field = &fields[at];
        let nodes = self.header.list(1, 16)?;
        let (length, nulls) = (nodes.i64(before.nodes, 0)?, nodes.i64(before.nodes, 8)?);
        if u64::try_from(length) != Ok(self.rows) {
            return Err(SHORT.into());
        }
        let rows = usize::try_from(self.rows).map_err(|_| SHORT)?;
        let form = match field.choice {
            Some(choice) => ArrowForm::Whole { width: choice.width, signed: choice.signed },
            None => field.form,
        };
        if form == ArrowForm::Nulls {
            return Ok(Column { form, validity: None, buffers: vec![] });
        }
        let validity = if nulls == 0 { vec![] } else { self.buffer(buffer_at)? };
        if !validity.is_empty() && validity.len() < rows.div_ceil(8) {
            return Err(SHORT.into());
        }
        let count = match form {
            ArrowForm::Text { .. } => 2,
            ArrowForm::Views => 1 + usize::try_from(further.i64(before.views, 0)?).map_err(|_| SHORT)?,
            _ => 1,
        };
        let mut buffers = vec![];
        for at in 0..count {
            buffers.push(self.buffer(buffer_at + 1 + at)?);
        }
        let needed = match form {
            ArrowForm::Nulls | ArrowForm::Unread => 0,
            ArrowForm::Bits => rows.div_ceil(8),
            ArrowForm::Whole { width, .. }
            | ArrowForm::Real(width)
            | ArrowForm::Decimal { width, .. }
            | ArrowForm::Fixed(width) => rows.checked_mul(width).ok_or(SHORT)?,
            ArrowForm::Days => rows.checked_mul(4).ok_or(SHORT)?,
            ArrowForm::DayMillis | ArrowForm::Ticks(_) => rows.checked_mul(8).ok_or(SHORT)?,
            // An empty batch may have no offsets.
            ArrowForm::Text { .. } if rows == 0 => 0,
            ArrowForm::Text { wide } => (rows + 1).checked_mul(if wide { 8 } else { 4 }).ok_or(SHORT)?,
            ArrowForm::Views => rows.checked_mul(16).ok_or(SHORT)?,
        };
        if buffers.first().map_or(0, Vec::len) < needed {
            return Err(SHORT.into());
        }
        Ok(Column { form, validity: (!validity.is_empty()).then_some(validity), buffers })
    }

    /// A buffer's bytes, decompressed.
    fn buffer(&self, at: usize) -> Result<Vec<u8>, Trouble> {
        let places = self.header.list(2, 16)?;
        let (offset, length) = (places.i64(at, 0)?, places.i64(at, 8)?);
        let outside = "a buffer of it lies outside of its message";
        let (Ok(offset), Ok(length)) = (u64::try_from(offset), u64::try_from(length)) else {
            return Err(outside.into());
        };
        if offset.checked_add(length).is_none_or(|end| end > self.body.length) {
            return Err(outside.into());
        }
        let mut bytes = vec![0; usize::try_from(length).map_err(|_| outside)?];
        self.body.file.read_exact_at(&mut bytes, self.body.at + offset).map_err(Trouble::Io)?;
        let Some(compression) = self.header.table(3)? else { return Ok(bytes) };
        if bytes.is_empty() {
            return Ok(bytes);
        }
        let (size, packed) = bytes.split_first_chunk::<8>().ok_or(COMPRESSED)?;
        let size = match i64::from_le_bytes(*size) {
            -1 => return Ok(packed.to_vec()),
            size => u64::try_from(size).map_err(|_| COMPRESSED)?,
        };
        let mut unpacked = vec![];
        let read = match compression.u8(0)? {
            0 => lz4_flex::frame::FrameDecoder::new(packed).take(size).read_to_end(&mut unpacked),
            1 => zstd::stream::read::Decoder::new(packed)
                .and_then(|decoder| decoder.take(size).read_to_end(&mut unpacked)),
            _ => return Err("it is compressed by another method than LZ4 and Zstandard".into()),
        };
        match read {
            Ok(found) if found as u64 == size => Ok(unpacked),
            _ => Err(COMPRESSED.into()),
        }
    }
}

/// The values of a column in a batch.
pub(super) struct Column {
    form: ArrowForm,
    /// A bit for each row; `None` if no row is NULL.
    validity: Option<Vec<u8>>,
    buffers: Vec<Vec<u8>>,
}

fn bit(bits: &[u8], at: usize) -> bool {
    bits.get(at / 8).is_some_and(|byte| byte >> (at % 8) & 1 == 1)
}

/// A number of up to 64 bits, signed or unsigned.
fn number(bytes: &[u8], signed: bool) -> i64 {
    let mut word = [0; 8];
    word[..bytes.len().min(8)].copy_from_slice(&bytes[..bytes.len().min(8)]);
    let unused = 64 - 8 * bytes.len().min(8) as u32;
    let word = u64::from_le_bytes(word);
    if signed { (word << unused).cast_signed() >> unused } else { word.cast_signed() }
}

impl Column {
    /// The index by which a row chooses from a dictionary; `None` for NULL.
    pub(super) fn choice(&self, row: usize) -> Result<Option<u64>, Trouble> {
        let ArrowForm::Whole { width, signed } = self.form else { return Ok(None) };
        if self.validity.as_ref().is_some_and(|bits| !bit(bits, row)) {
            return Ok(None);
        }
        let chosen = u64::try_from(number(self.value(row, width)?, signed));
        Ok(Some(chosen.map_err(|_| "a row chooses a value that its dictionary lacks")?))
    }

    fn value(&self, row: usize, width: usize) -> Result<&[u8], Broken> {
        let all = self.buffers.first().map_or(&[][..], |buffer| buffer);
        all.get(row * width..(row + 1) * width).ok_or(SHORT)
    }

    /// Appends a row's text to `out`. Returns `false` for NULL.
    pub(super) fn text(&self, row: usize, out: &mut Vec<u8>) -> Result<bool, Trouble> {
        use crate::parquet::{
            TextForm,
            fields::{bytes, number as text_of, scaled},
        };
        if self.form == ArrowForm::Nulls || self.validity.as_ref().is_some_and(|bits| !bit(bits, row)) {
            return Ok(false);
        }
        let odd = Trouble::Odd;
        match self.form {
            ArrowForm::Nulls | ArrowForm::Unread => return Ok(false),
            ArrowForm::Bits => {
                let truth = self.buffers.first().is_some_and(|bits| bit(bits, row));
                out.extend_from_slice(if truth { b"true" } else { b"false" });
            }
            ArrowForm::Whole { width, signed } => {
                let value = number(self.value(row, width)?, signed);
                // Narrower numbers fit a signed word.
                let form = if width == 8 && !signed { TextForm::Unsigned } else { TextForm::Plain };
                text_of(value, form, 64, out).map_err(odd)?;
            }
            ArrowForm::Real(width) => {
                let value = self.value(row, width)?;
                let text = match *value {
                    [a, b] => half(u16::from_le_bytes([a, b])).to_string(),
                    [a, b, c, d] => f32::from_le_bytes([a, b, c, d]).to_string(),
                    _ => f64::from_bits(number(value, true).cast_unsigned()).to_string(),
                };
                out.extend_from_slice(text.as_bytes());
            }
            ArrowForm::Decimal { width, scale } if width <= 8 => {
                scaled(number(self.value(row, width)?, true).into(), scale, out);
            }
            ArrowForm::Decimal { width, scale } => {
                let mut value = self.value(row, width)?.to_vec();
                value.reverse();
                bytes(&value, TextForm::Scaled(scale), out).map_err(odd)?;
            }
            ArrowForm::Days => {
                text_of(number(self.value(row, 4)?, true), TextForm::Days, 32, out).map_err(odd)?;
            }
            ArrowForm::DayMillis => {
                let days = number(self.value(row, 8)?, true).div_euclid(86_400_000);
                text_of(days, TextForm::Days, 64, out).map_err(odd)?;
            }
            ArrowForm::Ticks(0) => {
                let seconds = number(self.value(row, 8)?, true);
                let millis = seconds.checked_mul(1000).ok_or(odd(fields::FAR))?;
                text_of(millis, TextForm::Ticks(1), 64, out).map_err(odd)?;
            }
            ArrowForm::Ticks(unit) => {
                text_of(number(self.value(row, 8)?, true), TextForm::Ticks(unit), 64, out).map_err(odd)?;
            }
            ArrowForm::Text { wide } => {
                let width = if wide { 8 } else { 4 };
                let place = |at| -> Result<usize, Broken> {
                    usize::try_from(number(self.value(at, width)?, true)).map_err(|_| SHORT)
                };
                let (begin, end) = (place(row)?, place(row + 1)?);
                let text = self.buffers.get(1).and_then(|data| data.get(begin..end));
                out.extend_from_slice(text.ok_or("text of it lies outside of its buffer")?);
            }
            ArrowForm::Views => out.extend_from_slice(self.view(row)?),
            ArrowForm::Fixed(width) => out.extend_from_slice(self.value(row, width)?),
        }
        Ok(true)
    }

    /// The bytes of a view: its own 12 bytes, or some bytes of a buffer.
    fn view(&self, row: usize) -> Result<&[u8], Broken> {
        let view = self.value(row, 16)?;
        let at = |from: usize| number(&view[from..from + 4], false) as usize;
        let length = at(0);
        if length <= 12 {
            return Ok(&view[4..4 + length]);
        }
        let (buffer, offset) = (at(8), at(12));
        let bytes = buffer.checked_add(1).and_then(|buffer| self.buffers.get(buffer));
        let bytes = bytes.and_then(|bytes| bytes.get(offset..offset.checked_add(length)?));
        bytes.ok_or("text of it lies outside of its buffer")
    }

    /// All values, as text.
    pub(super) fn all(&self, rows: u64) -> Result<Record, Trouble> {
        let mut record = Record::default();
        for row in 0..usize::try_from(rows).map_err(|_| SHORT)? {
            record.put(|out| self.text(row, out))?;
        }
        Ok(record)
    }
}
