//! Node after node to steps.

mod layers;
mod numbers;
mod orders;
mod rectify;
mod windows;

use crate::{
    TwoError,
    memory::REGISTER,
    ops::Holders,
    plan::{Distance, Input, Output, Plan, Prim, Products, Size, Slot, Step},
};
use hushwire_bfv::Set;
use hushwire_circuit::{Builder, Layered, Program, words as gates};
use hushwire_compute::{
    Computation, ComputeError, Node, Op, Range, Reduction, Scalar, Tensor, Value, Visibility,
    back_end::{Rectifiers, picks},
    circuits::{self, Operand},
};
use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
};

/// The steps that have a node's value, a form each.
#[derive(Clone, Copy, Default)]
pub(crate) struct Forms {
    /// An input that is in neither form yet.
    input: Option<usize>,
    pub(crate) known: Option<Slot>,
    pub(crate) bits: Option<Slot>,
    pub(crate) words: Option<Slot>,
    /// Words of numbers from 0 on, in a smaller ring that they fit as signed ones.
    pub(crate) narrow: Option<Slot>,
    order: Option<Slot>,
}

pub(crate) struct Lower<'a> {
    computation: &'a Computation,
    steps: Vec<Step>,
    /// Of each step's words or bits, which parties' shares are not 0.
    holders: Vec<Holders>,
    inputs: Vec<Input>,
    forms: Vec<Forms>,
    blocks: HashMap<BlockKey, Arc<Program>>,
    adders: HashMap<(u32, bool), Arc<Program>>,
    products: Products,
    /// The node under way.
    now: usize,
    rectifiers: Rectifiers<'a>,
    /// Nodes that their reader computes with its own step.
    left: BTreeSet<usize>,
    /// Keys that layers so far have: parameters, ring and evaluator.
    keys: BTreeSet<(Set, u32, usize)>,
    /// Bytes of the lists of steps so far, and of all at most.
    lists: u64,
    most: u64,
}

type BlockKey = (Op, Vec<Scalar>, Vec<Option<u128>>, Scalar);

pub(crate) type Lowered<T> = Result<T, ComputeError>;

/// AGREEMENT: the most rows that a sorting network may order, and the OTs that take about as long
/// as a round.
const NETWORK: usize = 64;
const ROUND: u64 = 1 << 12;

/// The rows up to which fewer rounds are worth more ANDs. AGREEMENT.
const FEW: usize = 1 << 12;

const BOTH: Holders = [true; 2];

fn bits(slot: Slot) -> Forms {
    Forms { bits: Some(slot), ..Forms::default() }
}

fn words(slot: Slot) -> Forms {
    Forms { words: Some(slot), ..Forms::default() }
}

fn known(slot: Slot) -> Forms {
    Forms { known: Some(slot), ..Forms::default() }
}

fn order(slot: Slot) -> Forms {
    Forms { order: Some(slot), ..Forms::default() }
}

fn narrow(slot: Slot) -> Forms {
    Forms { narrow: Some(slot), ..Forms::default() }
}

/// Bits of the ring of a scalar's numbers; none for what is no number, or wider than a word.
pub(crate) fn ring(scalar: Scalar) -> Option<u32> {
    (scalar.is_number() && scalar.bits() <= 64).then(|| scalar.bits() as u32)
}

impl<'a> Lower<'a> {
    pub(crate) fn plan(
        computation: &'a Computation,
        owners: &[usize],
        learns: &[[bool; 2]],
        products: Products,
        most: u64,
    ) -> Result<Plan, TwoError> {
        let mut hash = blake3::Hasher::new_derive_key("hushwire two plan v4");
        hash.update(&computation.digest());
        hash.update(&[products as u8]);
        for owner in owners {
            hash.update(&[*owner as u8]);
        }
        for to in learns {
            hash.update(&to.map(u8::from));
        }
        // The form is agreed on as well: it follows from `most`, too.
        let as_steps = *hash.clone().update(&[0]).finalize().as_bytes();
        let as_circuit = *hash.update(&[1]).finalize().as_bytes();
        let mut lower = Lower::new(computation, owners, products, most)?;
        let slots = lower.all()?;
        let plan = lower.into_plan(slots, learns, as_steps)?;
        let rows = computation.nodes().iter().filter(|node| node.ty.scalar == Scalar::Place);
        let rows = rows.filter_map(|node| node.ty.shape.elements()).max();
        if rows.is_none_or(|rows| rows > NETWORK) {
            return Ok(plan);
        }
        // Of few rows a sorting network may take less, which one circuit has with all that reads its order.
        let mut lower = Lower::new(computation, owners, products, most)?;
        let Ok(slots) = lower.as_one() else { return Ok(plan) };
        let one = lower.into_plan(slots, learns, as_circuit)?;
        let work = |plan: &Plan| {
            let tally = plan.tally(Distance::Near);
            tally.ots() as u64 + ROUND * tally.rounds
        };
        Ok(if work(&one) <= work(&plan) { one } else { plan })
    }

