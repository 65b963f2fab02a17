use super::{Copied, Footers, ParquetColumn, ParquetField, ParquetType, Rows, Writer, is_decoding, write};
use crate::Dialect;
use std::{
    fs,
    path::{Path, PathBuf},
};

fn kinds() -> Vec<ParquetColumn> {
    [
        ("truth", ParquetType::Boolean),
        ("small", ParquetType::Integer { bits: 16 }),
        ("whole", ParquetType::Integer { bits: 32 }),
        ("big", ParquetType::Integer { bits: 64 }),
        ("cents", ParquetType::Decimal { precision: 7, scale: 2 }),
        ("more", ParquetType::Decimal { precision: 18, scale: 18 }),
        ("most", ParquetType::Decimal { precision: 38, scale: 1 }),
        ("day", ParquetType::Date),
        ("time", ParquetType::Timestamp),
        ("real", ParquetType::Double),
        ("text", ParquetType::Text),
    ]
    .map(|(name, kind)| ParquetColumn::new(name, kind, true))
    .into()
}

/// Two rows of values, with a row of NULLs between them.
fn value(row: usize, column: usize) -> ParquetField<'static> {
    let n = |a: i128, b: i128| ParquetField::Number(if row == 0 { a } else { b });
    match (row, column) {
        (1, _) => ParquetField::Null,
        (_, 0) => ParquetField::Boolean(row == 0),
        (_, 1) => n(-32_768, 32_767),
        (_, 2) => n(i32::MIN.into(), 7),
        (_, 3) => n(i64::MIN.into(), i64::MAX.into()),
        (_, 4) => n(-5, 9_999_999),
        (_, 5) => n(1, -999_999_999_999_999_999),
        (_, 6) => n(10i128.pow(38) - 1, -12),
        (_, 7) => n(-1, 20_780),
        (_, 8) => n(-1, 1_795_442_700_000_000),
        (_, 9) => ParquetField::Real(if row == 0 { -0.125 } else { 1e21 }),
        _ => ParquetField::Text(if row == 0 { b"" } else { "Zürich, \"x\"\n".as_bytes() }),
    }
}

const TEXTS: [[&str; 11]; 2] = [
    [
        "true",
        "-32768",
        "-2147483648",
        "-9223372036854775808",
        "-0.05",
        "0.000000000000000001",
        "9999999999999999999999999999999999999.9",
        "1969-12-31",
        "1969-12-31 23:59:59.999999",
        "-0.125",
        "",
    ],
    [
        "false",
        "32767",
        "7",
        "9223372036854775807",
        "99999.99",
        "-0.999999999999999999",
        "-1.2",
        "2026-11-23",
        "2026-11-23 14:05:00",
        "1000000000000000000000",
        "Zürich, \"x\"\n",
    ],
];

type Texts = Vec<Vec<Option<String>>>;

fn all(path: &Path) -> Result<Texts, crate::FileError> {
    let mut rows = Rows::open(path)?;
    let mut found = vec![];
    while let Some((record, _)) = rows.read()? {
        let text = |at| record.get(at).map(|bytes| String::from_utf8_lossy(bytes).into_owned());
        found.push((0..record.len()).map(text).collect());
    }
    Ok(found)
}

#[test]
fn every_kind_comes_back_as_the_text_that_csv_has() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("t.parquet");
    write(fs::File::create(&path).expect("a file"), &kinds(), 3, value).expect("written");
    let there = |texts: [&str; 11]| texts.map(|text| Some(text.to_owned())).to_vec();
    let expected = vec![there(TEXTS[0]), vec![None; 11], there(TEXTS[1])];
    assert_eq!(all(&path).expect("read"), expected);
    let mut rows = Rows::open(&path).expect("open");
    assert_eq!(rows.columns(), kinds());
    assert_eq!(rows.count(), 3);
    // Columns in any order, once or twice.
    let places = ["day", "truth", "day"].map(|name| rows.place(name).expect("a place"));
    rows.choose(&places).expect("chosen");
    let (record, _) = rows.read().expect("read").expect("a row");
    assert_eq!(
        [0, 1, 2].map(|at| record.get(at).expect("a field")),
        [b"1969-12-31", &b"true"[..], b"1969-12-31"]
    );
    assert!(record.get(3).is_none());
    assert_eq!(rows.place("DAY").expect("a place"), places[0]);
    let e = rows.place("days").expect_err("none").to_string();
    assert!(e.contains("no column is called days; there are truth, small"), "{e}");
}

