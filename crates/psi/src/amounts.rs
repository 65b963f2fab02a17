//! Reads the numbers of a table's rows that a sum adds up.

use hushwire_files::{FileError, Rows, outline};
use zeroize::Zeroizing;

/// The integers of `column`, row by row; an empty field counts as 0. The sum of their absolute
/// values has at most 63 bits, so that no partial sum overflows.
///
/// # Errors
/// If the file is not a table, lacks the column, or has a field there that is not a 64-bit integer;
/// or if the sum is too large.
pub fn amounts(rows: &mut Rows<'_>, column: &str) -> Result<Zeroizing<Vec<i64>>, FileError> {
    let place = rows.select([column])?[0];
    let (mut amounts, mut all) = (Zeroizing::new(vec![]), 0u64);
    while rows.read()?.is_some() {
        let (row, line) = (rows.last(), rows.place());
        let field = std::str::from_utf8(row.get(place).unwrap_or_default()).unwrap_or("?").trim();
        let amount: Option<i64> = match rows.dialect().number(field) {
            _ if field.is_empty() || rows.dialect().is_null_word(field) => Some(0),
            // Data frames write a column with empty fields as numbers such as 3.0.
            Some(number) => match number.split_once('.') {
                Some((whole, zeros)) if zeros.bytes().all(|b| b == b'0') => whole.parse().ok(),
                _ => number.parse().ok(),
            },
            None => None,
        };
        let Some(amount) = amount else {
            let (column, form) = (column.trim(), outline(field));
            let cause = format!(
                "column {column} has a field of the form {form}, which is no whole number of 64 bits"
            );
            let remedy = "write whole numbers, of prices the cents, or set `thousands`, `units`, or `null` to words that count as 0";
            return Err(FileError::new(rows.path(), line, cause, remedy));
        };
        all = all.saturating_add(amount.unsigned_abs());
        if all > i64::MAX as u64 {
            let cause = format!("the numbers in column {} come to more than 63 bits", column.trim());
            return Err(FileError::new(rows.path(), line, cause, "write them in a larger unit"));
        }
        amounts.push(amount);
    }
    Ok(amounts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn read(text: &str) -> Result<Vec<i64>, String> {
        let mut rows = Rows::new(Path::new("b.csv"), text.as_bytes()).map_err(|e| e.to_string())?;
        amounts(&mut rows, "n").map(|amounts| amounts.to_vec()).map_err(|e| e.to_string())
    }

    #[test]
    fn whole_numbers_and_nothing_else() {
        assert_eq!(read("k,n\na, 12\nb,\nc,-7\nd,+3\ne,-5.00\n"), Ok(vec![12, 0, -7, 3, -5]));
        let most = i64::MAX;
        assert_eq!(read(&format!("k,n\na,-{most}\nb,0\n")), Ok(vec![-most, 0]));
        for (text, words) in [
            ("k,n\na,1\nb,1.5\n", "line 3"),
            ("k,n\na,.0\n", "of the form .9"),
            ("k,n\na,1e3\n", "of the form 9a9"),
            ("k,n\na,9223372036854775808\n", "no whole number"),
            ("k,n\na,9223372036854775807\nb,-1\n", "more than 63 bits"),
            ("k,m\na,1\n", "n"),
        ] {
            let refused = read(text).err().unwrap_or_else(|| panic!("{text} was taken"));
            assert!(refused.contains(words), "{refused}");
        }
    }
}
