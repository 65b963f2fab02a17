//! `permute(x, p)` and `invert(p)`.

use super::*;

pub(super) struct Permute;

impl Permute {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["permute"], "permute(x, p)", |c| Ok((Op::Permute, c.operands()?))),
        facts: |_| facts("permute", 2, OpRole::Works),
        infer: |_, of| {
            if of.scalar(1) != Scalar::Place {
                return Err(of
                    .from(1)
                    .wrong_by("its second operand is a permutation, such as order(…) makes"));
            }
            if of.shape(0).0.first() != of.shape(1).0.first() {
                return Err(of.wrong("both have as many rows"));
            }
            of.result(of.scalar(0), of.shape(0).clone())
        },
        range: |_, of| of.same(0),
        evaluate: |_, of| Ok(of.rows(of.x(), |i| of.y().get(i) as usize)),
        lowering: |_| {
            Lowering::stages(|values, site| {
                let order = values.order(site.args[1]);
                if site.scalar == Scalar::Place {
                    return Ok(Lowered::Order(values.order(site.args[0]).then(&order)));
                }
                let rows = values.bits(site.args[0])?;
                let width = rows.len().checked_div(order.rows).unwrap_or(0);
                order.apply(&mut values.stages, width, &rows).map(Lowered::Bits)
            })
        },
        print: |_, w| w.call(""),
    };
}

pub(super) struct Invert;

impl Invert {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["invert"], "invert(p)", |c| Ok((Op::Invert, c.operands()?))),
        facts: |_| facts("invert", 1, OpRole::Works),
        infer: |_, of| {
            if of.scalar(0) != Scalar::Place {
                return Err(of.wrong("it takes a permutation, such as order(…) makes"));
            }
            of.result(Scalar::Place, of.shape(0).clone())
        },
        range: |_, _| Reach::Unknown,
        evaluate: |_, of| {
            let mut out = of.zeros();
            (0..out.len()).for_each(|i| out.set(of.x().get(i) as usize, i as u128));
            Ok(out)
        },
        lowering: |_| {
            Lowering::stages(|values, site| Ok(Lowered::Order(values.order(site.args[0]).inverted())))
        },
        print: |_, w| w.call(""),
    };
}
