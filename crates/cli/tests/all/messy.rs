//! Files that are not clean: the messages of commands about them, and the remedies.

use crate::{
    common::{Place, Ran},
    query_members::{ALL, expected, world},
    rehearsal::Ended,
};
use std::io::Write;

fn place() -> Place {
    let place = Place::new();
    place.put("na.csv", b"id,n\n1,5\n2,7\n3,n/a\n");
    place.put("zip.csv", b"zip,n\n8001,3\n8002,4\n9000,5\n");
    place.put("de.csv", "id;Betrag;Tag\n1;1.234,50 €;23.11.2026\n2;-7,25;1.2.2025\n3;;-\n".as_bytes());
    place
}

/// Runs `local query` with an SQL text of several words.
fn query(place: &Place, tables: &str, sql: &str) -> Ran {
    place.put("q.sql", sql.as_bytes());
    place.ran(&format!("local query {tables} --sql-file q.sql --transport unix --out - --force"))
}

fn good(place: &Place, tables: &str, sql: &str) -> String {
    let ran = query(place, tables, sql);
    assert_eq!(ran.code, Some(0), "{tables}: {}", ran.err);
    ran.out
}

fn refused(place: &Place, tables: &str, sql: &str, words: &[&str]) {
    let ran = query(place, tables, sql);
    assert_ne!(ran.code, Some(0), "{tables}: {}", ran.out);
    words.iter().for_each(|words| assert!(ran.err.contains(words), "no {words:?} in {}", ran.err));
}

fn ended_well(place: &Place, line: &str) -> Ran {
    let ran = place.ran(line);
    assert_eq!(ran.code, Some(0), "{line}: {}", ran.err);
    ran
}

fn ended_badly(place: &Place, line: &str, code: i32, words: &[&str]) {
    let ran = place.ran(line);
    assert_eq!(ran.code, Some(code), "{line}: {}", ran.err);
    words.iter().for_each(|words| assert!(ran.err.contains(words), "no {words:?} in {}", ran.err));
}

#[test]
fn one_word_among_numbers_is_named_and_has_a_way_out() {
    let place = place();
    let sum = "SELECT SUM(n) AS s FROM t";
    let words = [
        "column t.n is read as VARCHAR(3): most of its 3 values are numbers, and 1 is not: na.csv, line 4",
        "its form: a/a",
        "add --null n/a",
    ];
    refused(&place, "--table t=na.csv@a", sum, &words);
    assert_eq!(good(&place, "--table t=na.csv@a --null n/a", sum), "s\n12\n");
    // A given type is kept, and the value that does not fit is found.
    let words = ["client a cannot read na.csv, line 4: column n: it is no INTEGER; its form is a/a"];
    refused(&place, "--table t=na.csv@a --type t.n=INTEGER", sum, &words);
    assert_eq!(good(&place, "--table t=na.csv@a --type t.n=INTEGER --null t=n/a", sum), "s\n12\n");
    // A query that succeeds also gets the note, because the greatest text is not the greatest
    // number.
    let ran = query(&place, "--table t=na.csv@a", "SELECT MAX(n) AS s FROM t");
    assert!(ran.code == Some(0) && ran.err.contains("note: column t.n is read as VARCHAR(3)"), "{}", ran.err);
}

#[test]
fn numbers_that_are_meant_as_text_are_named() {
    let place = place();
    let like = "SELECT SUM(n) AS s FROM t WHERE zip LIKE '80%'";
    let words =
        ["column t.zip was read as INTEGER", "--type \"t.zip=VARCHAR(n)\"", "CAST(zip AS VARCHAR(n))"];
    refused(&place, "--table t=zip.csv@a", like, &words);
    assert_eq!(good(&place, "--table t=zip.csv@a --type t.zip=VARCHAR(5)", like), "s\n7\n");
    let wrong = [
        ("t.zap=DATE", "zip"),
        ("u.zip=DATE", "no table u"),
        ("t.zip=TEXT9", "is no type"),
        ("zip", "write table.column"),
    ];
    for (option, words) in wrong {
        refused(&place, &format!("--table t=zip.csv@a --type {option}"), like, &[words]);
    }
}

