//! Every operator on small random tables, compared with the plain evaluator: with NULLs,
//! duplicates, padding, several owners, one row and no rows.

mod expressions;
mod groups;
mod joins;
mod kills;
mod orders;
mod promises;
mod shards;
mod three;
mod ties;

use crate::{
    Fault, Query,
    aggregates::{AVG, COUNT, MAX, MIN, SUM, VAR_POP, VAR_SAMP},
    algebra::*,
    functions::{
        coalesce,
        tests::{call, int},
    },
    plain,
};
use hushwire_compute::{Comparison, Tensor, evaluate, test_support::Dice};
use plain::{Row, Tables};
use std::collections::BTreeMap;

/// Tables with their rows, part by part.
#[derive(Default)]
pub(crate) struct Data {
    parts: BTreeMap<String, Vec<Vec<Row>>>,
}

pub(crate) fn column(at: usize) -> Expr {
    Expr::Column(at)
}

/// A call of a function on columns of all types.
pub(crate) fn called(name: &str, all: Vec<Expr>) -> Expr {
    call(name, all, &Schema(columns())).unwrap()
}

pub(crate) fn named(exprs: impl IntoIterator<Item = Expr>) -> Vec<(String, Expr)> {
    exprs.into_iter().enumerate().map(|(k, e)| (format!("c{k}"), e)).collect()
}

fn pick(dice: &mut Dice, n: u64) -> i128 {
    (dice.word() % n).into()
}

fn value(dice: &mut Dice, column: &Column) -> Value {
    if column.nullable && pick(dice, 4) == 0 {
        return Value::Null;
    }
    match column.ty {
        ColumnType::Boolean => Value::Boolean(pick(dice, 2) == 0),
        ColumnType::Varchar(n) => {
            let letters = (0..pick(dice, u64::from(n.min(3)) + 1)).map(|_| b"abA"[pick(dice, 3) as usize]);
            let mut text: Vec<u8> = letters.collect();
            if n > 16 && pick(dice, 2) == 0 {
                // Strings that differ after the first word.
                text = [&b"common beginnings"[..], &text].concat();
                text.truncate(n.into());
            }
            Value::Text(text)
        }
        _ => match column.range {
            Some(Range { low, high }) => Value::Number(low + pick(dice, (high - low + 1) as u64)),
            None if column.ty == ColumnType::Digest { bits: 64 } => {
                Value::Number(i128::from(u64::MAX) - pick(dice, 3))
            }
            // The highest bit is part of the digest.
            None if column.ty == ColumnType::Digest { bits: 128 } => {
                Value::Number([i128::MIN, i128::MAX, -1][pick(dice, 3) as usize])
            }
            None => Value::Number(pick(dice, 5) - 2),
        },
    }
}

impl Data {
    /// A table of at most `rows` random rows, brought by one owner or by two, padded or not.
    pub(crate) fn table(&mut self, dice: &mut Dice, name: &str, columns: Vec<Column>, rows: u64) -> Relation {
        self.unique_table(dice, name, columns, rows, vec![])
    }

    pub(crate) fn unique_table(
        &mut self,
        dice: &mut Dice,
        name: &str,
        columns: Vec<Column>,
        rows: u64,
        unique: Vec<Vec<usize>>,
    ) -> Relation {
        let padded = pick(dice, 2) == 0;
        let first = pick(dice, rows + 1) as u64;
        let counts = if pick(dice, 2) == 0 { vec![rows] } else { vec![first, rows - first] };
        let mut seen: Vec<Row> = vec![];
        let mut bring = |count: u64| {
            let real = if padded { pick(dice, count + 1) as u64 } else { count };
            let mut part: Vec<Row> = vec![];
            while (part.len() as u64) < real {
                let mut row: Row = columns.iter().map(|c| value(dice, c)).collect();
                for set in &unique {
                    // The values are spread over more values than there are rows.
                    row[set[0]] = Value::Number(pick(dice, 4 * rows));
                }
                if unique.iter().any(|set| seen.iter().any(|old| set.iter().all(|at| old[*at] == row[*at]))) {
                    continue;
                }
                seen.push(row.clone());
                part.push(row);
            }
            part
        };
        let parts: Vec<Vec<Row>> = counts.iter().map(|count| bring(*count)).collect();
        let owner = |k: usize| format!("owner{k}");
        let counts = counts.iter().enumerate().map(|(k, rows)| TablePart { owner: owner(k), rows: *rows });
        let table =
            Table { name: name.into(), schema: Schema(columns), parts: counts.collect(), padded, unique };
        self.parts.insert(name.into(), parts);
        Relation::scan(table).unwrap()
    }

    fn tables(&self) -> Tables {
        self.parts.iter().map(|(name, parts)| (name.clone(), parts.concat())).collect()
    }

    pub(crate) fn inputs(&self, query: &Query) -> BTreeMap<String, Tensor> {
        let mut inputs = BTreeMap::new();
        for table in query.tables() {
            for (k, rows) in self.parts[&table.name].iter().enumerate() {
                inputs.extend(query.inputs(&table.name, k, rows).unwrap());
            }
        }
        inputs
    }
}

