//! Lowers a computation to steps, node by node.
//!
//! A value is converted to another form once, when an operation first needs it. An operation
//! without a rule here runs by the circuit that `compute` makes for it. So a new operation runs on
//! every back end.

mod forms;
mod numbers;
mod orders;
mod rectify;
mod series;
mod windows;

pub use forms::Forms;

use crate::{
    Backend, Local, Picks, PlanStep, PlanSteps, Prim, Size, Slot,
    prim::{PrimFacts, Same},
};
use hushwire_circuit::Program;
use hushwire_compute::{
    Computation, ComputeError, Node, Op, Range, Scalar, Tensor, Value,
    back_end::{self, Rectifiers, picks},
    circuits::{self, Operand},
};
use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    sync::Arc,
};

/// A lowering of a computation that is in progress.
pub struct PlanLowering<'a, B: Backend> {
    /// The state that the back end keeps during the lowering.
    pub backend: B,
    /// The computation.
    pub computation: &'a Computation,
    /// The steps so far.
    pub steps: Vec<PlanStep<B>>,
    forms: Vec<Forms>,
    /// Blocks made so far, by operation, scalars of operands, and built-in operands.
    blocks: HashMap<BlockKey, Arc<Program>>,
    /// Steps made so far, for common-subexpression elimination.
    made: HashMap<(Same, Vec<Slot>), Slot>,
    rectifiers: Rectifiers<'a>,
    /// Nodes that a reader computes in its own step.
    left: BTreeSet<usize>,
    /// The node for which steps are made.
    now: usize,
}

type BlockKey = (Op, Vec<Scalar>, Vec<Option<u128>>, Scalar);

/// The result of a lowering, unless it fails.
pub type Lowered<T> = Result<T, ComputeError>;

fn refuse(cause: impl Into<String>, remedy: &str) -> ComputeError {
    ComputeError::Type { cause: cause.into(), remedy: remedy.into() }
}

impl<'a, B: Backend> PlanLowering<'a, B> {
    /// Starts a lowering without steps.
    #[must_use]
    pub fn new(computation: &'a Computation, backend: B) -> Self {
        PlanLowering {
            backend,
            computation,
            steps: vec![],
            forms: vec![],
            blocks: HashMap::new(),
            made: HashMap::new(),
            rectifiers: Rectifiers::new(computation),
            left: BTreeSet::new(),
            now: 0,
        }
    }

    /// Lowers the whole computation. Steps that do not contribute to an output are left out.
    ///
    /// # Errors
    /// A length has no number yet, the back end does not run an operation, or the plan exceeds its
    /// largest size.
    pub fn plan(mut self) -> Result<(PlanSteps<B>, B), B::PlanRefusal> {
        let mut inputs = 0..;
        for (at, node) in self.computation.nodes().iter().enumerate() {
            self.now = at;
            let forms = match (&node.op, &mut inputs) {
                (Op::Input(_), inputs) => B::input(&mut self, at, inputs.next().expect("they have no end"))?,
                _ => self.node(at, node)?,
            };
            self.forms.push(forms);
            B::lowered(&self)?;
        }
        let outputs = self.computation.outputs().iter();
        let outputs = outputs.map(|o| B::output(&mut self, o.value.0 as usize)).collect::<Lowered<_>>()?;
        B::lowered(&self)?;
        Ok(self.into_steps(outputs))
    }

    /// The steps so far that contribute to these values.
    #[must_use]
    pub fn into_steps(self, outputs: Vec<Slot>) -> (PlanSteps<B>, B) {
        (PlanSteps::needed(self.steps, outputs), self.backend)
    }

    /// The bits of the ring for a scalar's numbers.
    pub fn ring(&self, scalar: Scalar) -> Option<u32> {
        self.backend.ring(scalar)
    }

