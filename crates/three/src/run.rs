//! Runs of a plan, wave by wave.

use crate::{
    Plan, ThreeError,
    form::{Form, Held, Ring, Words, in_ring, known_bits, known_numbers, known_words},
    plan::{Axis, Prim, Slot, Step},
    rows,
};
use hushwire_aes::Backend;
use hushwire_circuit::{Adder, Planes, Program, planes::plane_bytes};
use hushwire_compute::{Op, Scalar, Tensor, back_end};
use hushwire_rep3::{
    Batch, CircuitBatch, CircuitWorkspace, Party, Rep3, Reveal, Role, ShareError, Shares,
    ring::{
        Bits, Column, Equal, FromPlaces, Group, Inject, Less, MatMul, Permute, Product, Select, Sum, ToBits,
        ToNumbers, Truncate, Xor,
    },
};
use hushwire_wire::{
    Channel, NetError,
    drive::{Abreast, Driver, Machine, OnSlot},
};
use std::sync::Arc;

/// Runs a plan as one of three parties, on `ring`, which leads to the left neighbour and from the right one, and `back`, which leads the other
/// way. `inputs` are shares of all inputs, in the computation's order; gives shares of all outputs, likewise. `go_on` is asked
/// between rounds, with the steps done and all steps.
///
/// # Errors
/// Shares of another size; a value that is known and does not fit; a channel failed; `go_on` said no.
pub fn run(
    party: &mut Party,
    [ring, back]: [&mut Channel; 2],
    plan: &Plan,
    inputs: Vec<Bits>,
    go_on: &mut dyn FnMut(usize, usize) -> bool,
) -> Result<Vec<Bits>, ThreeError> {
    let mut run = Run::new(party, plan, inputs)?;
    let mut driver = Driver::new();
    let mut channels = [ring, back];
    loop {
        let mut batch = party.next_batch()?;
        run.alone(&mut batch)?;
        let done = run.done();
        if !go_on(done, plan.steps.len()) {
            return Err(ThreeError::Cancelled);
        }
        let mut wave = run.wave(&mut batch)?;
        if wave.is_empty() {
            return run.outputs();
        }
        let mut abreast = Abreast::new(wave.iter_mut().map(|(_, ready)| ready.machine()).collect());
        let slots = abreast.slots();
        let mut rounds = driver.begin(&mut abreast);
        while rounds.step(&mut channels[..slots])? {
            if !go_on(done, plan.steps.len()) {
                return Err(ThreeError::Cancelled);
            }
        }
        for (slot, ready) in wave {
            run.put(slot, ready.finish()?);
        }
    }
}

/// A step under way.
pub(crate) trait Ready {
    fn machine(&mut self) -> &mut dyn Machine<Error = NetError>;
    fn finish(self: Box<Self>) -> Result<Form, ThreeError>;
}

/// A machine, and the value that it leaves.
struct Then<M, F>(M, F);

impl<M, F> Ready for Then<M, F>
where
    M: Machine<Error = NetError>,
    F: FnOnce(M) -> Result<Form, ThreeError>,
{
    fn machine(&mut self) -> &mut dyn Machine<Error = NetError> {
        &mut self.0
    }
    fn finish(self: Box<Self>) -> Result<Form, ThreeError> {
        (self.1)(self.0)
    }
}

pub(crate) type Wave<'p> = Vec<(Slot, Box<dyn Ready + 'p>)>;

/// The values of a plan under way.
pub(crate) struct Run<'p> {
    role: Role,
    backend: Backend,
    plan: &'p Plan,
    values: Vec<Option<Form>>,
    inputs: Vec<Option<Bits>>,
    /// Of each value, the steps that will still read it; outputs are read once more.
    readers: Vec<usize>,
    /// Steps that have run.
    ran: Vec<bool>,
}

impl<'p> Run<'p> {
    pub(crate) fn new(party: &Party, plan: &'p Plan, inputs: Vec<Bits>) -> Result<Self, ThreeError> {
        let wrong =
            |expected, found| ShareError::Length { what: "the shares of all inputs", expected, found };
        if inputs.len() != plan.inputs.len() {
            return Err(wrong(plan.inputs.len(), inputs.len()).into());
        }
        for (input, (scalar, elements)) in inputs.iter().zip(&plan.inputs) {
            if (input.width(), input.rows()) != (scalar.bits(), *elements) {
                return Err(wrong(scalar.bits() * elements, input.width() * input.rows()).into());
            }
        }
        let mut readers = vec![0; plan.steps.len()];
        let read = plan.steps.iter().flat_map(|step| &step.reads).chain(&plan.outputs);
        read.for_each(|slot| readers[*slot] += 1);
        Ok(Run {
            role: party.role(),
            backend: party.backend(),
            plan,
            values: plan.steps.iter().map(|_| None).collect(),
            inputs: inputs.into_iter().map(Some).collect(),
            readers,
            ran: vec![false; plan.steps.len()],
        })
    }

