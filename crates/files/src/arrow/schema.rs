//! Reads the columns of a file, and the form of their values. Nested columns are skipped, with all
//! their buffers. A column with a dictionary has indices as its values.

use super::{Broken, flat::FlatTable};
use crate::parquet::ParquetType;

/// LOCAL: the deepest nesting of columns.
const DEEPEST: usize = 64;

/// The layout of a column's values in its buffers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ArrowForm {
    /// No buffer: all values are NULL.
    Nulls,
    Bits,
    Whole {
        width: usize,
        signed: bool,
    },
    /// Binary floating point of 2, 4 or 8 bytes.
    Real(usize),
    /// Two's complement, the lowest byte first.
    Decimal {
        width: usize,
        scale: u8,
    },
    Days,
    /// Milliseconds of whole days.
    DayMillis,
    /// Ticks of 1000^−n seconds, with this n.
    Ticks(u32),
    /// Offsets into one buffer. They have 64 bits if `wide`.
    Text {
        wide: bool,
    },
    /// Views of 16 bytes into several buffers.
    Views,
    /// Bytes, the same number for each value.
    Fixed(usize),
    /// A type whose values cannot be read.
    Unread,
}

/// Integers that choose from a dictionary.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    pub(super) dictionary: i64,
    pub(super) width: usize,
    pub(super) signed: bool,
}

/// The parts of a record batch that belong to a column.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) nodes: usize,
    pub(super) buffers: usize,
    /// The columns of views. Each has a number of additional buffers.
    pub(super) views: usize,
}

/// A column.
#[derive(Clone, Debug)]
pub(super) struct ArrowField {
    pub(super) name: String,
    pub(super) nullable: bool,
    /// The type; `None` if it cannot be read.
    pub(super) kind: Option<ParquetType>,
    pub(super) form: ArrowForm,
    pub(super) choice: Option<Choice>,
    pub(super) extent: Extent,
}

/// The columns that a schema declares.
pub(super) fn fields(schema: &FlatTable<'_>) -> Result<Vec<ArrowField>, Broken> {
    if schema.i16(0, 0)? != 0 {
        return Err("its numbers have their highest byte first, which is not read");
    }
    schema.tables(1)?.iter().map(|field| ArrowField::new(field, 0)).collect()
}

fn width_of(int: &FlatTable<'_>) -> Result<(usize, bool), Broken> {
    match int.i32(0, 0)? {
        bits @ (8 | 16 | 32 | 64) => Ok((bits as usize / 8, int.flag(1)?)),
        _ => Err("it has integers of other widths than 8, 16, 32 and 64 bits"),
    }
}

/// The type of whole numbers, as for Parquet.
fn whole(width: usize, signed: bool) -> ParquetType {
    match (width, signed) {
        (1 | 2, true) | (1, false) => ParquetType::Integer { bits: 16 },
        (4, true) | (2, false) => ParquetType::Integer { bits: 32 },
        (8, false) => ParquetType::Decimal { precision: 20, scale: 0 },
        _ => ParquetType::Integer { bits: 64 },
    }
}

impl ArrowField {
    fn new(field: &FlatTable<'_>, depth: usize) -> Result<Self, Broken> {
        if depth == DEEPEST {
            return Err("it has more than 64 columns within each other");
        }
        let (form, kind, buffers) = form(field)?;
        let mut extent =
            Extent { nodes: 1, buffers, views: usize::from(form == ArrowForm::Views || is_view(field)?) };
        let (name, nullable) = (field.text(0)?, field.flag(1)?);
        let choice = match field.table(4)? {
            None => None,
            Some(encoding) => {
                let (width, signed) = match encoding.table(1)? {
                    Some(int) => width_of(&int)?,
                    None => (4, true),
                };
                extent = Extent { nodes: 1, buffers: 2, views: 0 };
                Some(Choice { dictionary: encoding.i64(0)?, width, signed })
            }
        };
        if choice.is_none() {
            let children = field.tables(5)?;
            let children = children.iter().map(|child| ArrowField::new(child, depth + 1));
            let children = children.collect::<Result<Vec<_>, Broken>>()?;
            for Extent { nodes, buffers, views } in children.iter().map(|child| child.extent) {
                extent.nodes += nodes;
                extent.buffers += buffers;
                extent.views += views;
            }
        }
        Ok(Self { name, nullable, kind, form, choice, extent })
    }

