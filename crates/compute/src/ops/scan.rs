//! `scan_sum(starts, x)`, `copy_down(starts, x)` and the like.

use super::*;
use crate::{circuits::columns, evaluation::less, range::sums};

pub(super) struct Scan<'a> {
    pub(super) scan: &'a crate::Scan,
}

use crate::Scan as Kind;

const NAMES: [&str; 4] = [Kind::ALL[0].name(), Kind::ALL[1].name(), Kind::ALL[2].name(), Kind::ALL[3].name()];

impl<'a> Scan<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&NAMES, "scan_sum(starts, x)", |c| {
            let name = c.arguments.name;
            let scan = Kind::ALL.into_iter().find(|s| s.name() == name);
            let scan = scan.ok_or_else(|| c.arguments.wrong("it scans rows"))?;
            Ok((Op::Scan(scan), c.operands()?))
        }),
        facts: |p| {
            let role = if *p.scan == Kind::Sum { OpRole::Sums } else { OpRole::Works };
            facts(p.scan.name(), 2, role)
        },
        infer: |p, of| {
            of.flagged()?;
            if *p.scan != Kind::First && !of.scalar(1).is_number() {
                return Err(of.from(1).wrong("it takes numbers"));
            }
            of.result(of.from(1).not_place()?, of.shape(1).clone())
        },
        range: |p, of| {
            if *p.scan != Kind::Sum {
                return of.same(1);
            }
            of.one(1, |x| match of.length(1, 0) {
                _ if (x.low, x.high) == (0, 0) => Reach::To(x),
                Some(n) => sums(x, 1, n.max(1)),
                None => Reach::Unknown,
            })
        },
        evaluate: |p, of| {
            let (starts, rows) = (of.x(), of.y());
            let inner: usize = rows.lengths()[1..].iter().product();
            let scalar = rows.scalar();
            let mut out = rows.clone();
            for row in (1..starts.len()).filter(|row| !starts.truth(*row)) {
                for i in row * inner..(row + 1) * inner {
                    if *p.scan == Kind::First {
                        let above = out.element(i - inner).to_vec();
                        out.element_mut(i).copy_from_slice(&above);
                        continue;
                    }
                    let (above, here) = (out.get(i - inner), rows.get(i));
                    let seen = match p.scan {
                        Kind::Sum => above.wrapping_add(here),
                        Kind::Min if less(scalar, above, here) => above,
                        Kind::Max if less(scalar, here, above) => above,
                        _ => here,
                    };
                    out.set(i, seen);
                }
            }
            Ok(out)
        },
        lowering: |p| {
            Lowering::stages(|values, site| {
                let (flags, bits) = (values.bits(site.args[0])?, values.bits(site.args[1])?);
                let Some(width) = bits.len().checked_div(flags.len()).filter(|w| *w > 0) else {
                    return Ok(Lowered::Bits(bits));
                };
                let rows =
                    flags.iter().zip(bits.chunks_exact(width)).map(|(flag, row)| [&[*flag], row].concat());
                let (rows, elements) = (rows.collect(), width / site.scalar.bits());
                let made = columns::scan(&mut values.stages, *p.scan, site.scalar, elements, rows)?;
                Ok(Lowered::Bits(made.iter().flat_map(|row| row[1..].iter().copied()).collect()))
            })
        },
        print: |_, w| w.call(""),
    };
}