    fn done(&self) -> usize {
        self.ran.iter().filter(|ran| **ran).count()
    }

    pub(crate) fn put(&mut self, slot: Slot, form: Form) {
        self.values[slot] = Some(form);
        self.ran[slot] = true;
    }

    fn is_ready(&self, at: Slot) -> bool {
        !self.ran[at] && self.plan.steps[at].reads.iter().all(|slot| self.ran[*slot])
    }

    /// What a step reads; values that nobody reads again go.
    fn take(&mut self, step: &Step) -> Vec<Form> {
        let take = |slot: &Slot| {
            self.readers[*slot] -= 1;
            let value = &mut self.values[*slot];
            let form = if self.readers[*slot] == 0 { value.take() } else { value.clone() };
            form.expect("it ran, and is kept while it has readers")
        };
        step.reads.iter().map(take).collect()
    }

    /// Runs all steps that need no message and whose values are there.
    pub(crate) fn alone(&mut self, batch: &mut Batch) -> Result<(), ThreeError> {
        let plan = self.plan;
        for (at, step) in plan.steps.iter().enumerate() {
            if !step.talks() && self.is_ready(at) {
                let reads = self.take(step);
                let form = self.local(batch, step, &reads)?;
                self.put(at, form);
            }
        }
        Ok(())
    }

    /// All steps that are ready, none of which has begun.
    pub(crate) fn wave(&mut self, batch: &mut Batch) -> Result<Wave<'p>, ThreeError> {
        let plan = self.plan;
        let end = (self.role, self.backend);
        let ready: Vec<Slot> = (0..plan.steps.len()).filter(|at| self.is_ready(*at)).collect();
        let begin = |at: Slot| {
            let step = &plan.steps[at];
            let reads = self.take(step);
            Ok((at, begin(end, batch, step, &reads)?))
        };
        ready.into_iter().map(begin).collect()
    }

    pub(crate) fn outputs(self) -> Result<Vec<Bits>, ThreeError> {
        let output = |slot: &Slot| (**self.values[*slot].as_ref().expect("every step ran").bits()).clone();
        Ok(self.plan.outputs.iter().map(output).collect())
    }

    fn local(&mut self, batch: &mut Batch, step: &Step, reads: &[Form]) -> Result<Form, ThreeError> {
        let role = self.role;
        Ok(match &step.prim {
            Prim::Input(k) => {
                Form::Bits(Arc::new(self.inputs[*k].take().expect("an input is read into one value")))
            }
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
                rows::pick(&[&reads[0]], &picks)?
            }
            Prim::Invert => {
                let (order, inverse) = reads[0].order();
                Form::Order(order.clone(), !inverse)
            }
            Prim::Sum { minus } => {
                let [x, y] = [reads[0].words(), reads[1].words()];
                Form::Words(in_ring!(x.ring(), sum(x, y, *minus)))
            }
            Prim::Scale => {
                let (x, factor) = (reads[0].words(), reads[1].known());
                Form::Words(in_ring!(x.ring(), scale(x, factor)))
            }
            Prim::Fold { axis, prefix } => {
                let x = reads[0].words();
                Form::Words(in_ring!(x.ring(), fold(x, *axis, *prefix)))
            }
            Prim::Block(program) => block(batch, program, reads)?.finish()?,
            Prim::Flat(program, to) => flat(batch, program, *to, reads)?.finish()?,
            _ => unreachable!("a step that talks"),
        })
    }
}

