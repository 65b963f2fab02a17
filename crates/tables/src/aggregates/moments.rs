//! Sums over pairs of numbers, from which correlations and regression lines are computed.

use super::{AggregateArguments, COUNT, SUM};
use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, Expr, Value, when},
};

/// The sums of one of two numbers.
pub(super) struct Moment {
    pub(super) sum: Expr,
    pub(super) squares: Expr,
}

/// The sums over rows in which neither number is NULL.
pub(super) struct Moments {
    pub(super) count: Expr,
    pub(super) y: Moment,
    pub(super) x: Moment,
    pub(super) products: Expr,
}

impl Moments {
    /// The sums of an aggregate's two arguments.
    pub(super) fn of(arguments: &mut AggregateArguments<'_>) -> Result<Moments, Fault> {
        let [y, x] = arguments.exactly()?;
        let (y, x) = (when(x.clone().is_null().not(), y.clone()), when(y.is_null().not(), x));
        let product = arguments.arithmetic(Arithmetic::Multiply, y.clone(), x.clone())?;
        let mut one = |of: &Expr| -> Result<Moment, Fault> {
            let square = arguments.arithmetic(Arithmetic::Multiply, of.clone(), of.clone())?;
            let squares = arguments.figure(&SUM, square)?;
            Ok(Moment { sum: arguments.figure(&SUM, of.clone())?, squares })
        };
        let (of_y, of_x) = (one(&y)?, one(&x)?);
        let count = arguments.figure(&COUNT, product.clone())?;
        Ok(Moments { count, y: of_y, x: of_x, products: arguments.figure(&SUM, product)? })
    }

    /// Computes n Σyx − Σy Σx.
    pub(super) fn mixed(&self, arguments: &AggregateArguments<'_>) -> Result<Expr, Fault> {
        self.less(arguments, &self.products, &self.y.sum, &self.x.sum)
    }

    /// Computes n Σx² − (Σx)².
    pub(super) fn spread(&self, arguments: &AggregateArguments<'_>, of: &Moment) -> Result<Expr, Fault> {
        self.less(arguments, &of.squares, &of.sum, &of.sum)
    }

    fn less(
        &self,
        arguments: &AggregateArguments<'_>,
        products: &Expr,
        a: &Expr,
        b: &Expr,
    ) -> Result<Expr, Fault> {
        let all = arguments.arithmetic(Arithmetic::Multiply, self.count.clone(), products.clone())?;
        let means = arguments.arithmetic(Arithmetic::Multiply, a.clone(), b.clone())?;
        arguments.arithmetic(Arithmetic::Subtract, all, means)
    }
}

/// Gives an integer three fractional digits, so that a root of its variance has more digits.
pub(super) fn finer(arguments: &AggregateArguments<'_>, of: Expr) -> Result<Expr, Fault> {
    match arguments.ty(&of)? {
        ColumnType::SmallInt | ColumnType::Integer => {
            let one = Expr::Literal(Value::Number(1000), ColumnType::Decimal { precision: 4, scale: 3 });
            arguments.arithmetic(Arithmetic::Multiply, of, one)
        }
        _ => Ok(of),
    }
}
