//! CSV files and results of them: the accepted texts, and the places of errors.

mod grammar;

use hushwire_files::{Dialect, FileError, FilePlace, Rows, check_result, csv_line, write_flags, write_rows};
use proptest::prelude::*;
use std::{
    io::{self, Read},
    path::Path,
};

/// The number of records after the header, if the column exists and all records can be read.
fn count(csv: &[u8], column: &str) -> Result<usize, FileError> {
    let mut rows = Rows::with(Path::new("a.csv"), csv, &Dialect::rfc4180())?;
    rows.column(column)?;
    let mut count = 0;
    while rows.read()?.is_some() {
        count += 1;
    }
    Ok(count)
}

/// The error of a file with the column `id`.
fn refused(csv: &[u8]) -> FileError {
    count(csv, "id").expect_err("a file with a fault")
}

/// Every violation of RFC 4180, with its place: line and character.
#[test]
fn what_no_csv_has_is_refused_where_it_stands() {
    const BARE: &str = "a quote stands in a field that does not begin with one";
    const AFTER: &str = "the field goes on after its closing quote";
    const UNCLOSED: &str = "the quote that opens here is not closed";
    const RETURN: &str = "a carriage return stands alone";
    for (csv, line, character, cause) in [
        (&b"id\na\"b\n"[..], 2, 2, BARE),
        (b"id\n12\"\n", 2, 3, BARE),
        (b"id,x\nb, \"a\"\n", 2, 4, BARE),
        (b"i\"d\na\n", 1, 2, BARE),
        (b"\xef\xbb\xbfi\"d\na\n", 1, 2, BARE),
        ("id,x\r\né,ö\"\r\n".as_bytes(), 2, 4, BARE),
        (b"id\n\"a\"b\n", 2, 4, AFTER),
        (b"id\n\"a\" \n", 2, 4, AFTER),
        (b"id,x\n\"two\nlines\"!,1\n", 3, 7, AFTER),
        (b"id,x\n\"a\"\"\"b,1\n", 2, 6, AFTER),
        (b"\"id\"x\n", 1, 5, AFTER),
        (b"id\na\n\"b\nc\nd\n", 3, 1, UNCLOSED),
        (b"id,x\n1,\"", 2, 3, UNCLOSED),
        (b"id,x\n1,\"a\"\"\n", 2, 3, UNCLOSED),
        (b"\"id\na\n", 1, 1, UNCLOSED),
        (b"id\ra\rb\r", 1, 3, RETURN),
        (b"id\na\r", 2, 2, RETURN),
        (b"id\n\"a\"\rb\n", 2, 4, RETURN),
        (b"id\n\r\rb\n", 2, 1, RETURN),
    ] {
        let error = refused(csv);
        let place = FilePlace::Line { line, column: Some(character) };
        assert_eq!(error.place, Some(place), "{}", csv.escape_ascii());
        let start = format!("cannot read a.csv, line {line}, character {character}: {cause}; ");
        assert!(error.to_string().starts_with(&start), "{error}");
    }
    for (csv, message) in [
        (
            &b"\xff\xfei\0d\0\n\0"[..],
            "it is UTF-16; leave the encoding to be found, or set utf-16le or utf-16be",
        ),
        (b"PAR1\x15\x04\"", "it is Parquet; give it a name that ends in .parquet"),
        (
            b"\x1f\x8b\x08\"\r",
            "its compressed bytes are damaged, or end early; fetch the file anew, or compress it anew",
        ),
        (b"ARROW1\0\0", "it is an Arrow file; give it a name that ends in .arrow"),
        (b"\xff\xff\xff\xff\x78\x01\0\0", "it is an Arrow file; give it a name that ends in .arrow"),
        (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", "it is a spreadsheet; open it, and save the sheet as CSV"),
        (b"\x89HDF\r\n\x1a\n", "it is an HDF5 file; save the table as CSV"),
        (b"SQLite format 3\0", "it is an SQLite database; save the table as CSV"),
        (b"{\"id\": 1}\n", "it is JSON; save the table as CSV"),
        (b"[{\"id\": 1}]\n", "it is JSON; save the table as CSV"),
        (
            b"\n<!DOCTYPE html>\n<html>",
            "it is a page of the web, perhaps one that asks to log in; fetch the file anew, and look at it before you name \
             it here",
        ),
        (
            b"i\0d\0\n\0",
            "it begins with zero bytes between letters, as UTF-16 without a mark does; set its encoding, utf-16le or utf-16be",
        ),
        (b"PK\x03\x04\r\"", "it is a ZIP archive; unpack it, and name the table's file that is in it"),
    ] {
        assert_eq!(refused(csv).to_string(), format!("cannot read a.csv: {message}"));
        if csv.starts_with(b"\x1f\x8b") {
            continue;
        }
        let marked = [b"\xef\xbb\xbf", csv].concat();
        assert_eq!(refused(&marked).to_string(), format!("cannot read a.csv: {message}"));
    }
    // The first file of a ZIP archive tells the archive's kind.
    for (name, cause) in [
        ("[Content_Types].xml", "it is a spreadsheet; open it"),
        ("mimetype", "it is a spreadsheet; open it"),
        ("weights.npy", "it is an archive of NumPy arrays; write the array as CSV"),
        ("sales.csv", "it is a ZIP archive; unpack it"),
    ] {
        let mut archive = b"PK\x03\x04".to_vec();
        archive.resize(26, 0);
        archive.extend([name.len() as u8, 0, 0, 0]);
        archive.extend(name.bytes().chain(*b"1,2\n"));
        let error = refused(&archive).to_string();
        assert!(error.starts_with(&format!("cannot read a.csv: {cause}")), "{name}: {error}");
    }
    assert!(refused(b"\x93NUMPY\x01\0").to_string().contains("it is a NumPy array; write the array as CSV"));
    // Columns may have the name of a format.
    assert!(count(b"PAR1,PK\n1,2\n", "PK").is_ok());
    let packed = refused(b"BZh91AY&SY").to_string();
    assert!(packed.contains("it is compressed; unpack it, or compress it with gzip"), "{packed}");
}

/// A file may continue without end after an unclosed quote, but memory must not.
#[test]
fn records_have_an_end() {
    /// The most bytes of a record, including its line end.
    const MOST: usize = 16 << 20;
    let fault = |csv: &mut dyn Read| -> String {
        let mut rows = match Rows::new(Path::new("a.csv"), csv) {
            Ok(rows) => rows,
            Err(e) => return e.to_string(),
        };
        loop {
            match rows.read() {
                Ok(Some(_)) => {}
                Ok(None) => return String::new(),
                Err(e) => return e.to_string(),
            }
        }
    };
    const QUOTED: &str = "the quote that opens here makes a record of more than 16 MiB; close it at the end";
    const PLAIN: &str = "the record that begins here has more than 16 MiB; end records with a line end";
    for (csv, byte, place, cause) in [
        (&b"id,x\n1,2\n3,\""[..], b'x', "line 3, character 3", QUOTED),
        (b"id,x\n1,2\n3,\"", b'\n', "line 3, character 3", QUOTED),
        (b"id,x\n1,2\n\"a\nb\",", b'x', "line 3, character 1", PLAIN),
        (b"id,x\n1,2\n", b',', "line 3, character 1", PLAIN),
        (b"", b'i', "line 1, character 1", PLAIN),
        (b"id,\"", b'x', "line 1, character 4", QUOTED),
    ] {
        let error = fault(&mut csv.chain(io::repeat(byte)));
        assert!(error.starts_with(&format!("cannot read a.csv, {place}: {cause}")), "{error}");
    }
    let record = |length: usize, quote: &str| {
        let inner = length - 1 - 2 * quote.len();
        format!("{quote}{}{}{quote}\n", "é".repeat(inner / 2), "x".repeat(inner % 2))
    };
    for quote in ["", "\""] {
        for (length, is_good) in [(MOST, true), (MOST + 1, false)] {
            let csv = ["id\n1\n", &record(length, quote), "2\n", &record(length, quote)].concat();
            let error = fault(&mut csv.as_bytes());
            assert_eq!(error.is_empty(), is_good, "{length} {quote:?}: {error}");
        }
    }
}

/// A quote that opens in the first row would swallow a thousand rows, and the set would have only a
/// few keys.
#[test]
fn places_are_right_far_into_a_file() {
    let text = "é".repeat(150);
    let csv = format!("id,x\n{}{text},b\"\n", format!("{text},a\n").repeat(40));
    let e = refused(csv.as_bytes()).to_string();
    assert!(e.contains("line 42, character 153"), "{e}");
    let csv = format!("id,x\n{}\"{text}\n{text}\",b\n{text}\r,\n", format!("{text},a\n").repeat(40));
    let e = refused(csv.as_bytes()).to_string();
    assert!(e.contains("line 44, character 151"), "{e}");
}

#[test]
fn a_stray_quote_drops_no_rows() {
    let mut csv = String::from("id\n\"k0\n");
    (1..1000).for_each(|i| csv += &format!("k{i}\n"));
    assert!(refused(csv.as_bytes()).to_string().contains("line 2, character 1"));
    csv = csv.replacen('"', "", 1);
    assert_eq!(count(csv.as_bytes(), "id"), Ok(1000));
    // The place is also right far beyond the bytes that are read at a time.
    csv += "\"late\n";
    assert!(refused(csv.as_bytes()).to_string().contains("line 1002, character 1"));
}

#[test]
fn only_the_first_bytes_are_a_mark() {
    // Found by the fuzz target: continuation bytes of a character have no column of their own.
    grammar::compare(b"\xba\xba\xba\xff\xfe\xba\xba");
    grammar::compare(b"\xff\xfea\0");
}

/// A line of blanks is not a row if blanks are dropped. A line with an empty quoted field is a row
/// that is too short.
#[test]
fn lines_of_blanks_are_no_rows() {
    grammar::compare(b",\n\"\"");
    grammar::compare(b",\n ");
    let count = |csv: &[u8], dialect: &Dialect| -> Result<usize, FileError> {
        let mut rows = Rows::with(Path::new("a.csv"), csv, dialect)?;
        let mut count = 0;
        while rows.read()?.is_some() {
            count += 1;
        }
        Ok(count)
    };
    assert_eq!(count(b"id,x\n1,2\n \t\n3,4\n  ", &Dialect::default()), Ok(2));
    for csv in [&b"id,x\n1,2\n\"\"\n3,4\n"[..], b"id,x\n1,2\n\" \"\n3,4\n"] {
        let error = count(csv, &Dialect::default()).expect_err("a row of one field");
        assert!(error.to_string().contains("line 3: it has 1 field where"), "{error}");
    }
}

#[test]
fn rows_with_flags_are_written_strictly() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("a.csv");
    let flags = |csv: &str| {
        std::fs::write(&path, csv).unwrap();
        let mut out = vec![];
        let mut rows = Rows::open(&path)?;
        write_flags(&path, &mut rows, &[true, false], &mut out).map(|()| String::from_utf8(out).unwrap())
    };
    let written = flags("\u{feff}id,x\r\n1,\"a\"\"b\"\r\n\r\n2,\"c,d\"").unwrap();
    assert_eq!(written, "id,x,in_both\n1,\"a\"\"b\",1\n2,\"c,d\",0\n");
    assert!(flags("id,x\n1,a\n2,\"b\n").unwrap_err().to_string().contains("line 3, character 3"));
    assert!(flags("id,x\n1,a\n").unwrap_err().to_string().contains("changed"));
    let twice = "it has a column in_both already";
    assert!(flags("id,in_both\n1,a\n2,b\n").unwrap_err().to_string().contains(twice));
    // The check before anything runs also finds it, for flags only.
    let check = |all| check_result(&path, &mut Rows::open(&path).unwrap(), all, false);
    assert!(check(true).unwrap_err().to_string().contains(twice) && check(false).is_ok());
}

