//! `local psi`: both parties are processes, each with its own file.

use crate::{
    common::{self, Place},
    documented::check,
};
use std::collections::BTreeSet;

/// Writes a row for each key, and one row without a key.
fn put(place: &Place, file: &str, column: &str, keys: &[String]) {
    let rows: String = keys.iter().enumerate().map(|(i, key)| format!("{i},{key},\"x, y\"\n")).collect();
    place.put(file, format!("row,{column},note\n{rows}last,,\n").as_bytes());
}

fn keys(range: std::ops::Range<usize>) -> Vec<String> {
    range.map(|i| format!("user{i}@example.org")).collect()
}

struct World {
    place: Place,
    a: Vec<String>,
    b: Vec<String>,
}

impl World {
    /// Makes sets that share some keys, with duplicates in both.
    fn new(a: std::ops::Range<usize>, b: std::ops::Range<usize>) -> World {
        let (place, mut a, mut b) = (Place::new(), keys(a), keys(b));
        a.extend(a.last().cloned());
        b.extend(b.last().cloned());
        put(&place, "a.csv", "email", &a);
        put(&place, "b.csv", "email", &b);
        World { place, a, b }
    }

    fn common(&self) -> BTreeSet<String> {
        let b: BTreeSet<_> = self.b.iter().collect();
        self.a.iter().filter(|key| b.contains(key)).cloned().collect()
    }

    /// Returns the rows of a file whose keys are in both files.
    fn rows(&self, keys: &[String]) -> String {
        let common = self.common();
        let rows = keys.iter().enumerate().filter(|(_, key)| common.contains(*key));
        let rows: String = rows.map(|(i, key)| format!("{i},{key},\"x, y\"\n")).collect();
        format!("row,email,note\n{rows}")
    }

    fn run(&self, options: &str) -> common::Ran {
        let ran = self.place.ran(&format!("local psi --a a.csv --b b.csv --column email {options}"));
        assert_eq!(ran.code, Some(0), "{options}: {}", ran.err);
        ran
    }
}

/// The methods and protocols are tested in `crates/kinds`; here, their options reach the job.
#[test]
fn sizes_are_those_of_the_plain_intersection() {
    let world = World::new(0..30, 20..50);
    for options in
        ["--circuit phasing", "--circuit scs --protocol gmw --transport unix", "--scheme prp --transport shm"]
    {
        let ran = world.run(&format!("--reveal size {options}"));
        assert_eq!(ran.out, "10\n", "{options}");
        assert!(
            ran.err.contains("10 keys are in both files: 30 different keys at A, 30 at B"),
            "{}",
            ran.err
        );
    }
}

#[test]
fn items_are_those_of_the_plain_intersection() {
    let world = World::new(0..40, 33..90);
    let ran = world.run("--reveal items --transport unix --method phasing");
    assert_eq!(ran.out, world.rows(&world.a));
    // Items are the default result.
    world.run("--transport unix --out common.csv --out-b theirs.csv --json report.json");
    assert_eq!(world.place.get("common.csv"), world.rows(&world.a).as_bytes());
    assert_eq!(world.place.get("theirs.csv"), world.rows(&world.b).as_bytes());
    let one = world.run("--transport unix --to b --json one.json");
    assert_eq!(one.out, world.rows(&world.b));
    let report: serde_json::Value = serde_json::from_slice(&world.place.get("one.json")).unwrap_or_default();
    assert_eq!(report["items"].as_array().map(Vec::len), Some(world.common().len()));
    assert_eq!(report["to"], serde_json::json!(["party1"]));
    let report: serde_json::Value =
        serde_json::from_slice(&world.place.get("report.json")).unwrap_or_default();
    assert_eq!(report["found"], world.common().len());
    assert_eq!(report["keys"], serde_json::json!([40, 57]));
    assert_eq!(
        (&report["items"], &report["rows"]),
        (&serde_json::Value::Null, &8.into()),
        "they are in the file"
    );
    assert_eq!(report["parties"].as_array().map(Vec::len), Some(2));
}

/// The page that documents the fields of reports, and its heading.
pub(crate) const FIELDS: [&str; 2] = [include_str!("../../../../docs/psi.md"), "## Reports"];

