//! Arrow's own files and streams, written by Arrow's Python library (pyarrow 26.0.1). They have
//! three rows of many types, with the middle one NULL: `write_feather` with LZ4, `ipc.new_file`
//! with Zstandard, and `ipc.new_stream` without compression, with two rows in each batch.
//! `dictionaries.arrows` has a dictionary that grows and one that is replaced. Polars 2.1.0 wrote
//! `polars.arrow`, whose texts are views.

#![cfg(feature = "parquet")]

use hushwire_files::{FileFormat, Rows, check_output, parquet, write_parquet};
use proptest::prelude::*;
use std::{
    fs,
    path::{Path, PathBuf},
};

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name)
}

const ROWS: [(&str, &str, &[u8], &[u8]); 24] = [
    ("flag", "BOOLEAN", b"true", b"false"),
    ("tiny", "SMALLINT", b"-128", b"127"),
    ("u32", "BIGINT", b"4294967295", b"0"),
    ("u64", "DECIMAL(20, 0)", b"18446744073709551615", b"1"),
    ("big", "BIGINT", b"-9223372036854775808", b"9223372036854775807"),
    ("money", "DECIMAL(22, 2)", b"-0.01", b"12345678901234567890.55"),
    ("small_money", "DECIMAL(3, 1)", b"-0.5", b"99.9"),
    ("wide_money", "DECIMAL(38, 3)", b"-0.001", b"12345678901234567890.555"),
    ("day", "DATE", b"1582-10-15", b"2026-11-23"),
    ("day64", "DATE", b"1582-10-15", b"2026-11-23"),
    ("sec", "TIMESTAMP", b"2026-11-23 14:05:00", b"1900-01-01 00:00:00"),
    ("ms", "TIMESTAMP", b"2026-11-23 14:05:00.250000", b"1900-01-01 00:00:00"),
    ("us", "TIMESTAMP", b"2026-11-23 14:05:00.123456", b"1969-12-31 23:59:59"),
    ("ns", "TIMESTAMP", b"2026-11-23 14:05:00.123456", b"1969-12-31 23:59:59"),
    ("half", "DOUBLE", b"0.5", b"-3"),
    ("single", "DOUBLE", b"0.1", b"-3"),
    ("word", "VARCHAR", "Zürich".as_bytes(), b""),
    ("large", "VARCHAR", "Zürich".as_bytes(), b""),
    ("view", "VARCHAR", b"a string that is longer than twelve", b"short"),
    ("raw", "VARCHAR", b"\xff\x00", b"x"),
    ("fixed", "VARCHAR", b"ab", b"cd"),
    ("code", "VARCHAR", b"a", b"b"),
    ("chosen", "BIGINT", b"7", b"-9"),
    ("last", "INTEGER", b"1", b"3"),
];

/// The fields of chosen columns, row by row; `None` for NULL.
fn read(path: &Path, names: &[&str]) -> Result<Vec<Vec<Option<Vec<u8>>>>, String> {
    let told = |e: hushwire_files::FileError| e.to_string();
    let mut rows = Rows::open(path).map_err(told)?;
    let places = rows.select(names.iter().copied()).map_err(told)?;
    let mut all = vec![];
    while rows.read().map_err(told)?.is_some() {
        let field = |at: &usize| (!rows.is_null(*at)).then(|| rows.last()[*at].to_vec());
        all.push(places.iter().map(field).collect());
    }
    Ok(all)
}

#[test]
fn files_and_streams_of_arrow_are_read_with_their_types() {
    for name in ["arrow-lz4.feather", "arrow-zstd.arrow", "arrow-plain.arrows"] {
        let path = vector(name);
        let rows = Rows::open(&path).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert!(rows.found().format == FileFormat::Arrow && !rows.is_text());
        let (names, declared) = (rows.names(), rows.declared());
        for (column, kind, ..) in ROWS {
            let at = names.iter().position(|known| known == column).expect(column);
            assert_eq!(declared[at].as_deref(), Some(kind), "{name}: {column}");
        }
        let wanted: Vec<&str> = ROWS.iter().map(|(column, ..)| *column).collect();
        let all = read(&path, &wanted).unwrap_or_else(|e| panic!("{name}: {e}"));
        for (at, (column, _, first, last)) in ROWS.into_iter().enumerate() {
            let found: Vec<Option<&[u8]>> = all.iter().map(|row| row[at].as_deref()).collect();
            assert_eq!(found, [Some(first), None, Some(last)], "{name}: {column}");
        }
        // Columns after nested ones are also found alone, and in another order.
        let some = read(&path, &["last", "flag"]).unwrap_or_else(|e| panic!("{name}: {e}"));
        assert_eq!(some[2], [Some(b"3".to_vec()), Some(b"false".to_vec())], "{name}");
        assert_eq!(read(&path, &["none"]).map(|all| all.len()), Ok(3), "{name}");
        for column in ["list", "pair", "clock"] {
            let e = rows.column(column).expect_err(column).to_string();
            assert!(e.contains("is of a type that is not read"), "{e}");
        }
        let e = rows.column("absent").expect_err("no such column").to_string();
        assert!(e.contains("no column is called absent; there are flag, tiny"), "{e}");
    }
}

