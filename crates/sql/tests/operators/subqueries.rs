//! Subqueries with a value that matters if there is no row, and names that USING merges.

use super::{check, owned, worlds};
use hushwire_sql::test_support::World;
use hushwire_tables::algebra::{Column, ColumnType};

/// Queries that are compared with SQLite.
const QUERIES: [&str; 50] = [
    // An aggregate without GROUP BY has a row even over no rows.
    "SELECT k FROM a WHERE EXISTS (SELECT COUNT(*) FROM b WHERE b.k = a.k)",
    "SELECT k FROM a WHERE NOT EXISTS (SELECT MAX(y) FROM b WHERE b.k = a.k)",
    "SELECT k, EXISTS (SELECT SUM(y) FROM b WHERE b.k = a.k) FROM a",
    "SELECT k FROM a WHERE EXISTS (SELECT COUNT(*) FROM b)",
    "SELECT k FROM a WHERE EXISTS (SELECT COUNT(*) FROM b WHERE b.k > 100)",
    "SELECT k FROM a WHERE EXISTS (SELECT COUNT(*) FROM b HAVING COUNT(*) > 3)",
    "SELECT k FROM a WHERE EXISTS (SELECT COUNT(*) FROM b WHERE b.k = a.k GROUP BY b.y)",
    "SELECT k FROM a WHERE EXISTS (SELECT COUNT(*) FROM b WHERE b.k = a.x HAVING COUNT(*) > 0)",
    "SELECT k FROM a WHERE EXISTS (SELECT COUNT(*) FROM b LIMIT 0)",
    "SELECT k FROM a WHERE EXISTS (SELECT a.k FROM b WHERE b.k = a.k)",
    "SELECT k FROM a WHERE EXISTS (SELECT b.y + a.x FROM b WHERE b.k = a.k)",
    "SELECT k FROM a WHERE 0 IN (SELECT COUNT(*) FROM b WHERE b.k = a.k)",
    "SELECT k FROM a WHERE 0 NOT IN (SELECT COUNT(*) FROM b WHERE b.k = a.k)",
    "SELECT k FROM a WHERE x IN (SELECT MAX(y) FROM b WHERE b.k = a.k)",
    "SELECT k FROM a WHERE x NOT IN (SELECT MAX(y) FROM b WHERE b.k = a.k)",
    "SELECT k FROM a WHERE x IN (SELECT COUNT(*) FROM b)",
    "SELECT k, 1 IN (SELECT COUNT(*) FROM b WHERE b.k = a.x) FROM a",
    // Tuples of values among the rows of a query, and values that do not depend on a row.
    "SELECT k FROM a WHERE (x, k) IN (SELECT y, k FROM b)",
    "SELECT k FROM a WHERE (k, t) IN (SELECT k, t FROM b WHERE y > 1)",
    "SELECT k FROM a WHERE (k, k) NOT IN (SELECT k, k FROM b)",
    "SELECT k, (k, k) IN (SELECT k, k FROM b) FROM a",
    "SELECT k, (k, 1) NOT IN (SELECT k, 1 FROM b WHERE b.k > 2) FROM a",
    "SELECT k FROM a WHERE (x, 1) IN (SELECT y, COUNT(*) FROM b GROUP BY y)",
    "SELECT k FROM a WHERE (k, k) IN (SELECT k, k FROM b WHERE b.t = a.t) OR k = 3",
    "SELECT k, 3 IN (SELECT k FROM b), 9 IN (SELECT y FROM b), 2 NOT IN (SELECT y FROM b WHERE y IS NOT NULL) FROM a",
    // Tuples of values that may be NULL, where each way of being unsure counts.
    "SELECT k FROM a WHERE (x, t) NOT IN (SELECT y, t FROM b)",
    "SELECT k, (x, t) IN (SELECT y, t FROM b), (x, t) NOT IN (SELECT y, t FROM b) FROM a",
    "SELECT k, (x, k) IN (SELECT y, k FROM b) FROM a",
    "SELECT k, (k, x) NOT IN (SELECT k, y FROM b WHERE b.t = a.t) FROM a",
    "SELECT k, (x, t, k) IN (SELECT y, t, k FROM b) FROM a",
    "SELECT k FROM a WHERE (x, t) NOT IN (SELECT y, t FROM b WHERE k > 100) OR k = 1",
    "SELECT k, (NULL, k) IN (SELECT y, k FROM b), (1, NULL) NOT IN (SELECT y, t FROM b) FROM a",
    // HAVING and LIMIT drop the row.
    "SELECT k, (SELECT COUNT(*) FROM b HAVING COUNT(*) > 100) FROM a",
    "SELECT k, (SELECT COUNT(*) FROM b HAVING COUNT(*) > 3) FROM a",
    "SELECT k, (SELECT COUNT(*) FROM b LIMIT 0) FROM a",
    "SELECT k, (SELECT COUNT(*) FROM b LIMIT 1 OFFSET 1) FROM a",
    "SELECT k, (SELECT COUNT(*) FROM b LIMIT 1) FROM a",
    "SELECT k, (SELECT COUNT(*) FROM b WHERE b.y = a.x HAVING COUNT(*) > 1) FROM a",
    "SELECT k, (SELECT SUM(y) FROM b WHERE b.k = a.x HAVING SUM(y) > 2) FROM a",
    "SELECT k FROM a WHERE (SELECT COUNT(*) FROM b WHERE b.y = a.x) = 0",
    "SELECT k, (SELECT COUNT(*) + 1 FROM b WHERE b.y = a.x) FROM a",
    "SELECT k, (SELECT COALESCE(SUM(y), -1) FROM b WHERE b.k = a.x) FROM a",
    "SELECT k, (SELECT MAX(b.y) + (SELECT MAX(x) FROM a) FROM b WHERE b.k = a.x) FROM a",
    // Columns of the side with NULLs that follow from other columns within its own rows.
    "SELECT q.y, q.z, COUNT(*) FROM a LEFT JOIN (SELECT k, y, COALESCE(y, 7) AS z FROM b) q ON a.x = q.k GROUP BY q.y, q.z",
    "SELECT q.y, q.c, COUNT(*) FROM a LEFT JOIN (SELECT y, MAX(k) AS k, COUNT(*) AS c FROM b GROUP BY y) q ON a.k = q.k GROUP BY q.y, q.c",
    "SELECT q.y, q.z, COUNT(*) FROM a FULL JOIN (SELECT k, y, COALESCE(y, 7) AS z FROM b) q ON a.x = q.k GROUP BY q.y, q.z",
    "SELECT q.x, q.z, COUNT(*) FROM (SELECT k, x, COALESCE(x, 7) AS z FROM a) q RIGHT JOIN b ON b.k = q.k GROUP BY q.x, q.z",
    "SELECT q.x, q.z, COUNT(*) FROM (SELECT k, x, COALESCE(x, 7) AS z FROM a) q FULL JOIN b ON b.k = q.k GROUP BY q.x, q.z",
    "SELECT q.k, q.z, COUNT(*) FROM b LEFT JOIN (SELECT k, k + 1 AS z FROM a) q ON b.y = q.k GROUP BY q.k, q.z",
    "SELECT DISTINCT q.y, q.z FROM a LEFT JOIN (SELECT k, y, COALESCE(y, 7) AS z FROM b) q ON a.x = q.k",
];

