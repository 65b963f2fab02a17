//! `prefix_sum(x)`.

use super::*;
use crate::{
    circuits::{columns, values::series},
    evaluation::around,
    range::sums,
    text::print,
};
use hushwire_circuit::words;

pub(super) struct PrefixSum<'a> {
    pub(super) axis: &'a u8,
}

impl<'a> PrefixSum<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["prefix_sum"], "prefix_sum(x, axis=1)", |c| {
            let axis = c.arguments.axis()?;
            Ok((Op::PrefixSum(axis), c.operands()?))
        }),
        facts: |_| facts("prefix_sum", 1, OpRole::Sums),
        infer: |p, of| {
            of.axis(*p.axis)?;
            of.result(of.numbers()?, of.shape(0).clone())
        },
        range: |p, of| match of.length(0, usize::from(*p.axis)) {
            Some(n) => of.one(0, |x| sums(x, 1, n.max(1))),
            None => Reach::Unknown,
        },
        evaluate: |p, of| {
            let [outer, n, inner] = around(of.x().lengths(), usize::from(*p.axis));
            let mut out = of.x().clone();
            for o in 0..outer {
                for i in inner..n * inner {
                    let at = o * n * inner + i;
                    out.set(at, out.get(at).wrapping_add(out.get(at - inner)));
                }
            }
            Ok(out)
        },
        lowering: |p| {
            Lowering::stages(|values, site| {
                let mut made = values.elements(site.args[0])?;
                let (n, places) = series(values.lengths(site.args[0]), usize::from(*p.axis));
                let all = places.iter().map(|s| s.iter().map(|i| made[*i].clone()).collect()).collect();
                let (width, network) = (site.scalar.bits(), columns::shallow(n));
                let sums = columns::prefixes(&mut values.stages, width, all, &network, words::add_mod)?;
                for (series, places) in sums.into_iter().zip(places) {
                    series.into_iter().zip(places).for_each(|(sum, i)| made[i] = sum);
                }
                Ok(Lowered::Bits(made.concat()))
            })
        },
        print: |p, w| w.call(&print::axis(*p.axis)),
    };
}
