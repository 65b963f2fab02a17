//! Files that are fine, and what is said of those that are not.

mod grammar;

use hushwire_psi::{
    Beside, Carried, KeyColumn, KeySpec, Keys, Place, PsiError, Rows, Set, check_result, csv_line,
    write_columns, write_flags, write_rows,
};
use proptest::prelude::*;
use std::{
    io::{self, Read},
    path::Path,
};

fn read(csv: &[u8], name: &str) -> Result<Keys, String> {
    Keys::from_csv(Path::new("a.csv"), csv, &KeySpec::column(name)).map_err(|e| {
        assert!(matches!(e, PsiError::File { .. }));
        e.to_string()
    })
}

/// The fields of each row's key.
fn each(keys: &Keys) -> Vec<Option<Vec<String>>> {
    keys.each().map(|key| key.map(Keys::fields)).collect()
}

fn set(keys: Keys) -> Set<[u8; 32]> {
    Set::new(keys, |key| *blake3::hash(key).as_bytes())
}

/// Different keys.
fn count(csv: &[u8]) -> Result<usize, String> {
    read(csv, "id").map(|keys| set(keys).items().len())
}

#[test]
fn files_of_many_programs_are_read() {
    let keys = |csv: &[u8]| {
        let mut all: Vec<_> =
            read(csv, "id").map(|keys| each(&keys).into_iter().flatten().flatten().collect())?;
        all.dedup();
        Ok::<Vec<String>, String>(all)
    };
    let expected = Ok(vec!["a".to_owned(), "b c".to_owned()]);
    assert_eq!(keys(b"id\na\nb c\n"), expected);
    assert_eq!(
        keys(b"\xef\xbb\xbfid,x\r\na,1\r\nb c,2"),
        expected,
        "a mark, Windows lines, no last line end"
    );
    assert_eq!(keys(b"x, id \n1,\"a\"\n1,a\n2,\" b c\"\n"), expected, "quotes, white space, a duplicate");
    assert_eq!(keys(b"id,x\na,\"two\nlines\"\nb c,\xff\n"), expected, "other columns may hold anything");
    assert_eq!(keys(b"id\n"), Ok(vec![]));
    assert_eq!(count(b"id\nAnn\nann\n"), Ok(2));
    assert_eq!(set(Keys::of(["x", "y", "x"])).by_row().collect::<Vec<_>>(), [Some(0), Some(1), Some(0)]);
}

#[test]
fn what_is_wrong_is_said_with_file_line_and_remedy() {
    let error = |csv: &[u8], name: &str| read(csv, name).err().unwrap();
    assert_eq!(
        error(b"", "id"),
        "cannot read a.csv: it is empty; its first line must name the columns, id among them"
    );
    assert_eq!(
        error(b"name,mail\nx,y\n", "id"),
        "cannot read a.csv, line 1: no column is called id; the first line names name, mail; name one of these, or put a line with the columns' names first"
    );
    assert!(error(b"id;mail\n1;2\n", "id").ends_with("save the file with commas between columns"));
    assert_eq!(
        error(b"id,x,id\n1,2,3\n", "id"),
        "cannot read a.csv, line 1: two columns are called id; rename one of them"
    );
    assert_eq!(
        error(b"id,x\n1,2\n3\n", "id"),
        "cannot read a.csv, line 3: it has 1 field where the first line has 2; give it as many; put quotes around a field that has commas in it"
    );
    assert_eq!(
        error(b"x,id\n1,2\n3,\xff\xfe\n", "id"),
        "cannot read a.csv, line 3: the key in column id is not UTF-8; save the file as UTF-8 at both parties"
    );
    let missing = Keys::read(Path::new("/nowhere/a.csv"), &KeySpec::column("id")).err().unwrap().to_string();
    assert!(
        missing.starts_with("cannot read /nowhere/a.csv: ") && missing.ends_with("; check the spelling"),
        "{missing}"
    );
}

