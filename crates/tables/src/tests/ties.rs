//! Limits, row numbers and neighbours if an order leaves rows equal: they never depend on an order
//! of keys that the query does not name.

use super::orders::{key, keyed, rows_of};
use super::*;
use hushwire_fault::code;

/// Four keys, the first of which comes twice. The sums are 15, 40, 15 and 25, so an order by sums
/// leaves two rows equal; one of them has count 2 and the other count 1.
const AMOUNTS: [i128; 5] = [10, 40, 15, 25, 5];

type Way = Box<dyn Fn(&Relation) -> Relation>;

/// Keys with their sums and counts.
fn sums(of: &Relation) -> Relation {
    let figures = vec![Aggregate::new("sum", &SUM, column(1)), Aggregate::count_rows("n")];
    of.aggregate(named([column(0)]), figures, 0, None).unwrap()
}

fn numbered(of: &Relation, partition: Vec<Expr>, order: Vec<SortKey>, function: WindowFunction) -> Relation {
    let functions = vec![("figure".to_owned(), function)];
    of.window(Window { partition, order, functions }).unwrap()
}

fn total(of: &Relation, at: usize) -> Relation {
    of.aggregate(vec![], vec![Aggregate::new("total", &SUM, column(at))], 0, None).unwrap()
}

fn ordered(of: &Relation, by: &[usize]) -> Relation {
    of.order_by(by.iter().map(|at| key(*at, false, false)).collect()).unwrap()
}

fn limited(of: &Relation, rows: u64) -> Relation {
    of.limit(0, Some(rows)).unwrap()
}

/// Sums with a window function of their neighbours in no order.
fn neighbours(of: &Relation, function: WindowFunction) -> Relation {
    ordered(&numbered(&sums(of), vec![], vec![], function).select(&[1, 3]).unwrap(), &[0, 1])
}

/// Keys in one order, and the same keys in the other order: two inputs that differ in nothing else.
fn kinds() -> Vec<(ColumnType, [Vec<Value>; 2])> {
    let both = |keys: [Value; 4]| {
        let [a, b, c, d] = keys;
        [[&a, &b, &c, &d, &a], [&d, &c, &b, &a, &d]].map(|keys| keys.into_iter().cloned().collect())
    };
    vec![
        (ColumnType::Varchar(8), both(["ann", "bob", "cyd", "dan"].map(Value::text))),
        (ColumnType::Varchar(20), both(["ann", "bob", "cyd", "dan"].map(Value::text))),
        (ColumnType::Digest { bits: 64 }, both([5, 6, 7, 8].map(Value::Number))),
        (ColumnType::Digest { bits: 128 }, both([5, 6, 7, -8].map(Value::Number))),
        (ColumnType::BigInt, both([1, 2, 3, 4].map(Value::Number))),
    ]
}

/// Each of these ways would reveal how hidden keys compare: two inputs that differ only in that
/// have different results. So such queries are refused.
#[test]
fn an_order_of_hidden_keys_chooses_and_numbers_no_rows() {
    let first = |t: &Relation| {
        let numbers = numbered(&sums(t), vec![], vec![key(1, false, false)], WindowFunction::RowNumber);
        numbers.filter(greater(int(2), column(3))).unwrap()
    };
    let ways: Vec<(&str, Way)> = vec![
        ("a limit", Box::new(|t| total(&limited(&sums(t), 2), 1))),
        ("an offset", Box::new(|t| total(&sums(t).limit(1, None).unwrap(), 1))),
        ("a limit among equals", Box::new(|t| total(&limited(&ordered(&sums(t), &[1]), 1), 2))),
        ("a limit below an order", Box::new(|t| ordered(&limited(&sums(t), 2).select(&[1]).unwrap(), &[0]))),
        (
            "a limit below a join",
            Box::new(|t| {
                let (two, on) = (limited(&sums(t), 2), vec![(column(0), column(0))]);
                total(&t.join(&two, JoinKind::Semi, on, None, None).unwrap(), 1)
            }),
        ),
        ("numbers among equals", Box::new(move |t| total(&first(t), 2))),
        ("neighbours before", Box::new(|t| neighbours(t, WindowFunction::Lag(column(1), 1)))),
        ("neighbours behind", Box::new(|t| neighbours(t, WindowFunction::Lead(column(1), 2)))),
        (
            "the greatest up to a row",
            Box::new(|t| {
                let (of, greatest) = (column(1), true);
                neighbours(t, WindowFunction::Extreme { of, greatest, frame: Frame::Rows })
            }),
        ),
        ("sums up to a row", Box::new(|t| neighbours(t, WindowFunction::RunningSum(column(1), Frame::Rows)))),
    ];
    for (ty, keys) in kinds() {
        for (name, way) in &ways {
            let shown = keys.each_ref().map(|keys| {
                let (table, rows) = keyed(keys, ty, &AMOUNTS);
                // The rows as operators would leave them.
                rows_of(&Query::in_place("q", &way(&table), &["analyst"], false).unwrap(), &rows)
            });
            assert_ne!(shown[0], shown[1], "{name} by {ty} tells nothing");
            let (table, _) = keyed(&keys[0], ty, &AMOUNTS);
            let Err(refused) = Query::new("q", &way(&table), &["analyst"]) else {
                panic!("{name} by {ty} is a query")
            };
            assert_eq!(refused.code(), code::ORDER_UNFAIR, "{refused}");
        }
    }
}

