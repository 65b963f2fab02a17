-- Each operator, run on tables with NULLs and duplicates, without rows, and with one row. Statements end with a semicolon.
-- Results are compared as bags; those of statements with ORDER BY in order.

-- Expressions
SELECT k, x, x + 1, x - k, x * k, -x FROM a;
SELECT k, x / 2, x % 3, x / (k - 2) FROM a;
SELECT k, m + 1, m * 2.5, m - x FROM a;
SELECT k, x = 2, x <> 2, x < 2, x <= 2, x > 2, x >= 2 FROM a;
SELECT k, x IS NULL, t IS NOT NULL, x = 1 AND t = 'b', x = 1 OR t = 'b', NOT x = 1 FROM a;
SELECT k, (x > 1) IS TRUE, (x > 1) IS NOT TRUE, (x > 1) IS FALSE, (x > 1) IS NOT FALSE FROM a;
SELECT k, CASE WHEN x > 1 THEN 'big' WHEN x IS NULL THEN 'none' ELSE 'small' END FROM a;
SELECT k, CASE x WHEN 1 THEN 10 WHEN 2 THEN 20 END FROM a;
SELECT k, COALESCE(x, k, 0), NULLIF(x, 1), ABS(x - 2) FROM a;
SELECT k, x BETWEEN 1 AND 2, x NOT BETWEEN 1 AND 2, x IN (1, 3), x NOT IN (1, 3), x IN (1, NULL) FROM a;
SELECT k, t LIKE 'a%', t LIKE '%b', t LIKE '%a%', t LIKE '_b', t NOT LIKE 'a%', t LIKE 'a' FROM a;
SELECT k, SUBSTRING(t FROM 1 FOR 1), t < 'b', t = 'ab' FROM a;
SELECT k, SUBSTRING(t FROM 5 FOR 1), SUBSTRING(t FROM 90000 FOR 3), SUBSTRING(t FROM 2 FOR 0) = '' FROM a;
SELECT k, EXTRACT(YEAR FROM d), EXTRACT(MONTH FROM d), EXTRACT(DAY FROM d) FROM a;
SELECT k, d < DATE '2020-02-29', d >= DATE '2020-02-29' + INTERVAL '1' DAY, d BETWEEN '2019-01-01' AND '2021-01-01' FROM a;
SELECT 1 + 2 AS three, 'x' AS letter;

-- Chosen values beside the columns that they are chosen from
SELECT COALESCE(x, k) AS c, k, COUNT(*) FROM a GROUP BY COALESCE(x, k), k;
SELECT COALESCE(x, y) AS c, x, COUNT(*) FROM a JOIN b ON a.k = b.k GROUP BY COALESCE(x, y), x;
SELECT COALESCE(y, 7) AS c, y, COUNT(*) FROM b GROUP BY COALESCE(y, 7), y;
SELECT DISTINCT x, CASE WHEN k > 2 THEN x END AS c FROM a;
SELECT DISTINCT x, NULLIF(x, 1) AS c FROM a;
SELECT k, RANK() OVER (PARTITION BY CASE WHEN k > 2 THEN x END ORDER BY x NULLS FIRST) AS r FROM a ORDER BY k, r;
SELECT k, x FROM a ORDER BY COALESCE(x, 0), k, x;
SELECT k, x, CASE WHEN k > 2 THEN k END AS c FROM a ORDER BY CASE WHEN k > 2 THEN k END NULLS FIRST, x NULLS FIRST, k;
SELECT x, y, COUNT(*) FROM a LEFT JOIN b ON CASE WHEN a.k > 2 THEN x END = b.k GROUP BY x, y;
SELECT ABS(CAST(-32768 AS SMALLINT)) AS a;
SELECT COUNT(*) FROM a WHERE NOT (EXISTS (SELECT 1 FROM b WHERE b.k = a.k) >= FALSE);
SELECT COUNT(*) FROM a RIGHT JOIN b ON a.k = b.k AND a.k = b.y FULL JOIN a AS z ON b.k = z.x AND a.k = z.x;

