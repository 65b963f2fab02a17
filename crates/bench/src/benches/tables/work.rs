//! Operators on generated tables, and the expected rows.

use std::collections::BTreeMap;

use hushwire_aes::Backend;
use hushwire_compute::{Comparison, Tensor};
use hushwire_prg::{Prg, Seed};
use hushwire_tables::{
    Query,
    aggregates::SUM,
    algebra::{
        Aggregate, Column, ColumnType, Expr, JoinKind, Relation, Schema, SortKey, Table, TablePart, Value,
    },
};

use crate::{BoxError, axes::axis, plans::Outputs};

axis! {
    /// An operator.
    pub(crate) enum Operator {
        Sort = "sort",
        Flags = "flags",
        Filter = "filter",
        Compact = "compact",
        GroupBy = "group-by",
        Join = "join",
        TagJoin = "tag-join",
        JoinGroupOrder = "join-group-order",
    }
}

/// An operator on a table, its inputs and its expected result.
pub(super) struct OperatorSetup {
    pub(super) query: Query,
    pub(super) inputs: BTreeMap<String, Tensor>,
    /// The columns of valid rows.
    expected: Vec<Vec<u64>>,
    /// Whether the rows must have this order.
    is_ordered: bool,
}

/// Filters keep numbers below this bound, about half of all rows. A round number would let a
/// comparison skip bits.
const BOUND: i64 = 0x0123_4567_89ab_cdef;

/// The numbers of a column.
fn numbers(prg: &mut Prg, n: usize) -> Vec<u64> {
    (0..n).map(|_| prg.next_u64()).collect()
}

fn table(name: &str, columns: &[&str], n: usize, padded: bool, unique: Vec<Vec<usize>>) -> Table {
    let schema = columns.iter().map(|name| Column::new(name, ColumnType::BigInt)).collect();
    let parts = vec![TablePart { owner: "owner".into(), rows: n as u64 }];
    Table { name: name.into(), schema: Schema(schema), parts, padded, unique }
}

const NAMES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

