//! Steps without a message.

use crate::{
    TwoError,
    form::{Form, Words, numbers},
    lower::Two,
    ops::{local_matmul, minus, plus},
    order::Order,
    plan::Step,
    prim::OwnLocal,
    ring::mask,
};
use hushwire_block::Wiped;
use hushwire_circuit::{Planes, Program, eval, planes::plane_bytes};
use hushwire_compute::{Tensor, back_end};
use hushwire_plan::{Local, Picks, Size, gathered};
use std::sync::Arc;

/// A party's own inputs, and nothing of the other's.
pub(crate) type Brought = Vec<Option<Tensor>>;

/// The value of a step that needs no message.
pub(crate) fn local(
    party: usize,
    brought: &Brought,
    step: &Step,
    prim: &Local<Two>,
    reads: &[Form],
) -> Result<Form, TwoError> {
    let words = |ring: u32, own: Vec<u64>| Form::Words(Words::new(ring, own));
    let wiped = |ring: u32, own: Wiped<Vec<u64>>| Form::Words(Words::new(ring, own));
    Ok(match prim {
        Local::Input(k, Size::Words(ring, rows)) => {
            let own = brought[*k].as_ref().map(|tensor| numbers(tensor, *ring));
            words(*ring, own.unwrap_or_else(|| vec![0; *rows]))
        }
        Local::Input(k, size) => {
            Form::Bits(Arc::new(brought[*k].as_ref().map_or_else(|| zeros(*size), Tensor::to_planes)))
        }
        Local::Known(tensor) => Form::Known(tensor.clone()),
        Local::Apply { op, scalar, lengths } => {
            let operands: Vec<&Tensor> = reads.iter().map(|form| &**form.known()).collect();
            Form::Known(Arc::new(back_end::apply(op, &operands, *scalar, lengths)?))
        }
        Local::AsBits if party == 0 => Form::Bits(Arc::new(reads[0].known().to_planes())),
        Local::AsBits => Form::Bits(Arc::new(zeros(step.size))),
        Local::AsWords(ring) => {
            let own = if party == 0 { numbers(reads[0].known(), *ring) } else { vec![0; step.size.rows()] };
            words(*ring, own)
        }
        Local::Narrow(ring) => words(*ring, reads[0].words().own.iter().map(|x| x & mask(*ring)).collect()),
        Local::Pick(picks) => pick(reads, picks),
        Local::Gather { rows, inner } => pick(&reads[..1], &gathered(*rows, *inner, reads[1].known())?),
        Local::Sum { minus: is_minus } => {
            let (x, y) = (reads[0].words(), reads[1].words());
            wiped(
                x.ring,
                if *is_minus { minus(&x.own, &y.own, x.ring) } else { plus(&x.own, &y.own, x.ring) },
            )
        }
        Local::Scale => {
            let x = reads[0].words();
            let factors = numbers(reads[1].known(), x.ring);
            let one = factors.len() == 1;
            let times = |(i, x): (usize, &u64)| x.wrapping_mul(factors[if one { 0 } else { i }]);
            words(x.ring, x.own.iter().enumerate().map(times).map(|y| y & mask(x.ring)).collect())
        }
        Local::Shift(by) => {
            let x = reads[0].words();
            words(x.ring, x.own.iter().map(|y| y << by & mask(x.ring)).collect())
        }
        Local::Fold { axis, prefix } => {
            let x = reads[0].words();
            words(x.ring, axis.sums(&x.own, 0, *prefix, |a, b| a.wrapping_add(b) & mask(x.ring)))
        }
        Local::PoolSum(pooling) => {
            let x = reads[0].words();
            words(x.ring, pooling.sums(&x.own, 0, |a, b| a.wrapping_add(b) & mask(x.ring)))
        }
        Local::MatMulKnown { shape, left } => {
            let x = reads[usize::from(*left)].words();
            let known = numbers(reads[usize::from(!left)].known(), x.ring);
            let [a, b] = if *left { [&known[..], &x.own] } else { [&x.own[..], &known] };
            words(x.ring, local_matmul(a, b, *shape, x.ring))
        }
        Local::Block(program) => Form::Bits(Arc::new(alone(party, program, &joined(reads, false))?)),
        Local::Flat(program, _) => {
            Form::Bits(Arc::new(gathered_bits(&alone(party, program, &joined(reads, true))?, step.size)))
        }
        Local::Own(OwnLocal::AsOrder) => {
            let places = numbers(reads[0].known(), 32).into_iter().map(|place| place as u32);
            Form::Order(Arc::new(Order::known(places.collect())))
        }
        Local::Invert => Form::Order(Arc::new(reads[0].order().inverse())),
        Local::Own(OwnLocal::Then) => Form::Order(Arc::new(reads[0].order().then(reads[1].order()))),
        Local::Own(OwnLocal::Part { from, size }) => {
            Form::Bits(Arc::new(unflattened(reads[0].bits(), *from, *size)))
        }
    })
}

