//! Rows that are read from files, and rows that are written to files.

use super::{source::TableFile, survey::Field};
#[cfg(feature = "parquet")]
use hushwire_fault::Excuse;
use hushwire_fault::code;
use hushwire_files::outline;
use hushwire_session::{Dialect, Fault, InputPlace};
use hushwire_sql::cell;
use hushwire_tables::{
    algebra::{Column, ColumnType, Schema, Table, Value},
    functions::Letters,
    plain::Row,
};
use std::{collections::HashSet, str::FromStr};

/// The public number of rows of a part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pad {
    /// The number of rows in the file.
    None,
    /// The next power of two.
    PowerOfTwo,
    /// This number of rows.
    To(u64),
}

impl Pad {
    /// The number of rows of a part that has `rows` rows; `None` if these are too many.
    #[must_use]
    pub fn rows(self, rows: u64) -> Option<u64> {
        match self {
            Pad::None => Some(rows),
            Pad::PowerOfTwo => rows.max(1).checked_next_power_of_two(),
            Pad::To(most) => Some(most).filter(|most| rows <= *most),
        }
    }
}

impl FromStr for Pad {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "none" => Ok(Pad::None),
            "2^k" => Ok(Pad::PowerOfTwo),
            number => number.parse().map(Pad::To).map_err(|_| "write none, 2^k or a number of rows".into()),
        }
    }
}

/// A string's digest of 8 or 16 bytes under the query's key. Two strings have the same digest with
/// probability 2^-64 or 2^-128.
pub(super) fn digest(key: &[u8; 32], text: &[u8], bytes: usize) -> Vec<u8> {
    blake3::keyed_hash(key, text).as_bytes()[..bytes].to_vec()
}

/// The reason why strings with letters that parties cannot compute with are refused, and a remedy.
pub(super) fn other_letters(column: &str, known: Letters) -> (String, &'static str) {
    let (known, functions) = match known {
        Letters::Ascii => ("ASCII", "SUBSTRING, LPAD, RPAD or REVERSE"),
        Letters::Latin => ("Latin-1", "UPPER or LOWER"),
    };
    let cause =
        format!("column {column} has characters that are not {known}, and parties compute {functions} of it");
    (cause, "take it of this table's columns alone, so that its owner does, before they meet those of others")
}

/// LOCAL: the number of rows that are read at a time.
const PIECE: usize = 1 << 12;

/// Reads the rows of a table's part, with the columns of its schema. It passes them to `take` one
/// piece at a time, so that memory holds only a piece. In text, empty fields are NULL if the column
/// is nullable, and so are the NULL words of the file's dialect. `base` is the dialect of the
/// table, for a place that sets none. Digests are under `key`. Returns remarks for the owner on how
/// the files are read.
///
/// The columns at the places in `letters` must have no other letters.
///
/// Rows with the same key are found by 128-bit digests of keys. The probability that two of n keys
/// have the same digest is less than n² / 2^129.
///
/// # Errors
/// The file lacks a column, a field is not a value of its column's type, or two rows have the same
/// key.
pub(super) fn read(
    table: &Table,
    (place, base): (&InputPlace, &Dialect),
    key: &[u8; 32],
    letters: &[(usize, Letters)],
    take: impl FnMut(&[Row]) -> Result<(), Fault>,
) -> Result<Vec<String>, Fault> {
    let mut file = TableFile::open(&table.name, place, base)?;
    let mut keys: Vec<HashSet<[u8; 16]>> = vec![HashSet::new(); table.unique.len()];
    read_file(table, &mut file, key, letters, |key, digest| keys[key].insert(digest), take)?;
    Ok(file.remarks().to_vec())
}

