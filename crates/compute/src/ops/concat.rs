//! `concat(x, y)`.

use super::*;
use crate::{Dim, text::print};

pub(super) struct Concat<'a> {
    pub(super) axis: &'a u8,
}

impl<'a> Concat<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["concat"], "concat(x, y, axis=1)", |c| {
            let axis = c.arguments.axis()?;
            Ok((Op::Concat(axis), c.operands()?))
        }),
        facts: |_| OpFacts { name: "concat", arity: None, role: OpRole::Works },
        infer: |p, of| {
            let axis = *p.axis;
            let scalar = of.alike(|s| s != Scalar::Place, "values")?;
            let mut sum = 0u64;
            for k in 0..of.all.len() {
                let dim = of.from(k).axis(axis)?;
                let Dim::Known(n) = dim else {
                    let cause = format!("`concat` along an axis of length {dim}");
                    return Err(ComputeError::ty(cause, "the lengths along that axis are numbers"));
                };
                if of.from(k).without(axis)? != of.without(axis)? {
                    let cause = format!("`concat` along axis {axis} of {}", of.told());
                    return Err(ComputeError::ty(cause, "all other axes are of one length"));
                }
                let more = sum.checked_add(*n);
                sum = more.ok_or_else(|| ComputeError::ty("`concat` of too many rows", "take fewer"))?;
            }
            let mut shape = of.shape(0).clone();
            shape.0[usize::from(axis)] = Dim::Known(sum);
            of.result(scalar, shape)
        },
        range: |_, of| {
            let all: Vec<_> = (0..of.types.len()).map(|k| of.of(k)).collect();
            let all: Option<Vec<_>> = all.into_iter().collect();
            all.and_then(|all| all.into_iter().reduce(crate::Range::with)).map_or(Reach::Unknown, Reach::To)
        },
        evaluate: |p, of| {
            let axis = usize::from(*p.axis);
            let run = |part: &Tensor| part.lengths()[axis..].iter().product::<usize>();
            let mut out = of.zeros();
            let mut at = 0;
            for outer in 0..of.lengths[..axis].iter().product::<usize>() {
                for part in of.operands {
                    for i in outer * run(part)..(outer + 1) * run(part) {
                        out.element_mut(at).copy_from_slice(part.element(i));
                        at += 1;
                    }
                }
            }
            Ok(out)
        },
        lowering: |p| {
            Lowering::moves(|operands, lengths| {
                let axis = usize::from(*p.axis);
                let count = |lengths: &[usize]| lengths.iter().product::<usize>();
                let mut places = Vec::with_capacity(count(lengths));
                for outer in 0..count(&lengths[..axis]) {
                    let mut before = 0;
                    for part in operands {
                        let run = count(&part[axis..]);
                        places.extend(before + outer * run..before + (outer + 1) * run);
                        before += count(part);
                    }
                }
                places
            })
        },
        print: |p, w| w.call(&print::axis(*p.axis)),
    };
}