#[test]
fn a_file_is_described_and_its_schema_is_taken() {
    let place = place();
    let first = ended_well(&place, "table describe de.csv").out;
    for words in [
        "de.csv: 3 rows of 3 columns; text, \";\" between fields, names in the first line",
        "numbers with --decimal , --thousands . --units yes",
        "does not fit: de.csv, line 4, of the form -",
    ] {
        assert!(first.contains(words), "no {words:?} in {first}");
    }
    let options = "--decimal , --thousands . --units --null - --date-format %d.%m.%Y";
    let second =
        ended_well(&place, &format!("table describe de.csv {options} --schema de.toml --name t")).out;
    assert!(second.contains("Betrag  DECIMAL(6, 2)") && second.contains("Tag     DATE"), "{second}");
    let rows =
        good(&place, "--table t=de.csv@a --schema de.toml", "SELECT SUM(Betrag) AS s, MAX(Tag) AS d FROM t");
    assert_eq!(rows, "s,d\n1227.25,2026-11-23\n");
    // The report has the same findings. After a sample, it says that there may be more rows.
    let report = ended_well(&place, "table describe de.csv --sample 2 --json -").out;
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((report["rows"].as_u64(), report["sampled"].as_bool()), (Some(2), Some(true)));
    assert_eq!(report["columns"][0]["type"], "INTEGER");
    let report = ended_well(&place, "table describe na.csv --json -").out;
    assert!(report.contains("\"form\": \"a/a\""), "{report}");
    ended_badly(
        &place,
        "table describe de.csv --decimal x",
        2,
        &["--decimal: decimal is a point or a comma"],
    );
    ended_badly(&place, "table describe nobody-*.csv", 4, &["no file has such a name"]);
}

/// Files of Arrow are tables with the declared types.
#[cfg(feature = "parquet")]
#[test]
fn files_of_arrow_are_tables() {
    let place = Place::new();
    let vectors = concat!(env!("CARGO_MANIFEST_DIR"), "/../files/tests/vectors");
    for (from, to) in [("polars.arrow", "p.feather"), ("arrow-lz4.feather", "a.arrow")] {
        std::fs::copy(format!("{vectors}/{from}"), place.at(to)).unwrap_or_else(|e| panic!("{from}: {e}"));
    }
    let shown = ended_well(&place, "table describe p.feather").out;
    for words in ["p.feather: 3 rows of 4 columns; Arrow", "name    VARCHAR(38)", "day     DATE"] {
        assert!(shown.contains(words), "no {words:?} in {shown}");
    }
    let report = ended_well(&place, "table describe p.feather --json -").out;
    let report: serde_json::Value = serde_json::from_str(&report).expect("JSON");
    assert_eq!((&report["format"], &report["separator"]), (&"arrow".into(), &serde_json::Value::Null));
    let sql = "SELECT COUNT(name) AS n, MAX(day) AS d, SUM(price) AS s FROM p";
    assert_eq!(good(&place, "--table p=p.feather@a", sql), "n,d,s\n2,2026-11-23,-0.75\n");
    let sql = "SELECT id FROM p WHERE name IS NULL";
    assert_eq!(good(&place, "--table p=p.feather@a", sql), "id\n3\n");
    let line = "local psi --a p.feather --b p.feather --key name --transport unix";
    let rows = "id,name,day,price\n1,Ann,2026-11-23,1.5\n2,a name that has more than twelve bytes,,\n";
    assert_eq!(ended_well(&place, &format!("{line} --to a")).out, rows);
    ended_badly(&place, &format!("{line} --to a --out r.arrow"), 4, &["read and not written"]);
    // A column that is not read may be in the file, if no result contains it.
    let line = "local psi --a a.arrow --b p.feather --key-a code --key-b name --transport unix";
    assert_eq!(ended_well(&place, &format!("{line} --reveal size")).out, "0\n");
    let words = ["column list is of a type that CSV cannot have", "bring it as Parquet"];
    ended_badly(&place, &format!("{line} --to a"), 4, &words);
}