/// Writes rows with their numbers, and a text in odd ones.
fn write_odd(path: &Path, count: usize) {
    let columns = [
        ParquetColumn::new("n", ParquetType::Integer { bits: 64 }, false),
        ParquetColumn::new("odd", ParquetType::Text, true),
    ];
    write(fs::File::create(path).expect("a file"), &columns, count, |row, column| match (column, row % 2) {
        (0, _) => ParquetField::Number(row as i128),
        (_, 0) => ParquetField::Null,
        _ => ParquetField::Text(b"odd"),
    })
    .expect("written");
}

#[test]
fn many_rows_and_groups_keep_their_order() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("t.parquet");
    let count = (1 << 17) + 5000;
    write_odd(&path, count);
    let mut rows = Rows::open(&path).expect("open");
    for i in 0..count {
        let (record, number) = rows.read().expect("read").expect("a row");
        assert_eq!(number, i as u64 + 1);
        assert_eq!(record.get(0), Some(i.to_string().as_bytes()));
        assert_eq!(record.get(1).is_some(), i % 2 == 1);
    }
    assert!(rows.read().expect("read").is_none() && rows.count() == count as u64);
    write_odd(&path, 0);
    assert_eq!(all(&path), Ok(vec![]));
}

#[test]
fn fields_of_another_type_are_not_written() {
    for (kind, field) in [
        (ParquetType::Integer { bits: 32 }, ParquetField::Number(1 << 31)),
        (ParquetType::Boolean, ParquetField::Number(1)),
        (ParquetType::Text, ParquetField::Real(1.0)),
        (ParquetType::Date, ParquetField::Null),
    ] {
        let e = write(vec![], &[ParquetColumn::new("c", kind, false)], 1, |_, _| field).expect_err("refused");
        assert!(e.to_string().contains("column c has a value that is not of its type"), "{e}");
    }
}

/// One byte of the file is changed, or its end is cut off. The result is rows or an error, and
/// never a panic.
#[test]
fn broken_files_are_errors_that_name_them() {
    let dir = tempfile::tempdir().expect("a directory");
    let (whole, path) = (dir.path().join("whole.parquet"), dir.path().join("broken.parquet"));
    write(fs::File::create(&whole).expect("a file"), &kinds(), 3, value).expect("written");
    let good = fs::read(&whole).expect("read");
    let mut refused = 0;
    for at in 0..good.len() {
        let mut bytes = good.clone();
        bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
        fs::write(&path, &bytes).expect("written");
        if let Err(e) = all(&path) {
            assert!(e.path == path && !e.cause.is_empty() && !e.remedy.is_empty(), "{e}");
            refused += 1;
        }
    }
    assert!(refused > good.len() / 4, "{refused} of {} were refused", good.len());
    for cut in [0, 3, 4, 8, good.len() / 2, good.len() - 1] {
        fs::write(&path, &good[..cut]).expect("written");
        let e = all(&path).expect_err("it ends early").to_string();
        assert!(e.contains("broken.parquet: it is no good Parquet"), "{e}");
    }
    let brotli = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/brotli.parquet");
    let e = all(&brotli).expect_err("its codec is not read").to_string();
    assert!(e.contains("compressed by brotli") && e.contains("Snappy, gzip, Zstandard or LZ4"), "{e}");
    let e = all(&dir.path().join("none.parquet")).expect_err("there is none").to_string();
    assert!(e.contains("check the spelling"), "{e}");
}

