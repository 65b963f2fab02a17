-- Customers who bought in stores, by catalogue and on the web in one year.
SELECT COUNT(*) AS customers
FROM (
    SELECT DISTINCT c_last_name, c_first_name, d_moy FROM store_sales
    JOIN date_dim ON ss_sold_date_sk = d_date_sk JOIN customer ON ss_customer_sk = c_customer_sk WHERE d_year = 1999
    INTERSECT
    SELECT DISTINCT c_last_name, c_first_name, d_moy FROM catalog_sales
    JOIN date_dim ON cs_sold_date_sk = d_date_sk JOIN customer ON cs_bill_customer_sk = c_customer_sk WHERE d_year = 1999
    INTERSECT
    SELECT DISTINCT c_last_name, c_first_name, d_moy FROM web_sales
    JOIN date_dim ON ws_sold_date_sk = d_date_sk JOIN customer ON ws_bill_customer_sk = c_customer_sk WHERE d_year = 1999
) AS everywhere
