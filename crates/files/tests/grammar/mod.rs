//! A direct implementation of RFC 4180's grammar. Tests and the fuzz target `csv` compare the
//! reader of files with it.

use hushwire_files::{Dialect, FileError, FilePlace, Rows};
use std::path::Path;

/// Parses by the grammar, field by field; `None` if the bytes do not follow it.
fn records(mut rest: &[u8]) -> Option<Vec<Vec<Vec<u8>>>> {
    let mut all: Vec<Vec<Vec<u8>>> = vec![];
    'records: while !rest.is_empty() {
        if let Some(more) = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b"\r\n")) {
            // An empty line.
            rest = more;
            continue;
        }
        let mut record = vec![];
        loop {
            let mut field = vec![];
            if let Some(mut inner) = rest.strip_prefix(b"\"") {
                loop {
                    let quote = inner.iter().position(|b| *b == b'"')?;
                    field.extend_from_slice(&inner[..quote]);
                    inner = &inner[quote + 1..];
                    match inner.strip_prefix(b"\"") {
                        Some(more) => {
                            field.push(b'"');
                            inner = more;
                        }
                        None => break,
                    }
                }
                rest = inner;
            } else {
                let end = rest.iter().position(|b| b",\"\r\n".contains(b)).unwrap_or(rest.len());
                field.extend_from_slice(&rest[..end]);
                rest = &rest[end..];
            }
            record.push(field);
            if rest.is_empty() {
                all.push(record);
                break 'records;
            }
            if let Some(more) = rest.strip_prefix(b",") {
                rest = more;
            } else if let Some(more) = rest.strip_prefix(b"\n").or_else(|| rest.strip_prefix(b"\r\n")) {
                rest = more;
                break;
            } else {
                return None;
            }
        }
        all.push(record);
    }
    all.windows(2).all(|two| two[0].len() == two[1].len()).then_some(all)
}

fn read(csv: &[u8]) -> Result<Vec<Vec<Vec<u8>>>, FileError> {
    let mut rows = Rows::with(Path::new("a.csv"), csv, &Dialect::rfc4180())?;
    let mut all = vec![rows.header().iter().map(<[u8]>::to_vec).collect::<Vec<_>>()];
    while let Some(row) = rows.read()? {
        all.push(row.iter().map(<[u8]>::to_vec).collect());
    }
    // A file without records has no header.
    all.retain(|record| !record.is_empty());
    Ok(all)
}

/// Checks that these bytes are read as by the grammar, or refused at a line that exists.
///
/// # Panics
/// If they are not.
pub(crate) fn compare(csv: &[u8]) {
    let text = csv.strip_prefix(b"\xef\xbb\xbf").unwrap_or(csv);
    let others: [&[u8]; 8] = [
        b"\xff\xfe",
        b"\xfe\xff",
        b"PAR1\x15",
        b"\x1f\x8b",
        b"\x28\xb5\x2f\xfd",
        b"PK\x03\x04",
        b"BZh91",
        b"ARROW1\0\0",
    ];
    let is_letter = |byte: u8| (b' '..=b'~').contains(&byte);
    let wide = text.first_chunk::<4>().is_some_and(|[a, b, c, d]| {
        is_letter(*a) && *b == 0 && is_letter(*c) && *d == 0
            || *a == 0 && is_letter(*b) && *c == 0 && is_letter(*d)
    });
    if wide || others.iter().any(|format| text.starts_with(format)) {
        return assert!(read(csv).is_err(), "another format");
    }
    if text.starts_with(b"\xef\xbb\xbf") {
        // The parser drops a second mark, which has no effect on quotes.
        return drop(read(csv));
    }
    match (read(csv), records(text)) {
        (Ok(read), Some(wanted)) => assert_eq!(read, wanted),
        (Err(FileError { place: Some(place), .. }), None) => {
            let FilePlace::Line { line, .. } = place else { panic!("text has lines: {place}") };
            assert!(line >= 1 && line <= 1 + csv.iter().filter(|b| **b == b'\n').count() as u64);
        }
        (read, wanted) => panic!("{read:?}\n{wanted:?}"),
    }
}
