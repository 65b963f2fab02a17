-- What customers kept of what they bought, where some of it came back for one reason.
SELECT ss_customer_sk, SUM(kept) AS total
FROM (
    SELECT ss_customer_sk,
        CASE WHEN sr_return_quantity IS NOT NULL THEN (ss_quantity - sr_return_quantity) * ss_sales_price
            ELSE ss_quantity * ss_sales_price END AS kept
    FROM store_sales
    LEFT JOIN store_returns ON sr_item_sk = ss_item_sk AND sr_ticket_number = ss_ticket_number
    WHERE sr_reason_sk = 2
) AS lines
WHERE ss_customer_sk IS NOT NULL
GROUP BY ss_customer_sk
ORDER BY total, ss_customer_sk
LIMIT 100
