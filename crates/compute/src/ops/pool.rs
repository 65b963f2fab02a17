//! `pool_max(x, [2, 2])` and the like.

use super::{reduce::reduced, *};
use crate::{
    circuits::columns,
    range::sums,
    text::arguments::numbers,
    windows::{pooled, pooled_shape, way},
};

pub(super) struct Pool<'a> {
    pub(super) reduction: &'a Reduction,
    pub(super) size: &'a [u32; 2],
    pub(super) steps: &'a Steps,
}

/// The name of pooling by a reduction. For other reductions than these four, the checker lists the
/// valid ones.
const fn name(reduction: Reduction) -> &'static str {
    match reduction {
        Reduction::Sum => "pool_sum",
        Reduction::Mean => "pool_mean",
        Reduction::Min => "pool_min",
        Reduction::Max => "pool_max",
        _ => "pool",
    }
}

impl<'a> Pool<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: {
            let usage = "pool_max(x, [2, 2], stride=[1, 1], pad=[0, 0, 0, 0])";
            Syntax::Call(&["pool_sum", "pool_mean", "pool_min", "pool_max", "pool"], usage, |c| {
                let reduction = Reduction::ALL.into_iter().find(|r| name(*r) == c.arguments.name);
                let reduction = reduction.ok_or_else(|| c.arguments.wrong("it reduces windows"))?;
                let (steps, _) = c.arguments.steps()?;
                let x = c.arguments.value()?;
                let size = numbers(c.arguments.list()?, &c.arguments)?;
                Ok((Op::Pool { reduction, size, steps }, c.only(x)?))
            })
        },
        facts: |p| {
            let sums = matches!(p.reduction, Reduction::Sum | Reduction::Mean);
            facts(name(*p.reduction), 1, if sums { OpRole::Sums } else { OpRole::Works })
        },
        infer: |p, of| of.result(of.numbers()?, pooled_shape(of, *p.reduction, *p.size, *p.steps)?),
        range: |p, of| {
            let most = i128::from(p.size[0]) * i128::from(p.size[1]);
            of.one(0, |x| match p.reduction {
                Reduction::Sum => sums(x, 1, most),
                Reduction::Mean => of.mean(x, most),
                _ => Reach::To(x),
            })
        },
        evaluate: |p, of| {
            let (x, lengths) = (of.x(), of.x().lengths());
            let plane = lengths[lengths.len() - 2] * lengths[lengths.len() - 1];
            let count: usize = of.lengths[of.lengths.len() - 2..].iter().product();
            // Windows are the same in all planes.
            let some = if of.count() == 0 { 0 } else { count };
            let windows: Vec<Vec<usize>> =
                (0..some).map(|at| pooled(lengths, *p.size, *p.steps, at)).collect();
            Ok(of.made(|at| {
                let (first, places) = (at / count * plane, &windows[at % count]);
                reduced(*p.reduction, of.scalar, &places.iter().map(|i| x.get(first + i)))
            }))
        },
        lowering: |p| {
            Lowering::stages(|values, site| {
                let lengths = values.lengths(site.args[0]);
                let windows = (0..site.to.iter().product()).map(|at| pooled(lengths, *p.size, *p.steps, at));
                let windows: Vec<Vec<usize>> = windows.collect();
                let (elements, scalar) = (values.elements(site.args[0])?, site.scalar);
                let made = values.by_length(&windows, Vec::len, scalar.bits(), |values, windows| {
                    let series = |places: &&Vec<usize>| places.iter().map(|i| elements[*i].clone()).collect();
                    let all = windows.iter().map(series).collect();
                    columns::reduce(&mut values.stages, *p.reduction, scalar, all)
                });
                made.map(Lowered::Bits)
            })
        },
        print: |p, w| w.call(&format!(", {:?}{}", p.size, way(*p.steps))),
    };
}
