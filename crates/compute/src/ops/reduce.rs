//! `sum(x)`, `min_of(x)`, `all(c)`, `argmax(x)` and the like.

use super::*;
use crate::{
    Range,
    circuits::{columns, values::series},
    evaluation::{around, ends, less},
    range::sums,
    tensor::{mask, number},
    text::print,
};

pub(super) struct Reduce<'a> {
    pub(super) reduction: &'a Reduction,
    pub(super) axis: &'a u8,
}

const NAMES: [&str; 9] = {
    let mut names = [""; 9];
    let mut k = 0;
    while k < names.len() {
        names[k] = Reduction::ALL[k].name();
        k += 1;
    }
    names
};

impl<'a> Reduce<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&NAMES, "sum(x, axis=1)", |c| {
            let name = c.arguments.name;
            let reduction = Reduction::ALL.into_iter().find(|r| r.name() == name);
            let reduction = reduction.ok_or_else(|| c.arguments.wrong("it reduces an axis"))?;
            let axis = c.arguments.axis()?;
            Ok((Op::Reduce(reduction, axis), c.operands()?))
        }),
        facts: |p| {
            let sums = matches!(p.reduction, Reduction::Sum | Reduction::Mean);
            facts(p.reduction.name(), 1, if sums { OpRole::Sums } else { OpRole::Works })
        },
        infer: |p, of| {
            let (scalar, shape) = (of.scalar(0), of.without(*p.axis)?);
            let ok = match p.reduction {
                Reduction::All | Reduction::Any | Reduction::Count => scalar == Scalar::Bool,
                _ => scalar.is_number(),
            };
            if !ok {
                let wants = if scalar == Scalar::Bool { "numbers" } else { "truth values" };
                return Err(of.wrong(format!("it takes {wants}")));
            }
            let place = matches!(p.reduction, Reduction::Count | Reduction::ArgMin | Reduction::ArgMax);
            of.result(if place { Scalar::unsigned(64) } else { scalar }, shape)
        },
        range: |p, of| {
            let Some(n) = of.length(0, usize::from(*p.axis)) else { return Reach::Unknown };
            match p.reduction {
                Reduction::Count => Reach::To(Range { low: 0, high: n }),
                Reduction::ArgMin | Reduction::ArgMax => Reach::To(Range { low: 0, high: (n - 1).max(0) }),
                Reduction::Sum => of.one(0, |x| sums(x, n, n)),
                Reduction::Min | Reduction::Max if n > 0 => of.same(0),
                Reduction::Mean if n > 0 => of.one(0, |x| of.mean(x, n)),
                _ => Reach::Unknown,
            }
        },
        evaluate: |p, of| Ok(p.evaluated(of)),
        lowering: |p| {
            Lowering::stages(|values, site| {
                let x = site.args[0];
                let scalar = values.scalar(x);
                let (n, places) = series(values.lengths(x), usize::from(*p.axis));
                if n == 0 {
                    let nothing = Tensor::zeros(scalar, values.lengths(x));
                    let of = Evaluation { operands: &[&nothing], scalar: site.scalar, lengths: site.to };
                    return Ok(Lowered::Known(p.evaluated(of)));
                }
                let elements = values.elements(x)?;
                let all = places.iter().map(|s| s.iter().map(|i| elements[*i].clone()).collect()).collect();
                columns::reduce(&mut values.stages, *p.reduction, scalar, all).map(Lowered::Bits)
            })
        },
        print: |p, w| w.call(&print::axis(*p.axis)),
    };

    fn evaluated(&self, of: Evaluation<'_>) -> Tensor {
        let [_, n, inner] = around(of.x().lengths(), usize::from(*self.axis));
        let line = |k: usize| (0..n).map(move |i| of.x().get((k / inner * n + i) * inner + k % inner));
        of.made(|k| reduced(*self.reduction, of.x().scalar(), &line(k)))
    }
}

/// Reduces elements of a scalar, in order.
pub(super) fn reduced(
    reduction: Reduction,
    scalar: Scalar,
    all: &(impl ExactSizeIterator<Item = u128> + Clone),
) -> u128 {
    let (n, (least, greatest)) = (all.len(), ends(scalar));
    let sum = || all.clone().fold(0, u128::wrapping_add);
    let first = |better: &dyn Fn(u128, u128) -> bool| {
        let mut best: Option<(usize, u128)> = None;
        for (i, x) in all.clone().enumerate() {
            if best.is_none_or(|(_, b)| better(x, b)) {
                best = Some((i, x));
            }
        }
        best
    };
    let lesser = |x, y| less(scalar, x, y);
    let greater = |x, y| less(scalar, y, x);
    match reduction {
        Reduction::Sum | Reduction::Count => sum(),
        Reduction::All => all.clone().all(|x| x == 1).into(),
        Reduction::Any => all.clone().any(|x| x == 1).into(),
        Reduction::Min => first(&lesser).map_or(greatest, |b| b.1),
        Reduction::Max => first(&greater).map_or(least, |b| b.1),
        Reduction::ArgMin => first(&lesser).map_or(0, |b| b.0 as u128),
        Reduction::ArgMax => first(&greater).map_or(0, |b| b.0 as u128),
        Reduction::Mean if n == 0 => u128::MAX,
        Reduction::Mean => {
            let sum = sum() & mask(scalar.bits());
            match number(scalar, sum).filter(|_| scalar.is_signed()) {
                Some(signed) => (signed / n as i128).cast_unsigned(),
                None => sum / n as u128,
            }
        }
    }
}