/// Found by the fuzz target: a line after the last one was named if line ends differ.
#[test]
fn lines_are_counted_whatever_ends_each() {
    let error = |text: &str| refused(text.as_bytes()).to_string();
    let narrow = "it has 1 field where the first line has 2";
    for (text, line) in [
        ("id,x\r\na,\"two\nlines\"\r\nb,\"c\"\nd", 5),
        ("id,x\na,b\r\nc", 3),
        ("id,x\r\na,b\nc", 3),
        // Without quotes and carriage returns, many bytes are scanned at a time.
        ("id,x\n\na,b\n\n\nc\n", 6),
        ("id,x\n\n\r\na,b\n\n\n\r\nc\n", 8),
        ("\r\n\nid,x\r\n\r\na\n", 5),
    ] {
        let said = error(text);
        assert!(said.contains(narrow) && said.contains(&format!("line {line}")), "{text:?}: {said}");
    }
    let many = "a,b\n".repeat(5000);
    assert!(error(&format!("id,x\r\n{many}c\r\n")).contains("line 5002"));
}

/// Lines are counted in the same way for any line end, after a header and after a quoted line end.
#[test]
fn lines_that_end_with_two_bytes_are_counted_as_others() {
    for end in ["\n", "\r\n"] {
        let file = |text: &str| text.replace('|', end).into_bytes();
        let error = |text: &str| refused(&file(text)).to_string();
        for (text, line) in [
            ("id,x|1|", 2),
            ("id,x|1,2|3|", 3),
            ("id,x|1,2|4,\"a\nb\"|3|5,6|", 5),
            ("\"id\",\"x\"|1,2|3,4|5|", 4),
        ] {
            let told = error(text);
            assert!(told.starts_with(&format!("cannot read a.csv, line {line}: it has 1 field")), "{told}");
        }
        let text = file("id,x|1,2|3,4|");
        let mut rows = Rows::new(Path::new("a.csv"), &text[..]).unwrap();
        let mut lines = vec![];
        while let Some(record) = rows.read().unwrap() {
            let line = record.position().unwrap().line();
            assert_eq!(rows.place(), Some(FilePlace::Line { line, column: None }));
            lines.push(line);
        }
        assert_eq!(lines, [2, 3]);
    }
}