/// Like [`read`], for an open file, or for some of its rows. `is_new` receives the number of each
/// key and its digest in a row, and returns whether no earlier row had it.
pub(super) fn read_file(
    table: &Table,
    file: &mut TableFile<'_>,
    key: &[u8; 32],
    letters: &[(usize, Letters)],
    mut is_new: impl FnMut(usize, [u8; 16]) -> bool,
    mut take: impl FnMut(&[Row]) -> Result<(), Fault>,
) -> Result<(), Fault> {
    let columns = table.schema.columns();
    file.choose(columns.iter().map(|column| column.name.as_str()))?;
    let dialect = file.dialect().clone();
    let mut rows: Vec<Row> = vec![];
    while let Some(record) = file.read()? {
        let wrong =
            |cause: String, remedy: &str| Fault::new(code::ROWS, record.step(), cause, remedy).whole();
        let field = |(at, column): (usize, &Column)| {
            let text = record.get(at).map(|bytes| {
                std::str::from_utf8(bytes).map_err(|_| {
                    let remedy = "set the encoding of the file, as latin1, or save it as UTF-8";
                    wrong(format!("column {} is not UTF-8", column.name), remedy)
                })
            });
            let text = text.transpose()?.map(|text| Field::new(text, &dialect, record.is_text()));
            let is_null = |field: &Field<'_>| {
                field.is_null_word() || field.text.is_empty() && record.is_text() && column.nullable
            };
            let Some(spelt) = text.filter(|field| !is_null(field)) else {
                if column.nullable {
                    return Ok(Value::Null);
                }
                let cause = format!("column {} is NULL, and declared NOT NULL", column.name);
                return Err(wrong(cause, "declare the column without NOT NULL, or mend the file"));
            };
            let text = spelt.text;
            let limit = letters.iter().find(|(place, _)| *place == at).map(|(_, letters)| *letters);
            if let Some(limit) = limit.filter(|limit| !limit.hold(text)) {
                let (cause, remedy) = other_letters(&column.name, limit);
                return Err(wrong(cause, remedy));
            }
            if let ColumnType::Digest { bits } = column.ty {
                let digest = digest(key, text.as_bytes(), usize::from(bits / 8));
                return Ok(Value::Number(digest.iter().rev().fold(0, |n, byte| n << 8 | i128::from(*byte))));
            }
            let value = spelt.spelt(column.ty).unwrap_or_default();
            cell::read(&value, column.ty).map_err(|e| {
                let form = match column.ty {
                    ColumnType::Varchar(_) => String::new(),
                    _ => format!(
                        "; its form is {}",
                        if text.is_empty() { "empty".to_owned() } else { outline(text) }
                    ),
                };
                let cause = format!("column {}: {}{form}", column.name, e.cause());
                let out = match column.ty {
                    ColumnType::Varchar(_) => "",
                    ColumnType::Date | ColumnType::Timestamp => {
                        ", or set `date-format`, or `null` to words that mean NULL"
                    }
                    ty if ty.is_numeric() => {
                        ", or set `null` to words that mean NULL, `decimal`, `thousands` or `units`"
                    }
                    _ => ", or set `null` to words that mean NULL",
                };
                wrong(cause, &format!("{}{out}", e.remedy()))
            })
        };
        let row = columns.iter().enumerate().map(field).collect::<Result<Row, Fault>>()?;
        for (at, key) in table.unique.iter().enumerate() {
            if !is_new(at, digest_of(key.iter().map(|at| &row[*at]))) {
                return Err(repeated(table, at, record.step()));
            }
        }
        rows.push(row);
        if rows.len() == PIECE {
            take(&rows)?;
            rows.clear();
        }
    }
    take(&rows)
}

/// The error for a row with the key of an earlier row; `step` names the row.
pub(super) fn repeated(table: &Table, key: usize, step: String) -> Fault {
    let columns = table.schema.columns();
    let names: Vec<&str> = table.unique[key].iter().map(|at| columns[*at].name.as_str()).collect();
    let cause = format!("a row before it has the same {}, the table's key", names.join(", "));
    Fault::new(code::ROWS, step, cause, "declare another key, or none, or mend the file").whole()
}

/// A digest that differs for different values.
fn digest_of<'v>(values: impl Iterator<Item = &'v Value>) -> [u8; 16] {
    let mut hasher = blake3::Hasher::new_derive_key("hushwire 2026-11-23 keys of a table's rows");
    for value in values {
        match value {
            Value::Null => hasher.update(&[0]),
            Value::Boolean(truth) => hasher.update(&[1, (*truth).into()]),
            Value::Number(n) => hasher.update(&[2]).update(&n.to_le_bytes()),
            Value::Text(text) => hasher.update(&[3]).update(&(text.len() as u64).to_le_bytes()).update(text),
        };
    }
    let mut digest = [0; 16];
    hasher.finalize_xof().fill(&mut digest);
    digest
}

/// A result's fields as text.
pub(super) fn shown(schema: &Schema, rows: &[Row]) -> Vec<Vec<Option<String>>> {
    let types: Vec<_> = schema.columns().iter().map(|column| column.ty).collect();
    let one = |row: &Row| {
        row.iter().zip(&types).map(|(value, ty)| (!value.is_null()).then(|| cell::show(value, *ty))).collect()
    };
    rows.iter().map(one).collect()
}

/// A result as CSV: NULL is an empty field.
pub(super) fn csv(schema: &Schema, rows: &[Vec<Option<String>>]) -> Result<Vec<u8>, Fault> {
    let failed = |e: csv::Error| Fault::internal("writing the result", e);
    let mut writer = csv::WriterBuilder::new().from_writer(vec![]);
    writer.write_record(schema.columns().iter().map(|column| &column.name)).map_err(failed)?;
    for row in rows {
        writer.write_record(row.iter().map(|field| field.as_deref().unwrap_or_default())).map_err(failed)?;
    }
    writer.into_inner().map_err(|e| Fault::internal("writing the result", e))
}

