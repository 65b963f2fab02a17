use super::{catalog, plan};
use crate::{Catalog, Options, relation};

fn refused(sql: &str) -> String {
    match plan(sql) {
        Ok(made) => panic!("{sql} is taken: {:?}", made.schema()),
        Err(e) => e.to_string(),
    }
}

/// Each query, and how its error begins.
const CASES: [(&str, &str); 81] = [
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
    ("SELECT SIGN(city) FROM shop", "line 1, column 8: SIGN(city): VARCHAR(20); it takes a number"),
    (
        "SELECT GREATEST(id, city) FROM shop",
        "line 1, column 8: values of INTEGER and of VARCHAR(20) in one place; ",
    ),
    (
        "SELECT LEAST(maker, maker) FROM goods",
        "line 1, column 8: LEAST(maker, maker): DIGEST(128) and DIGEST(128); digests are equal or not and have no order; ",
    ),
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
    (
        "SELECT id FROM shop WHERE NOT EXISTS (SELECT * FROM sale) >= FALSE",
        "line 1, column 39: NOT EXISTS before a comparison can be read in two ways; ",
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
        "line 1, column 8: a frame other than from the first row to this one or to the last is not supported; ",
    ),
    (
        "SELECT SUM(id) OVER (ORDER BY id ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING) FROM shop",
        "line 1, column 8: a frame other than from the first row to this one or to the last is not supported; ",
    ),
    (
        "SELECT SUM(id) OVER (ROWS UNBOUNDED PRECEDING) FROM shop",
        "line 1, column 8: a frame other than from the first row to this one or to the last is not supported; ",
    ),
    (
        "SELECT SUM(id) OVER (ORDER BY id GROUPS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM shop",
        "line 1, column 8: a frame other than from the first row to this one or to the last is not supported; ",
    ),
    (
        "SELECT LAG(id, -1) OVER (ORDER BY id) FROM shop",
        "line 1, column 8: LAG or LEAD by what is no literal is not supported; ",
    ),
    (
        "SELECT NTILE(3) OVER (ORDER BY id) FROM shop",
        "line 1, column 8: the window function ntile is not supported; ",
    ),
    ("SELECT id FROM shop QUALIFY id > 1", "line 1, column "),
    (
        "SELECT id FROM shop WHERE (id, city) = (1, 2, 3)",
        "line 1, column 28: rows of 2 and 3 values are compared; ",
    ),
    (
        "SELECT id FROM shop WHERE (id, city) IN (1, 2)",
        "line 1, column 28: a row of values beside one value; ",
    ),
    (
        "SELECT MAX(city) OVER (ORDER BY id) FROM shop",
        "line 1, column 8: the least or the greatest of city: VARCHAR(20); over a window it takes what has an order, ",
    ),
    ("SELECT CEIL(day) FROM sale", "line 1, column 13: CEIL or FLOOR of DATE is not supported; "),
    ("VALUES (1, 2), (3)", "line 1, column 16: rows of VALUES have 2 and 1 values; "),
    ("VALUES (1), ('x')", "line 1, column 8: values of INTEGER and of VARCHAR(1) in one place; "),
    ("SELECT id FROM shop WHERE id IN (VALUES (id))", "line 1, column 42: no column is called id; "),
    ("SELECT id FROM shop UNION VALUES (1, 2)", "line 1, column 1: its sides have 1 and 2 columns; "),
    ("SELECT COUNT(DISTINCT *) FROM shop", "line 1, column 8: DISTINCT * in a function is not supported; "),
    (
        "SELECT id, (SELECT SUM(pieces + id) FROM sale WHERE shop = id) FROM shop",
        "line 1, column 33: a column of the query around in the list of a subquery is not supported; ",
    ),
    (
        "SELECT id, (SELECT city FROM goods WHERE goods.id = shop.id) FROM shop",
        "line 1, column 20: a column of the query around in the list of a subquery is not supported; ",
    ),
    (
        "SELECT id FROM shop WHERE 1 < (SELECT SUM(pieces) FROM sale WHERE shop = id HAVING SUM(pieces) > id)",
        "line 1, column 98: a column of the query around in HAVING of a subquery is not supported; ",
    ),
    (
        "SELECT id FROM shop WHERE EXISTS (SELECT 1 FROM sale WHERE shop = id GROUP BY day, city)",
        "line 1, column 84: a column of the query around in GROUP BY of a subquery is not supported; ",
    ),
    (
        "SELECT id FROM shop WHERE id IN (SELECT shop FROM sale ORDER BY city)",
        "line 1, column 65: a column of the query around in ORDER BY of a subquery is not supported; ",
    ),
    (
        "SELECT id FROM shop WHERE EXISTS (SELECT * FROM sale JOIN goods ON goods.id = goods AND city = name)",
        "line 1, column 89: a column of the query around in ON of a subquery is not supported; ",
    ),
    (
        "SELECT id FROM shop WHERE id IN (SELECT ROW_NUMBER() OVER (ORDER BY day) FROM sale WHERE shop = id)",
        "line 1, column 34: a window function in a correlated subquery is not supported; ",
    ),
    (
        "SELECT id FROM shop WHERE EXISTS (SELECT 1 FROM sale WHERE shop = id HAVING COUNT(*) = 0)",
        "line 1, column 35: HAVING of a correlated aggregate that no rows may meet is not supported; ",
    ),
    (
        "SELECT id FROM shop WHERE 0 IN (SELECT COUNT(*) FROM sale WHERE shop = id HAVING COUNT(*) < 3)",
        "line 1, column 27: HAVING of a correlated aggregate that no rows may meet is not supported; ",
    ),
    (
        "SELECT id, (SELECT COUNT(*) FROM sale WHERE shop = id HAVING COUNT(*) < 3) FROM shop",
        "line 1, column 13: HAVING of a correlated aggregate that no rows may meet is not supported; ",
    ),
    (
        "SELECT id, (SELECT COUNT(*) + (SELECT MAX(id) FROM goods) FROM sale WHERE shop = id) FROM shop",
        "line 1, column 13: a subquery beside an aggregate in a correlated subquery is not supported; ",
    ),
    (
        "SELECT id, (SELECT name FROM goods WHERE goods.id % 2 = shop.id) FROM shop",
        "line 1, column 13: the subquery may have several rows in place of a value; ",
    ),
    (
        "SELECT AVG(city) FROM shop",
        "line 1, column 8: AVG: an argument of VARCHAR(20); it takes numbers; MIN and MAX take all that has an order, ",
    ),
    ("SELECT VAR_POP(day) FROM sale", "line 1, column 8: VAR_POP: an argument of DATE; "),
    (
        "SELECT EXTRACT(MONTH FROM id) FROM shop",
        "line 1, column 27: EXTRACT(MONTH FROM id): INTEGER; it takes a DATE or a TIMESTAMP",
    ),
    (
        "SELECT SUBSTRING(city FROM 0 FOR 2) FROM shop",
        "line 1, column 18: SUBSTRING(city FROM 0 FOR 2): VARCHAR(20); bytes are counted from 1 up to its length, ",
    ),
    (
        "SELECT DATE '9999-12-31' + INTERVAL '1' DAY FROM shop",
        "line 1, column 13: the date leaves the years 1 to 9999; ",
    ),
    (
        "SELECT id FROM sale, shop WHERE day > '10000-01-01'",
        "line 1, column 33: '10000-01-01' is no DATE; write a date as 2026-11-23, of the years 0001 to 9999",
    ),
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
fn a_common_type_that_does_not_hold_both_is_refused() {
    let double = "CAST(id AS DOUBLE)";
    let queries = [
        "SELECT shop.id FROM shop, sale WHERE DBL = BIG",
        "SELECT BIG FROM sale UNION SELECT DBL FROM shop",
        "SELECT CASE WHEN id > 1 THEN BIG ELSE DBL END FROM shop, sale WHERE id = shop",
        "SELECT COALESCE(BIG, DBL) FROM shop, sale WHERE id = shop",
        "SELECT id FROM shop, sale WHERE id = shop AND BIG > DBL",
        "SELECT id FROM shop LEFT JOIN sale ON DBL = BIG",
        "SELECT id FROM shop WHERE DBL IN (SELECT BIG FROM sale)",
    ];
    let put = |sql: &str, big: &str| sql.replace("DBL", double).replace("BIG", big);
    for sql in queries {
        let error = refused(&put(sql, "pieces * pieces"));
        assert!(error.contains("which DOUBLE(32) does not hold; CAST one"), "{sql}\n{error}");
        for big in ["pieces", "pieces * 3", "CAST(pieces * pieces AS INTEGER)"] {
            assert_eq!(plan(&put(sql, big)).map(drop), Ok(()), "{sql} of {big}");
        }
    }
    for sql in [
        "SELECT id FROM shop WHERE DBL < 3000000000",
        "SELECT city FROM shop GROUP BY city HAVING COUNT(*) > MAX(DBL)",
        "SELECT goods FROM sale, goods WHERE goods = id GROUP BY goods HAVING AVG(pieces) > AVG(price)",
    ] {
        assert_eq!(plan(&put(sql, "")).map(drop), Ok(()), "{sql}");
    }
}

/// The remedy that an error names is one.
#[test]
fn remedies_help() {
    for (sql, told) in [
        ("SELECT MIN(maker) FROM goods", "have no order; declare the column as VARCHAR(n)"),
        ("SELECT id FROM goods ORDER BY maker", "have no order; declare the column as VARCHAR(n)"),
        ("SELECT COUNT(COALESCE(maker, 'none')) FROM goods", "declare the column as VARCHAR(n)"),
        ("SELECT COALESCE(city, 3) FROM shop", "none of the two types can be cast to the other"),
        (
            "SELECT city FROM shop UNION SELECT id FROM goods",
            "none of the two types can be cast to the other",
        ),
        ("SELECT COALESCE(id = 3, 3) FROM shop", "cast one of them"),
        ("SELECT pieces * pieces * pieces FROM sale", "whose result may have more than 38 digits"),
        ("SELECT VAR_POP(pieces * pieces) FROM sale", "whose squares may have more than 38 digits"),
    ] {
        let error = refused(sql);
        assert!(error.contains(told), "{sql}\n{error}");
    }
    for sql in [
        "SELECT COALESCE(CAST(id = 3 AS INTEGER), 3) FROM shop",
        "SELECT CAST(pieces * pieces AS DECIMAL(18, 0)) * pieces FROM sale",
        "SELECT VAR_POP(CAST(pieces * pieces AS DOUBLE)) FROM sale",
        "SELECT ROUND(CAST(price AS DOUBLE) * 3, 1), ROUND(CAST(price AS DOUBLE)) FROM goods",
    ] {
        assert_eq!(plan(sql).map(drop), Ok(()), "{sql}");
    }
}

/// A short text that stands for much: each of these would be planned for years.
#[test]
fn what_grows_with_every_level_is_refused() {
    let repeated = |open: &str, close: &str, n: usize| {
        format!("SELECT {}id{} FROM shop", open.repeat(n), close.repeat(n))
    };
    let too_large =
        "its expressions are too large, with what functions such as ABS repeat of their arguments";
    for (open, close) in [("ABS(", ")"), ("NULLIF(", ", 1)"), ("COALESCE(NULLIF(", ", 2), 3)")] {
        let few = plan(&repeated(open, close, 4)).map(drop);
        assert_eq!(few, Ok(()), "{open}");
        assert!(refused(&repeated(open, close, 20)).contains(too_large), "{open}");
    }
    let named = |n: usize| {
        let more = (1..n).map(|i| format!(", t{i} AS (SELECT a.id FROM t{} a, t{} b)", i - 1, i - 1));
        format!("WITH t0 AS (SELECT id FROM shop){} SELECT id FROM t{}", more.collect::<String>(), n - 1)
    };
    assert_eq!(plan(&named(3)).map(drop), Ok(()));
    assert!(refused(&named(40)).contains("there are more than 1000 queries within it"));
    let union = format!("SELECT id FROM shop{}", " UNION ALL SELECT id FROM shop".repeat(1500));
    assert!(refused(&union).contains("there are more than 1000 queries within it"));
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
