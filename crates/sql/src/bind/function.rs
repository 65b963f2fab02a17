//! Binds calls of functions: aggregates, window functions, and scalar functions, which a table
//! defines.

use super::{
    Binder, Env,
    expr::{Calls, placed},
};
use crate::{
    Fault,
    error::{At, fault, unsupported},
    logical::{Id, truth},
};
use hushwire_fault::code;
use hushwire_tables::{
    algebra::{Aggregate, Column, ColumnType, Expr, Function, Relation, Value},
    functions::{self, Arguments, coalesce},
};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};
use std::fmt::Display;

/// The arguments of a call; `None` for `*`.
fn arguments(function: &ast::Function) -> Result<(Option<Vec<&ast::Expr>>, bool), Fault> {
    let FunctionArguments::List(list) = &function.args else {
        return Err(unsupported(function, "a function without a list of arguments"));
    };
    if let Some(clause) = list.clauses.first() {
        return Err(unsupported(clause, &format!("{clause} in a function")));
    }
    let distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
    if let [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] = &list.args[..] {
        if distinct {
            return Err(unsupported(function, "DISTINCT * in a function"));
        }
        return Ok((None, distinct));
    }
    let mut args = vec![];
    for arg in &list.args {
        match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => args.push(expr),
            other => return Err(unsupported(function, &format!("the argument {other}"))),
        }
    }
    Ok((Some(args), distinct))
}

/// Converts to 32 fractional bits, exactly: unlike a CAST, it never gives NULL for a large number.
pub(super) fn as_double(of: Expr) -> Expr {
    coalesce(vec![of, Expr::Literal(Value::Null, ColumnType::Double { frac: 32 })])
}

fn aggregate(name: &str) -> Option<Function> {
    Some(match name {
        "count" => Function::Count,
        "sum" => Function::Sum,
        "avg" | "mean" => Function::Average,
        "min" => Function::Min,
        "max" => Function::Max,
        "var_pop" => Function::VariancePopulation,
        "variance" | "var_samp" => Function::VarianceSample,
        _ => return None,
    })
}

impl<'q> Binder<'q> {
    pub(super) fn function(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        function: &'q ast::Function,
        at: At,
    ) -> Result<Expr, Fault> {
        let no = |clause: &str| Err(unsupported(at, clause));
        if !function.within_group.is_empty() {
            return no("WITHIN GROUP");
        }
        if function.null_treatment.is_some() {
            return no("IGNORE NULLS or RESPECT NULLS");
        }
        if !matches!(function.parameters, FunctionArguments::None) {
            return no("a function with parameters");
        }
        let name = function.name.to_string().to_ascii_lowercase();
        let (args, distinct) = arguments(function)?;
        if let Some(over) = &function.over {
            if distinct || function.filter.is_some() {
                return no("DISTINCT or FILTER in a window function");
            }
            return self.windowed(env, calls, &name, args, over, at);
        }
        if let Some(kind) = aggregate(&name) {
            return self.aggregated(
                env,
                calls,
                (kind, distinct),
                args.as_deref(),
                function.filter.as_deref(),
                at,
            );
        }
        if distinct || function.filter.is_some() {
            return no("DISTINCT or FILTER in a function that is no aggregate");
        }
        let Some(args) = args else { return no(&format!("{name}(*)")) };
        let args = args.into_iter().map(|e| self.expr(env, calls, e)).collect::<Result<Vec<_>, _>>()?;
        self.call(&name, args, at)
    }

    /// The expression of a scalar function's call.
    pub(super) fn call(&self, name: &str, all: Vec<Expr>, at: At) -> Result<Expr, Fault> {
        let Some(function) = functions::find(name) else {
            return Err(fault(at, code::FUNCTION_UNSUPPORTED, &[("function", &name)]));
        };
        placed(function.bind(&Arguments { name, all, reader: self.reader() }), at)
    }

    fn aggregated(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        (mut function, distinct): (Function, bool),
        args: Option<&[&'q ast::Expr]>,
        filter: Option<&'q ast::Expr>,
        at: At,
    ) -> Result<Expr, Fault> {
        calls.aggregate(at)?;
        calls.inside = true;
        let made = self.argument(env, calls, (function, distinct), args, filter, at);
        calls.inside = false;
        let argument = made?;
        if argument.is_none() {
            function = Function::CountRows;
        }
        // DISTINCT does not change the least or the greatest value.
        let distinct = distinct && !matches!(function, Function::Min | Function::Max | Function::CountRows);
        let aggregate = Aggregate { name: function.to_string(), function, argument, distinct };
        Ok(Expr::Column(self.figure(&mut calls.aggregates, aggregate, at)?))
    }

    fn argument(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        (function, distinct): (Function, bool),
        args: Option<&[&'q ast::Expr]>,
        filter: Option<&'q ast::Expr>,
        at: At,
    ) -> Result<Option<Expr>, Fault> {
        let of = match args {
            None if function == Function::Count => None,
            Some([one]) => {
                let of = self.expr(env, calls, one)?;
                // A mean has as many fractional bits as a quotient.
                let average = function == Function::Average;
                let narrow = matches!(self.ty(&of, at)?, ColumnType::Double { frac: ..32 });
                Some(if average && narrow { as_double(of) } else { of })
            }
            all => {
                let found = all.map_or(0, <[_]>::len);
                let fields: [(_, &dyn Display); 3] =
                    [("function", &function), ("found", &found), ("expected", &1)];
                return Err(fault(at, code::ARGUMENTS, &fields));
            }
        };
        let filter = filter.map(|e| self.condition(env, calls, e)).transpose()?;
        Ok(match (of, filter) {
            // A literal that is not NULL counts in every row.
            (Some(Expr::Literal(value, _)), None)
                if function == Function::Count && !distinct && !value.is_null() =>
            {
                None
            }
            (of, None) => of,
            (of, Some(condition)) => {
                let branches = vec![(condition, of.unwrap_or(truth(true)))];
                Some(Expr::Case { branches, otherwise: None })
            }
        })
    }

    /// The column of an aggregate; equal aggregates share one.
    pub(super) fn figure(
        &mut self,
        all: &mut Vec<(Id, Aggregate)>,
        aggregate: Aggregate,
        at: At,
    ) -> Result<Id, Fault> {
        if let Some((id, _)) = all.iter().find(|(_, other)| *other == aggregate) {
            return Ok(*id);
        }
        let none = Relation::values(self.columns.0.clone(), vec![])?;
        let made = none.aggregate(vec![], vec![aggregate.clone()], 0, None);
        let made = made.map_err(|e| e.placed(at.0))?;
        let column = Column { range: None, ..made.schema().columns()[0].clone() };
        let id = self.columns.add(column);
        all.push((id, aggregate));
        Ok(id)
    }
}