/// RowId numbers, which no order checks, bring rows together, but order no rows. So nobody learns
/// from them which hidden key comes first.
#[test]
fn numbers_without_an_order_put_no_rows_in_order() {
    let identified = |t: &Relation| numbered(&sums(t), vec![], vec![], WindowFunction::RowId);
    let (ty, keys) = &kinds()[0];
    let (table, rows) = keyed(&keys[0], *ty, &AMOUNTS);
    let order = vec![key(3, false, false)];
    for function in [
        WindowFunction::Lag(column(1), 1),
        WindowFunction::RunningSum(column(1), Frame::Rows),
        WindowFunction::Held { of: column(1), first: true, nulls: true, frame: Frame::Rows },
    ] {
        let made = numbered(&identified(&table), vec![], order.clone(), function.clone());
        let Err(refused) = Query::new("q", &total(&made, 4), &["analyst"]) else {
            panic!("{function:?} is a query")
        };
        assert_eq!(refused.code(), code::ORDER_UNFAIR, "{refused}");
    }
    // Each row has its own number: sums over partitions by it are those of single rows.
    let whole = WindowFunction::RunningSum(column(1), Frame::Peers);
    let made = numbered(&identified(&table), vec![column(3)], vec![], whole);
    let made = ordered(&made.select(&[1, 4]).unwrap(), &[0, 1]);
    let query = Query::new("q", &made, &["analyst"]).unwrap();
    let found = rows_of(&query, &rows);
    assert_eq!(found.len(), 4);
    assert!(found.iter().all(|row| row[0] == row[1]), "{found:?}");
}

