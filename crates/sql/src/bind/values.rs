//! Binds VALUES: public rows in a query's text.

use super::{Binder, BoundQuery, Env, expr::Calls, scope::Scope};
use crate::{
    Fault,
    error::{At, widths},
    logical::LogicalPlan,
};
use hushwire_tables::{
    algebra::{ColumnType, Expr, Relation, Schema, Value},
    functions::coalesce,
    plain::{Tables, evaluate},
};
use sqlparser::ast::{self, Spanned};

impl<'q> Binder<'q> {
    /// The rows of VALUES; their columns are called column1, column2 and so on.
    pub(super) fn values(&mut self, values: &'q ast::Values) -> Result<BoundQuery, Fault> {
        let at: At = values.span().into();
        self.another(at)?;
        let width = values.rows.first().map_or(0, |row| row.len());
        let scope = Scope::default();
        let mut written: Vec<Vec<Expr>> = vec![vec![]; width];
        for row in &values.rows {
            if row.len() != width {
                return Err(widths(row.opening_token.0.span, "rows of VALUES", [width, row.len()]));
            }
            for (column, value) in written.iter_mut().zip(row.iter()) {
                column.push(self.expr(&Env::alone(&scope), &mut Calls::none("VALUES"), value)?);
            }
        }
        let (mut columns, mut rows) = (vec![], vec![vec![]; values.rows.len()]);
        for (k, all) in written.into_iter().enumerate() {
            let null = all.iter().all(|e| matches!(e, Expr::Literal(Value::Null, _)));
            let (ty, column) = self.constants(all, at)?;
            let name = format!("column{}", k + 1);
            let id = self.column(&name, ty, column.iter().any(Value::is_null));
            if null {
                self.nulls.insert(id);
            }
            columns.push((name, id));
            rows.iter_mut().zip(column).for_each(|(row, value)| row.push(value));
        }
        let plan = LogicalPlan::Values { columns: columns.iter().map(|(_, id)| *id).collect(), rows };
        Ok(BoundQuery { plan, columns })
    }

    /// The values of public expressions, and their common type.
    pub(super) fn constants(&self, all: Vec<Expr>, at: At) -> Result<(ColumnType, Vec<Value>), Fault> {
        let all = self.united(all, at)?;
        let ty = self.ty(&coalesce(all.clone()), at)?;
        let of = |e: Expr| (String::new(), coalesce(vec![e, Expr::Literal(Value::Null, ty)]));
        let one = Relation::values(Schema::default(), vec![vec![]])?;
        let made = one.project(all.into_iter().map(of).collect()).map_err(|e| e.placed(at.0))?;
        Ok((ty, evaluate(&made, &Tables::new())?.pop().unwrap_or_default()))
    }
}