    /// Adds a step of a primitive, and returns its value.
    pub fn step(&mut self, prim: impl Into<Prim<B>>, reads: Vec<Slot>) -> Slot {
        let prim = prim.into();
        let slot = self.steps.len();
        let sizes: Vec<Size> = reads.iter().map(|slot| self.steps[*slot].size).collect();
        let PrimFacts { size, rows, same } = prim.facts(&sizes);
        if let Some(same) = same {
            match self.made.entry((same, reads.clone())) {
                Entry::Occupied(made) => return *made.get(),
                Entry::Vacant(place) => *place.insert(slot),
            };
        }
        self.steps.push(PlanStep { prim, reads, size, rows, node: self.now });
        B::added(self);
        slot
    }

    /// Adds input `k` in a form.
    pub fn come(&mut self, k: usize, size: Size) -> Slot {
        self.step(Local::Input(k, size), vec![])
    }

    /// The step that computes a value.
    pub fn made_by(&self, slot: Slot) -> &PlanStep<B> {
        &self.steps[slot]
    }

    /// The size of a step's value.
    pub fn size(&self, slot: Slot) -> Size {
        self.steps[slot].size
    }

    /// Elements that all parties know.
    pub fn known(&mut self, tensor: Tensor) -> Slot {
        self.step(Local::Known(Arc::new(tensor)), vec![])
    }

    /// Picks elements by their places, which count through all values in turn.
    pub fn pick(&mut self, picks: Picks, reads: Vec<Slot>) -> Slot {
        self.step(Local::Pick(Arc::new(picks)), reads)
    }

    /// The same elements of each of several values.
    pub(crate) fn picked(&mut self, slots: &[Slot], places: &[usize]) -> Vec<Slot> {
        let picks = Arc::new(Picks::of(places));
        slots.iter().map(|slot| self.step(Local::Pick(picks.clone()), vec![*slot])).collect()
    }

    /// A node's scalar.
    pub fn scalar(&self, at: usize) -> Scalar {
        self.computation.nodes()[at].ty.scalar
    }

    /// A node's range.
    pub fn range(&self, at: usize) -> Option<Range> {
        self.computation.range(Value(at as u32))
    }

    /// A node's lengths.
    ///
    /// # Errors
    /// A length has no number yet.
    pub fn lengths(&self, at: usize) -> Lowered<Vec<usize>> {
        let shape = &self.computation.nodes()[at].ty.shape;
        shape.lengths().filter(|_| shape.elements().is_some()).ok_or_else(|| {
            refuse(format!("a value has the shape {shape}"), "bind all symbols before, to lengths that fit")
        })
    }

    /// A node's number of elements.
    ///
    /// # Errors
    /// As [`Self::lengths`].
    pub fn elements(&self, at: usize) -> Lowered<usize> {
        Ok(self.lengths(at)?.iter().product())
    }

    fn unsupported(&self, at: usize) -> ComputeError {
        let op = &self.computation.nodes()[at].op;
        let cause = format!("{} do not run {op:?} on shares of numbers yet", B::PARTIES);
        refuse(cause, "run it with `--protocol gmw` or `yao`")
    }

