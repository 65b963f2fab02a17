//! `circuit(name, s, t)`.

use super::*;
use crate::{
    error::wrong,
    evaluation::place,
    text::{
        parse::{Expr, What},
        print::WHOLE,
    },
};

pub(super) struct Circuit<'a> {
    pub(super) circuit: &'a Netlist,
}

impl OpDef for Circuit<'_> {
    fn syntax() -> Syntax {
        Syntax::Call(&["circuit"], "circuit(name, s, t)", |c| {
            let Expr { place, what: What::Name(name) } = c.arguments.value()? else {
                return Err(c.arguments.wrong("its first argument is a circuit's name"));
            };
            let missing = || {
                let remedy = format!("write `circuit {name} […]` before");
                wrong(*place, format!("there is no circuit {name}"), remedy)
            };
            let circuit = c.scope.circuit(name).ok_or_else(missing)?;
            Ok((Op::Circuit(circuit), c.operands()?))
        })
    }

    fn facts(&self) -> Facts {
        facts("circuit", self.circuit.inputs().len(), Role::Works)
    }

    fn infer(&self, of: Operands<'_>) -> Typed {
        for (i, width) in self.circuit.inputs().iter().enumerate() {
            if of.scalar(i) != Scalar::Bits(*width as u16) {
                let operand = Operands { all: &of.all[i..=i], ..of };
                let cause = format!("input {i} of a `circuit` is {}", operand.told());
                return Err(ComputeError::ty(
                    cause,
                    format!("it has bits({width}); cast what is as wide to it"),
                ));
            }
        }
        of.each(Scalar::Bits(self.circuit.output_bits() as u16))
    }

    fn range(&self, _: &Ranges<'_>) -> Reach {
        Reach::Unknown
    }

    fn evaluate(&self, of: Evaluation<'_>) -> Result<Tensor, ComputeError> {
        let whole = |t: &&Tensor| t.picked(of.lengths, |i| place(t, i));
        let operands: Vec<Tensor> = of.operands.iter().map(whole).collect();
        Ok(self.circuit.run(&operands, of.scalar, of.lengths))
    }

    fn lowering(&self) -> Lowering<'_> {
        Lowering::each(|b, e| self.circuit.build(b, e.operands))
    }

    fn print(&self, w: Writing<'_>) -> Printed {
        (format!("circuit(c{}, {})", w.names.circuit(self.circuit), w.all()), WHOLE)
    }
}
