//! Converts rows that are held as columns to records, without a value for each field.

use super::{Incoming, truth};
use crate::{
    Fault,
    algebra::{Column, ColumnType, Range, Value},
    lower::cell::scalar,
    plain::Row,
};
use core::fmt::Display;
pub use hushwire_columns::BitSlice;
use hushwire_columns::{FloatSlice, NumberSlice, append, append_steps, first_outside, first_unfit};
use hushwire_fault::code;
use std::borrow::Cow;

/// LOCAL: the number of rows that are built from columns at a time.
const PIECE: usize = 1 << 12;

/// The values of a column.
#[derive(Clone, Copy)]
pub enum ColumnValues<'a> {
    /// Truth values.
    Truths(BitSlice<'a>),
    /// Numbers in steps of the column's type, least significant byte first.
    Numbers {
        /// All numbers, one after the other.
        bytes: &'a [u8],
        /// The bytes of a number: 1, 2, 4, 8 or 16.
        width: usize,
        /// Whether the highest bit is a sign.
        signed: bool,
    },
    /// Floats, each of which becomes the nearest number of steps of the column's type.
    Floats {
        /// All floats, one after the other, least significant byte first.
        bytes: &'a [u8],
        /// The bytes of a float: 4 or 8.
        width: usize,
        /// The number of steps in 1.
        unit: f64,
    },
    /// Strings.
    Texts(&'a [&'a [u8]]),
}

/// A column in a caller's memory, with one value per row.
#[derive(Clone, Copy)]
pub struct ColumnSlice<'a> {
    /// The values; arbitrary in rows that have none.
    pub values: ColumnValues<'a>,
    /// The rows that have a value; all if `None`.
    pub valid: Option<BitSlice<'a>>,
}

impl ColumnSlice<'_> {
    /// Whether row `i` has a value.
    #[must_use]
    pub fn is_valid(&self, i: usize) -> bool {
        self.valid.is_none_or(|valid| valid.get(i))
    }

    /// Whether there are this many values.
    fn has(&self, rows: usize) -> bool {
        if self.valid.is_some_and(|valid| valid.len() != rows) {
            return false;
        }
        match self.values {
            ColumnValues::Truths(bits) => bits.len() == rows,
            ColumnValues::Numbers { bytes, width, .. } => {
                matches!(width, 1 | 2 | 4 | 8 | 16) && rows.checked_mul(width) == Some(bytes.len())
            }
            ColumnValues::Floats { bytes, width, .. } => {
                matches!(width, 4 | 8) && rows.checked_mul(width) == Some(bytes.len())
            }
            ColumnValues::Texts(texts) => texts.len() == rows,
        }
    }

    /// The value of row `i`, for a column that it fits.
    ///
    /// # Panics
    /// If there is no such row.
    #[must_use]
    pub fn value(&self, i: usize) -> Value {
        if !self.is_valid(i) {
            return Value::Null;
        }
        match self.values {
            ColumnValues::Truths(bits) => Value::Boolean(bits.get(i)),
            ColumnValues::Numbers { bytes, width, signed } => {
                Value::Number(long(&bytes[width * i..][..width], signed).unwrap_or_default())
            }
            ColumnValues::Floats { bytes, width, unit } => {
                Value::Number(FloatSlice { bytes, width, unit }.steps(i).unwrap_or_default())
            }
            ColumnValues::Texts(texts) => Value::Text(texts[i].to_vec()),
        }
    }

    /// The bytes of row `i`, which distinguish it from other values of the column; `None` for NULL.
    #[must_use]
    pub fn key(&self, i: usize) -> Option<Cow<'_, [u8]>> {
        if !self.is_valid(i) {
            return None;
        }
        Some(match self.values {
            ColumnValues::Truths(bits) => Cow::from(&[0, 1][usize::from(bits.get(i))..][..1]),
            ColumnValues::Numbers { bytes, width, .. } => Cow::from(&bytes[width * i..][..width]),
            ColumnValues::Floats { bytes, width, unit } => {
                let steps = FloatSlice { bytes, width, unit }.steps(i).unwrap_or_default();
                Cow::from(steps.to_le_bytes().to_vec())
            }
            ColumnValues::Texts(texts) => Cow::from(texts[i]),
        })
    }
}

