//! Orders, limits, windows, and sorts that operators share.

use super::*;

pub(super) fn key(at: usize, descending: bool, nulls_first: bool) -> SortKey {
    SortKey { expr: column(at), descending, nulls_first }
}

/// Keys by which no two different rows are equal.
fn total(dice: &mut Dice, columns: &[usize]) -> Vec<SortKey> {
    columns.iter().map(|at| key(*at, pick(dice, 2) == 0, pick(dice, 2) == 0)).collect()
}

#[test]
fn orders_and_limits() {
    sizes(8, |dice, rows| {
        let mut data = Data::default();
        let table = data.table(dice, "t", columns(), rows).select(&[0, 2, 3, 4, 6]).unwrap();
        let mut by = vec![0, 1, 2, 3, 4];
        by.rotate_left(pick(dice, 5) as usize);
        let ordered = table.order_by(total(dice, &by)).unwrap();
        check(&ordered, &data).unwrap();
        for (skip, fetch) in [(0, Some(3)), (2, Some(4)), (1, None), (0, Some(0)), (20, Some(1))] {
            check(&ordered.limit(skip, fetch).unwrap(), &data).unwrap();
        }
        let kept = ordered.filter(greater(column(0), int(-1))).unwrap().limit(1, Some(2)).unwrap();
        check(&kept, &data).unwrap();
    });
}

fn extreme(of: usize, greatest: bool, frame: Frame) -> WindowFunction {
    WindowFunction::Extreme { of: column(of), greatest, frame }
}

#[test]
fn windows() {
    sizes(4, |dice, rows| {
        let mut data = Data::default();
        let table = data.table(dice, "t", columns(), rows).select(&[0, 1, 2, 3, 4]).unwrap();
        let table = match pick(dice, 3) {
            0 => table,
            1 => table.distinct().unwrap(),
            // Invalid rows have the same partitions and order values as others.
            _ => table.filter(greater(column(4), int(0))).unwrap(),
        };
        let functions = |total: bool| {
            let more = |(name, function): (&str, WindowFunction)| (name.to_owned(), function);
            let mut all = vec![
                ("rank", WindowFunction::Rank),
                ("dense", WindowFunction::DenseRank),
                ("least", extreme(1, false, Frame::Peers)),
                ("flagged", extreme(3, true, Frame::Peers)),
                ("last", extreme(0, true, Frame::Peers)),
                ("sum", WindowFunction::RunningSum(column(4), Frame::Peers)),
                ("keys", WindowFunction::RunningSum(column(0), Frame::Peers)),
            ];
            if total {
                all.extend([
                    ("n", WindowFunction::RowNumber),
                    ("first", extreme(2, false, Frame::Rows)),
                    ("most", extreme(4, true, Frame::Rows)),
                    ("rows", WindowFunction::RunningSum(column(1), Frame::Rows)),
                    ("price", WindowFunction::RunningSum(column(4), Frame::Rows)),
                    ("before", WindowFunction::Lag(column(2), 1)),
                    ("flag", WindowFunction::Lag(column(3), 2)),
                    ("after", WindowFunction::Lead(column(0), 1)),
                    ("far", WindowFunction::Lead(column(3), 100)),
                    ("same", WindowFunction::Lead(column(4), 0)),
                ]);
            }
            all.into_iter().map(more).collect::<Vec<_>>()
        };
        for partition in [vec![], vec![column(0)], vec![column(3), column(1)]] {
            for by in [vec![0, 1, 2, 3, 4], vec![1], vec![2, 0]] {
                let window = Window {
                    partition: partition.clone(),
                    order: total(dice, &by),
                    functions: functions(by.len() == 5),
                };
                check(&table.window(window).unwrap(), &data).unwrap();
            }
        }
    });
}

fn sales(dice: &mut Dice, data: &mut Data, rows: u64) -> (Relation, Relation) {
    let id = |name: &str| Column::new(name, ColumnType::Integer);
    let lines = vec![id("order"), id("amount"), id("part")];
    let orders = vec![id("order"), id("day"), id("clerk")];
    let lines = data.table(dice, "lines", lines, rows);
    (lines, data.unique_table(dice, "orders", orders, 9, vec![vec![0]]))
}

/// A join, groups and an order by one key need one sort.
#[test]
fn one_sort_serves_join_groups_and_order() {
    sizes(3, |dice, rows| {
        let mut data = Data::default();
        let (lines, orders) = sales(dice, &mut data, rows + 2);
        let orders = orders.filter(greater(column(1), int(-2))).unwrap();
        let joined = lines.join(&orders, JoinKind::Inner, vec![(column(0), column(0))], None, None).unwrap();
        let sums = vec![Aggregate::new("sum", &SUM, column(1))];
        // The order determines the day.
        for keys in [vec![0], vec![0, 4], vec![3, 4, 5]] {
            let grouped =
                joined.aggregate(named(keys.into_iter().map(column)), sums.clone(), 0, None).unwrap();
            for descending in [false, true] {
                let ordered = grouped.order_by(vec![key(0, descending, false)]).unwrap();
                check(&ordered, &data).unwrap();
                let query = Query::new("q", &ordered, &["analyst"]).unwrap();
                assert_eq!(query.sorts(), 1, "{}", query.explain(None));
            }
        }
    });
}