/// Writes a result as Parquet.
///
/// # Errors
/// A number has 39 digits: arithmetic allows this, and decimals of a file do not.
#[cfg(feature = "parquet")]
pub(super) fn parquet(to: impl std::io::Write + Send, schema: &Schema, rows: &[Row]) -> Result<(), Fault> {
    use hushwire_files::parquet::{self, ParquetField as Field, ParquetType as Type};
    let kind = |ty: ColumnType| match ty {
        ColumnType::Boolean => Type::Boolean,
        ColumnType::SmallInt => Type::Integer { bits: 16 },
        ColumnType::Integer => Type::Integer { bits: 32 },
        // An interval is written as a number of microseconds.
        ColumnType::BigInt | ColumnType::Interval => Type::Integer { bits: 64 },
        ColumnType::Decimal { precision, scale } => Type::Decimal { precision, scale },
        ColumnType::Date => Type::Date,
        ColumnType::Timestamp => Type::Timestamp,
        ColumnType::Double { .. } => Type::Double,
        // A result never has a column of digests.
        ColumnType::Varchar(_) | ColumnType::Digest { .. } => Type::Text,
    };
    let types: Vec<ColumnType> = schema.columns().iter().map(|column| column.ty).collect();
    let decimal = |ty: &ColumnType| matches!(ty, ColumnType::Decimal { .. });
    for (at, column) in schema.columns().iter().enumerate().filter(|(_, column)| decimal(&column.ty)) {
        if rows.iter().any(|row| !row[at].fits(column.ty)) {
            let cause = format!("column {} has a number of more digits than {}", column.name, column.ty);
            let remedy = "write the result as CSV, or CAST the column to DOUBLE, or to a DECIMAL, which makes such numbers NULL";
            return Err(unwritable(cause, remedy));
        }
    }
    let columns = schema.columns().iter();
    let columns: Vec<_> =
        columns.map(|c| parquet::ParquetColumn::new(&c.name, kind(c.ty), c.nullable)).collect();
    let field = |row: usize, at: usize| match (&rows[row][at], types[at]) {
        (Value::Null, _) => Field::Null,
        (Value::Boolean(truth), _) => Field::Boolean(*truth),
        (Value::Number(n), ColumnType::Double { frac }) => {
            Field::Real(*n as f64 / f64::from(2u32).powi(frac.into()))
        }
        (Value::Number(n), _) => Field::Number(*n),
        (Value::Text(text), _) => Field::Text(text),
    };
    parquet::write(to, &columns, rows.len(), field).map_err(|e| unwritable(e.cause, e.remedy))
}

