//! Every operator on small tables, in the open and lowered to a computation. Both are compared with
//! each other and with SQLite.

#[path = "../common/mod.rs"]
mod common;
mod keys;
mod promises;
mod random;
mod subqueries;

use common::{Oracle, compare};
use hushwire_fault::code;
use hushwire_sql::cell;
use hushwire_sql::test_support::World;
use hushwire_tables::{
    Query,
    algebra::{Column, ColumnType, Schema, Table, TablePart, Value},
    plain::Row,
};

const MONEY: ColumnType = ColumnType::Decimal { precision: 6, scale: 2 };

/// A table of two owners with a key of one column.
fn table(name: &str, columns: Vec<Column>, key: usize, rows: &[&str]) -> (Table, Vec<Row>) {
    owned(name, columns, Some(key), true, rows)
}

/// A table of one owner or of two. `''` is an empty string, and an empty field is NULL.
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
    let part = |owner: &str, rows| TablePart { owner: owner.into(), rows };
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

/// Numbers near the ends of their types. Their sums and products are too large for these types.
fn large() -> World {
    let columns = vec![
        Column::new("k", ColumnType::Integer),
        Column::new("b", ColumnType::BigInt).nullable(),
        Column::new("d", ColumnType::Double { frac: 32 }).nullable(),
    ];
    let rows = [
        "1|9223372036854775807|2147483647.5",
        "2|-9223372036854775808|-2147483648",
        "3|4611686018427387904|50000",
        "4|-3|0.25",
        "5||",
        "6|0|0",
        "7|3000000000|-1.5",
    ];
    World::new(vec![table("n", columns, 0, &rows)]).expect("a table")
}

#[test]
fn no_number_wraps() {
    let world = large();
    check(
        &world,
        &[
            "SELECT k, b + b, b + 1, b - 1, b * 3, b * b, 0 - b FROM n",
            "SELECT k, d + d, d - 3 * d, d * d, d * d * d, -d, ABS(d * d) FROM n",
            "SELECT SUM(d), AVG(d), SUM(d * d), AVG(d * d) FROM n",
            "SELECT SUM(d * d * d), SUM(d * d) / SUM(d), AVG(d * 100000) FROM n",
            "SELECT k, SUM(d * d) OVER (ORDER BY k), AVG(d * d) OVER (ORDER BY k) FROM n",
            "SELECT k, d / 4, d * d / 3, 1000 * d / d FROM n",
            "SELECT k FROM n WHERE d * d > 3000000000",
            "SELECT k FROM n WHERE b * b > 9000000000000000000 AND b + b < 0",
            "SELECT k FROM n WHERE d < b",
            "SELECT k, CASE WHEN k < 4 THEN b + b ELSE d END FROM n",
            "SELECT k, 7 % -2, -7 % 2, -7 % -2, k % -2, b % -7, -k % 4, -7 // 2 FROM n",
            "SELECT k, ROUND(d, 1), ROUND(d * 2) FROM n",
        ],
    );
    // For these queries, SQLite has an error.
    let one = |sql: &str| {
        let (plan, rows) = world.run(sql);
        assert_eq!(rows, world.lowered(&plan), "{sql}");
        let ty = |at: usize| plan.schema().columns()[at].ty;
        rows[0].iter().enumerate().map(|(at, v)| cell::show(v, ty(at))).collect::<Vec<_>>().join("|")
    };
    for (sql, expected) in [
        (
            "SELECT SUM(b), SUM(b * 3) FROM n WHERE k < 4 AND k <> 2",
            "13835058055282163711|41505174165846491133",
        ),
        ("SELECT AVG(b) FROM n WHERE k = 1 OR k = 3", "6917529027641081855.5000"),
        ("SELECT VAR_POP(d), VAR_SAMP(d) FROM n WHERE k IN (3, 6)", "625000000|1250000000"),
        // The sum of 100 squares of 2^126 exceeds 128 bits.
        ("SELECT VAR_POP(b) FROM n", ""),
        ("SELECT VAR_POP(CAST(b AS INTEGER)) FROM n", "2.2500"),
        ("SELECT SUM(b * b) FROM n", ""),
        ("SELECT COUNT(*) FROM n WHERE SUM_OF IS NULL", "7"),
    ] {
        let sql = sql.replace("SUM_OF", "(SELECT SUM(b * b) FROM n)");
        assert_eq!(one(&sql), expected, "{sql}");
    }
}