    fn new(
        computation: &'a Computation,
        owners: &[usize],
        products: Products,
        most: u64,
    ) -> Lowered<Lower<'a>> {
        let mut lower = Lower {
            computation,
            steps: vec![],
            holders: vec![],
            inputs: vec![],
            forms: vec![],
            blocks: HashMap::new(),
            adders: HashMap::new(),
            products,
            now: 0,
            rectifiers: Rectifiers::new(computation),
            left: BTreeSet::new(),
            keys: BTreeSet::new(),
            lists: 0,
            most,
        };
        let mut owners = owners.iter();
        for at in 0..computation.nodes().len() {
            let node = &computation.nodes()[at];
            if matches!(node.op, Op::Input(_)) {
                let owner = *owners.next().expect("an owner for each input");
                lower.inputs.push(Input { owner, scalar: node.ty.scalar, lengths: lower.lengths(at)? });
            }
        }
        Ok(lower)
    }

    fn into_plan(self, slots: Vec<Slot>, learns: &[[bool; 2]], digest: [u8; 32]) -> Result<Plan, TwoError> {
        let outputs = self.computation.outputs().iter().zip(slots).zip(learns);
        let output = |((output, slot), to): ((&hushwire_compute::Output, Slot), &[bool; 2])| {
            let at = output.value.0 as usize;
            Ok(Output { slot, scalar: self.scalar(at), lengths: self.lengths(at)?, to: *to })
        };
        let outputs = outputs.map(output).collect::<Lowered<_>>()?;
        Ok(Plan { steps: self.steps, inputs: self.inputs, outputs, digest })
    }

    /// Refuses lists that are longer than they may be.
    fn within(&self) -> Result<(), TwoError> {
        let (takes, may) = (self.lists, self.most);
        if takes <= may { Ok(()) } else { Err(TwoError::Memory { takes, may }) }
    }

    /// Bits that a circuit may have beside the lists so far; `None` where there is no limit.
    fn most_bits(&self) -> Option<usize> {
        let left = self.most.saturating_sub(self.lists) / REGISTER;
        (self.most < u64::MAX).then(|| usize::try_from(left).unwrap_or(usize::MAX))
    }

    /// The error of a circuit that has more bits than it may.
    fn too_wide(&self, e: ComputeError) -> ComputeError {
        match e {
            ComputeError::Type { cause, .. } if self.most < u64::MAX => {
                ComputeError::Type { cause, remedy: "bring fewer rows, or allow more memory".into() }
            }
            e => e,
        }
    }

    /// Everything as one circuit; the slots of its outputs.
    fn as_one(&mut self) -> Result<Vec<Slot>, TwoError> {
        let program = match self.most_bits() {
            None => circuits::program(self.computation),
            Some(bits) => circuits::program_within(self.computation, bits),
        };
        let program = Arc::new(program.map_err(|e| self.too_wide(e))?);
        let reads: Vec<Slot> = (0..self.inputs.len()).map(|k| self.input_bits(k)).collect();
        let size = Size::Bits(program.output_bits(), 1);
        let slot = self.step(Prim::Flat(program.clone()), reads, size);
        let mut from = 0;
        let mut outputs = vec![];
        for output in self.computation.outputs() {
            let at = output.value.0 as usize;
            let (width, rows) = (self.scalar(at).bits(), self.elements(at)?);
            outputs.push(self.step(Prim::Part { from }, vec![slot], Size::Bits(width, rows)));
            from += width * rows;
        }
        Ok(outputs)
    }

    /// Node after node; the slots of the outputs.
    fn all(&mut self) -> Result<Vec<Slot>, TwoError> {
        let mut inputs = 0..self.inputs.len();
        for at in 0..self.computation.nodes().len() {
            let node = &self.computation.nodes()[at];
            self.now = at;
            let forms = if matches!(node.op, Op::Input(_)) {
                self.input(node, inputs.next().expect("they were counted"))
            } else {
                self.node(at, node)?
            };
            self.forms.push(forms);
            self.within()?;
        }
        let outputs = self.computation.outputs().iter();
        let outputs = outputs.map(|output| self.output(output.value.0 as usize)).collect::<Lowered<_>>()?;
        self.within().map(|()| outputs)
    }

    fn input(&mut self, node: &Node, k: usize) -> Forms {
        if node.ty.visibility != Visibility::Public {
            return Forms { input: Some(k), ..Forms::default() };
        }
        let slot = self.input_bits(k);
        let (scalar, lengths) = (self.inputs[k].scalar, self.inputs[k].lengths.clone());
        known(self.open(slot, scalar, lengths))
    }

    fn input_bits(&mut self, k: usize) -> Slot {
        let input = &self.inputs[k];
        let (size, owner) = (Size::Bits(input.scalar.bits(), input.lengths.iter().product()), input.owner);
        let slot = self.step(Prim::InputBits(k), vec![], size);
        self.holders[slot] = [owner == 0, owner == 1];
        slot
    }

    fn open(&mut self, slot: Slot, scalar: Scalar, lengths: Vec<usize>) -> Slot {
        let size = Size::Known(lengths.iter().product());
        self.step(Prim::Open { scalar, lengths }, vec![slot], size)
    }

    fn output(&mut self, at: usize) -> Lowered<Slot> {
        match self.forms[at] {
            Forms { known: Some(slot), .. } | Forms { words: Some(slot), .. } => Ok(slot),
            Forms { narrow: Some(_), .. } => self.words(at, self.scalar(at).bits() as u32),
            _ => self.bits(at),
        }
    }

    pub(crate) fn step(&mut self, prim: Prim, reads: Vec<Slot>, size: Size) -> Slot {
        let step = Step { prim, reads, size, node: self.now };
        let of = |slot: &Slot| self.holders[*slot];
        let holders = match &step.prim {
            Prim::AsBits | Prim::AsWords => [true, false],
            Prim::Known(_) | Prim::Apply { .. } => [false; 2],
            _ if step.talks() => BOTH,
            // Circuits without ANDs have constants, which party 0 holds.
            Prim::Block(_) | Prim::Flat(_) => BOTH,
            _ => step.reads.iter().map(of).fold([false; 2], |a, b| [a[0] | b[0], a[1] | b[1]]),
        };
        self.holders.push(holders);
        self.lists = self.lists.saturating_add(step.lists());
        self.steps.push(step);
        self.steps.len() - 1
    }

    pub(crate) fn scalar(&self, at: usize) -> Scalar {
        self.computation.nodes()[at].ty.scalar
    }

    pub(crate) fn range(&self, at: usize) -> Option<Range> {
        self.computation.range(Value(at as u32))
    }

    pub(crate) fn lengths(&self, at: usize) -> Lowered<Vec<usize>> {
        let shape = &self.computation.nodes()[at].ty.shape;
        shape.lengths().filter(|_| shape.elements().is_some()).ok_or_else(|| ComputeError::Type {
            cause: format!("a value has the shape {shape}"),
            remedy: "bind all symbols before, to lengths that fit".into(),
        })
    }

    pub(crate) fn elements(&self, at: usize) -> Lowered<usize> {
        Ok(self.lengths(at)?.iter().product())
    }

    /// A node's value as bits.
    pub(crate) fn bits(&mut self, at: usize) -> Lowered<Slot> {
        let rows = self.elements(at)?;
        let size = Size::Bits(self.scalar(at).bits(), rows);
        let slot = match self.forms[at] {
            Forms { bits: Some(slot), .. } => return Ok(slot),
            Forms { input: Some(k), .. } => self.input_bits(k),
            Forms { known: Some(slot), .. } => self.step(Prim::AsBits, vec![slot], size),
            Forms { order: Some(_), .. } | Forms { words: Some(_), .. } | Forms { narrow: Some(_), .. } => {
                let ring = self.scalar(at).bits() as u32;
                let slot = self.words(at, ring)?;
                let adder = self.adder(ring, rows <= FEW);
                self.step(Prim::ToBits(adder), vec![slot], size)
            }
            _ => unreachable!("every node has a form"),
        };
        self.forms[at].bits = Some(slot);
        Ok(slot)
    }

    fn adder(&mut self, ring: u32, fast: bool) -> Arc<Program> {
        let make = || {
            let mut b = Builder::new();
            let [x, y] = [(); 2].map(|()| b.input(ring as usize));
            let sum = if fast { gates::add_fast(&mut b, &x, &y).0 } else { gates::add_mod(&mut b, &x, &y) };
            Arc::new(Program::of_block("shares to bits", Arc::new(Layered::new(&b.finish(&[sum])))))
        };
        self.adders.entry((ring, fast)).or_insert_with(make).clone()
    }

    /// A node's value as words of a ring: that of its scalar, or a narrower one, or any where it is one bit.
    pub(crate) fn words(&mut self, at: usize, to: u32) -> Lowered<Slot> {
        let rows = self.elements(at)?;
        let own = ring(self.scalar(at));
        if self.forms[at].words.is_none()
            && let (Some(k), Some(own)) = (self.forms[at].input, own)
        {
            let slot = self.step(Prim::InputWords(k), vec![], Size::Words(own, rows));
            let owner = self.inputs[k].owner;
            self.holders[slot] = [owner == 0, owner == 1];
            self.forms[at].words = Some(slot);
        }
        if let (Forms { known: None, words: None, order: Some(slot), .. }, 64) = (self.forms[at], to) {
            let slot = self.places(at, slot)?;
            self.forms[at].words = Some(slot);
            return Ok(slot);
        }
        if let (None, Some(slot), Some(own)) = (self.forms[at].words, self.forms[at].narrow, own) {
            let now = std::mem::replace(&mut self.now, at);
            self.forms[at].words = Some(self.step(Prim::Extend, vec![slot], Size::Words(own, rows)));
            self.now = now;
        }
        if let Some(slot) = self.forms[at].words {
            let narrow = Size::Words(to, rows);
            return Ok(if own == Some(to) { slot } else { self.step(Prim::Narrow, vec![slot], narrow) });
        }
        let slot = match self.forms[at] {
            Forms { known: Some(slot), .. } => self.step(Prim::AsWords, vec![slot], Size::Words(to, rows)),
            _ => {
                let slot = self.bits(at)?;
                self.step(Prim::ToWords, vec![slot], Size::Words(to, rows))
            }
        };
        if own == Some(to) {
            self.forms[at].words = Some(slot);
        }
        Ok(slot)
    }

    /// Whether a value is there as numbers, or may be for nothing.
    fn has_words(&self, at: usize) -> bool {
        let forms = self.forms[at];
        forms.words.is_some()
            || forms.narrow.is_some()
            || forms.input.is_some() && ring(self.scalar(at)).is_some()
    }

    fn any_words(&self, args: &[usize]) -> bool {
        args.iter().any(|a| self.has_words(*a))
    }

    /// Whether all values are there as numbers or known, and some as numbers.
    fn on_words(&self, args: &[usize]) -> bool {
        self.any_words(args) && args.iter().all(|a| self.has_words(*a) || self.forms[*a].known.is_some())
    }

    fn node(&mut self, at: usize, node: &Node) -> Lowered<Forms> {
        let args: Vec<usize> = node.arguments.iter().map(|v| v.0 as usize).collect();
        let (scalar, to) = (node.ty.scalar, self.lengths(at)?);
        let rows: usize = to.iter().product();
        if let Op::Constant(tensor) = &node.op {
            return Ok(known(self.step(Prim::Known(Arc::new(tensor.clone())), vec![], Size::Known(rows))));
        }
        if let Some(reads) = args.iter().map(|a| self.forms[*a].known).collect::<Option<Vec<Slot>>>() {
            let prim = Prim::Apply { op: node.op.clone(), scalar, lengths: to };
            return Ok(known(self.step(prim, reads, Size::Known(rows))));
        }
        if let Some(forms) = self.rectified(at)? {
            return Ok(forms);
        }
        if let Some(forms) = self.ordering(node, &args, &to)? {
            return Ok(forms);
        }
        if let Some(ring) = ring(scalar)
            && let Some(forms) = self.number(node, &args, &to, ring)?
        {
            return Ok(forms);
        }
        match &node.op {
            Op::Reveal(None) => {
                let slot = if self.has_words(args[0]) {
                    self.words(args[0], scalar.bits() as u32)?
                } else {
                    self.bits(args[0])?
                };
                Ok(known(self.open(slot, scalar, to)))
            }
            Op::Reveal(Some(_)) | Op::Wrapping => Ok(self.forms[args[0]]),
            Op::Compare(comparison) if self.on_words(&args) => {
                let ring = ring(self.scalar(args[0])).expect("its numbers have one");
                self.compare(*comparison, &args, ring, &to)
            }
            Op::Reduce(Reduction::ArgMin | Reduction::ArgMax, _) if self.has_words(args[0]) => {
                self.reduce(node, args[0])
            }
            Op::Gather if self.forms[args[1]].known.is_some() => {
                let places = self.forms[args[1]].known.expect("it was asked");
                let prim = Prim::Gather { rows: self.lengths(args[0])?[0], inner: to[1..].iter().product() };
                self.either(args[0], |lower, slot| {
                    let size = lower.steps[slot].size.with_rows(rows);
                    lower.step(prim, vec![slot, places], size)
                })
            }
            _ => {
                let lengths = args.iter().map(|a| self.lengths(*a)).collect::<Lowered<Vec<_>>>()?;
                let lengths: Vec<&[usize]> = lengths.iter().map(Vec::as_slice).collect();
                match picks(&node.op, &lengths, &to) {
                    Some(picks) => self.moved(&args, picks),
                    None if node.op.is_element_wise() => self.each(&node.op, &args, scalar, &to),
                    None => self.flat(node, &args, rows),
                }
            }
        }
    }

    /// The value that a primitive makes of one that it takes in either form.
    fn either(&mut self, at: usize, prim: impl FnOnce(&mut Self, Slot) -> Slot) -> Lowered<Forms> {
        if self.has_words(at) {
            let slot = self.words(at, self.scalar(at).bits() as u32)?;
            return Ok(words(prim(self, slot)));
        }
        let slot = self.bits(at)?;
        Ok(bits(prim(self, slot)))
    }

    pub(crate) fn pick(&mut self, reads: Vec<Slot>, picks: Vec<usize>) -> Slot {
        let size = self.steps[reads[0]].size.with_rows(picks.len());
        self.step(Prim::Pick(Arc::new(picks)), reads, size)
    }

    /// One element in as many places as there are, where there is one alone.
    fn spread(&mut self, slot: Slot, from: &[usize], to: &[usize]) -> Slot {
        if from == to { slot } else { self.pick(vec![slot], vec![0; to.iter().product()]) }
    }

    fn aligned(&mut self, args: &[usize], ring: u32, to: &[usize]) -> Lowered<Vec<Slot>> {
        let one = |a: &usize| {
            let slot = self.words(*a, ring)?;
            Ok(self.spread(slot, &self.lengths(*a)?, to))
        };
        args.iter().map(one).collect()
    }

    /// Elements moved, all of them in one form.
    fn moved(&mut self, args: &[usize], picks: Vec<usize>) -> Lowered<Forms> {
        let narrows = args.iter().map(|a| self.forms[*a].narrow).collect::<Option<Vec<Slot>>>();
        if let Some(slots) = narrows
            && slots.windows(2).all(|two| self.steps[two[0]].size.ring() == self.steps[two[1]].size.ring())
        {
            return Ok(narrow(self.pick(slots, picks)));
        }
        if let (Some(ring), true) = (ring(self.scalar(args[0])), self.any_words(args)) {
            let reads = args.iter().map(|a| self.words(*a, ring)).collect::<Lowered<_>>()?;
            return Ok(words(self.pick(reads, picks)));
        }
        let reads = args.iter().map(|a| self.bits(*a)).collect::<Lowered<_>>()?;
        Ok(bits(self.pick(reads, picks)))
    }

    pub(crate) fn matmul(&mut self, args: &[usize], shape: [usize; 3], ring: u32) -> Lowered<Slot> {
        if let Some(k) = args.iter().position(|a| self.forms[*a].known.is_some()) {
            let factor = self.forms[args[k]].known.expect("it was found");
            let slot = self.words(args[1 - k], ring)?;
            return Ok(self.matmul_known(factor, slot, shape, k == 0));
        }
        let reads = [self.words(args[0], ring)?, self.words(args[1], ring)?];
        if let Some(slot) = self.encrypted_matmul(reads, shape) {
            return Ok(slot);
        }
        Ok(self.matmul_words(reads, shape))
    }

    pub(crate) fn matmul_known(&mut self, factor: Slot, slot: Slot, shape: [usize; 3], first: bool) -> Slot {
        let size = self.steps[slot].size.with_rows(shape[0] * shape[2]);
        self.step(Prim::MatMulKnown { shape, first }, vec![factor, slot], size)
    }

    pub(crate) fn matmul_words(&mut self, reads: [Slot; 2], shape: [usize; 3]) -> Slot {
        let size = self.steps[reads[0]].size.with_rows(shape[0] * shape[2]);
        let holders = reads.map(|slot| self.holders[slot]);
        self.step(Prim::MatMul(shape, holders), reads.to_vec(), size)
    }

    pub(crate) fn known_of(&self, at: usize) -> Option<Slot> {
        self.forms[at].known
    }

    /// An element-wise operation as a block on every row. Single known elements are built in.
    fn each(&mut self, op: &Op, args: &[usize], scalar: Scalar, to: &[usize]) -> Lowered<Forms> {
        let scalars: Vec<Scalar> = args.iter().map(|a| self.scalar(*a)).collect();
        let (mut built_in, mut reads) = (vec![], vec![]);
        for a in args {
            let constant = self.constant(*a).filter(|t| t.lengths().is_empty() && t.scalar().bits() <= 128);
            if let Some(tensor) = constant {
                built_in.push(Some(tensor.get(0)));
                continue;
            }
            built_in.push(None);
            let slot = self.bits(*a)?;
            reads.push(self.spread(slot, &self.lengths(*a)?, to));
        }
        let block = self.block(op, scalars, built_in, scalar);
        Ok(bits(self.step(Prim::Block(block), reads, Size::Bits(scalar.bits(), to.iter().product()))))
    }

    pub(crate) fn block(
        &mut self,
        op: &Op,
        scalars: Vec<Scalar>,
        known: Vec<Option<u128>>,
        to: Scalar,
    ) -> Arc<Program> {
        let key = (op.clone(), scalars, known, to);
        let block = self.blocks.entry(key.clone()).or_insert_with(|| {
            let (op, scalars, known, to) = &key;
            Arc::new(circuits::element(op, scalars, known, *to))
        });
        block.clone()
    }

    /// A value whose elements stand in the computation itself.
    fn constant(&self, at: usize) -> Option<Arc<Tensor>> {
        match &self.steps[self.forms[at].known?].prim {
            Prim::Known(tensor) => Some(tensor.clone()),
            _ => None,
        }
    }

    /// Any operation, bit by bit.
    fn flat(&mut self, node: &Node, args: &[usize], rows: usize) -> Lowered<Forms> {
        let constants: Vec<_> = args.iter().map(|a| self.constant(*a)).collect();
        let nodes = self.computation.nodes();
        let operands: Vec<Operand<'_>> = args
            .iter()
            .zip(&constants)
            .map(|(a, tensor)| tensor.as_deref().map_or(Operand::Wires(&nodes[*a].ty), Operand::Known))
            .collect();
        let program = match self.most_bits() {
            None => circuits::of_operation(&node.op, &operands),
            Some(bits) => circuits::of_operation_within(&node.op, &operands, bits),
        };
        let program = Arc::new(program.map_err(|e| self.too_wide(e))?);
        let wired = args.iter().zip(&constants).filter(|(_, tensor)| tensor.is_none());
        let reads = wired.map(|(a, _)| self.bits(*a)).collect::<Lowered<_>>()?;
        Ok(bits(self.step(Prim::Flat(program), reads, Size::Bits(node.ty.scalar.bits(), rows))))
    }
}