#[test]
fn orders_survive_what_leaves_rows_in_place() {
    sizes(3, |dice, rows| {
        let mut data = Data::default();
        let table = data.table(dice, "t", columns(), rows + 2);
        let sums = vec![Aggregate::new("sum", &SUM, column(1))];
        let grouped = table.aggregate(named([column(2), column(0)]), sums, 0, None).unwrap();
        let by = vec![key(1, true, true), key(0, false, false)];
        let ordered = grouped.order_by(by).unwrap().filter(greater(column(2), int(0))).unwrap();
        check(&ordered, &data).unwrap();
        let query = Query::new("q", &ordered, &["analyst"]).unwrap();
        assert_eq!(query.sorts(), 1, "{}", query.explain(None));
    });
}

#[test]
fn a_table_stands_on_both_sides() {
    sizes(3, |dice, rows| {
        let mut data = Data::default();
        let (lines, orders) = sales(dice, &mut data, rows + 1);
        let sums = lines.aggregate(named([column(0)]), vec![Aggregate::new("sum", &SUM, column(1))], 0, None);
        let sums = sums.unwrap();
        let joined = lines.join(&sums, JoinKind::Left, vec![(column(0), column(0))], None, None).unwrap();
        let by = vec![key(0, false, false)];
        let counts = vec![Aggregate::count_rows("n")];
        let grouped = joined.aggregate(named([column(3), column(4)]), counts, 0, None).unwrap();
        let by = [by, total(dice, &[1])].concat();
        check(&grouped.order_by(by).unwrap(), &data).unwrap();
        let on = vec![(column(1), column(0))];
        let next = orders.join(&orders, JoinKind::Left, on, None, None).unwrap();
        let grouped = next.aggregate(named([column(3)]), vec![Aggregate::count_rows("n")], 0, None).unwrap();
        check(&grouped, &data).unwrap();
    });
}

#[test]
fn plans_are_told() {
    let mut data = Data::default();
    let (lines, orders) = sales(&mut Dice(4), &mut data, 6);
    let joined = lines.join(&orders, JoinKind::Inner, vec![(column(0), column(0))], None, None).unwrap();
    let counts = vec![Aggregate::count_rows("n")];
    let grouped = joined.aggregate(named([column(0)]), counts, 3, None).unwrap();
    let told = Query::new("q", &grouped, &["analyst"]).unwrap().explain(None);
    let expected = [
        "groups by order, of 3 rows or more: COUNT(*): 15 rows; keeps the order of its rows",
        "  inner join on order = order: 15 rows; sorts 15 rows of both sides; checks that order of table orders is unique; \
         leaves rows in the order of keys",
        "sorts: 1",
        "who learns the result learns whether it holds that order of table orders is unique",
    ];
    for line in expected {
        assert!(told.lines().any(|told| told == line), "{line}\n{told}");
    }
}

/// The result of a relation on a table that has keys of a type, a shown column and a flag.
fn shown(keys: &[Value], ty: ColumnType, relation: &dyn Fn(&Relation) -> Relation) -> (Vec<Row>, Query) {
    let amounts = [40, 10, 30, 20];
    let (table, rows) = keyed(keys, ty, &amounts);
    let query = Query::new("q", &relation(&table), &["analyst"]).unwrap();
    (rows_of(&query, &rows), query)
}

/// The rows that a query on a table shows.
pub(super) fn rows_of(query: &Query, rows: &[Row]) -> Vec<Row> {
    let outputs = evaluate(query.computation(), &query.inputs("t", 0, rows).unwrap()).unwrap();
    query.rows(&outputs).unwrap()
}

/// A table of keys of a type with amounts, and its rows.
pub(super) fn keyed(keys: &[Value], ty: ColumnType, amounts: &[i128]) -> (Relation, Vec<Row>) {
    let columns = vec![Column::new("key", ty), Column::new("amount", ColumnType::Integer).nullable()];
    let part = TablePart { owner: "owner".into(), rows: keys.len() as u64 };
    let table =
        Table { name: "t".into(), schema: Schema(columns), parts: vec![part], padded: true, unique: vec![] };
    let rows = keys.iter().zip(amounts).map(|(key, n)| vec![key.clone(), Value::Number(*n)]).collect();
    (Relation::scan(table).unwrap(), rows)
}

pub(super) fn sums_of(of: &Relation) -> Relation {
    let sums = vec![Aggregate::new("sum", &SUM, column(1))];
    of.aggregate(named([column(0)]), sums, 0, None).unwrap()
}