impl OperatorSetup {
    pub(super) fn new(op: Operator, n: usize, columns: usize, groups: usize) -> Result<Self, BoxError> {
        let mut prg = Prg::new(Backend::best(), &Seed::from_bytes([15; 16]), "bench tables");
        let names = NAMES.get(..columns).ok_or("at most six columns")?;
        let column = Expr::Column;
        let scan = |padded| Relation::scan(table("t", names, n, padded, vec![]));
        let mut data: Vec<Vec<u64>> = (0..columns).map(|_| numbers(&mut prg, n)).collect();
        let mut flags = None;
        let (relation, expected) = match op {
            Operator::Sort => {
                let key = SortKey { expr: column(0), descending: false, nulls_first: false };
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_by_key(|row| data[0][*row] as i64);
                let sorted = data.iter().map(|column| order.iter().map(|row| column[*row]).collect());
                (scan(false)?.order_by(vec![key])?, sorted.collect())
            }
            Operator::Flags | Operator::Filter => {
                let bound = Expr::literal(Value::Number(BOUND.into()), ColumnType::BigInt);
                let kept = column(0).compare(Comparison::Less, bound);
                let holds = |row: &usize| (data[0][*row] as i64) < BOUND;
                if op == Operator::Flags {
                    let flags = (0..n).map(|row| u64::from(holds(&row))).collect();
                    (scan(false)?.project(vec![("kept".into(), kept)])?, vec![flags])
                } else {
                    let rows: Vec<usize> = (0..n).filter(holds).collect();
                    let left = data.iter().map(|column| rows.iter().map(|row| column[*row]).collect());
                    (scan(false)?.filter(kept)?, left.collect())
                }
            }
            Operator::Compact => {
                // The valid rows are as many as the places.
                let marks: Vec<u64> = (0..n).map(|row| (row as u64).wrapping_mul(5) % 8 / 4).collect();
                let rows: Vec<usize> = (0..n).filter(|row| marks[*row] == 1).collect();
                let kept = rows.len() as u64;
                let left = data.iter().map(|column| rows.iter().map(|row| column[*row]).collect()).collect();
                flags = Some(marks);
                (scan(true)?.limit(0, Some(kept))?, left)
            }
            Operator::GroupBy => {
                data[0].iter_mut().for_each(|key| *key %= groups as u64);
                let mut sums = BTreeMap::<u64, u64>::new();
                for (key, x) in data[0].iter().zip(&data[1]) {
                    let sum = sums.entry(*key).or_default();
                    *sum = sum.wrapping_add(*x);
                }
                let sum = Aggregate::new("sum", &SUM, column(1));
                let grouped = scan(false)?.aggregate(vec![("a".into(), column(0))], vec![sum], 0, None)?;
                (grouped, vec![sums.keys().copied().collect(), sums.values().copied().collect()])
            }
            Operator::Join | Operator::TagJoin | Operator::JoinGroupOrder => {
                // Keys of the right side are distinct, and three of four left rows have a partner.
                let keys: Vec<u64> = (0..n as u64).map(|i| i.wrapping_mul(0x9e37_79b9_7f4a_7c15)).collect();
                let picks: Vec<usize> = numbers(&mut prg, n)
                    .into_iter()
                    .map(|x| (x % (n as u64 * 4 / 3).max(1)) as usize)
                    .collect();
                let key = |pick: &usize| keys.get(*pick).copied().unwrap_or(1);
                let left: Vec<u64> = picks.iter().map(key).collect();
                let (x, y) = (data.swap_remove(0), numbers(&mut prg, n));
                let met = || picks.iter().enumerate().filter(|(_, pick)| **pick < n);
                let of = |column: fn(&Columns<'_>, usize, usize) -> u64| {
                    let all = Columns { keys: &keys, x: &x, y: &y };
                    met().map(|(row, pick)| column(&all, row, *pick)).collect::<Vec<u64>>()
                };
                let expected = vec![
                    of(|all, _, pick| all.keys[pick]),
                    of(|all, row, _| all.x[row]),
                    of(|all, _, pick| all.keys[pick]),
                    of(|all, _, pick| all.y[pick]),
                ];
                let l = Relation::scan(table("l", &["key", "x"], n, false, vec![]))?;
                let r = Relation::scan(table("r", &["key", "y"], n, false, vec![vec![0]]))?;
                let joined = l.join(&r, JoinKind::Inner, vec![(column(0), column(0))], None, None)?;
                data = vec![left, x, keys, y];
                if op == Operator::JoinGroupOrder {
                    let mut sums = BTreeMap::<i64, u64>::new();
                    for (key, y) in expected[0].iter().zip(&expected[3]) {
                        let sum = sums.entry(key.cast_signed()).or_default();
                        *sum = sum.wrapping_add(*y);
                    }
                    let sum = Aggregate::new("sum", &SUM, column(3));
                    let grouped = joined.aggregate(vec![("key".into(), column(0))], vec![sum], 0, None)?;
                    let key = SortKey { expr: column(0), descending: false, nulls_first: false };
                    let keys = sums.keys().map(|key| key.cast_unsigned()).collect();
                    (grouped.order_by(vec![key])?, vec![keys, sums.values().copied().collect()])
                } else {
                    (joined, expected)
                }
            }
        };
        let query = match op {
            Operator::Filter | Operator::Compact => Query::new("operator", &relation, &["analyst"])?,
            _ => Query::in_place("operator", &relation, &["analyst"], op == Operator::TagJoin)?,
        };
        // The inputs are columns as in tables, followed by flags.
        let columns = data.into_iter().chain(flags);
        let inputs = query.computation().inputs().zip(columns).map(|((name, input), column)| {
            let words = column.into_iter().map(u128::from);
            (name.to_owned(), Tensor::from_words(input.scalar, &[n], words))
        });
        let inputs = inputs.collect();
        Ok(Self {
            query,
            inputs,
            expected,
            is_ordered: matches!(op, Operator::Sort | Operator::Flags | Operator::JoinGroupOrder),
        })
    }

    /// Checks that the valid rows of the outputs are the expected ones.
    pub(super) fn check(&self, outputs: &Outputs, spoiled: bool) -> Result<(), BoxError> {
        let output = |name: String| outputs.get(&name).ok_or("an output is missing");
        let valid = output("valid".into())?;
        let rows: Vec<usize> = (0..valid.len()).filter(|row| valid.truth(*row)).collect();
        if (0..self.query.promises().len())
            .any(|k| outputs.get(&format!("promise{k}")).is_none_or(|p| !p.truth(0)))
        {
            return Err("a promise is broken".into());
        }
        let mut found: Vec<Vec<u64>> = vec![vec![]; rows.len()];
        for k in 0..self.expected.len() {
            let column = output(format!("column{k}"))?;
            found.iter_mut().zip(&rows).for_each(|(to, row)| to.push(column.get(*row) as u64));
        }
        let count = self.expected.first().map_or(0, Vec::len);
        let mut expected: Vec<Vec<u64>> =
            (0..count).map(|row| self.expected.iter().map(|column| column[row]).collect()).collect();
        if !self.is_ordered {
            found.sort_unstable();
            expected.sort_unstable();
        }
        if spoiled {
            expected.pop();
        }
        let wrong = found.iter().zip(&expected).filter(|(found, expected)| found != expected).count();
        if wrong > 0 || found.len() != expected.len() {
            let (of, came) = (expected.len(), found.len());
            return Err(format!("{wrong} of {of} rows differ from what they must be, and {came} came").into());
        }
        Ok(())
    }
}

/// The columns of a join's sides.
struct Columns<'a> {
    keys: &'a [u64],
    x: &'a [u64],
    y: &'a [u64],
}
