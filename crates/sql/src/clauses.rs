//! The clauses that queries may have, each with an example on the rows of [`EXAMPLE`].

/// A clause.
pub struct Clause {
    /// The clause, as documents show it.
    pub usage: &'static str,
    /// Its effect, in one line.
    pub doc: &'static str,
    /// An example query.
    pub example: &'static str,
}

/// The table `e` of examples: its columns, and its rows as text; `None` is NULL.
pub const EXAMPLE: (&[&str], &[[Option<&str>; 13]]) = (
    &[
        "id INTEGER NOT NULL",
        "team VARCHAR(4) NOT NULL",
        "name VARCHAR(9) NOT NULL",
        "note VARCHAR(13)",
        "n INTEGER NOT NULL",
        "k INTEGER NOT NULL",
        "price DECIMAL(8, 2)",
        "x DECIMAL(6, 3)",
        "day DATE",
        "born DATE",
        "at TIMESTAMP",
        "done BOOLEAN",
        "nothing INTEGER",
    ],
    &[
        [
            Some("1"),
            Some("red"),
            Some("Anna Berg"),
            Some("Room 12, east"),
            Some("7"),
            Some("-3"),
            Some("12.50"),
            Some("0.500"),
            Some("2024-02-29"),
            Some("1990-05-17"),
            Some("2024-02-29 13:45:10"),
            Some("true"),
            None,
        ],
        [
            Some("2"),
            Some("blue"),
            Some("bob"),
            Some("x-y-z"),
            Some("2"),
            Some("5"),
            Some("99.99"),
            Some("-0.250"),
            Some("2023-12-31"),
            Some("1985-12-01"),
            Some("2023-12-31 23:59:59"),
            Some("false"),
            Some("4"),
        ],
        [
            Some("3"),
            Some("red"),
            Some("Carla"),
            None,
            Some("7"),
            Some("1"),
            Some("3.00"),
            Some("1.000"),
            Some("2024-01-31"),
            Some("2001-01-31"),
            Some("2024-01-31 00:00:00"),
            None,
            None,
        ],
        [
            Some("4"),
            Some("blue"),
            Some("dave"),
            Some("42"),
            Some("10"),
            Some("0"),
            None,
            Some("0.000"),
            None,
            None,
            None,
            Some("true"),
            Some("9"),
        ],
    ],
);

const fn clause(usage: &'static str, doc: &'static str, example: &'static str) -> Clause {
    Clause { usage, doc, example }
}

