//! Calls of functions: aggregates, windows, and the few that are expressions.

use super::{Binder, Env, expr::Calls};
use crate::{
    SqlError,
    error::At,
    logical::{Id, truth},
};
use hushwire_compute::Comparison;
use hushwire_tables::algebra::{
    Aggregate, Arithmetic, Column, ColumnType, DatePart, Expr, Function, Relation, Value,
};
use sqlparser::ast::{self, FunctionArg, FunctionArgExpr, FunctionArguments};

/// The arguments of a call; none for `*`.
fn arguments(function: &ast::Function) -> Result<(Option<Vec<&ast::Expr>>, bool), SqlError> {
    let FunctionArguments::List(list) = &function.args else {
        return Err(SqlError::unsupported(function, "a function without a list of arguments"));
    };
    if let Some(clause) = list.clauses.first() {
        return Err(SqlError::unsupported(clause, &format!("{clause} in a function")));
    }
    let distinct = list.duplicate_treatment == Some(ast::DuplicateTreatment::Distinct);
    if let [FunctionArg::Unnamed(FunctionArgExpr::Wildcard)] = &list.args[..] {
        if distinct {
            return Err(SqlError::unsupported(function, "DISTINCT * in a function"));
        }
        return Ok((None, distinct));
    }
    let mut args = vec![];
    for arg in &list.args {
        match arg {
            FunctionArg::Unnamed(FunctionArgExpr::Expr(expr)) => args.push(expr),
            other => return Err(SqlError::unsupported(function, &format!("the argument {other}"))),
        }
    }
    Ok((Some(args), distinct))
}

/// The same with 32 bits behind the point, exactly: unlike a CAST none is NULL for its size.
pub(super) fn as_double(of: Expr) -> Expr {
    Expr::Coalesce(vec![of, Expr::Literal(Value::Null, ColumnType::Double { frac: 32 })])
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
    ) -> Result<Expr, SqlError> {
        let no = |clause: &str| Err(SqlError::unsupported(at, clause));
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
        self.plain(&name, args, at)
    }

    /// A function of values.
    fn plain(&mut self, name: &str, args: Vec<Expr>, at: At) -> Result<Expr, SqlError> {
        let count = args.len();
        let wrong = || {
            let cause = format!("{name} with {count} arguments");
            Err(SqlError::at(at, cause, "give it those that it takes"))
        };
        let mut args_of = args.clone().into_iter();
        let mut next = || args_of.next();
        match (name, count) {
            ("coalesce" | "ifnull", 1..) => Ok(Expr::Coalesce(self.united(args, at)?)),
            ("nullif", 2) => {
                let (Some(a), Some(b)) = (next(), next()) else { return wrong() };
                let null = Expr::Literal(Value::Null, self.ty(&a, at)?);
                let same = self.compared(Comparison::Equal, a.clone(), b, at)?;
                Ok(Expr::Case { branches: vec![(same, null)], otherwise: Some(Box::new(a)) })
            }
            ("abs", 1) => {
                let Some(a) = next() else { return wrong() };
                // The least number of a type has its absolute value in the next one only.
                let a = self.wide(a, at)?;
                let ty = self.ty(&a, at)?;
                let below = a.clone().compare(Comparison::Less, Expr::Literal(Value::Number(0), ty));
                let branches = vec![(below, Expr::Negate(Box::new(a.clone())))];
                Ok(Expr::Case { branches, otherwise: Some(Box::new(a)) })
            }
            ("substr" | "substring", 2 | 3) => {
                let (Some(of), from, length) = (next(), next(), next()) else { return wrong() };
                self.substring(of, from, length, at)
            }
            ("year" | "month" | "day", 1) => {
                let Some(a) = next() else { return wrong() };
                let part = match name {
                    "year" => DatePart::Year,
                    "month" => DatePart::Month,
                    _ => DatePart::Day,
                };
                Ok(Expr::Extract(part, Box::new(a)))
            }
            ("round", 1 | 2) => {
                let (Some(a), digits) = (next(), next()) else { return wrong() };
                let scale = match digits {
                    None => 0,
                    Some(Expr::Literal(Value::Number(n @ 0..=38), ty)) if ty.is_integer() => n as u8,
                    Some(_) => return Err(SqlError::unsupported(at, "ROUND to digits that are no literal")),
                };
                match self.ty(&a, at)? {
                    ColumnType::Decimal { precision, scale: has } if scale < has => {
                        // One digit more before the point: 9.9 becomes 10.
                        let precision = (precision - has + scale + 1).min(38);
                        Ok(a.cast(ColumnType::Decimal { precision, scale }))
                    }
                    // It has no decimal digits of its own.
                    ColumnType::Double { .. } => {
                        Ok(a.cast(ColumnType::Decimal { precision: 38, scale: scale.min(18) }))
                    }
                    ty if ty.is_integer() || matches!(ty, ColumnType::Decimal { .. }) => Ok(a),
                    ty => Err(SqlError::unsupported(at, &format!("ROUND of {ty}"))),
                }
            }
            ("mod", 2) => {
                let (Some(a), Some(b)) = (next(), next()) else { return wrong() };
                self.arithmetic(Arithmetic::Remainder, a, b, at)
            }
            (
                "coalesce" | "ifnull" | "nullif" | "abs" | "substr" | "substring" | "year" | "month" | "day"
                | "round" | "mod",
                _,
            ) => wrong(),
            _ => Err(SqlError::unsupported(at, &format!("the function {name}"))),
        }
    }

    fn aggregated(
        &mut self,
        env: &Env<'_>,
        calls: &mut Calls<'q>,
        (mut function, distinct): (Function, bool),
        args: Option<&[&'q ast::Expr]>,
        filter: Option<&'q ast::Expr>,
        at: At,
    ) -> Result<Expr, SqlError> {
        calls.aggregate(at)?;
        calls.inside = true;
        let made = self.argument(env, calls, (function, distinct), args, filter, at);
        calls.inside = false;
        let argument = made?;
        if argument.is_none() {
            function = Function::CountRows;
        }
        // The least and the greatest are the same of each value once.
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
    ) -> Result<Option<Expr>, SqlError> {
        let of = match args {
            None if function == Function::Count => None,
            Some([one]) => {
                let of = self.expr(env, calls, one)?;
                // A mean has as many bits behind the point as a quotient.
                let average = function == Function::Average;
                let narrow = matches!(self.ty(&of, at)?, ColumnType::Double { frac: ..32 });
                Some(if average && narrow { as_double(of) } else { of })
            }
            _ => return Err(SqlError::at(at, "an aggregate takes one argument", "give it one")),
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

    /// The column of an aggregate; equal ones are one.
    pub(super) fn figure(
        &mut self,
        all: &mut Vec<(Id, Aggregate)>,
        aggregate: Aggregate,
        at: At,
    ) -> Result<Id, SqlError> {
        if let Some((id, _)) = all.iter().find(|(_, other)| *other == aggregate) {
            return Ok(*id);
        }
        let none = Relation::values(self.columns.0.clone(), vec![])?;
        let made = none.aggregate(vec![], vec![aggregate.clone()], 0, None);
        let made = made.map_err(|e| SqlError::from(e).or_at(at))?;
        let column = Column { range: None, ..made.schema().columns()[0].clone() };
        let id = self.columns.add(column);
        all.push((id, aggregate));
        Ok(id)
    }
}
