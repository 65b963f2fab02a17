//! Steps without a message.

use crate::{
    ThreeError,
    form::{Form, Held, Ring, Words, in_ring, known_bits, known_numbers, known_words},
    machines::{block, flat},
    picks::Picks,
    plan::{Axis, Prim, Step},
    rows,
    windows::{Pooling, convolved_with_known},
};
use hushwire_aes::Backend;
use hushwire_compute::{Op, Scalar, Tensor, back_end};
use hushwire_rep3::{
    Batch, Rep3, Role, ShareError, pool,
    ring::{Column, Factors, linear, matmul_known},
};
use std::sync::Arc;

/// The value of a step that needs no message. Inputs are there before.
pub(crate) fn local(role: Role, batch: &mut Batch, step: &Step, reads: &[Form]) -> Result<Form, ThreeError> {
    Ok(match &step.prim {
        Prim::Known(tensor) => Form::Known(tensor.clone()),
        Prim::Apply { op, scalar, lengths } => {
            let operands: Vec<&Tensor> = reads.iter().map(Form::known).collect();
            Form::Known(Arc::new(back_end::apply(op, &operands, *scalar, lengths)?))
        }
        Prim::AsBits => Form::Bits(Arc::new(known_bits(role, reads[0].known())?)),
        Prim::AsWords(ring) => Form::Words(in_ring!(*ring, known_words(role, reads[0].known()))),
        Prim::Narrow(ring) => Form::Words(in_ring!(*ring, narrow(reads[0].words()))),
        Prim::Pick(picks) => rows::pick(&reads.iter().collect::<Vec<_>>(), picks)?,
        Prim::Gather { rows, inner } => {
            let number = Scalar::unsigned(64);
            let all = Tensor::from_words(number, &[*rows], (0..*rows).map(|r| r as u128));
            let places = reads[1].known();
            let found = back_end::apply(&Op::Gather, &[&all, places], number, &[places.len()])?;
            let rows = found.words().iter().map(|row| *row as usize);
            let picks: Vec<usize> = rows.flat_map(|r| r * inner..(r + 1) * inner).collect();
            rows::pick(&[&reads[0]], &Picks::of(&picks))?
        }
        Prim::Invert => {
            let (order, inverse) = reads[0].order();
            Form::Order(order.clone(), !inverse)
        }
        Prim::Sum { minus } => {
            let [x, y] = [reads[0].words(), reads[1].words()];
            Form::Words(in_ring!(x.ring(), sum(x, y, *minus))?)
        }
        Prim::Scale => {
            let (x, factor) = (reads[0].words(), reads[1].known());
            Form::Words(in_ring!(x.ring(), scale(x, factor))?)
        }
        Prim::MatMulKnown { shape, left } => {
            let [x, y] = [&reads[0], &reads[1]];
            let shared = if *left { y } else { x }.words();
            Form::Words(in_ring!(shared.ring(), matmul(batch.backend(), *shape, [x, y], *left))?)
        }
        Prim::Conv2dKnown { geometry, left } => {
            let [x, y] = [&reads[0], &reads[1]];
            let shared = if *left { y } else { x }.words();
            Form::Words(in_ring!(
                shared.ring(),
                convolved_with_known(batch.backend(), geometry, [x, y], *left)
            )?)
        }
        Prim::Fold { axis, prefix } => {
            let x = reads[0].words();
            Form::Words(in_ring!(x.ring(), fold(x, *axis, *prefix)))
        }
        Prim::Farther { ones_first } => {
            let x = reads[0].words();
            Form::Words(in_ring!(x.ring(), farther(role, x, *ones_first)))
        }
        Prim::Targets { ones_first } => {
            let [x, y] = [reads[0].words(), reads[1].words()];
            Form::Words(in_ring!(x.ring(), targets(role, [x, y], *ones_first)))
        }
        Prim::PoolSum(pooling) => {
            let x = reads[0].words();
            Form::Words(in_ring!(x.ring(), pooled(pooling, x)))
        }
        // Circuits without ANDs have run when they are made.
        Prim::Block(program) => Form::Bits(Arc::new(block(batch, program, reads)?.finish())),
        Prim::Flat(program, [width, rows]) => {
            Form::Bits(Arc::new(rows::gathered(&flat(batch, program, reads)?.finish(), *width, *rows)?))
        }
        _ => unreachable!("a step that talks"),
    })
}