/// A number of any width.
fn long(bytes: &[u8], signed: bool) -> Option<i128> {
    let negative = signed && bytes.last().is_some_and(|byte| byte >> 7 == 1);
    let mut all = [if negative { u8::MAX } else { 0 }; 16];
    all[..bytes.len()].copy_from_slice(bytes);
    let number = i128::from_le_bytes(all);
    (signed || number >= 0).then_some(number)
}

/// The range of all numbers of a width.
fn natural(width: usize, signed: bool) -> Range {
    let bits = 8 * width as u32;
    match (bits, signed) {
        (128, true) => Range { low: i128::MIN, high: i128::MAX },
        // Larger numbers are in no column's range.
        (128, false) => Range { low: 0, high: i128::MAX },
        (bits, true) => Range { low: -(1 << (bits - 1)), high: (1 << (bits - 1)) - 1 },
        (bits, false) => Range { low: 0, high: (1 << bits) - 1 },
    }
}

/// The first row whose number is outside a range.
fn outside(slice: &ColumnSlice<'_>, numbers: NumberSlice<'_>, range: Range) -> Option<usize> {
    // Most columns are as wide as their type, which then holds all of their numbers.
    if numbers.width < 16 && range.holds(natural(numbers.width, numbers.signed)) {
        return None;
    }
    first_outside(numbers, slice.valid, range.low..=range.high)
}

impl Incoming<'_> {
    /// Takes the next rows as columns, in the order of the table's columns.
    ///
    /// # Errors
    /// As [`Incoming::take`], and if columns have different lengths.
    pub fn take_columns(&mut self, rows: usize, columns: &[ColumnSlice<'_>]) -> Result<(), Fault> {
        if self.taken + rows > self.rows {
            return Err(self.too_many());
        }
        let declared = self.table.schema.columns();
        if declared.len() != columns.len() || columns.iter().any(|slice| !slice.has(rows)) {
            let places: [(_, &dyn Display); 3] =
                [("row", &self.taken), ("found", &columns.len()), ("expected", &declared.len())];
            return Err(self.refuse(code::ROW_WIDTH, &places));
        }
        for (column, slice) in declared.iter().zip(columns) {
            let refuse = |code, row: usize| {
                Err(self.refuse(code, &[("row", &(self.taken + row)), ("column", column)]))
            };
            if let (false, Some(valid)) = (column.nullable, slice.valid)
                && let Some(row) = valid.first_zero()
            {
                return refuse(code::ROW_NULL, row);
            }
            if let Some(row) = unfit(column, slice) {
                return refuse(code::ROW_VALUE, row);
            }
        }
        if !self.made.is_empty() {
            // Columns that the owner computes are computed row by row.
            for start in (0..rows).step_by(PIECE) {
                let row = |i: usize| columns.iter().map(|slice| slice.value(i)).collect();
                let piece: Vec<Row> = (start..rows.min(start + PIECE)).map(row).collect();
                self.take(&piece)?;
            }
            return Ok(());
        }
        for ((column, slice), to) in declared.iter().zip(columns).zip(&mut self.columns) {
            let of = column.expr_type();
            let record = scalar(of.ty, of.range).record();
            match slice.values {
                ColumnValues::Truths(bits) => {
                    let start = to.values.len();
                    bits.append_bytes(true, &mut to.values);
                    if let Some(valid) = slice.valid {
                        let mut kept = vec![];
                        valid.append_bytes(true, &mut kept);
                        to.values[start..].iter_mut().zip(kept).for_each(|(truth, kept)| *truth &= kept);
                    }
                }
                ColumnValues::Numbers { bytes, width, signed } => {
                    // A number that fits the range fits the record.
                    append(&mut to.values, record, NumberSlice { bytes, width, signed }, slice.valid);
                }
                ColumnValues::Floats { bytes, width, unit } => {
                    append_steps(&mut to.values, record, FloatSlice { bytes, width, unit }, slice.valid);
                }
                ColumnValues::Texts(texts) => {
                    for (i, text) in texts.iter().enumerate() {
                        let text = if slice.is_valid(i) { text } else { &[][..] };
                        // The first byte is the highest of a record, whose lowest comes first.
                        to.values.resize(to.values.len() + record - text.len(), 0);
                        to.values.extend(text.iter().rev());
                    }
                }
            }
            if let Some((_, nulls)) = &mut to.nulls {
                match slice.valid {
                    Some(valid) => valid.append_bytes(false, nulls),
                    None => nulls.resize(nulls.len() + rows, 0),
                }
            }
        }
        if let Some((_, flags)) = &mut self.valid {
            flags.extend(std::iter::repeat_n(1, rows * scalar(truth().0, truth().1).record()));
        }
        self.taken += rows;
        Ok(())
    }
}

