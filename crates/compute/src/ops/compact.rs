//! `compact(flags, x, rows=10)`.

use super::*;
use crate::{Dim, Range, circuits::permutation::Permutation, text::literal::whole};
use hushwire_circuit::words;

pub(super) struct Compact<'a> {
    pub(super) rows: &'a u64,
}

impl<'a> Compact<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["compact"], "compact(flags, x, rows=10)", |c| {
            let rows = c.arguments.named("rows")?;
            let rows = rows.ok_or_else(|| c.arguments.wrong("say how many rows stay: rows=10"))?;
            Ok((Op::Compact { rows: whole(rows)? }, c.operands()?))
        }),
        facts: |_| facts("compact", 2, OpRole::Works),
        infer: |p, of| {
            of.flagged()?;
            let mut shape = of.shape(1).clone();
            shape.0[0] = Dim::Known(*p.rows);
            of.result(of.from(1).not_place()?, shape)
        },
        range: |_, of| of.one(1, |x| Reach::To(x.with(Range { low: 0, high: 0 }))),
        evaluate: |_, of| {
            let (flags, rows) = (of.x(), of.y());
            let inner: usize = of.lengths[1..].iter().product();
            let mut out = of.zeros();
            let kept = (0..flags.len()).filter(|i| flags.truth(*i)).take(of.lengths[0]);
            for (to, from) in kept.enumerate() {
                for i in 0..inner {
                    out.element_mut(to * inner + i).copy_from_slice(rows.element(from * inner + i));
                }
            }
            Ok(out)
        },
        lowering: |_| {
            Lowering::stages(|values, site| {
                let [flags, of] = [site.args[0], site.args[1]];
                let (flags, rows) = (values.bits(flags)?, values.bits(of)?);
                let (n, kept) = (flags.len(), site.to[0]);
                let width = match n {
                    0 => site.to[1..].iter().product::<usize>() * site.scalar.bits(),
                    n => rows.len() / n,
                };
                let stages = &mut values.stages;
                let turned = stages.run(n, &[1], flags.clone(), |b, flag| vec![b.not(flag[0][0])])?;
                let order = Permutation::sorting(stages, n, 1, &turned)?;
                let both: Vec<_> =
                    (0..n).flat_map(|r| [&flags[r..=r], &rows[r * width..][..width]].concat()).collect();
                let sorted = order.apply(stages, 1 + width, &both)?;
                let stay = kept.min(n);
                let copies = if width == 0 { 0 } else { stay };
                let reads = sorted[..stay * (1 + width)].to_vec();
                let cleared =
                    stages.run(copies, &[1, width], reads, |b, row| words::and_bit(b, row[0][0], &row[1]))?;
                let zeros = core::iter::repeat(stages.zero()?);
                Ok(Lowered::Bits(cleared.into_iter().chain(zeros).take(kept * width).collect()))
            })
        },
        print: |p, w| w.call(&format!(", rows={}", p.rows)),
    };
}