/// Each field is in at least one of these reports. A field that needs another option must get its
/// own run.
#[test]
fn every_field_of_a_report_is_documented_and_there() {
    let place = Place::new();
    place.put("a.csv", b"id,n\n1,10\n2,20\n3,30\n");
    place.put("b.csv", b"id,m\n2,5\n3,7\n9,1\n");
    let report = |options: &str| -> serde_json::Value {
        let ran =
            place.ran(&format!("local psi --a a.csv --b b.csv --key id --transport unix --json - {options}"));
        serde_json::from_str(&ran.out).unwrap_or_else(|e| panic!("{options}: {e}: {}", ran.err))
    };
    let reports =
        ["", "--reveal flags", "--reveal size --method scs", "--reveal sum:m,count", "--reveal columns:m"]
            .map(report);
    check(FIELDS[0], FIELDS[1], "local", &[], &reports.each_ref());
    let [items, flags, size, sum, columns] = reports;
    let json = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap_or_default();
    assert_eq!(
        (&items["items"], &items["found"], &items["rows"]),
        (&json("[\"2\", \"3\"]"), &2.into(), &2.into())
    );
    assert_eq!((&flags["flags"], &flags["found"]), (&json("[false, true, true]"), &2.into()));
    assert_eq!(
        (&size["found"], &size["protocol"], &size["scheme"]),
        (&2.into(), &"yao".into(), &"mi".into())
    );
    assert!(size["ands"].as_u64() > Some(0), "{size}");
    assert_eq!((&sum["sum"], &sum["found"], &sum["method"]), (&12.into(), &2.into(), &"circuit".into()));
    assert_eq!((&columns["columns"], &columns["payload_bytes"]), (&json("[\"m\"]"), &64.into()));
    assert_eq!((&columns["items"], &columns["values"]), (&items["items"], &json("[[\"5\"], [\"7\"]]")));
    for report in [&items, &flags, &sum, &columns] {
        assert_eq!((&report["protocol"], &report["scheme"]), (&json("null"), &json("null")), "{report}");
    }
}

/// The rows of one party with columns of the other's file, compared with a join of texts: quotes,
/// Unicode, a key twice on both sides.
#[test]
fn columns_of_the_other_file_stand_beside_common_rows() {
    let place = Place::new();
    place.put("a.csv", "id,email\n1,ann@x\n2,bob@x\n3,\n4,eve@x\n5,ann@x\n".as_bytes());
    let theirs = "mail,plan,\"paid, €\",since\neve@x,\"a, b\",7,2020\nann@x,größer,,2021\nzoe@x,x,1,2022\nann@x,größer,,2023\n";
    place.put("b.csv", theirs.as_bytes());
    let line = "local psi --a a.csv --b b.csv --key-a email --key-b mail --transport unix";
    let joined = "id,email,\"paid, €\",plan\n1,ann@x,,größer\n4,eve@x,7,\"a, b\"\n5,ann@x,,größer\n";
    let run = |options: &[&str]| {
        let ran =
            common::Ran::new(place.hushwire(line).args(options).output().unwrap_or_else(|e| panic!("{e}")));
        assert_eq!(ran.code, Some(0), "{options:?}: {}", ran.err);
        ran
    };
    let columns = ["--reveal", "columns:\"paid, €\",plan"];
    let ran = run(&[&columns[..], &["--security", "malicious"]].concat());
    assert_eq!(ran.out, joined);
    assert!(
        ran.err.contains("2 keys are in both files, with party B's paid, €, plan: 3 different keys at A"),
        "{}",
        ran.err
    );
    run(&[&columns[..], &["--out", "joined.csv", "--payload-bytes", "8"]].concat());
    assert_eq!(place.get("joined.csv"), joined.as_bytes());
    let json = run(&[&columns[..], &["--json", "-"]].concat()).out;
    let report: serde_json::Value = serde_json::from_str(&json).unwrap_or_default();
    assert_eq!(
        (&report["reveal"], &report["to"]),
        (&"columns:\"paid, €\",plan".into(), &serde_json::json!(["party0"]))
    );
    assert_eq!(report["columns"], serde_json::json!(["paid, €", "plan"]));
    assert_eq!(report["items"], serde_json::json!(["ann@x", "eve@x"]));
    assert_eq!(report["values"], serde_json::json!([["", "größer"], ["7", "a, b"]]));
    // Party B learns columns of A's file.
    let ran = run(&["--reveal", "columns:id", "--to", "b", "--key-a", "id", "--key-b", "since"]);
    assert_eq!(ran.out, "mail,plan,\"paid, €\",since,id\n");
}

