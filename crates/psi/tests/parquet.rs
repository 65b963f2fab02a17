//! Parquet files of keys and results, compared with the same tables as CSV.
#![cfg(feature = "parquet")]

use hushwire_files::{
    FileError, FilePlace, Rows,
    parquet::{ParquetColumn, ParquetField, ParquetType, write},
    write_columns, write_flags, write_parquet, write_parquet_columns, write_rows,
};
use hushwire_psi::{Beside, Carried, KeyColumn, KeySpec, TableKeys, amounts};
use std::{fs::File, path::Path};

/// The rows of a table: name, a number that may be NULL, a day.
const ROWS: [(Option<&str>, Option<i128>, i128); 5] = [
    (Some(" Ann@X.org"), Some(7), 0),
    (Some("bob"), None, 1),
    (None, Some(-2), 2),
    (Some("Zoe\u{308}@x, y"), Some(7), 20_780),
    (Some("ann@x.org "), Some(30), 4),
];
/// The same rows as CSV.
const CSV: &str = "name,n,day\n Ann@X.org,7,1970-01-01\nbob,,1970-01-02\n,-2,1970-01-03\n\"Zoe\u{308}@x, y\",7,2026-11-23\nann@x.org ,30,1970-01-05\n";

fn table(path: &Path) {
    let columns = [
        ParquetColumn::new("name", ParquetType::Text, true),
        ParquetColumn::new("n", ParquetType::Integer { bits: 32 }, true),
        ParquetColumn::new("day", ParquetType::Date, false),
    ];
    let file = File::create(path).expect("a file");
    write(file, &columns, ROWS.len(), |row, column| match (ROWS[row], column) {
        ((name, ..), 0) => name.map_or(ParquetField::Null, |name| ParquetField::Text(name.as_bytes())),
        ((_, n, _), 1) => n.map_or(ParquetField::Null, ParquetField::Number),
        ((.., day), _) => ParquetField::Number(day),
    })
    .expect("written");
}

fn spec(columns: &[(&str, &str)]) -> KeySpec {
    let column = |(name, form): &(&str, &str)| KeyColumn {
        name: (*name).to_owned(),
        normal: form.parse().expect("a form"),
    };
    KeySpec::new(columns.iter().map(column).collect()).expect("columns")
}

#[test]
fn keys_and_numbers_are_those_of_the_same_csv() {
    let dir = tempfile::tempdir().expect("a directory");
    let [parquet, csv] = ["t.parquet", "t.csv"].map(|name| dir.path().join(name));
    table(&parquet);
    std::fs::write(&csv, CSV).expect("written");
    let each = |keys: &TableKeys| keys.each().map(|key| key.map(<[u8]>::to_vec)).collect::<Vec<_>>();
    for columns in [
        &[("name", "trim")][..],
        &[("name", "exact")],
        &[("name", "email")],
        &[("n", "trim")],
        &[("day", "trim"), ("name", "nfc case")],
    ] {
        let [a, b] = [&parquet, &csv].map(|path| TableKeys::read(path, &spec(columns)).expect("keys"));
        assert_eq!(each(&a), each(&b), "{columns:?}");
        assert_eq!((a.rows(), a.samples()), (b.rows(), b.samples()));
        let [a, b] = [a, b].map(|keys| keys.left_out());
        assert_eq!((a.empty, a.malformed), (b.empty, b.malformed));
    }
    let email = TableKeys::read(&parquet, &spec(&[("name", "email")])).expect("keys");
    assert_eq!(email.left_out().first_malformed, Some(FilePlace::Row(2)));
    let sums = [&parquet, &csv].map(|path| {
        let mut rows = Rows::open(path).expect("open");
        amounts(&mut rows, "n").expect("numbers").to_vec()
    });
    assert_eq!(sums, [vec![7, 0, -2, 7, 30], vec![7, 0, -2, 7, 30]]);
}

#[test]
fn results_go_from_either_format_to_either() {
    let dir = tempfile::tempdir().expect("a directory");
    let [parquet, csv, out] = ["t.parquet", "t.csv", "out.parquet"].map(|name| dir.path().join(name));
    table(&parquet);
    std::fs::write(&csv, CSV).expect("written");
    let flags = [true, false, true, true, false];
    let text = |path: &Path, flags: &[bool], all: bool| {
        let (mut rows, mut text) = (Rows::open(path).expect("open"), vec![]);
        let write = if all {
            write_flags(path, &mut rows, flags, &mut text)
        } else {
            write_rows(path, &mut rows, flags, &mut text)
        };
        write.expect("written");
        String::from_utf8(text).expect("text")
    };
    for all in [false, true] {
        let wanted = text(&csv, &flags, all);
        assert_eq!(text(&parquet, &flags, all), wanted);
        for from in [&parquet, &csv] {
            let file = File::create(&out).expect("a file");
            write_parquet(from, &mut Rows::open(from).expect("open"), &flags, all, file).expect("written");
            let kept = vec![true; if all { 5 } else { 3 }];
            let found = text(&out, &kept, false);
            let found =
                if all { found.replace(",true\n", ",1\n").replace(",false\n", ",0\n") } else { found };
            assert_eq!(found, wanted, "{} to Parquet", from.display());
        }
        // A file that has changed since its keys were read.
        for (from, flags) in
            [&parquet, &csv].into_iter().flat_map(|from| [(from, &flags[..4]), (from, &[true; 6])])
        {
            let result =
                write_parquet(from, &mut Rows::open(from).expect("open"), flags, all, std::io::sink());
            assert!(
                result.expect_err("other rows").to_string().contains("it has changed since the run began")
            );
        }
    }
}

