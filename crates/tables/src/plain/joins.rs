//! Evaluates joins, pair by pair; partners are found by their keys.

use super::{Row, World, expr::converted, is_true, value};
use crate::{
    Fault,
    algebra::{ColumnType, Expr, JoinKind, Pairing, Relation, Schema, Value, common_type},
};
use std::collections::{BTreeMap, BTreeSet};

impl World<'_> {
    /// The rows of a join; its promise belongs to `relation`.
    pub(super) fn joined(
        &self,
        relation: &Relation,
        [left, right]: [&Relation; 2],
        kind: JoinKind,
        on: &[(Expr, Expr)],
        residual: Option<&Expr>,
        pairing: Option<Pairing>,
    ) -> Result<Vec<Row>, Fault> {
        let (a_rows, b_rows) = (self.rows(left)?, self.rows(right)?);
        let both = Schema([left.schema().columns(), right.schema().columns()].concat());
        let sides = on.iter().map(|(e, f)| {
            let types =
                [e.check(left.schema()), f.check(right.schema())].map(|t| t.expect("it was checked").ty);
            let common = common_type(types[0], types[1]).expect("it was checked");
            ((e, types[0], common), (f, types[1], common))
        });
        let (of_left, of_right): (Vec<_>, Vec<_>) = sides.unzip();
        // A NULL equals nothing.
        let key = |of: &[(&Expr, ColumnType, ColumnType)], schema: &Schema, row: &Row| -> Option<Row> {
            let one = |(e, from, to): &(&Expr, ColumnType, ColumnType)| {
                Some(converted(value(e, schema, row), *from, *to)).filter(|v| !v.is_null())
            };
            of.iter().map(one).collect()
        };
        let mut by_key: BTreeMap<Row, Vec<usize>> = BTreeMap::new();
        for (j, b) in b_rows.iter().enumerate() {
            if let Some(key) = key(&of_right, right.schema(), b) {
                by_key.entry(key).or_default().push(j);
            }
        }
        let mut pairs = vec![];
        let mut matched = 0u64;
        let (mut left_in, mut right_in) = (vec![false; a_rows.len()], vec![false; b_rows.len()]);
        for (i, a) in a_rows.iter().enumerate() {
            let partners = key(&of_left, left.schema(), a).and_then(|key| by_key.get(&key));
            for j in partners.into_iter().flatten() {
                matched += 1;
                let row = [a.clone(), b_rows[*j].clone()].concat();
                if residual.is_none_or(|e| is_true(e, &both, &row)) {
                    (left_in[i], right_in[*j]) = (true, true);
                    pairs.push(row);
                }
            }
        }
        if self.promises.of_operator(relation).is_some() {
            let left_keys = || a_rows.iter().filter_map(|a| key(&of_left, left.schema(), a));
            let holds = match pairing {
                Some(Pairing::Bound(most)) => matched <= most,
                Some(Pairing::RightUnique) => by_key.values().all(|rows| rows.len() == 1),
                Some(Pairing::LeftUnique) => {
                    left_keys().collect::<BTreeSet<Row>>().len() == left_keys().count()
                }
                None => true,
            };
            if !holds {
                return Err(self.promises.broken(relation));
            }
        }
        let nulls = |n: usize| vec![Value::Null; n];
        let lone_left = || {
            let lone = a_rows.iter().zip(&left_in).filter(|(_, paired)| !**paired);
            lone.map(|(a, _)| [a.clone(), nulls(right.schema().columns().len())].concat()).collect::<Vec<_>>()
        };
        let lone_right = || {
            let lone = b_rows.iter().zip(&right_in).filter(|(_, paired)| !**paired);
            lone.map(|(b, _)| [nulls(left.schema().columns().len()), b.clone()].concat()).collect::<Vec<_>>()
        };
        Ok(match kind {
            JoinKind::Inner => pairs,
            JoinKind::Left => [pairs, lone_left()].concat(),
            JoinKind::Right => [pairs, lone_right()].concat(),
            JoinKind::Full => [pairs, lone_left(), lone_right()].concat(),
            JoinKind::Semi | JoinKind::Anti => {
                let wanted = kind == JoinKind::Semi;
                let kept = a_rows.iter().zip(&left_in).filter(|(_, paired)| **paired == wanted);
                kept.map(|(a, _)| a.clone()).collect()
            }
        })
    }
}
