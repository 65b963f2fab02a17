-- Sales of one maker's brands in November, by year.
SELECT d_year, i_brand_id, i_brand, SUM(ss_ext_sales_price) AS total
FROM date_dim
JOIN store_sales ON d_date_sk = ss_sold_date_sk
JOIN item ON ss_item_sk = i_item_sk
WHERE i_manufact_id = 2 AND d_moy = 11
GROUP BY d_year, i_brand, i_brand_id
ORDER BY d_year, total DESC, i_brand_id
LIMIT 100
