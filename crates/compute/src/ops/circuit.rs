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

impl<'a> Circuit<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["circuit"], "circuit(name, s, t)", |c| {
            let Expr { place, what: What::Name(name) } = c.arguments.value()? else {
                return Err(c.arguments.wrong("its first argument is a circuit's name"));
            };
            let missing = || {
                let remedy = format!("write `circuit {name} […]` before");
                wrong(*place, format!("there is no circuit {name}"), remedy)
            };
            let circuit = c.scope.circuit(name).ok_or_else(missing)?;
            Ok((Op::Circuit(circuit), c.operands()?))
        }),
        facts: |p| facts("circuit", p.circuit.inputs().len(), OpRole::Works),
        infer: |p, of| {
            for (i, width) in p.circuit.inputs().iter().enumerate() {
                if of.scalar(i) != Scalar::Bits(*width as u16) {
                    let operand = Operands { all: &of.all[i..=i], ..of };
                    let cause = format!("input {i} of a `circuit` is {}", operand.told());
                    return Err(ComputeError::ty(
                        cause,
                        format!("it has bits({width}); cast what is as wide to it"),
                    ));
                }
            }
            of.each(Scalar::Bits(p.circuit.output_bits() as u16))
        },
        range: |_, _| Reach::Unknown,
        evaluate: |p, of| {
            let whole = |t: &&Tensor| t.picked(of.lengths, |i| place(t, i));
            let operands: Vec<Tensor> = of.operands.iter().map(whole).collect();
            Ok(p.circuit.run(&operands, of.scalar, of.lengths))
        },
        lowering: |p| Lowering::each(|b, e| p.circuit.build(b, e.operands)),
        print: |p, w| (format!("circuit(c{}, {})", w.names.circuit(p.circuit), w.all()), WHOLE),
    };
}
