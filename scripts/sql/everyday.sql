-- revenue by month
SELECT DATE_TRUNC('month', o.placed) AS month, SUM(i.quantity * i.price) AS revenue, COUNT(DISTINCT o.id) AS orders
FROM orders o JOIN items i ON i.order_id = o.id WHERE o.status = 'paid' GROUP BY 1 ORDER BY 1

-- refund rate by month
SELECT DATE_TRUNC('month', placed) AS month, SUM(status = 'refunded') / COUNT(*) AS rate FROM (SELECT placed, status FROM orders) o GROUP BY month ORDER BY month

-- refund rate with FILTER
SELECT COUNT(*) FILTER (WHERE status = 'refunded') / COUNT(*) AS rate, COUNT(*) FILTER (WHERE status = 'paid') AS paid FROM orders

-- share of each status
SELECT status, COUNT(*) AS n, ROUND(100.0 * COUNT(*) / SUM(COUNT(*)) OVER (), 1) AS percent FROM orders GROUP BY status ORDER BY n DESC, status

-- top three customers by revenue in each country
SELECT country, name, revenue FROM (
  SELECT c.country, c.id, c.name, SUM(i.quantity * i.price) AS revenue, ROW_NUMBER() OVER (PARTITION BY c.country ORDER BY SUM(i.quantity * i.price) DESC, c.id) AS place
  FROM customers c JOIN orders o ON o.customer = c.id JOIN items i ON i.order_id = o.id GROUP BY c.country, c.id, c.name) r
WHERE place <= 3

-- top three by QUALIFY
SELECT c.country, c.id, COUNT(*) AS orders FROM customers c JOIN orders o ON o.customer = c.id GROUP BY ALL
QUALIFY RANK() OVER (PARTITION BY c.country ORDER BY COUNT(*) DESC) <= 3

-- the latest order of each customer
SELECT DISTINCT ON (customer) customer, id, placed, status FROM orders WHERE customer IS NOT NULL ORDER BY customer, placed DESC, id DESC

-- the latest order by a correlated subquery
SELECT c.id, (SELECT o.status FROM orders o WHERE o.customer = c.id ORDER BY o.placed DESC, o.id DESC LIMIT 1) AS last_status FROM customers c

-- the two latest orders by LATERAL
SELECT c.id, o.id AS order_id, o.placed FROM customers c CROSS JOIN LATERAL (SELECT x.id, x.placed FROM orders x WHERE x.customer = c.id ORDER BY x.placed DESC, x.id DESC LIMIT 2) o

-- customers without an order
SELECT c.id, c.name FROM customers c LEFT JOIN orders o ON o.customer = c.id WHERE o.id IS NULL

-- customers who never had a refund
SELECT id FROM customers c WHERE NOT EXISTS (SELECT 1 FROM orders o WHERE o.customer = c.id AND o.status = 'refunded')

-- orders above the average of their customer
WITH totals AS (SELECT o.id, o.customer, SUM(i.quantity * i.price) AS total FROM orders o JOIN items i ON i.order_id = o.id GROUP BY o.id, o.customer)
SELECT t.id, t.total FROM totals t WHERE t.total > (SELECT AVG(x.total) FROM totals x WHERE x.customer = t.customer)

-- month over month
WITH months AS (SELECT DATE_TRUNC('month', placed) AS month, COUNT(*) AS n FROM orders GROUP BY 1)
SELECT month, n, LAG(n) OVER (ORDER BY month) AS before, (n - LAG(n) OVER (ORDER BY month)) * 100.0 / LAG(n) OVER (ORDER BY month) AS growth FROM months

-- running total
SELECT placed, SUM(COUNT(*)) OVER (ORDER BY placed) AS so_far FROM orders GROUP BY placed

-- moving average of three days
SELECT sensor, day, AVG(value) OVER (PARTITION BY sensor ORDER BY day ROWS BETWEEN 2 PRECEDING AND CURRENT ROW) AS smooth FROM readings

-- the last known value
SELECT sensor, day, COALESCE(value, LAST_VALUE(value IGNORE NULLS) OVER (PARTITION BY sensor ORDER BY day)) AS filled FROM readings

-- changes between days
SELECT sensor, day, value - LAG(value) OVER (PARTITION BY sensor ORDER BY day) AS change FROM readings