/// Runs a relation both ways, and returns the result.
pub(crate) fn check(relation: &Relation, data: &Data) -> Result<Vec<Row>, Fault> {
    let query = Query::new("query", relation, &["analyst"]).unwrap();
    let outputs = evaluate(query.computation(), &data.inputs(&query)).unwrap();
    let (mut expected, mut found) = match (plain::evaluate(relation, &data.tables()), query.rows(&outputs)) {
        (Ok(expected), Ok(found)) => (expected, found),
        (expected, found) => {
            assert_eq!(expected, found, "{}", query.explain(None));
            return found;
        }
    };
    let ordered = matches!(relation.operator(), Operator::OrderBy(..) | Operator::Limit { .. });
    if !ordered {
        expected.sort();
        found.sort();
    }
    if expected != found {
        panic!(
            "expected {expected:?}\nfound {found:?}\n{}\n{:?}\n{:?}",
            query.explain(None),
            relation,
            data.tables()
        );
    }
    // The cells after the valid rows reveal nothing about the invalid rows.
    for (name, tensor) in &outputs {
        if !name.starts_with("promise") && !tensor.lengths().is_empty() {
            assert!((found.len()..tensor.len()).all(|i| !tensor.truth(i)), "{name} behind the result");
        }
    }
    Ok(found)
}

/// Columns of all types.
pub(crate) fn columns() -> Vec<Column> {
    vec![
        Column::new("key", ColumnType::Integer).nullable(),
        Column::new("small", ColumnType::SmallInt).within(-3, 3),
        Column::new("text", ColumnType::Varchar(3)).nullable(),
        Column::new("flag", ColumnType::Boolean).nullable(),
        Column::new("price", ColumnType::Decimal { precision: 9, scale: 2 }).within(-500, 500).nullable(),
        Column::new("day", ColumnType::Date).within(9000, 9400),
        Column::new("long", ColumnType::Varchar(20)),
        Column::new("near", ColumnType::Double { frac: 8 }).within(-2000, 2000).nullable(),
        Column::new("time", ColumnType::Timestamp).within(-200_000_000_000, 200_000_000_000),
        Column::new("digest", ColumnType::Digest { bits: 64 }).nullable(),
        Column::new("big", ColumnType::BigInt).nullable(),
        Column::new("wide", ColumnType::Digest { bits: 128 }).nullable(),
    ]
}

/// Runs a test for edge-case sizes and several seeds.
pub(crate) fn sizes(seeds: u64, mut test: impl FnMut(&mut Dice, u64)) {
    for rows in [0, 1, 2, 3, 8, 13] {
        for seed in 0..seeds {
            test(&mut Dice(seed * 1000 + rows + 1), rows);
        }
    }
}

pub(crate) fn greater(a: Expr, b: Expr) -> Expr {
    a.compare(Comparison::Greater, b)
}

/// An owner that takes its rows in pieces brings the same inputs as one that takes them at once.
#[test]
fn rows_that_come_in_pieces_are_the_same_inputs() {
    let dice = &mut Dice(3);
    for padded in [false, true] {
        let mut data = Data::default();
        let relation = data.table(dice, "t", columns(), 23);
        let rows = data.parts["t"].concat();
        let Operator::Scan(table) = relation.operator() else { panic!("a table") };
        let parts = vec![TablePart { owner: "a".into(), rows: rows.len() as u64 + u64::from(padded) }];
        let table = Table { parts, padded, ..table.clone() };
        let query = Query::new("q", &Relation::scan(table).unwrap(), &["b"]).unwrap();
        let whole = query.inputs("t", 0, &rows).unwrap();
        let mut incoming = query.incoming("t", 0).unwrap();
        rows.chunks(5).for_each(|rows| incoming.take(rows).unwrap());
        let pieces = incoming.finish().unwrap();
        assert!(pieces.keys().eq(whole.keys()) && pieces.len() > columns().len());
        for (name, records) in pieces {
            assert_eq!(records, whole[&name].records(), "{name}");
        }
        let mut fewer = query.incoming("t", 0).unwrap();
        fewer.take(&rows[..rows.len() - 1]).unwrap();
        assert_eq!(fewer.finish().is_ok(), padded, "fewer rows than agreed");
        let mut more = query.incoming("t", 0).unwrap();
        more.take(&rows).unwrap();
        assert!(more.take(&rows[..2]).is_err(), "more rows than agreed");
    }
    assert!(rows_of_other_tables().is_err());
}

fn rows_of_other_tables() -> Result<(), Fault> {
    let mut data = Data::default();
    let relation = data.table(&mut Dice(1), "t", columns(), 2);
    Query::new("q", &relation, &["b"])?.incoming("u", 0).map(drop)
}

/// The promise that an error reports as broken.
fn promise_of(e: &Fault) -> String {
    e.field("promise").unwrap_or_else(|| panic!("{e}"))
}