#[test]
fn an_option_that_is_not_there_is_refused_without_odd_advice() {
    let place = Place::new();
    place.put("t.csv", b"id,n\n1,2\n");
    let ran = place.ran("table describe t.csv --type t.n=INTEGER");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("unexpected argument '--type'") && !ran.err.contains("'-- "), "{}", ran.err);
    ended_badly(&place, "table describe t.csv --heade no", 2, &["a similar argument exists: '--header'"]);
}

#[test]
fn a_join_of_many_rows_with_many_names_the_options() {
    let place = Place::new();
    let rows = |name: &str| (0..1100).fold(format!("{name}\n"), |all, i| format!("{all}{}\n", i / 2));
    place.put("a.csv", rows("x").as_bytes());
    place.put("b.csv", rows("y").as_bytes());
    let tables = "--table a=a.csv@ann --table b=b.csv@bob";
    let sql = "SELECT COUNT(*) AS n FROM a JOIN b ON x = y";
    refused(
        &place,
        tables,
        sql,
        &["on x = y may have many rows of a key", "--key TABLE=COLUMN", "--join-bound"],
    );
}

/// Typical files of users, one in each line, with the words of `table describe` about them.
#[test]
fn notes_and_remedies_of_files() {
    let place = Place::new();
    let long = format!("id,s\n1,{}\n2,y\n", "x".repeat(70_000));
    let files: [(&str, &[u8], &[&str]); 17] = [
        (
            "long.csv",
            long.as_bytes(),
            &["DIGEST", "text of 70000 bytes (long.csv, line 2), and VARCHAR has 512"],
        ),
        (
            "latin1.csv",
            b"id;name\n1;Z\xfcrich\n",
            &[
                "note: latin1.csv, line 2: column name is not UTF-8; set --encoding latin1, or windows-1252",
                "try it with --encoding windows-1252",
            ],
        ),
        (
            "name.csv",
            b"Z\xfcrich,n\n1,2\n",
            &[
                "note: name.csv, line 1: the name of column 1 is not UTF-8",
                "try it with --encoding windows-1252",
            ],
        ),
        ("half.csv", b"n\n.5\n+1.25\n", &["in a query by --type \"TABLE.n=DECIMAL(18, 2)\""]),
        (
            "words of sql.csv",
            b"id,from,Select,year\n1,2,3,4\n",
            &["queries must write these names with their quotes: \"from\"\n"],
        ),
        // A name cannot send control characters to the terminal.
        ("escape.csv", b"id,\x1b[31mred\n1,2\n", &["\\u{1b}[31mred  INTEGER"]),
        ("soh.csv", b"a\x01b\n1\x012\n3\x014\n", &["set --separator $'\\x01'"]),
        (
            "plus.csv",
            b"id,n\n1,+5\n2,-6\n",
            &["set the type in the schema, or in a query by --type TABLE.n=INTEGER"],
        ),
        (
            "total.csv",
            b"region,n\nnorth,5\nsouth,7\nTotal,12\n",
            &["note: total.csv, line 4: this last row begins with a word for a total"],
        ),
        ("caret.csv", b"id^n\n1^2\n3^4\n", &["2 rows of 1 column;", "set --separator \"^\""]),
        (
            "words.csv",
            b"n\nNULL\nN/A\n-\n7\n8\n9\n",
            &["numbers but for 3 of 6: those values are not", "add --null NULL,N/A,-"],
        ),
        ("inf.csv", b"x\n1.5\nNaN\ninf\n-Infinity\n2.5\n3.5\n", &["try it with --null NaN,inf,-Infinity"]),
        ("rows.csv", b"id,n\n1,2\n", &["1 row of 2 columns"]),
        ("zero.csv", b"d\n0000-00-00\n2024-01-05\n2024-02-05\n", &["line 2, of the form 9999-99-99"]),
        ("swiss.csv", b"n\n1'234.50\n99.00\n", &["2 of 2 values are numbers with --thousands \"'\""]),
        ("ampm.csv", b"t\n02/29/2024 1:45 PM\n", &["--date-format \"%m/%d/%Y %I:%M %p\""]),
        ("nbsp.csv", "n;m\n1\u{a0}234;1\n2\u{202f}345;2\n".as_bytes(), &["--thousands space"]),
    ];
    for (name, bytes, words) in files {
        place.put(name, bytes);
        // The command line is split at blanks.
        let command = format!("table describe {}", name.replace(' ', "?"));
        let told = ended_well(&place, &command).out;
        assert!(!told.contains('\u{1b}'), "{name}: {told:?}");
        words.iter().for_each(|words| assert!(told.contains(words), "{name}: no {words:?} in {told}"));
    }
    let refused: [(&str, &[u8], &str); 6] = [
        (
            "quotes.csv",
            b"id,name\n1,'Smith, Ann'\n",
            "line 2: it has 3 fields where the first line has 2; if its fields have ' around them",
        ),
        ("blank.csv", b"id, \"name\"\n1, \"Lee\"\n", "line 1, character 5: a quote stands in a field"),
        ("cr.csv", b"id,n\r1,2\r", "a carriage return stands alone; end lines with LF or CR LF"),
        (
            "comment.csv",
            b"# by erp\nid,n\n1,2\n",
            "line 2: it has 2 fields where the first line has 1; if the lines before it",
        ),
        ("end.csv", b"id,n\r\n1,2\r\n\x1a", "delete the last character of the file, which marks its end"),
        ("nul.csv", b"id,s\n1,a\0b\n", "line 2: column s: a field has a zero byte"),
    ];
    for (name, bytes, words) in refused {
        place.put(name, bytes);
        ended_badly(&place, &format!("table describe {name}"), 4, &[words]);
    }
    // The rest of a file with a long text is read. Columns that a query uses as numbers have a
    // remedy.
    assert_eq!(
        good(&place, "--table t=long.csv@a", "SELECT SUM(id) AS s, COUNT(DISTINCT s) AS d FROM t"),
        "s,d\n3,2\n"
    );
    let sum = "SELECT SUM(n) AS s FROM t";
    self::refused(&place, "--table t=plus.csv@a", sum, &["if they are no codes, add --type t.n=INTEGER"]);
    assert_eq!(good(&place, "--table t=plus.csv@a --type t.n=INTEGER", sum), "s\n-1\n");
}