#[test]
fn large_tables_are_written_in_groups() {
    let dir = tempfile::tempdir().expect("a directory");
    let [csv, out] = ["t.csv", "out.parquet"].map(|name| dir.path().join(name));
    let rows = 150_000;
    let text: String = (0..rows).map(|i| format!("{i}\n")).collect();
    std::fs::write(&csv, format!("id\n{text}")).expect("written");
    let flags: Vec<bool> = (0..rows).map(|i| i % 3 != 1).collect();
    let file = File::create(&out).expect("a file");
    write_parquet(&csv, &mut Rows::open(&csv).expect("open"), &flags, false, file).expect("written");
    let mut found = Rows::open(&out).expect("open");
    for i in (0..rows).filter(|i| i % 3 != 1) {
        assert_eq!(found.read().expect("read").expect("a row").get(0), Some(i.to_string().as_bytes()));
    }
    assert!(found.read().expect("read").is_none());
}

#[test]
fn files_that_do_not_serve_are_errors_with_their_place() {
    let dir = tempfile::tempdir().expect("a directory");
    let [good, bad, csv] = ["good.parquet", "bad.parquet", "t.csv"].map(|name| dir.path().join(name));
    table(&good);
    let bytes = std::fs::read(&good).expect("read");
    let error =
        |result: Result<TableKeys, FileError>| result.err().map_or_else(String::new, |e| e.to_string());
    for (bytes, words) in [
        (&bytes[..bytes.len() - 1], "it is no good Parquet"),
        (&bytes[8..], "it is no good Parquet"),
        (CSV.as_bytes(), "it is no good Parquet"),
        (b"", "it is no good Parquet"),
    ] {
        std::fs::write(&bad, bytes).expect("written");
        let e = error(TableKeys::read(&bad, &spec(&[("name", "trim")])));
        assert!(e.contains("bad.parquet") && e.contains(words), "{e}");
    }
    let e = error(TableKeys::read(&good, &spec(&[("mail", "trim")])));
    assert!(e.contains("no column is called mail; there are name, n, day"), "{e}");
    let e = error(TableKeys::read(&dir.path().join("none.parquet"), &spec(&[("name", "trim")])));
    assert!(e.contains("check the spelling"), "{e}");
    let e = amounts(&mut Rows::open(&good).expect("open"), "day").expect_err("days").to_string();
    assert!(e.contains("row 1: column day has a field of the form 9999-99-99"), "{e}");
    // A field that is not UTF-8 cannot be in a Parquet file of text.
    std::fs::write(&csv, b"id,x\n1,\xff\n").expect("written");
    let mut rows = Rows::open(&csv).expect("open");
    let e = write_parquet(&csv, &mut rows, &[true], false, std::io::sink()).expect_err("bytes").to_string();
    assert!(e.contains("line 2: column x is not UTF-8"), "{e}");
    std::fs::write(&csv, b"id,in_both\n1,2\n").expect("written");
    let mut rows = Rows::open(&csv).expect("open");
    let e = write_parquet(&csv, &mut rows, &[true], true, std::io::sink()).expect_err("twice").to_string();
    assert!(e.contains("it has a column in_both already"), "{e}");
}

/// Columns of the other party, from either format into either, next to the table's own types: they
/// are text.
#[test]
fn columns_of_the_other_party_go_from_either_format_to_either() {
    let dir = tempfile::tempdir().expect("a directory");
    let [parquet, csv, out] = ["t.parquet", "t.csv", "out.parquet"].map(|name| dir.path().join(name));
    table(&parquet);
    std::fs::write(&csv, CSV).expect("written");
    let names = ["day".to_owned(), "n".to_owned()];
    let theirs = Carried::new(&names, 20).expect("columns");
    // Rows of one key must agree on the day, and rows without a key are ignored.
    let spec = KeySpec::column("name");
    let payloads = [&parquet, &csv].map(|path| {
        let keys = TableKeys::read(path, &spec).expect("keys");
        theirs.read(path, || Rows::open(path), &keys).expect("fields")
    });
    assert_eq!(payloads[0], payloads[1]);
    assert_eq!(theirs.fields(payloads[0].get(1)), Some(vec!["1970-01-02", ""]), "NULL is empty");
    let e = theirs.read(
        &parquet,
        || Rows::open(&parquet),
        &TableKeys::read(&parquet, &KeySpec::column("n")).expect("keys"),
    );
    let e = e.expect_err("two rows have 7").to_string();
    assert!(e.contains("row 4: its key is that of row 1, with another field in day; "), "{e}");

    let names = ["other".to_owned(), "one more".to_owned()];
    let theirs = Carried::new(&names, 20).expect("columns");
    let of_row = [Some(3), None, Some(1), Some(0), None];
    let beside = Beside { carried: &theirs, payloads: &payloads[0], of_row: &of_row };
    let flags = of_row.map(|common| common.is_some());
    let mut text = vec![];
    write_columns(&csv, &mut Rows::open(&csv).expect("open"), &flags, &beside, &mut text).expect("written");
    for from in [&parquet, &csv] {
        let mut rows = Rows::open(from).expect("open");
        write_parquet_columns(from, &mut rows, &flags, &beside, File::create(&out).expect("a file"))
            .expect("written");
        let (mut rows, mut found) = (Rows::open(&out).expect("open"), vec![]);
        write_rows(&out, &mut rows, &[true; 3], &mut found).expect("written");
        assert_eq!(String::from_utf8(found), String::from_utf8(text.clone()), "{}", from.display());
    }
    let names = ["n".to_owned()];
    let twice = Carried::new(&names, 20).expect("columns");
    let beside = Beside { carried: &twice, ..beside };
    let written = write_parquet_columns(
        &parquet,
        &mut Rows::open(&parquet).expect("open"),
        &flags,
        &beside,
        std::io::sink(),
    );
    assert!(written.expect_err("twice").to_string().contains("it has a column n already"));
}
