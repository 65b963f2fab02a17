-- Items that sell badly in a store, beside what its items sell on average.
SELECT s_store_name, sold.ss_item_sk, revenue
FROM (
    SELECT ss_store_sk, ss_item_sk, SUM(ss_sales_price) AS revenue
    FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk WHERE d_year = 1999 GROUP BY ss_store_sk, ss_item_sk
) AS sold
JOIN (
    SELECT store_key, AVG(revenue) AS usual
    FROM (
        SELECT ss_store_sk AS store_key, ss_item_sk, SUM(ss_sales_price) AS revenue
        FROM store_sales JOIN date_dim ON ss_sold_date_sk = d_date_sk WHERE d_year = 1999 GROUP BY ss_store_sk, ss_item_sk
    ) AS each_item
    GROUP BY store_key
) AS whole ON sold.ss_store_sk = store_key
JOIN store ON s_store_sk = sold.ss_store_sk
WHERE revenue <= usual * 0.5
ORDER BY s_store_name, sold.ss_item_sk, revenue
LIMIT 100
