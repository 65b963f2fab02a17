//! Moves computations of one owner to the owner, who does them in the open. Calls on columns of one
//! table become columns that its owners bring.
//!
//! Some functions, such as regular expressions, can only be computed there. They are refused if no
//! owner has all of their columns. Other functions are cheaper there, and support more letters.

use super::{Columns, Id, Ids, LogicalJoin, LogicalPlan, reads, replaced};
use crate::{Fault, catalog::Catalog};
use hushwire_fault::code;
use hushwire_tables::{
    aggregates::MIN,
    algebra::{Aggregate, CallPlace, Column, Expr, Relation, Schema, SetOperation, Value, WindowFunction},
    plain::{Tables, evaluate},
};
use std::collections::BTreeMap;

/// Returns the plan in which owners compute what they can.
///
/// # Errors
/// No owner has all columns of a call that only owners compute.
pub(crate) fn by_owners(
    plan: LogicalPlan,
    columns: &mut Columns,
    catalog: &Catalog,
) -> Result<LogicalPlan, Fault> {
    Mover { columns, catalog }.moved(plan)
}

/// Offers a call to a plan, whose owners may compute it.
type Offer<'o, M> = dyn FnMut(&mut M, &Expr) -> Result<Option<Id>, Fault> + 'o;

struct Mover<'a> {
    columns: &'a mut Columns,
    catalog: &'a Catalog,
}