/// If the order of sums revealed which key is less, a recipient would know whose sums they are.
#[test]
fn the_order_of_a_result_tells_nothing_of_keys_that_it_does_not_show() {
    let window = |t: &Relation, partition, order| {
        let functions = vec![("sum".to_owned(), WindowFunction::RunningSum(column(1), Frame::Peers))];
        t.window(Window { partition, order, functions }).unwrap()
    };
    let both = |t: &Relation| t.set(SetOperation::Union, false, t).unwrap();
    type Way = Box<dyn Fn(&Relation) -> Relation>;
    let ways: Vec<(&str, Way)> = vec![
        ("groups", Box::new(|t| sums_of(t).select(&[1]).unwrap())),
        (
            "expressions",
            Box::new(|t| {
                sums_of(t).project(named([column(1).arithmetic(Arithmetic::Multiply, int(2))])).unwrap()
            }),
        ),
        (
            "filters",
            Box::new(|t| sums_of(t).select(&[1]).unwrap().filter(greater(column(0), int(15))).unwrap()),
        ),
        ("limits", Box::new(|t| sums_of(t).limit(1, Some(2)).unwrap().select(&[1]).unwrap())),
        (
            "equals",
            Box::new(|t| {
                let all =
                    sums_of(t).project(vec![("one".into(), int(1)), ("sum".into(), column(1))]).unwrap();
                all.order_by(vec![key(0, false, false)]).unwrap()
            }),
        ),
        ("partitions", Box::new(move |t| window(t, vec![column(0)], vec![]).select(&[1, 2]).unwrap())),
        ("distinct", Box::new(|t| t.distinct().unwrap().select(&[1]).unwrap())),
        ("unions", Box::new(move |t| both(t).select(&[1]).unwrap())),
        (
            "stacks",
            Box::new(|t| {
                let sums = sums_of(t).select(&[1]).unwrap();
                sums.set(SetOperation::Union, true, &sums).unwrap()
            }),
        ),
        (
            "rows of groups",
            Box::new(|t| {
                let rest = sums_of(t).set(SetOperation::Except, true, &sums_of(t).limit(0, Some(0)).unwrap());
                rest.unwrap().select(&[1]).unwrap()
            }),
        ),
        (
            "joins",
            Box::new(|t| {
                let (sums, on) = (sums_of(t), vec![(column(0), column(0))]);
                sums.join(&sums, JoinKind::Inner, on, None, None).unwrap().select(&[1]).unwrap()
            }),
        ),
    ];
    let texts = |names: [&str; 4]| names.map(Value::text);
    let numbers = |numbers: [i128; 4]| numbers.map(Value::Number);
    let kinds = [
        (ColumnType::Varchar(8), texts(["ann", "bob", "cyd", "dan"]), texts(["dan", "ann", "bob", "cyd"])),
        (ColumnType::Varchar(20), texts(["ann", "bob", "cyd", "dan"]), texts(["bob", "dan", "ann", "cyd"])),
        (ColumnType::Digest { bits: 64 }, numbers([5, 6, 7, 8]), numbers([7, 5, 8, 6])),
        (ColumnType::Digest { bits: 128 }, numbers([5, -6, 7, -8]), numbers([7, 5, -8, -6])),
        (ColumnType::BigInt, numbers([1, 2, 3, 4]), numbers([4, 3, 2, 1])),
    ];
    for (name, way) in &ways {
        for (ty, one, other) in &kinds {
            let ((first, query), (second, _)) = (shown(one, *ty, way), shown(other, *ty, way));
            assert_eq!(first, second, "{name} by {ty}: {}", query.explain(None));
            assert!(first.len() > 1, "{name} by {ty}");
            if *name != "equals" {
                assert!(first.is_sorted(), "{name} by {ty}: {first:?}");
            }
        }
    }
}

/// A result that shows its keys is already in their order.
#[test]
fn results_that_show_their_keys_are_not_sorted_again() {
    let keys = ["ann", "bob", "cyd", "dan"].map(Value::text);
    let told = "the order of the result";
    let sorts = |relation: &dyn Fn(&Relation) -> Relation| {
        let (_, query) = shown(&keys, ColumnType::Varchar(8), relation);
        (query.sorts(), query.explain(None).lines().any(|line| line.starts_with(told)))
    };
    assert_eq!(sorts(&|t| sums_of(t)), (1, false));
    assert_eq!(sorts(&|t| sums_of(t).select(&[1, 0]).unwrap()), (1, false));
    assert_eq!(sorts(&|t| sums_of(t).select(&[1]).unwrap()), (2, false));
    assert_eq!(sorts(&|t| t.clone()), (0, true));
    assert_eq!(sorts(&|t| t.set(SetOperation::Union, true, t).unwrap()), (0, true));
    let by_sum = |t: &Relation| sums_of(t).order_by(vec![key(1, true, false)]).unwrap();
    assert_eq!(sorts(&by_sum), (2, true));
    assert_eq!(sorts(&|t| by_sum(t).select(&[0]).unwrap()), (2, true));
}
