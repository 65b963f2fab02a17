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