fn zeros(size: Size) -> Planes {
    Planes::zeros(size.width(), size.rows())
}

/// A circuit without ANDs on this party's share. It is affine, and party 0 has what it makes of zeros.
fn alone(party: usize, program: &Program, inputs: &Planes) -> Result<Planes, TwoError> {
    let eval = |inputs: &Planes| eval::eval(program, inputs).map_err(|_| TwoError::Lost);
    let mut made = eval(inputs)?;
    if party != 0 {
        let constants = eval(&Planes::zeros(inputs.width(), inputs.instances()))?;
        made.iter_mut().zip(constants.iter()).for_each(|(x, c)| *x ^= c);
    }
    Ok(made)
}

/// The inputs of a circuit: planes one behind the other, or all bits of all elements on a single row.
pub(crate) fn joined(reads: &[Form], flat: bool) -> Planes {
    if !flat {
        let rows = reads.first().map_or(1, |form| form.bits().instances());
        return Planes::join(rows, reads.iter().map(|form| (**form.bits()).clone()));
    }
    Planes::join(1, reads.iter().map(|form| flattened(form.bits())))
}

/// All bits of all elements, element after element, as planes of one row.
fn flattened(bits: &Planes) -> Planes {
    let (width, rows) = (bits.width(), bits.instances());
    let (mut out, bytes) = (Planes::zeros(width * rows, 1), plane_bytes(rows));
    for row in 0..rows {
        for plane in 0..width {
            out[row * width + plane] = bits[plane * bytes + row / 8] >> (row % 8) & 1;
        }
    }
    out
}

/// The reverse, of a part of the row.
pub(crate) fn unflattened(all: &Planes, from: usize, size: Size) -> Planes {
    let (width, rows) = (size.width(), size.rows());
    let (mut out, bytes) = (Planes::zeros(width, rows), plane_bytes(rows));
    for row in 0..rows {
        for plane in 0..width {
            out[plane * bytes + row / 8] |= (all[from + row * width + plane] & 1) << (row % 8);
        }
    }
    out
}

/// The result of a flat program: elements, unless other steps take their parts of it.
pub(crate) fn gathered_bits(made: &Planes, size: Size) -> Planes {
    match size {
        Size::Bits(width, 1) if width == made.width() => made.clone(),
        _ => unflattened(made, 0, size),
    }
}

/// Elements of forms of one kind, counted through all of them, one behind the other.
fn pick(reads: &[Form], picks: &Picks) -> Form {
    if let Form::Words(first) = &reads[0] {
        let all: Vec<&[u64]> = reads.iter().map(|form| &form.words().own[..]).collect();
        let mut out = Wiped::new(Vec::with_capacity(picks.len()));
        picks.within(&all.iter().map(|own| own.len()).collect::<Vec<_>>()).copy(&all, &mut out);
        return Form::Words(Words::new(first.ring, out));
    }
    let all: Vec<&Planes> = reads.iter().map(|form| &**form.bits()).collect();
    let moves = picks.within(&all.iter().map(|bits| bits.instances()).collect::<Vec<_>>());
    let (width, bytes) = (all[0].width(), plane_bytes(picks.len()));
    let mut out = Planes::zeros(width, picks.len());
    for (plane, out) in out.chunks_exact_mut(bytes.max(1)).enumerate() {
        let plane_of = |bits: &&'_ Planes| {
            let bytes = plane_bytes(bits.instances());
            plane * bytes..(plane + 1) * bytes
        };
        let planes: Vec<&[u8]> = all.iter().map(|bits| &bits[plane_of(bits)]).collect();
        moves.copy_bits(&planes, out);
    }
    Form::Bits(Arc::new(out))
}
