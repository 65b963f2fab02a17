//! Steps without a message.

use crate::{
    TwoError,
    form::{Form, Words, numbers},
    ops::{local_matmul, minus, plus},
    order::Order,
    plan::{Axis, Prim, Size, Step},
    ring::mask,
};
use hushwire_block::{
    Wiped,
    bits::{put_range, xor_range},
};
use hushwire_circuit::{Planes, eval, planes::plane_bytes};
use hushwire_compute::{Op, Scalar, Tensor, back_end};
use std::sync::Arc;

/// A party's own inputs, and nothing of the other's.
pub(crate) type Brought = Vec<Option<Tensor>>;

/// The value of a step that needs no message.
pub(crate) fn local(party: usize, brought: &Brought, step: &Step, reads: &[Form]) -> Result<Form, TwoError> {
    let words = |ring: u32, own: Vec<u64>| Form::Words(Words::new(ring, own));
    let wiped = |ring: u32, own: Wiped<Vec<u64>>| Form::Words(Words::new(ring, own));
    Ok(match &step.prim {
        Prim::InputWords(k) => {
            let own = brought[*k].as_ref().map(|tensor| numbers(tensor, step.size.ring()));
            words(step.size.ring(), own.unwrap_or_else(|| vec![0; step.size.rows()]))
        }
        Prim::InputBits(k) => {
            Form::Bits(Arc::new(brought[*k].as_ref().map_or_else(|| zeros(step), Tensor::to_planes)))
        }
        Prim::Known(tensor) => Form::Known(tensor.clone()),
        Prim::Apply { op, scalar, lengths } => {
            let operands: Vec<&Tensor> = reads.iter().map(|form| &**form.known()).collect();
            Form::Known(Arc::new(back_end::apply(op, &operands, *scalar, lengths)?))
        }
        Prim::AsBits if party == 0 => Form::Bits(Arc::new(reads[0].known().to_planes())),
        Prim::AsBits => Form::Bits(Arc::new(zeros(step))),
        Prim::AsWords => {
            let ring = step.size.ring();
            let own = if party == 0 { numbers(reads[0].known(), ring) } else { vec![0; step.size.rows()] };
            words(ring, own)
        }
        Prim::Narrow => {
            let ring = step.size.ring();
            words(ring, reads[0].words().own.iter().map(|x| x & mask(ring)).collect())
        }
        Prim::Pick(picks) => pick(reads, picks),
        Prim::Gather { rows, inner } => {
            let number = Scalar::unsigned(64);
            let all = Tensor::from_words(number, &[*rows], (0..*rows).map(|r| r as u128));
            let places = reads[1].known();
            let found = back_end::apply(&Op::Gather, &[&all, places], number, &[places.len()])?;
            let rows = found.words().iter().map(|row| *row as usize);
            let picks: Vec<usize> = rows.flat_map(|r| r * inner..(r + 1) * inner).collect();
            pick(&reads[..1], &picks)
        }
        Prim::Sum { minus: is_minus } => {
            let (x, y) = (reads[0].words(), reads[1].words());
            wiped(
                x.ring,
                if *is_minus { minus(&x.own, &y.own, x.ring) } else { plus(&x.own, &y.own, x.ring) },
            )
        }
        Prim::Scale => {
            let x = reads[0].words();
            let factors = numbers(reads[1].known(), x.ring);
            let one = factors.len() == 1;
            let times = |(i, x): (usize, &u64)| x.wrapping_mul(factors[if one { 0 } else { i }]);
            words(x.ring, x.own.iter().enumerate().map(times).map(|y| y & mask(x.ring)).collect())
        }
        Prim::Shift(by) => {
            let x = reads[0].words();
            words(x.ring, x.own.iter().map(|y| y << by & mask(x.ring)).collect())
        }
        Prim::Fold { axis, prefix } => {
            let x = reads[0].words();
            words(x.ring, fold(&x.own, *axis, *prefix, x.ring))
        }
        Prim::SumEach(each) => {
            let x = reads[0].words();
            let sum = |of: &[u64]| of.iter().fold(0u64, |sum, x| sum.wrapping_add(*x)) & mask(x.ring);
            let rows = step.size.rows();
            words(x.ring, (0..rows).map(|r| sum(&x.own[r * each..(r + 1) * each])).collect())
        }
        Prim::MatMulKnown { shape, first } => {
            let x = reads[1].words();
            let known = numbers(reads[0].known(), x.ring);
            let [a, b] = if *first { [&known[..], &x.own] } else { [&x.own[..], &known] };
            words(x.ring, local_matmul(a, b, *shape, x.ring))
        }
        // Circuits without ANDs: each party's share by itself, constants at party 0.
        Prim::Block(program) | Prim::Flat(program) => {
            let flat = matches!(step.prim, Prim::Flat(_));
            let inputs = joined(reads, flat);
            let made = eval::eval(program, &inputs).map_err(|_| TwoError::Lost)?;
            let made =
                if party == 0 { made } else { without_constants(made, &eval_zeros(program, &inputs)?) };
            if flat { Form::Bits(Arc::new(gathered(&made, step.size))) } else { Form::Bits(Arc::new(made)) }
        }
        Prim::AsOrder => {
            let places = numbers(reads[0].known(), 32).into_iter().map(|place| place as u32);
            Form::Order(Arc::new(Order::known(places.collect())))
        }
        Prim::Invert => Form::Order(Arc::new(reads[0].order().inverse())),
        Prim::Then => Form::Order(Arc::new(reads[0].order().then(reads[1].order()))),
        Prim::Part { from } => {
            let all = reads[0].bits();
            Form::Bits(Arc::new(unflattened(all, *from, step.size)))
        }
        _ => unreachable!("a step that talks"),
    })
}