#[test]
fn several_files_of_an_owner_are_one_part() {
    let place = Place::new();
    place.put("a-1.csv", b"id,n\n1,2\n");
    let mut packer = flate2::write::GzEncoder::new(vec![], flate2::Compression::default());
    packer.write_all(b"n,id\n4,3\n").expect("packed");
    place.put("a-2.csv.gz", &packer.finish().expect("packed"));
    let sql = "SELECT id, n FROM t ORDER BY id";
    let wanted = "id,n\n1,2\n3,4\n";
    assert_eq!(good(&place, "--table t=a-1.csv@a --table t=a-2.csv.gz@a", sql), wanted);
    assert_eq!(good(&place, "--table t=a-*@a", sql), wanted);
    place.put("a-3.csv", b"id,m\n1,2\n");
    refused(&place, "--table t=a-*@a", sql, &["column n is not in all files of the table"]);
}

#[test]
fn a_first_line_that_looks_like_data_is_told_once() {
    let place = Place::new();
    place.put("t.csv", b"1,5\n2,6\n");
    let ran = query(&place, "--table t=t.csv@a", "SELECT COUNT(*) AS n FROM t");
    assert_eq!(ran.out, "n\n1\n");
    let told = "t.csv, line 1 is read as the names of columns, and 2 of its 2 fields are numbers or dates";
    assert_eq!(ran.err.matches(told).count(), 1, "{}", ran.err);
    let rows = good(&place, "--table t=t.csv@a --header no", "SELECT SUM(c2) AS n FROM t");
    assert_eq!(rows, "n\n11\n");
}

