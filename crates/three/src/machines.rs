//! The steps with messages: the machine of each step, and the value when it ends. The machines are
//! those of `rep3`. Each takes its own batch of the session's randomness, so that no two pieces
//! share a mask.

use crate::{
    Cut, ThreeError,
    form::{Held, RingWords, StepValue, in_ring, lowered, order},
    prim::{Better, OwnTalk, Three},
    windows::convolved,
};
use hushwire_aes::Backend;
use hushwire_circuit::{Adder, Planes};
use hushwire_compute::{Scalar, Tensor};
use hushwire_machine::{
    NetError,
    drive::{Machine, With},
};
use hushwire_plan::{
    KeyOrder, PickRun, Picks, Reorder, Sharing, Talk, flattened, gathered_bits, picked, some_planes, stacked,
};
use hushwire_rep3::{
    Batch, Rep3, Role, ShareError, pool,
    ring::{
        Bits, Column, Compact, FromPlaces, Greatest, Group, Inject, MatMul, Meet, NegativeInFew, OnBits,
        OnNumbers, Permute, Product, Rectify, RectifyByBits, Reveal, RevealBits, Select, Sort, SortKey, Sum,
        ToNumbers, Truncate, TruncateInFew, Xor,
    },
};
use std::{ops::Range, sync::Arc};

/// AGREEMENT: the most rows of an equality join that are encrypted at a time, at any distance of
/// the parties.
pub(crate) const MEETING: usize = 1 << 18;

/// A running step, or a piece of one.
pub(crate) trait ReadyMachine: Machine<Error = NetError> + Send {
    fn finish(self: Box<Self>) -> Result<StepValue, ThreeError>;
}

/// A machine, and the function that makes its value.
impl<M, F> ReadyMachine for With<M, F>
where
    M: Machine<Error = NetError> + Send,
    F: FnOnce(M) -> Result<StepValue, ThreeError> + Send,
{
    fn finish(self: Box<Self>) -> Result<StepValue, ThreeError> {
        (self.with)(self.machine)
    }
}

