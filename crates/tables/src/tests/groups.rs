//! Groups, sets and distinct rows.

use super::*;

fn figures() -> Vec<Aggregate> {
    let of = |name: &str, f, at| Aggregate::new(name, f, column(at));
    vec![
        Aggregate::count_rows("rows"),
        of("count", &COUNT, 0),
        of("sum", &SUM, 0),
        of("prices", &SUM, 4),
        of("mean", &AVG, 4),
        of("smalls", &AVG, 1),
        of("nears", &AVG, 7),
        of("least", &MIN, 4),
        of("most", &MAX, 2),
        of("first", &MIN, 6),
        of("last", &MAX, 6),
        of("any", &MAX, 3),
        of("all", &MIN, 3),
        of("spread", &VAR_POP, 4),
        of("sample", &VAR_SAMP, 1),
        of("spread near", &VAR_POP, 7),
        of("different", &COUNT, 2).distinct(),
        of("different sum", &SUM, 0).distinct(),
        of("different mean", &AVG, 1).distinct(),
        of("day", &MAX, 5),
    ]
}

#[test]
fn groups_have_figures() {
    sizes(3, |dice, rows| {
        let mut data = Data::default();
        let table = data.table(dice, "t", columns(), rows);
        let keys = [vec![], vec![0], vec![3], vec![2, 1], vec![6], vec![9, 5]];
        for keys in keys {
            let grouped = table.aggregate(named(keys.into_iter().map(column)), figures(), 0, None).unwrap();
            check(&grouped, &data).unwrap();
        }
    });
}

#[test]
fn few_public_keys_need_no_sort() {
    sizes(4, |dice, rows| {
        let mut data = Data::default();
        let table = data.table(dice, "t", columns(), rows);
        let sums: Vec<Aggregate> = figures()
            .into_iter()
            .filter(|a| {
                let sums = [&COUNT, &SUM, &AVG];
                sums.contains(&a.figure) && !a.distinct
            })
            .collect();
        let grouped = table.aggregate(named([column(1), column(3)]), sums, 2, None).unwrap();
        check(&grouped, &data).unwrap();
        let query = Query::new("q", &grouped, &["a"]).unwrap();
        assert_eq!(query.sorts(), 0);
    });
}

/// A table has the largest number of rows that a count of eight bits holds: no group exceeds it.
#[test]
fn no_group_is_of_more_rows_than_there_are() {
    let mut whole = 0;
    for seed in 1..6 {
        let mut data = Data::default();
        let table = data.table(&mut Dice(seed), "t", columns(), 127);
        for (keys, least) in [(vec![], 127), (vec![], 128), (vec![], 1000), (vec![3], 128), (vec![0], 1000)] {
            let keys = named(keys.into_iter().map(column));
            let grouped = table.aggregate(keys, figures()[..3].to_vec(), least, None).unwrap();
            let shown = check(&grouped, &data).unwrap().len();
            assert!(shown == 0 || least < 128, "groups of {least} rows or more");
            whole += shown;
        }
    }
    assert!(whole > 0, "no table was full");
}

#[test]
fn small_groups_are_left_out() {
    sizes(4, |dice, rows| {
        let mut data = Data::default();
        let table = data.table(dice, "t", columns(), rows);
        for (keys, least) in [(vec![0], 2), (vec![], 3), (vec![2], 300), (vec![6], 1)] {
            let keys = named(keys.into_iter().map(column));
            let grouped = table.aggregate(keys, figures()[..3].to_vec(), least, None).unwrap();
            for row in check(&grouped, &data).unwrap() {
                let count = row.iter().find_map(|v| match v {
                    Value::Number(n) => Some(*n),
                    _ => None,
                });
                assert!(count.is_some());
            }
        }
    });
}

#[test]
fn a_bound_on_groups_holds_or_ends_the_run() {
    let mut broken = 0;
    sizes(6, |dice, rows| {
        let mut data = Data::default();
        let table = data.table(dice, "t", columns(), rows);
        let grouped = table.aggregate(named([column(0)]), figures()[..3].to_vec(), 0, Some(4)).unwrap();
        broken += u32::from(check(&grouped, &data).is_err());
    });
    assert!(broken > 0);
}

#[test]
fn rows_are_different() {
    sizes(4, |dice, rows| {
        let mut data = Data::default();
        let table = data.table(dice, "t", columns(), rows);
        for at in [vec![0], vec![2, 3], vec![1], vec![6, 9]] {
            check(&table.select(&at).unwrap().distinct().unwrap(), &data).unwrap();
        }
    });
}

#[test]
fn sets_and_bags() {
    sizes(4, |dice, rows| {
        let mut data = Data::default();
        let left = data.table(dice, "l", columns(), rows);
        let right = data.table(dice, "r", columns(), 13 - rows);
        for (a, b) in [([0, 2], [1, 6]), ([4, 3], [0, 3]), ([1, 9], [1, 9])] {
            let (left, right) = (left.select(&a).unwrap(), right.select(&b).unwrap());
            for operation in [SetOperation::Union, SetOperation::Intersect, SetOperation::Except] {
                for all in [false, true] {
                    check(&left.set(operation, all, &right).unwrap(), &data).unwrap();
                }
            }
        }
    });
}
