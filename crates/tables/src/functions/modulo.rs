//! The SQL function MOD.

use super::{FnDef, Leaks, Meaning};
use crate::algebra::Arithmetic;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["mod"],
    arity: 2..=2,
    usage: "MOD(number, number)",
    gives: "the type of `a % b`",
    doc: "the remainder of a division, with the sign of the dividend; NULL where the divisor is 0",
    example: "MOD(n, 4)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let [a, b] = arguments.exactly()?;
        arguments.reader.arithmetic(Arithmetic::Remainder, a, b)
    }),
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    #[test]
    fn remainders_have_the_sign_of_what_is_divided() {
        let column = |name| Column::new(name, ColumnType::Integer).nullable();
        let given = [
            (column("x"), numbers([Some(7), Some(-7), Some(7), Some(1), None])),
            (column("y"), numbers([Some(3), Some(3), Some(-3), Some(0), Some(2)])),
        ];
        assert_eq!(values("mod", &given, &[]), numbers([Some(1), Some(-1), Some(1), None, None]));
    }
}