/// Begins a step with messages, or a piece of it, on operands of the piece's rows. The whole step
/// has `of` rows. Operands without other references are freed when the caller drops them.
pub(crate) fn begin<'p>(
    mut batch: Batch,
    talk: &'p Talk<Three>,
    reads: &[StepValue],
    of: usize,
    cut: Cut,
) -> Begun<'p> {
    let few = cut.few();
    let adder = if of <= few { Adder::Prefix } else { Adder::Ripple };
    let role = batch.role();
    let ring = |k: usize| reads[k].words().ring();
    match talk {
        Talk::Block(program) => {
            let inputs: Vec<&Bits> = reads.iter().map(|form| &**form.bits()).collect();
            strings(OnBits::run(&mut batch, program.clone(), &inputs)?, OnBits::finish)
        }
        // The circuit runs once: a single row has all bits of all elements.
        Talk::Flat(program, size) => {
            let inputs: Vec<Bits> = reads.iter().map(|form| flattened::<Three>(form.bits())).collect();
            let machine = OnBits::run(&mut batch, program.clone(), &inputs.iter().collect::<Vec<_>>())?;
            strings(machine, |m| gathered_bits::<Three>(&m.finish(), 0, *size))
        }
        Talk::Open { scalar, lengths } => {
            // A piece is one vector.
            let rows = reads[0].rows();
            let is_all = rows == lengths.iter().product::<usize>();
            let lengths = if is_all { lengths.clone() } else { vec![rows] };
            match &reads[0] {
                StepValue::Words(words) => in_ring!(words.ring(), open_words(role, *scalar, lengths, words)),
                other => open_bits(role, *scalar, lengths, other.bits()),
            }
        }
        Talk::Reorder(Reorder::Sort { rows, keys }) => {
            let key = |(form, key): (&StepValue, &KeyOrder)| SortKey {
                bits: form.bits().clone(),
                signed: key.signed,
                descending: key.descending,
            };
            let keys: Vec<SortKey> = reads.iter().zip(keys).map(key).collect();
            let machine = Sort::wide_from(batch, *rows, &keys, few)?;
            ready(machine, |sort: Sort| Ok(order(sort.finish())))
        }
        // Single bits need no adder.
        Talk::ToWords(ring) if reads[0].bits().width() == 1 => in_ring!(*ring, inject(&mut batch, &reads[0])),
        Talk::ToWords(ring) => in_ring!(*ring, to_words(&mut batch, &reads[0], adder)),
        Talk::Product(()) => in_ring!(ring(0), product(&mut batch, reads)),
        Talk::MatMul(shape, ()) => in_ring!(ring(0), matmul(&mut batch, reads, *shape)),
        Talk::Choose => in_ring!(ring(1), choose(&mut batch, reads)),
        Talk::Reorder(Reorder::ToOrder) => {
            let machine = match reads[0].words() {
                RingWords::U32(places) => FromPlaces::of_narrow(&mut batch, places.clone())?,
                places => FromPlaces::new(&mut batch, u64::column(places))?,
            };
            ready(machine.in_pieces(cut.rows_of_message()), |made: FromPlaces| Ok(order(made.finish()?)))
        }
        Talk::Reorder(Reorder::Permute { inner }) => match &reads[0] {
            StepValue::Words(words) => {
                in_ring!(words.ring(), permuted(&mut batch, cut, &reads[0], &reads[1]))
            }
            _ => permuted_bits(&mut batch, cut, &reads[0], *inner, &reads[1]),
        },
        Talk::Less { signed } => in_ring!(ring(0), less(&mut batch, reads, *signed, adder)),
        Talk::LessBounded => in_ring!(ring(0), less_bounded(&mut batch, reads, adder)),
        Talk::Equal => in_ring!(ring(0), equal(&mut batch, reads)),
        Talk::Truncate { by, signed, .. } => {
            in_ring!(ring(0), truncate(&mut batch, reads, *by, *signed, adder))
        }
        Talk::Own(OwnTalk::ToBits { bits, rectified }) => {
            in_ring!(ring(0), to_bits(&mut batch, &reads[0], bits, *rectified, adder))
        }
        Talk::Own(OwnTalk::Better(Better { ripple, prefix })) => {
            let program = if adder == Adder::Prefix { prefix } else { ripple };
            let inputs: Vec<&Bits> = reads.iter().map(|form| &**form.bits()).collect();
            strings(OnBits::run(&mut batch, program.clone(), &inputs)?, OnBits::finish)
        }
        Talk::Own(OwnTalk::Rectify { bits }) => {
            in_ring!(ring(0), rectify(batch, &reads[0], bits, adder))
        }
        Talk::Own(OwnTalk::Greatest { bits }) => in_ring!(ring(0), greatest(&mut batch, reads, *bits)),
        Talk::Own(OwnTalk::Conv2d(geometry)) => {
            let [x, y] = [reads[0].words(), reads[1].words()];
            in_ring!(x.ring(), convolved(&mut batch, x, y, geometry))
        }
        Talk::Own(OwnTalk::Meet { rows, first }) => {
            let keys: Vec<_> = reads.iter().map(|form| form.bits().clone()).collect();
            let machine = Meet::pieces_of(batch, *rows, &keys, *first, few.min(MEETING))?;
            ready(machine, |meet: Meet| Ok(order(meet.finish())))
        }
        Talk::Own(OwnTalk::Compact { kept }) => in_ring!(ring(1), compact(batch, reads, *kept)),
        Talk::Own(OwnTalk::Places { rows }) => {
            let numbers: Vec<u64> = (0..*rows as u64).collect();
            let numbers = StepValue::Words(u64::words(Column::known(role, &numbers)));
            permuted::<u64>(&mut batch, cut, &numbers, &reads[0])
        }
    }
}

/// Opens bits to all three parties.
fn open_bits<'p>(role: Role, scalar: Scalar, lengths: Vec<usize>, bits: &Arc<Bits>) -> Begun<'p> {
    let (width, rows) = (bits.width(), bits.rows());
    let machine = RevealBits::to_all(role, Arc::new((**bits).clone().trimmed()))?;
    known(machine, move |reveal| {
        let bytes = reveal.finish().expect("all three learn it");
        let planes = Planes::new(width, rows, bytes.into_inner()).expect("as many bytes as were shared");
        Tensor::from_planes(scalar, &lengths, &planes)
    })
}

