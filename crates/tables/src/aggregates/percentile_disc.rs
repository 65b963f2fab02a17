//! The SQL aggregate PERCENTILE_DISC.

use super::{AggregateDef, AggregateMeaning};
use crate::algebra::{Arithmetic, whole};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["percentile_disc", "quantile_disc", "quantile"],
    arity: 1..=2,
    usage: "PERCENTILE_DISC(share) WITHIN GROUP (ORDER BY value)",
    gives: "the value's type",
    doc: "the first value in the order that the share of all values does not exceed; also `QUANTILE(value, share)`",
    example: "PERCENTILE_DISC(0.5) WITHIN GROUP (ORDER BY n)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let (of, descending, (p, q)) = arguments.percentile()?;
        let (place, count) = arguments.places(&of, descending)?;
        // The place is rounded up, and at least 1.
        let wanted = arguments.arithmetic(Arithmetic::Multiply, count, whole(p))?;
        let wanted = arguments.arithmetic(Arithmetic::Add, wanted, whole(q - 1))?;
        let wanted = arguments.arithmetic(Arithmetic::DivideWhole, wanted, whole(q))?;
        let wanted = arguments.call("greatest", vec![wanted, whole(1)])?;
        arguments.at_place(&of, descending, &place, wanted)
    }),
};
