//! Every operator on small tables: in the open and lowered to a computation, against each other and against SQLite.

#[path = "../common/mod.rs"]
mod common;
mod keys;
mod random;
mod subqueries;

use common::{Oracle, compare};
use hushwire_sql::cell;
use hushwire_sql::test_support::World;
use hushwire_tables::{
    Query,
    algebra::{Column, ColumnType, Part, Schema, Table, Value},
    plain::Row,
};

const MONEY: ColumnType = ColumnType::Decimal { precision: 6, scale: 2 };

/// A table of two owners with a key of one column.
fn table(name: &str, columns: Vec<Column>, key: usize, rows: &[&str]) -> (Table, Vec<Row>) {
    owned(name, columns, Some(key), true, rows)
}

/// A table of one owner or of two. `''` is an empty string, and nothing is NULL.
fn owned(
    name: &str,
    columns: Vec<Column>,
    key: Option<usize>,
    shared: bool,
    rows: &[&str],
) -> (Table, Vec<Row>) {
    let row = |line: &&str| -> Row {
        let field = |(text, column): (&str, &Column)| match text.trim() {
            "" => Value::Null,
            "''" => Value::text(""),
            text => cell::read(text, column.ty).expect("a value"),
        };
        line.split('|').zip(&columns).map(field).collect()
    };
    let rows: Vec<Row> = rows.iter().map(row).collect();
    let part = |owner: &str, rows| Part { owner: owner.into(), rows };
    let all = rows.len() as u64;
    let parts = if shared {
        vec![part("alice", all / 2), part("bob", all - all / 2)]
    } else {
        vec![part("alice", all)]
    };
    let unique = key.into_iter().map(|key| vec![key]).collect();
    (Table { name: name.into(), schema: Schema(columns), parts, padded: false, unique }, rows)
}

fn world(a: &[&str], b: &[&str]) -> World {
    let columns_a = vec![
        Column::new("k", ColumnType::Integer),
        Column::new("x", ColumnType::Integer).nullable(),
        Column::new("t", ColumnType::Varchar(4)).nullable(),
        Column::new("d", ColumnType::Date).nullable(),
        Column::new("m", MONEY).nullable(),
    ];
    let columns_b = vec![
        Column::new("k", ColumnType::Integer),
        Column::new("y", ColumnType::Integer).nullable(),
        Column::new("t", ColumnType::Varchar(4)),
    ];
    World::new(vec![table("a", columns_a, 0, a), table("b", columns_b, 0, b)]).expect("two tables")
}

const A: [&str; 7] = [
    "1|1|a|2020-02-29|1.50",
    "2||b|2019-12-31|-2.25",
    "3|2|ab||",
    "4|2||2021-01-01|0.00",
    "5|1|a|2020-02-29|1.50",
    "6|3|ba|2020-03-01|99.99",
    "7|||1969-12-31|1.50",
];
const B: [&str; 5] = ["1|2|a", "2||b", "3|2|a", "4|7|zz", "9|1|b"];

/// Tables with NULLs and duplicates, without rows, and with one.
fn worlds() -> Vec<World> {
    vec![
        world(&A, &B),
        world(&[], &B),
        world(&A, &[]),
        world(&[], &[]),
        world(&A[..1], &B[..1]),
        world(&A[1..2], &B[1..2]),
    ]
}

fn check(world: &World, queries: &[&str]) {
    let oracle = world.sqlite(queries);
    for (i, sql) in queries.iter().enumerate() {
        let (plan, rows) = world.run(sql);
        let ordered = sql.contains("ORDER BY") && !sql.contains("OVER");
        let mut bags = [rows.clone(), world.lowered(&plan)];
        if !ordered {
            bags.iter_mut().for_each(|bag| bag.sort());
        }
        assert_eq!(bags[0], bags[1], "{sql}: in the open and lowered");
        if let Some(oracle) = &oracle {
            let theirs = oracle[i].as_ref().unwrap_or_else(|e| panic!("{sql}: {e}"));
            compare(sql, &plan, &rows, theirs, ordered);
        }
    }
}

#[test]
fn every_operator_has_the_rows_of_sqlite() {
    let text = include_str!("operators.sql");
    let lines = text.lines().filter(|line| !line.starts_with("--")).collect::<Vec<_>>().join("\n");
    let queries: Vec<&str> = lines.split(';').map(str::trim).filter(|sql| !sql.is_empty()).collect();
    for world in worlds() {
        check(&world, &queries);
    }
}

