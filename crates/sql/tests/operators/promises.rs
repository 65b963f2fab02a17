//! Promises of queries. Each is checked on shares and in the open, and errors name it.

use super::owned;
use hushwire_sql::{Options, relation, test_support::World};
use hushwire_tables::{
    Fault, Query,
    algebra::{Column, ColumnType, Relation},
    plain::{Row, evaluate},
};

fn int(name: &str) -> Column {
    Column::new(name, ColumnType::Integer)
}

/// The result of a plan in the open, by sorts and by tags. Both must be equal.
fn result(world: &World, plan: &Relation) -> Result<Vec<Row>, String> {
    let told = |e: Fault| e.field("promise").unwrap_or_else(|| panic!("{e}"));
    let sorted = |rows: Result<Vec<Row>, Fault>| {
        rows.map_err(told).map(|mut rows| {
            rows.sort();
            rows
        })
    };
    let open = sorted(evaluate(plan, &world.read(plan)));
    for make in [Query::new, Query::by_tags] {
        let query = make("query", plan, &["analyst"]).unwrap_or_else(|e| panic!("{e}"));
        let inputs = world.inputs(&query, plan).unwrap_or_else(|e| panic!("{e}"));
        let outputs = hushwire_compute::evaluate(query.computation(), &inputs);
        let lowered = sorted(query.rows(&outputs.unwrap_or_else(|e| panic!("{e}"))));
        assert_eq!(lowered, open, "{}", query.explain(None));
        if let Err(promise) = &lowered {
            let told = format!("whether it holds {promise}\n");
            assert!(query.explain(None).contains(&told), "{told}{}", query.explain(None));
        }
    }
    open
}

/// Two rows of key 1 in each of three tables.
#[test]
fn bounds_that_look_equal_are_checked_each() {
    let table = |name| owned(name, vec![int("k"), int("j")], None, false, &["1|1", "1|1"]);
    let world = World::new(vec![table("a"), table("b"), table("c")]).expect("three tables");
    let broken = |sql: &str, bound: u64| {
        let options = Options { join_bound: Some(bound), ..Options::default() };
        let plan = relation(sql, &world.catalog, options).unwrap_or_else(|e| panic!("{sql}: {e}"));
        result(&world, &plan).err().unwrap_or_default()
    };
    let chain = "SELECT COUNT(*) FROM a JOIN b ON a.k = b.k JOIN c ON a.k = c.k";
    let four = |of: &str| format!("that there are at most 4 pairs in the join of {of} on k = k");
    assert_eq!(broken(chain, 4), four("a and b with c"));
    assert_eq!(broken(chain, 8), "");
    let selves = "SELECT COUNT(*) FROM a AS x JOIN a AS y ON x.k = y.k JOIN a AS z ON x.k = z.k";
    assert_eq!(broken(selves, 4), four("a and a with a"));
    // Arms of a union, a table of WITH that is named twice, and joins within subqueries.
    for sql in [
        "SELECT a.k FROM a JOIN b ON a.k = b.k WHERE b.j > 1 UNION ALL SELECT a.k FROM a JOIN b ON a.k = b.k",
        "WITH w AS (SELECT a.k FROM a JOIN b ON a.k = b.k) SELECT k FROM w WHERE k > 1 UNION ALL SELECT k FROM w",
        "SELECT k FROM c WHERE k IN (SELECT a.k FROM a JOIN b ON a.k = b.k AND a.j > 1) AND j IN (SELECT a.k FROM a JOIN b ON a.k = b.k)",
        "SELECT (SELECT COUNT(*) FROM a JOIN b ON a.k = b.k AND b.j > 1), (SELECT COUNT(*) FROM a JOIN b ON a.k = b.k)",
    ] {
        let promise = broken(sql, 3);
        let three = "that there are at most 3 pairs in the join of a with b on k = k";
        assert!(promise.starts_with(three), "{sql}: {promise}");
        assert_eq!(broken(sql, 4), "", "{sql}");
    }
}

/// Two owners have the keys between them.
#[test]
fn one_row_of_a_subquery_and_keys_are_checked_among_owners() {
    let world = |twice: bool| {
        let a = owned("a", vec![int("k"), int("x")], Some(0), false, &["1|5", "2|6", "3|7", "4|5", "5|9"]);
        let columns = vec![int("k"), int("y")];
        let rows: &[&str] = if twice { &["5|1", "6|2", "5|3", "7|4"] } else { &["5|1", "6|2", "8|3", "7|4"] };
        World::new(vec![a, owned("b", columns, Some(0), true, rows)]).expect("two tables")
    };
    let unique = "that k of table b is unique";
    for (sql, promise) in [
        (
            "SELECT a.k, (SELECT y FROM b WHERE b.k = 5) FROM a",
            "that there is at most one row of b in place of a value",
        ),
        ("SELECT a.k, (SELECT y FROM b WHERE b.k = a.x) FROM a", unique),
        // Both sides of the join have a key, and `a` has more rows than `b`.
        ("SELECT a.k, (SELECT y FROM b WHERE b.k = a.k) FROM a", unique),
        ("SELECT a.k FROM a WHERE a.k < (SELECT y FROM b WHERE b.k = a.x)", unique),
        ("SELECT a.k, y FROM a JOIN b ON a.x = b.k", unique),
        ("SELECT q.k, y FROM (SELECT x AS k FROM a) AS q LEFT JOIN b ON q.k = b.k WHERE q.k < 9", unique),
        (
            "SELECT a.k, (SELECT y FROM b WHERE b.k = a.x), (SELECT y + 1 FROM b WHERE b.k = a.x AND y < 9) FROM a",
            "that k of table b is unique in the join of a with b on x = k",
        ),
    ] {
        for twice in [false, true] {
            let world = world(twice);
            let plan = world.relation(sql).unwrap_or_else(|e| panic!("{sql}: {e}"));
            let broken = result(&world, &plan).err().unwrap_or_default();
            let named = if twice { broken.starts_with(promise) } else { broken.is_empty() };
            assert!(named, "{sql}: {broken}");
        }
    }
}
