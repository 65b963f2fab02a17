//! `conv2d(x, kernels)`.

use super::*;
use crate::{
    Dim,
    circuits::columns::{self, Series},
    range::sums,
    windows::{Convolution, convolved, way},
};

pub(super) struct Conv2d<'a> {
    pub(super) steps: &'a Steps,
    pub(super) groups: &'a u32,
}

impl<'a> Conv2d<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: {
            let usage = "conv2d(x, kernels, stride=[1, 1], pad=[0, 0, 0, 0], groups=1)";
            Syntax::Call(&["conv2d"], usage, |c| {
                let (steps, groups) = c.arguments.steps()?;
                Ok((Op::Conv2d { steps, groups }, c.operands()?))
            })
        },
        facts: |_| facts("conv2d", 2, OpRole::Sums),
        infer: |p, of| of.result(of.product()?, convolved(of, *p.steps, *p.groups)?),
        range: |p, of| {
            let lengths = |ty: &crate::Type| {
                let known = |dim: &Dim| match dim {
                    Dim::Known(n) => *n as usize,
                    // Only the number of images may be a symbol, and images do not mix.
                    Dim::Symbol(_) => 0,
                };
                ty.shape.0.iter().map(known).collect::<Vec<_>>()
            };
            let (x, kernels) = (lengths(of.types[0]), lengths(of.types[1]));
            let most = Convolution::new(&x, &kernels, *p.steps, *p.groups).terms();
            // Windows at an edge have fewer factors.
            of.two(0, 1, |x, y| x.corners(y, i128::checked_mul).then(|one| sums(one, 0, most as i128)))
        },
        evaluate: |p, of| {
            let (x, kernels) = (of.x(), of.y());
            let convolution = Convolution::new(x.lengths(), kernels.lengths(), *p.steps, *p.groups);
            if of.scalar.bits() <= 64 {
                let sums = convolution.words(of.scalar.bits(), x.words(), kernels.words());
                return Ok(Tensor::from_words(of.scalar, of.lengths, sums.into_iter().map(u128::from)));
            }
            Ok(of.made(|at| {
                let products = convolution.factors(at).map(|(i, k)| x.get(i).wrapping_mul(kernels.get(k)));
                products.fold(0, u128::wrapping_add)
            }))
        },
        lowering: |p| {
            Lowering::stages(|values, site| {
                let [x, kernels] = [site.args[0], site.args[1]];
                let (steps, groups) = (*p.steps, *p.groups);
                let convolution = Convolution::new(values.lengths(x), values.lengths(kernels), steps, groups);
                let (x, kernels) = (values.elements(x)?, values.elements(kernels)?);
                let windows = (0..site.to.iter().product()).map(|at| convolution.factors(at).unzip());
                let windows: Vec<(Vec<usize>, Vec<usize>)> = windows.collect();
                let width = site.scalar.bits();
                let made = values.by_length(
                    &windows,
                    |(x, _)| x.len(),
                    width,
                    |values, windows| {
                        let series = |places: &[usize], all: &[Vec<u32>]| -> Series {
                            places.iter().map(|i| all[*i].clone()).collect()
                        };
                        let pair =
                            |(of, by): &&(Vec<usize>, Vec<usize>)| (series(of, &x), series(by, &kernels));
                        let pairs: Vec<_> = windows.iter().map(pair).collect();
                        if pairs[0].0.is_empty() {
                            return values.stages.constants(&vec![false; pairs.len() * width]);
                        }
                        columns::dots(&mut values.stages, width, &pairs)
                    },
                );
                made.map(Lowered::Bits)
            })
        },
        print: |p, w| {
            let groups = if *p.groups == 1 { String::new() } else { format!(", groups={}", p.groups) };
            w.call(&format!("{}{groups}", way(*p.steps)))
        },
    };
}
