//! Valid files, and the errors for invalid ones.

use hushwire_files::{FilePlace, Rows, csv_line, write_columns};
use hushwire_psi::{Beside, Carried, KeyColumn, KeySpec, PsiError, Set, TableKeys};
use proptest::prelude::*;
use std::path::Path;

fn read(csv: &[u8], name: &str) -> Result<TableKeys, String> {
    TableKeys::from_csv(Path::new("a.csv"), csv, &KeySpec::column(name)).map_err(|e| e.to_string())
}

/// The fields of each row's key.
fn each(keys: &TableKeys) -> Vec<Option<Vec<String>>> {
    keys.each().map(|key| key.map(TableKeys::fields)).collect()
}

fn set(keys: TableKeys) -> Set<[u8; 32]> {
    Set::new(keys, |key| *blake3::hash(key).as_bytes())
}

/// The number of different keys.
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
    assert_eq!(set(TableKeys::of(["x", "y", "x"])).by_row().collect::<Vec<_>>(), [Some(0), Some(1), Some(0)]);
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
        "cannot read a.csv, line 1: no column is called id; the first line names name, mail; name one of these; if the first line is a row, set `header` to no: columns are c1, c2 …"
    );
    assert!(read(b"id;mail\n1;2\n", "id").is_ok(), "the separator is found");
    assert_eq!(
        error(b"id,x,id\n1,2,3\n", "id"),
        "cannot read a.csv, line 1: two columns are called id; rename one of them"
    );
    assert_eq!(
        error(b"id,x\n1,2\n3\n", "id"),
        "cannot read a.csv, line 3: it has 1 field where the first line has 2; give it as many; put quotes around a field that has separators in it"
    );
    assert_eq!(
        error(b"x,id\n1,2\n3,\xff\xfe\n", "id"),
        "cannot read a.csv, line 3: the key in column id is not UTF-8; set the encoding of the file, as latin1, or save it as UTF-8"
    );
    let missing =
        TableKeys::read(Path::new("/nowhere/a.csv"), &KeySpec::column("id")).err().unwrap().to_string();
    assert!(
        missing.starts_with("cannot read /nowhere/a.csv: ") && missing.ends_with("; check the spelling"),
        "{missing}"
    );
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
        TableKeys::from_csv(Path::new("a.csv"), csv.as_bytes(), &spec(names).unwrap()).unwrap()
    };
    let names = keys(&[("first", "trim"), ("last", "trim")]);
    let field = |a: &str, b: &str| Some(vec![a.to_owned(), b.to_owned()]);
    assert_eq!(each(&names), [field("ab", "c"), field("a", "bc"), None, None, field("ab", "c")]);
    assert_eq!((names.rows(), names.keyed(), names.left_out().empty), (5, 3, 2));
    let digests = set(names);
    assert_eq!(digests.by_row().collect::<Vec<_>>(), [Some(0), Some(1), None, None, Some(0)]);
    // The columns are in the key's order, not the file's.
    assert_eq!(each(&keys(&[("last", "trim"), ("first", "trim")]))[0], field("c", "ab"));
    let mails = keys(&[("mail", "email")]);
    assert_eq!(set(keys(&[("mail", "email")])).items().len(), 3, "one address in two spellings");
    let left = mails.left_out();
    assert_eq!(
        (left.empty, left.malformed, left.first_malformed),
        (0, 1, Some(FilePlace::Line { line: 6, column: None }))
    );
    let samples: Vec<_> =
        mails.samples().iter().map(|s| (s.before[0].as_str(), s.after[0].as_str())).collect();
    assert_eq!(samples, [("A@x", "a@x"), (" a@X", "a@x"), ("b@x", "b@x")]);
    assert!(spec(&[]).is_err() && spec(&[("a", "trim"), (" a", "case")]).is_err());
}

fn carried(names: &[&str], bytes: usize) -> Result<Carried, String> {
    Carried::new(&names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>(), bytes)
}

/// The fields of each different key of column `k`.
fn payloads(csv: &str, carried: &Carried) -> Result<Vec<Vec<String>>, String> {
    let path = Path::new("b.csv");
    let keys = TableKeys::from_csv(path, csv.as_bytes(), &KeySpec::column("k")).expect("keys");
    let payloads = carried.read(path, || Rows::new(path, csv.as_bytes()), &keys);
    let payloads = payloads.map_err(|e| {
        assert!(matches!(e, PsiError::File(_)), "{e:?}");
        e.to_string()
    })?;
    let fields = (0..payloads.count()).map(|i| {
        let fields = carried.fields(payloads.get(i)).expect("fields");
        fields.into_iter().map(str::to_owned).collect()
    });
    Ok(fields.collect())
}

proptest! {
    /// A file that can be read has a key or no key for each of its rows.
    #[test]
    fn keys_have_a_row_for_each_record(
        csv in proptest::collection::vec(prop_oneof![Just(b'"'), Just(b','), Just(b'\n'), Just(b'a')], 0..40),
    ) {
        let csv = [b"id\n", &csv[..]].concat();
        let count = Rows::new(Path::new("a.csv"), &csv[..]).and_then(|mut rows| {
            let mut count = 0;
            while rows.read()?.is_some() {
                count += 1;
            }
            Ok(count)
        });
        let count = count.map_err(|e| e.to_string());
        prop_assert_eq!(read(&csv, "id").map(|keys| keys.rows()), count);
    }

    /// Fields of any text come back unchanged, also those with lengths of two bytes. Other payloads
    /// of that length are refused.
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
    // Empty fields are fields; rows without a key are ignored; rows of one key may be repeated.
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
    let keys = TableKeys::from_csv(path, &latin[..], &KeySpec::column("k")).expect("keys");
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
    let keys = TableKeys::from_csv(
        path,
        &b"k,plan,note\nx,gold,\"a \"\"b\"\"\"\nw,tin,\n"[..],
        &KeySpec::column("k"),
    );
    let other = "k,plan,note\nx,gold,\"a \"\"b\"\"\"\nw,tin,\n";
    let payloads =
        theirs.read(path, || Rows::new(path, other.as_bytes()), &keys.expect("keys")).expect("fields");
    let beside = Beside { carried: &theirs, payloads: &payloads, of_row: &[Some(0), None, None, Some(0)] };
    let mut rows = Rows::new(path, text.as_bytes()).expect("a table");
    theirs.check_result(path, &rows).expect("other names");
    let mut out = vec![];
    write_columns(path, &mut rows, &[true, false, false, true], &beside, &mut out).expect("written");
    let expected = "id,k,plan,note\n1,x,gold,\"a \"\"b\"\"\"\n4,x,gold,\"a \"\"b\"\"\"\n";
    assert_eq!(String::from_utf8(out).ok().as_deref(), Some(expected));
    let rows = Rows::new(path, &b"id, note\n"[..]).expect("a table");
    let e = theirs.check_result(path, &rows).expect_err("a name twice").to_string();
    assert!(e.contains("it has a column note already") && e.contains("rename one of them"), "{e}");
}
