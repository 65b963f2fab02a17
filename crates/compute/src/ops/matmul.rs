//! `matmul(x, y)`.

use super::*;
use crate::{circuits::columns, range::sums};
use hushwire_columns::{Number, TILE};

pub(super) struct MatMul;

impl MatMul {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["matmul"], "matmul(x, y)", |c| Ok((Op::MatMul, c.operands()?))),
        facts: |_| facts("matmul", 2, OpRole::Sums),
        infer: |_, of| {
            let scalar = of.product()?;
            let [a, b] = [0, 1].map(|k: usize| &of.shape(k).0[..]);
            let (inner, outer) = match (a, b) {
                ([k], [l]) => ((k, l), vec![]),
                ([m, k], [l]) => ((k, l), vec![m]),
                ([k], [l, n]) => ((k, l), vec![n]),
                ([m, k], [l, n]) => ((k, l), vec![m, n]),
                _ => return Err(of.wrong("it takes vectors and matrices")),
            };
            if inner.0 != inner.1 {
                return Err(of.wrong("the last axis of the first is as long as the first of the second"));
            }
            of.result(scalar, Shape(outer.into_iter().cloned().collect()))
        },
        range: |_, of| match of.length(0, of.types[0].shape.rank() - 1) {
            Some(n) => of.two(0, 1, |x, y| x.corners(y, i128::checked_mul).then(|one| sums(one, n, n))),
            None => Reach::Unknown,
        },
        evaluate: |_, of| {
            let (a, b) = (of.x(), of.y());
            let k = *a.lengths().last().expect("the checker wants axes");
            let columns = if b.lengths().len() == 2 { b.lengths()[1] } else { 1 };
            if of.scalar.bits() <= 64 && [a, b].iter().all(|x| x.scalar().bits() <= 64) && columns > 1 {
                let places: Vec<usize> = (0..k).map(|i| i * columns).collect();
                let right = [b.words(), &[0; TILE]].concat();
                let start = vec![0; of.count() / columns];
                let made = u64::sums(a.words(), &places, &right, &start, columns);
                return Ok(Tensor::from_words(of.scalar, of.lengths, made.into_iter().map(u128::from)));
            }
            Ok(of.made(|at| {
                let (row, column) = (at / columns, at % columns);
                (0..k).fold(0u128, |sum, i| {
                    sum.wrapping_add(a.get(row * k + i).wrapping_mul(b.get(i * columns + column)))
                })
            }))
        },
        lowering: |_| {
            Lowering::stages(|values, site| {
                let [a, b] = [site.args[0], site.args[1]];
                let (la, lb) = (values.lengths(a), values.lengths(b));
                let (k, cols) = (la[la.len() - 1], if lb.len() == 2 { lb[1] } else { 1 });
                let rows = if la.len() == 2 { la[0] } else { 1 };
                let width = site.scalar.bits();
                if k == 0 {
                    return values.stages.constants(&vec![false; rows * cols * width]).map(Lowered::Bits);
                }
                let (x, y) = (values.elements(a)?, values.elements(b)?);
                let pair = |at: usize| {
                    let (r, c) = (at / cols, at % cols);
                    (
                        (0..k).map(|i| x[r * k + i].clone()).collect(),
                        (0..k).map(|i| y[i * cols + c].clone()).collect(),
                    )
                };
                let pairs: Vec<_> = (0..rows * cols).map(pair).collect();
                columns::dots(&mut values.stages, width, &pairs).map(Lowered::Bits)
            })
        },
        print: |_, w| w.call(""),
    };
}
