//! Facts that follow from declared keys: unique columns, dependent columns, and row bounds.

use super::{Columns, Ids, LogicalJoin, LogicalPlan, conjuncts};
use crate::catalog::Catalog;
use hushwire_compute::Comparison;
use hushwire_tables::algebra::{Expr, SetOperation, Value, WindowFunction, distinct};

/// Facts about a plan's rows.
#[derive(Clone, Debug, Default)]
pub(crate) struct RowFacts {
    /// Sets of columns in which no two rows have the same values. If the empty set is among them,
    /// there is at most one row.
    unique: Vec<Ids>,
    /// Functional dependencies: two rows that agree on the first columns agree on the second.
    follows: Vec<(Ids, Ids)>,
    /// Columns of row numbers, each with the columns of its partitions.
    numbers: Vec<(usize, Ids)>,
    /// A bound on the rows.
    pub(crate) rows: u64,
}

impl RowFacts {
    /// The facts of a plan.
    pub(crate) fn of(plan: &LogicalPlan, catalog: &Catalog) -> RowFacts {
        let of = |plan: &LogicalPlan| RowFacts::of(plan, catalog);
        match plan {
            LogicalPlan::Scan { table, columns, .. } => {
                let table = catalog.table(*table);
                let id = |place: &usize| columns.iter().find(|(_, at)| at == place).map(|(id, _)| *id);
                let keys = table.unique.iter().filter_map(|key| key.iter().map(id).collect::<Option<Ids>>());
                let (unique, all): (Vec<Ids>, Ids) = (keys.collect(), plan.ids());
                // An owner checks its own rows. Duplicates between owners only show in joins, which
                // check them.
                let firm = table.parts.len() == 1;
                let follows = unique.iter().filter(|_| firm).map(|key| (key.clone(), all.clone())).collect();
                RowFacts { unique, follows, rows: table.rows(), ..RowFacts::default() }
            }
            LogicalPlan::One => RowFacts { unique: vec![Ids::new()], rows: 1, ..RowFacts::default() },
            LogicalPlan::Values { columns, rows } => {
                let keys = distinct(rows, columns.len()).into_iter();
                let unique: Vec<Ids> = keys.map(|key| key.iter().map(|at| columns[*at]).collect()).collect();
                let follows = unique.iter().map(|key| (key.clone(), plan.ids())).collect();
                RowFacts { unique, follows, rows: rows.len() as u64, ..RowFacts::default() }
            }
            LogicalPlan::Filter { input, condition } => {
                let mut facts = of(input);
                for part in conjuncts(condition.clone()) {
                    facts.first_of(&part);
                    if let Expr::Compare(Comparison::Equal, a, b) = part {
                        facts.equal(&a, &b);
                        facts.equal(&b, &a);
                    }
                }
                facts
            }
            LogicalPlan::Project { input, columns } => of(input).projected(columns, &plan.ids()),
            LogicalPlan::Join { kind, left, right, on, .. } => of(left).joined(*kind, &of(right), on),
            LogicalPlan::Group { input, keys, .. } => {
                let RowFacts { follows, rows, .. } = of(input);
                let keys: Ids = keys.iter().copied().collect();
                let rows = if keys.is_empty() { 1 } else { rows };
                let all = (keys.clone(), plan.ids());
                let follows = follows.into_iter().chain([all]).collect();
                RowFacts { unique: vec![keys], follows, rows, ..RowFacts::default() }
            }
            LogicalPlan::Window { input, partition, calls, .. } => {
                let mut facts = of(input);
                let numbers = calls.iter().filter(|(_, call)| *call == WindowFunction::RowNumber);
                facts.numbers.extend(numbers.map(|(id, _)| (*id, partition.iter().copied().collect())));
                facts
            }
            LogicalPlan::Sort { input, .. } => of(input),
            LogicalPlan::Limit { input, limit, .. } => {
                let mut facts = of(input);
                facts.rows = limit.map_or(facts.rows, |limit| limit.min(facts.rows));
                if facts.rows <= 1 {
                    facts.unique.push(Ids::new());
                }
                facts
            }
            LogicalPlan::Set { kind, all, left, right, columns } => {
                let (left, right) = (of(&left.0), of(&right.0));
                let unique = if *all { vec![] } else { vec![columns.iter().copied().collect()] };
                let rows = if *kind == SetOperation::Union {
                    left.rows.saturating_add(right.rows)
                } else {
                    left.rows
                };
                RowFacts { unique, rows, ..RowFacts::default() }
            }
        }
    }

    /// The columns of a key, if there is one.
    pub(crate) fn key(&self) -> Option<Ids> {
        self.unique.first().cloned()
    }

    /// Records that each partition has one row, if a condition keeps only its first row.
    fn first_of(&mut self, condition: &Expr) {
        let Expr::Compare(Comparison::Equal | Comparison::LessOrEqual, a, b) = condition else { return };
        if let (Expr::Column(id), Expr::Literal(Value::Number(1), _)) = (a.as_ref(), b.as_ref()) {
            let partitions = self.numbers.iter().filter(|(row, _)| row == id);
            self.unique.extend(partitions.map(|(_, by)| by.clone()));
        }
    }

