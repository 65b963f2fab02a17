//! Detects the form of a file from its first records: the separator of its fields, and whether the
//! first record has names.

use crate::dialect::SEPARATORS;

/// LOCAL: the bytes from which the separator is detected.
pub(crate) const SAMPLE: usize = 1 << 16;

/// Counts for each record of a sample how often it has each of [`SEPARATORS`] outside of quotes.
/// The last record may be cut off. It counts only if it is the first, or if the sample is the whole
/// file.
fn counts(sample: &[u8], quote: Option<u8>, is_whole: bool) -> Vec<[usize; 4]> {
    let (mut all, mut record, mut is_empty, mut is_quoted) = (vec![], [0; 4], true, false);
    for byte in sample {
        if Some(*byte) == quote {
            is_quoted = !is_quoted;
        }
        match byte {
            b'\n' if !is_quoted => {
                if !is_empty {
                    all.push(record);
                }
                (record, is_empty) = ([0; 4], true);
                continue;
            }
            b'\r' if !is_quoted => continue,
            _ => {}
        }
        is_empty = false;
        if let Some(at) = SEPARATORS.iter().position(|separator| separator == byte).filter(|_| !is_quoted) {
            record[at] += 1;
        }
    }
    if !is_empty && (is_whole || all.is_empty()) {
        all.push(record);
    }
    all
}

/// The separator that the first line of an Excel file declares, such as `sep=;`, and the line's
/// bytes.
pub(crate) fn declared(sample: &[u8]) -> Option<(u8, usize)> {
    let (separator, rest) =
        sample.get(..4).filter(|begin| begin.eq_ignore_ascii_case(b"sep=")).and_then(|_| {
            let (separator, rest) = sample[4..].split_first()?;
            Some((*separator, rest))
        })?;
    let end = match rest {
        [b'\r', b'\n', ..] => 2,
        [b'\n', ..] => 1,
        _ => return None,
    };
    (separator.is_ascii() && !b"\r\n\"".contains(&separator)).then_some((separator, 5 + end))
}

/// The separator of a file that begins with `sample`. It is one that the first record has, and that
/// all records have equally often. Among several, it is the most frequent one, and the comma if two
/// are equally frequent. If commas are decimal marks, they come last.
pub(crate) fn separator(sample: &[u8], quote: Option<u8>, is_whole: bool, comma_is_decimal: bool) -> u8 {
    let records = counts(sample, quote, is_whole);
    let Some(first) = records.first() else { return b',' };
    let is_even = |at: usize| records.iter().all(|record| record[at] == first[at]);
    let rank = |at: &usize| {
        let is_comma = SEPARATORS[*at] == b',';
        (!(is_comma && comma_is_decimal), is_even(*at), first[*at], is_comma)
    };
    let there = (0..SEPARATORS.len()).filter(|at| first[*at] > 0);
    there.max_by_key(rank).map_or(b',', |at| SEPARATORS[at])
}

/// Whether a field is a number, a date or a time, in any dialect. Such a field does not name a
/// column.
fn is_value(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    let begins =
        field.iter().find(|byte| !matches!(byte, b'-' | b'+' | b'.')).is_some_and(u8::is_ascii_digit);
    begins
        && field.iter().all(|byte| {
            byte.is_ascii_digit()
                || matches!(
                    byte,
                    b'-' | b'+' | b'.' | b',' | b':' | b'/' | b' ' | b'T' | b'Z' | b'e' | b'E' | b'%'
                )
        })
}

/// Whether a field is a year of our time. Tables use years as names of columns.
fn is_year(field: &[u8]) -> bool {
    let field = field.trim_ascii();
    field.len() == 4 && (b"1900"..=b"2199").contains(&field.first_chunk().unwrap_or(b"0000"))
}

/// The number of fields of a first record that are values and not names. Years next to names are
/// names.
pub(crate) fn values(record: &csv::ByteRecord) -> usize {
    let values = record.iter().filter(|field| is_value(field)).count();
    let years = record.iter().filter(|field| is_value(field) && is_year(field)).count();
    if values == years && values < record.len() { 0 } else { values }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn separators_are_found_in_the_first_records() {
        for (text, found) in [
            ("a,b\n1,2\n", b','),
            ("a;b\n1;2\n", b';'),
            ("a;b\n1,5;2,5\n", b';'),
            ("a\tb\n1\t2\n", b'\t'),
            ("a|b|c\n1|2|3\n", b'|'),
            ("a\n1;2\n", b','),
            ("a\n", b','),
            ("", b','),
            ("a|b,c\n1,2\n", b','),
            ("a,b;c\n1;2\n3;4\n", b';'),
            ("\"a;b\",c\n1,2\n", b','),
            ("\n\r\na;b\r\n1;2\r\n", b';'),
            // Tabs separate more fields than the commas within them.
            ("id\tname, first\tn\n1\tAnn, B\t2\n", b'\t'),
            // Neither separator occurs equally often in all records.
            ("a;b;c,d\n1;2\n", b';'),
        ] {
            assert_eq!(separator(text.as_bytes(), Some(b'"'), true, false), found, "{text:?}");
        }
        assert_eq!(separator(b"1;2,5\n3;4,5\n", Some(b'"'), true, true), b';');
        assert_eq!(separator(b"1;2,5\n3;4,5\n", Some(b'"'), true, false), b',');
        // A record that the sample cuts off does not count.
        assert_eq!(separator(b"a;b,c\n1;2\n3", Some(b'"'), false, false), b';');
    }

    #[test]
    fn the_line_of_excel_declares_a_separator() {
        assert_eq!(declared(b"sep=;\r\na;b\r\n"), Some((b';', 7)));
        assert_eq!(declared(b"SEP=\t\na\tb\n"), Some((b'\t', 6)));
        for text in [&b"sep=;"[..], b"sep=\n", b"sep=;a\n", b"separator\n", b"sep", b"sep=\"\n"] {
            assert_eq!(declared(text), None, "{}", text.escape_ascii());
        }
    }

    #[test]
    fn numbers_and_days_name_no_columns() {
        let values = |fields: &[&str]| values(&csv::ByteRecord::from(fields.to_vec()));
        assert_eq!(values(&["id", "name"]), 0);
        assert_eq!(values(&["1", "Ann"]), 1);
        assert_eq!(values(&["23.11.2026", "1,5", "-.5"]), 3);
        assert_eq!(values(&["country", "2019", "2020"]), 0);
        assert_eq!(values(&["2019", "2020"]), 2);
        assert_eq!(values(&["c1", "1st", "", "-", "e5"]), 0);
    }
}
