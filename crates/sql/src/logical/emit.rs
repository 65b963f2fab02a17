//! Turns plans into relations: numbers of columns become indices. Only here are the ranges of
//! columns known. Equal relations are shared.

use super::{Columns, Id, Ids, LogicalJoin, LogicalPlan, reads, replaced};
use crate::{
    Fault,
    catalog::Catalog,
    error::{At, unsupported},
};
use hushwire_tables::{
    algebra::{
        Aggregate, Column, ColumnType, Expr, JoinKind, Relation, Schema, SortKey, Table, Value, Window,
        WindowFunction,
    },
    functions::precise,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// Options of a query that its text does not contain.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// Groups with fewer rows are left out of results; 0 and 1 leave out no group.
    pub min_group: u64,
    /// A limit on the pairs of a join in which neither side is unique by its keys. The default is
    /// no limit below [`Options::MOST_PAIRS`].
    pub join_bound: Option<u64>,
    /// The value of NOW and CURRENT_DATE, in microseconds since 1970 in UTC. All members agree on
    /// it. Without it, queries that ask for the time are refused.
    pub now: Option<i64>,
}

impl Options {
    /// The largest number of pairs of a join without a bound.
    pub const MOST_PAIRS: u64 = 1 << 20;
}

/// The relation of a plan, with these columns under these names.
pub(crate) fn emit(
    plan: &LogicalPlan,
    outputs: &[(String, Id)],
    columns: &Columns,
    catalog: &Catalog,
    options: Options,
) -> Result<Relation, Fault> {
    let mut read: BTreeMap<usize, BTreeSet<usize>> = BTreeMap::new();
    scanned(plan, &mut read);
    let mut emitter = Emitter { columns, catalog, read, options, known: HashMap::new() };
    let (relation, places) = emitter.plan(plan)?;
    let named = outputs.iter().map(|(name, id)| (name.clone(), Expr::Column(places[id])));
    relation.project(named.collect())
}

/// The columns of each table that any scan reads. The owners bring these, and all scans of a table
/// become one.
fn scanned(plan: &LogicalPlan, read: &mut BTreeMap<usize, BTreeSet<usize>>) {
    match plan {
        LogicalPlan::Scan { table, columns, .. } => {
            read.entry(*table).or_default().extend(columns.iter().map(|(_, at)| *at));
        }
        LogicalPlan::One | LogicalPlan::Values { .. } => {}
        LogicalPlan::Filter { input, .. }
        | LogicalPlan::Project { input, .. }
        | LogicalPlan::Group { input, .. }
        | LogicalPlan::Window { input, .. }
        | LogicalPlan::Sort { input, .. }
        | LogicalPlan::Limit { input, .. } => scanned(input, read),
        LogicalPlan::Join { left, right, .. } => {
            [left, right].into_iter().for_each(|side| scanned(side, read));
        }
        LogicalPlan::Set { left, right, .. } => {
            [left, right].into_iter().for_each(|side| scanned(&side.0, read));
        }
    }
}

type Places = BTreeMap<Id, usize>;

struct Emitter<'a> {
    columns: &'a Columns,
    catalog: &'a Catalog,
    read: BTreeMap<usize, BTreeSet<usize>>,
    options: Options,
    /// The relations made so far. Equal relations are shared, and computed once.
    known: HashMap<Relation, Relation>,
}

fn places(ids: impl IntoIterator<Item = Id>) -> Places {
    let mut all = Places::new();
    for (at, id) in ids.into_iter().enumerate() {
        all.entry(id).or_insert(at);
    }
    all
}

/// An expression on indices of a schema. A number without an index would be mistaken for an index.
fn placed(expr: &Expr, places: &Places, schema: &Schema) -> Result<Expr, Fault> {
    if reads(expr).iter().any(|id| !places.contains_key(id)) {
        return Err(unsupported(
            At::default(),
            "a column of the query around in this place",
            "name it in the WHERE of the subquery, compared by = with a column of the subquery's own",
        ));
    }
    let made = replaced(expr, &places.iter().map(|(id, at)| (*id, Expr::Column(*at))).collect());
    // The ranges of columns are known only here.
    Ok(precise(&made, schema))
}

