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

impl OpDef for PrefixSum<'_> {
    fn syntax() -> Syntax {
        Syntax::Call(&["prefix_sum"], "prefix_sum(x, axis=1)", |c| {
            let axis = c.arguments.axis()?;
            Ok((Op::PrefixSum(axis), c.operands()?))
        })
    }

    fn facts(&self) -> Facts {
        facts("prefix_sum", 1, Role::Sums)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        of.axis(*self.axis)?;
        of.result(of.numbers()?, of.shape(0).clone())
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        match of.length(0, usize::from(*self.axis)) {
            Some(n) => of.one(0, |x| sums(x, 1, n.max(1))),
            None => Reach::Unknown,
        }
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        let [outer, n, inner] = around(of.x().lengths(), usize::from(*self.axis));
        let mut out = of.x().clone();
        for o in 0..outer {
            for i in inner..n * inner {
                let at = o * n * inner + i;
                out.set(at, out.get(at).wrapping_add(out.get(at - inner)));
            }
        }
        Ok(out)
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::stages(|values, site| {
            let mut made = values.elements(site.args[0])?;
            let (n, places) = series(values.lengths(site.args[0]), usize::from(*self.axis));
            let all = places.iter().map(|s| s.iter().map(|i| made[*i].clone()).collect()).collect();
            let (width, network) = (site.scalar.bits(), columns::shallow(n));
            let sums = columns::prefixes(&mut values.stages, width, all, &network, words::add_mod)?;
            for (series, places) in sums.into_iter().zip(places) {
                series.into_iter().zip(places).for_each(|(sum, i)| made[i] = sum);
            }
            Ok(Lowered::Bits(made.concat()))
        })
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call(&print::axis(*self.axis))
    }
}