-- largest change of a week
SELECT sensor, day, MAX(value) OVER (PARTITION BY sensor ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) - MIN(value) OVER (PARTITION BY sensor ORDER BY day ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS span FROM readings

-- median and quartiles of salaries
SELECT team, MEDIAN(salary) AS middle, PERCENTILE_CONT(0.25) WITHIN GROUP (ORDER BY salary) AS q1, PERCENTILE_CONT(0.75) WITHIN GROUP (ORDER BY salary) AS q3 FROM employees GROUP BY team

-- spread of salaries
SELECT team, COUNT(*), AVG(salary), STDDEV(salary), MIN(salary), MAX(salary) FROM employees GROUP BY team HAVING COUNT(*) > 2

-- z-scores
SELECT id, (salary - AVG(salary) OVER ()) / STDDEV_POP(salary) OVER () AS z FROM employees

-- salary against the boss
SELECT e.name, b.name AS boss, e.salary - b.salary AS more FROM employees e JOIN employees b ON b.id = e.boss WHERE e.salary > b.salary

-- who earns more than all of admin
SELECT id FROM employees WHERE salary > ALL (SELECT salary FROM employees WHERE team = 'admin') ORDER BY id

-- correlation of quantity and price
SELECT CORR(quantity, price), REGR_SLOPE(price, quantity) FROM items

-- histogram of prices
SELECT WIDTH_BUCKET(price, 0, 300, 6) AS bucket, COUNT(*) FROM (SELECT CAST(price AS DECIMAL(9, 2)) AS price FROM items) x GROUP BY bucket ORDER BY bucket

-- histogram by FLOOR
SELECT FLOOR(price / 50) * 50 AS low, COUNT(*) AS n FROM items GROUP BY low ORDER BY low

-- deciles of customers
SELECT decile, COUNT(*), SUM(total) FROM (SELECT o.customer, SUM(i.price * i.quantity) AS total, NTILE(10) OVER (ORDER BY SUM(i.price * i.quantity) DESC, o.customer) AS decile
  FROM orders o JOIN items i ON i.order_id = o.id WHERE o.customer IS NOT NULL GROUP BY o.customer) x GROUP BY decile

-- subtotals by ROLLUP
SELECT country, city, COUNT(*) AS n FROM customers GROUP BY ROLLUP (country, city) ORDER BY country NULLS LAST, city NULLS LAST

-- subtotals with words
SELECT CASE WHEN GROUPING(p.category) = 1 THEN 'all' ELSE p.category END AS category, SUM(i.quantity) AS pieces FROM items i JOIN products p ON p.id = i.product GROUP BY ROLLUP (p.category)

-- a cube of two dimensions
SELECT device, page LIKE '/item%' AS item, COUNT(*) AS visits, AVG(seconds) FROM visits GROUP BY CUBE (device, page LIKE '/item%')

-- grouping sets
SELECT country, tier, COUNT(*) FROM customers GROUP BY GROUPING SETS ((country), (tier), ())

-- cohort sizes
SELECT DATE_TRUNC('quarter', signup) AS cohort, COUNT(*) FROM customers GROUP BY cohort ORDER BY cohort

-- retention in months since signup
SELECT DATE_DIFF('month', c.signup, o.placed) AS months, COUNT(DISTINCT c.id) FROM customers c JOIN orders o ON o.customer = c.id WHERE o.placed >= c.signup GROUP BY months ORDER BY months

-- days between orders
SELECT customer, AVG(placed - before) AS days FROM (SELECT customer, placed, LAG(placed) OVER (PARTITION BY customer ORDER BY placed, id) AS before FROM orders WHERE customer IS NOT NULL) x WHERE before IS NOT NULL GROUP BY customer

-- orders within 30 days of signup
SELECT COUNT(DISTINCT c.id) FROM customers c JOIN orders o ON o.customer = c.id AND o.placed BETWEEN c.signup AND c.signup + INTERVAL '30' DAY

-- renewals a year later
SELECT id, signup + INTERVAL '1' YEAR AS due, LAST_DAY(signup) AS month_end FROM customers

-- ages
SELECT id, DATESUB('year', born, CURRENT_DATE) AS age FROM customers WHERE born IS NOT NULL

-- age groups
SELECT CASE WHEN age < 30 THEN 'under 30' WHEN age < 50 THEN '30 to 49' ELSE '50 and over' END AS band, COUNT(*) FROM (SELECT (CURRENT_DATE - born) // 365 AS age FROM customers WHERE born IS NOT NULL) x GROUP BY band

-- days since the last order
SELECT customer, CURRENT_DATE - MAX(placed) AS recency, COUNT(*) AS frequency FROM orders WHERE customer IS NOT NULL GROUP BY customer

-- visits by hour and weekday
SELECT EXTRACT(ISODOW FROM at) AS weekday, EXTRACT(HOUR FROM at) // 6 AS quarter, COUNT(*) FROM visits GROUP BY weekday, quarter

-- visits in a window of time
SELECT COUNT(*) FROM visits WHERE at >= TIMESTAMP '2024-01-10 00:00:00' AND at < TIMESTAMP '2024-01-10 00:00:00' + INTERVAL '36' HOUR

-- sessions by gaps of 30 minutes
SELECT customer, COUNT(*) AS sessions FROM (SELECT customer, at, LAG(at) OVER (PARTITION BY customer ORDER BY at, id) AS before FROM visits WHERE customer IS NOT NULL) x
WHERE before IS NULL OR at - before > INTERVAL '30' MINUTE GROUP BY customer

-- funnel
SELECT COUNT(DISTINCT CASE WHEN page = '/home' THEN customer END) AS home, COUNT(DISTINCT CASE WHEN page = '/cart' THEN customer END) AS cart, COUNT(DISTINCT CASE WHEN page = '/pay' THEN customer END) AS pay FROM visits

-- conversion
SELECT device, COUNT_IF(page = '/pay') * 1.0 / COUNT(*) AS rate FROM (SELECT LOWER(device) AS device, page FROM visits) v GROUP BY device

-- clean names of devices
SELECT UPPER(TRIM(device)) AS device, COUNT(*) FROM visits GROUP BY 1

-- domains of e-mail
SELECT LOWER(SPLIT_PART(email, '@', 2)) AS domain, COUNT(*) AS n FROM customers WHERE email IS NOT NULL GROUP BY domain ORDER BY n DESC, domain

-- e-mails by position
SELECT id, SUBSTRING(email, POSITION('@' IN email) + 1) AS domain FROM customers WHERE email LIKE '%@%'

-- first and last names
SELECT id, SPLIT_PART(name, ' ', 1) AS first, SPLIT_PART(name, ' ', 2) AS last, LEFT(name, 1) || '.' AS initial FROM customers

-- search without case
SELECT id, email FROM customers WHERE email ILIKE '%example%' OR name ILIKE 'anna%'

-- items of pages
SELECT CAST(SPLIT_PART(page, '=', 2) AS INTEGER) AS item, COUNT(*) FROM visits WHERE page LIKE '/item?id=%' GROUP BY item

-- labels
SELECT id, country || '-' || LPAD(CAST(id AS VARCHAR), 4, '0') AS label, CONCAT(city, ' (', tier, ')') AS place FROM customers

-- months as text
SELECT STRFTIME(placed, '%Y-%m') AS month, COUNT(*) FROM orders GROUP BY month ORDER BY month

-- lengths of titles
SELECT LENGTH(title) AS length, COUNT(*) FROM products GROUP BY length ORDER BY length

-- tidy titles
SELECT id, REPLACE(LOWER(title), ' ', '_') AS slug FROM products

-- dearest product of each category
SELECT category, ARG_MAX(title, price) AS dearest, MAX(price) FROM products GROUP BY category

-- basket pairs
SELECT a.product AS x, b.product AS y, COUNT(*) AS n FROM items a JOIN items b ON a.order_id = b.order_id AND a.product < b.product GROUP BY a.product, b.product HAVING n > 1

-- customers with both kinds
SELECT o.customer FROM orders o JOIN items i ON i.order_id = o.id JOIN products p ON p.id = i.product WHERE o.customer IS NOT NULL
GROUP BY o.customer HAVING BOOL_OR(p.category = 'chairs') AND BOOL_OR(p.category = 'lamps')

-- a share of repeat customers
SELECT SUM(CASE WHEN n > 1 THEN 1 ELSE 0 END) / COUNT(*) AS repeat_rate FROM (SELECT customer, COUNT(*) AS n FROM orders GROUP BY customer) x

-- discounts
SELECT id, COALESCE(discount, 0) AS discount, IF(discount > 10, 'high', 'low') AS band, NULLIF(status, 'open') AS done FROM orders

-- price after rebate
SELECT order_id, line, ROUND(quantity * price * (1 - IFNULL(rebate, 0)), 2) AS net FROM items

-- greatest and least
SELECT order_id, GREATEST(SUM(price), 100) AS floor_price, LEAST(COUNT(*), 2) AS few FROM items GROUP BY order_id

-- tiers that are best or unknown
SELECT id FROM customers WHERE tier IN ('gold', 'silver') OR tier IS NULL OR id IN (SELECT customer FROM orders WHERE status = 'refunded')

-- full comparison of two lists
SELECT COALESCE(a.customer, b.customer) AS customer, a.n AS bought, b.n AS visited FROM (SELECT customer, COUNT(*) AS n FROM orders WHERE customer IS NOT NULL GROUP BY customer) a
FULL JOIN (SELECT customer, COUNT(*) AS n FROM visits WHERE customer IS NOT NULL GROUP BY customer) b ON a.customer = b.customer

-- who bought but did not visit
SELECT customer FROM orders WHERE customer IS NOT NULL EXCEPT SELECT customer FROM visits

-- distance between cities
SELECT a.name, b.name, 6371 * ACOS(LEAST(1, SIN(RADIANS(a.lat)) * SIN(RADIANS(b.lat)) + COS(RADIANS(a.lat)) * COS(RADIANS(b.lat)) * COS(RADIANS(a.lon - b.lon)))) AS km
FROM (VALUES ('Rome', 41.9, 12.5), ('Oslo', 59.9, 10.75)) a(name, lat, lon), (VALUES ('Paris', 48.85, 2.35), ('Berlin', 52.52, 13.4)) b(name, lat, lon)

-- compound growth
SELECT id, POWER(1.05, id) AS factor, SQRT(price) AS root, LN(price) AS logarithm, EXP(-id / 10) AS decay FROM products

-- refunds within a running month
SELECT placed, COUNT(*) FILTER (WHERE status = 'refunded') OVER (ORDER BY placed, id ROWS BETWEEN 29 PRECEDING AND CURRENT ROW) AS refunded FROM orders

-- texts of a group
-- differs: STRING_AGG without a length
SELECT customer, STRING_AGG(status, ',' ORDER BY placed) FROM orders GROUP BY customer

-- sums over seven days
SELECT placed, SUM(n) OVER (ORDER BY placed RANGE BETWEEN INTERVAL 6 DAYS PRECEDING AND CURRENT ROW) AS week FROM (SELECT placed, COUNT(*) AS n FROM orders GROUP BY placed) x

-- pivot of statuses
SELECT * FROM (SELECT customer, status FROM orders WHERE customer < 10) PIVOT (COUNT(*) FOR status IN ('paid', 'open'))

-- codes by a regular expression
SELECT id FROM customers WHERE REGEXP_MATCHES(email, '^[a-z]+[0-9]+@')

-- orders of each day of a month
SELECT d.day, COUNT(o.id) AS n, COALESCE(SUM(o.discount), 0) AS discount FROM GENERATE_SERIES(DATE '2023-02-01', DATE '2023-02-28', INTERVAL '1 day') AS d(day) LEFT JOIN orders o ON o.placed = d.day GROUP BY d.day

-- months without a sign-up
SELECT m.month FROM GENERATE_SERIES(DATE '2022-01-01', DATE '2023-12-01', INTERVAL '1' MONTH) AS m(month) WHERE NOT EXISTS (SELECT 1 FROM customers c WHERE DATE_TRUNC('month', c.signup) = m.month)

-- islands of days with a value
SELECT sensor, MIN(day) AS first, MAX(day) AS last, COUNT(*) AS days FROM (SELECT sensor, day, day - CAST(ROW_NUMBER() OVER (PARTITION BY sensor ORDER BY day) AS INTEGER) AS island FROM readings WHERE value IS NOT NULL) x GROUP BY sensor, island

-- recency, frequency and value
SELECT customer, NTILE(4) OVER (ORDER BY last DESC, customer) AS r, NTILE(4) OVER (ORDER BY n, customer) AS f FROM (SELECT customer, MAX(placed) AS last, COUNT(*) AS n FROM orders WHERE customer IS NOT NULL GROUP BY customer) x
