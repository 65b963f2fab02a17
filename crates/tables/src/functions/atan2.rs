//! The SQL function ATAN2.

use super::{
    FnDef, Leaks, Meaning, call,
    real::{REAL, real},
};
use crate::algebra::{Arithmetic, Expr, Value};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["atan2"],
    arity: 2..=2,
    usage: "ATAN2(y, x)",
    gives: "DOUBLE",
    doc: "the angle of the point (x, y) in radians, above -π up to π; 0 of (0, 0)",
    example: "ATAN2(x, 1)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let reader = arguments.reader;
        let [y, x] = [0, 1].map(|at| real(arguments, arguments.all[at].clone()));
        let (y, x) = (y?, x?);
        let zero = || Expr::Literal(Value::Number(0), REAL);
        // π with 32 fractional bits, and half of it.
        let angle = |n: i128| Expr::Literal(Value::Number(n), REAL);
        let (half, whole) = (6_746_518_852, 13_493_037_705);
        let is = |op, of: &Expr| reader.compared(op, of.clone(), zero());
        let below = is(Comparison::Less, &y)?;
        let atan = call("atan", vec![reader.arithmetic(Arithmetic::Divide, y.clone(), x.clone())?], reader)?;
        let beside = |op| reader.arithmetic(op, atan.clone(), angle(whole));
        let on_axis = Expr::Case {
            branches: vec![
                (is(Comparison::Greater, &y)?, angle(half)),
                (below.clone(), angle(-half)),
                (y.clone().is_null(), Expr::Literal(Value::Null, REAL)),
            ],
            otherwise: Some(Box::new(zero())),
        };
        let left = Expr::Case {
            branches: vec![(below, beside(Arithmetic::Subtract)?)],
            otherwise: Some(Box::new(beside(Arithmetic::Add)?)),
        };
        Ok(Expr::Case {
            branches: vec![(is(Comparison::Equal, &x)?, on_axis), (is(Comparison::Less, &x)?, left)],
            otherwise: Some(Box::new(atan)),
        })
    }),
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::{numbers, values},
    };

    /// The angles of points in all quadrants and on the axes, compared with the standard library.
    #[test]
    fn angles_of_points() {
        let column = |name| Column::new(name, ColumnType::Integer).nullable();
        let ys = [Some(1), Some(1), Some(-1), Some(-2), Some(0), Some(3), Some(-3), None];
        let xs = [Some(1), Some(-1), Some(-3), Some(5), Some(-1), Some(0), Some(0), Some(0)];
        let made = values("atan2", &[(column("y"), numbers(ys)), (column("x"), numbers(xs))], &[]);
        for ((y, x), made) in ys.iter().zip(xs).zip(made) {
            let (Some(y), Some(x), Value::Number(n)) = (y, x, &made) else {
                assert_eq!((*y, &made), (None, &Value::Null));
                continue;
            };
            let found = *n as f64 / f64::from(2u32).powi(32);
            assert!((found - (*y as f64).atan2(x as f64)).abs() < 1e-8, "{y} {x}: {found}");
        }
    }
}
