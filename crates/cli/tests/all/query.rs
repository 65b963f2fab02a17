//! `local query`: SQL over CSV files among processes, and what is refused.

use crate::{
    common::{Place, Ran},
    documented::check,
};

/// The page that documents the fields of reports, and its heading.
pub(crate) const FIELDS: [&str; 2] = [include_str!("../../../../docs/sql.md"), "## Reports"];

/// Writes salaries of one owner, in cents, and people of another. One person has no salary, and one
/// salary belongs to nobody.
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
const TABLE: &str = "city      people    total\n--------  ------  -------\nBasel          1  3000.00\nBern           3  3000.50\nGenf, GE       1     NULL\n";

#[test]
fn three_processes_answer_a_query_over_two_owners_files() {
    let place = place();
    let ran = good(&place, MEANS, "");
    assert_eq!(ran.out, TABLE, "{}", ran.err);
}

#[test]
fn every_field_of_a_report_is_documented_and_there() {
    let place = place();
    let report = |more: &str| -> serde_json::Value {
        serde_json::from_str(&good(&place, MEANS, &format!("--json - {more}")).out).expect("a report")
    };
    let (shown, filed) = (report(""), report("--out result.csv"));
    check(FIELDS[0], FIELDS[1], "local", &[], &[&shown, &filed]);
    let csv = text(&place, "result.csv");
    assert_eq!(csv, "city,people,total\nBasel,1,3000.00\nBern,3,3000.50\n\"Genf, GE\",1,\n");
    assert_eq!(shown["columns"][2][0], "total");
    assert_eq!(shown["rows"][2], serde_json::json!(["Genf, GE", "1", null]));
    assert_eq!((&filed["rows"], &filed["count"]), (&serde_json::json!([]), &3.into()));
    assert_eq!(filed["columns"], shown["columns"]);
}

/// Values of parameters are literals of the required type.
#[test]
fn parameters_take_the_place_of_names_and_of_question_marks() {
    let place = place();
    let count = |condition: &str, more: &str| {
        let sql = format!("SELECT COUNT(*) AS n FROM salaries WHERE {condition}");
        good(&place, &sql, &format!("--out n.csv --force {more}"));
        text(&place, "n.csv")
    };
    assert_eq!(
        count("salary >= :least AND person < :before", "--param least=9.99 --param before=5"),
        "n\n3\n"
    );
    let refused = |more: &str, words: &str| {
        let ran = run(&place, "SELECT COUNT(*) AS n FROM salaries WHERE person < :before", more);
        assert!(ran.code == Some(2) && ran.err.contains(words), "{more}: {:?} {}", ran.code, ran.err);
    };
    refused("--param befor=3", "no parameter is called :before");
    refused("--param before", "names no parameter and value");
}

/// Parties with a longer round trip take fewer rounds and more bytes, and so does the prediction.
/// The query is a join with too many rows for this choice between parties on one machine.
#[test]
fn predictions_are_those_of_the_network() {
    let place = Place::new();
    let table = |names: &str, of: fn(u32) -> (u32, u32)| {
        let rows: String = (0..150).map(of).map(|(key, value)| format!("{key},{value}\n")).collect();
        format!("{names}\n{rows}").into_bytes()
    };
    place.put("a.csv", &table("k,v", |i| (i, 7919 * i % 1000)));
    place.put("b.csv", &table("k,w", |i| (104_729 * i % 300, i)));
    let query = "local query --table a=a.csv@alice --table b=b.csv@bob --transport unix --net max,4ms --json - --sql-file q.sql";
    place.put("q.sql", b"SELECT COUNT(*) AS n, SUM(w) AS s FROM a JOIN b ON a.k = b.k WHERE v < w");
    let ran = place.ran(query);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let report: serde_json::Value = serde_json::from_str(&ran.out).expect("a report");
    let most = |field: &str| {
        report["parties"].as_array().expect("parties").iter().filter_map(|p| p[field].as_u64()).max()
    };
    let predicted = |field: &str| report["predicted"][field].as_u64().expect(field);
    let (rounds, far, near) = (most("rounds").expect("rounds"), predicted("wan_rounds"), predicted("rounds"));
    assert!(rounds <= 2 * far && far <= 2 * rounds, "{rounds} rounds, predicted {far}");
    assert!(2 * near > 3 * far, "{near} rounds on one machine, {far} over a network");
    let line = ran.err.lines().find_map(|line| line.strip_prefix("predicted: "));
    assert!(line.is_some_and(|line| line.contains(&format!(", {far} rounds, "))), "{}", ran.err);
}