/// Copies of every kind, longer than a batch and a row group, compared with the same rows read as
/// text.
#[test]
fn copies_have_the_marked_rows_as_they_stand() {
    let dir = tempfile::tempdir().expect("a directory");
    let (path, out) = (dir.path().join("t.parquet"), dir.path().join("out.parquet"));
    write(fs::File::create(&path).expect("a file"), &kinds(), 3, value).expect("written");
    let copy = |flags: &[bool], copied: Copied<'_>| {
        let rows = Rows::open(&path).expect("open");
        rows.copy(flags, copied, fs::File::create(&out).expect("a file"))
    };
    let whole = all(&path).expect("read");
    for flags in [[false; 3], [true; 3], [true, false, true], [false, true, false]] {
        copy(&flags, Copied::Marked).expect("copied");
        let marked = whole.iter().zip(flags).filter(|(_, flag)| *flag).map(|(row, _)| row.clone());
        assert_eq!(all(&out).expect("read"), marked.collect::<Vec<_>>());
        assert_eq!(Rows::open(&out).expect("open").columns(), kinds());
        copy(&flags, Copied::All("in_both")).expect("copied");
        let flagged =
            whole.iter().zip(flags).map(|(row, flag)| [&row[..], &[Some(flag.to_string())]].concat());
        assert_eq!(all(&out).expect("read"), flagged.collect::<Vec<_>>());
        let (names, text) = (["first".to_owned(), "second".to_owned()], [["a", "b"], ["c", "d"], ["e", ""]]);
        let field = |row: usize, column: usize| text[row][column].as_bytes();
        copy(&flags, Copied::With(&names, &field)).expect("copied");
        let beside = whole.iter().zip(text).zip(flags).filter(|(_, flag)| *flag);
        let beside = beside.map(|((row, text), _)| [&row[..], &text.map(|t| Some(t.to_owned()))].concat());
        assert_eq!(all(&out).expect("read"), beside.collect::<Vec<_>>());
    }
    // A file that changed, and a column name that exists.
    for flags in [&[true; 2][..], &[true; 4]] {
        let e = copy(flags, Copied::Marked).expect_err("other rows").to_string();
        assert!(e.contains("t.parquet: it has changed since the run began"), "{e}");
    }
    let e = copy(&[true; 3], Copied::All("day")).expect_err("twice").to_string();
    assert!(e.contains("it has a column day already"), "{e}");

    let count = (1 << 17) + 5000;
    write_odd(&path, count);
    let flags: Vec<bool> = (0..count).map(|i| i % 7 < 2 && i > 4096).collect();
    copy(&flags, Copied::Marked).expect("copied");
    let mut rows = Rows::open(&out).expect("open");
    for i in (0..count).filter(|i| flags[*i]) {
        let (record, _) = rows.read().expect("read").expect("a row");
        assert_eq!(record.get(0), Some(i.to_string().as_bytes()));
        assert_eq!(record.get(1).is_some(), i % 2 == 1);
    }
    assert!(rows.read().expect("read").is_none());
}

/// A column of lists, with empty lists and NULLs. They have no text here.
#[test]
fn nested_columns_are_copied_too() {
    use parquet::{
        data_type::Int32Type,
        file::{
            properties::WriterProperties, reader::FileReader, serialized_reader::SerializedFileReader,
            writer::SerializedFileWriter,
        },
        record::RowAccessor,
        schema::parser::parse_message_type,
    };
    let text = "message t { required int32 id; optional group l (LIST) { repeated group list { optional int32 element; } } }";
    let schema = std::sync::Arc::new(parse_message_type(text).expect("a schema"));
    let dir = tempfile::tempdir().expect("a directory");
    let (path, out) = (dir.path().join("t.parquet"), dir.path().join("out.parquet"));
    let properties = std::sync::Arc::new(WriterProperties::builder().build());
    let file = fs::File::create(&path).expect("a file");
    let mut file = SerializedFileWriter::new(file, schema, properties).expect("a writer");
    let mut group = file.next_row_group().expect("a group");
    let mut column = group.next_column().expect("a column").expect("two");
    column.typed::<Int32Type>().write_batch(&[0, 1, 2, 3], None, None).expect("ids");
    column.close().expect("closed");
    let mut column = group.next_column().expect("a column").expect("two");
    // [1, NULL, 2], NULL, [], [3]
    let (there, starts) = ([3, 2, 3, 0, 1, 3], [0, 1, 1, 0, 0, 0]);
    column.typed::<Int32Type>().write_batch(&[1, 2, 3], Some(&there), Some(&starts)).expect("lists");
    column.close().expect("closed");
    group.close().expect("closed");
    file.close().expect("closed");
    let shown = |path: &Path| -> Vec<(i32, String)> {
        let reader = SerializedFileReader::new(fs::File::open(path).expect("a file")).expect("a reader");
        let rows = reader.get_row_iter(None).expect("rows").map(|row| row.expect("a row"));
        rows.map(|row| (row.get_int(0).expect("an id"), row.to_string())).collect()
    };
    let whole = shown(&path);
    assert!(whole[0].1.contains("[1, null, 2]"), "{whole:?}");
    for marks in 0..16u8 {
        let flags = [0, 1, 2, 3].map(|i| marks >> i & 1 == 1);
        let rows = Rows::open(&path).expect("open");
        rows.copy(&flags, Copied::Marked, fs::File::create(&out).expect("a file")).expect("copied");
        let marked: Vec<_> = whole.iter().filter(|(id, _)| flags[*id as usize]).cloned().collect();
        assert_eq!(shown(&out), marked);
    }
}