-- Filters
SELECT * FROM a WHERE x > 1;
SELECT * FROM a WHERE x > 1 AND t = 'a' OR k = 3;
SELECT k FROM a WHERE NOT (x > 1 OR t = 'b');
SELECT k FROM a WHERE x = NULL;
SELECT k FROM a WHERE TRUE;

-- Joins
SELECT a.k, x, y FROM a JOIN b ON a.k = b.k;
SELECT a.k, x, y FROM a, b WHERE a.x = b.k;
SELECT a.k, b.k FROM a, b WHERE a.x = b.y;
SELECT a.k, y FROM a LEFT JOIN b ON a.x = b.k;
SELECT b.k, x FROM b LEFT JOIN a ON a.x = b.k;
SELECT a.k, b.k FROM a LEFT JOIN b ON a.x = b.k AND b.y > 1;
SELECT a.k, b.k FROM a LEFT JOIN b ON a.x = b.k AND a.k > 2;
SELECT a.k, b.k FROM a LEFT JOIN b ON a.x = b.k AND a.k > b.y;
SELECT a.k, b.k, y FROM a RIGHT JOIN b ON a.x = b.k;
SELECT a.k, b.k FROM a FULL JOIN b ON a.x = b.k;
SELECT a.k, b.k FROM a LEFT JOIN b ON a.x = b.k WHERE b.k IS NULL;
SELECT a.k, b.k FROM a CROSS JOIN b;
SELECT a.k, b.k FROM a, b WHERE a.k < b.k;
SELECT a1.k, a2.k FROM a a1, a a2 WHERE a1.t = a2.t AND a1.x <= a2.x;
SELECT k, x, y FROM a JOIN b USING (k);
SELECT a.t, b.t FROM a JOIN b ON a.t = b.t AND a.k = b.k;

-- Groups
SELECT COUNT(*), COUNT(x), SUM(x), MIN(x), MAX(x), AVG(x), SUM(m), AVG(m), MIN(t), MAX(d) FROM a;
SELECT x, COUNT(*), COUNT(t), SUM(k), MIN(d), MAX(t), AVG(m) FROM a GROUP BY x;
SELECT x, t, COUNT(*) FROM a GROUP BY x, t;
SELECT COUNT(DISTINCT x), SUM(DISTINCT x), COUNT(DISTINCT t) FROM a;
SELECT t, COUNT(DISTINCT x), COUNT(x) FROM a GROUP BY t;
SELECT t, SUM(x) FROM a GROUP BY t HAVING COUNT(*) > 1;
SELECT x + 1, COUNT(*) FROM a GROUP BY x + 1;
SELECT CASE WHEN x > 1 THEN 1 ELSE 0 END AS big, SUM(k) FROM a GROUP BY CASE WHEN x > 1 THEN 1 ELSE 0 END;
SELECT t, COUNT(*) FILTER (WHERE x > 1), SUM(x) FILTER (WHERE k > 2) FROM a GROUP BY t;
SELECT SUM(x) FROM a WHERE k > 100;
SELECT t, SUM(x) FROM a WHERE k > 100 GROUP BY t;
SELECT b.k, b.t, COUNT(a.k) FROM b LEFT JOIN a ON a.x = b.k GROUP BY b.k, b.t;

-- Distinct
SELECT DISTINCT x FROM a;
SELECT DISTINCT x, t FROM a;
SELECT DISTINCT k, y FROM b;

-- Order and limits
SELECT k, x FROM a ORDER BY x NULLS FIRST, k;
SELECT k, x FROM a ORDER BY x DESC NULLS LAST, k DESC;
SELECT k, t FROM a ORDER BY t NULLS LAST, k LIMIT 3;
SELECT k FROM a ORDER BY k LIMIT 2 OFFSET 1;
SELECT k, x * 2 AS twice FROM a ORDER BY twice NULLS LAST, 1;
SELECT k FROM a ORDER BY x + k NULLS FIRST, k LIMIT 4;
SELECT t, SUM(k) AS total FROM a GROUP BY t ORDER BY total DESC, t NULLS LAST LIMIT 2;