/// Each shape that RFC 4180 does not have, and where it is: line, character.
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
        let error = Keys::from_csv(Path::new("a.csv"), csv, &KeySpec::column("id")).err().unwrap();
        let PsiError::File { place: Some(place), .. } = &error else { panic!("{error}") };
        assert_eq!(*place, Place::Line { line, column: Some(character) }, "{}", csv.escape_ascii());
        let start = format!("cannot read a.csv, line {line}, character {character}: {cause}; ");
        assert!(error.to_string().starts_with(&start), "{error}");
    }
    for (csv, message) in [
        (&b"\xff\xfei\0d\0\n\0"[..], "it is UTF-16; save the file as UTF-8 at both parties"),
        (b"PAR1\x15\x04\"", "it is Parquet; give it a name that ends in .parquet"),
        (b"\x1f\x8b\x08\"\r", "it is compressed; unpack it, and name the CSV in it"),
        (b"\x28\xb5\x2f\xfd\"", "it is compressed; unpack it, and name the CSV in it"),
        (
            b"PK\x03\x04\r\"",
            "it is a spreadsheet or another ZIP archive; save the table as CSV with commas between columns",
        ),
    ] {
        assert_eq!(read(csv, "id").err().unwrap(), format!("cannot read a.csv: {message}"));
        let marked = [b"\xef\xbb\xbf", csv].concat();
        assert_eq!(read(&marked, "id").err().unwrap(), format!("cannot read a.csv: {message}"));
    }
    // Columns may be called like a format.
    assert!(read(b"PAR1,PK\n1,2\n", "PK").is_ok());
}