    fn node(&mut self, at: usize, node: &Node) -> Lowered<Forms> {
        let args: Vec<usize> = node.arguments.iter().map(|v| v.0 as usize).collect();
        let to = self.lengths(at)?;
        if let Op::Constant(tensor) = &node.op {
            return Ok(Forms::known(self.known(tensor.clone())));
        }
        if let Some(reads) = args.iter().map(|a| self.forms[*a].known).collect() {
            return self.in_the_open(node, &args, reads, to).map(Forms::known);
        }
        if let Some(forms) = self.rectified(at)? {
            return Ok(forms);
        }
        if let Some(forms) = self.ordering(node, &args, &to)? {
            return Ok(forms);
        }
        if let Some(ring) = self.ring(node.ty.scalar)
            && let Some(forms) = self.number(node, &args, &to, ring)?
        {
            return Ok(forms);
        }
        match &node.op {
            Op::Reveal(None) => {
                let slot = self.either(args[0])?;
                Ok(Forms::known(self.open(slot, node.ty.scalar, to)))
            }
            Op::Reveal(Some(_)) | Op::Wrapping => Ok(self.forms[args[0]]),
            Op::Compare(comparison)
                if self.ring(self.scalar(args[0])).is_some() && B::on_words(self, &node.op, &args) =>
            {
                self.compare(*comparison, &args, &to)
            }
            Op::Scan(kind) => self.scan(*kind, args[0], args[1], &to),
            Op::Reduce(reduction, axis) => self.reduce(*reduction, usize::from(*axis), node, args[0], &to),
            Op::Pool { reduction, size, steps } => self.pool(node, *reduction, args[0], (*size, *steps), &to),
            Op::Gather if self.forms[args[1]].known.is_some() => {
                let places = self.forms[args[1]].known;
                let prim = Local::Gather { rows: self.lengths(args[0])?[0], inner: to[1..].iter().product() };
                let reads = [self.either(args[0])?].into_iter().chain(places).collect();
                let slot = self.step(prim, reads);
                Ok(self.forms_of(slot))
            }
            _ => {
                let lengths = args.iter().map(|a| self.lengths(*a)).collect::<Lowered<Vec<_>>>()?;
                let lengths: Vec<&[usize]> = lengths.iter().map(Vec::as_slice).collect();
                match picks(&node.op, &lengths, &to) {
                    Some(picks) => self.moved(&args, Picks::of(&picks)),
                    None if node.op.is_element_wise() => self.each(node, &args, &to),
                    None => self.flat(node, &args, &to),
                }
            }
        }
    }

    /// An operation on values that all parties know. Single elements are computed here, so that
    /// circuits have them built in.
    fn in_the_open(
        &mut self,
        node: &Node,
        args: &[usize],
        reads: Vec<Slot>,
        lengths: Vec<usize>,
    ) -> Lowered<Slot> {
        let scalar = node.ty.scalar;
        let constants: Option<Vec<Arc<Tensor>>> = args.iter().map(|a| self.constant(*a)).collect();
        if let Some(constants) = constants.filter(|_| lengths.is_empty()) {
            let operands: Vec<&Tensor> = constants.iter().map(|tensor| &**tensor).collect();
            let made = back_end::apply(&node.op, &operands, scalar, &lengths)?;
            return Ok(self.known(made));
        }
        Ok(self.step(Local::Apply { op: node.op.clone(), scalar, lengths }, reads))
    }

    /// Moves elements of operands in one common form.
    fn moved(&mut self, args: &[usize], picks: Picks) -> Lowered<Forms> {
        let narrows: Option<Vec<Slot>> = args.iter().map(|a| self.forms[*a].narrow).collect();
        let narrows = narrows.filter(|slots| {
            let of_words = slots.iter().all(|slot| matches!(self.size(*slot), Size::Words(..)));
            let is_one_ring =
                slots.windows(2).all(|two| self.size(two[0]).ring() == self.size(two[1]).ring());
            if of_words { is_one_ring } else { !args.iter().any(|a| self.has_words(*a)) }
        });
        if let Some(slots) = narrows {
            let width = slots.iter().map(|slot| self.size(*slot).width()).max().unwrap_or(0);
            let slots = slots.into_iter().map(|slot| self.wider(slot, width)).collect();
            return Ok(Forms::narrow(self.pick(picks, slots)));
        }
        let ring = self.ring(self.scalar(args[0]));
        if let (Some(ring), true) = (ring, args.iter().any(|a| self.has_words(*a))) {
            let reads = args.iter().map(|a| self.words(*a, ring)).collect::<Lowered<_>>()?;
            return Ok(Forms::words(self.pick(picks, reads)));
        }
        let reads = args.iter().map(|a| self.bits(*a)).collect::<Lowered<_>>()?;
        Ok(Forms::bits(self.pick(picks, reads)))
    }