SELECT SUM(k) AS n FROM (SELECT k FROM a ORDER BY x NULLS FIRST, k LIMIT 3) AS g;
SELECT SUM(total) AS n FROM (SELECT t, SUM(k) AS total FROM a GROUP BY t ORDER BY total DESC, t NULLS LAST LIMIT 2) AS g;
SELECT SUM(n) AS n FROM (SELECT COUNT(*) AS n FROM a GROUP BY t ORDER BY n LIMIT 2) AS g;

-- Sets
SELECT x FROM a UNION SELECT y FROM b;
SELECT x FROM a UNION ALL SELECT y FROM b;
SELECT x FROM a INTERSECT SELECT y FROM b;
SELECT x FROM a EXCEPT SELECT y FROM b;
SELECT k, t FROM a UNION SELECT k, t FROM b EXCEPT SELECT 1, 'a' ORDER BY 1, 2 NULLS FIRST;

-- Subqueries
SELECT k FROM a WHERE EXISTS (SELECT * FROM b WHERE b.k = a.x);
SELECT k FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.k = a.x);
SELECT k FROM a WHERE EXISTS (SELECT * FROM b WHERE b.k = a.x AND b.y <> a.k);
SELECT k FROM a WHERE NOT EXISTS (SELECT * FROM b WHERE b.y = a.x AND b.k > a.k);
SELECT k FROM a WHERE EXISTS (SELECT * FROM b WHERE y > 2);
SELECT k FROM a WHERE x IN (SELECT k FROM b);
SELECT k FROM a WHERE x NOT IN (SELECT k FROM b);
SELECT k FROM a WHERE x IN (SELECT y FROM b);
SELECT k FROM a WHERE x NOT IN (SELECT y FROM b);
SELECT k FROM a WHERE k NOT IN (SELECT y FROM b WHERE y IS NOT NULL);
SELECT k FROM a WHERE x > (SELECT AVG(y) FROM b);
SELECT k, (SELECT MAX(y) FROM b) FROM a;
SELECT k, (SELECT COUNT(*) FROM b WHERE b.y = a.x) FROM a;
SELECT k, (SELECT SUM(y) + 1 FROM b WHERE b.k = a.x) FROM a;
SELECT k, (SELECT y FROM b WHERE b.k = a.x) FROM a;
SELECT k FROM a WHERE x = (SELECT MIN(y) FROM b WHERE b.k = a.k);
SELECT k, EXISTS (SELECT * FROM b WHERE b.k = a.x) FROM a;
SELECT k FROM a WHERE k = 1 OR EXISTS (SELECT * FROM b WHERE b.k = a.x);
SELECT t, SUM(x) FROM a GROUP BY t HAVING SUM(x) > (SELECT MIN(y) FROM b);

-- Cross joins of a projection, in an order by columns of the other side
SELECT DISTINCT y, z FROM (SELECT x + 1 AS z FROM a) AS d CROSS JOIN b;
SELECT y, COUNT(*), SUM(z) FROM (SELECT x + 1 AS z FROM a) AS d CROSS JOIN b GROUP BY y;
SELECT z, y FROM (SELECT x + 1 AS z FROM a) AS d CROSS JOIN b ORDER BY y NULLS FIRST, z NULLS FIRST;
SELECT z, y FROM (SELECT x + 1 AS z FROM a) AS d CROSS JOIN b ORDER BY z NULLS FIRST, y NULLS FIRST;
SELECT y, ROW_NUMBER() OVER (PARTITION BY y ORDER BY z, j) FROM (SELECT k AS j, x + 1 AS z FROM a) AS d CROSS JOIN b;

-- WITH and derived tables
WITH s AS (SELECT t, COUNT(*) AS n FROM a GROUP BY t) SELECT t, n FROM s WHERE n = (SELECT MAX(n) FROM s);
SELECT n, COUNT(*) FROM (SELECT x, COUNT(*) AS n FROM a GROUP BY x) AS g GROUP BY n;
WITH p AS (SELECT k, x FROM a WHERE x > 1), q AS (SELECT k FROM p WHERE k > 1) SELECT p.k, q.k FROM p LEFT JOIN q ON p.k = q.k;

