//! A small world of TPC-DS: the columns that the queries below read, drawn as in the benchmark,
//! with NULLs among the keys of sales. The tables follow the benchmark's specification. The queries
//! have the benchmark's numbers and meaning, in our own words.

use hushwire_compute::test_support::Dice;
use hushwire_sql::{cell, schema, test_support::World};
use hushwire_tables::{
    algebra::{Schema, Table, TablePart, Value},
    plain::Row,
};

/// The queries, by their numbers in the benchmark.
pub const QUERIES: [(u8, &str); 11] = [
    (3, include_str!("../tpcds/q03.sql")),
    (7, include_str!("../tpcds/q07.sql")),
    (19, include_str!("../tpcds/q19.sql")),
    (27, include_str!("../tpcds/q27.sql")),
    (38, include_str!("../tpcds/q38.sql")),
    (43, include_str!("../tpcds/q43.sql")),
    (52, include_str!("../tpcds/q52.sql")),
    (65, include_str!("../tpcds/q65.sql")),
    (93, include_str!("../tpcds/q93.sql")),
    (96, include_str!("../tpcds/q96.sql")),
    (98, include_str!("../tpcds/q98.sql")),
];

/// The query with a number.
pub fn query(number: u8) -> &'static str {
    QUERIES.iter().find(|(n, _)| *n == number).map(|(_, sql)| *sql).expect("it is one of the queries")
}

/// A table from rows as text. An empty field is NULL if its column may be NULL.
fn table(
    name: &str,
    owner: &str,
    columns: &[&str],
    key: &[usize],
    lines: &[Vec<String>],
) -> (Table, Vec<Row>) {
    let columns: Vec<_> =
        columns.iter().map(|text| schema::column(text).unwrap_or_else(|e| panic!("{text}: {e}"))).collect();
    let field = |(column, text): (&hushwire_tables::algebra::Column, &String)| {
        if text.is_empty() && column.nullable {
            return Value::Null;
        }
        cell::read(text, column.ty).unwrap_or_else(|e| panic!("{name}, {}: {text}: {e}", column.name))
    };
    let rows: Vec<Row> = lines.iter().map(|line| columns.iter().zip(line).map(field).collect()).collect();
    let table = Table {
        name: name.into(),
        schema: Schema(columns),
        parts: vec![TablePart { owner: owner.into(), rows: rows.len() as u64 }],
        padded: false,
        unique: if key.is_empty() { vec![] } else { vec![key.to_vec()] },
    };
    (table, rows)
}

/// A table's name, its owner, its columns, the places of its key and its rows.
type Declared<'a> = (&'a str, &'a str, Vec<String>, &'a [usize], &'a [Vec<String>]);

const STATES: [&str; 4] = ["TN", "OH", "TX", "GA"];
const DAYS: [&str; 7] = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];

