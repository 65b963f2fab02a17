use super::{catalog, plan};
use crate::{Catalog, Options, relation};

fn refused(sql: &str) -> String {
    match plan(sql) {
        Ok(made) => panic!("{sql} is taken: {:?}", made.schema()),
        Err(e) => e.to_string(),
    }
}

/// Each query, and how its error begins.
const CASES: [(&str, &str); 46] = [
    ("SELEC 1", "line 1, column 1: "),
    ("SELECT id FROM shop\nWHERE (id = 1", "line 2, column 14: "),
    ("SELECT 1; SELECT 2", "there are several statements; "),
    ("DELETE FROM shop", "the statement is no query; "),
    ("SELECT town FROM shop", "line 1, column 8: no column is called town; there are id, city"),
    ("SELECT *\nFROM shops", "line 2, column 6: no table is called shops; there are shop, goods, sale"),
    (
        "SELECT id FROM shop, goods",
        "line 1, column 8: id may be a column of several tables; write table.column",
    ),
    ("SELECT x.id FROM shop", "line 1, column 8: no column is called x.id; "),
    (
        "SELECT city, COUNT(*) FROM shop",
        "line 1, column 8: city is neither in GROUP BY nor in an aggregate; ",
    ),
    ("SELECT id FROM shop\nWHERE SUM(id) > 3", "line 2, column 7: an aggregate in WHERE; "),
    ("SELECT SUM(COUNT(*)) FROM shop", "line 1, column 12: an aggregate in an aggregate; "),
    ("SELECT id FROM shop WHERE id", "line 1, column 27: the condition is INTEGER; "),
    ("SELECT id FROM shop WHERE city > 3", "line 1, column 27: VARCHAR(20) is compared with INTEGER; "),
    ("SELECT id + city FROM shop", "line 1, column 8: "),
    ("SELECT day FROM sale WHERE day > 'soon'", "line 1, column 28: 'soon' is no DATE; "),
    (
        "SELECT day + INTERVAL '1' MONTH FROM sale",
        "line 1, column 8: a column moved by months or years is not supported; ",
    ),
    (
        "SELECT id FROM goods WHERE maker = 'me'",
        "line 1, column 28: a column that holds digests is compared with a string; ",
    ),
    ("SELECT id FROM goods WHERE maker < maker", "line 1, column 28: "),
    ("SELECT city FROM shop GROUP BY ROLLUP (city)", "line 1, column "),
    ("SELECT id, city FROM shop GROUP BY id, city WITH ROLLUP", "line 1, column "),
    ("SELECT DISTINCT ON (id) id FROM shop", "line 1, column 1: DISTINCT ON is not supported; "),
    ("SELECT id FROM shop FOR UPDATE", "line 1, column 1: FOR UPDATE or FOR SHARE is not supported; "),
    ("SELECT id FROM shop LIMIT ALL OFFSET x", "line 1, column 38: OFFSET takes a whole number; "),
    ("SELECT id FROM shop FETCH FIRST 3 ROWS WITH TIES", "line 1, column "),
    ("SELECT id FROM shop ORDER BY 2", "line 1, column 30: 2 is no column of the list, which has 1; "),
    (
        "SELECT DISTINCT city FROM shop ORDER BY id",
        "line 1, column 1: SELECT DISTINCT is ordered by what its list has not; ",
    ),
    (
        "SELECT id FROM shop UNION SELECT id, name FROM goods",
        "line 1, column 1: its sides have 1 and 2 columns; ",
    ),
    (
        "SELECT id FROM shop UNION SELECT name FROM goods",
        "line 1, column 1: column id is INTEGER on one side and VARCHAR(30) on the other; ",
    ),
    (
        "WITH RECURSIVE t AS (SELECT 1 AS x) SELECT x FROM t",
        "line 1, column 1: WITH RECURSIVE is not supported; ",
    ),
    ("SELECT city || 'x' FROM shop", "line 1, column 8: || is not supported; "),
    ("SELECT UPPER(city) FROM shop", "line 1, column 8: the function upper is not supported; "),
    (
        "SELECT city FROM shop WHERE city LIKE city",
        "line 1, column 29: LIKE with a pattern that is no literal is not supported; ",
    ),
    (
        "SELECT id FROM shop WHERE id = (SELECT goods FROM sale)",
        "line 1, column 33: the subquery may have several rows in place of a value; ",
    ),
    (
        "SELECT id FROM shop WHERE id IN (SELECT shop, goods FROM sale)",
        "line 1, column 27: the subquery of IN has 2 columns; ",
    ),
    (
        "SELECT id FROM shop WHERE id > ANY (SELECT shop FROM sale)",
        "line 1, column 27: ANY is not supported; write IN or EXISTS",
    ),
    (
        "SELECT id FROM shop WHERE EXISTS (SELECT * FROM sale WHERE EXISTS (SELECT * FROM goods WHERE goods.id = sale.goods AND goods.id = shop.id))",
        "line 1, column 68: a column of a query that is two levels around is not supported; ",
    ),
    ("SELECT id FROM shop, LATERAL (SELECT 1 AS one) AS x", "line 1, column "),
    (
        "SELECT s.id FROM shop s FULL JOIN goods g ON s.id = g.id AND s.city > g.name",
        "line 1, column 35: FULL JOIN on more than columns that are equal is not supported; ",
    ),
    (
        "SELECT RANK() OVER (ORDER BY id) FROM shop WHERE ROW_NUMBER() OVER (ORDER BY id) = 1",
        "line 1, column 50: a window function where there can be none; ",
    ),
    (
        "SELECT SUM(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND CURRENT ROW) FROM shop",
        "line 1, column 8: a frame other than from the first row to this one is not supported; ",
    ),
    (
        "SELECT NTILE(3) OVER (ORDER BY id) FROM shop",
        "line 1, column 8: the window function ntile is not supported; ",
    ),
    ("SELECT id FROM shop QUALIFY id > 1", "line 1, column "),
    ("SELECT * FROM shop a, goods a", "line 1, column "),
    ("SELECT $1 FROM shop", "line 1, column 8: a parameter is not supported; "),
    ("SELECT CAST(id AS JSON) FROM shop", "line 1, column 13: the type JSON is not supported; "),
    ("SELECT 99999999999999999999999999999999999999999 FROM shop", "line 1, column 8: "),
];