/// If nothing is sorted, the prediction is exact, apart from the messages of members before and
/// after the query.
#[test]
fn predictions_stand_beside_what_a_run_took() {
    let place = place();
    for (sql, more) in [
        ("SELECT COUNT(*) AS n, SUM(salary) AS total FROM salaries WHERE person > 2 AND salary > 10", ""),
        ("SELECT city, salary FROM salaries JOIN people ON person = id", "--tag-join"),
    ] {
        good(&place, sql, &format!("--json report.json {more}"));
        let report: serde_json::Value = serde_json::from_str(&text(&place, "report.json")).expect("a report");
        let most = |field: &str| {
            report["parties"].as_array().expect("parties").iter().filter_map(|p| p[field].as_u64()).max()
        };
        let both =
            |field: &str| (most(field).expect(field), report["predicted"][field].as_u64().expect(field));
        let (took, predicted) = both("bytes_sent");
        assert!((predicted..=predicted + 8192).contains(&took), "{sql}: {took} bytes, predicted {predicted}");
        // The run counts rounds of one direction, and steps alternate with both directions.
        let (took, predicted) = both("rounds");
        assert!(took <= predicted + 40 && 4 * predicted <= 5 * took, "{sql}: {took}, predicted {predicted}");
    }
    let plan =
        good(&place, "SELECT city, salary FROM salaries JOIN people ON person = id", "--tag-join --explain")
            .out;
    for net in ["on this machine: ", "over a LAN: ", "over a WAN: "] {
        let line = plan.lines().find_map(|line| line.strip_prefix(&format!("predicted {net}")));
        let line = line.unwrap_or_else(|| panic!("no {net} in {plan}"));
        assert!(line.contains(" rounds, ") && line.ends_with(" from the party that sends most"), "{line}");
    }
    for words in [
        "by tags, which show parties 1 and 2 how many rows of either side have one key",
        "learns nothing of rows or of the result but how often keys of joins by tags repeat",
    ] {
        assert!(plan.contains(words), "no {words:?} in {plan}");
    }
}

#[test]
fn padding_and_small_groups_change_no_other_row() {
    let place = place();
    assert_eq!(good(&place, MEANS, "--pad 8").out, TABLE);
    let large = good(&place, MEANS, "--min-group 2 --pad 2^k").out;
    assert_eq!(large.lines().skip(2).collect::<Vec<_>>(), ["Bern       3  3000.50"]);
}

#[test]
fn a_plan_is_explained() {
    let place = place();
    let ran = good(&place, MEANS, "--explain");
    for words in
        ["left join on", "rounds", "over a WAN", "client analyst learns the result, and nothing more"]
    {
        assert!(ran.out.contains(words), "no {words:?} in {}", ran.out);
    }
}

/// Names of columns may be other than words, and a query writes them between quotes.
#[test]
fn a_column_without_values_is_named_where_a_query_is_refused() {
    let place = Place::new();
    place.put("e.csv", b"id,bonus,note\n1,,\n2,,x\n");
    let run = |sql: &str, more: &str| {
        place.put("query.sql", sql.as_bytes());
        place.ran(&format!("local query --table e=e.csv@alice --transport unix --sql-file query.sql {more}"))
    };
    let declared = "columns = [\"id INTEGER\", \"bonus INTEGER\"]";
    place.put("schema.toml", format!("[[tables]]\nname = \"e\"\n{declared}\n").as_bytes());
    let ran = run("SELECT SUM(bonus) AS total FROM e", "--schema schema.toml --out total.csv");
    assert_eq!((ran.code, text(&place, "total.csv").as_str()), (Some(0), "total\n\"\"\n"), "{}", ran.err);
}