/// Opens numbers to all three parties.
fn open_words<'p, W: Held>(role: Role, scalar: Scalar, lengths: Vec<usize>, words: &RingWords) -> Begun<'p> {
    known(Reveal::to_all(role, lowered(W::column(words), scalar.bits()))?, move |reveal: Reveal<W>| {
        let numbers = reveal.finish().expect("all three learn it");
        Tensor::from_words(scalar, &lengths, numbers.iter().map(|number| number.number().into()))
    })
}

/// A machine whose value is known to all parties.
fn known<'p, M>(machine: M, finish: impl FnOnce(M) -> Tensor + Send + 'p) -> Begun<'p>
where
    M: Machine<Error = NetError> + Send + 'p,
{
    ready(machine, move |m| Ok(StepValue::of_known(finish(m))))
}

pub(crate) type Begun<'p> = Result<Box<dyn ReadyMachine + 'p>, ThreeError>;

/// A machine with the function that makes its value.
pub(crate) fn ready<'p, M>(
    machine: M,
    finish: impl FnOnce(M) -> Result<StepValue, ThreeError> + Send + 'p,
) -> Begun<'p>
where
    M: Machine<Error = NetError> + Send + 'p,
{
    Ok(Box::new(With { machine, with: finish }))
}

/// A machine whose value is a column of words.
pub(crate) fn column<'p, W: Held, M>(machine: M, finish: impl FnOnce(M) -> Column<W> + Send + 'p) -> Begun<'p>
where
    M: Machine<Error = NetError> + Send + 'p,
{
    ready(machine, move |m| Ok(StepValue::Words(W::words(finish(m)))))
}

/// A machine whose value is bits.
fn strings<'p, M>(machine: M, finish: impl FnOnce(M) -> Bits + Send + 'p) -> Begun<'p>
where
    M: Machine<Error = NetError> + Send + 'p,
{
    ready(machine, move |m| Ok(StepValue::of_bits(finish(m))))
}

fn to_bits<'p, W: Held>(
    batch: &mut Batch,
    x: &StepValue,
    bits: &Range<usize>,
    rectified: bool,
    adder: Adder,
) -> Begun<'p> {
    let (x, bits) = (W::column(x.words()), bits.clone());
    let machine = match rectified {
        true => OnNumbers::<W>::rectified(batch, x, bits, adder)?,
        false => OnNumbers::<W>::some_bits(batch, x, bits, adder)?,
    };
    strings(machine, OnNumbers::finish)
}

/// Uses few rounds if these cost more than bytes, else computes on bits.
fn rectify<'p, W: Held>(mut batch: Batch, x: &StepValue, bits: &Range<usize>, adder: Adder) -> Begun<'p> {
    let (x, bits) = (W::column(x.words()), bits.clone());
    match adder {
        Adder::Prefix => column(Rectify::<W>::new(&mut batch, x, bits)?, Rectify::finish),
        Adder::Ripple => column(RectifyByBits::<W>::new(batch, x, bits)?, RectifyByBits::finish),
    }
}

fn greatest<'p, W: Held>(batch: &mut Batch, reads: &[StepValue], bits: usize) -> Begun<'p> {
    let columns: Vec<&Column<W>> = reads.iter().map(|read| &**W::column(read.words())).collect();
    column(Greatest::<W>::new(batch, &columns, bits)?, Greatest::finish)
}

fn to_words<'p, W: Held>(batch: &mut Batch, x: &StepValue, adder: Adder) -> Begun<'p> {
    column(ToNumbers::<W>::new(batch, x.bits(), adder)?, ToNumbers::finish)
}

fn inject<'p, W: Held>(batch: &mut Batch, x: &StepValue) -> Begun<'p> {
    column(Inject::<W>::new(batch, x.bits()), Inject::finish)
}

fn product<'p, W: Held>(batch: &mut Batch, reads: &[StepValue]) -> Begun<'p> {
    let [x, y] = [0, 1].map(|i| W::column(reads[i].words()).clone());
    column(Product::new(batch.context(), x, y)?, Product::finish)
}