/// pandas writes a column of None without a type, and NumPy's float16 as such.
#[test]
fn columns_without_a_type_and_halves_are_read() {
    use parquet::{
        data_type::{FixedLenByteArray, FixedLenByteArrayType, Int32Type},
        file::{properties::WriterProperties, writer::SerializedFileWriter},
        schema::parser::parse_message_type,
    };
    let text =
        "message t { optional int32 none (UNKNOWN); optional fixed_len_byte_array(2) half (FLOAT16); }";
    let schema = std::sync::Arc::new(parse_message_type(text).expect("a schema"));
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("t.parquet");
    let properties = std::sync::Arc::new(WriterProperties::builder().build());
    let file = fs::File::create(&path).expect("a file");
    let mut file = SerializedFileWriter::new(file, schema, properties).expect("a writer");
    let mut group = file.next_row_group().expect("a group");
    let mut column = group.next_column().expect("a column").expect("two");
    column.typed::<Int32Type>().write_batch(&[], Some(&[0, 0]), None).expect("no values");
    column.close().expect("closed");
    let mut column = group.next_column().expect("a column").expect("two");
    let half = FixedLenByteArray::from(0xc100u16.to_le_bytes().to_vec());
    column.typed::<FixedLenByteArrayType>().write_batch(&[half], Some(&[1, 0]), None).expect("a value");
    column.close().expect("closed");
    group.close().expect("closed");
    file.close().expect("closed");
    let kinds = Rows::open(&path).expect("open").columns().iter().map(|c| c.kind).collect::<Vec<_>>();
    assert_eq!(kinds, [Some(ParquetType::Text), Some(ParquetType::Double)]);
    assert_eq!(all(&path).expect("rows"), [[None, Some("-2.5".to_owned())], [None, None]]);
}

/// A hook that ends the process at a panic ignores those of the decoder, and no others.
#[test]
fn hooks_see_when_the_decoder_works() {
    let path = Path::new("file");
    assert!(!is_decoding());
    let within = super::rows::guarded(path, || {
        Ok((is_decoding(), super::rows::guarded(path, || Ok(())), is_decoding()))
    });
    assert!(matches!(within, Ok((true, Ok(()), true))));
    assert!(!is_decoding());
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/vectors/broken.parquet");
    let read = Rows::open(&file).and_then(|mut rows| {
        while rows.read()?.is_some() {}
        Ok(())
    });
    assert!(read.expect_err("broken").cause.contains("its decoder gave up"));
    assert!(!is_decoding());
}

/// As `broken_files_are_errors_that_name_them`, of copies.
#[test]
fn copies_of_broken_files_are_errors() {
    let dir = tempfile::tempdir().expect("a directory");
    let (whole, path) = (dir.path().join("whole.parquet"), dir.path().join("broken.parquet"));
    write(fs::File::create(&whole).expect("a file"), &kinds(), 3, value).expect("written");
    let good = fs::read(&whole).expect("read");
    let mut refused = 0;
    for at in (0..good.len()).step_by(5) {
        let mut bytes = good.clone();
        bytes[at] ^= [0x01, 0x80, 0xff][at % 3];
        fs::write(&path, &bytes).expect("written");
        let copied =
            Rows::open(&path).and_then(|rows| rows.copy(&[true; 3], Copied::Marked, std::io::sink()));
        if let Err(e) = copied {
            assert!(!e.cause.is_empty() && !e.remedy.is_empty(), "{e}");
            refused += 1;
        }
    }
    assert!(refused > good.len() / 20, "{refused} of {} were refused", good.len());
}

