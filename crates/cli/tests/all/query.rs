//! `local query`: SQL over CSV files among processes, and what is refused.

use crate::common::{Place, Ran};

/// Salaries of one owner in cents of people of another; one person has none, one salary is nobody's.
fn place() -> Place {
    let place = Place::new();
    place.put("a.csv", b"person,salary\n1,1000.50\n2,3000.00\n3,\n5,9.99\n4,2000.00\n");
    place.put("b.csv", b"id,city\n1,Bern\n2,Basel\n3,Bern\n4,Bern\n6,\"Genf, GE\"\n");
    place
}

const TABLES: &str = "--table salaries=a.csv@alice --table people=b.csv@bob --key people=id --transport unix";

fn run(place: &Place, sql: &str, more: &str) -> Ran {
    place.put("query.sql", sql.as_bytes());
    place.ran(&format!("local query {TABLES} --sql-file query.sql {more}"))
}

fn good(place: &Place, sql: &str, more: &str) -> Ran {
    let ran = run(place, sql, more);
    assert_eq!(ran.code, Some(0), "{sql}: {}", ran.err);
    ran
}

fn text(place: &Place, name: &str) -> String {
    String::from_utf8(place.get(name)).expect("text")
}

const MEANS: &str =
    "SELECT city, COUNT(*) AS people, SUM(salary) AS total FROM people LEFT JOIN salaries ON person = id
GROUP BY city ORDER BY city";

#[test]
fn three_processes_answer_a_query_over_two_owners_files() {
    let place = place();
    let ran = good(&place, MEANS, "");
    let table = "city      people    total\n--------  ------  -------\nBasel          1  3000.00\nBern           3  3000.50\nGenf, GE       1     NULL\n";
    assert_eq!(ran.out, table, "{}", ran.err);
    good(&place, MEANS, "--out result.csv --json report.json");
    let csv = text(&place, "result.csv");
    assert_eq!(csv, "city,people,total\nBasel,1,3000.00\nBern,3,3000.50\n\"Genf, GE\",1,\n");
    let report: serde_json::Value = serde_json::from_str(&text(&place, "report.json")).expect("a report");
    assert_eq!((report["count"].as_u64(), report["columns"][2][0].as_str()), (Some(3), Some("total")));
}

#[test]
fn padding_and_small_groups_change_no_other_row() {
    let place = place();
    let all = good(&place, MEANS, "--pad 8").out;
    assert_eq!(all, good(&place, MEANS, "").out);
    let large = good(&place, MEANS, "--min-group 2 --pad 2^k").out;
    assert_eq!(large.lines().skip(2).collect::<Vec<_>>(), ["Bern       3  3000.50"]);
}

#[test]
fn a_plan_is_explained_and_mistakes_are_named() {
    let place = place();
    let ran = good(&place, MEANS, "--explain");
    for words in
        ["left join on", "rounds", "over a WAN", "client analyst learns the result, and nothing more"]
    {
        assert!(ran.out.contains(words), "no {words:?} in {}", ran.out);
    }
    for (sql, more, code, words) in [
        ("SELECT town FROM people", "", 2, "the query, line 1, column 8: no column is called town"),
        ("SELECT city FROM people", "--pad 2", 2, "a.csv has 5 rows, which are more"),
        ("SELECT city FROM people", "--key salaries=wage", 2, "its key names no column of it: wage"),
        (
            "SELECT id, city FROM people",
            "--key people=city",
            4,
            "b.csv, line 4: a row before it has the same city",
        ),
    ] {
        let ran = run(&place, sql, more);
        assert_eq!(ran.code, Some(code), "{sql}: {}", ran.err);
        assert!(ran.err.contains(words), "{sql}: no {words:?} in {}", ran.err);
    }
}

/// Strings of any length that are compared alone: digests join and count like the strings, and are never shown.
#[test]
fn a_schema_declares_types_keys_and_digests() {
    let place = Place::new();
    let mail = |n: usize| format!("{}@example.org", "long".repeat(40 + n));
    let rows =
        [(0, "5"), (1, "007"), (1, "2"), (2, "1")].map(|(who, paid)| format!("{},{paid}\n", mail(who)));
    place.put("a.csv", format!("mail,paid\n{},4\n", rows.concat()).as_bytes());
    place.put("b.csv", format!("mail,city\n{},Bern\n{},Basel\n", mail(1), mail(0)).as_bytes());
    place.put(
        "schema.toml",
        br#"[[tables]]
name = "paid"
columns = ["mail DIGEST", "paid DECIMAL(6, 1) NOT NULL"]
[[tables]]
name = "people"
columns = ["mail DIGEST NOT NULL", "city VARCHAR(10) NOT NULL"]
key = ["mail"]
"#,
    );
    let ask = |sql: &str| {
        place.put("query.sql", sql.as_bytes());
        place.ran("local query --table paid=a.csv@alice --table people=b.csv@bob --schema schema.toml --sql-file query.sql --transport unix")
    };
    let ran = ask(
        "SELECT city, SUM(paid) AS total FROM paid JOIN people ON paid.mail = people.mail GROUP BY city ORDER BY city",
    );
    assert_eq!(ran.out, "city   total\n-----  -----\nBasel    5.0\nBern     9.0\n", "{}", ran.err);
    let ran = ask("SELECT COUNT(DISTINCT mail) AS n, COUNT(*) AS rows FROM paid");
    assert_eq!(ran.out, "n  rows\n-  ----\n3     5\n", "{}", ran.err);
    let ran = ask("SELECT mail FROM paid");
    assert_eq!(ran.code, Some(2), "{}", ran.err);
    assert!(ran.err.contains("column mail of its result is a digest"), "{}", ran.err);
    place.put("schema.toml", b"[[tables]]\nname = \"paid\"\ncolumn = []\n");
    let ran = ask("SELECT COUNT(*) FROM paid");
    assert_eq!(ran.code, Some(4), "{}", ran.err);
    assert!(ran.err.contains("did you mean `columns`?"), "{}", ran.err);
}