fn matmul<'p, W: Held>(batch: &mut Batch, reads: &[StepValue], shape: [usize; 3]) -> Begun<'p> {
    let [x, y] = [0, 1].map(|i| W::column(reads[i].words()).clone());
    column(MatMul::new(batch.context(), shape, x, y)?, MatMul::finish)
}

fn choose<'p, W: Held>(batch: &mut Batch, reads: &[StepValue]) -> Begun<'p> {
    let [x, y] = [1, 2].map(|i| W::column(reads[i].words()));
    column(Select::new(batch, reads[0].bits(), x, y)?, Select::finish)
}

fn less<'p, W: Held>(batch: &mut Batch, reads: &[StepValue], signed: bool, adder: Adder) -> Begun<'p> {
    let [x, y] = [0, 1].map(|i| W::column(reads[i].words()));
    strings(OnNumbers::less(batch, x, y, signed, adder)?, OnNumbers::finish)
}

fn less_bounded<'p, W: Held>(batch: &mut Batch, reads: &[StepValue], adder: Adder) -> Begun<'p> {
    let [x, y] = [0, 1].map(|i| W::column(reads[i].words()));
    match adder {
        Adder::Prefix => strings(NegativeInFew::less_bounded(batch, x, y)?, NegativeInFew::finish),
        Adder::Ripple => strings(OnNumbers::less_bounded(batch, x, y, adder)?, OnNumbers::finish),
    }
}

fn equal<'p, W: Held>(batch: &mut Batch, reads: &[StepValue]) -> Begun<'p> {
    let [x, y] = [0, 1].map(|i| W::column(reads[i].words()));
    strings(OnNumbers::equal(batch, x, y)?, OnNumbers::finish)
}

fn truncate<'p, W: Held>(
    batch: &mut Batch,
    reads: &[StepValue],
    bits: u32,
    signed: bool,
    adder: Adder,
) -> Begun<'p> {
    let (x, by) = (W::column(reads[0].words()), bits as usize);
    if adder == Adder::Prefix && (1..W::BITS).contains(&by) {
        return column(TruncateInFew::new(batch, x, by, signed)?, TruncateInFew::finish);
    }
    column(Truncate::new(batch, x, bits, signed, adder)?, Truncate::finish)
}

fn permute<G: Group>(
    batch: &mut Batch,
    cut: Cut,
    columns: Vec<Arc<Column<G::Word>>>,
    by: &StepValue,
) -> Result<Permute<G>, ThreeError> {
    let (order, inverse) = by.order();
    let machine =
        Permute::<G>::new(batch.context(), order.here().clone(), columns)?.in_pieces(cut.rows_of_message());
    Ok(if *inverse { machine.inverse() } else { machine })
}

/// Permutes rows of words by an order.
fn permuted<'p, W: Held>(batch: &mut Batch, cut: Cut, x: &StepValue, by: &StepValue) -> Begun<'p> {
    let columns = columns_of(W::column(x.words()), by.order().0.here().rows());
    column(permute::<Sum<W>>(batch, cut, columns, by)?, |m| interleaved(m.finish()))
}

/// One column for each place in a row.
fn columns_of<W: Held>(all: &Arc<Column<W>>, rows: usize) -> Vec<Arc<Column<W>>> {
    columns_in(all, rows, all.rows().checked_div(rows).unwrap_or(0))
}

/// One column for each of `inner` places in a row.
pub(crate) fn columns_in<W: Held>(all: &Arc<Column<W>>, rows: usize, inner: usize) -> Vec<Arc<Column<W>>> {
    if inner == 1 {
        return vec![all.clone()];
    }
    let column = |k: usize| {
        let of = |share: &[W]| pool::collect((0..rows).map(|r| share[r * inner + k]));
        Arc::new(Rep3 { own: of(&all.own), next: of(&all.next) })
    };
    (0..inner).map(column).collect()
}

