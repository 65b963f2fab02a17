//! A query over the tables of two owners: an analyst learns the total, and nobody sees both tables.

use hushwire::Local;

const PRICES: &str = "article,price\n1,250\n2,399\n3,1200\n";
const ORDERS: &str = "article,amount\n3,2\n1,4\n";

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let sql = "SELECT SUM(price * amount) AS total
        FROM prices JOIN orders ON prices.article = orders.article";
    let query = Local::query(sql, [("prices", PRICES), ("orders", ORDERS)]);
    let answer = query.key("prices", "article").run()?;
    println!("the total is {:?}", answer.rows);
    assert_eq!(answer.rows, [[Some("3400".to_owned())]]);
    Ok(())
}
