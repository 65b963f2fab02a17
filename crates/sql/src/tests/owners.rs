//! Calls that owners compute in the open, and calls that they must not compute.

use crate::{Catalog, Fault, Options, relation, test_support::World};
use hushwire_fault::code;
use hushwire_tables::{
    Query,
    algebra::{Column, ColumnType, Operator, Relation, Schema, Table, TablePart, Value},
    plain::{Row, evaluate},
};

fn table(name: &str, owner: &str, rows: u64) -> Table {
    let text = |name| Column::new(name, ColumnType::Varchar(12)).nullable();
    let schema = Schema(vec![Column::new("id", ColumnType::Integer), text("s"), text("u")]);
    let parts = vec![TablePart { owner: owner.into(), rows }];
    Table { name: name.into(), schema, parts, padded: false, unique: vec![vec![0]] }
}

fn rows(texts: &[(&str, &str)]) -> Vec<Row> {
    let row = |(id, (s, u)): (usize, &(&str, &str))| {
        vec![
            Value::Number(id as i128),
            Value::text(s),
            if u.is_empty() { Value::Null } else { Value::text(u) },
        ]
    };
    texts.iter().enumerate().map(row).collect()
}

/// Two owners' tables.
fn world() -> World {
    let of_alice = rows(&[("a1b22", "Ünal"), ("none", ""), ("Ärger 7", "éa"), ("zoe", "ß")]);
    let of_bob = rows(&[("x9", "b"), ("y", "Ωmega"), ("b-2", "")]);
    let tables = vec![(table("t", "alice", 4), of_alice), (table("v", "bob", 3), of_bob)];
    World::new(tables).unwrap_or_else(|e| panic!("{e}"))
}

/// The rows of a query in the open, which equal those of its computation.
fn answered(world: &World, sql: &str) -> Result<Vec<Row>, Fault> {
    let options = Options { join_bound: Some(64), ..Options::default() };
    let plan = relation(sql, &world.catalog, options)?;
    let query = Query::new("q", &plan, &["analyst"])?;
    let outputs = hushwire_compute::evaluate(query.computation(), &world.inputs(&query, &plan)?)?;
    let mut both = [evaluate(&plan, &world.read(&plan))?, query.rows(&outputs)?];
    both.iter_mut().for_each(|rows| rows.sort());
    assert_eq!(both[0], both[1], "{sql}");
    let [rows, _] = both;
    Ok(rows)
}

/// The calls that owners compute, in words.
fn computed(relation: &Relation) -> Vec<String> {
    let own = match relation.operator() {
        Operator::ByOwner(input, columns) => {
            columns.iter().map(|(_, e)| e.shown(input.schema()).to_string()).collect()
        }
        _ => vec![],
    };
    let below = relation.inputs().into_iter().flat_map(computed);
    let mut all: Vec<String> = own.into_iter().chain(below).collect();
    all.sort();
    all.dedup();
    all
}

#[test]
fn owners_compute_what_is_of_their_columns_alone() {
    let world = world();
    let text = |text: &str| Value::text(text);
    let one = |sql: &str| answered(&world, sql).unwrap_or_else(|e| panic!("{sql}: {e}")).concat();
    let digits = "REGEXP_EXTRACT(t.s, '[0-9]+')";
    assert_eq!(one(&format!("SELECT {digits} FROM t")), ["", "", "1", "7"].map(text));
    // Through projections, joins, groups, windows and unions.
    for sql in [
        format!("SELECT {digits} AS d FROM t JOIN v ON t.id = v.id"),
        "SELECT REGEXP_EXTRACT(x, '[0-9]+') AS d FROM (SELECT LOWER(s) AS x, id FROM t WHERE id < 3) AS w".into(),
        "SELECT REGEXP_EXTRACT(s, '[0-9]+') AS d FROM (SELECT s, COUNT(*) AS n FROM t WHERE id < 3 GROUP BY s) AS w".into(),
        "SELECT REGEXP_EXTRACT(s, '[0-9]+') AS d FROM (SELECT DISTINCT s FROM t WHERE id < 3) AS w".into(),
        "SELECT REGEXP_EXTRACT(s, '[0-9]+') AS d FROM (SELECT s, ROW_NUMBER() OVER (ORDER BY id) AS n FROM t) AS w WHERE n < 4".into(),
    ] {
        assert_eq!(one(&sql), ["", "1", "7"].map(text), "{sql}");
    }
    let both = "SELECT REGEXP_EXTRACT(s, '[0-9]') AS d FROM (SELECT s FROM t UNION ALL SELECT s FROM v) AS w";
    assert_eq!(one(both), ["", "", "", "1", "2", "7", "9"].map(text));
    // For a row without a partner, the value is NULL.
    let left = "SELECT REGEXP_MATCHES(v.s, '[0-9]') AS d FROM t LEFT JOIN v ON t.id = v.id WHERE t.id > 1";
    assert_eq!(one(left), [Value::Null, Value::Boolean(true)]);
    // As a condition, an argument and a key.
    assert_eq!(one("SELECT id FROM t WHERE u ~ '.[a-z]+' ORDER BY id"), [0, 2].map(Value::Number));
    assert_eq!(one("SELECT MAX(REGEXP_REPLACE(s, '[^0-9]', '', 'g')) AS m FROM t"), [text("7")]);
}