#[cfg(feature = "parquet")]
fn unwritable(cause: String, remedy: impl std::fmt::Display) -> Fault {
    Fault::new(code::WRITE, "cannot write the result", cause, remedy).whole().telling(Excuse::Writing)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::query::infer;
    use hushwire_block::Wiped;
    use hushwire_tables::algebra::TablePart;
    use std::{fmt::Write, sync::Arc};

    /// Reads rows of a CSV file with a number and a text each. Returns them with the lengths of the
    /// pieces.
    fn pieces(numbers: impl Iterator<Item = usize>) -> Result<(Vec<Row>, Vec<usize>), Fault> {
        let mut text = "x,y\n".to_owned();
        let rows = numbers.map(|n| writeln!(text, "{n},t{}", n % 3)).count();
        let place = InputPlace::Memory(Arc::new(Wiped::new(text.into_bytes())));
        let schema =
            Schema(vec![Column::new("y", ColumnType::Varchar(2)), Column::new("x", ColumnType::Integer)]);
        let parts = vec![TablePart { owner: "a".into(), rows: rows as u64 }];
        // Two keys: the number with the text, and the number alone.
        let unique = vec![vec![0, 1], vec![1]];
        let table = Table { name: "t".into(), schema, parts, padded: false, unique };
        let (mut all, mut lengths) = (vec![], vec![]);
        read(&table, (&place, &Dialect::default()), &[0; 32], &[], |rows| {
            lengths.push(rows.len());
            all.extend_from_slice(rows);
            Ok(())
        })?;
        Ok((all, lengths))
    }

    #[test]
    fn files_are_read_a_piece_at_a_time() {
        let (rows, lengths) = pieces(0..2 * PIECE + 5).unwrap();
        assert_eq!(lengths, [PIECE, PIECE, 5]);
        for (i, row) in rows.iter().enumerate() {
            let text = format!("t{}", i % 3).into_bytes();
            assert_eq!(*row, [Value::Text(text), Value::Number(i as i128)]);
        }
        assert_eq!(pieces(0..0).unwrap().0, Vec::<Row>::new());
    }

    #[test]
    fn strings_that_are_cut_by_bytes_are_ascii() {
        let place = InputPlace::Memory(Arc::new(Wiped::new("a,b\n\u{fc},u\nu,\u{fc}\n".as_bytes().to_vec())));
        let schema = Schema(["a", "b"].map(|name| Column::new(name, ColumnType::Varchar(4))).to_vec());
        let parts = vec![TablePart { owner: "a".into(), rows: 2 }];
        let table = Table { name: "t".into(), schema, parts, padded: false, unique: vec![] };
        let read = |letters: &[_]| read(&table, (&place, &Dialect::default()), &[0; 32], letters, |_| Ok(()));
        assert!(read(&[]).is_ok());
        for (at, column, line) in [(0, "column a", "line 2"), (1, "column b", "line 3")] {
            assert!(read(&[(at, Letters::Latin)]).is_ok());
            let error = read(&[(at, Letters::Ascii)]).unwrap_err();
            assert!(error.cause().contains(column) && error.step().contains(line), "{error}");
        }
    }

    #[test]
    fn a_key_that_comes_again_pieces_later_is_found() {
        let error = pieces((0..2 * PIECE).chain([3])).unwrap_err();
        assert!(error.cause().contains("a row before it has the same y, x, the table's key"), "{error}");
        assert!(error.step().contains(&format!("line {}", 2 * PIECE + 2)), "{error}");
    }

    fn in_memory(text: &str) -> InputPlace {
        InputPlace::Memory(Arc::new(Wiped::new(text.as_bytes().to_vec())))
    }

    /// Numbers that do not fit in any type are named by line and column, and never become text.
    #[test]
    fn a_number_that_no_type_holds_is_named() {
        let place = in_memory("a,b\n1,0.5\n2,1e300\n3,2e300\n");
        let e = infer(&[&place]).unwrap_err().to_string();
        assert!(e.contains("line 3") && e.contains("column b: it is no number below 2^63"), "{e}");
        let columns = infer(&[&in_memory("a\n1e12\n0.5\n")]).unwrap().columns;
        assert_eq!(columns[0].to_string(), "a DOUBLE(23) NOT NULL");
    }

    /// A DOUBLE column of a file gets a type as wide as its numbers, or is refused.
    #[cfg(feature = "parquet")]
    #[test]
    fn doubles_of_parquet_are_as_wide_as_their_numbers() {
        use hushwire_files::parquet::{
            ParquetColumn as Column, ParquetField as Field, ParquetType as Kind, write,
        };
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("t.parquet");
        let inferred = |numbers: &[f64]| {
            let columns = [Column::new("x", Kind::Double, false)];
            let file = std::fs::File::create(&path).unwrap();
            write(file, &columns, numbers.len(), |row, _| Field::Real(numbers[row])).unwrap();
            infer(&[&InputPlace::File(path.clone())])
                .map(|table| table.columns[0].to_string())
                .map_err(|e| e.to_string())
        };
        assert_eq!(inferred(&[0.5, 2_147_483_647.0]), Ok("x DOUBLE(32) NOT NULL".into()));
        assert_eq!(inferred(&[0.5, 2_147_483_648.0]), Ok("x DOUBLE(31) NOT NULL".into()));
        assert_eq!(inferred(&[-1e18]), Ok("x DOUBLE(3) NOT NULL".into()));
        for odd in [f64::NAN, f64::INFINITY, 1e19, -1e300] {
            let e = inferred(&[1.0, odd, 2.0]).unwrap_err();
            let named = e.contains("t.parquet, row 2") && e.contains("column x: it is no number below 2^63");
            assert!(named && e.contains("VARCHAR(n) keeps the text"), "{odd}: {e}");
        }
    }

    /// Arithmetic allows numbers of 39 digits, and decimals of a file do not.
    #[cfg(feature = "parquet")]
    #[test]
    fn a_result_of_39_digits_is_no_parquet() {
        let digits = ColumnType::Decimal { precision: 38, scale: 2 };
        let schema = Schema(vec![Column::new("id", ColumnType::Integer), Column::new("total", digits)]);
        let rows = |n: i128| vec![vec![Value::Number(7), Value::Number(n)]];
        let most = 10i128.pow(38) - 1;
        for n in [most, -most] {
            parquet(vec![], &schema, &rows(n)).unwrap_or_else(|e| panic!("{n}: {e}"));
        }
        for n in [most + 1, -most - 1, i128::MAX] {
            let e = parquet(vec![], &schema, &rows(n)).unwrap_err().to_string();
            let cause = "column total has a number of more digits than DECIMAL(38, 2)";
            assert!(e.contains(cause) && e.contains("write the result as CSV"), "{e}");
        }
    }
}