/// Allowed orders: those that determine the first row as far as it matters, that of tables' rows,
/// and that of shown columns.
#[test]
fn limits_and_numbers_that_go_by_no_hidden_order_are_queries() {
    let ways: Vec<(&str, Way)> = vec![
        ("all that is used", Box::new(|t| total(&limited(&ordered(&sums(t), &[1, 2]), 1), 2))),
        ("rows of the table", Box::new(|t| total(&limited(t, 2), 1))),
        ("rows of the table in an order", Box::new(|t| total(&limited(&ordered(t, &[1]), 2), 1))),
        (
            "rows of the table beside a unique partner",
            Box::new(|t| {
                let on = vec![(column(0), column(0))];
                let joined = t.join(&sums(t), JoinKind::Inner, on, None, None).unwrap();
                limited(&joined.select(&[3, 4]).unwrap(), 2).distinct().unwrap()
            }),
        ),
        (
            "rows of the table within a key",
            Box::new(|t| {
                let numbers = numbered(t, vec![column(0)], vec![], WindowFunction::RowNumber);
                total(&numbers.filter(greater(int(2), column(2))).unwrap(), 1)
            }),
        ),
        (
            "ranks",
            Box::new(|t| {
                let ranks = numbered(&sums(t), vec![], vec![key(1, false, false)], WindowFunction::Rank);
                ranks.select(&[1, 3]).unwrap()
            }),
        ),
        (
            "dense ranks",
            Box::new(|t| {
                let ranks = numbered(&sums(t), vec![], vec![key(1, false, false)], WindowFunction::DenseRank);
                ranks.select(&[1, 3]).unwrap()
            }),
        ),
        (
            "sums up to equals",
            Box::new(|t| {
                let sum = WindowFunction::RunningSum(column(2), Frame::Peers);
                numbered(&sums(t), vec![], vec![key(1, false, false)], sum).select(&[1, 3]).unwrap()
            }),
        ),
        (
            "no column",
            Box::new(|t| {
                limited(&sums(t), 2).aggregate(vec![], vec![Aggregate::count_rows("n")], 0, None).unwrap()
            }),
        ),
        ("a limit at the top", Box::new(|t| limited(&sums(t), 2).select(&[1]).unwrap())),
        (
            "a limit below an expression",
            Box::new(|t| {
                let twice = column(1).arithmetic(Arithmetic::Multiply, int(2));
                limited(&sums(t), 2).project(named([twice])).unwrap()
            }),
        ),
        (
            "a limit below a condition",
            Box::new(|t| {
                let one = limited(&sums(t), 1).filter(greater(column(2), int(1))).unwrap();
                one.select(&[1]).unwrap()
            }),
        ),
    ];
    for (ty, keys) in kinds() {
        for (name, way) in &ways {
            let shown = keys.each_ref().map(|keys| {
                let (table, rows) = keyed(keys, ty, &AMOUNTS);
                let query = Query::new("q", &way(&table), &["analyst"]);
                rows_of(&query.unwrap_or_else(|e| panic!("{name} by {ty}: {e}")), &rows)
            });
            assert_eq!(shown[0], shown[1], "{name} by {ty}");
        }
        // A recipient that sees the keys may see which ones are the least.
        let (table, rows) = keyed(&keys[0], ty, &AMOUNTS);
        let query = Query::new("q", &ordered(&limited(&sums(&table), 2), &[1]), &["analyst"]).unwrap();
        assert_eq!(rows_of(&query, &rows).len(), 2);
    }
}

/// Keys of a full join, taken from the side that is present, distinguish its rows if both sides
/// have each key once and none is NULL. Running sums in their order then depend on no hidden order.
#[test]
fn keys_of_a_full_join_put_its_rows_in_order() {
    let (ty, keys) = &kinds()[4];
    let running = |nullable: bool, second: usize, of: &dyn Fn(Expr, Expr) -> Expr| {
        let (table, rows) = keyed(&keys[0], *ty, &AMOUNTS);
        let absent = Expr::literal(Value::Null, *ty);
        let even = Expr::Case { branches: vec![(greater(column(0), int(1)), column(0))], otherwise: None };
        let known = coalesce(vec![absent, column(0)]);
        let own = if nullable { even } else { known };
        let keyed = table.project(named([own, column(1)])).unwrap();
        let on = vec![(column(0), column(second))];
        let joined = sums(&keyed).join(&sums(&keyed), JoinKind::Full, on, None, Some(25)).unwrap();
        let made = joined.project(named([of(column(0), column(3)), column(1)])).unwrap();
        let sum = WindowFunction::RunningSum(column(1), Frame::Rows);
        let made = numbered(&made, vec![], vec![key(0, false, false)], sum).select(&[2]).unwrap();
        let query = Query::new("q", &ordered(&made, &[0]), &["analyst"]);
        query.map(|query| rows_of(&query, &rows))
    };
    let either = |a: Expr, b: Expr| coalesce(vec![a, b]);
    let chosen = |a: Expr, b: Expr| Expr::Case {
        branches: vec![(a.clone().is_null().not(), a)],
        otherwise: Some(Box::new(b)),
    };
    let absent = |a: Expr, b: Expr| Expr::Case {
        branches: vec![(a.clone().is_null(), b)],
        otherwise: Some(Box::new(a)),
    };
    // In the order of keys 1 to 4, the sums are 15, 40, 15 and 25.
    let found: Vec<Row> = [15, 55, 70, 95].map(|sum| vec![Value::Number(sum)]).to_vec();
    for of in [&either as &dyn Fn(Expr, Expr) -> Expr, &chosen, &absent] {
        assert_eq!(running(false, 0, of).unwrap(), found);
        // Two rows may have NULL, one from each side.
        let refused = running(true, 0, of).unwrap_err();
        assert_eq!(refused.code(), code::ORDER_UNFAIR, "{refused}");
    }
    // The first side's key is NULL if that side is missing, and one sum comes twice.
    for of in [&(|a: Expr, _: Expr| a) as &dyn Fn(Expr, Expr) -> Expr, &|a: Expr, b: Expr| absent(b, a)] {
        let refused = running(false, 1, of).unwrap_err();
        assert_eq!(refused.code(), code::ORDER_UNFAIR, "{refused}");
    }
}

