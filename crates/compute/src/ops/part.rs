//! `part(s, 0..8)`.

use super::*;
use crate::evaluation::put;

pub(super) struct Part<'a> {
    pub(super) from: &'a u16,
    pub(super) to: &'a u16,
}

impl<'a> Part<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["part"], "part(s, 0..8)", |c| {
            let s = c.arguments.value()?;
            let (from, to) = c.arguments.range()?;
            let [from, to] = [from, to].map(|n| u16::try_from(n).unwrap_or(u16::MAX));
            Ok((Op::Part { from, to }, c.only(s)?))
        }),
        facts: |_| facts("part", 1, OpRole::Works),
        infer: |p, of| {
            let (from, to) = (*p.from, *p.to);
            match of.scalar(0) {
                Scalar::Bits(n) if from < to && to <= n => of.each(Scalar::Bits(to - from)),
                Scalar::Bits(n) => {
                    let cause = format!("`part` takes bits {from}..{to} of {}", of.told());
                    Err(ComputeError::ty(cause, format!("it takes a bit or more, up to {n}")))
                }
                _ => Err(of.wrong("it takes strings of bits; cast what is as wide to bits(n)")),
            }
        },
        range: |_, _| Reach::Unknown,
        evaluate: |p, of| {
            let mut out = of.zeros();
            let bits = of.scalar.bits();
            (0..out.len()).for_each(|i| put(out.element_mut(i), 0, of.x().element(i), *p.from, bits));
            Ok(out)
        },
        lowering: |p| Lowering::each(|_, e| e.x()[usize::from(*p.from)..usize::from(*p.to)].to_vec()),
        print: |p, w| w.call(&format!(", {}..{}", p.from, p.to)),
    };
}
