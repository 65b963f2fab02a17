-- Each item's part of what its class sold.
SELECT i_item_id, i_category, i_class, i_current_price, revenue,
    revenue * 100 / SUM(revenue) OVER (PARTITION BY i_class) AS part
FROM (
    SELECT i_item_id, i_category, i_class, i_current_price, SUM(ss_ext_sales_price) AS revenue
    FROM store_sales
    JOIN item ON ss_item_sk = i_item_sk
    JOIN date_dim ON ss_sold_date_sk = d_date_sk
    WHERE i_category IN ('Music', 'Home') AND d_year = 1999
    GROUP BY i_item_id, i_category, i_class, i_current_price
) AS sold
ORDER BY i_category, i_class, i_item_id, i_current_price, part
