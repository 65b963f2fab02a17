//! The SQL function FLOOR.

use super::{FnDef, Leaks, Meaning, ceil::next_whole};
use crate::algebra::Arithmetic;
use hushwire_compute::Comparison;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["floor"],
    arity: 1..=1,
    usage: "FLOOR(number)",
    gives: "DECIMAL without digits after the point; the same type for a whole number",
    doc: "the greatest whole number that is not above it",
    example: "FLOOR(price)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| next_whole(arguments, Comparison::Greater, Arithmetic::Subtract)),
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType},
        functions::tests::{numbers, values},
    };

    #[test]
    fn whole_numbers_stay_and_others_go_down() {
        let column = Column::new("x", ColumnType::Double { frac: 8 }).within(-2000, 2000).nullable();
        let given = numbers([Some(256), Some(255), Some(-1), Some(-256), Some(384), Some(-384), None]);
        let expected = [Some(1), Some(0), Some(-1), Some(-1), Some(1), Some(-2), None];
        assert_eq!(values("floor", &[(column, given)], &[]), numbers(expected));
    }
}