#[test]
fn empty_files_and_columns_of_other_names() {
    let place = Place::new();
    put(&place, "a.csv", "mail", &keys(0..3));
    place.put("b.csv", b"address\n");
    let options = "--column-a mail --column-b address --transport unix --reveal flags";
    let flags = place.ran(&format!("local psi --a a.csv --b b.csv {options}")).out;
    assert_eq!(flags.lines().filter(|l| l.ends_with(",0")).count(), 4);
}

/// The forms are tested in `crates/psi`; here, their options reach the columns of the key.
#[test]
fn keys_are_compared_in_the_form_that_is_asked_for() {
    let place = Place::new();
    place
        .put("a.csv", "first,last,mail\nAnn,Lee,Ann@X.org \nZoe\u{308},Ray,zoe@x\nBob,Ray,none\n".as_bytes());
    place.put("b.csv", "mail,first,last\nann@x.ORG,ann,lee\nZOE@X,Zo\u{eb},ray\n".as_bytes());
    let ran = place.ran("local psi --a a.csv --b b.csv --key mail --normalise email --transport unix --to a");
    assert_eq!(ran.out, "first,last,mail\nAnn,Lee,Ann@X.org \nZoe\u{308},Ray,zoe@x\n", "{}", ran.err);
    for line in [
        "party A: 2 rows have a key of mail (email), 0 have not; the first ones as they are compared:",
        "party A:   \"Ann@X.org \" → \"ann@x.org\"",
        "party A: 1 row is in no set, since a field is not what its form is of; the first is in line 4",
        "party B:   \"ZOE@X\" → \"zoe@x\"",
    ] {
        assert!(ran.err.contains(line), "{line}: {}", ran.err);
    }
    // One form for each column of the key, or one for all of them.
    for (options, size, forms) in [
        ("--normalise case --normalise case", "1\n", ["trim case", "trim case"]),
        ("--normalise nfc,case", "2\n", ["trim nfc case", "trim nfc case"]),
        ("--normalise nfc --normalise case", "1\n", ["trim nfc", "trim case"]),
    ] {
        let names = "local psi --a a.csv --b b.csv --key first --key last --transport unix --reveal size";
        let ran = place.ran(&format!("{names} {options} --json report.json --force"));
        assert_eq!(ran.out, size, "{options}: {}", ran.err);
        let report: serde_json::Value = serde_json::from_slice(&place.get("report.json")).unwrap_or_default();
        assert_eq!(report["normalise"], serde_json::json!(forms), "{options}");
    }
}

/// Dates and numbers that two programs spell differently, by the options of each file.
#[test]
fn keys_that_programs_spell_differently_are_equal() {
    let place = Place::new();
    place.put("a.csv", b"day,n\n05.01.2026,007\n31.12.1999,\"1.234,50\"\n31.02.2026,7\n,x\n");
    place.put("b.csv", b"day,n\n1999-12-31,1234.5\n2026-01-05 00:00:00,7.0\n2026-02-31,7\n");
    let options = "--date-format a=%d.%m.%Y --decimal a=, --thousands a=.";
    let keys = "--key day --key n --normalise date --normalise number";
    let ran =
        place.ran(&format!("local psi --a a.csv --b b.csv {keys} --reveal size --transport unix {options}"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "2\n"), "{}", ran.err);
    // A format of dates holds for keys of texts, and its owner sees what becomes of them.
    place.put("b.csv", b"day\n1999-12-31\n2026-01-05\n");
    let ran = place.ran(
        "local psi --a a.csv --b b.csv --key day --reveal size --transport unix --date-format a=%d.%m.%Y",
    );
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "2\n"), "{}", ran.err);
    assert!(ran.err.contains("party A:   \"05.01.2026\" → \"2026-01-05\""), "{}", ran.err);
}