#[test]
fn dictionaries_grow_and_are_replaced() {
    let all = read(&vector("dictionaries.arrows"), &["c"]).unwrap_or_else(|e| panic!("{e}"));
    let texts = all.iter().map(|row| String::from_utf8_lossy(row[0].as_deref().unwrap()).into_owned());
    assert_eq!(texts.collect::<Vec<_>>(), ["x", "y", "z", "x", "q"]);
}

#[test]
fn texts_of_polars_are_views() {
    let all =
        read(&vector("polars.arrow"), &["name", "id", "day", "price"]).unwrap_or_else(|e| panic!("{e}"));
    let text = |row: usize| {
        let field = |field: &Option<Vec<u8>>| match field {
            Some(field) => String::from_utf8_lossy(field).into_owned(),
            None => "~".to_owned(),
        };
        all[row].iter().map(field).collect::<Vec<_>>().join("|")
    };
    assert_eq!(text(0), "Ann|1|2026-11-23|1.5");
    assert_eq!(text(1), "a name that has more than twelve bytes|2|~|~");
    assert_eq!(text(2), "~|3|1999-01-01|-2.25");
}

#[test]
fn what_a_timestamp_cannot_hold_is_refused_with_its_row() {
    let e = read(&vector("finer.arrow"), &["t"]).expect_err("finer");
    assert!(e.contains("finer.arrow, row 2: column t: its time is finer than a microsecond"), "{e}");
}

#[test]
fn other_files_that_are_called_arrow_are_named() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let path = dir.path().join("a.arrow");
    let whole = fs::read(vector("arrow-zstd.arrow")).unwrap_or_else(|e| panic!("{e}"));
    for (bytes, words) in [
        (&b"id,n\n1,2\n"[..], "if it is CSV, give it a name that ends in .csv"),
        (b"PAR1....", "give it a name that ends in .parquet"),
        (b"FEA1\0\0\0\0", "it is Feather of version 1"),
        (b"", "it is no good Arrow: it has no schema"),
        (&whole[..whole.len() - 8], "it does not end as Arrow does"),
        (&whole[..12], "it does not end as Arrow does"),
    ] {
        fs::write(&path, bytes).unwrap_or_else(|e| panic!("{e}"));
        let e = Rows::open(&path).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.contains(words), "{e}");
    }
    let csv = dir.path().join("a.csv");
    for name in ["arrow-zstd.arrow", "arrow-plain.arrows"] {
        fs::copy(vector(name), &csv).unwrap_or_else(|e| panic!("{e}"));
        let e = Rows::open(&csv).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(e.contains("it is an Arrow file") && e.contains("ends in .arrow"), "{name}: {e}");
    }
    let e = check_output(Path::new("r.feather")).expect_err("not written").to_string();
    assert!(e.contains("which is read and not written"), "{e}");
}

#[test]
fn rows_of_an_arrow_file_keep_their_types_in_parquet() {
    let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
    let to = dir.path().join("r.parquet");
    let from = vector("polars.arrow");
    let mut rows = Rows::open(&from).unwrap_or_else(|e| panic!("{e}"));
    let out = fs::File::create(&to).unwrap_or_else(|e| panic!("{e}"));
    write_parquet(&from, &mut rows, &[true, true, false], true, out).unwrap_or_else(|e| panic!("{e}"));
    let mut copy = parquet::Rows::open(&to).unwrap_or_else(|e| panic!("{e}"));
    let kinds: Vec<String> = copy.columns().iter().map(|c| c.kind.expect("a type").to_string()).collect();
    assert_eq!(kinds, ["BIGINT", "VARCHAR", "DATE", "DOUBLE", "BOOLEAN"]);
    let mut texts = vec![];
    while let Some((record, _)) = copy.read().unwrap_or_else(|e| panic!("{e}")) {
        let field =
            |at| record.get(at).map_or("~".into(), |field| String::from_utf8_lossy(field).into_owned());
        texts.push((0..5).map(field).collect::<Vec<String>>().join("|"));
    }
    assert_eq!(texts[0], "1|Ann|2026-11-23|1.5|true");
    assert_eq!(texts[1], "2|a name that has more than twelve bytes|~|~|true");
    assert_eq!(texts[2], "3|~|1999-01-01|-2.25|false");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// For any content of a file, the result is rows or an error.
    #[test]
    fn broken_files_are_errors_and_no_panics(
        which in 0usize..4,
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        cut in prop::option::of(any::<prop::sample::Index>()),
    ) {
        let name = ["arrow-lz4.feather", "arrow-zstd.arrow", "arrow-plain.arrows", "polars.arrow"][which];
        let mut bytes = fs::read(vector(name)).unwrap_or_else(|e| panic!("{e}"));
        for (at, byte) in changes {
            let at = at.index(bytes.len());
            bytes[at] = byte;
        }
        if let Some(cut) = cut {
            bytes.truncate(cut.index(bytes.len()));
        }
        let dir = tempfile::tempdir().unwrap_or_else(|e| panic!("{e}"));
        let path = dir.path().join("a.arrow");
        fs::write(&path, bytes).unwrap_or_else(|e| panic!("{e}"));
        if let Ok(mut rows) = Rows::open(&path) {
            for _ in 0..1000 {
                match rows.read() {
                    Ok(Some(_)) => {}
                    Ok(None) => break,
                    Err(e) => {
                        prop_assert!(e.to_string().contains("a.arrow"), "{e}");
                        break;
                    }
                }
            }
        }
    }
}
