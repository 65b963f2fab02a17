//! `gather(x, places)`.

use super::*;
use crate::Visibility;

pub(super) struct Gather;

impl Gather {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["gather"], "gather(x, places)", |c| Ok((Op::Gather, c.operands()?))),
        facts: |_| facts("gather", 2, OpRole::Moves),
        infer: |_, of| {
            let (_, places) = of.all[1];
            let integers = matches!(places.scalar, Scalar::Int { .. });
            if places.visibility != Visibility::Public || !integers || places.shape.rank() != 1 {
                return Err(of.wrong("places are a public vector of integers"));
            }
            of.axis(0)?;
            let mut shape = of.shape(0).clone();
            shape.0[0] = places.shape.0[0].clone();
            of.result(of.not_place()?, shape)
        },
        range: |_, of| of.same(0),
        evaluate: |_, of| {
            let found = rows(of.y(), of.x().lengths()[0])?;
            Ok(of.rows(of.x(), |i| found[i]))
        },
        lowering: |_| {
            Lowering::stages(|values, site| {
                let (x, places) = (site.args[0], site.args[1]);
                let lengths = values.lengths(x);
                let Some(places) = values.known(places) else {
                    let cause = "the places of a `gather` are an input";
                    return Err(ComputeError::ty(cause, "a circuit takes constants alone"));
                };
                let inner: usize = site.to[1..].iter().product();
                let found = rows(places, lengths[0])?;
                let elements: Vec<usize> =
                    found.iter().flat_map(|row| row * inner..(row + 1) * inner).collect();
                values.moved(&[x], &elements).map(Lowered::Bits)
            })
        },
        print: |_, w| w.call(""),
    };
}

/// Places as row numbers below `n`.
fn rows(places: &Tensor, n: usize) -> Result<Vec<usize>, ComputeError> {
    let known = |i| places.number(i).and_then(|p| usize::try_from(p).ok()).filter(|p| *p < n);
    let found = (0..places.len()).map(|i| {
        known(i).ok_or_else(|| ComputeError::Input {
            input: "places of a gather".into(),
            cause: match places.number(i) {
                Some(place) => format!("place {place} is none of the {n} rows"),
                None => format!("element {i} is no number, and so none of the {n} rows"),
            },
            remedy: "count rows from 0".into(),
        })
    });
    found.collect()
}
