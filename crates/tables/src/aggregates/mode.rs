//! The SQL aggregate MODE.

use super::{AggregateDef, AggregateMeaning, MIN};
use crate::algebra::{Frame, WindowFunction, counted, when};
use hushwire_compute::Comparison;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["mode"],
    arity: 0..=1,
    usage: "MODE(value)",
    gives: "the value's type",
    doc: "the most frequent value; the least of several",
    example: "MODE(n)",
    distinct: false,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let (of, _) = arguments.ordered(arguments.all.first())?;
        let sum = WindowFunction::RunningSum(counted(&of), Frame::Peers);
        let count = arguments.figures.within(vec![of.clone()], vec![], sum)?;
        let most = WindowFunction::Extreme { of: count.clone(), greatest: true, frame: Frame::Peers };
        let most = arguments.figures.within(vec![], vec![], most)?;
        let is_mode = arguments.compared(Comparison::Equal, count, most)?;
        arguments.figure(&MIN, when(is_mode, of))
    }),
};