#[test]
fn tables_queries_and_results_go_through_pipes() {
    let place = Place::new();
    let sql = b"SELECT \"first name\", n FROM t WHERE n > 1";
    let csv = "first name,n,\"a \"\"quoted\"\" one\"\nAnn,1,x\nBob,2,\n".as_bytes();
    place.put("query.sql", sql);
    place.put("t.csv", csv);
    let run = "local query --transport unix --out -";
    let wanted = b"first name,n\nBob,2\n";
    for (args, input) in
        [("--table t=-@bob --sql-file query.sql", csv), ("--table t=t.csv@bob --sql-file -", sql)]
    {
        let (code, out, err) = place.through(&format!("{run} {args}"), input);
        assert!(code == Some(0) && out == wanted, "{args}: {}: {err}", String::from_utf8_lossy(&out));
    }
    let (code, _, err) =
        place.through(&format!("{run} --table t=-@bob --sql-file query.sql"), b"n\n1\n\"2\n");
    assert!(code == Some(4) && err.contains("table on standard input, line 3"), "{err}");
    place.put("t.csv", format!("n\n1\n{}\n", "long".repeat(20_000)).as_bytes());
    // A text that is too long for any string type can be counted and compared, but not shown.
    place.put("query.sql", b"SELECT COUNT(*) AS rows_of, COUNT(DISTINCT n) AS n FROM t");
    let ran = place.ran(&format!("{run} --table t=t.csv@bob --sql-file query.sql"));
    assert_eq!((ran.code, ran.out.as_str()), (Some(0), "rows_of,n\n2,2\n"), "{}", ran.err);
    place.put("query.sql", b"SELECT n FROM t");
    let ran = place.ran(&format!("{run} --table t=t.csv@bob --sql-file query.sql"));
    let told = "column t.n has text of 80000 bytes (t.csv, line 3), and VARCHAR has 512";
    assert!(ran.code == Some(2) && ran.err.contains(told), "{}", ran.err);
    assert!(!place.at("-").exists());
}

/// Strings of any length that are only compared. Their digests are joined and counted like the
/// strings, and never shown.
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
columns = ["mail DIGEST(128)", "paid DECIMAL(6, 1) NOT NULL"]
[[tables]]
name = "people"
columns = ["mail DIGEST(128) NOT NULL", "city VARCHAR(10) NOT NULL"]
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
}

/// One query writes Parquet that another reads. The answer is the same as from CSV, also for
/// strings that look like numbers.
#[cfg(feature = "parquet")]
#[test]
fn parquet_goes_in_and_comes_out() {
    let place = Place::new();
    place.put(
        "a.csv",
        b"person,salary,day\n1,1000.50,2026-11-23\n2,3000.00,\n3,,1999-01-01\n4,2000.00,2026-11-23\n",
    );
    place.put("b.csv", b"id,city,code\n1,Bern,007\n2,Basel,010\n3,Bern,\n4,\"Genf, GE\",9\n");
    place.put("copy.sql", b"SELECT id, city, code FROM b ORDER BY id");
    let ran =
        place.ran("local query --table b=b.csv@bob --sql-file copy.sql --out b.parquet --transport unix");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(place.get("b.parquet")[..4], *b"PAR1");
    place.put(
        "query.sql",
        b"SELECT city, code, SUM(salary) AS total, MAX(day) AS last FROM b LEFT JOIN a ON person = id GROUP BY city, code ORDER BY city, code",
    );
    let ask = |file: &str, more: &str| {
        let tables = format!("--table a=a.csv@alice --table b={file}@bob --key b=id --key a=person");
        let ran = place.ran(&format!("local query {tables} --sql-file query.sql --transport unix {more}"));
        assert_eq!(ran.code, Some(0), "{file}: {}", ran.err);
        ran.out
    };
    let shown = ask("b.parquet", "");
    assert_eq!(shown, ask("b.csv", ""));
    assert!(shown.contains("Bern      007   1000.50  2026-11-23"), "{shown}");
    // The answer as Parquet is a table like any other.
    ask("b.parquet", "--out answer.parquet");
    place.put("back.sql", b"SELECT * FROM answer ORDER BY city, code");
    let back =
        place.ran("local query --table answer=answer.parquet@bob --sql-file back.sql --transport unix");
    assert_eq!(back.out, shown, "{}", back.err);
    // The error names a broken file, and nothing is written.
    place.put("bad.parquet", &place.get("b.parquet")[8..]);
    let bad = place
        .ran("local query --table b=bad.parquet@bob --sql-file copy.sql --out none.csv --transport unix");
    assert_eq!(bad.code, Some(4), "{}", bad.err);
    assert!(bad.err.contains("bad.parquet: it is no good Parquet"), "{}", bad.err);
    // A file at which the decoder panics is not reported as a bug of the program.
    place.put("bad.parquet", include_bytes!("../../../files/tests/vectors/broken.parquet"));
    let bad = place
        .ran("local query --table b=bad.parquet@bob --sql-file copy.sql --out none.csv --transport unix");
    assert_eq!(bad.code, Some(4), "{}", bad.err);
    assert!(bad.err.contains("bad.parquet: it is no good Parquet: its decoder gave up"), "{}", bad.err);
    assert!(!bad.err.contains("panicked"), "{}", bad.err);
    assert!(!place.names().contains(&"none.csv".to_owned()));
}