fn zeros(step: &Step) -> Planes {
    match step.size {
        Size::Bits(width, rows) => Planes::zeros(width, rows),
        _ => unreachable!("a plan keeps to its forms"),
    }
}

/// A circuit of exclusive ors is affine: what it makes of zeros is its constant.
fn without_constants(mut made: Planes, constants: &Planes) -> Planes {
    made.iter_mut().zip(constants.iter()).for_each(|(x, c)| *x ^= c);
    made
}

fn eval_zeros(program: &hushwire_circuit::Program, inputs: &Planes) -> Result<Planes, TwoError> {
    let zeros = Planes::zeros(inputs.width(), inputs.instances());
    eval::eval(program, &zeros).map_err(|_| TwoError::Lost)
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
    let Size::Bits(width, rows) = size else { unreachable!("a plan keeps to its forms") };
    let (mut out, bytes) = (Planes::zeros(width, rows), plane_bytes(rows));
    for row in 0..rows {
        for plane in 0..width {
            out[plane * bytes + row / 8] |= (all[from + row * width + plane] & 1) << (row % 8);
        }
    }
    out
}

/// The result of a flat program: elements, unless other steps take their parts of it.
pub(crate) fn gathered(made: &Planes, size: Size) -> Planes {
    match size {
        Size::Bits(width, 1) if width == made.width() => made.clone(),
        _ => unflattened(made, 0, size),
    }
}

/// Elements of forms of one kind, counted through all of them, one behind the other.
fn pick(reads: &[Form], picks: &[usize]) -> Form {
    let starts: Vec<usize> = reads
        .iter()
        .scan(0, |sum, form| {
            let rows = match form {
                Form::Words(words) => words.own.len(),
                Form::Bits(bits) => bits.instances(),
                Form::Known(tensor) => tensor.len(),
                Form::Order(_) => unreachable!("a plan keeps to its forms"),
            };
            *sum += rows;
            Some(*sum - rows)
        })
        .collect();
    let find = |place: usize| {
        let k = starts.partition_point(|start| *start <= place) - 1;
        (k, place - starts[k])
    };
    match &reads[0] {
        Form::Words(first) => {
            let all: Vec<&[u64]> = reads.iter().map(|form| &form.words().own[..]).collect();
            let one = |place: &usize| {
                let (k, at) = find(*place);
                all[k][at]
            };
            Form::Words(Words::new(first.ring, picks.iter().map(one).collect::<Vec<u64>>()))
        }
        _ => {
            let all: Vec<&Planes> = reads.iter().map(|form| &**form.bits()).collect();
            let (width, to) = (all[0].width(), plane_bytes(picks.len()));
            let mut out = Planes::zeros(width, picks.len());
            let mut at = 0;
            while at < picks.len() {
                // Places that follow each other go at once.
                let (k, from) = find(picks[at]);
                let mut len = 1;
                while at + len < picks.len()
                    && picks[at + len] == picks[at] + len
                    && from + len < all[k].instances()
                {
                    len += 1;
                }
                let bytes = plane_bytes(all[k].instances());
                let mut run = vec![0; plane_bytes(len)];
                for plane in 0..width {
                    run.fill(0);
                    xor_range(&all[k][plane * bytes..][..bytes], from, len, &mut run);
                    put_range(&run, len, &mut out[plane * to..][..to], at);
                }
                at += len;
            }
            Form::Bits(Arc::new(out))
        }
    }
}

fn fold(x: &[u64], axis: Axis, prefix: bool, ring: u32) -> Vec<u64> {
    if prefix {
        let mut out = x.to_vec();
        for k in 0..axis.series() {
            for i in 1..axis.n {
                let sum = out[axis.place(k, i)].wrapping_add(out[axis.place(k, i - 1)]);
                out[axis.place(k, i)] = sum & mask(ring);
            }
        }
        return out;
    }
    let sum = |k: usize| (0..axis.n).fold(0u64, |sum, i| sum.wrapping_add(x[axis.place(k, i)])) & mask(ring);
    (0..axis.series()).map(sum).collect()
}
