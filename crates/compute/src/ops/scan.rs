//! `scan_sum(starts, x)`, `copy_down(starts, x)` and the like.

use super::*;
use crate::{circuits::columns, evaluation::less, range::sums};

pub(super) struct Scan<'a> {
    pub(super) scan: &'a crate::Scan,
}

use crate::Scan as Kind;

const NAMES: [&str; 4] = [Kind::ALL[0].name(), Kind::ALL[1].name(), Kind::ALL[2].name(), Kind::ALL[3].name()];

impl OpDef for Scan<'_> {
    fn syntax() -> Syntax {
        Syntax::Call(&NAMES, "scan_sum(starts, x)", |c| {
            let name = c.arguments.name;
            let scan = Kind::ALL.into_iter().find(|s| s.name() == name);
            let scan = scan.ok_or_else(|| c.arguments.wrong("it scans rows"))?;
            Ok((Op::Scan(scan), c.operands()?))
        })
    }

    fn facts(&self) -> Facts {
        let role = if *self.scan == Kind::Sum { Role::Sums } else { Role::Works };
        facts(self.scan.name(), 2, role)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        of.flagged()?;
        if *self.scan != Kind::First && !of.scalar(1).is_number() {
            return Err(of.from(1).wrong("it takes numbers"));
        }
        of.result(of.from(1).not_place()?, of.shape(1).clone())
    }

    fn range(&self, of: &Ranges<'_>) -> Reach {
        if *self.scan != Kind::Sum {
            return of.same(1);
        }
        of.one(1, |x| match of.length(1, 0) {
            _ if (x.low, x.high) == (0, 0) => Reach::To(x),
            Some(n) => sums(x, 1, n.max(1)),
            None => Reach::Unknown,
        })
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        let (starts, rows) = (of.x(), of.y());
        let inner: usize = rows.lengths()[1..].iter().product();
        let scalar = rows.scalar();
        let mut out = rows.clone();
        for row in (1..starts.len()).filter(|row| !starts.truth(*row)) {
            for i in row * inner..(row + 1) * inner {
                if *self.scan == Kind::First {
                    let above = out.element(i - inner).to_vec();
                    out.element_mut(i).copy_from_slice(&above);
                    continue;
                }
                let (above, here) = (out.get(i - inner), rows.get(i));
                let seen = match self.scan {
                    Kind::Sum => above.wrapping_add(here),
                    Kind::Min if less(scalar, above, here) => above,
                    Kind::Max if less(scalar, here, above) => above,
                    _ => here,
                };
                out.set(i, seen);
            }
        }
        Ok(out)
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::stages(|values, site| {
            let (flags, bits) = (values.bits(site.args[0])?, values.bits(site.args[1])?);
            let Some(width) = bits.len().checked_div(flags.len()).filter(|w| *w > 0) else {
                return Ok(Lowered::Bits(bits));
            };
            let rows = flags.iter().zip(bits.chunks_exact(width)).map(|(flag, row)| [&[*flag], row].concat());
            let (rows, elements) = (rows.collect(), width / site.scalar.bits());
            let made = columns::scan(&mut values.stages, *self.scan, site.scalar, elements, rows)?;
            Ok(Lowered::Bits(made.iter().flat_map(|row| row[1..].iter().copied()).collect()))
        })
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        w.call("")
    }
}