/// A step that talks, not yet begun.
fn begin<'p>(
    (role, backend): (Role, Backend),
    batch: &mut Batch,
    step: &'p Step,
    reads: &[Form],
) -> Begun<'p> {
    match &step.prim {
        Prim::Block(program) => block(batch, program, reads),
        Prim::Flat(program, to) => flat(batch, program, *to, reads),
        Prim::Open { scalar, lengths } => open(batch, *scalar, lengths, &reads[0]),
        Prim::ToBits(width) => in_ring!(reads[0].words().ring(), to_bits(batch, &reads[0], *width)),
        Prim::ToWords(ring) => in_ring!(*ring, to_words(batch, &reads[0])),
        Prim::Inject(ring) => in_ring!(*ring, inject(batch, &reads[0])),
        Prim::Product => in_ring!(reads[0].words().ring(), product(batch, reads)),
        Prim::MatMul(shape) => in_ring!(reads[0].words().ring(), matmul(batch, reads, *shape)),
        Prim::Choose => in_ring!(reads[1].words().ring(), choose(batch, reads)),
        Prim::FromPlaces => {
            let places = u64::column(reads[0].words());
            // They say which row comes; the machine takes where each goes.
            let order = |made: FromPlaces| Ok(Form::Order(made.finish()?, true));
            Ok(Box::new(Then(FromPlaces::new(batch, places)?, order)))
        }
        Prim::Places { rows } => {
            let numbers: Vec<u64> = (0..*rows as u64).collect();
            let numbers = Form::Words(u64::words(Column::known(role, &numbers)));
            permuted::<u64>(batch, &numbers, 1, &reads[0])
        }
        Prim::Permute { inner } => match &reads[0] {
            Form::Words(words) => in_ring!(words.ring(), permuted(batch, &reads[0], *inner, &reads[1])),
            _ => permuted_bits(batch, backend, reads[0].bits(), *inner, &reads[1]),
        },
        Prim::Less { signed } => in_ring!(reads[0].words().ring(), less(batch, reads, *signed)),
        Prim::Equal => in_ring!(reads[0].words().ring(), equal(batch, reads)),
        Prim::Truncate { bits, signed } => {
            in_ring!(reads[0].words().ring(), truncate(batch, reads, *bits, *signed))
        }
        _ => unreachable!("a step that does not talk"),
    }
}

/// A value that is there already.
struct There(Form);

impl Ready for There {
    fn machine(&mut self) -> &mut dyn Machine<Error = NetError> {
        self
    }
    fn finish(self: Box<Self>) -> Result<Form, ThreeError> {
        Ok(self.0)
    }
}

impl Machine for There {
    type Error = NetError;
    fn round(&self, _slot: usize) -> Option<hushwire_wire::drive::Round> {
        None
    }
    fn write(&mut self, _slot: usize, _out: &mut [u8]) -> Result<(), NetError> {
        Ok(())
    }
    fn read(&mut self, _messages: &[hushwire_wire::drive::Exchanged<'_>]) -> Result<(), NetError> {
        Ok(())
    }
    fn cost(&self) -> Option<hushwire_wire::Cost> {
        Some(hushwire_wire::Cost::default())
    }
}

fn circuit<'p>(
    batch: &mut Batch,
    program: &'p Arc<Program>,
    inputs: &Shares,
    instances: usize,
    made: impl FnOnce(Shares) -> Result<Bits, ShareError> + 'p,
) -> Result<Box<dyn Ready + 'p>, ThreeError> {
    if instances == 0 {
        return Ok(Box::new(There(Form::Bits(Arc::new(made(Shares { own: vec![], next: vec![] })?)))));
    }
    let ws = CircuitWorkspace::default();
    let machine = CircuitBatch::new(program.clone(), batch.context(), inputs, instances, ws)?;
    Ok(Box::new(Then(machine, move |run: CircuitBatch| Ok(Form::Bits(Arc::new(made(run.output())?))))))
}

/// A block on every row.
fn block<'p>(
    batch: &mut Batch,
    program: &'p Arc<Program>,
    reads: &[Form],
) -> Result<Box<dyn Ready + 'p>, ThreeError> {
    let rows = reads[0].bits().rows();
    let join = |of: fn(&Shares) -> &[u8]| reads.iter().flat_map(|r| of(r.bits().shares()).to_vec()).collect();
    let inputs = Rep3 { own: join(|s| &s.own), next: join(|s| &s.next) };
    let width = program.outputs()[0];
    circuit(batch, program, &inputs, rows, move |out| Bits::new(width, rows, out))
}

/// A program on all bits of all elements, once.
fn flat<'p>(
    batch: &mut Batch,
    program: &'p Arc<Program>,
    [width, rows]: [usize; 2],
    reads: &[Form],
) -> Result<Box<dyn Ready + 'p>, ThreeError> {
    let all: Vec<Shares> = reads.iter().map(|r| rows::flattened(r.bits())).collect();
    let join = |of: fn(&Shares) -> &[u8]| all.iter().flat_map(|s| of(s).to_vec()).collect();
    let inputs = Rep3 { own: join(|s| &s.own), next: join(|s| &s.next) };
    circuit(batch, program, &inputs, 1, move |out| rows::gathered(&out, width, rows))
}

