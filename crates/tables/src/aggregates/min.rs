//! The SQL aggregate MIN.

use super::{
    AggregateDef, AggregateMeaning, Figure,
    figure::{FigureForm, as_it_is},
};
use crate::{algebra::ExprType, error::Refused};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["min"],
    arity: 1..=1,
    usage: "MIN(value)",
    gives: "the value's type",
    doc: "the least value",
    example: "MIN(name)",
    distinct: true,
    meaning: AggregateMeaning::Native(&MIN),
};

/// The least value.
pub static MIN: Figure = extreme("MIN", false);

/// The figure of the least or the greatest value.
pub(super) const fn extreme(name: &'static str, greatest: bool) -> Figure {
    Figure {
        name,
        form: FigureForm::Extreme { greatest },
        argument: as_it_is,
        check: |checked| {
            if !checked.of.ty.is_ordered() {
                return Err(Refused::no_order(&[checked.of]));
            }
            Ok(ExprType { nullable: checked.nullable, ..checked.of })
        },
        plain: if greatest {
            |values| values.all[values.all.len() - 1].clone()
        } else {
            |values| values.all[0].clone()
        },
        lower: if greatest { |rows| rows.extreme(true) } else { |rows| rows.extreme(false) },
        over: if greatest {
            |frame, of| frame.extreme(of, true)
        } else {
            |frame, of| frame.extreme(of, false)
        },
    }
}
