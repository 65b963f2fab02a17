//! Files that Arrow's Python library wrote (pyarrow 26.0.1), by `pyarrow.parquet.write_table(…,
//! row_group_size=2, store_schema=False)`. They have three rows, the middle one NULL in all
//! columns. One file has zstd and format 2.6, one gzip, format 1.0 and times in 96 bits, and one
//! lz4 and data pages of version 2.

#![cfg(feature = "parquet")]

use hushwire_files::parquet::{ParquetType, Rows};
use std::path::{Path, PathBuf};

fn vector(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors").join(name)
}

const ROWS: [(&str, &str, &[u8], &[u8]); 14] = [
    ("flag", "BOOLEAN", b"true", b"false"),
    ("tiny", "SMALLINT", b"-128", b"127"),
    ("u32", "BIGINT", b"4294967295", b"0"),
    ("u64", "DECIMAL(20, 0)", b"18446744073709551615", b"1"),
    ("big", "BIGINT", b"-9223372036854775808", b"9223372036854775807"),
    ("money", "DECIMAL(22, 2)", b"-0.01", b"12345678901234567890.55"),
    ("small_money", "DECIMAL(3, 1)", b"-0.5", b"99.9"),
    ("day", "DATE", b"1582-10-15", b"2026-11-23"),
    ("ms", "TIMESTAMP", b"2026-11-23 14:05:00.250000", b"1900-01-01 00:00:00"),
    ("ns", "TIMESTAMP", b"2026-11-23 14:05:00.123456", b"1969-12-31 23:59:59"),
    ("single", "DOUBLE", b"0.5", b"-3"),
    ("word", "VARCHAR", "Zürich".as_bytes(), b""),
    ("raw", "VARCHAR", b"\xff\x00", b"x"),
    ("code", "VARCHAR", b"a", b"b"),
];

#[test]
fn files_of_arrow_are_read_with_their_types() {
    for codec in ["zstd", "gzip", "lz4"] {
        let mut rows = Rows::open(&vector(&format!("arrow-{codec}.parquet"))).expect(codec);
        assert_eq!(rows.count(), 3, "{codec}");
        let places = ROWS.map(|(name, ..)| rows.place(name).expect(name));
        for (at, (name, kind, ..)) in places.iter().zip(ROWS) {
            let shown = rows.columns()[*at].kind.as_ref().map(ParquetType::to_string);
            assert_eq!(shown.as_deref(), Some(kind), "{codec}: {name}");
        }
        rows.choose(&places).expect(codec);
        let mut read = vec![];
        while let Some((record, _)) = rows.read().expect(codec) {
            read.push(record.clone());
        }
        for (k, (name, _, first, last)) in ROWS.into_iter().enumerate() {
            let found = [0, 1, 2].map(|row| read[row].get(k));
            assert_eq!(found, [Some(first), None, Some(last)], "{codec}: {name}");
        }
        for name in ["list.list.element", "list.element", "clock"] {
            if let Some(column) = rows.columns().iter().find(|column| column.name == name) {
                assert_eq!(column.kind, None, "{codec}: {name}");
                let e = rows.place(name).expect_err(name).to_string();
                assert!(e.contains("is of a type that is not read"), "{e}");
            }
        }
    }
}

#[test]
fn what_a_timestamp_cannot_hold_is_refused_with_its_row() {
    let mut rows = Rows::open(&vector("finer.parquet")).expect("open");
    assert!(rows.read().expect("whole microseconds").is_some());
    let e = rows.read().expect_err("finer").to_string();
    assert!(e.contains("finer.parquet, row 2: column t: its time is finer than a microsecond"), "{e}");
}
