//! The ranges that an owner declares for columns. They are public in the manifest, and hold for
//! every row that is put.

use hushwire_block::Wiped;
use hushwire_fault::{Fault, code};
use hushwire_seal::{SchemaColumn, StoredColumn};
use hushwire_session::suggest;

/// A declared range, `COLUMN=LEAST..GREATEST`, both included.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct DeclaredRange {
    column: String,
    least: i64,
    greatest: i64,
}

/// Parses a range.
pub(super) fn range(text: &str) -> Result<DeclaredRange, String> {
    let wanted = || format!("{text:?} is not COLUMN=LEAST..GREATEST, as days=1..365");
    let (column, ends) = text.split_once('=').ok_or_else(wanted)?;
    let (least, greatest) = ends.split_once("..").ok_or_else(wanted)?;
    let number = |text: &str| text.trim().parse::<i64>().map_err(|_| wanted());
    let (least, greatest) = (number(least)?, number(greatest)?);
    if column.is_empty() || least > greatest {
        return Err(wanted());
    }
    Ok(DeclaredRange { column: column.to_owned(), least, greatest })
}

/// A range, with the place of its column's values among the stored columns.
pub(super) struct CheckedRange {
    of: DeclaredRange,
    bits: u32,
    values: usize,
    nulls: Option<usize>,
    valid: Option<usize>,
}

fn wrong(cause: String, remedy: &str) -> Fault {
    Fault::new(code::DATA_SET, "checking declared ranges", cause, remedy)
}

/// Writes ranges into the columns of a manifest, and finds where their values are stored.
pub(super) fn declare(
    ranges: &[DeclaredRange],
    schema: &mut [SchemaColumn],
    inputs: &[StoredColumn],
) -> Result<Vec<CheckedRange>, Fault> {
    let place = |name: &str| inputs.iter().position(|input| input.name == name);
    let mut all = vec![];
    for range in ranges {
        let name = &range.column;
        let names: Vec<String> = schema.iter().map(|column| column.name.clone()).collect();
        let Some(column) = schema.iter_mut().find(|column| column.name == *name) else {
            let names: Vec<&str> = names.iter().map(String::as_str).collect();
            return Err(wrong(format!("the schema has no column {name}"), &suggest::remedy(name, &names)));
        };
        if !matches!(column.ty.as_str(), "SMALLINT" | "INTEGER" | "BIGINT") {
            let cause = format!("column {name} is {}", column.ty);
            return Err(wrong(cause, "declare ranges of columns of whole numbers"));
        }
        (column.min, column.max) = (Some(range.least), Some(range.greatest));
        let declared = if column.nullable { String::new() } else { " NOT NULL".to_owned() };
        let values = place(&format!("{name} {}{declared}", column.ty));
        let values =
            values.ok_or_else(|| Fault::internal("checking declared ranges", "a column is not stored"))?;
        all.push(CheckedRange {
            of: range.clone(),
            bits: inputs[values].bits,
            values,
            nulls: place(&format!("null of {name}")),
            valid: place("valid rows"),
        });
    }
    Ok(all)
}

impl CheckedRange {
    /// Checks the planes of a part.
    pub(super) fn check(&self, rows: u64, planes: &[Wiped<Vec<u8>>]) -> Result<(), Fault> {
        let bit = |plane: &[u8], row: usize| plane[row / 8] >> (row % 8) & 1 == 1;
        let length = rows.div_ceil(8) as usize;
        for row in 0..rows as usize {
            let absent = self.nulls.is_some_and(|at| bit(&planes[at], row));
            if absent || self.valid.is_some_and(|at| !bit(&planes[at], row)) {
                continue;
            }
            let of = &planes[self.values];
            let bits = (0..self.bits).map(|at| u64::from(bit(&of[at as usize * length..], row)) << at);
            let value = bits.sum::<u64>();
            // The value is in two's complement of `bits` bits.
            let value = (value << (64 - self.bits)) as i64 >> (64 - self.bits);
            let DeclaredRange { column, least, greatest } = &self.of;
            if !(*least..=*greatest).contains(&value) {
                let cause = format!("a row has a value of {column} outside {least}..{greatest}");
                return Err(wrong(cause, "correct the file, or declare the range that its values have"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_kinds::StoredTable;
    use hushwire_session::InputPlace;

    fn put(csv: &str, nullable: bool, text: &str) -> Result<(), String> {
        let ty = if nullable { "n SMALLINT" } else { "n SMALLINT NOT NULL" };
        let columns = ["id INTEGER NOT NULL".to_owned(), ty.to_owned()];
        let table = StoredTable::new("t", &columns, &[], false).unwrap_or_else(|e| panic!("{e}"));
        let rows = csv.lines().count() as u64 - 1;
        let layout = table.layout(rows).into_iter();
        let inputs: Vec<_> = layout.map(|column| StoredColumn::of_table(column.name, column.bits)).collect();
        let of = |name: &str, ty: &str, nullable| SchemaColumn {
            name: name.to_owned(),
            ty: ty.to_owned(),
            nullable,
            min: None,
            max: None,
            ascii: false,
        };
        let mut schema = [of("id", "INTEGER", false), of("n", "SMALLINT", nullable)];
        let ranges = [range(text)?];
        let ranges = declare(&ranges, &mut schema, &inputs).map_err(|e| e.to_string())?;
        assert_eq!((schema[1].min, schema[1].max), (Some(ranges[0].of.least), Some(ranges[0].of.greatest)));
        let mut check =
            |_, planes: Vec<Wiped<Vec<u8>>>| ranges.iter().try_for_each(|range| range.check(rows, &planes));
        let read = table.read(&InputPlace::memory(csv.to_owned()), rows, &mut check);
        read.map(drop).map_err(|e| e.to_string())
    }

    #[test]
    fn a_value_outside_a_declared_range_is_refused_and_not_shown() {
        let csv = "id,n\n1,-7\n2,0\n3,300\n";
        assert_eq!(put(csv, false, "n=-7..300"), Ok(()));
        assert_eq!(put(csv, false, "n=-32768..32767"), Ok(()));
        for narrow in ["n=-6..300", "n=-7..299"] {
            let error = put(csv, false, narrow).expect_err(narrow);
            assert!(
                error.contains("outside") && !error.contains(" -7 ") && !error.contains(" 300 "),
                "{error}"
            );
        }
        // A missing value is outside no range.
        assert_eq!(put("id,n\n1,5\n2,\n", true, "n=5..5"), Ok(()));
        for odd in ["n", "n=1", "n=2..1", "=1..2", "n=a..b"] {
            assert!(put(csv, false, odd).is_err_and(|e| e.contains("COLUMN=LEAST..GREATEST")), "{odd}");
        }
        assert!(put(csv, false, "m=1..2").is_err_and(|e| e.contains("no column m")));
    }
}
