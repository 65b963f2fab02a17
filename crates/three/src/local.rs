//! Steps without a message.

use crate::{
    ThreeError,
    form::{Form, Held, Words, in_ring, known_bits, known_numbers, known_words},
    lower::Three,
    machines::{block, flat},
    prim::OwnLocal,
    rows,
    windows::convolved_with_known,
};
use hushwire_aes::Backend;
use hushwire_compute::{Tensor, back_end};
use hushwire_plan::{Axis, Local, Pooling, gathered, misplaced};
use hushwire_rep3::{
    Batch, Rep3, Role, ShareError, pool,
    ring::{Column, Factors, linear, matmul_known},
};
use std::sync::Arc;

/// The value of a step that needs no message. Each input is taken once.
pub(crate) fn local(
    role: Role,
    batch: &mut Batch,
    inputs: &mut [Option<Form>],
    prim: &Local<Three>,
    reads: &[Form],
) -> Result<Form, ThreeError> {
    Ok(match prim {
        Local::Input(k, _) => inputs[*k].take().unwrap_or_else(|| misplaced()),
        Local::Known(tensor) => Form::Known(tensor.clone()),
        Local::Apply { op, scalar, lengths } => {
            let operands: Vec<&Tensor> = reads.iter().map(Form::known).collect();
            Form::Known(Arc::new(back_end::apply(op, &operands, *scalar, lengths)?))
        }
        Local::AsBits => Form::Bits(Arc::new(known_bits(role, reads[0].known())?)),
        Local::AsWords(ring) => Form::Words(in_ring!(*ring, known_words(role, reads[0].known()))),
        Local::Narrow(ring) => Form::Words(in_ring!(*ring, narrow(reads[0].words()))),
        Local::Pick(picks) => rows::pick(&reads.iter().collect::<Vec<_>>(), picks)?,
        Local::Gather { rows, inner } => {
            rows::pick(&[&reads[0]], &gathered(*rows, *inner, reads[1].known())?)?
        }
        Local::Invert => {
            let (order, inverse) = reads[0].order();
            Form::Order(order.clone(), !inverse)
        }
        Local::Sum { minus } => {
            let [x, y] = [reads[0].words(), reads[1].words()];
            Form::Words(in_ring!(x.ring(), sum(x, y, *minus))?)
        }
        Local::Scale => {
            let (x, factor) = (reads[0].words(), reads[1].known());
            Form::Words(in_ring!(x.ring(), scale(x, factor))?)
        }
        Local::Shift(by) => {
            let x = reads[0].words();
            Form::Words(in_ring!(x.ring(), shifted(x, *by)))
        }
        Local::MatMulKnown { shape, left } => {
            let [x, y] = [&reads[0], &reads[1]];
            let shared = if *left { y } else { x }.words();
            Form::Words(in_ring!(shared.ring(), matmul(batch.backend(), *shape, [x, y], *left))?)
        }
        Local::Fold { axis, prefix } => {
            let x = reads[0].words();
            Form::Words(in_ring!(x.ring(), fold(x, *axis, *prefix)))
        }
        Local::PoolSum(pooling) => {
            let x = reads[0].words();
            Form::Words(in_ring!(x.ring(), pooled(pooling, x)))
        }
        // Circuits without ANDs have run when they are made.
        Local::Block(program) => Form::Bits(Arc::new(block(batch, program, reads)?.finish())),
        Local::Flat(program, [width, rows]) => {
            Form::Bits(Arc::new(rows::gathered(&flat(batch, program, reads)?.finish(), *width, *rows)?))
        }
        Local::Own(OwnLocal::Conv2dKnown { geometry, left }) => {
            let [x, y] = [&reads[0], &reads[1]];
            let ring = if *left { y } else { x }.words().ring();
            Form::Words(in_ring!(ring, convolved_with_known(batch.backend(), geometry, [x, y], *left))?)
        }
        Local::Own(OwnLocal::Farther { ones_first }) => {
            let x = reads[0].words();
            Form::Words(in_ring!(x.ring(), farther(role, x, *ones_first)))
        }
        Local::Own(OwnLocal::Targets { ones_first }) => {
            let [x, y] = [reads[0].words(), reads[1].words()];
            Form::Words(in_ring!(x.ring(), targets(role, [x, y], *ones_first)))
        }
    })
}

fn narrow<W: Held>(words: &Words) -> Words {
    fn from<V: Held, W: Held>(words: &Words) -> Words {
        let column = V::column(words);
        let cut = |share: &[V]| pool::collect(share.iter().map(|x| W::of(x.number())));
        W::words(Rep3 { own: cut(&column.own), next: cut(&column.next) })
    }
    match words {
        Words::U8(_) => from::<u8, W>(words),
        Words::U16(_) => from::<u16, W>(words),
        Words::U32(_) => from::<u32, W>(words),
        Words::U64(_) => from::<u64, W>(words),
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

fn shifted<W: Held>(x: &Words, by: u32) -> Words {
    each_share::<W>(W::column(x), |x| pool::collect(x.iter().map(|x| W::of(x.number() << by))))
}

fn pooled<W: Held>(pooling: &Pooling, x: &Words) -> Words {
    each_share::<W>(W::column(x), |x| pooling.sums(x, W::default(), W::plus))
}

fn fold<W: Held>(x: &Words, axis: Axis, prefix: bool) -> Words {
    each_share::<W>(W::column(x), |x| axis.sums(x, W::default(), prefix, W::plus))
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
