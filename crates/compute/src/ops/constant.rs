//! `const(u64[2], [1, 2])`.

use super::*;
use crate::{
    Range,
    error::wrong,
    tensor::Literal,
    text::{
        literal::{literal, wide},
        parse::{Argument, What},
        print::WHOLE,
    },
};

pub(super) struct Constant<'a> {
    pub(super) tensor: &'a Tensor,
}

impl<'a> Constant<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["const"], "const(u64[2], [1, 2])", |c| Ok((Op::Constant(read(c)?), vec![]))),
        facts: |_| facts("constant", 0, OpRole::Works),
        infer: |p, of| {
            let scalar = p.tensor.scalar();
            if scalar == Scalar::Place || !scalar.is_valid() {
                return Err(ComputeError::ty(format!("no constant is a {scalar}"), "write numbers"));
            }
            of.result(scalar, p.tensor.shape())
        },
        range: |p, _| {
            let numbers = (0..p.tensor.len()).map(|i| p.tensor.number(i));
            match numbers.clone().all(|n| n.is_some()) {
                true => Range::around(numbers),
                false => Reach::Unknown,
            }
        },
        evaluate: |p, _| Ok(p.tensor.clone()),
        lowering: |p| Lowering::stages(|_, _| Ok(Lowered::Known(p.tensor.clone()))),
        print: |p, _| (written(p.tensor), WHOLE),
    };
}

/// `const(u64, 3)`, `const(u64[2], [1, 2])`: elements row after row.
fn read(c: &mut Call<'_>) -> Result<Tensor, ComputeError> {
    let a = &mut c.arguments;
    let place = a.place;
    let (scalar, shape) = a.ty()?;
    let items = match a.all {
        [Argument::List(items)] => items.iter().map(|item| (item.place, item.text.clone())).collect(),
        [Argument::Value { desc: false, value }] => match &value.what {
            What::Number(digits, negative) => {
                vec![(value.place, format!("{}{digits}", if *negative { "-" } else { "" }))]
            }
            What::Truth(truth) => vec![(value.place, truth.to_string())],
            _ => return Err(a.wrong("its second argument is a number or a list of numbers")),
        },
        _ => return Err(a.wrong("its second argument is a number or a list of numbers")),
    };
    let lengths = shape.lengths().ok_or_else(|| a.wrong("a constant's lengths are numbers"))?;
    if shape.elements() != Some(items.len()) {
        let cause = format!("{} elements stand for {scalar}{shape}", items.len());
        return Err(wrong(place, cause, "write as many as the shape has"));
    }
    let mut tensor = Tensor::zeros(scalar, &lengths);
    for (i, (place, text)) in items.iter().enumerate() {
        if scalar.bits() > 128 {
            wide(tensor.element_mut(i), scalar, text, *place)?;
        } else {
            tensor.set(i, literal(scalar, text, *place)?);
        }
    }
    Ok(tensor)
}

fn written(tensor: &Tensor) -> String {
    let scalar = tensor.scalar();
    let element = |i: usize| {
        if scalar.bits() > 128 {
            let digits: String = tensor.element(i).iter().rev().map(|w| format!("{w:016x}")).collect();
            let digits = digits.trim_start_matches('0');
            return format!("0x{}", if digits.is_empty() { "0" } else { digits });
        }
        Literal(scalar, tensor.get(i)).to_string()
    };
    if tensor.lengths().is_empty() {
        return if scalar == Scalar::Bool { element(0) } else { format!("const({scalar}, {})", element(0)) };
    }
    let elements: Vec<_> = (0..tensor.len()).map(element).collect();
    let lengths: Vec<_> = tensor.lengths().iter().map(usize::to_string).collect();
    format!("const({scalar}[{}], [{}])", lengths.join(", "), elements.join(", "))
}
