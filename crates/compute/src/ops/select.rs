//! `select(condition, x, y)`.

use super::*;
use crate::{evaluation::place, text::print::WHOLE};
use hushwire_circuit::words;

pub(super) struct Select;

impl Select {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["select"], "select(condition, x, y)", |c| {
            let a = &mut c.arguments;
            let (condition, yes, no) = (a.value()?, a.value()?, a.value()?);
            a.done()?;
            let mut operands = vec![c.scope.value(condition, Some(Scalar::Bool))?];
            operands.extend(c.scope.pair(yes, no, c.beside)?);
            Ok((Op::Select, operands))
        }),
        facts: |_| facts("select", 3, OpRole::Works),
        infer: |_, of| {
            if of.scalar(0) != Scalar::Bool {
                let cause = format!("`select` chooses by {}", Operands { all: &of.all[..1], ..of }.told());
                return Err(ComputeError::ty(
                    cause,
                    "its first operand is a truth value, such as a comparison",
                ));
            }
            of.each(of.from(1).alike(|s| s != Scalar::Place, "values")?)
        },
        range: |_, of| of.two(1, 2, |x, y| Reach::To(x.with(y))),
        evaluate: |_, of| {
            let mut out = of.zeros();
            for i in 0..out.len() {
                let from = if of.x().truth(place(of.x(), i)) { of.y() } else { of.operands[2] };
                out.element_mut(i).copy_from_slice(from.element(place(from, i)));
            }
            Ok(out)
        },
        lowering: |_| Lowering::each(|b, e| words::mux(b, e.x()[0], e.y(), &e.operands[2])),
        print: |_, w| {
            let [x, y] = w.names.pair(w.arguments[1], w.arguments[2], 0, 0);
            (format!("select({}, {x}, {y})", w.names.operand(w.arguments[0], 0)), WHOLE)
        },
    };
}
