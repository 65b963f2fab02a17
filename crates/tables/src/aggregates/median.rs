//! The SQL aggregate MEDIAN.

use super::{AggregateDef, AggregateMeaning, percentile_cont};

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["median"],
    arity: 1..=1,
    usage: "MEDIAN(number)",
    gives: "as a quotient of the number's type",
    doc: "the middle value, or the mean of the two middle ones",
    example: "MEDIAN(n)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let [of] = arguments.exactly()?;
        percentile_cont::between(arguments, &of, false, (1, 2))
    }),
};