/// Queries in which columns of one name are merged. SQLite also knows the columns by their tables'
/// names.
const USING: [&str; 12] = [
    "SELECT b.k FROM a RIGHT JOIN b USING (k) WHERE a.k IS NULL",
    "SELECT a.k, b.k, k FROM a RIGHT JOIN b USING (k)",
    "SELECT a.k, b.k, k FROM a FULL JOIN b USING (k)",
    "SELECT a.k, b.k, k FROM a LEFT JOIN b USING (k)",
    "SELECT k, x, y FROM a FULL JOIN b USING (k) WHERE a.k IS NULL OR b.k IS NULL",
    "SELECT k, x, y FROM a RIGHT JOIN b USING (k)",
    "SELECT k, a.t, c.t FROM a FULL JOIN b USING (k) FULL JOIN b AS c USING (k)",
    "SELECT k, t, x, y, a.k, b.t FROM a NATURAL FULL JOIN b",
    // Two names of one column, only one of which is shared.
    "SELECT * FROM (SELECT k, k AS z FROM a) c JOIN (SELECT k AS w, k, k AS v FROM b) d USING (k)",
    "SELECT * FROM (SELECT x AS g, x AS k FROM a) c FULL JOIN (SELECT k, k AS v FROM b) d USING (k)",
    "SELECT g, k, v, c.k, d.k FROM (SELECT x AS g, x AS k FROM a) c FULL JOIN (SELECT k, k AS v FROM b) d USING (k)",
    "SELECT g, k, v FROM (SELECT x AS g, x AS k FROM a) c NATURAL RIGHT JOIN (SELECT k AS v, k FROM b) d",
];