#[test]
fn rows_are_written() {
    let (path, mut out) = (Path::new("a.csv"), vec![]);
    let mut rows = Rows::new(path, &b"id,x\r\n1,\"a,b\"\n2,c\n1,d\n"[..]).unwrap();
    write_rows(path, &mut rows, &[true, false, true], &mut out).unwrap();
    assert_eq!(out, b"id,x\n1,\"a,b\"\n1,d\n");
    let mut rows = Rows::new(path, &b"id\n1\n"[..]).unwrap();
    let error = write_rows(path, &mut rows, &[true, true], vec![]).unwrap_err().to_string();
    assert_eq!(error, "cannot read a.csv: it has changed since the run began; run again");
    assert_eq!(csv_line(&["1".to_owned(), "x,\"y".to_owned()]).unwrap(), "1,\"x,\"\"y\"");
}

#[test]
#[cfg(not(feature = "parquet"))]
fn a_result_in_a_format_that_the_build_lacks_cannot_be_written() {
    let said = |error: FileError| error.to_string();
    let to = Path::new("x.parquet");
    let cause = "cannot write x.parquet: it would be Parquet, and this hushwire was built without it";
    assert!(said(hushwire_files::check_output(to).unwrap_err()).starts_with(cause));
    let cause = "cannot read x.parquet: it is Parquet, and this hushwire was built without it";
    assert!(said(Rows::open(to).map(|_| ()).unwrap_err()).starts_with(cause));
    assert!(hushwire_files::check_output(Path::new("x.csv")).is_ok());
}