#[test]
fn owners_know_all_letters() {
    let world = world();
    let one = |sql: &str| answered(&world, sql).unwrap_or_else(|e| panic!("{sql}: {e}")).concat();
    let upper = one("SELECT UPPER(u) AS x FROM v WHERE u IS NOT NULL");
    assert_eq!(upper, ["B", "ΩMEGA"].map(Value::text));
    assert_eq!(one("SELECT REVERSE(u) AS x FROM t WHERE id = 0"), [Value::text("lanÜ")]);
    assert_eq!(one("SELECT id FROM v WHERE u ILIKE 'ω%'"), [Value::Number(1)]);
}

#[test]
fn what_no_owner_has_together_is_refused_by_name() {
    let world = world();
    for sql in [
        "SELECT REGEXP_EXTRACT(t.s || v.s, '[0-9]') AS d FROM t JOIN v ON t.id = v.id",
        "SELECT MD5(MAX(s)) AS d FROM t",
        "SELECT MD5(LAG(s) OVER (ORDER BY id)) AS d FROM t",
        "SELECT MD5(s) AS d FROM (SELECT s FROM t UNION SELECT s FROM v) AS w",
        "SELECT MD5(COALESCE(v.s, 'x')) AS d FROM t LEFT JOIN v ON t.id = v.id",
    ] {
        let e = answered(&world, sql).expect_err(sql);
        assert_eq!(e.code(), code::SQL_UNSUPPORTED, "{sql}: {e}");
        assert!(e.to_string().contains("which owners compute"), "{sql}: {e}");
        assert!(e.remedy().contains("derived table"), "{sql}: {e}");
    }
}

/// A column that an owner computes has only that owner's rows. The computation takes it from the
/// owner, and the owner's values do not depend on other owners.
#[test]
fn an_owner_computes_of_its_own_rows() {
    let world = world();
    let sql = "SELECT t.id, UPPER(t.s) AS a, MD5(v.s) AS b FROM t JOIN v ON t.id = v.id";
    let plan = relation(sql, &world.catalog, Options::default()).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(computed(&plan), ["MD5(s)", "UPPER(s)"]);
    let query = Query::new("q", &plan, &["analyst"]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(query.computed_by_owners("t"), ["UPPER(s)"]);
    assert_eq!(query.computed_by_owners("v"), ["MD5(s)"]);
    let brought = |world: &World| {
        let rows = &world.read(&plan)["t"];
        query.inputs("t", 0, rows).unwrap_or_else(|e| panic!("{e}"))
    };
    let others = rows(&[("other", "q"), ("than", "r"), ("before", "s")]);
    let changed =
        World::new(vec![(table("t", "alice", 4), world.rows["t"].clone()), (table("v", "bob", 3), others)]);
    let changed = changed.unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(format!("{:?}", brought(&world)), format!("{:?}", brought(&changed)));
}

#[test]
fn tables_at_rest_have_no_owner_who_computes() {
    let world = world();
    let at_rest = world.catalog.clone().at_rest(&["t"]);
    let planned = |sql: &str, catalog: &Catalog| relation(sql, catalog, Options::default());
    let e = planned("SELECT MD5(s) AS d FROM t", &at_rest).expect_err("no owner");
    assert!(e.to_string().contains("which owners compute"), "{e}");
    assert!(planned("SELECT MD5(s) AS d FROM v", &at_rest).is_ok());
    let upper = planned("SELECT UPPER(s) AS d FROM t", &at_rest).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(computed(&upper), Vec::<String>::new());
    let query = Query::new("q", &upper, &["analyst"]).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(query.letters("t").len(), 1);
}

/// The owner refuses a value that is too large for its column. The owner learns the row; the
/// parties do not.
#[test]
fn a_value_without_room_is_named_by_its_row() {
    let world = world();
    let e = answered(&world, "SELECT SUBSTRING(u, 1, 1) AS d FROM t WHERE id = 0").expect_err("two bytes");
    assert_eq!(e.code(), code::COMPUTED_VALUE, "{e}");
    assert!(e.to_string().contains("row 0") && e.remedy().contains("CAST(SUBSTRING("), "{e}");
    let roomy = "SELECT CAST(SUBSTRING(u, 1, 1) AS VARCHAR(4)) AS d FROM t WHERE id = 0";
    let made = answered(&world, roomy).unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(made.concat(), [Value::text("Ü")]);
}

/// Every refusal says what to write instead.
#[test]
fn each_refusal_says_what_to_write_instead() {
    let lines = include_str!("refused.txt").lines().skip(2).step_by(2);
    for sql in lines {
        let Err(e) = super::plan(&sql.replace("\\n", "\n")) else { continue };
        let remedy = e.remedy();
        let is_empty = ["", "write the query without it", "do without it"].contains(&remedy.as_str());
        assert!(!is_empty && remedy.len() > 8, "{sql}: {e}: {remedy}");
    }
}