/// A number is cast to what the type's digits hold, or to NULL: beside the same said by CASE, and in the open beside lowered.
#[test]
fn casts_beyond_a_type_are_null() {
    let world = world(&A, &B);
    for (of, ty, low, high) in [
        ("m", "DECIMAL(3, 2)", "-9.99", "9.99"),
        ("m", "DECIMAL(2, 1)", "-9.94", "9.94"),
        ("m * 400", "SMALLINT", "-32768.49", "32767.49"),
        ("k * 9000", "SMALLINT", "-32768", "32767"),
        ("k * 900000000", "INTEGER", "-2147483648", "2147483647"),
        ("k * 200000000000000000", "DECIMAL(38, 20)", "-999999999999999999", "999999999999999999"),
    ] {
        let cast = format!("SELECT k, CAST({of} AS {ty}) AS c FROM a ORDER BY k");
        let case = format!(
            "SELECT k, CASE WHEN {of} BETWEEN {low} AND {high} THEN CAST({of} AS {ty}) END AS c FROM a ORDER BY k"
        );
        let ((plan, rows), (_, said)) = (world.run(&cast), world.run(&case));
        assert_eq!(rows, said, "{cast}");
        assert_eq!(rows, world.lowered(&plan), "{cast}: in the open and lowered");
        let casts = rows.iter().filter(|row| !row[1].is_null()).count();
        let whole = world.run(&format!("SELECT k, {of} AS c FROM a ORDER BY k")).1;
        let values = whole.iter().filter(|row| !row[1].is_null()).count();
        assert!(0 < casts && casts < values, "{cast}: {casts} of {values} are held");
    }
}

/// A number that its type does not hold is a NULL of NOT IN, too: on both sides, beside the same said by CASE.
#[test]
fn casts_beyond_a_type_are_nulls_of_not_in() {
    let world = world(&A, &B);
    let cast = "CAST(k * 9000 AS SMALLINT)";
    let case = "CASE WHEN k * 9000 <= 32767 THEN CAST(k * 9000 AS SMALLINT) END";
    for query in [
        "SELECT k FROM a WHERE $C NOT IN (SELECT k FROM b)",
        "SELECT k FROM a WHERE $C NOT IN (SELECT b.k FROM b WHERE b.k > 99)",
        "SELECT k FROM a WHERE $C + 1 NOT IN (SELECT b.k FROM b WHERE b.k = a.k)",
        "SELECT k FROM a WHERE k NOT IN (SELECT $C FROM b)",
        "SELECT k FROM a WHERE k NOT IN (SELECT $C FROM b GROUP BY $C)",
    ] {
        let [cast, case] = [cast, case].map(|of| query.replace("$C", of));
        let ((plan, mut rows), (_, mut said)) = (world.run(&cast), world.run(&case));
        rows.sort();
        said.sort();
        assert_eq!(rows, said, "{cast}");
        let mut lowered = world.lowered(&plan);
        lowered.sort();
        assert_eq!(rows, lowered, "{cast}: in the open and lowered");
    }
}

/// Rows that an ORDER BY leaves equal would stand in the order of keys that nobody asked for.
#[test]
fn no_limit_and_no_number_goes_by_hidden_keys() {
    let world = world(&A, &B);
    let groups = "SELECT t, SUM(k) AS total, COUNT(*) AS n FROM a GROUP BY t";
    let few =
        "its order leaves rows equal, which would stand in the order of keys that the result does not show";
    for (sql, remedy) in [
        (
            "SELECT SUM(n) FROM (GROUPS ORDER BY total LIMIT 2) AS g",
            "SELECT SUM(n) FROM (GROUPS ORDER BY total, n LIMIT 2) AS g",
        ),
        (
            "SELECT SUM(n) FROM (GROUPS LIMIT 1 OFFSET 1) AS g",
            "SELECT SUM(n) FROM (GROUPS ORDER BY t NULLS LAST LIMIT 1 OFFSET 1) AS g",
        ),
        (
            "SELECT SUM(n) FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY total) AS r FROM (GROUPS) AS g) AS h WHERE r = 1",
            "SELECT SUM(n) FROM (SELECT n, ROW_NUMBER() OVER (ORDER BY total, t) AS r FROM (GROUPS) AS g) AS h WHERE r = 1",
        ),
        (
            "SELECT n, LAG(n) OVER (ORDER BY total) AS before FROM (GROUPS) AS g",
            "SELECT n, LAG(n) OVER (ORDER BY total, n) AS before FROM (GROUPS) AS g",
        ),
        (
            "SELECT SUM(n) OVER (ORDER BY total ROWS UNBOUNDED PRECEDING) AS so_far FROM (GROUPS) AS g",
            "SELECT SUM(n) OVER (ORDER BY total) AS so_far FROM (GROUPS) AS g",
        ),
    ] {
        let relation = |sql: &str| world.run(&sql.replace("GROUPS", groups)).0;
        let query = |sql: &str| Query::new("q", &relation(sql), &["analyst"]).map(drop);
        let refused = query(sql).err().map(|e| e.to_string()).unwrap_or_default();
        assert!(refused.contains(few) && refused.contains("; order by columns"), "{sql}: {refused}");
        assert_eq!(query(remedy), Ok(()), "{remedy}");
    }
}