/// Writes a record in one of the ways that RFC 4180 allows.
fn written(record: &[Vec<u8>], quoted: u32, end: &[u8], out: &mut Vec<u8>) {
    for (i, field) in record.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        // A record of one empty field needs quotes.
        let lone = record.len() == 1 && field.is_empty();
        if lone || quoted >> i & 1 == 1 || field.iter().any(|b| b",\"\r\n".contains(b)) {
            out.push(b'"');
            field.iter().for_each(|b| {
                out.extend_from_slice(if *b == b'"' { b"\"\"" } else { std::slice::from_ref(b) });
            });
            out.push(b'"');
        } else {
            out.extend_from_slice(field);
        }
    }
    out.extend_from_slice(end);
}

proptest! {
    #[test]
    fn what_is_written_is_read(
        records in (1usize..5).prop_flat_map(|width| {
            let byte = prop_oneof![Just(b'"'), Just(b','), Just(b'\r'), Just(b'\n'), Just(b'a'), any::<u8>()];
            let field = proptest::collection::vec(byte, 0..6);
            proptest::collection::vec(proptest::collection::vec(field, width), 1..20)
        }),
        quoted: u32, marked: bool, windows: bool, open: bool, blank: u32,
    ) {
        let end: &[u8] = if windows { b"\r\n" } else { b"\n" };
        let mut csv = vec![];
        for (i, record) in records.iter().enumerate() {
            written(record, quoted.rotate_left(i as u32), end, &mut csv);
            if blank >> (i % 32) & 1 == 1 {
                csv.extend_from_slice(end);
            }
        }
        if open {
            csv.truncate(csv.trim_ascii_end().len().max(csv.len() - end.len()));
        }
        // Bytes that begin like a mark are one. Bytes that begin like UTF-16 or like compressed
        // data are not text.
        prop_assume!(![&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"]
            .iter()
            .any(|begin| csv.starts_with(begin)));
        prop_assume!(!csv.iter().take(4).any(|byte| *byte == 0));
        if marked {
            csv.splice(0..0, *b"\xef\xbb\xbf");
        }
        let owned = |record: &csv::ByteRecord| record.iter().map(<[u8]>::to_vec).collect::<Vec<_>>();
        let fail = |e: FileError| TestCaseError::fail(e.to_string());
        let mut rows = Rows::with(Path::new("a.csv"), &csv[..], &Dialect::rfc4180()).map_err(fail)?;
        let mut read = vec![owned(rows.header())];
        while let Some(row) = rows.read().map_err(fail)? {
            read.push(owned(row));
        }
        prop_assert_eq!(read, records);
    }

    #[test]
    fn any_bytes_are_read_as_the_grammar_says(
        csv in proptest::collection::vec(
            prop_oneof![8 => Just(b'"'), 8 => Just(b','), 4 => Just(b'\r'), 8 => Just(b'\n'), 8 => Just(b'a'), 1 => any::<u8>()],
            0..40,
        ),
        marked: bool,
    ) {
        grammar::compare(&csv);
        if marked {
            grammar::compare(&[b"\xef\xbb\xbf", &csv[..]].concat());
        }
    }
}