#[test]
fn what_there_is_of_no_row_is_that_of_sqlite() {
    for world in worlds() {
        check(&world, &QUERIES);
    }
}

#[test]
fn columns_that_using_makes_one_keep_their_own_names() {
    for world in worlds() {
        check(&world, &USING);
    }
}

/// Keys of a single owner, from which other columns follow in the plan.
#[test]
fn columns_of_one_owner_follow_from_its_keys_where_they_are_there() {
    let columns = |other: &str| {
        vec![
            Column::new("k", ColumnType::Integer),
            Column::new(other, ColumnType::Integer).nullable(),
            Column::new("t", ColumnType::Varchar(20)).nullable(),
        ]
    };
    let a = owned("a", columns("x"), Some(0), false, &["0|1|", "1|0|x", "2||''", "3|4|y", "5|1|z"]);
    let b = owned("b", columns("y"), Some(0), false, &["0|5|", "1||''", "4|1|b", "7|7|c"]);
    let world = World::new(vec![a, b]).expect("two tables");
    let more = [
        // A group of NULL and a group of 0 that has partners.
        "SELECT g.x, a.k FROM (SELECT x FROM a GROUP BY x) AS g LEFT JOIN a ON g.x = a.x",
        "SELECT g.x, a.k FROM (SELECT x FROM a GROUP BY x) AS g FULL JOIN a ON g.x = a.x",
        "SELECT g.x FROM (SELECT x FROM a GROUP BY x) AS g WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.x = g.x)",
        "SELECT g.x FROM (SELECT x FROM a GROUP BY x) AS g WHERE EXISTS (SELECT 1 FROM a WHERE a.x = g.x AND a.k > g.x)",
        "SELECT g.x FROM (SELECT x FROM a GROUP BY x) AS g WHERE NOT EXISTS (SELECT 1 FROM a WHERE a.x = g.x AND a.k > g.x)",
        "SELECT b.k, b.t, COUNT(*) FROM a LEFT JOIN b ON a.x = b.k GROUP BY b.k, b.t",
        "SELECT b.k, b.t, COUNT(*) FROM a LEFT JOIN b ON a.k = b.y GROUP BY b.k, b.t",
        "SELECT a.k, b.k, b.t, COUNT(*) FROM a FULL JOIN b ON a.x = b.k GROUP BY a.k, b.k, b.t",
        "SELECT a.k, a.t, b.t, MIN(b.t) FROM a JOIN b ON a.x = b.k GROUP BY a.k, a.t, b.t",
    ];
    check(&world, &[&QUERIES[..], &more].concat());
}