/// A function that has another value for each key orders rows as well as the key does; another one
/// leaves rows equal.
#[test]
fn functions_of_a_key_order_rows_if_they_tell_keys_apart() {
    let (ty, keys) = &kinds()[4];
    let (table, rows) = keyed(&keys[0], *ty, &AMOUNTS);
    let first = |by: Expr| {
        let order = vec![SortKey { expr: by, descending: false, nulls_first: false }];
        let of = WindowFunction::Held { of: column(1), first: true, nulls: true, frame: Frame::Rows };
        let made = numbered(&sums(&table), vec![], order, of).select(&[3]).unwrap();
        Query::new("q", &made, &["analyst"]).map(|query| rows_of(&query, &rows))
    };
    let by = |sign: Arithmetic, n: i128| column(0).arithmetic(sign, int(n));
    let cast = |to: ColumnType| Expr::Cast(Box::new(column(0)), to);
    // Key 1 has the sum 15, and key 4 the sum 25.
    for (by, sum) in [
        (column(0), 15),
        (Expr::Negate(Box::new(column(0))), 25),
        (by(Arithmetic::Add, 7), 15),
        (int(7).arithmetic(Arithmetic::Subtract, column(0)), 25),
        (by(Arithmetic::Multiply, -2), 25),
        (Expr::Negate(Box::new(by(Arithmetic::Multiply, 2))), 25),
        (cast(ColumnType::Decimal { precision: 20, scale: 1 }), 15),
    ] {
        let found = first(by.clone()).unwrap_or_else(|e| panic!("{by:?}: {e}"));
        assert_eq!(found, vec![vec![Value::Number(sum)]; 4], "{by:?}");
    }
    for by in [
        by(Arithmetic::Multiply, 0),
        by(Arithmetic::DivideWhole, 2),
        by(Arithmetic::Remainder, 3),
        column(0).arithmetic(Arithmetic::Multiply, column(0)),
        column(0).arithmetic(Arithmetic::Add, column(1)),
        cast(ColumnType::SmallInt),
        cast(ColumnType::Decimal { precision: 19, scale: 1 }),
    ] {
        let refused = first(by.clone()).err();
        assert_eq!(refused.map(|fault| fault.code()), Some(code::ORDER_UNFAIR), "{by:?}");
    }
}

/// Keys that an ORDER BY names are asked for, and a window may name them too.
#[test]
fn named_keys_choose_rows() {
    for (ty, keys) in kinds().into_iter().filter(|(ty, _)| ty.is_ordered()) {
        let shown = keys.each_ref().map(|keys| {
            let (table, rows) = keyed(keys, ty, &AMOUNTS);
            let first = limited(&ordered(&sums(&table), &[0]), 1);
            let numbers = vec![key(1, false, false), key(0, false, false)];
            let numbers = numbered(&sums(&table), vec![], numbers, WindowFunction::RowNumber);
            let least = numbers.filter(greater(int(2), column(3))).unwrap();
            [total(&first, 1), total(&least, 2)].map(|relation| {
                rows_of(&Query::new("q", &relation, &["analyst"]).unwrap(), &rows)[0][0].clone()
            })
        });
        let numbers = |all: [i128; 2]| all.map(Value::Number);
        assert_eq!(shown, [numbers([15, 2]), numbers([25, 1])], "{ty}");
    }
}