#[test]
fn columns_without_values_take_the_types_of_their_partners() {
    let place = place();
    place.put("none.csv", b"k,day,x\n");
    let sql = "SELECT COUNT(*) AS n, SUM(x) AS s FROM u JOIN t ON u.k = t.id WHERE day > DATE '2026-01-01'";
    let ran = query(&place, "--table u=none.csv@b --table t=na.csv@a --key t=id", sql);
    assert_eq!(ran.out, "n,s\n0,\n", "{}", ran.err);
    for (column, ty) in [("k", "INTEGER"), ("day", "DATE"), ("x", "INTEGER")] {
        let told = format!("column u.{column} has no values and is taken for {ty}");
        assert!(ran.err.contains(&told), "{}", ran.err);
    }
    place.put("empty.csv", b"");
    refused(&place, "--table u=empty.csv@b", "SELECT COUNT(*) AS n FROM u", &["empty.csv: it is empty"]);
    place.put("u.toml", b"[[tables]]\nname = \"u\"\ncolumns = [\"x INTEGER\"]\n");
    let rows =
        good(&place, "--table u=empty.csv@b --schema u.toml", "SELECT COUNT(*) AS n, SUM(x) AS s FROM u");
    assert_eq!(rows, "n,s\n0,\n");
}

#[test]
fn intersections_read_the_same_files() {
    let place = Place::new();
    place.put("a.csv", b"id;name\n1;Z\xfcrich\n2;NA\n3;Bern\n");
    place.put("b-1.csv", "name,n\nZürich,\"1,000\"\n".as_bytes());
    place.put("b-2.csv", "n,name\nNA,NA\n4,Basel\n".as_bytes());
    let line = "local psi --a a.csv --b b-1.csv --b b-2.csv --key name --encoding a=latin1 --null NA --thousands b=, --transport unix";
    assert_eq!(ended_well(&place, line).out, "id,name\n1,Zürich\n");
    assert_eq!(ended_well(&place, &format!("{line} --reveal sum:n,count")).out, "count,sum\n1,1000\n");
    let wrong = "local psi --a a.csv --b b-1.csv --key name --transport unix";
    ended_badly(
        &place,
        wrong,
        4,
        &["a.csv, line 2: the key in column name is not UTF-8", "set the encoding of the file"],
    );
}

/// An owner's own file says how its table is read. The job and all other members stay as they are.
#[test]
fn a_member_reads_its_table_as_its_own_file_says() {
    let world = world(9);
    let salaries = String::from_utf8(world.place.get("r/salaries.csv")).expect("text");
    let lines: Vec<&str> = salaries.lines().collect();
    for (name, rows) in [("r/one.csv", &lines[1..5]), ("r/two.csv", &lines[5..])] {
        let german = rows.iter().map(|line| line.replace(',', ";").replace('.', ",") + "\n");
        world.place.put(name, ("person;salary\n".to_owned() + &german.collect::<String>()).as_bytes());
    }
    world.edit("r/alice.toml", |text| {
        text.replace(
            "file = \"salaries.csv\"",
            "file = [\"one.csv\", \"two.csv\"], decimal = \",\", separator = \";\"",
        )
    });
    let all = world.end(world.start_all(&ALL));
    all.iter().for_each(Ended::good);
    assert_eq!(String::from_utf8(world.place.get("r/result.csv")).unwrap_or_default(), expected(9));
}