/// A value to all three parties.
fn open<'p>(
    batch: &mut Batch,
    scalar: Scalar,
    lengths: &'p [usize],
    form: &Form,
) -> Result<Box<dyn Ready + 'p>, ThreeError> {
    let bits = form.bits();
    let (width, rows) = (bits.width(), bits.rows());
    let machine = batch.reveal(&[([true; 3], width * plane_bytes(rows))], bits.shares());
    let opened = move |reveal: OnSlot<Reveal>| {
        let planes =
            Planes::new(width, rows, reveal.into_inner().finish()).expect("as many bytes as were shared");
        let tensor = Tensor::from_planes(scalar, lengths, &planes.trimmed());
        Ok(Form::Known(Arc::new(tensor)))
    };
    Ok(Box::new(Then(OnSlot::new(machine, 1), opened)))
}

/// The rows up to which fewer rounds are worth more ANDs. AGREEMENT.
const FEW: usize = 1 << 14;

fn adder(rows: usize) -> Adder {
    if rows <= FEW { Adder::Prefix } else { Adder::Ripple }
}

type Begun<'p> = Result<Box<dyn Ready + 'p>, ThreeError>;

/// A machine that leaves a column.
fn column<'p, W: Held, M>(machine: M, finish: impl FnOnce(M) -> Column<W> + 'p) -> Begun<'p>
where
    M: Machine<Error = NetError> + 'p,
{
    Ok(Box::new(Then(machine, move |m| Ok(Form::Words(W::words(finish(m)))))))
}

/// A machine that leaves bits.
fn strings<'p, M>(machine: M, finish: impl FnOnce(M) -> Result<Bits, ShareError> + 'p) -> Begun<'p>
where
    M: Machine<Error = NetError> + 'p,
{
    Ok(Box::new(Then(machine, move |m| Ok(Form::Bits(Arc::new(finish(m)?))))))
}

fn to_bits<'p, W: Held>(batch: &mut Batch, x: &Form, width: usize) -> Begun<'p> {
    let x = W::column(x.words());
    let machine = ToBits::<W>::new(batch, x, adder(x.rows()))?;
    strings(machine, move |m| rows::narrowed(&m.finish(), width))
}

fn to_words<'p, W: Held>(batch: &mut Batch, x: &Form) -> Begun<'p> {
    let x = x.bits();
    column(ToNumbers::<W>::new(batch, x, adder(x.rows()))?, ToNumbers::finish)
}

fn inject<'p, W: Held>(batch: &mut Batch, x: &Form) -> Begun<'p> {
    column(Inject::<W>::new(batch, x.bits()), Inject::finish)
}

fn product<'p, W: Held>(batch: &mut Batch, reads: &[Form]) -> Begun<'p> {
    let [x, y] = [0, 1].map(|i| W::column(reads[i].words()).clone());
    column(Product::new(batch.context(), x, y)?, Product::finish)
}

fn matmul<'p, W: Held>(batch: &mut Batch, reads: &[Form], shape: [usize; 3]) -> Begun<'p> {
    let [x, y] = [0, 1].map(|i| W::column(reads[i].words()).clone());
    column(MatMul::new(batch.context(), shape, x, y)?, MatMul::finish)
}

fn choose<'p, W: Held>(batch: &mut Batch, reads: &[Form]) -> Begun<'p> {
    let [x, y] = [1, 2].map(|i| W::column(reads[i].words()));
    column(Select::new(batch, reads[0].bits(), x, y)?, Select::finish)
}

fn less<'p, W: Held>(batch: &mut Batch, reads: &[Form], signed: bool) -> Begun<'p> {
    let [x, y] = [0, 1].map(|i| W::column(reads[i].words()));
    strings(Less::new(batch, x, y, signed, adder(x.rows()))?, |m| Ok(m.finish()))
}

fn equal<'p, W: Held>(batch: &mut Batch, reads: &[Form]) -> Begun<'p> {
    let [x, y] = [0, 1].map(|i| W::column(reads[i].words()));
    strings(Equal::new(batch, x, y)?, |m| Ok(m.finish()))
}

fn truncate<'p, W: Held>(batch: &mut Batch, reads: &[Form], bits: u32, signed: bool) -> Begun<'p> {
    let x = W::column(reads[0].words());
    column(Truncate::new(batch, x, bits, signed, adder(x.rows()))?, Truncate::finish)
}

fn permute<G: Group>(
    batch: &mut Batch,
    columns: Vec<Arc<Column<G::Word>>>,
    by: &Form,
) -> Result<Permute<G>, ThreeError> {
    let (order, inverse) = by.order();
    let machine = Permute::<G>::new(batch.context(), order.clone(), columns)?;
    Ok(if inverse { machine.inverse() } else { machine })
}

