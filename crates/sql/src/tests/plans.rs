use super::plan;
use hushwire_tables::algebra::{Expr, Operator, Relation};

/// The operators from the top down, left before right.
fn shape(relation: &Relation) -> String {
    let of = |r: &Relation| shape(r);
    match relation.operator() {
        Operator::Scan(table) => {
            let names: Vec<&str> = table.schema.columns().iter().map(|c| c.name.as_str()).collect();
            format!("{}({})", table.name, names.join(" "))
        }
        Operator::Values(rows) => format!("values {}", rows.len()),
        Operator::Project(input, _) => of(input),
        Operator::Filter(input, condition) => {
            format!("filter[{}] {}", condition.shown(input.schema()), of(input))
        }
        Operator::Join { left, right, kind, on, residual, .. } => {
            let rest = if residual.is_some() { "+" } else { "" };
            format!("{kind:?}{}{rest}({}, {})", on.len(), of(left), of(right))
        }
        Operator::Cross(left, right) => format!("cross({}, {})", of(left), of(right)),
        Operator::Aggregate { input, keys, aggregates, .. } => {
            format!("group[{}, {}] {}", keys.len(), aggregates.len(), of(input))
        }
        Operator::Distinct(input) => format!("distinct {}", of(input)),
        Operator::OrderBy(input, keys) => format!("sort[{}] {}", keys.len(), of(input)),
        Operator::Limit { input, .. } => format!("limit {}", of(input)),
        Operator::Set { operation, left, right, .. } => format!("{operation:?}({}, {})", of(left), of(right)),
        Operator::Window(input, window) => format!("window[{}] {}", window.functions.len(), of(input)),
        other => format!("{other:?}"),
    }
}

fn check(sql: &str, expected: &str) {
    let made = plan(sql).unwrap_or_else(|e| panic!("{sql}\n{e}"));
    assert_eq!(shape(&made), expected, "{sql}");
}

#[test]
fn conditions_move_to_their_tables_and_unread_columns_go() {
    check(
        "SELECT city FROM shop, sale, goods WHERE shop.id = shop AND goods.id = goods AND name LIKE 'a%' AND city <> 'x'",
        "Inner1(Inner1(filter[city <> 'x'] shop(id city), sale(shop goods)), filter[name LIKE 'a%'] goods(id name))",
    );
    check("SELECT COUNT(*) FROM goods", "group[0, 1] goods(id)");
}

#[test]
fn small_sides_are_joined_first() {
    // Shops are joined with sales before goods are, since there are fewer shops. Many-to-many pairs
    // come last.
    let made = plan("SELECT 1 FROM goods, sale, shop WHERE goods.id = goods AND shop.id = shop");
    assert_eq!(made.map(|plan| plan.rows()), Ok(500));
}

#[test]
fn subqueries_are_joins() {
    check(
        "SELECT id FROM shop WHERE EXISTS (SELECT * FROM sale WHERE shop = id)",
        "Semi1(shop(id), sale(shop))",
    );
    check(
        "SELECT id FROM shop WHERE id NOT IN (SELECT shop FROM sale WHERE pieces > 3)",
        "Anti1(shop(id), filter[pieces > 3] sale(shop pieces))",
    );
    check(
        "SELECT id FROM shop WHERE 3 < (SELECT SUM(pieces) FROM sale WHERE shop = id)",
        "filter[3 < SUM] Left1(shop(id), group[1, 1] sale(shop pieces))",
    );
    check(
        "SELECT id FROM shop WHERE NOT EXISTS (SELECT * FROM sale WHERE shop = id AND goods <> id)",
        "Anti1+(shop(id), sale(shop goods))",
    );
}

#[test]
fn keys_that_follow_from_others_are_not_sorted_by() {
    check(
        "SELECT shop.id, city, SUM(pieces) FROM shop, sale WHERE shop.id = shop GROUP BY shop.id, city",
        "group[1, 2] Inner1(shop(id city), sale(shop pieces))",
    );
    check("SELECT DISTINCT id, city FROM shop", "shop(id city)");
    check("SELECT DISTINCT city FROM shop", "group[1, 0] shop(city)");
    // A constant key stays: without keys there would be a row even over no rows.
    check(
        "SELECT city FROM shop WHERE city = 'x' GROUP BY city",
        "group[1, 0] filter[city = 'x'] shop(city)",
    );
}

#[test]
fn what_alternatives_have_in_common_is_a_join() {
    check(
        "SELECT city FROM shop, sale WHERE (id = shop AND goods = 1) OR (id = shop AND goods = 2)",
        "Inner1(shop(id city), filter[(goods = 1 OR goods = 2)] sale(shop goods))",
    );
}

#[test]
fn a_common_table_is_computed_once() {
    let made = plan(
        "WITH t AS (SELECT shop, SUM(pieces) AS n FROM sale GROUP BY shop) SELECT a.n + b.n AS n FROM t a, t b WHERE a.shop = b.shop",
    );
    let made = made.unwrap_or_else(|e| panic!("{e}"));
    let mut join = &made;
    while let Operator::Project(input, _) = join.operator() {
        join = input;
    }
    let Operator::Join { left, right, on, .. } = join.operator() else { panic!("{}", shape(&made)) };
    assert!(left.is(right), "{}", shape(&made));
    assert_eq!(on[0], (Expr::Column(0), Expr::Column(0)));
}
