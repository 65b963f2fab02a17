-- Brands of one manager that customers buy away from where they live.
SELECT i_brand_id, i_brand, i_manufact_id, SUM(ss_ext_sales_price) AS total
FROM store_sales
JOIN date_dim ON ss_sold_date_sk = d_date_sk
JOIN item ON ss_item_sk = i_item_sk
JOIN customer ON ss_customer_sk = c_customer_sk
JOIN customer_address ON c_current_addr_sk = ca_address_sk
JOIN store ON ss_store_sk = s_store_sk
WHERE i_manager_id = 3 AND d_year = 1999 AND ca_zip <> s_zip
GROUP BY i_brand, i_brand_id, i_manufact_id
ORDER BY total DESC, i_brand, i_brand_id, i_manufact_id
LIMIT 100