/// Rows of `inner` words in an order: a column for each place in a row.
fn permuted<'p, W: Held>(batch: &mut Batch, x: &Form, inner: usize, by: &Form) -> Begun<'p> {
    let all = W::column(x.words());
    let rows = by.order().0.rows();
    let column_of = |k: usize| {
        let of = |share: &[W]| (0..rows).map(|r| share[r * inner + k]).collect();
        Arc::new(Rep3 { own: of(&all.own), next: of(&all.next) })
    };
    let machine = permute::<Sum<W>>(batch, (0..inner).map(column_of).collect(), by)?;
    column(machine, move |m| {
        let columns = m.finish();
        let of = |share: fn(&Column<W>) -> &[W]| {
            (0..rows).flat_map(|r| columns.iter().map(move |column| share(column)[r])).collect()
        };
        Rep3 { own: of(|column| &column.own), next: of(|column| &column.next) }
    })
}

/// The same of bits, 64 at a time.
fn permuted_bits<'p>(batch: &mut Batch, backend: Backend, x: &Bits, inner: usize, by: &Form) -> Begun<'p> {
    let (rows, width) = (by.order().0.rows(), x.width());
    let (limbs, form) = (width.div_ceil(64), Form::Bits(Arc::new(x.clone())));
    let mut columns = vec![];
    for k in 0..inner {
        let picks: Vec<usize> = (0..rows).map(|r| r * inner + k).collect();
        let Form::Bits(one) = rows::pick(&[&form], &picks)? else { unreachable!("bits stay bits") };
        for limb in 0..limbs {
            let planes = rows::between(&one, 64 * limb, width.min(64 * (limb + 1)))?;
            columns.push(Arc::new(planes.to_words::<u64>(backend)?));
        }
    }
    let machine = permute::<Xor<u64>>(batch, columns, by)?;
    strings(machine, move |m| {
        let mut values = vec![];
        for limbs in m.finish().chunks(limbs) {
            let parts =
                limbs.iter().map(|limb| Bits::of_words(backend, limb)).collect::<Result<Vec<_>, _>>()?;
            values.push(Form::Bits(Arc::new(rows::stacked(&parts, width)?)));
        }
        let picks: Vec<usize> = (0..rows).flat_map(|r| (0..inner).map(move |k| k * rows + r)).collect();
        if values.is_empty() {
            return Bits::new(width, 0, Rep3 { own: vec![], next: vec![] });
        }
        match rows::pick(&values.iter().collect::<Vec<_>>(), &picks)? {
            Form::Bits(bits) => Ok((*bits).clone()),
            _ => unreachable!("bits stay bits"),
        }
    })
}

fn narrow<W: Held>(words: &Words) -> Words {
    fn from<V: Held, W: Held>(words: &Words) -> Words {
        let column = V::column(words);
        let cut = |share: &[V]| share.iter().map(|x| W::of(x.number())).collect();
        W::words(Rep3 { own: cut(&column.own), next: cut(&column.next) })
    }
    match words.ring() {
        Ring::U8 => from::<u8, W>(words),
        Ring::U16 => from::<u16, W>(words),
        Ring::U32 => from::<u32, W>(words),
        Ring::U64 => from::<u64, W>(words),
    }
}

/// Both shares of a column, each made of the same share of others.
fn each_share<W: Held>(make: impl Fn(fn(&Column<W>) -> &[W]) -> Vec<W>) -> Words {
    W::words(Rep3 { own: make(|column| &column.own), next: make(|column| &column.next) })
}

fn sum<W: Held>(x: &Words, y: &Words, minus: bool) -> Words {
    let (x, y) = (W::column(x), W::column(y));
    each_share::<W>(|of| {
        let pairs = of(x).iter().zip(of(y));
        if minus {
            pairs.map(|(x, y)| x.minus(*y)).collect()
        } else {
            pairs.map(|(x, y)| x.plus(*y)).collect()
        }
    })
}

fn scale<W: Held>(x: &Words, factor: &Tensor) -> Words {
    let (x, factor) = (W::column(x), known_numbers::<W>(factor));
    each_share::<W>(|of| match factor[..] {
        [one] if of(x).len() != 1 => of(x).iter().map(|x| x.times(one)).collect(),
        _ => of(x).iter().zip(&factor).map(|(x, f)| x.times(*f)).collect(),
    })
}

fn fold<W: Held>(x: &Words, axis: Axis, prefix: bool) -> Words {
    let x = W::column(x);
    each_share::<W>(|of| {
        let x = of(x);
        if prefix {
            let mut out = x.to_vec();
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
