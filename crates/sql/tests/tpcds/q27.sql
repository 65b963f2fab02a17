-- Averages by item and state, and over all states of an item.
SELECT i_item_id, s_state, GROUPING(s_state) AS all_states, AVG(ss_quantity) AS amount, AVG(ss_list_price) AS listed
FROM store_sales
JOIN customer_demographics ON ss_cdemo_sk = cd_demo_sk
JOIN date_dim ON ss_sold_date_sk = d_date_sk
JOIN store ON ss_store_sk = s_store_sk
JOIN item ON ss_item_sk = i_item_sk
WHERE cd_gender = 'F' AND d_year = 1999
GROUP BY ROLLUP (i_item_id, s_state)
ORDER BY i_item_id, s_state, all_states
LIMIT 100
