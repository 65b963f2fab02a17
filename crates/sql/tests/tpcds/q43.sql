-- Sales of each store by the day of the week.
SELECT s_store_name, s_store_sk,
    SUM(CASE WHEN d_day_name = 'Sunday' THEN ss_sales_price END) AS sunday,
    SUM(CASE WHEN d_day_name = 'Monday' THEN ss_sales_price END) AS monday,
    SUM(CASE WHEN d_day_name = 'Friday' THEN ss_sales_price END) AS friday,
    SUM(CASE WHEN d_day_name = 'Saturday' THEN ss_sales_price END) AS saturday
FROM store_sales
JOIN date_dim ON ss_sold_date_sk = d_date_sk
JOIN store ON ss_store_sk = s_store_sk
WHERE d_year = 2000
GROUP BY s_store_name, s_store_sk
ORDER BY s_store_name, s_store_sk
LIMIT 100