/// All clauses.
pub static CLAUSES: &[Clause] = &[
    clause(
        "SELECT value AS name, …",
        "columns of the result; later items, WHERE, GROUP BY and HAVING know the names",
        "SELECT n * 2 AS twice, twice + 1 AS more FROM e WHERE twice > 5",
    ),
    clause(
        "SELECT * EXCLUDE (…) REPLACE (…)",
        "all columns but some, and others in place of some",
        "SELECT * EXCLUDE (note, price, x, day, born, at, done, nothing) REPLACE (UPPER(name) AS name) FROM e WHERE id = 1",
    ),
    clause("SELECT DISTINCT", "each row once", "SELECT DISTINCT team FROM e ORDER BY team"),
    clause(
        "SELECT DISTINCT ON (key)",
        "the first row of each key in the order",
        "SELECT DISTINCT ON (team) team, name FROM e ORDER BY team, n DESC, id",
    ),
    clause(
        "WHERE condition",
        "the rows for which a condition is true; a number is true unless it is 0",
        "SELECT id FROM e WHERE n > 5 AND NOT done",
    ),
    clause(
        "CASE WHEN … THEN … ELSE … END",
        "the value of the first condition that is true",
        "SELECT id, CASE WHEN n > 9 THEN 'high' WHEN n > 5 THEN 'mid' ELSE 'low' END AS c FROM e",
    ),
    clause(
        "value IN (…), BETWEEN … AND …",
        "whether a value is one of a list, or within bounds",
        "SELECT id FROM e WHERE n IN (2, 10) OR k BETWEEN -3 AND -1",
    ),
    clause(
        "text LIKE pattern, ILIKE",
        "whether a text matches a literal pattern, in which % is any text and _ a character; ILIKE takes capitals for small letters",
        "SELECT name FROM e WHERE name ILIKE '%a%' AND name LIKE '_____%'",
    ),
    clause(
        "text ~ pattern, SIMILAR TO, ~*, !~",
        "whether all of a text matches a regular expression, as in DuckDB; the owner computes it",
        "SELECT name FROM e WHERE name ~ '[a-z]+'",
    ),
    clause(
        "value IS NULL, IS TRUE, IS NOT DISTINCT FROM",
        "comparisons that are never NULL",
        "SELECT id, done IS TRUE AS t, price IS NULL AS p FROM e",
    ),
    clause(
        "GROUP BY key, …",
        "one row for each value of the keys",
        "SELECT team, SUM(n) AS s FROM e GROUP BY team",
    ),
    clause(
        "GROUP BY ALL",
        "by all items of the list that have no aggregate",
        "SELECT team, done, COUNT(*) AS c FROM e GROUP BY ALL",
    ),
    clause(
        "GROUP BY ROLLUP (…), CUBE (…), GROUPING SETS (…)",
        "several groupings at once; GROUPING says which keys a row lacks",
        "SELECT team, COUNT(*) AS c, GROUPING(team) AS g FROM e GROUP BY ROLLUP (team)",
    ),
    clause(
        "HAVING condition",
        "the groups for which a condition is true",
        "SELECT n, COUNT(*) AS c FROM e GROUP BY n HAVING c > 1",
    ),
    clause(
        "aggregate FILTER (WHERE …), DISTINCT",
        "an aggregate of some rows, or of different values",
        "SELECT SUM(n) FILTER (WHERE k > 0) AS s, COUNT(DISTINCT n) AS d FROM e",
    ),
    clause(
        "QUALIFY condition",
        "the rows for which a condition on window functions is true",
        "SELECT name FROM e QUALIFY ROW_NUMBER() OVER (PARTITION BY team ORDER BY n DESC, id) = 1",
    ),
    clause(
        "ORDER BY key DESC NULLS LAST, ORDER BY ALL",
        "the order of the result; NULLs come last going up and first going down",
        "SELECT name, price FROM e ORDER BY price DESC NULLS LAST",
    ),
    clause("LIMIT n OFFSET m", "some rows of the order", "SELECT name FROM e ORDER BY id LIMIT 2 OFFSET 1"),
    clause(
        "a JOIN b ON …, LEFT, RIGHT, FULL, CROSS, SEMI, ANTI, USING, NATURAL",
        "pairs of rows; one side's keys are unique, or a bound on the pairs is set",
        "SELECT a.name, b.name AS other FROM e AS a JOIN e AS b ON a.k = b.id",
    ),
    clause(
        "LATERAL (query)",
        "a query for each row, which names its columns; without FROM, more columns",
        "SELECT a.name, b.name AS richer FROM e AS a LEFT JOIN LATERAL (SELECT y.name FROM e AS y WHERE y.team = a.team ORDER BY y.n DESC, y.id LIMIT 1) AS b ON TRUE",
    ),
    clause(
        "EXISTS (query), value IN (query)",
        "whether a query has rows, or has the value",
        "SELECT name FROM e AS a WHERE EXISTS (SELECT 1 FROM e AS b WHERE b.k = a.id)",
    ),
    clause(
        "(query) as a value",
        "the only row of a query; that there is one at most is checked",
        "SELECT name FROM e WHERE n > (SELECT AVG(n) FROM e)",
    ),
    clause(
        "value > ALL (query), = ANY (query)",
        "comparisons with all or some rows of a query",
        "SELECT name FROM e WHERE n >= ALL (SELECT n FROM e)",
    ),
    clause(
        "query UNION query, INTERSECT, EXCEPT, ALL",
        "rows of both queries, of both at once, or of the first alone",
        "SELECT n FROM e UNION SELECT k FROM e",
    ),
    clause(
        "query UNION BY NAME query",
        "columns of one name under each other, and NULL where a side lacks a column",
        "SELECT id, n FROM e WHERE id < 3 UNION ALL BY NAME SELECT team, id FROM e WHERE id = 3",
    ),
    clause(
        "WITH name AS (query)",
        "names of queries",
        "WITH w AS (SELECT team, SUM(n) AS s FROM e GROUP BY team) SELECT MAX(s) AS m FROM w",
    ),
    clause(
        "VALUES (…), (…)",
        "rows that are written, and public",
        "SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS v(i, c)",
    ),
    clause(
        "GENERATE_SERIES(first, last, step), UNNEST([…]) in FROM",
        "numbers or times in steps, and the values of a list, in a column that the alias names; rows are public; RANGE leaves out the last one",
        "SELECT * FROM GENERATE_SERIES(1, 3) AS n",
    ),
    clause(
        "PIVOT (aggregate FOR column IN (…))",
        "a column for each value of a list; `IN (ANY)` takes the values of a column that one owner has, in `local query` and `job new query`",
        "SELECT * FROM (SELECT team, done, n FROM e) PIVOT (SUM(n) FOR done IN (TRUE, FALSE))",
    ),
    clause(
        "UNPIVOT (value FOR name IN (…))",
        "a row for each column of a list; NULLs are left out",
        "SELECT id, what, v FROM (SELECT id, n, k FROM e) UNPIVOT (v FOR what IN (n, k)) WHERE id < 3",
    ),
    clause(
        "aggregate OVER (PARTITION BY … ORDER BY …)",
        "the aggregate of a row's partition, up to the row where there is an order",
        "SELECT id, SUM(n) OVER (PARTITION BY team ORDER BY id) AS s FROM e",
    ),
    clause(
        "ROWS BETWEEN … AND …",
        "a frame of rows before and behind a row",
        "SELECT id, SUM(n) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) AS s FROM e",
    ),
    clause(
        "RANGE BETWEEN … AND …",
        "a frame by the distance of the order's key",
        "SELECT id, SUM(n) OVER (ORDER BY day RANGE BETWEEN INTERVAL '31' DAY PRECEDING AND CURRENT ROW) AS s FROM e",
    ),
    clause(
        "WINDOW name AS (…)",
        "a window under a name",
        "SELECT id, SUM(n) OVER w AS s, COUNT(*) OVER w AS c FROM e WINDOW w AS (PARTITION BY team)",
    ),
    clause(
        "ROW_NUMBER(), RANK(), DENSE_RANK()",
        "a row's place in the order of its partition",
        "SELECT id, RANK() OVER (ORDER BY n) AS r, DENSE_RANK() OVER (ORDER BY n) AS d FROM e",
    ),
    clause(
        "PERCENT_RANK(), CUME_DIST(), NTILE(n)",
        "a row's place as a share, or as one of n parts",
        "SELECT id, PERCENT_RANK() OVER (ORDER BY n) AS p, NTILE(2) OVER (ORDER BY id) AS t FROM e",
    ),
    clause(
        "LAG(value, rows, default), LEAD",
        "a value of a row before or behind",
        "SELECT id, LAG(n) OVER (ORDER BY id) AS l FROM e",
    ),
    clause(
        "FIRST_VALUE, LAST_VALUE, NTH_VALUE, IGNORE NULLS",
        "a value of a frame's first, last or n-th row",
        "SELECT id, LAST_VALUE(price IGNORE NULLS) OVER (ORDER BY id) AS p FROM e",
    ),
    clause(
        "CAST(value AS type), value::type, TRY_CAST",
        "a value in another type; NULL where it does not fit",
        "SELECT CAST(price AS INTEGER) AS i, n::VARCHAR AS t FROM e WHERE id = 1",
    ),
    clause(
        "day + INTERVAL '1' MONTH, day - day",
        "times moved by intervals, and intervals between times",
        "SELECT day + INTERVAL '1' MONTH AS next, at - TIMESTAMP '2024-02-28 00:00:00' AS since, day - born AS days FROM e WHERE id = 1",
    ),
    clause(
        "a + b, -, *, /, //, %, **, ||",
        "arithmetic; / is the real quotient, and // or DIV the whole one",
        "SELECT n / 2 AS q, n // 2 AS w, n % 2 AS r, n ** 2 AS s FROM e WHERE id = 1",
    ),
    clause(":name, ?", "a parameter, whose value is public", ""),
    clause("NOW(), CURRENT_DATE", "the time that the job declares, the same at all members", ""),
];