impl Mover<'_> {
    fn boxed(&mut self, plan: LogicalPlan) -> Result<Box<LogicalPlan>, Fault> {
        Ok(Box::new(self.moved(plan)?))
    }

    fn moved(&mut self, plan: LogicalPlan) -> Result<LogicalPlan, Fault> {
        Ok(match plan {
            LogicalPlan::Scan { .. } | LogicalPlan::One | LogicalPlan::Values { .. } => plan,
            LogicalPlan::Filter { input, condition } => {
                let mut input = self.moved(*input)?;
                let condition = self.expr(&condition, &mut input)?;
                LogicalPlan::Filter { input: Box::new(input), condition }
            }
            LogicalPlan::Project { input, columns } => {
                let mut input = self.moved(*input)?;
                let columns = columns.into_iter().map(|(id, e)| Ok((id, self.expr(&e, &mut input)?)));
                let columns = columns.collect::<Result<_, Fault>>()?;
                LogicalPlan::Project { input: Box::new(input), columns }
            }
            LogicalPlan::Join { kind, left, right, on, residual } => {
                let (mut left, mut right) = (self.moved(*left)?, self.moved(*right)?);
                let residual = residual.map(|e| self.on_sides(&e, &mut left, &mut right)).transpose()?;
                LogicalPlan::Join { kind, left: Box::new(left), right: Box::new(right), on, residual }
            }
            LogicalPlan::Group { input, keys, aggregates, asked } => {
                let mut input = self.moved(*input)?;
                let figure = |(id, aggregate): (Id, Aggregate)| {
                    let argument = aggregate.argument.as_ref();
                    let argument = argument.map(|e| self.expr(e, &mut input)).transpose()?;
                    Ok((id, Aggregate { argument, ..aggregate }))
                };
                let aggregates = aggregates.into_iter().map(figure).collect::<Result<_, Fault>>()?;
                LogicalPlan::Group { input: Box::new(input), keys, aggregates, asked }
            }
            LogicalPlan::Window { input, partition, order, calls } => {
                let mut input = self.moved(*input)?;
                let call =
                    |(id, call): (Id, WindowFunction)| Ok((id, call.of(|e| self.expr(e, &mut input))?));
                let calls = calls.into_iter().map(call).collect::<Result<_, Fault>>()?;
                LogicalPlan::Window { input: Box::new(input), partition, order, calls }
            }
            LogicalPlan::Sort { input, keys } => LogicalPlan::Sort { input: self.boxed(*input)?, keys },
            LogicalPlan::Limit { input, offset, limit } => {
                LogicalPlan::Limit { input: self.boxed(*input)?, offset, limit }
            }
            LogicalPlan::Set { kind, all, left, right, columns } => {
                let left = (self.boxed(*left.0)?, left.1);
                LogicalPlan::Set { kind, all, left, right: (self.boxed(*right.0)?, right.1), columns }
            }
        })
    }

    /// Rewrites an expression on a plan's rows. Calls become columns that owners bring.
    fn expr(&mut self, expr: &Expr, input: &mut LogicalPlan) -> Result<Expr, Fault> {
        self.each(expr, &mut |this, call| this.offered(input, call))
    }

    /// The same for an expression on the rows of two sides.
    fn on_sides(
        &mut self,
        expr: &Expr,
        left: &mut LogicalPlan,
        right: &mut LogicalPlan,
    ) -> Result<Expr, Fault> {
        self.each(expr, &mut |this, call| {
            let is_left = reads(call).is_subset(&left.ids());
            this.offered(if is_left { left } else { right }, call)
        })
    }

    fn each(&mut self, expr: &Expr, offered: &mut Offer<'_, Self>) -> Result<Expr, Fault> {
        let place = expr.place();
        if place != CallPlace::Parties {
            if expr.columns().is_empty() {
                return constant(expr);
            }
            if let Some(id) = offered(self, expr)? {
                return Ok(Expr::Column(id));
            }
            if place == CallPlace::Owner {
                return Err(self.refused(expr));
            }
        }
        let (mut failed, mut made) = (None, vec![]);
        for operand in expr.operands() {
            match self.each(operand, offered) {
                Ok(operand) => made.push(operand),
                Err(e) => {
                    failed.get_or_insert(e);
                }
            }
        }
        if let Some(e) = failed {
            return Err(e);
        }
        let mut made = made.into_iter();
        Ok(expr.with_operands(&mut |e| made.next().unwrap_or_else(|| e.clone())))
    }

    /// The error for a call that only an owner can compute, on columns that no single owner has.
    fn refused(&self, expr: &Expr) -> Fault {
        let call = expr.shown(&self.columns.0).to_string();
        let clause = format!("{call}, which owners compute, of columns that no owner has in its file");
        let remedy = "call it on columns of one table that an owner brings, before they are joined, grouped or united with others: in a derived table, as in SELECT … FROM (SELECT id, REGEXP_EXTRACT(note, '[0-9]+') AS n FROM notes) AS n JOIN …";
        Fault::filled(code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)])
    }

    /// The column of an expression on a plan's rows, if owners of a table below can compute it. The
    /// plan then has that column.
    fn offered(&mut self, plan: &mut LogicalPlan, expr: &Expr) -> Result<Option<Id>, Fault> {
        let read = reads(expr);
        let within = |plan: &LogicalPlan| read.is_subset(&plan.ids());
        Ok(match plan {
            LogicalPlan::Scan { table, columns, made } => {
                let own: Ids = columns.iter().map(|(id, _)| *id).collect();
                let expr = &replaced(expr, &made.iter().cloned().collect());
                if !reads(expr).is_subset(&own) || self.catalog.is_at_rest(*table) {
                    return Ok(None);
                }
                if let Some((id, _)) = made.iter().find(|(_, known)| known == expr) {
                    return Ok(Some(*id));
                }
                let id = self.column(expr)?;
                made.push((id, expr.clone()));
                Some(id)
            }
            LogicalPlan::Filter { input, .. }
            | LogicalPlan::Sort { input, .. }
            | LogicalPlan::Limit { input, .. }
            | LogicalPlan::Window { input, .. } => {
                if within(input) {
                    self.offered(input, expr)?
                } else {
                    None
                }
            }
            LogicalPlan::Project { input, columns } => {
                let by: BTreeMap<Id, Expr> = columns.iter().cloned().collect();
                if !read.iter().all(|id| by.contains_key(id)) {
                    return Ok(None);
                }
                let below = replaced(expr, &by);
                if below.columns().is_empty() {
                    return Ok(None);
                }
                let Some(id) = self.offered(input, &below)? else { return Ok(None) };
                if !columns.iter().any(|(known, _)| *known == id) {
                    columns.push((id, Expr::Column(id)));
                }
                Some(id)
            }
            LogicalPlan::Join { kind, left, right, .. } => {
                // In a row whose other side has no partner, the column must be NULL too.
                let null_of_null = is_null_of_null(expr);
                if within(left) && (*kind != LogicalJoin::Full || null_of_null) {
                    self.offered(left, expr)?
                } else if within(right)
                    && !matches!(kind, LogicalJoin::Semi | LogicalJoin::Anti)
                    && (*kind == LogicalJoin::Inner || null_of_null)
                {
                    let found = self.offered(right, expr)?;
                    if let (Some(id), true) = (found, *kind != LogicalJoin::Inner) {
                        self.columns.0.0[id].nullable = true;
                    }
                    found
                } else {
                    None
                }
            }
            LogicalPlan::Group { input, keys, aggregates, .. } => {
                if !read.iter().all(|id| keys.contains(id)) {
                    return Ok(None);
                }
                let Some(id) = self.offered(input, expr)? else { return Ok(None) };
                let least = Aggregate::new("key", &MIN, Expr::Column(id));
                let known = aggregates.iter().find(|(_, known)| *known == least);
                if let Some((known, _)) = known {
                    return Ok(Some(*known));
                }
                // All rows of a group agree in this column.
                let own = self.columns.add(Column { range: None, ..self.columns.of(id).clone() });
                aggregates.push((own, least));
                Some(own)
            }
            LogicalPlan::Set { kind: SetOperation::Union, all: true, left, right, columns } => {
                let place = |id: &Id| columns.iter().position(|known| known == id);
                let Some(places) = read.iter().map(place).collect::<Option<Vec<_>>>() else {
                    return Ok(None);
                };
                let of = |ids: &[Id]| {
                    let by = read.iter().zip(&places).map(|(id, at)| (*id, Expr::Column(ids[*at])));
                    replaced(expr, &by.collect())
                };
                let (of_left, of_right) = (of(&left.1), of(&right.1));
                // Both sides must be able to compute it.
                let mut tried = (left.0.clone(), right.0.clone());
                let found = (self.offered(&mut tried.0, &of_left)?, self.offered(&mut tried.1, &of_right)?);
                let (Some(a), Some(b)) = found else { return Ok(None) };
                (left.0, right.0) = tried;
                left.1.push(a);
                right.1.push(b);
                let id = self.column(expr)?;
                columns.push(id);
                Some(id)
            }
            LogicalPlan::Set { .. } | LogicalPlan::One | LogicalPlan::Values { .. } => None,
        })
    }

    fn column(&mut self, expr: &Expr) -> Result<Id, Fault> {
        let ty = expr.check(&self.columns.0)?.ty;
        let nullable = self.columns.may_be_null(expr)?;
        let column = Column::new("computed", ty);
        Ok(self.columns.add(if nullable { column.nullable() } else { column }))
    }
}

/// Whether an expression is NULL if all of its columns are NULL.
fn is_null_of_null(expr: &Expr) -> bool {
    match expr {
        Expr::Column(_) => true,
        Expr::Literal(..) | Expr::IsNull(_) | Expr::Case { .. } => false,
        Expr::And(a, b) | Expr::Or(a, b) => is_null_of_null(a) && is_null_of_null(b),
        Expr::Call(call) if !call.is_strict() => false,
        other => other.operands().into_iter().any(is_null_of_null),
    }
}

/// The value of a call whose arguments are literals.
fn constant(expr: &Expr) -> Result<Expr, Fault> {
    let ty = expr.check(&Schema::default())?.ty;
    let one = Relation::values(Schema::default(), vec![vec![]])?;
    let rows = evaluate(&one.project(vec![(String::new(), expr.clone())])?, &Tables::new())?;
    let value = rows.into_iter().flatten().next().unwrap_or(Value::Null);
    Ok(Expr::Literal(value, ty))
}