-- Rows that a query writes
VALUES (1, 'a'), (2, NULL), (2, NULL);
VALUES (1 + 2, CASE WHEN 1 > 2 THEN 'x' ELSE 'y' END, ABS(-3));
SELECT column2, column1 FROM (VALUES (1, 'a'), (2, 'bcd'));
SELECT COUNT(*), SUM(column1), MAX(column2) FROM (VALUES (1, 2), (3, NULL));
SELECT * FROM (VALUES (1), (2)) AS v CROSS JOIN b;
SELECT k, n FROM a JOIN (SELECT column1 AS i, column2 AS n FROM (VALUES (1, 'one'), (2, 'two'), (9, NULL))) AS v ON x = i;
WITH v(i, n) AS (VALUES (1, 'one'), (2, 'two'), (9, 'nine')) SELECT k, n FROM a LEFT JOIN v ON x = i;
WITH v(i, n) AS (VALUES (1, 'one'), (2, 'two'), (2, 'zwei')) SELECT k, n FROM a LEFT JOIN v ON x = i;
WITH v(i) AS (VALUES (1), (2), (2)) SELECT i, COUNT(*), SUM(k) FROM v LEFT JOIN a ON x = i GROUP BY i;
WITH v(i) AS (VALUES (1), (NULL), (2.5)) SELECT i + 1, SUM(k) FROM v LEFT JOIN a ON x = i GROUP BY i;
WITH v(i) AS (VALUES (1), (2), (3)), w(j) AS (VALUES (2), (4), (4), (NULL)) SELECT i, j FROM v FULL JOIN w ON i = j;
SELECT x FROM a UNION VALUES (1), (77), (NULL);
SELECT x FROM a UNION ALL VALUES (1), (77);
SELECT x FROM a EXCEPT VALUES (NULL);
VALUES (1), (2), (3) EXCEPT SELECT x FROM a;
VALUES (1), (2), (3) INTERSECT SELECT x FROM a;
SELECT k FROM a WHERE x IN (VALUES (1), (3));
SELECT k FROM a WHERE x NOT IN (VALUES (1), (3));
SELECT k FROM a WHERE x NOT IN (VALUES (1), (NULL));
SELECT k FROM a WHERE EXISTS (VALUES (1));
SELECT k FROM a WHERE d > (SELECT column1 FROM (VALUES (DATE '2019-12-31')));

-- Windows
SELECT k, ROW_NUMBER() OVER (ORDER BY k) FROM a;
SELECT k, RANK() OVER (ORDER BY x NULLS FIRST) FROM a;
SELECT k, SUM(k) OVER (PARTITION BY t ORDER BY k) FROM a;
SELECT k, SUM(x) OVER (ORDER BY x NULLS FIRST) FROM a;
SELECT k, COUNT(*) OVER (PARTITION BY t), COUNT(x) OVER (ORDER BY k) FROM a;
SELECT k, LAG(x) OVER (ORDER BY k), LEAD(x, 2) OVER (PARTITION BY t ORDER BY k) FROM a;
SELECT k, LAG(x, 0) OVER (ORDER BY k), LAG(x, 100) OVER (ORDER BY k), LEAD(x, 7) OVER (ORDER BY k) FROM a;
SELECT k, LAG(x, 1, 0) OVER (ORDER BY k), LEAD(x, 2, -1) OVER (PARTITION BY t ORDER BY k) FROM a;
SELECT k, LAG(x, 1, k) OVER (ORDER BY k), LAG(t, 3, 'none') OVER (ORDER BY k), LEAD(m, 1, 7) OVER (ORDER BY k DESC) FROM a;
SELECT x, LAG(SUM(k), 1, 0) OVER (ORDER BY x NULLS FIRST) FROM a GROUP BY x;
SELECT t, SUM(COUNT(*)) OVER (ORDER BY t NULLS FIRST) FROM a GROUP BY t;