    /// An element-wise operation as a block on every row. Single known elements are built into the
    /// block.
    fn each(&mut self, node: &Node, args: &[usize], to: &[usize]) -> Lowered<Forms> {
        let scalars: Vec<Scalar> = args.iter().map(|a| self.scalar(*a)).collect();
        let (mut built_in, mut reads) = (vec![], vec![]);
        for a in args {
            let constant = self.constant(*a).filter(|t| t.lengths().is_empty() && t.scalar().bits() <= 128);
            built_in.push(constant.map(|tensor| tensor.get(0)));
            if built_in.last().is_some_and(Option::is_none) {
                let slot = self.bits(*a)?;
                reads.push(self.spread(slot, &self.lengths(*a)?, to));
            }
        }
        Ok(Forms::bits(self.block(&node.op, &scalars, built_in, node.ty.scalar, reads)))
    }

    /// An operation on every row of bits. `known` has the operands that are built in.
    pub fn block(
        &mut self,
        op: &Op,
        scalars: &[Scalar],
        known: Vec<Option<u128>>,
        to: Scalar,
        reads: Vec<Slot>,
    ) -> Slot {
        let key = (op.clone(), scalars.to_vec(), known, to);
        let block = self.blocks.entry(key.clone()).or_insert_with(|| {
            let (op, scalars, known, to) = &key;
            Arc::new(circuits::element(op, scalars, known, *to))
        });
        let block = block.clone();
        self.step(Prim::block(block), reads)
    }

    /// An operation on every row of bits, without known operands.
    pub fn on_bits(&mut self, op: &Op, scalars: &[Scalar], to: Scalar, reads: Vec<Slot>) -> Slot {
        self.block(op, scalars, vec![None; scalars.len()], to, reads)
    }

    /// The elements of a value that the computation itself contains.
    fn constant(&self, at: usize) -> Option<Arc<Tensor>> {
        match &self.steps[self.forms[at].known?].prim {
            Prim::Local(Local::Known(tensor)) => Some(tensor.clone()),
            Prim::Local(_) | Prim::Talk(_) => None,
        }
    }

    /// Lowers any operation to a circuit on all bits.
    fn flat(&mut self, node: &Node, args: &[usize], to: &[usize]) -> Lowered<Forms> {
        let constants: Vec<_> = args.iter().map(|a| self.constant(*a)).collect();
        let nodes = self.computation.nodes();
        let operands: Vec<Operand<'_>> = args
            .iter()
            .zip(&constants)
            .map(|(a, tensor)| tensor.as_deref().map_or(Operand::Wires(&nodes[*a].ty), Operand::Known))
            .collect();
        let program = self.within(
            |bits| circuits::of_operation_within(&node.op, &operands, bits),
            || circuits::of_operation(&node.op, &operands),
        )?;
        let wired = args.iter().zip(&constants).filter(|(_, tensor)| tensor.is_none());
        let reads = wired.map(|(a, _)| self.bits(*a)).collect::<Lowered<_>>()?;
        let size = [node.ty.scalar.bits(), to.iter().product()];
        Ok(Forms::bits(self.step(Prim::flat(program, size), reads)))
    }

    /// Makes a circuit of at most as many bits as the back end allows. `bounded` makes it with a
    /// limit, and `free` without one.
    ///
    /// # Errors
    /// The errors of the function, or more bits than the limit.
    pub fn within(
        &self,
        bounded: impl FnOnce(usize) -> Lowered<Program>,
        free: impl FnOnce() -> Lowered<Program>,
    ) -> Lowered<Arc<Program>> {
        let Some(bits) = B::most_bits(self) else { return free().map(Arc::new) };
        bounded(bits).map(Arc::new).map_err(|e| match e {
            ComputeError::Type { cause, .. } => refuse(cause, "bring fewer rows, or allow more memory"),
            e => e,
        })
    }
}
