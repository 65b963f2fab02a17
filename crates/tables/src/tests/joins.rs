//! Joins of all kinds: with unique keys, with many rows per key, and with further comparisons.

use super::*;

const KINDS: [JoinKind; 6] =
    [JoinKind::Inner, JoinKind::Left, JoinKind::Right, JoinKind::Full, JoinKind::Semi, JoinKind::Anti];

fn sides(dice: &mut Dice, rows: u64, unique: [bool; 2]) -> (Data, Relation, Relation) {
    let mut data = Data::default();
    let columns = |k: usize| {
        let key = Column::new("key", ColumnType::Integer);
        let key = if unique[k] { key } else { key.nullable() };
        let range = if k == 0 { key } else { Column { ty: ColumnType::BigInt, ..key }.within(0, 64) };
        [vec![range], columns()[1..5].to_vec()].concat()
    };
    let set = |k: usize| if unique[k] { vec![vec![0]] } else { vec![] };
    let left = data.unique_table(dice, "l", columns(0), rows, set(0));
    let right = data.unique_table(dice, "r", columns(1), 14 - rows, set(1));
    (data, left, right)
}

fn residuals(columns: usize) -> [Option<Expr>; 3] {
    let small = column(columns + 1);
    let sum = column(1).arithmetic(Arithmetic::Add, small.clone());
    [None, Some(greater(column(1), small)), Some(greater(sum, int(0)).or(column(3)))]
}

#[test]
fn unique_keys() {
    let mut tagged = 0;
    sizes(3, |dice, rows| {
        for unique in [[false, true], [true, false], [true, true]] {
            let (data, left, right) = sides(dice, rows, unique);
            let right = right.filter(greater(column(0), int(2))).unwrap();
            for kind in KINDS {
                for residual in residuals(5) {
                    let on = vec![(column(0), column(0))];
                    let joined = left.join(&right, kind, on, residual, None).unwrap();
                    let rows = check(&joined, &data).unwrap();
                    // By tags, which the evaluator replaces by a sort. Missing rows have keys of
                    // their own.
                    let query = Query::by_tags("query", &joined, &["analyst"]).unwrap();
                    let outputs = evaluate(query.computation(), &data.inputs(&query)).unwrap();
                    let mut by_tags = query.rows(&outputs).unwrap();
                    by_tags.sort();
                    assert_eq!(by_tags, rows, "{}", query.explain(None));
                    tagged += usize::from(query.shows_tags());
                }
            }
        }
    });
    assert!(tagged > 100, "{tagged} joins went by tags");
}

#[test]
fn many_to_many() {
    let mut broken = 0;
    sizes(2, |dice, rows| {
        let (data, left, right) = sides(dice, rows, [false, false]);
        for kind in KINDS {
            for residual in residuals(5) {
                for bound in [60, 3] {
                    let on = vec![(column(3), column(3))];
                    let joined = left.join(&right, kind, on, residual.clone(), Some(bound)).unwrap();
                    broken += u32::from(check(&joined, &data).is_err());
                }
            }
        }
    });
    assert!(broken > 0);
}

#[test]
fn partners_of_any_number() {
    sizes(3, |dice, rows| {
        let (data, left, right) = sides(dice, rows, [false, false]);
        for kind in [JoinKind::Semi, JoinKind::Anti] {
            let joined =
                |on, residual| check(&left.join(&right, kind, on, residual, None).unwrap(), &data).unwrap();
            joined(vec![(column(0), column(0))], None);
            joined(vec![(column(2), column(2)), (column(3), column(3))], None);
            for c in Comparison::ALL.into_iter().filter(|c| *c != Comparison::Equal) {
                for (a, b) in [(1, 6), (4, 9), (2, 7), (9, 4)] {
                    joined(vec![(column(3), column(3))], Some(column(a).compare(c, column(b))));
                }
            }
        }
    });
}

#[test]
fn several_keys_of_different_types() {
    sizes(2, |dice, rows| {
        let mut data = Data::default();
        let left = data.table(dice, "l", columns(), rows);
        let right = data.table(dice, "r", columns(), 14 - rows);
        let right = right
            .aggregate(named([column(0), column(6)]), vec![Aggregate::count_rows("n")], 0, None)
            .unwrap();
        for kind in KINDS {
            let on = vec![(column(4), column(0)), (column(2), column(1))];
            check(&left.join(&right, kind, on.clone(), None, Some(20)).unwrap(), &data).unwrap();
            let on = vec![(column(1).arithmetic(Arithmetic::Add, int(1)), column(0)), (column(6), column(1))];
            check(&left.join(&right, kind, on, None, None).unwrap(), &data).unwrap();
        }
    });
}

#[test]
fn all_pairs() {
    sizes(2, |dice, rows| {
        let mut data = Data::default();
        let left = data.table(dice, "l", columns()[..4].to_vec(), rows);
        let right = data.table(dice, "r", columns()[2..6].to_vec(), 13 - rows);
        check(&left.cross(&right).unwrap(), &data).unwrap();
        // A scalar subquery: one row for all rows.
        let one = right.aggregate(vec![], vec![Aggregate::new("m", &MAX, column(2))], 0, None).unwrap();
        let more = left.cross(&one).unwrap().filter(greater(column(4), column(0))).unwrap();
        check(&more, &data).unwrap();
    });
}

#[test]
fn a_broken_promise_ends_the_run() {
    let mut data = Data::default();
    let mut dice = Dice(5);
    let key = vec![Column::new("key", ColumnType::Integer), Column::new("x", ColumnType::Integer)];
    let left = data.table(&mut dice, "l", key.clone(), 9);
    let right = data.unique_table(&mut dice, "r", key, 6, vec![vec![0]]);
    let joined = left.join(&right, JoinKind::Inner, vec![(column(0), column(0))], None, None).unwrap();
    check(&joined, &data).unwrap();
    let rows =
        data.parts.get_mut("r").unwrap().iter_mut().find(|rows| rows.len() > 1).expect("a part of two");
    rows[1][0] = rows[0][0].clone();
    let promise = promise_of(&check(&joined, &data).expect_err("two rows of a key"));
    assert_eq!(promise, "that key of table r is unique");
    // Only the bit is shown.
    let query = Query::new("q", &joined, &["a"]).unwrap();
    let outputs = evaluate(query.computation(), &data.inputs(&query)).unwrap();
    assert!(outputs.values().all(|t| (0..t.len()).all(|i| !t.truth(i))), "{outputs:?}");
}