/// All tables, with this many sales in stores. One owner has the sales, another the tables that
/// describe them.
pub fn world(sales: u64) -> World {
    let dice = &mut Dice(7);
    let of = |dice: &mut Dice, n: u64| dice.below(n as usize) as u64;
    let money = |cents: u64| format!("{}.{:02}", cents / 100, cents % 100);
    let (items, customers, stores) = (24u64, 40u64, 4u64);

    // One in three of the days of two years.
    let mut days = vec![];
    for day in (0..730u64).step_by(3) {
        let (year, rest) = (1999 + day / 365, day % 365);
        let (month, dom) = (1 + rest / 31, 1 + rest % 31);
        let dom = dom.min(if month == 2 { 28 } else { 30 });
        let key = 2_451_000 + day;
        let week = DAYS[day as usize % 7];
        let date = format!("{year}-{month:02}-{dom:02}");
        days.push(
            [
                key.to_string(),
                date,
                year.to_string(),
                month.to_string(),
                (1 + (month - 1) / 3).to_string(),
                week.into(),
            ]
            .to_vec(),
        );
    }
    let one_of_days = |dice: &mut Dice| days[of(dice, days.len() as u64) as usize][0].clone();
    let times: Vec<_> = (0..48u64)
        .map(|t| vec![t.to_string(), (t / 2).to_string(), (30 * (t % 2) + 5).to_string()])
        .collect();
    let item: Vec<_> = (1..=items)
        .map(|i| {
            let class = of(dice, 3);
            let category = ["Music", "Books", "Home"][of(dice, 3) as usize];
            vec![
                i.to_string(),
                format!("AAAA{:04}", i / 2),
                (1000 + i % 7).to_string(),
                format!("brand #{}", i % 7),
                format!("class {class}"),
                category.into(),
                (i % 5).to_string(),
                (i % 4).to_string(),
                money(100 + of(dice, 9000)),
            ]
        })
        .collect();
    let store: Vec<_> = (1..=stores)
        .map(|s| {
            vec![s.to_string(), format!("store {}", s % 3), STATES[s as usize % 4].into(), format!("3{s}001")]
        })
        .collect();
    let address: Vec<_> = (1..=20u64)
        .map(|a| vec![a.to_string(), STATES[a as usize % 4].into(), format!("3{}00{}", a % 4 + 1, a % 2 + 1)])
        .collect();
    let customer: Vec<_> = (1..=customers)
        .map(|c| {
            let name = ["Ada", "Ben", "Cleo", "Dan"][of(dice, 4) as usize];
            let current = if c % 9 == 0 { String::new() } else { (1 + of(dice, 20)).to_string() };
            vec![c.to_string(), name.into(), format!("Name{}", c % 11), current]
        })
        .collect();
    let person: Vec<_> = (1..=12u64)
        .map(|d| {
            let study = ["College", "Primary", "Unknown"][d as usize % 3];
            vec![
                d.to_string(),
                ["M", "F"][d as usize % 2].into(),
                ["S", "M", "W"][d as usize % 3].into(),
                study.into(),
            ]
        })
        .collect();
    let home: Vec<_> = (1..=10u64).map(|h| vec![h.to_string(), (h % 8).to_string()]).collect();
    let promotion: Vec<_> = (1..=6u64)
        .map(|p| {
            vec![p.to_string(), ["N", "Y"][p as usize % 2].into(), ["Y", "N", "N"][p as usize % 3].into()]
        })
        .collect();

    // Some keys of a sale are NULL.
    let some = |dice: &mut Dice, key: String| if of(dice, 25) == 0 { String::new() } else { key };
    let (mut sold, mut returned) = (vec![], vec![]);
    for n in 0..sales {
        let day = one_of_days(dice);
        let (item, quantity) = (1 + n % items, 1 + of(dice, 20));
        let (ticket, price) = (n / items, 100 + of(dice, 9000));
        let paid = price - of(dice, price / 3 + 1);
        let keys = [of(dice, customers), of(dice, 12), of(dice, 10), of(dice, stores), of(dice, 6)]
            .map(|k| (k + 1).to_string());
        let [customer, person, home, store, promotion] = keys.map(|key| some(dice, key));
        let time = of(dice, 48).to_string();
        sold.push(vec![
            some(dice, day),
            some(dice, time),
            item.to_string(),
            customer.clone(),
            person,
            home,
            store,
            promotion,
            ticket.to_string(),
            quantity.to_string(),
            money(price),
            money(paid),
            money(quantity * paid),
            money(of(dice, 500)),
        ]);
        if of(dice, 4) == 0 {
            let reason = (1 + of(dice, 3)).to_string();
            returned.push(vec![
                item.to_string(),
                ticket.to_string(),
                reason,
                (1 + of(dice, quantity)).to_string(),
            ]);
        }
    }
    let mut online = |share: u64| -> Vec<Vec<String>> {
        (0..sales / share)
            .map(|_| {
                let (day, customer) = (one_of_days(dice), 1 + of(dice, customers));
                vec![some(dice, day), some(dice, customer.to_string()), (1 + of(dice, items)).to_string()]
            })
            .collect()
    };
    let (web, catalog) = (online(2), online(2));

    let key = "INTEGER NOT NULL";
    let column = |name: &str, ty: &str| format!("{name} {ty}");
    let columns = |all: &[(&str, &str)]| all.iter().map(|(name, ty)| column(name, ty)).collect::<Vec<_>>();
    let (money, short) = ("DECIMAL(9, 2) NOT NULL", "VARCHAR(12) NOT NULL");
    let tables: [Declared<'_>; 12] = [
        (
            "date_dim",
            "hq",
            columns(&[
                ("d_date_sk", key),
                ("d_date", "DATE NOT NULL"),
                ("d_year", key),
                ("d_moy", key),
                ("d_qoy", key),
                ("d_day_name", short),
            ]),
            &[0],
            &days,
        ),
        ("time_dim", "hq", columns(&[("t_time_sk", key), ("t_hour", key), ("t_minute", key)]), &[0], &times),
        (
            "item",
            "hq",
            columns(&[
                ("i_item_sk", key),
                ("i_item_id", short),
                ("i_brand_id", key),
                ("i_brand", short),
                ("i_class", short),
                ("i_category", short),
                ("i_manufact_id", key),
                ("i_manager_id", key),
                ("i_current_price", money),
            ]),
            &[0],
            &item,
        ),
        (
            "store",
            "hq",
            columns(&[
                ("s_store_sk", key),
                ("s_store_name", short),
                ("s_state", "VARCHAR(2) NOT NULL"),
                ("s_zip", "VARCHAR(5) NOT NULL"),
            ]),
            &[0],
            &store,
        ),
        (
            "customer_address",
            "hq",
            columns(&[
                ("ca_address_sk", key),
                ("ca_state", "VARCHAR(2) NOT NULL"),
                ("ca_zip", "VARCHAR(5) NOT NULL"),
            ]),
            &[0],
            &address,
        ),
        (
            "customer",
            "hq",
            columns(&[
                ("c_customer_sk", key),
                ("c_first_name", short),
                ("c_last_name", short),
                ("c_current_addr_sk", "INTEGER"),
            ]),
            &[0],
            &customer,
        ),
        (
            "customer_demographics",
            "hq",
            columns(&[
                ("cd_demo_sk", key),
                ("cd_gender", "VARCHAR(1) NOT NULL"),
                ("cd_marital_status", "VARCHAR(1) NOT NULL"),
                ("cd_education_status", short),
            ]),
            &[0],
            &person,
        ),
        ("household_demographics", "hq", columns(&[("hd_demo_sk", key), ("hd_dep_count", key)]), &[0], &home),
        (
            "promotion",
            "hq",
            columns(&[
                ("p_promo_sk", key),
                ("p_channel_email", "VARCHAR(1) NOT NULL"),
                ("p_channel_event", "VARCHAR(1) NOT NULL"),
            ]),
            &[0],
            &promotion,
        ),
        (
            "store_sales",
            "shops",
            columns(&[
                ("ss_sold_date_sk", "INTEGER"),
                ("ss_sold_time_sk", "INTEGER"),
                ("ss_item_sk", key),
                ("ss_customer_sk", "INTEGER"),
                ("ss_cdemo_sk", "INTEGER"),
                ("ss_hdemo_sk", "INTEGER"),
                ("ss_store_sk", "INTEGER"),
                ("ss_promo_sk", "INTEGER"),
                ("ss_ticket_number", key),
                ("ss_quantity", key),
                ("ss_list_price", money),
                ("ss_sales_price", money),
                ("ss_ext_sales_price", money),
                ("ss_coupon_amt", money),
            ]),
            &[2, 8],
            &sold,
        ),
        (
            "store_returns",
            "shops",
            columns(&[
                ("sr_item_sk", key),
                ("sr_ticket_number", key),
                ("sr_reason_sk", key),
                ("sr_return_quantity", key),
            ]),
            &[0, 1],
            &returned,
        ),
        (
            "web_sales",
            "shops",
            columns(&[
                ("ws_sold_date_sk", "INTEGER"),
                ("ws_bill_customer_sk", "INTEGER"),
                ("ws_item_sk", key),
            ]),
            &[],
            &web,
        ),
    ];
    let mut all: Vec<(Table, Vec<Row>)> = tables
        .iter()
        .map(|(name, owner, columns, key, lines)| {
            table(name, owner, &columns.iter().map(String::as_str).collect::<Vec<_>>(), key, lines)
        })
        .collect();
    let names =
        columns(&[("cs_sold_date_sk", "INTEGER"), ("cs_bill_customer_sk", "INTEGER"), ("cs_item_sk", key)]);
    all.push(table(
        "catalog_sales",
        "shops",
        &names.iter().map(String::as_str).collect::<Vec<_>>(),
        &[],
        &catalog,
    ));
    World::new(all).unwrap_or_else(|e| panic!("{e}"))
}