impl Emitter<'_> {
    fn name(&self, id: Id) -> String {
        self.columns.of(id).name.clone()
    }

    fn one(&mut self, relation: Result<Relation, Fault>) -> Result<Relation, Fault> {
        let relation = relation?;
        Ok(self.known.entry(relation.clone()).or_insert(relation).clone())
    }

    fn plan(&mut self, plan: &LogicalPlan) -> Result<(Relation, Places), Fault> {
        match plan {
            LogicalPlan::Scan { table, columns, made } => self.scan(*table, columns, made),
            LogicalPlan::One => {
                Ok((self.one(Relation::values(Schema::default(), vec![vec![]]))?, Places::new()))
            }
            LogicalPlan::Values { columns, rows } => {
                let column = |(k, id): (usize, &Id)| {
                    let made = Column { range: None, ..self.columns.of(*id).clone() };
                    let numbers = || rows.iter().filter_map(|row| row[k].number());
                    // The rows are public, so the range can be the narrowest one.
                    match numbers().min().zip(numbers().max()) {
                        Some((low, high)) => made.within(low, high),
                        None => made,
                    }
                };
                let schema = Schema(columns.iter().enumerate().map(column).collect());
                Ok((self.one(Relation::values(schema, rows.clone()))?, places(columns.iter().copied())))
            }
            LogicalPlan::Filter { input, condition } => {
                let (input, at) = self.plan(input)?;
                Ok((self.one(input.filter(placed(condition, &at, input.schema())?))?, at))
            }
            LogicalPlan::Project { input, columns } => {
                let (input, at) = self.plan(input)?;
                let schema = input.schema();
                let made = columns.iter().map(|(id, expr)| Ok((self.name(*id), placed(expr, &at, schema)?)));
                let made = made.collect::<Result<_, Fault>>()?;
                Ok((self.one(input.project(made))?, places(columns.iter().map(|(id, _)| *id))))
            }
            LogicalPlan::Join { kind, left, right, on, residual } => {
                self.join(*kind, [left, right], on, residual.as_ref())
            }
            LogicalPlan::Group { input, keys, aggregates, asked } => {
                self.group(input, keys, aggregates, *asked)
            }
            LogicalPlan::Window { input, partition, order, calls } => {
                let ids: Vec<Id> = plan.columns();
                let (input, at) = self.plan(input)?;
                let call = |(id, call): &(Id, WindowFunction)| {
                    Ok((self.name(*id), call.of(|e| placed(e, &at, input.schema()))?))
                };
                let functions = calls.iter().map(call).collect::<Result<_, Fault>>()?;
                let window = Window {
                    partition: partition.iter().map(|id| Expr::Column(at[id])).collect(),
                    order: keys(order, &at),
                    functions,
                };
                let first = input.schema().columns().len();
                let relation = self.one(input.window(window))?;
                let mut all = at;
                all.extend(calls.iter().enumerate().map(|(i, (id, _))| (*id, first + i)));
                all.retain(|id, _| ids.contains(id));
                Ok((relation, all))
            }
            LogicalPlan::Sort { input, keys: order } => {
                let (input, at) = self.plan(input)?;
                Ok((self.one(input.order_by(keys(order, &at)))?, at))
            }
            LogicalPlan::Limit { input, offset, limit } => {
                let (input, at) = self.plan(input)?;
                Ok((self.one(input.limit(*offset, *limit))?, at))
            }
            LogicalPlan::Set { kind, all, left, right, columns } => {
                let mut side = |(plan, ids): &(Box<LogicalPlan>, Vec<Id>)| -> Result<Relation, Fault> {
                    let (relation, at) = self.plan(plan)?;
                    self.one(relation.select(&ids.iter().map(|id| at[id]).collect::<Vec<_>>()))
                };
                let (left, right) = (side(left)?, side(right)?);
                Ok((self.one(left.set(*kind, *all, &right))?, places(columns.iter().copied())))
            }
        }
    }

    fn scan(
        &mut self,
        table: usize,
        columns: &[(Id, usize)],
        made: &[(Id, Expr)],
    ) -> Result<(Relation, Places), Fault> {
        let whole = self.catalog.table(table);
        let mut kept: Vec<usize> = self.read[&table].iter().copied().collect();
        // Rows are counted by their columns, so at least one column stays.
        if kept.is_empty() {
            kept = (0..whole.schema.columns().len())
                .min_by_key(|at| whole.schema.columns()[*at].ty.bits())
                .into_iter()
                .collect();
        }
        let place = |at: &usize| kept.iter().position(|k| k == at);
        let unique = whole.unique.iter().filter_map(|key| key.iter().map(place).collect()).collect();
        let own: Vec<Column> = kept.iter().map(|at| whole.schema.columns()[*at].clone()).collect();
        let mut at: Places = columns.iter().filter_map(|(id, at)| Some((*id, place(at)?))).collect();
        let table = Table { schema: Schema(own), unique, ..whole.clone() };
        let scanned = self.one(Relation::scan(table))?;
        if made.is_empty() {
            return Ok((scanned, at));
        }
        let named = |(_, expr): &(Id, Expr)| {
            let expr = placed(expr, &at, scanned.schema())?;
            let name = expr.shown(scanned.schema()).to_string();
            Ok((name, expr))
        };
        let columns = made.iter().map(named).collect::<Result<Vec<_>, Fault>>()?;
        let width = scanned.schema().columns().len();
        let relation = self.one(scanned.by_owner(columns))?;
        at.extend(made.iter().enumerate().map(|(k, (id, _))| (*id, width + k)));
        Ok((relation, at))
    }

    fn join(
        &mut self,
        kind: LogicalJoin,
        sides: [&LogicalPlan; 2],
        on: &[(Id, Id)],
        residual: Option<&Expr>,
    ) -> Result<(Relation, Places), Fault> {
        let (left, left_at) = self.plan(sides[0])?;
        let (right, right_at) = self.plan(sides[1])?;
        let shift = left.schema().columns().len();
        let mut both = left_at.clone();
        both.extend(right_at.iter().map(|(id, at)| (*id, at + shift)));
        let all = Schema([left.schema().columns(), right.schema().columns()].concat());
        let residual = residual.map(|e| placed(e, &both, &all)).transpose()?;
        if on.is_empty() && kind == LogicalJoin::Inner {
            let crossed = self.one(left.cross(&right))?;
            let made = residual.map_or(Ok(crossed.clone()), |e| crossed.filter(e));
            return Ok((self.one(made)?, both));
        }
        let mut pairs: Vec<(Expr, Expr)> =
            on.iter().map(|(a, b)| (Expr::Column(left_at[a]), Expr::Column(right_at[b]))).collect();
        if pairs.is_empty() {
            // Without keys, every row meets every row.
            let one = || Expr::literal(Value::Number(1), ColumnType::SmallInt);
            pairs.push((one(), one()));
        }
        let kind = match kind {
            LogicalJoin::Inner => JoinKind::Inner,
            LogicalJoin::One => {
                let made = left.join_one(&right, pairs);
                return Ok((self.one(made)?, both));
            }
            LogicalJoin::Left => JoinKind::Left,
            LogicalJoin::Full => JoinKind::Full,
            LogicalJoin::Semi => JoinKind::Semi,
            LogicalJoin::Anti => JoinKind::Anti,
        };
        let most = left.rows().saturating_mul(right.rows());
        let bound = self.options.join_bound.or(Some(most).filter(|most| *most <= Options::MOST_PAIRS));
        let joined = |bound| left.join(&right, kind, pairs.clone(), residual.clone(), bound);
        // A bound is set only on a join that needs one.
        let made = joined(None).or_else(|e| bound.map_or(Err(e), |bound| joined(Some(bound.min(most)))));
        let made = self.one(made)?;
        let semi = matches!(kind, JoinKind::Semi | JoinKind::Anti);
        Ok((made, if semi { left_at } else { both }))
    }

    fn group(
        &mut self,
        input: &LogicalPlan,
        keys: &[Id],
        aggregates: &[(Id, Aggregate)],
        asked: bool,
    ) -> Result<(Relation, Places), Fault> {
        let (input, at) = self.plan(input)?;
        let made = keys.iter().map(|id| (self.name(*id), Expr::Column(at[id]))).collect();
        let figure = |(id, aggregate): &(Id, Aggregate)| -> Result<Aggregate, Fault> {
            let argument = aggregate.argument.as_ref();
            let argument = argument.map(|e| placed(e, &at, input.schema())).transpose()?;
            Ok(Aggregate { name: self.name(*id), argument, ..aggregate.clone() })
        };
        let figures = aggregates.iter().map(figure).collect::<Result<Vec<_>, _>>()?;
        let least = if asked { self.options.min_group } else { 0 };
        let relation = self.one(input.aggregate(made, figures, least, None))?;
        Ok((relation, places(keys.iter().copied().chain(aggregates.iter().map(|(id, _)| *id)))))
    }
}

fn keys(order: &[super::OrderKey], at: &Places) -> Vec<SortKey> {
    let key = |key: &super::OrderKey| SortKey {
        expr: Expr::Column(at[&key.id]),
        descending: key.descending,
        nulls_first: key.nulls_first,
    };
    order.iter().map(key).collect()
}

/// The columns that a plan must keep.
pub(crate) fn needed(outputs: &[(String, Id)]) -> Ids {
    outputs.iter().map(|(_, id)| *id).collect()
}