#[test]
fn what_cannot_be_is_refused_with_its_place_and_its_name() {
    let wrong = CASES.iter().filter_map(|(sql, begins)| {
        let error = refused(sql);
        (!error.starts_with(begins)).then(|| format!("{sql}\n{error}\nfor\n{begins}\n"))
    });
    let wrong: Vec<String> = wrong.collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn deep_nesting_is_refused_without_a_crash() {
    let sql = format!("SELECT {}1{} FROM shop", "(".repeat(4000), ")".repeat(4000));
    assert_eq!(refused(&sql), "the query is nested too deeply; write it with fewer levels of parentheses");
    let sql = format!("SELECT id FROM shop WHERE {} id = 1", "NOT ".repeat(4000));
    assert!(!refused(&sql).is_empty());
    // A chain is as deep as it is long.
    let chain = |n: usize| format!("SELECT {} FROM shop", vec!["id"; n].join("+"));
    assert!(refused(&chain(20_000)).contains("nested deeper than 1000 levels"));
    assert!(plan(&chain(400)).is_ok());
    assert!(refused(&format!("SELECT '{}'", "x".repeat(1 << 16))).contains("64 KiB"));
}

#[test]
fn names_that_differ_in_case_alone_are_one() {
    let tables = catalog().tables().to_vec();
    let mut other = tables[0].clone();
    other.name = "SHOP".into();
    let error = Catalog::new([tables.clone(), vec![other]].concat()).expect_err("twice").to_string();
    assert_eq!(error, "two tables are called SHOP; give one another name");
    let plan = relation("select CITY from \"shop\" S where s.ID = 3", &catalog(), Options::default());
    assert_eq!(plan.map(|p| p.schema().columns().len()), Ok(1));
    let quoted = relation("SELECT \"City\" FROM shop", &catalog(), Options::default());
    assert!(quoted.is_err(), "letters' case counts between quotes");
}

#[test]
fn with_a_least_size_only_groups_are_shown() {
    let options = Options { min_group: 3, ..Options::default() };
    let ask = |sql: &str| relation(sql, &catalog(), options).map(drop).map_err(|e| e.cause().to_owned());
    for sql in [
        "SELECT city, COUNT(*) FROM shop GROUP BY city ORDER BY 2 LIMIT 3",
        "SELECT COUNT(*) FROM shop",
        "SELECT city FROM shop GROUP BY city UNION SELECT name FROM goods GROUP BY name",
    ] {
        assert_eq!(ask(sql), Ok(()), "{sql}");
    }
    for sql in [
        "SELECT city FROM shop",
        "SELECT DISTINCT city FROM shop",
        "SELECT city, (SELECT COUNT(*) FROM sale) FROM shop",
        "SELECT n FROM (SELECT COUNT(*) AS n FROM shop) AS t, goods",
        "SELECT city FROM shop GROUP BY city UNION SELECT name FROM goods",
    ] {
        assert_eq!(ask(sql), Err("the query shows rows where only groups may be shown".into()), "{sql}");
    }
}

#[test]
fn a_join_of_many_with_many_needs_a_bound() {
    let mut tables = catalog().tables().to_vec();
    tables[2].parts[0].rows = 1 << 20;
    let catalog = Catalog::new(tables).unwrap_or_else(|e| panic!("{e}"));
    let sql = "SELECT a.day FROM sale a, sale b WHERE a.goods = b.goods";
    let error = relation(sql, &catalog, Options::default()).expect_err("no bound").to_string();
    assert!(error.contains("may have many rows of a key"), "{error}");
    let options = Options { join_bound: Some(5000), ..Options::default() };
    assert_eq!(relation(sql, &catalog, options).map(|plan| plan.rows()), Ok(5000));
}