/// A file may go on for ever behind a quote that nobody closes; memory does not.
#[test]
fn records_have_an_end() {
    /// Most bytes of a record, with its line end.
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

/// A quote that opens in the first row would swallow a thousand, and the set would have a few keys.
#[test]
fn places_are_right_far_into_a_file() {
    let text = "é".repeat(150);
    let csv = format!("id,x\n{}{text},b\"\n", format!("{text},a\n").repeat(40));
    let e = read(csv.as_bytes(), "id").err().unwrap_or_default();
    assert!(e.contains("line 42, character 153"), "{e}");
    let csv = format!("id,x\n{}\"{text}\n{text}\",b\n{text}\r,\n", format!("{text},a\n").repeat(40));
    let e = read(csv.as_bytes(), "id").err().unwrap_or_default();
    assert!(e.contains("line 44, character 151"), "{e}");
}

#[test]
fn a_stray_quote_drops_no_rows() {
    let mut csv = String::from("id\n\"k0\n");
    (1..1000).for_each(|i| csv += &format!("k{i}\n"));
    assert!(read(csv.as_bytes(), "id").err().unwrap().contains("line 2, character 1"));
    csv = csv.replacen('"', "", 1);
    assert_eq!(count(csv.as_bytes()), Ok(1000));
    // Far behind what is read at once, too.
    csv += "\"late\n";
    assert!(read(csv.as_bytes(), "id").err().unwrap().contains("line 1002, character 1"));
}

#[test]
fn only_the_first_bytes_are_a_mark() {
    // Found by the fuzz target: bytes that continue a character stand in no column of their own.
    grammar::compare(b"\xba\xba\xba\xff\xfe\xba\xba");
    grammar::compare(b"\xff\xfea\0");
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
    // It is so before anything runs, of flags alone.
    let check = |all| check_result(&path, &mut Rows::open(&path).unwrap(), all, false);
    assert!(check(true).unwrap_err().to_string().contains(twice) && check(false).is_ok());
}

#[test]
fn keys_of_several_columns_are_no_others_keys() {
    let spec = |names: &[(&str, &str)]| {
        let columns = names
            .iter()
            .map(|(name, form)| KeyColumn { name: (*name).to_owned(), normal: form.parse().unwrap() });
        KeySpec::new(columns.collect())
    };
    let csv = "first,last,mail\nab,c,A@x\na,bc, a@X\nab,,b@x\n,c,c@x\nab,c,none\n";
    let keys = |names: &[(&str, &str)]| {
        Keys::from_csv(Path::new("a.csv"), csv.as_bytes(), &spec(names).unwrap()).unwrap()
    };
    let names = keys(&[("first", "trim"), ("last", "trim")]);
    let field = |a: &str, b: &str| Some(vec![a.to_owned(), b.to_owned()]);
    assert_eq!(each(&names), [field("ab", "c"), field("a", "bc"), None, None, field("ab", "c")]);
    assert_eq!((names.rows(), names.keyed(), names.left_out().empty), (5, 3, 2));
    let digests = set(names);
    assert_eq!(digests.by_row().collect::<Vec<_>>(), [Some(0), Some(1), None, None, Some(0)]);
    // The order of columns is the key's, and not the file's.
    assert_eq!(each(&keys(&[("last", "trim"), ("first", "trim")]))[0], field("c", "ab"));
    let mails = keys(&[("mail", "email")]);
    assert_eq!(set(keys(&[("mail", "email")])).items().len(), 3, "one address in two spellings");
    let left = mails.left_out();
    assert_eq!(
        (left.empty, left.malformed, left.first_malformed),
        (0, 1, Some(Place::Line { line: 6, column: None }))
    );
    let samples: Vec<_> =
        mails.samples().iter().map(|s| (s.before[0].as_str(), s.after[0].as_str())).collect();
    assert_eq!(samples, [("A@x", "a@x"), (" a@X", "a@x"), ("b@x", "b@x")]);
    assert!(spec(&[]).is_err() && spec(&[("a", "trim"), (" a", "case")]).is_err());
}

/// Found by the fuzz target: a line behind the last one was named where line ends differ.
#[test]
fn lines_are_counted_whatever_ends_each() {
    let error = |text: &str| read(text.as_bytes(), "id").err().unwrap();
    let narrow = "it has 1 field where the first line has 2";
    for (text, line) in [
        ("id,x\r\na,\"two\nlines\"\r\nb,\"c\"\nd", 5),
        ("id,x\na,b\r\nc", 3),
        ("id,x\r\na,b\nc", 3),
        // Without quotes and carriage returns bytes are looked at many at a time.
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

/// Lines are counted alike whatever ends them, behind a header and behind a quoted line end.
#[test]
fn lines_that_end_with_two_bytes_are_counted_as_others() {
    for end in ["\n", "\r\n"] {
        let file = |text: &str| text.replace('|', end).into_bytes();
        let error = |text: &str| read(&file(text), "id").err().unwrap();
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
            assert_eq!(rows.place(), Some(Place::Line { line, column: None }));
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

/// A record in some way of those that RFC 4180 allows.
fn written(record: &[Vec<u8>], quoted: u32, end: &[u8], out: &mut Vec<u8>) {
    for (i, field) in record.iter().enumerate() {
        if i > 0 {
            out.push(b',');
        }
        // A record that is one empty field needs quotes to be one.
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
        // What begins like a mark is one, and what begins like UTF-16 or like packed bytes is no text.
        prop_assume!(![&b"\xef\xbb\xbf"[..], b"\xff\xfe", b"\xfe\xff", b"\x1f\x8b", b"\x28\xb5\x2f\xfd"]
            .iter()
            .any(|begin| csv.starts_with(begin)));
        if marked {
            csv.splice(0..0, *b"\xef\xbb\xbf");
        }
        let owned = |record: &csv::ByteRecord| record.iter().map(<[u8]>::to_vec).collect::<Vec<_>>();
        let fail = |e: PsiError| TestCaseError::fail(e.to_string());
        let mut rows = Rows::new(Path::new("a.csv"), &csv[..]).map_err(fail)?;
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

fn carried(names: &[&str], bytes: usize) -> Result<Carried, String> {
    Carried::new(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), bytes)
}

/// The fields that go with each different key of column `k`.
fn payloads(csv: &str, carried: &Carried) -> Result<Vec<Vec<String>>, String> {
    let path = Path::new("b.csv");
    let keys = Keys::from_csv(path, csv.as_bytes(), &KeySpec::column("k")).expect("keys");
    let payloads = carried.read(path, || Rows::new(path, csv.as_bytes()), &keys);
    let payloads = payloads.map_err(|e| {
        assert!(matches!(e, PsiError::File { .. }), "{e:?}");
        e.to_string()
    })?;
    let fields = (0..payloads.count()).map(|i| {
        let fields = carried.fields(payloads.get(i)).expect("fields");
        fields.into_iter().map(str::to_owned).collect()
    });
    Ok(fields.collect())
}

proptest! {
    /// Fields of any text, also of lengths of two bytes, come back as they were; nothing else is as long and is fields.
    #[test]
    fn fields_come_back_from_payloads(
        rows in prop::collection::vec(prop::collection::vec("[ -~äß€😀\n\"]{0,9}", 3), 0..12),
        bytes in prop::sample::select(vec![108usize, 255, 256, 4096]),
        at in any::<prop::sample::Index>(),
    ) {
        let mut csv = "a,k,b,\"c, d\"\n".to_owned();
        for (i, row) in rows.iter().enumerate() {
            let fields = [row[0].clone(), format!("key {i}"), row[1].clone(), row[2].clone()];
            csv += &format!("{}\n", csv_line(&fields).expect("a line"));
        }
        let carried = carried(&["c, d", "a"], bytes).expect("columns");
        let expected: Vec<Vec<String>> = rows.iter().map(|row| vec![row[2].clone(), row[0].clone()]).collect();
        prop_assert_eq!(payloads(&csv, &carried), Ok(expected));
        let mut zeros = vec![0; carried.payload_bytes()];
        prop_assert_eq!(carried.fields(&zeros), Some(vec![""; 2]));
        let lengths = carried.payload_bytes() - bytes;
        zeros[lengths + at.index(bytes)] = 0xff;
        prop_assert_eq!(carried.fields(&zeros), None, "bytes behind the fields");
        zeros.fill(0xff);
        prop_assert_eq!(carried.fields(&zeros), None, "a length beyond the end, or no text");
        prop_assert_eq!(carried.fields(&zeros[1..]), None);
    }
}

#[test]
fn columns_that_cannot_be_carried_are_named_with_their_row() {
    let wide = carried(&["plan", "größe"], 7).expect("columns");
    assert_eq!(wide.payload_bytes(), 9);
    let read = |csv: &str| payloads(csv, &wide);
    let fields = |rows: &[[&str; 2]]| {
        Ok(rows.iter().map(|row| row.map(str::to_owned).to_vec()).collect::<Vec<Vec<String>>>())
    };
    // Empty fields are fields; rows without a key count for nothing; rows of one key may come again.
    let csv = "k,plan,größe\nx,,\n,much too wide,1\ny,gold,€\nx,,\n";
    assert_eq!(read(csv), fields(&[["", ""], ["gold", "€"]]));
    for (csv, words) in [
        ("k,plan\nx,a\n", "no column is called größe; the first line names k, plan"),
        ("k,plan,größe,plan\nx,a,1,b\n", "two columns are called plan"),
        (
            "k,plan,größe\nx,a,1\ny,silver,\nz,silver,€\n,platinum,\n",
            "line 4: it has 9 bytes of text in plan, größe, and 7 are agreed for a row; agree on 9 payload bytes or more",
        ),
        (
            "k,plan,größe\nx,a,1\ny,b,2\nx,a,3\n",
            "line 4: its key is that of line 2, with another field in größe; leave one row for each key",
        ),
    ] {
        let refused = read(csv).expect_err(csv);
        assert!(refused.contains(words), "{refused}");
    }
    let long = format!("k,plan,größe\nx,{},\n", "y".repeat(5000));
    assert!(read(&long).expect_err("long").contains("the widest row has 5000 bytes, and 4096 are the most"));
    let path = Path::new("b.csv");
    let latin = b"k,plan,gr\xc3\xb6\xc3\x9fe\nx,\xe4,1\n";
    let keys = Keys::from_csv(path, &latin[..], &KeySpec::column("k")).expect("keys");
    let odd = wide.read(path, || Rows::new(path, &latin[..]), &keys).expect_err("Latin-1").to_string();
    assert!(odd.contains("line 2: column plan is not UTF-8"), "{odd}");
    // A file that changed since its keys were read.
    for text in ["k,plan,größe\n", "k,plan,größe\nx,a,1\ny,a,1\n"] {
        let changed = wide.read(path, || Rows::new(path, text.as_bytes()), &keys).expect_err("other rows");
        assert!(changed.to_string().contains("it has changed since the run began"), "{changed}");
    }
    for (names, bytes, words) in [
        (&["a", " a"][..], 9, "the column a is named twice"),
        (&[], 9, "no column is named"),
        (&["a", " "], 9, "no column is named"),
        (&["a"], 0, "0 bytes of text a row are not between 1 and 4096"),
        (&["a"], 4097, "4097 bytes"),
        (&["a"; 65], 9, "twice"),
    ] {
        assert!(carried(names, bytes).is_err_and(|e| e.contains(words)), "{names:?}");
    }
}

#[test]
fn columns_of_the_other_party_stand_behind_those_of_the_table() {
    let path = Path::new("a.csv");
    let text = "id,k\n1,x\n2,\"y, z\"\n3,\n4,x\n";
    let theirs = carried(&["plan", "note"], 30).expect("columns");
    let keys =
        Keys::from_csv(path, &b"k,plan,note\nx,gold,\"a \"\"b\"\"\"\nw,tin,\n"[..], &KeySpec::column("k"));
    let other = "k,plan,note\nx,gold,\"a \"\"b\"\"\"\nw,tin,\n";
    let payloads =
        theirs.read(path, || Rows::new(path, other.as_bytes()), &keys.expect("keys")).expect("fields");
    let beside = Beside { carried: &theirs, payloads: &payloads, of_row: &[Some(0), None, None, Some(0)] };
    let mut rows = Rows::new(path, text.as_bytes()).expect("a table");
    theirs.check_result(path, &rows).expect("other names");
    let mut out = vec![];
    write_columns(path, &mut rows, &[true, false, false, true], beside, &mut out).expect("written");
    let expected = "id,k,plan,note\n1,x,gold,\"a \"\"b\"\"\"\n4,x,gold,\"a \"\"b\"\"\"\n";
    assert_eq!(String::from_utf8(out).ok().as_deref(), Some(expected));
    let rows = Rows::new(path, &b"id, note\n"[..]).expect("a table");
    let e = theirs.check_result(path, &rows).expect_err("a name twice").to_string();
    assert!(e.contains("it has a column note already") && e.contains("rename one of them"), "{e}");
}

#[test]
#[cfg(not(feature = "parquet"))]
fn a_result_in_a_format_that_the_build_lacks_cannot_be_written() {
    let said = |error: PsiError| error.to_string();
    let to = Path::new("x.parquet");
    let cause = "cannot write x.parquet: it would be Parquet, and this hushwire was built without it";
    assert!(said(hushwire_psi::check_output(to).unwrap_err()).starts_with(cause));
    let cause = "cannot read x.parquet: it is Parquet, and this hushwire was built without it";
    assert!(said(Rows::open(to).map(|_| ()).unwrap_err()).starts_with(cause));
    assert!(hushwire_psi::check_output(Path::new("x.csv")).is_ok());
}