    /// Records that a column equals an expression.
    fn equal(&mut self, column: &Expr, to: &Expr) {
        if let Expr::Column(id) = column {
            self.follows.push((to.columns().into_iter().collect(), Ids::from([*id])));
        }
    }

    fn projected(mut self, columns: &[(usize, Expr)], kept: &Ids) -> RowFacts {
        for (id, expr) in columns.iter().filter(|(id, expr)| *expr != Expr::Column(*id)) {
            self.follows.push((expr.columns().into_iter().collect(), Ids::from([*id])));
            if let Expr::Column(of) = expr {
                self.follows.push((Ids::from([*id]), Ids::from([*of])));
                // A key is still a key under the columns' new names.
                let renamed = self.unique.iter().filter(|key| key.contains(of));
                let renamed = renamed.map(|key| key.iter().map(|k| if k == of { *id } else { *k }).collect());
                self.unique.extend(renamed.collect::<Vec<Ids>>());
            }
        }
        self.unique.retain(|key| key.is_subset(kept));
        self
    }

    fn joined(self, kind: LogicalJoin, right: &RowFacts, on: &[(usize, usize)]) -> RowFacts {
        if matches!(kind, LogicalJoin::Semi | LogicalJoin::Anti) {
            return self;
        }
        let [mine, theirs]: [Ids; 2] = [on.iter().map(|k| k.0).collect(), on.iter().map(|k| k.1).collect()];
        let (left_one, right_one) =
            (self.is_unique(&mine), kind == LogicalJoin::One || right.is_unique(&theirs));
        let kind = if kind == LogicalJoin::One { LogicalJoin::Left } else { kind };
        let mut unique: Vec<Ids> =
            self.unique.iter().flat_map(|a| right.unique.iter().map(move |b| a | b)).collect();
        if right_one && kind != LogicalJoin::Full {
            unique.extend(self.unique.clone());
        }
        if left_one && kind == LogicalJoin::Inner {
            unique.extend(right.unique.clone());
        }
        let rows = match (kind, left_one, right_one) {
            (LogicalJoin::Inner, true, true) => self.rows.min(right.rows),
            (LogicalJoin::Inner | LogicalJoin::Left, _, true) => self.rows,
            (LogicalJoin::Inner, true, false) => right.rows,
            (_, true, _) | (LogicalJoin::Full, _, true) => self.rows.saturating_add(right.rows),
            _ => self.rows.saturating_mul(right.rows).saturating_add(self.rows).saturating_add(right.rows),
        };
        // If a row has no partner, all columns of the other side are NULL. They follow from NULLs
        // of a key only if no row of that side has NULLs in the key. A key that had a partner is
        // not NULL.
        let outer = kind != LogicalJoin::Inner;
        let met = |facts: &RowFacts| {
            let met = |(from, _): &&(Ids, Ids)| kind == LogicalJoin::Left && !from.is_disjoint(&theirs);
            facts.follows.iter().filter(met).cloned().collect::<Vec<_>>()
        };
        let mine = if kind == LogicalJoin::Full { vec![] } else { self.follows.clone() };
        let mut follows = [mine, if outer { met(right) } else { right.follows.clone() }].concat();
        if !outer {
            for (a, b) in on {
                follows.extend([(Ids::from([*a]), Ids::from([*b])), (Ids::from([*b]), Ids::from([*a]))]);
            }
        }
        RowFacts { unique, follows, rows, ..RowFacts::default() }
    }

    /// All columns that follow from `of`.
    pub(crate) fn closure(&self, of: &Ids) -> Ids {
        let mut all = of.clone();
        loop {
            let more: Ids = self
                .follows
                .iter()
                .filter(|(from, to)| from.is_subset(&all) && !to.is_subset(&all))
                .flat_map(|(_, to)| to.iter().copied())
                .collect();
            if more.is_empty() {
                return all;
            }
            all.extend(more);
        }
    }

    /// Whether no two rows have the same values in these columns.
    pub(crate) fn is_unique(&self, columns: &Ids) -> bool {
        let all = self.closure(columns);
        self.unique.iter().any(|key| key.is_subset(&all))
    }

    /// The smallest subset of these columns from which the others follow. It has at least one
    /// column, since an aggregate without keys has a row even over no rows. Expensive columns are
    /// dropped first, and columns without an order stay.
    pub(crate) fn fewest(&self, keys: &[usize], columns: &Columns) -> Vec<usize> {
        let mut kept: Vec<usize> = keys.to_vec();
        let mut dearest: Vec<usize> =
            keys.iter().copied().filter(|id| columns.of(*id).ty.is_ordered()).collect();
        dearest.sort_by_key(|id| std::cmp::Reverse(columns.of(*id).ty.bits()));
        for id in dearest {
            let rest: Ids = kept.iter().copied().filter(|k| *k != id).collect();
            if !rest.is_empty() && self.closure(&rest).contains(&id) {
                kept.retain(|k| *k != id);
            }
        }
        kept
    }
}