#[test]
fn one_file_may_come_by_standard_input() {
    let place = Place::new();
    put(&place, "a.csv", "email", &keys(0..3));
    put(&place, "b.csv", "email", &keys(1..9));
    let with = |options: &str, file: &str| {
        let mut command = place.hushwire(&format!("local psi {options} --column email --transport unix"));
        let file = std::fs::File::open(place.at(file)).unwrap_or_else(|e| panic!("{e}"));
        common::Ran::new(command.stdin(file).output().unwrap_or_else(|e| panic!("{e}")))
    };
    let ran = with("--a - --b b.csv --reveal flags", "a.csv");
    let rows = "row,email,note,in_both\n0,user0@example.org,\"x, y\",0\n1,user1@example.org,\"x, y\",1\n\
                2,user2@example.org,\"x, y\",1\nlast,,,0\n";
    assert_eq!(ran.out, rows, "{}", ran.err);
    assert_eq!(with("--a a.csv --b - --reveal size", "b.csv").out, "2\n");
    let ran = with("--a - --b - --reveal size", "a.csv");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("--a and --b are both standard input; give one of them a file"), "{}", ran.err);
    let ran = with("--a - --b b.csv --reveal size", "b.csv");
    assert_eq!(ran.out, "8\n", "{}", ran.err);
}

/// The endings of names decide about the formats; `crates/psi` tests what is read and written.
/// Numbers and dates of a query's Parquet have the same text as in CSV, and keep their types.
#[cfg(feature = "parquet")]
#[test]
fn parquet_goes_in_and_comes_out() {
    let place = Place::new();
    let ok = |line: &str| {
        let ran = place.ran(&format!("local {line} --transport unix"));
        assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
        ran.out
    };
    place.put("typed.csv", b"id,day,price\n7,2026-11-23,1.50\n8,,2.00\n9,2026-01-01,\n");
    place.put("copy.sql", b"SELECT id, day, price FROM t ORDER BY id");
    ok("query --table t=typed.csv@bob --sql-file copy.sql --out typed.parquet");
    place.put("other.csv", b"id,day\n7,2026-11-23\n9,2026-01-02\n8,\n");
    ok("psi --a typed.parquet --b other.csv --key id --key day --out both.parquet --out-b theirs.csv");
    assert_eq!(place.get("both.parquet")[..4], *b"PAR1");
    assert_eq!(place.get("theirs.csv"), b"id,day\n7,2026-11-23\n");
    place.put("back.sql", b"SELECT id, day, price, price + price AS twice FROM t ORDER BY id");
    let back = ok("query --table t=both.parquet@bob --sql-file back.sql");
    assert!(back.contains("2026-11-23   1.50   3.00"), "{back}");
}

/// A build without Parquet says how to get a build with it.
#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_named_where_the_build_has_none() {
    let world = World::new(0..4, 2..6);
    world.place.put("a.parquet", b"PAR1");
    for (options, words) in [
        ("--a a.parquet", "cannot read a.parquet: it is Parquet, and this hushwire was built without it"),
        (
            "--a a.csv --out x.parquet",
            "cannot write x.parquet: it would be Parquet, and this hushwire was built without it",
        ),
    ] {
        let ran = world.place.ran(&format!("local psi --b b.csv --key email --transport unix {options}"));
        assert!(ran.code == Some(4) && ran.err.contains(words), "{options}: {:?} {}", ran.code, ran.err);
        assert!(ran.err.contains("--features parquet"), "{}", ran.err);
    }
}

/// Flags with the name of a column are refused. The other party's file may have a column of that
/// name.
#[test]
fn flags_need_a_name_of_their_own() {
    let place = Place::new();
    place.put("a.csv", b"mail,in_both\nx@y,0\n");
    place.put("b.csv", b"mail\nx@y\n");
    let ran = place.ran("local psi --a a.csv --b b.csv --key mail --reveal flags --to b --transport unix");
    assert_eq!((ran.code, &*ran.out), (Some(0), "mail,in_both\nx@y,1\n"), "{}", ran.err);
}