/// Doubles with few fractional bits have 32 of them in quotients, in means, and in operations with
/// decimals.
#[test]
fn narrow_doubles_keep_fractions() {
    let double = |name, frac| Column::new(name, ColumnType::Double { frac }).nullable();
    let columns = vec![Column::new("k", ColumnType::Integer), double("w", 0), double("v", 20)];
    let rows = ["1|9000000000000000000|8000000000000.25", "2|-3|0.5", "3||", "4|7|-1.75", "5|8|1000000"];
    let world = World::new(vec![table("n", columns, 0, &rows)]).expect("a table");
    check(
        &world,
        &[
            "SELECT k, w + 1, w * 0.5, w + 0.25, v * 0.07, v + w, v * 2, w / 3, v / 3, 10 / w FROM n",
            "SELECT k FROM n WHERE w > 7.5 OR w = -3 AND v < 0.75",
            "SELECT k FROM n WHERE v = 0.5 OR v = -1.75 OR w = 8",
            "SELECT AVG(w), AVG(v), SUM(w), SUM(v), MIN(w), MAX(v) FROM n WHERE k > 1",
            "SELECT k, COALESCE(w, 0.5), CASE WHEN k > 3 THEN v ELSE 0.125 END, -w, ABS(v) FROM n",
            "SELECT k, SUM(w) OVER (ORDER BY k), AVG(w) OVER (ORDER BY k) FROM n WHERE k > 1",
            "SELECT k, ROUND(w * 0.5, 2), ROUND(v, 1) FROM n",
            "SELECT k FROM n JOIN (SELECT column1 AS c FROM (VALUES (0.5), (-1.75))) AS q ON v = c",
            "SELECT v FROM n UNION ALL SELECT 0.125",
        ],
    );
}

/// A bare NULL takes the other side's type.
#[test]
fn bare_nulls_take_a_type() {
    let all = [world(&A, &B), world(&[], &B)];
    let queries: Vec<String> = ["UNION", "UNION ALL", "INTERSECT", "EXCEPT"]
        .iter()
        .flat_map(|op| {
            ["k", "x", "t", "d", "m"].map(|of| {
                [
                    format!("SELECT {of} FROM a {op} SELECT NULL"),
                    format!("SELECT NULL {op} SELECT {of} FROM a"),
                ]
            })
        })
        .flatten()
        .collect();
    let more = [
        "SELECT NULL UNION ALL SELECT NULL UNION ALL SELECT t FROM b",
        "SELECT n FROM (SELECT NULL AS n, k FROM b) AS q UNION SELECT t FROM b",
        "SELECT k, NULL FROM a UNION ALL SELECT NULL, t FROM b",
        "SELECT k, CASE WHEN k > 2 THEN NULL ELSE t END, COALESCE(NULL, x), NULLIF(x, NULL) FROM a",
        "SELECT k, CASE k WHEN 2 THEN NULL WHEN NULL THEN 3 ELSE k END FROM a",
        "SELECT k FROM a WHERE x IN (1, NULL) OR x NOT IN (2, NULL)",
        "SELECT k FROM a WHERE x IN (NULL)",
        "SELECT k, NULL + x, x * NULL, NULL = x, x BETWEEN NULL AND 1 FROM a",
    ];
    let queries: Vec<&str> = queries.iter().map(String::as_str).chain(more).collect();
    all.iter().for_each(|world| check(world, &queries));
}

/// A CAST of a number that the type's digits cannot hold is NULL. The CAST is compared with a CASE
/// of the same condition, in the open and lowered.
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

/// A number that its type cannot hold is also a NULL for NOT IN, on both sides. The query is
/// compared with a CASE of the same condition.
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

/// Rows that an ORDER BY leaves equal would otherwise be in the order of hidden keys.
#[test]
fn no_limit_and_no_number_goes_by_hidden_keys() {
    let world = world(&A, &B);
    let groups = "SELECT t, SUM(k) AS total, COUNT(*) AS n FROM a GROUP BY t";
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
        let refused = query(sql).err().map(|e| e.code());
        assert_eq!(refused, Some(code::ORDER_UNFAIR), "{sql}");
        assert_eq!(query(remedy), Ok(()), "{remedy}");
    }
}