fn narrow<W: Held>(words: &Words) -> Words {
    fn from<V: Held, W: Held>(words: &Words) -> Words {
        let column = V::column(words);
        let cut = |share: &[V]| pool::collect(share.iter().map(|x| W::of(x.number())));
        W::words(Rep3 { own: cut(&column.own), next: cut(&column.next) })
    }
    match words.ring() {
        Ring::U8 => from::<u8, W>(words),
        Ring::U16 => from::<u16, W>(words),
        Ring::U32 => from::<u32, W>(words),
        Ring::U64 => from::<u64, W>(words),
    }
}

fn sum<W: Held>(x: &Words, y: &Words, minus: bool) -> Result<Words, ShareError> {
    let (x, y) = (W::column(x), W::column(y));
    Ok(W::words(if minus { linear::minus(x, y)? } else { linear::plus(x, y)? }))
}

fn scale<W: Held>(x: &Words, factor: &Tensor) -> Result<Words, ShareError> {
    let (x, factor) = (W::column(x), known_numbers::<W>(factor));
    Ok(W::words(match factor[..] {
        [one] => linear::scaled(x, one),
        _ => linear::times_known(x, &factor)?,
    }))
}

fn matmul<W: Held>(
    backend: Backend,
    shape: [usize; 3],
    [x, y]: [&Form; 2],
    left: bool,
) -> Result<Words, ShareError> {
    let known = known_numbers::<W>(if left { x } else { y }.known());
    let factors = if left {
        Factors::LeftKnown(&known, W::column(y.words()))
    } else {
        Factors::RightKnown(W::column(x.words()), &known)
    };
    matmul_known(backend, shape, factors).map(W::words)
}

/// Both shares of a column, each made of the same share of another.
fn each_share<W: Held>(x: &Column<W>, make: impl Fn(&[W]) -> Vec<W>) -> Words {
    W::words(Rep3 { own: make(&x.own), next: make(&x.next) })
}

fn pooled<W: Held>(pooling: &Pooling, x: &Words) -> Words {
    pooling.sums::<W>(x)
}

fn fold<W: Held>(x: &Words, axis: Axis, prefix: bool) -> Words {
    each_share::<W>(W::column(x), |x| {
        if prefix {
            let mut out = pool::copy(x);
            for k in 0..axis.series() {
                for i in 1..axis.n {
                    out[axis.place(k, i)] = out[axis.place(k, i)].plus(out[axis.place(k, i - 1)]);
                }
            }
            return out;
        }
        let all = |k: usize| (0..axis.n).map(move |i| x[axis.place(k, i)]);
        (0..axis.series()).map(|k| all(k).fold(W::default(), W::plus)).collect()
    })
}

/// Where the rows of zeros and of ones begin, in a summand of the flags: of `T` ones among `n` rows.
fn begins<W: Held>(flags: &[W], ones_first: bool, known: bool) -> [W; 2] {
    let all = flags.iter().fold(W::default(), |sum, flag| sum.plus(*flag));
    let rows = if known { W::of(flags.len() as u64) } else { W::default() };
    if ones_first { [all, W::default()] } else { [W::default(), rows.minus(all)] }
}

/// Of flags, with `S` ones up to row `i`: a zero goes to where zeros begin and `i − S` farther, a one to where ones begin and `S − 1` farther. What
/// all know is in x_0 alone.
fn farther<W: Held>(role: Role, flags: &Words, ones_first: bool) -> Words {
    let flags = W::column(flags);
    let share = |held: usize, flags: &[W]| {
        let known = role.constant_slot() == Some(held);
        let step = if known { W::of(1) } else { W::default() };
        let [zeros, ones] = begins(flags, ones_first, known);
        // Two more at each one, and one less at each row.
        let mut more = ones.minus(zeros);
        pool::collect(flags.iter().map(|flag| {
            more = more.plus(*flag).plus(*flag).minus(step);
            more
        }))
    };
    W::words(Rep3 { own: share(0, &flags.own), next: share(1, &flags.next) })
}

/// Where rows go if they are zeros, and what they go farther besides.
fn targets<W: Held>(role: Role, [flags, farther]: [&Words; 2], ones_first: bool) -> Words {
    let (flags, farther) = (W::column(flags), W::column(farther));
    let share = |held: usize, flags: &[W], farther: &[W]| {
        let known = role.constant_slot() == Some(held);
        let step = if known { W::of(1) } else { W::default() };
        let mut place = begins(flags, ones_first, known)[0].minus(step);
        pool::collect(flags.iter().zip(farther).map(|(flag, farther)| {
            place = place.plus(step).minus(*flag);
            place.plus(*farther)
        }))
    };
    W::words(Rep3 { own: share(0, &flags.own, &farther.own), next: share(1, &flags.next, &farther.next) })
}
