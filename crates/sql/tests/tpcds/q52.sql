-- Brands by what was sold in a month.
SELECT d_year, i_brand_id, i_brand, SUM(ss_ext_sales_price) AS total
FROM store_sales
JOIN date_dim ON d_date_sk = ss_sold_date_sk
JOIN item ON ss_item_sk = i_item_sk
WHERE i_manager_id = 1 AND d_moy = 11 AND d_year = 2000
GROUP BY d_year, i_brand, i_brand_id
ORDER BY d_year, total DESC, i_brand_id
LIMIT 100