/// The reverse of [`columns_of`].
pub(crate) fn interleaved<W: Held>(mut columns: Vec<Column<W>>) -> Column<W> {
    if columns.len() == 1 {
        return columns.remove(0);
    }
    let rows = columns.first().map_or(0, Column::rows);
    let of = |share: fn(&Column<W>) -> &[W]| {
        let mut all = pool::room(rows * columns.len());
        (0..rows).for_each(|r| all.extend(columns.iter().map(|column| share(column)[r])));
        all
    };
    Rep3 { own: of(|column| &column.own), next: of(|column| &column.next) }
}

fn compact<'p, W: Held>(batch: Batch, reads: &[StepValue], kept: usize) -> Begun<'p> {
    let (flags, all) = (u64::column(reads[0].words()), W::column(reads[1].words()));
    let machine = Compact::<W>::new(batch, flags, &columns_of(all, flags.rows()), kept)?;
    column(machine, |m| interleaved(m.finish()))
}

/// The same for bits: flags are moved as bytes, longer strings in limbs of 64 bits.
fn permuted_bits<'p>(batch: &mut Batch, cut: Cut, x: &StepValue, inner: usize, by: &StepValue) -> Begun<'p> {
    let permuted = if x.bits().width() <= 8 { permuted_strings::<u8> } else { permuted_strings::<u64> };
    permuted(batch, cut, x, inner, by)
}

fn permuted_strings<'p, W: Held>(
    batch: &mut Batch,
    cut: Cut,
    x: &StepValue,
    inner: usize,
    by: &StepValue,
) -> Begun<'p> {
    let (rows, width, backend) = (by.order().0.here().rows(), x.bits().width(), batch.backend());
    if inner == 1 && width <= W::BITS {
        let (order, inverse) = by.order();
        let machine = Permute::<Xor<W>>::of_bits(batch.context(), order.here().clone(), x.bits().clone())?
            .in_pieces(cut.rows_of_message());
        let machine = if *inverse { machine.inverse() } else { machine };
        return strings(machine, Permute::finish_bits);
    }
    let columns = columns_of_strings::<W>(backend, x, inner, rows)?;
    let machine = permute::<Xor<W>>(batch, cut, columns, by)?;
    ready(machine, move |m| strings_of_columns(backend, &m.finish(), [width, rows, inner]))
}

/// One column for each limb of each of `inner` strings in a row.
pub(crate) fn columns_of_strings<W: Held>(
    backend: Backend,
    x: &StepValue,
    inner: usize,
    rows: usize,
) -> Result<Vec<Arc<Column<W>>>, ShareError> {
    let width = x.bits().width();
    let mut columns = vec![];
    for k in 0..inner {
        let own = PickRun::Steps { from: k, step: inner as isize, len: rows };
        let one = picked(&[x], &Picks::of_runs([own]));
        for limb in 0..width.div_ceil(W::BITS) {
            let planes = W::BITS * limb..width.min(W::BITS * (limb + 1));
            let planes = some_planes::<Three>(one.bits(), planes);
            columns.push(Arc::new(planes.to_words::<W>(backend)?));
        }
    }
    Ok(columns)
}

/// The reverse of [`columns_of_strings`].
pub(crate) fn strings_of_columns<W: Held>(
    backend: Backend,
    columns: &[Column<W>],
    [width, rows, inner]: [usize; 3],
) -> Result<StepValue, ThreeError> {
    let mut values = vec![];
    for limbs in columns.chunks(width.div_ceil(W::BITS).max(1)) {
        let parts = limbs.iter().map(|limb| Bits::of_words(backend, limb)).collect::<Result<Vec<_>, _>>()?;
        let parts: Vec<&Bits> = parts.iter().collect();
        values.push(StepValue::of_bits(stacked::<Three>(&parts, [width, rows])));
    }
    if values.is_empty() {
        return Ok(StepValue::of_bits(Three::zero_bits(width, 0)));
    }
    let turns = (0..rows).flat_map(|r| (0..inner).map(move |k| k * rows + r));
    let picks = if inner == 1 {
        Picks::of_runs([PickRun::Steps { from: 0, step: 1, len: rows }])
    } else {
        Picks::of(&turns.collect::<Vec<_>>())
    };
    Ok(picked(&values.iter().collect::<Vec<_>>(), &picks))
}