/// A build without Parquet says how to get a build with it.
#[cfg(not(feature = "parquet"))]
#[test]
fn parquet_is_named_where_the_build_has_none() {
    let place = place();
    place.put("people.parquet", b"PAR1");
    place.put("one.sql", b"SELECT COUNT(*) FROM people");
    for more in ["--table people=people.parquet@bob", "--table people=b.csv@bob --out out.parquet"] {
        let ran = place.ran(&format!("local query {more} --sql-file one.sql --transport unix"));
        assert_eq!(ran.code, Some(4), "{}", ran.err);
        assert!(ran.err.contains("--features parquet"), "{}", ran.err);
    }
}

/// Two joins of many rows with many, whose bounds look equal. The first join is within its bound,
/// and the second is not.
#[test]
fn every_bound_of_a_join_is_checked_and_named() {
    let place = Place::new();
    for name in ["a", "b", "c"] {
        place.put(&format!("{name}.csv"), b"k,j\n1,1\n1,1\n");
    }
    let run = |more: &str| {
        place.put("query.sql", b"SELECT COUNT(*) AS n FROM a JOIN b ON a.k=b.k JOIN c ON a.k=c.k");
        let tables = "--table a=a.csv@alice --table b=b.csv@bob --table c=c.csv@carol";
        place.ran(&format!("local query {tables} --transport unix --sql-file query.sql {more}"))
    };
    let names = ["in the join of a with b on k = k", "in the join of a and b with c on k = k"];
    for tags in ["", "--tag-join"] {
        let plan = run(&format!("--join-bound 4 {tags} --explain")).out;
        for name in names {
            let words = format!("learns whether it holds that there are at most 4 pairs {name}\n");
            assert!(plan.contains(&words), "no {words:?} in {plan}");
        }
        let kept = run(&format!("--join-bound 8 {tags} --out -"));
        assert_eq!((kept.code, kept.out.as_str()), (Some(0), "n\n8\n"), "{}", kept.err);
    }
}

/// Two owners with the same key give a scalar subquery a second row.
#[test]
fn a_scalar_subquery_has_one_row_among_all_owners() {
    let place = Place::new();
    place.put("a.csv", b"x\n7\n8\n");
    place.put("t0.csv", b"k,v\n5,1\n6,2\n");
    place.put("t1.csv", b"k,v\n5,3\n");
    let run = |k: u8| {
        place.put("query.sql", format!("SELECT x, (SELECT v FROM t WHERE k = {k}) AS v FROM a").as_bytes());
        let tables = "--table a=a.csv@alice --table t=t0.csv@bob --table t=t1.csv@carol --key t=k";
        place.ran(&format!("local query {tables} --transport unix --sql-file query.sql --out -"))
    };
    let kept = run(6);
    assert_eq!((kept.code, kept.out.as_str()), (Some(0), "x,v\n7,2\n8,2\n"), "{}", kept.err);
}

/// A --key that replaces another one is reported, because it is a promise that nobody checks.
#[test]
fn no_key_and_no_declaration_is_dropped_silently() {
    let place = place();
    let ran = good(&place, "SELECT id FROM people", "--key people=id");
    assert!(ran.err.contains("people=id takes the place of the --key before it"), "{}", ran.err);
}
