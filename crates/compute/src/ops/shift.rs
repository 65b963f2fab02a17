//! `x << 3` and `x >> 3`.

use super::*;
use crate::{circuits::arith::resized, range::doubled};

fn shifted(of: Operands<'_>, by: u16) -> Typed {
    let scalar = of.alike(|s| s.is_number() || matches!(s, Scalar::Bits(_)), "numbers or bits")?;
    if usize::from(by) >= scalar.bits() {
        let cause = format!("`{}` by {by} leaves nothing of {}", of.name, of.told());
        return Err(ComputeError::ty(cause, format!("it shifts by 0 to {} bits", scalar.bits() - 1)));
    }
    of.each(scalar)
}

/// Bit `i` of the result is bit `from(i)` if that exists, else the sign or 0.
fn moved(of: &Tensor, from: impl Fn(usize) -> Option<usize>, sign: bool) -> Tensor {
    let bits = of.scalar().bits();
    let mut out = Tensor::zeros(of.scalar(), of.lengths());
    for k in 0..of.len() {
        let bit = |i: usize| of.element(k)[i / 64] >> (i % 64) & 1;
        for i in 0..bits {
            let value = match from(i) {
                Some(j) if j < bits => bit(j),
                Some(_) if sign => bit(bits - 1),
                _ => 0,
            };
            out.element_mut(k)[i / 64] |= value << (i % 64);
        }
    }
    out
}

pub(super) struct ShiftLeft<'a> {
    pub(super) by: &'a u16,
}

impl<'a> ShiftLeft<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Shift("<<", Op::ShiftLeft),
        facts: |_| facts("<<", 1, OpRole::Works),
        infer: |p, of| shifted(of, *p.by),
        range: |p, of| of.one(0, |x| x.map(|x| doubled(x, u32::from(*p.by)))),
        evaluate: |p, of| Ok(moved(of.x(), |i| i.checked_sub(usize::from(*p.by)), false)),
        lowering: |p| {
            Lowering::each(|_, e| {
                let by = usize::from(*p.by);
                let mut out = vec![Bit::ZERO; by];
                out.extend(&e.x()[..e.x().len() - by]);
                out
            })
        },
        print: |p, w| w.shift(*p.by),
    };
}

pub(super) struct ShiftRight<'a> {
    pub(super) by: &'a u16,
}

impl<'a> ShiftRight<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Shift(">>", Op::ShiftRight),
        facts: |_| facts(">>", 1, OpRole::Works),
        infer: |p, of| shifted(of, *p.by),
        range: |p, of| of.one(0, |x| x.map(|x| Some(x >> p.by.min(&127)))),
        evaluate: |p, of| Ok(moved(of.x(), |i| Some(i + usize::from(*p.by)), of.x().scalar().is_signed())),
        lowering: |p| {
            Lowering::each(|_, e| resized(&e.x()[usize::from(*p.by)..], e.is_signed(), e.x().len()))
        },
        print: |p, w| w.shift(*p.by),
    };
}