    /// The column with the values of its dictionary.
    pub(super) fn of_dictionary(&self) -> Result<Self, Broken> {
        if self.kind.is_none() {
            return Err("a dictionary has values that are not read");
        }
        let buffers = match self.form {
            ArrowForm::Nulls => 0,
            ArrowForm::Text { .. } => 3,
            _ => 2,
        };
        let extent = Extent { nodes: 1, buffers, views: usize::from(self.form == ArrowForm::Views) };
        Ok(Self { choice: None, extent, ..self.clone() })
    }
}

/// Whether the values of an unreadable type are views.
fn is_view(field: &FlatTable<'_>) -> Result<bool, Broken> {
    Ok(matches!(field.u8(2)?, 23 | 24))
}

/// The form of a column's values, its type, and the number of its own buffers.
fn form(field: &FlatTable<'_>) -> Result<(ArrowForm, Option<ParquetType>, usize), Broken> {
    let (number, of) = (field.u8(2)?, field.table(3)?);
    let of = |what: Broken| of.ok_or(what);
    let missing = "a column of it has no type";
    let text = Some(ParquetType::Text);
    Ok(match number {
        1 => (ArrowForm::Nulls, text, 0),
        2 => {
            let (width, signed) = width_of(&of(missing)?)?;
            (ArrowForm::Whole { width, signed }, Some(whole(width, signed)), 2)
        }
        3 => {
            let width = match of(missing)?.i16(0, 0)? {
                0 => 2,
                1 => 4,
                _ => 8,
            };
            (ArrowForm::Real(width), Some(ParquetType::Double), 2)
        }
        4 | 5 => (ArrowForm::Text { wide: false }, text, 3),
        6 => (ArrowForm::Bits, Some(ParquetType::Boolean), 2),
        7 => {
            let of = of(missing)?;
            let (precision, scale) = (u8::try_from(of.i32(0, 0)?), u8::try_from(of.i32(1, 0)?));
            let width = match of.i32(2, 128)? {
                bits @ (32 | 64 | 128 | 256) => bits as usize / 8,
                _ => return Err("it has decimals of another width than 32, 64, 128 and 256 bits"),
            };
            match (precision, scale) {
                (Ok(precision @ 1..=38), Ok(scale)) if scale <= precision => {
                    (ArrowForm::Decimal { width, scale }, Some(ParquetType::Decimal { precision, scale }), 2)
                }
                _ => (ArrowForm::Unread, None, 2),
            }
        }
        8 => match of(missing)?.i16(0, 1)? {
            0 => (ArrowForm::Days, Some(ParquetType::Date), 2),
            _ => (ArrowForm::DayMillis, Some(ParquetType::Date), 2),
        },
        10 => match of(missing)?.i16(0, 0)? {
            unit @ 0..=3 => (ArrowForm::Ticks(unit.unsigned_abs().into()), Some(ParquetType::Timestamp), 2),
            _ => return Err("it has timestamps of an unknown unit"),
        },
        15 => match usize::try_from(of(missing)?.i32(0, 0)?) {
            Ok(width @ 1..) => (ArrowForm::Fixed(width), text, 2),
            _ => (ArrowForm::Unread, None, 2),
        },
        19 | 20 => (ArrowForm::Text { wide: true }, text, 3),
        23 | 24 => (ArrowForm::Views, text, 2),
        // Times of day, intervals and durations; lists, maps, and lists of 64 bits.
        9 | 11 | 12 | 17 | 18 | 21 => (ArrowForm::Unread, None, 2),
        13 | 16 => (ArrowForm::Unread, None, 1),
        14 => {
            let is_dense = of(missing)?.i16(0, 0)? == 1;
            (ArrowForm::Unread, None, if is_dense { 2 } else { 1 })
        }
        22 => (ArrowForm::Unread, None, 0),
        25 | 26 => (ArrowForm::Unread, None, 3),
        _ => return Err("it has a column of an unknown type"),
    })
}