/// A table of numbers and texts in two files, with row groups of these lengths.
fn in_groups(dir: &Path, files: [&[usize]; 2]) -> Vec<PathBuf> {
    let columns = [
        ParquetColumn::new("n", ParquetType::Integer { bits: 64 }, false),
        ParquetColumn::new("text", ParquetType::Text, true),
    ];
    let (texts, mut begin): (Vec<String>, _) = ((0..20_000).map(|n| format!("t{n}")).collect(), 0);
    let mut paths = vec![];
    for (k, groups) in files.into_iter().enumerate() {
        let path = dir.join(format!("{k}.parquet"));
        let mut writer = Writer::new(fs::File::create(&path).expect("a file"), &columns).expect("a writer");
        for rows in groups {
            let field = |row: usize, column| match (column, (begin + row) % 3) {
                (0, _) => ParquetField::Number((begin + row) as i128),
                (_, 2) => ParquetField::Null,
                _ => ParquetField::Text(texts[begin + row].as_bytes()),
            };
            writer.group(*rows, field).expect("written");
            begin += rows;
        }
        writer.finish().expect("written");
        paths.push(path);
    }
    paths
}

/// Any range of rows is read correctly, whichever row groups and files it spans. Errors would name
/// the rows by their numbers in their files.
#[test]
fn ranges_of_rows_are_read_alone() {
    let dir = tempfile::tempdir().expect("a directory");
    let paths = in_groups(dir.path(), [&[3, 5, 5000, 1], &[4100, 2]]);
    let footers = Footers::read(&paths, &["text", "n"]).expect("footers");
    let (all, first) = (9111, 5009);
    assert_eq!(footers.count(), all);
    let ranges =
        [0..0, 0..all, 0..3, 2..4, 3..8, 7..5008, 4103..4104, 5008..5009, 5009..5010, 5000..5100, 9110..9111]
            .into_iter()
            .chain([all..all, 9000..20_000, 4099..4112]);
    for range in ranges {
        let mut rows = footers.rows(range.clone(), &Dialect::default()).expect("open");
        rows.select(["text", "n"]).expect("both");
        for n in range.start..range.end.min(all) {
            let record = rows.read().expect("read").unwrap_or_else(|| panic!("row {n} of {range:?}"));
            assert_eq!(record[1], *n.to_string().as_bytes(), "{range:?}");
            let text = if n % 3 == 2 { String::new() } else { format!("t{n}") };
            assert_eq!(record[0], *text.as_bytes());
            assert_eq!(rows.is_null(0), n % 3 == 2);
            let (path, number) = footers.place(n);
            assert_eq!((rows.path(), rows.place()), (path, Some(crate::FilePlace::Row(number))));
            assert_eq!(number, if n < first { n + 1 } else { n - first + 1 });
        }
        assert!(rows.read().expect("read").is_none(), "{range:?}");
    }
}

/// Footers distinguish files by their content, not by their place. A file that changed meanwhile is
/// refused.
#[test]
fn footers_tell_files_apart() {
    let dir = tempfile::tempdir().expect("a directory");
    let paths = in_groups(dir.path(), [&[30], &[20]]);
    let footers = Footers::read(&paths, &["n"]).expect("footers");
    let other = dir.path().join("other");
    fs::create_dir(&other).expect("a directory");
    let again = in_groups(&other, [&[30], &[20]]);
    assert_eq!(Footers::read(&again, &["n"]).expect("footers").digest(), footers.digest());
    for lengths in [[&[15, 15][..], &[20]], [&[30], &[21]], [&[31], &[20]]] {
        let differs = in_groups(&other, lengths);
        assert_ne!(Footers::read(&differs, &["n"]).expect("footers").digest(), footers.digest());
    }
    let swapped = [paths[1].clone(), paths[0].clone()];
    assert_ne!(Footers::read(&swapped, &["n"]).expect("footers").digest(), footers.digest());
    let e = Footers::read(&paths, &["m"]).expect_err("no m").to_string();
    assert!(e.contains("no column is called m"), "{e}");
    fs::copy(&paths[0], &paths[1]).expect("copied");
    assert!(footers.rows(0..30, &Dialect::default()).is_ok());
    let e = footers.rows(20..40, &Dialect::default()).err().expect("it changed").to_string();
    assert!(e.contains("1.parquet") && e.contains("changed while it was read"), "{e}");
    let columns = [ParquetColumn::new("n", ParquetType::Boolean, false)];
    write(fs::File::create(&paths[1]).expect("a file"), &columns, 1, |_, _| ParquetField::Boolean(true))
        .expect("written");
    let e = Footers::read(&paths, &["n"]).expect_err("no text").to_string();
    assert!(e.contains("column text is not in all files"), "{e}");
}
