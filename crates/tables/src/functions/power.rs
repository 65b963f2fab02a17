//! The SQL function POWER.

use super::{
    Arguments, ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    real::{self, POSITIVE, real},
};
use crate::{
    Fault,
    algebra::{Arithmetic, ColumnType, Expr, Value},
    fixed::{self, Fixed},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["power", "pow"],
    arity: 2..=2,
    usage: "POWER(number, exponent)",
    gives: "DOUBLE; a product's type for the exponents 0 to 16",
    doc: "the number to the power of the exponent, also `a ** b` and `a ^ b`; NULL where the number is below 0 and the exponent no literal whole number, and above e^42",
    example: "POWER(n, 2)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&POWER, bind),
};

static POWER: Primitive = Primitive {
    name: "POWER",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| real::checked(operands, POSITIVE, true),
    plain: |_, values| {
        real::value(&values, |x| match x[0] {
            ..0 => None,
            0 if x[1] <= 0 => (x[1] == 0).then_some(real::UNIT),
            0 => Some(0),
            _ => {
                let (made, large) = fixed::power(x[0], x[1]);
                (!large).then_some(made)
            }
        })
    },
    lower: |typed, cells| {
        real::lowered(typed, cells, |x| {
            let (of, by) = (x[0], x[1]);
            let (made, large) = fixed::power(of, by);
            let zero = of.0.equals(of.same(0).0);
            let (below, none) = (by.below(by.same(0)), by.0.equals(by.same(0).0));
            let of_zero = Fixed::choose(none, made.same(real::UNIT), made.same(0));
            let null = of.below(of.same(0)) | (zero & below) | (!zero & large);
            (Fixed::choose(zero, of_zero, made), Some(null))
        })
    },
    shown: as_call,
};

/// The largest exponent for which products are computed.
const MOST: i128 = 16;

fn bind(of: &'static Primitive, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let [base, exponent] = arguments.exactly()?;
    let literal = |n: i128, ty| Expr::Literal(Value::Number(n), ty);
    if let Expr::Literal(Value::Number(n), ty) = &exponent
        && !matches!(ty, ColumnType::Double { .. })
    {
        let unit = 10i128.pow(ty.scale().into());
        if n % unit == 0 && (n / unit).abs() <= MOST {
            let times = n / unit;
            let one = literal(1, ColumnType::Integer);
            let product = |of: Expr| {
                let more = (1..times.abs()).map(|_| of.clone());
                let mut product = of.clone();
                for next in more {
                    product = arguments.reader.arithmetic(Arithmetic::Multiply, product, next)?;
                }
                Ok::<_, Fault>(product)
            };
            return match times {
                // The result is 1, or NULL.
                0 => Ok(Expr::Case {
                    branches: vec![(base.clone().is_null(), Expr::Literal(Value::Null, ColumnType::Integer))],
                    otherwise: Some(Box::new(one)),
                }),
                1.. => product(base),
                _ => arguments.reader.arithmetic(Arithmetic::Divide, one, product(real(arguments, base)?)?),
            };
        }
        if 2 * n == unit {
            return super::call("sqrt", vec![base], arguments.reader);
        }
    }
    Ok(of.call(vec![real(arguments, base)?, real(arguments, exponent)?], vec![]))
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::{int, numbers, values},
    };

    #[test]
    fn whole_exponents_are_products() {
        let column = Column::new("x", ColumnType::Integer).nullable();
        let given = [(column, numbers([Some(-3), Some(0), Some(2), None]))];
        assert_eq!(values("power", &given, &[int(3)]), numbers([Some(-27), Some(0), Some(8), None]));
        assert_eq!(values("power", &given, &[int(0)]), numbers([Some(1), Some(1), Some(1), None]));
    }

    #[test]
    fn other_exponents_are_computed_by_logarithms() {
        let ty = ColumnType::Double { frac: 32 };
        let of = |x: f64| Some((x * 2f64.powi(32)).round() as i128);
        let column = |name| Column::new(name, ty).nullable();
        let given = [
            (column("x"), numbers([of(2.0), of(0.0), of(0.0), of(-1.0), of(9.0), None])),
            (column("y"), numbers([of(10.0), of(0.0), of(1.5), of(2.0), of(0.5), of(1.0)])),
        ];
        let made = values("power", &given, &[]);
        let near = |value: &Value, x: f64| {
            let made = value.number().map(|n| n as f64 / 2f64.powi(32));
            assert!(made.is_some_and(|made| (made - x).abs() < 1e-6), "{value:?} is {x}");
        };
        near(&made[0], 1024.0);
        near(&made[1], 1.0);
        near(&made[2], 0.0);
        near(&made[4], 3.0);
        assert_eq!(made[3], Value::Null);
        assert_eq!(made[5], Value::Null);
    }
}
