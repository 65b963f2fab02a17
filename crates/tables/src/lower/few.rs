//! Groups by a few public keys: products with flags instead of a sort.

use super::{
    Lower,
    cell::{Cell, tensor},
    figures::{Grouping, SourceRows, figure},
    group::{Asked, is_group},
    rows::{CellRows, Sorted},
};
use crate::{
    aggregates::FigureForm,
    algebra::{Aggregate, ColumnType, Range, Value, has_range},
};
use hushwire_compute::{Op, Shape, Val};

/// The largest number of public keys of groups that are summed without a sort.
const MOST_KEYS: usize = 64;

impl<'b> Lower<'b> {
    /// Groups of public keys: a flag for each key and row, and products with it.
    pub(super) fn few_keys(
        &mut self,
        rows: &CellRows<'b>,
        keys: &[Cell<'b>],
        asked: Asked<'_, 'b>,
    ) -> Option<CellRows<'b>> {
        let summed =
            |a: &Aggregate| matches!(a.figure.form, FigureForm::Count | FigureForm::Sums) && !a.distinct;
        if !asked.aggregates.iter().all(summed) || rows.rows == 0 {
            return None;
        }
        let domains: Vec<Vec<Value>> = keys.iter().map(domain).collect::<Option<_>>()?;
        let count: usize = domains.iter().map(Vec::len).try_fold(1usize, usize::checked_mul)?;
        if count > MOST_KEYS {
            return None;
        }
        self.note(format!("sums {count} public keys without a sort"));
        let scope_of = |cell: &Cell<'b>, value: &Value| match (cell.null, value) {
            (Some(null), Value::Null) => null,
            (null, value) => {
                let range = cell.range;
                let literal = self.b.constant(tensor(cell.ty, range, &[], [value].into_iter()));
                let equal = cell.val.equals(literal);
                null.map_or(equal, |null| equal & !null)
            }
        };
        let found: Vec<Vec<Val<'b>>> = keys
            .iter()
            .zip(&domains)
            .map(|(cell, domain)| domain.iter().map(|value| scope_of(cell, value)).collect())
            .collect();
        // The combinations count up, with the last key fastest.
        let combinations: Vec<Vec<usize>> = (0..count)
            .map(|mut k| {
                let mut at: Vec<usize> = domains
                    .iter()
                    .rev()
                    .map(|d| {
                        let i = k % d.len();
                        k /= d.len();
                        i
                    })
                    .collect();
                at.reverse();
                at
            })
            .collect();
        let flags: Vec<Val<'b>> = combinations
            .iter()
            .map(|at| {
                let all = at.iter().zip(&found).map(|(i, flags)| flags[*i]).chain(rows.valid);
                let flag = all.reduce(|a, c| a & c).expect("there is a key");
                flag.reshape(Shape::matrix(1, rows.rows))
            })
            .collect();
        let grouping = Grouping::Few(self.b.apply(Op::Concat(0), &flags));
        let counts = grouping.count(None, rows.rows);
        let valid = Some(is_group(counts, asked.min_group));
        let mut cells = vec![];
        for (k, (cell, domain)) in keys.iter().zip(&domains).enumerate() {
            let values = || combinations.iter().map(|at| &domain[at[k]]);
            let val = self.b.constant(tensor(cell.ty, cell.range, &[count], values()));
            let flag = |value: &Value| Value::Boolean(value.is_null());
            let nulls: Vec<Value> = values().map(flag).collect();
            let none = Range { low: 0, high: 0 };
            let null =
                cell.null.map(|_| self.b.constant(tensor(ColumnType::Boolean, none, &[count], nulls.iter())));
            cells.push(Cell { val, null, ..*cell });
        }
        let source = SourceRows { b: self.b, rows: rows.rows, all: asked.all };
        for (aggregate, argument, column) in asked.each() {
            let cell = figure(&grouping, aggregate, column, None, argument, None, source);
            cells.push(self.named(cell));
        }
        let sorted = keys.iter().map(|cell| Sorted { id: cell.id, descending: false, nulls_first: false });
        let sorted = sorted.collect();
        let told = keys.iter().map(|cell| cell.id).collect();
        Some(CellRows { sorted, told, ..self.unsorted(count as u64, valid, cells) })
    }
}

/// The public values of a small domain in order, NULL last.
fn domain(cell: &Cell<'_>) -> Option<Vec<Value>> {
    let mut values: Vec<Value> = match cell.ty {
        ColumnType::Boolean => vec![Value::Boolean(false), Value::Boolean(true)],
        ty if has_range(ty) => {
            let many = cell.range.high.checked_sub(cell.range.low)?;
            (many < MOST_KEYS as i128).then_some(())?;
            (cell.range.low..=cell.range.high).map(Value::Number).collect()
        }
        _ => return None,
    };
    values.extend(cell.null.map(|_| Value::Null));
    Some(values)
}