/// The numbers that a column may hold: those of its type within the promised range.
fn held(column: &Column, ty: ColumnType) -> Range {
    let all = ty.range();
    let promised = column.range.unwrap_or(all);
    Range { low: all.low.max(promised.low), high: all.high.min(promised.high) }
}

/// The first row whose value does not fit its column.
fn unfit(column: &Column, slice: &ColumnSlice<'_>) -> Option<usize> {
    match (column.ty, slice.values) {
        (ColumnType::Boolean, ColumnValues::Truths(_)) => None,
        (ColumnType::Varchar(most), ColumnValues::Texts(texts)) => {
            let fits = |text: &[u8]| text.len() <= usize::from(most) && !text.contains(&0);
            texts.iter().enumerate().position(|(i, text)| slice.is_valid(i) && !fits(text))
        }
        (ColumnType::Boolean | ColumnType::Varchar(_), _) => Some(0),
        (ty, ColumnValues::Floats { bytes, width, unit }) => {
            let range = held(column, ty);
            first_unfit(FloatSlice { bytes, width, unit }, slice.valid, range.low..=range.high)
        }
        (ty, ColumnValues::Numbers { bytes, width, signed }) => {
            let range = held(column, ty);
            outside(slice, NumberSlice { bytes, width, signed }, range)
        }
        _ => Some(0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::algebra::{Expr, Schema, Table, TablePart};

    /// A linear congruential generator, which is enough for these cases.
    struct Random(u64);

    impl Random {
        fn below(&mut self, most: u64) -> u64 {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 33) % most
        }
    }

    /// Columns of every type in every width, and the same rows as values.
    #[test]
    fn columns_give_the_records_of_rows() {
        let types = [
            ColumnType::Boolean,
            ColumnType::SmallInt,
            ColumnType::Integer,
            ColumnType::BigInt,
            ColumnType::Decimal { precision: 9, scale: 2 },
            ColumnType::Decimal { precision: 30, scale: 4 },
            ColumnType::Date,
            ColumnType::Double { frac: 16 },
            ColumnType::Varchar(5),
        ];
        let mut random = Random(44);
        for case in 0..200 {
            let rows = random.below(20) as usize;
            let nullable = case % 2 == 1;
            let columns: Vec<Column> = types
                .iter()
                .enumerate()
                .map(|(k, ty)| Column { nullable, ..Column::new(&format!("c{k}"), *ty) })
                .collect();
            let valid: Vec<u8> = (0..rows.div_ceil(8) + 1).map(|_| random.below(256) as u8).collect();
            let flags = nullable.then(|| BitSlice::new(&valid, 3, rows).unwrap());
            let truths: Vec<u8> = (0..rows.div_ceil(8) + 1).map(|_| random.below(256) as u8).collect();
            let small: Vec<i16> = (0..rows).map(|_| random.below(4001) as i16 - 2000).collect();
            let texts: Vec<Vec<u8>> = (0..rows)
                .map(|_| (0..random.below(6)).map(|_| b'a' + random.below(26) as u8).collect())
                .collect();
            let borrowed: Vec<&[u8]> = texts.iter().map(Vec::as_slice).collect();
            let widths: Vec<usize> = types.iter().map(|_| [2, 4, 8, 16][random.below(4) as usize]).collect();
            let numbers: Vec<Vec<u8>> = widths
                .iter()
                .map(|width| {
                    small.iter().flat_map(|n| i128::from(*n).to_le_bytes()[..*width].to_vec()).collect()
                })
                .collect();
            let floats: Vec<u8> = small.iter().flat_map(|n| (f64::from(*n) / 4.0).to_le_bytes()).collect();
            let slices: Vec<ColumnSlice<'_>> = types
                .iter()
                .enumerate()
                .map(|(k, ty)| {
                    let values = match ty {
                        ColumnType::Boolean => ColumnValues::Truths(BitSlice::new(&truths, 1, rows).unwrap()),
                        ColumnType::Varchar(_) => ColumnValues::Texts(&borrowed),
                        ColumnType::Double { .. } => {
                            ColumnValues::Floats { bytes: &floats, width: 8, unit: 4.0 }
                        }
                        _ => ColumnValues::Numbers { bytes: &numbers[k], width: widths[k], signed: true },
                    };
                    ColumnSlice { values, valid: flags }
                })
                .collect();
            let value = |i: usize, ty: &ColumnType| match (flags, ty) {
                (Some(flags), _) if !flags.get(i) => Value::Null,
                (_, ColumnType::Boolean) => Value::Boolean(truths[(i + 1) / 8] >> ((i + 1) % 8) & 1 == 1),
                (_, ColumnType::Varchar(_)) => Value::Text(texts[i].clone()),
                _ => Value::Number(small[i].into()),
            };
            let as_rows: Vec<Row> =
                (0..rows).map(|i| types.iter().map(|ty| value(i, ty)).collect()).collect();
            let table = Table {
                name: "t".into(),
                schema: Schema(columns),
                parts: vec![TablePart { owner: "a".into(), rows: rows as u64 + 2 }],
                padded: true,
                unique: vec![],
            };
            // The rows also have a column that the owner computes: a copy of the last one.
            let last = table.schema.columns().len() - 1;
            let made = [(table.schema.columns()[last].clone(), Expr::Column(last))];
            for made in [&made[..0], &made] {
                let incoming = || Incoming::new(&table, 0, 0).unwrap().with_made(0, made);
                let (mut by_rows, mut by_columns) = (incoming(), incoming());
                by_rows.take(&as_rows).unwrap();
                by_columns.take_columns(rows, &slices).unwrap();
                let (found, expected) = (by_columns.finish().unwrap(), by_rows.finish().unwrap());
                assert_eq!(found.len(), (types.len() + made.len()) * (1 + usize::from(nullable)) + 1);
                assert_eq!(found, expected, "case {case}, with {} computed", made.len());
            }
        }
    }

    #[test]
    fn what_does_not_fit_is_named_by_row_and_column() {
        let refused = |ty: ColumnType, values: ColumnValues<'_>, valid: Option<&[u8]>| {
            let table = Table {
                name: "t".into(),
                schema: Schema(vec![Column::new("c", ty)]),
                parts: vec![TablePart { owner: "a".into(), rows: 3 }],
                padded: false,
                unique: vec![],
            };
            let valid = valid.map(|bytes| BitSlice::new(bytes, 0, 3).unwrap());
            let taken =
                Incoming::new(&table, 0, 0).unwrap().take_columns(3, &[ColumnSlice { values, valid }]);
            taken.map_err(|e| (e.code(), e.cause()))
        };
        let numbers = |bytes, width| ColumnValues::Numbers { bytes, width, signed: true };
        let wide: Vec<u8> = [1i32, 40_000, 2].iter().flat_map(|n| n.to_le_bytes()).collect();
        let (code, cause) = refused(ColumnType::SmallInt, numbers(&wide, 4), None).unwrap_err();
        assert_eq!(code, code::ROW_VALUE);
        assert!(cause.contains("row 1") && !cause.contains("40000"), "{cause}");
        assert_eq!(refused(ColumnType::Integer, numbers(&wide, 4), None), Ok(()));
        let (code, cause) = refused(ColumnType::Integer, numbers(&wide, 4), Some(&[0b101])).unwrap_err();
        assert_eq!(code, code::ROW_NULL);
        assert!(cause.contains("row 1"), "{cause}");
        let texts: [&[u8]; 3] = [b"ab", b"a", b"abcd"];
        let (code, cause) = refused(ColumnType::Varchar(3), ColumnValues::Texts(&texts), None).unwrap_err();
        assert_eq!(code, code::ROW_VALUE);
        assert!(cause.contains("row 2") && !cause.contains("abcd"), "{cause}");
        assert_eq!(
            refused(ColumnType::Integer, numbers(&wide[..8], 4), None).unwrap_err().0,
            code::ROW_WIDTH
        );
        assert_eq!(
            refused(ColumnType::Integer, ColumnValues::Texts(&texts), None).unwrap_err().0,
            code::ROW_VALUE
        );
    }
}
