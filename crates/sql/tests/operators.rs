//! Every operator on small tables: in the open and lowered to a computation, against each other and against SQLite.

mod common;

use common::{Oracle, compare};
use hushwire_sql::cell;
use hushwire_sql::test_support::World;
use hushwire_tables::{
    Query,
    algebra::{Column, ColumnType, Part, Schema, Table, Value},
    plain::Row,
};

const MONEY: ColumnType = ColumnType::Decimal { precision: 6, scale: 2 };

fn table(name: &str, columns: Vec<Column>, key: usize, rows: &[&str]) -> (Table, Vec<Row>) {
    let row = |line: &&str| -> Row {
        let field = |(text, column): (&str, &Column)| match text.trim() {
            "" => Value::Null,
            text => cell::read(text, column.ty).expect("a value"),
        };
        line.split('|').zip(&columns).map(field).collect()
    };
    let rows: Vec<Row> = rows.iter().map(row).collect();
    // Two owners where there are two rows to share.
    let first = rows.len() as u64 / 2;
    let part = |owner: &str, rows| Part { owner: owner.into(), rows };
    let parts = vec![part("alice", first), part("bob", rows.len() as u64 - first)];
    let unique = vec![vec![key]];
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

/// Numbers from a seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, n: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % n
    }

    fn pick<'a>(&mut self, of: &[&'a str]) -> &'a str {
        of[self.below(of.len() as u64) as usize]
    }

    fn number(&mut self, depth: u64) -> String {
        if depth == 0 || self.below(3) == 0 {
            return self.pick(&["a.k", "a.x", "b.k", "b.y", "1", "2", "3"]).to_owned();
        }
        let (left, right) = (self.number(depth - 1), self.number(depth - 1));
        match self.below(5) {
            0 => format!("COALESCE({left}, {right})"),
            1 => format!("CASE WHEN {} THEN {left} ELSE {right} END", self.condition(depth - 1)),
            _ => format!("({left} {} {right})", self.pick(&["+", "-", "*"])),
        }
    }

    fn condition(&mut self, depth: u64) -> String {
        if depth == 0 || self.below(3) == 0 {
            return match self.below(4) {
                0 => format!("{} IS {}NULL", self.number(0), self.pick(&["", "NOT "])),
                1 => format!("a.t {} b.t", self.pick(&["=", "<", "<>", ">="])),
                2 => format!("{} {}IN (1, 2, 7)", self.number(0), self.pick(&["", "NOT "])),
                _ => format!(
                    "{} {} {}",
                    self.number(1),
                    self.pick(&["=", "<>", "<", "<=", ">", ">="]),
                    self.number(1)
                ),
            };
        }
        let (left, right) = (self.condition(depth - 1), self.condition(depth - 1));
        match self.below(3) {
            0 => format!("NOT ({left})"),
            _ => format!("({left} {} {right})", self.pick(&["AND", "OR"])),
        }
    }

    fn query(&mut self) -> String {
        let join = match self.below(4) {
            0 => "a LEFT JOIN b ON a.x = b.k",
            1 => "b LEFT JOIN a ON a.k = b.y",
            2 => "a JOIN b ON a.x = b.y",
            _ => "a, b",
        };
        let condition = self.condition(2);
        if self.below(2) == 0 {
            let (one, two) = (self.number(2), self.condition(1));
            return format!("SELECT {one} AS one, {two} AS two FROM {join} WHERE {condition}");
        }
        let (key, of) = (self.number(1), self.number(2));
        let having = self.pick(&["", " HAVING COUNT(*) > 1", " HAVING SUM(a.k) > 6"]);
        format!(
            "SELECT {key}, COUNT(*), SUM({of}), MIN({of}), COUNT(DISTINCT {of}) FROM {join} WHERE {condition} GROUP BY {key}{having}"
        )
    }
}

#[test]
fn random_queries_have_the_rows_of_sqlite() {
    let mut dice = Dice(0x5eed);
    let queries: Vec<String> = (0..120).map(|_| dice.query()).collect();
    // A constant in GROUP BY is a place of the list.
    let queries: Vec<&str> = queries
        .iter()
        .map(String::as_str)
        .filter(|sql| !["BY 1", "BY 2", "BY 3"].iter().any(|by| sql.contains(by)))
        .collect();
    check(&world(&A, &B), &queries);
}
