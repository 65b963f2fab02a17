//! Calls in the words of other databases, with the equivalent calls of this one.

use super::plan;
use crate::{Options, relation};

const ALIKE: &[(&str, &str)] = &[
    ("SELECT `id` FROM `shop` WHERE `city` = 'Rome'", "SELECT id FROM shop WHERE city = 'Rome'"),
    ("SELECT TOP 3 id FROM shop ORDER BY id", "SELECT id FROM shop ORDER BY id LIMIT 3"),
    ("SELECT TOP (3) id FROM shop ORDER BY id", "SELECT id FROM shop ORDER BY id LIMIT 3"),
    ("SELECT IFF(id > 3, 1, 0) AS x FROM shop", "SELECT IF(id > 3, 1, 0) AS x FROM shop"),
    ("SELECT ISNULL(price, 0) AS x FROM goods", "SELECT COALESCE(price, 0) AS x FROM goods"),
    ("SELECT ZEROIFNULL(price) AS x FROM goods", "SELECT COALESCE(price, 0) AS x FROM goods"),
    ("SELECT NULLIFZERO(id) AS x FROM goods", "SELECT NULLIF(id, 0) AS x FROM goods"),
    ("SELECT LEN(city) AS x FROM shop", "SELECT LENGTH(city) AS x FROM shop"),
    ("SELECT CHARINDEX('o', city) AS x FROM shop", "SELECT POSITION('o' IN city) AS x FROM shop"),
    ("SELECT SAFE_DIVIDE(price, id + 1) AS x FROM goods", "SELECT price / (id + 1) AS x FROM goods"),
    ("SELECT EOMONTH(day) AS x FROM sale", "SELECT LAST_DAY(day) AS x FROM sale"),
    ("SELECT FORMAT_DATE('%Y-%m', day) AS x FROM sale", "SELECT STRFTIME(day, '%Y-%m') AS x FROM sale"),
    (
        "SELECT PARSE_DATE('%d.%m.%Y', city) AS x FROM shop",
        "SELECT CAST(STRPTIME(city, '%d.%m.%Y') AS DATE) AS x FROM shop",
    ),
    ("SELECT TO_CHAR(day, 'YYYY-MM') AS x FROM sale", "SELECT STRFTIME(day, '%Y-%m') AS x FROM sale"),
    (
        "SELECT TO_CHAR(CAST(day AS TIMESTAMP), 'dd.mm.yy\"T\"HH24:MI:SS') AS x FROM sale",
        "SELECT STRFTIME(CAST(day AS TIMESTAMP), '%d.%m.%yT%H:%M:%S') AS x FROM sale",
    ),
    (
        "SELECT TO_DATE(city, 'DD/MM/YYYY') AS x FROM shop",
        "SELECT CAST(STRPTIME(city, '%d/%m/%Y') AS DATE) AS x FROM shop",
    ),
    (
        "SELECT TO_TIMESTAMP(city, 'YYYY-MM-DD HH24:MI') AS x FROM shop",
        "SELECT STRPTIME(city, '%Y-%m-%d %H:%M') AS x FROM shop",
    ),
    ("SELECT DAYOFMONTH(day) AS x FROM sale", "SELECT DAY(day) AS x FROM sale"),
    ("SELECT MID(city, 2, 1) AS x FROM shop", "SELECT SUBSTRING(city, 2, 1) AS x FROM shop"),
    ("SELECT TRY_CAST('n/a' AS INTEGER) AS x FROM shop", "SELECT CAST(NULL AS INTEGER) AS x FROM shop"),
    ("SELECT TRY_CAST('2023-02-29' AS DATE) AS x FROM shop", "SELECT CAST(NULL AS DATE) AS x FROM shop"),
    ("SELECT CAST(id AS BOOLEAN) AS x FROM shop", "SELECT id <> 0 AS x FROM shop"),
    ("SELECT id * 1_000.5 AS x FROM shop", "SELECT id * 1000.5 AS x FROM shop"),
    (
        "WITH s AS MATERIALIZED (SELECT id FROM shop), t AS NOT MATERIALIZED (SELECT id FROM s) SELECT id FROM t",
        "WITH s AS (SELECT id FROM shop), t AS (SELECT id FROM s) SELECT id FROM t",
    ),
    ("SELECT DATE_TRUNC(day, MONTH) AS x FROM sale", "SELECT DATE_TRUNC('month', day) AS x FROM sale"),
    ("SELECT DATE_TRUNC(day, ISOWEEK) AS x FROM sale", "SELECT DATE_TRUNC('week', day) AS x FROM sale"),
    ("SELECT TRUNC(day, 'MM') AS x FROM sale", "SELECT DATE_TRUNC('month', day) AS x FROM sale"),
    (
        "SELECT DATE_DIFF(DATE '2024-01-01', day, DAY) AS x FROM sale",
        "SELECT DATE_DIFF('day', day, DATE '2024-01-01') AS x FROM sale",
    ),
    (
        "SELECT DATEDIFF(month, day, DATE '2024-01-01') AS x FROM sale",
        "SELECT DATE_DIFF('month', day, DATE '2024-01-01') AS x FROM sale",
    ),
    // A column that no unit follows is still a column.
    (
        "SELECT DATEDIFF('month', day, day) AS x FROM sale",
        "SELECT DATE_DIFF('month', day, day) AS x FROM sale",
    ),
    ("SELECT DATEPART(year, day) AS x FROM sale", "SELECT EXTRACT(YEAR FROM day) AS x FROM sale"),
    ("SELECT DATEADD(month, 2, day) AS x FROM sale", "SELECT day + 2 * INTERVAL '1' MONTH AS x FROM sale"),
    ("SELECT DATEADD(week, 1, day) AS x FROM sale", "SELECT day + 1 * INTERVAL '1' WEEK AS x FROM sale"),
    (
        "SELECT DATEADD('day', -shop, day) AS x FROM sale",
        "SELECT day + (-shop) * INTERVAL '1' DAY AS x FROM sale",
    ),
    (
        "SELECT DECODE(city, 'Rome', 1, 'Oslo', 2, 0) AS x FROM shop",
        "SELECT CASE city WHEN 'Rome' THEN 1 WHEN 'Oslo' THEN 2 ELSE 0 END AS x FROM shop",
    ),
    (
        "SELECT DECODE(city, 'Rome', 1) AS x FROM shop",
        "SELECT CASE city WHEN 'Rome' THEN 1 END AS x FROM shop",
    ),
    (
        "SELECT id FROM shop WHERE city LIKE ANY ('R%', 'O%')",
        "SELECT id FROM shop WHERE city LIKE 'R%' OR city LIKE 'O%'",
    ),
    ("SELECT id FROM shop WHERE city ILIKE ANY (ARRAY['r%'])", "SELECT id FROM shop WHERE city ILIKE 'r%'"),
    (
        "SELECT id, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY id) OVER (PARTITION BY city) AS x FROM shop",
        "SELECT id, PERCENTILE_CONT(id, 0.5) OVER (PARTITION BY city) AS x FROM shop",
    ),
    (
        "SELECT TOP 2 x FROM shop CROSS APPLY (SELECT TOP 1 day AS x FROM sale WHERE shop = id ORDER BY day, goods, pieces) AS s ORDER BY id",
        "SELECT x FROM shop CROSS JOIN LATERAL (SELECT day AS x FROM sale WHERE shop = id ORDER BY day, goods, pieces LIMIT 1) AS s ORDER BY id LIMIT 2",
    ),
    // Functions in FROM.
    ("SELECT n FROM GENERATE_SERIES(1, 3) AS n", "SELECT n FROM (VALUES (1), (2), (3)) AS t(n)"),
    ("SELECT t.n FROM GENERATE_SERIES(5, 1, -2) AS t(n)", "SELECT n FROM (VALUES (5), (3), (1)) AS t(n)"),
    (
        "SELECT generate_series FROM GENERATE_SERIES(1, 2)",
        "SELECT generate_series FROM (VALUES (1), (2)) AS t(generate_series)",
    ),
    ("SELECT n FROM RANGE(3) AS t(n)", "SELECT n FROM (VALUES (0), (1), (2)) AS t(n)"),
    (
        "SELECT n FROM GENERATE_SERIES(0, 1, 0.5) AS n",
        "SELECT n FROM (VALUES (CAST(0 AS DECIMAL(11, 1))), (0.5), (1)) AS t(n)",
    ),
    ("SELECT x FROM UNNEST(['a', 'b']) AS t(x)", "SELECT x FROM (VALUES ('a'), ('b')) AS t(x)"),
    ("SELECT x FROM UNNEST(ARRAY[1, NULL]) AS x", "SELECT x FROM (VALUES (1), (NULL)) AS t(x)"),
    (
        "SELECT d FROM GENERATE_SERIES('2024-01-31'::DATE, DATE '2024-03-31', '1 month'::INTERVAL) AS d",
        "SELECT d FROM (VALUES (DATE '2024-01-31'), (DATE '2024-02-29'), (DATE '2024-03-29')) AS t(d)",
    ),
    (
        "SELECT d FROM UNNEST(GENERATE_DATE_ARRAY('2024-02-28', '2024-03-01')) AS d",
        "SELECT d FROM (VALUES (DATE '2024-02-28'), (DATE '2024-02-29'), (DATE '2024-03-01')) AS t(d)",
    ),
    (
        "SELECT d FROM GENERATE_SERIES(DATE '2024-01-01', DATE '2024-01-02', INTERVAL '12 hours') AS d",
        "SELECT d FROM (VALUES (TIMESTAMP '2024-01-01 00:00:00'), (TIMESTAMP '2024-01-01 12:00:00'), (TIMESTAMP '2024-01-02 00:00:00')) AS t(d)",
    ),
    (
        "SELECT d, COUNT(goods) AS n FROM GENERATE_SERIES(DATE '2024-01-01', DATE '2024-01-02', INTERVAL 1 DAY) AS d LEFT JOIN sale ON day = d GROUP BY d",
        "SELECT d, COUNT(goods) AS n FROM (VALUES (DATE '2024-01-01'), (DATE '2024-01-02')) AS t(d) LEFT JOIN sale ON day = d GROUP BY d",
    ),
];

#[test]
fn words_of_other_databases_have_the_plan_of_those_of_this_one() {
    for (foreign, own) in ALIKE {
        let [foreign, own] = [foreign, own].map(|sql| plan(sql).unwrap_or_else(|e| panic!("{sql}: {e}")));
        assert_eq!(foreign, own);
    }
    // A series without rows has the type of its ends.
    let none = plan("SELECT n FROM GENERATE_SERIES(2, 1) AS n").unwrap_or_else(|e| panic!("{e}"));
    assert_eq!(none.schema().columns()[0].ty, hushwire_tables::algebra::ColumnType::Integer);
    let now = Options { now: Some(0), ..Options::default() };
    for sql in ["SELECT GETDATE() AS t", "SELECT CURRENT_DATETIME() AS t"] {
        let made = relation(sql, &super::catalog(), now).unwrap_or_else(|e| panic!("{sql}: {e}"));
        assert_eq!(made.schema().columns()[0].ty, hushwire_tables::algebra::ColumnType::Timestamp, "{sql}");
    }
}
