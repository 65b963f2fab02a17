//! Reads tables of FlatBuffers, as far as Arrow's headers need them.
//!
//! ```text
//! buffer   u32: place of the root table …
//! table    i32: distance back to its list of fields, then its fields
//! fields   u16: bytes of this list │ u16: bytes of the table │ u16 for each field: its place in
//!          the table, 0 if it has its default
//! vector   u32: elements, then these; a place of a vector, a string or a table is a distance
//! ```

use super::Broken;

/// The error of all functions here: the header has a place outside of itself.
const OUTSIDE: Broken = "a header of it points outside of itself";

/// A table in a buffer.
#[derive(Clone, Copy)]
pub(super) struct FlatTable<'b> {
    buffer: &'b [u8],
    at: usize,
    fields: usize,
    count: usize,
}

fn bytes<const N: usize>(buffer: &[u8], at: usize) -> Result<[u8; N], Broken> {
    let found = at.checked_add(N).and_then(|end| buffer.get(at..end)).ok_or(OUTSIDE)?;
    found.try_into().map_err(|_| OUTSIDE)
}

fn u32_at(buffer: &[u8], at: usize) -> Result<usize, Broken> {
    Ok(u32::from_le_bytes(bytes(buffer, at)?) as usize)
}

/// The place to which the offset at `at` points.
fn follow(buffer: &[u8], at: usize) -> Result<usize, Broken> {
    at.checked_add(u32_at(buffer, at)?).filter(|place| *place < buffer.len()).ok_or(OUTSIDE)
}

impl<'b> FlatTable<'b> {
    /// The root of a buffer.
    pub(super) fn root(buffer: &'b [u8]) -> Result<Self, Broken> {
        Self::at(buffer, follow(buffer, 0)?)
    }

    fn at(buffer: &'b [u8], at: usize) -> Result<Self, Broken> {
        let back = i64::from(i32::from_le_bytes(bytes(buffer, at)?));
        let fields = i64::try_from(at).ok().and_then(|at| usize::try_from(at - back).ok()).ok_or(OUTSIDE)?;
        let length = usize::from(u16::from_le_bytes(bytes(buffer, fields)?));
        Ok(Self { buffer, at, fields, count: (length / 2).saturating_sub(2) })
    }

    /// The place of a field; `None` if it has its default.
    fn place(&self, field: usize) -> Result<Option<usize>, Broken> {
        if field >= self.count {
            return Ok(None);
        }
        let place = u16::from_le_bytes(bytes(self.buffer, self.fields + 4 + 2 * field)?);
        Ok((place != 0).then(|| self.at + usize::from(place)))
    }

    fn number<const N: usize>(&self, field: usize) -> Result<Option<[u8; N]>, Broken> {
        self.place(field)?.map(|place| bytes(self.buffer, place)).transpose()
    }

    pub(super) fn u8(&self, field: usize) -> Result<u8, Broken> {
        Ok(self.number(field)?.map_or(0, u8::from_le_bytes))
    }

    pub(super) fn flag(&self, field: usize) -> Result<bool, Broken> {
        Ok(self.u8(field)? != 0)
    }

    pub(super) fn i16(&self, field: usize, default: i16) -> Result<i16, Broken> {
        Ok(self.number(field)?.map_or(default, i16::from_le_bytes))
    }

    pub(super) fn i32(&self, field: usize, default: i32) -> Result<i32, Broken> {
        Ok(self.number(field)?.map_or(default, i32::from_le_bytes))
    }

    pub(super) fn i64(&self, field: usize) -> Result<i64, Broken> {
        Ok(self.number(field)?.map_or(0, i64::from_le_bytes))
    }

    pub(super) fn table(&self, field: usize) -> Result<Option<FlatTable<'b>>, Broken> {
        let place = self.place(field)?.map(|place| follow(self.buffer, place)).transpose()?;
        place.map(|place| Self::at(self.buffer, place)).transpose()
    }

    pub(super) fn text(&self, field: usize) -> Result<String, Broken> {
        let text = self.list(field, 1)?.bytes;
        Ok(String::from_utf8_lossy(text).into_owned())
    }

    /// A vector whose elements have `size` bytes. It is empty if the table has no such vector.
    pub(super) fn list(&self, field: usize, size: usize) -> Result<FlatList<'b>, Broken> {
        let Some(place) = self.place(field)? else { return Ok(FlatList { bytes: &[], size }) };
        let at = follow(self.buffer, place)?;
        let length = u32_at(self.buffer, at)?.checked_mul(size).ok_or(OUTSIDE)?;
        let all = at.checked_add(4).and_then(|begin| self.buffer.get(begin..begin.checked_add(length)?));
        Ok(FlatList { bytes: all.ok_or(OUTSIDE)?, size })
    }

    /// A vector of tables.
    pub(super) fn tables(&self, field: usize) -> Result<Vec<FlatTable<'b>>, Broken> {
        let Some(place) = self.place(field)? else { return Ok(vec![]) };
        let (begin, count) = (follow(self.buffer, place)? + 4, self.list(field, 4)?.len());
        let one = |i: usize| Self::at(self.buffer, follow(self.buffer, begin + 4 * i)?);
        (0..count).map(one).collect()
    }
}

/// A vector of numbers or structs.
#[derive(Clone, Copy)]
pub(super) struct FlatList<'b> {
    bytes: &'b [u8],
    size: usize,
}

impl FlatList<'_> {
    pub(super) fn len(&self) -> usize {
        self.bytes.len() / self.size
    }

    /// The number of 64 bits at byte `offset` of an element.
    pub(super) fn i64(&self, at: usize, offset: usize) -> Result<i64, Broken> {
        let place = at.checked_mul(self.size).and_then(|at| at.checked_add(offset)).ok_or(OUTSIDE)?;
        Ok(i64::from_le_bytes(bytes(self.bytes, place)?))
    }
}
