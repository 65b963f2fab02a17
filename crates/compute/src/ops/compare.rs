//! `x == y`, `x < y` and the like.

use super::*;
use crate::{
    circuits::arith,
    evaluation::{less, place},
    text::print::COMPARISON,
};
use hushwire_circuit::words;

pub(super) struct Compare<'a> {
    pub(super) comparison: &'a Comparison,
}

impl<'a> Compare<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Between(
            &[
                ("==", Op::Compare(Comparison::Equal)),
                ("!=", Op::Compare(Comparison::NotEqual)),
                ("<", Op::Compare(Comparison::Less)),
                ("<=", Op::Compare(Comparison::LessOrEqual)),
                (">", Op::Compare(Comparison::Greater)),
                (">=", Op::Compare(Comparison::GreaterOrEqual)),
            ],
            COMPARISON,
        ),
        facts: |p| facts(p.comparison.sign(), 2, OpRole::Works),
        infer: |p, of| {
            if p.comparison.orders() {
                of.numbers()?;
            } else {
                of.alike(|s| s != Scalar::Place, "values")?;
            }
            of.each(Scalar::Bool)
        },
        range: |_, _| Reach::Unknown,
        evaluate: |p, of| {
            let scalar = of.x().scalar();
            let truth = |i: usize| {
                let [x, y] = [of.x(), of.y()].map(|t| (t, place(t, i)));
                if !p.comparison.orders() {
                    let equal = x.0.element(x.1) == y.0.element(y.1);
                    return equal == (*p.comparison == Comparison::Equal);
                }
                let [x, y] = [x, y].map(|(t, i)| t.get(i));
                match p.comparison {
                    Comparison::Less => less(scalar, x, y),
                    Comparison::Greater => less(scalar, y, x),
                    Comparison::LessOrEqual => !less(scalar, y, x),
                    _ => !less(scalar, x, y),
                }
            };
            Ok(of.made(|i| truth(i).into()))
        },
        lowering: |p| {
            Lowering::each(|b, e| {
                let truth = match p.comparison {
                    Comparison::Equal | Comparison::NotEqual => words::equal(b, e.x(), e.y()),
                    Comparison::Less | Comparison::GreaterOrEqual => {
                        arith::less(b, e.is_signed(), e.x(), e.y())
                    }
                    Comparison::Greater | Comparison::LessOrEqual => {
                        arith::less(b, e.is_signed(), e.y(), e.x())
                    }
                };
                vec![match p.comparison {
                    Comparison::Equal | Comparison::Less | Comparison::Greater => truth,
                    _ => b.not(truth),
                }]
            })
        },
        print: |_, w| w.between(COMPARISON),
    };
}
