//! Node after node to steps.

use crate::{
    Door, doors,
    form::Ring,
    picks::{Picks, Run},
    plan::{Axis, Key, Plan, Prim, Slot, Step},
};
use hushwire_circuit::Program;
use hushwire_compute::{
    Comparison, Computation, ComputeError, Node, Op, Range, Scalar, Tensor, Value, Visibility,
    back_end::{self, Rectifiers, picks},
    circuits::{self, Operand},
};
use std::{
    collections::{BTreeSet, HashMap, hash_map::Entry},
    sync::Arc,
};

/// The steps that have a node's value, a form each.
#[derive(Clone, Copy, Default)]
pub(crate) struct Forms {
    pub(crate) known: Option<Slot>,
    pub(crate) bits: Option<Slot>,
    pub(crate) words: Option<Slot>,
    /// Bits of numbers from 0 on, and how many: those above them are 0.
    pub(crate) narrow: Option<(Slot, usize)>,
    order: Option<Slot>,
}

pub(crate) struct Lower<'a> {
    pub(crate) computation: &'a Computation,
    rings: bool,
    steps: Vec<Step>,
    pub(crate) forms: Vec<Forms>,
    /// Blocks that were made before: an operation, its operands' scalars and those built in.
    blocks: HashMap<BlockKey, Arc<Program>>,
    /// Steps that were made before.
    made: HashMap<(Same, Vec<Slot>), Slot>,
    pub(crate) rectifiers: Rectifiers<'a>,
    /// Nodes that their reader computes with its own step.
    pub(crate) left: BTreeSet<usize>,
    /// The node that steps are of.
    pub(crate) now: usize,
}

/// A primitive that has the same value wherever it reads the same: scans by one column of starts, say, pick and join its flags alike.
#[derive(PartialEq, Eq, Hash)]
enum Same {
    Pick(Arc<Picks>),
    /// A block, by its place in memory: those of one operation are one.
    Block(*const Program),
    Inject(usize),
    Permute(usize),
    Invert,
    AsBits,
    AsWords(usize),
}

impl Same {
    fn of(prim: &Prim) -> Option<Same> {
        match prim {
            Prim::Pick(picks) => Some(Same::Pick(picks.clone())),
            Prim::Block(program) => Some(Same::Block(Arc::as_ptr(program))),
            Prim::Inject(ring) => Some(Same::Inject(ring.bits())),
            Prim::Permute { inner } => Some(Same::Permute(*inner)),
            Prim::Invert => Some(Same::Invert),
            Prim::AsBits => Some(Same::AsBits),
            Prim::AsWords(ring) => Some(Same::AsWords(ring.bits())),
            _ => None,
        }
    }
}

type BlockKey = (Op, Vec<Scalar>, Vec<Option<u128>>, Scalar);

pub(crate) type Lowered<T> = Result<T, ComputeError>;

pub(crate) fn bits(slot: Slot) -> Forms {
    Forms { bits: Some(slot), ..Forms::default() }
}

pub(crate) fn words(slot: Slot) -> Forms {
    Forms { words: Some(slot), ..Forms::default() }
}

pub(crate) fn narrow(slot: Slot, width: usize) -> Forms {
    Forms { narrow: Some((slot, width)), ..Forms::default() }
}

fn known(slot: Slot) -> Forms {
    Forms { known: Some(slot), ..Forms::default() }
}

fn order(slot: Slot) -> Forms {
    Forms { order: Some(slot), ..Forms::default() }
}

fn refuse(cause: impl Into<String>, remedy: &str) -> ComputeError {
    ComputeError::Type { cause: cause.into(), remedy: remedy.into() }
}

impl<'a> Lower<'a> {
    pub(crate) fn plan(computation: &'a Computation, rings: bool) -> Lowered<Plan> {
        let mut lower = Lower {
            computation,
            rings,
            steps: vec![],
            forms: vec![],
            blocks: HashMap::new(),
            made: HashMap::new(),
            rectifiers: Rectifiers::new(computation),
            left: BTreeSet::new(),
            now: 0,
        };
        let mut inputs = vec![];
        let numbers = doors::numbers(computation, |scalar| lower.ring(scalar));
        for at in 0..computation.nodes().len() {
            let node = &computation.nodes()[at];
            lower.now = at;
            let forms = if matches!(node.op, Op::Input(_)) {
                let mut door = Door::bits(node.ty.scalar, lower.lengths(at)?.iter().product());
                if numbers[at] && node.ty.visibility != Visibility::Public {
                    door.ring = lower.ring(door.scalar);
                }
                inputs.push(door);
                lower.input(node, door)?
            } else {
                lower.node(at, node)?
            };
            lower.forms.push(forms);
        }
        let outputs = computation.outputs().iter();
        let outputs = outputs.map(|o| lower.output(o.value.0 as usize)).collect::<Lowered<_>>()?;
        Ok(Plan { steps: lower.steps, inputs, outputs }.needed())
    }

    /// The ring of a scalar's numbers, unless all is done on bits.
    pub(crate) fn ring(&self, scalar: Scalar) -> Option<Ring> {
        Ring::of(scalar).filter(|_| self.rings)
    }

    pub(crate) fn step(&mut self, prim: Prim, reads: Vec<Slot>) -> Slot {
        let slot = self.steps.len();
        if let Some(same) = Same::of(&prim) {
            match self.made.entry((same, reads.clone())) {
                Entry::Occupied(made) => return *made.get(),
                Entry::Vacant(place) => *place.insert(slot),
            };
        }
        self.steps.push(Step { prim, reads, node: self.now });
        slot
    }

    /// Elements of values, one behind the other, by their places.
    pub(crate) fn pick(&mut self, picks: Picks, reads: Vec<Slot>) -> Slot {
        self.step(Prim::Pick(Arc::new(picks)), reads)
    }

    pub(crate) fn scalar(&self, at: usize) -> Scalar {
        self.computation.nodes()[at].ty.scalar
    }

    pub(crate) fn range(&self, value: Value) -> Option<Range> {
        self.computation.range(value)
    }

    pub(crate) fn lengths(&self, at: usize) -> Lowered<Vec<usize>> {
        let shape = &self.computation.nodes()[at].ty.shape;
        shape.lengths().filter(|_| shape.elements().is_some()).ok_or_else(|| {
            refuse(format!("a value has the shape {shape}"), "bind all symbols before, to lengths that fit")
        })
    }

    /// An input that all members know comes as shares like the rest, and is opened.
    fn input(&mut self, node: &Node, door: Door) -> Lowered<Forms> {
        let slot = self.step(Prim::Input, vec![]);
        if door.ring.is_some() {
            return Ok(words(slot));
        }
        if node.ty.visibility != Visibility::Public {
            return Ok(bits(slot));
        }
        let lengths = self.lengths(self.forms.len())?;
        Ok(known(self.step(Prim::Open { scalar: node.ty.scalar, lengths }, vec![slot])))
    }

    /// An output as numbers where it is that alone, else as bits.
    fn output(&mut self, at: usize) -> Lowered<(Slot, Door)> {
        let (scalar, elements) = (self.scalar(at), self.lengths(at)?.iter().product());
        let mut door = Door::bits(scalar, elements);
        match (self.forms[at], self.ring(scalar)) {
            (Forms { words: Some(slot), bits: None, known: None, .. }, Some(ring)) => {
                door.ring = Some(ring);
                Ok((slot, door))
            }
            _ => Ok((self.bits(at)?, door)),
        }
    }

    /// A node's value as bits.
    pub(crate) fn bits(&mut self, at: usize) -> Lowered<Slot> {
        let forms = self.forms[at];
        let slot = match forms {
            Forms { bits: Some(slot), .. } => return Ok(slot),
            Forms { narrow: Some((slot, width)), .. } => self.widened(slot, width, self.scalar(at).bits()),
            Forms { words: Some(slot), .. } => {
                let width = self.scalar(at).bits();
                self.step(Prim::to_bits(width), vec![slot])
            }
            Forms { known: Some(slot), .. } => self.known_as(Prim::AsBits, at, slot)?,
            Forms { order: Some(_), .. } => {
                let slot = self.places(at)?;
                self.step(Prim::to_bits(64), vec![slot])
            }
            _ => return Err(self.unsupported(at)),
        };
        self.forms[at].bits = Some(slot);
        Ok(slot)
    }

    /// A node's value as words of a ring.
    pub(crate) fn words(&mut self, at: usize, ring: Ring) -> Lowered<Slot> {
        let forms = self.forms[at];
        if let Some(slot) = forms.words {
            // Words of a value are in its scalar's ring.
            let own = self.ring(self.scalar(at));
            return Ok(if own == Some(ring) { slot } else { self.step(Prim::Narrow(ring), vec![slot]) });
        }
        let slot = match forms {
            Forms { bits: Some(slot), .. } if self.scalar(at) == Scalar::Bool => {
                return Ok(self.step(Prim::Inject(ring), vec![slot]));
            }
            Forms { narrow: Some((slot, _)), .. } | Forms { bits: Some(slot), .. } => {
                self.step(Prim::ToWords(ring), vec![slot])
            }
            Forms { known: Some(slot), .. } => self.known_as(Prim::AsWords(ring), at, slot)?,
            _ => return Err(self.unsupported(at)),
        };
        if self.ring(self.scalar(at)) == Some(ring) {
            self.forms[at].words = Some(slot);
        }
        Ok(slot)
    }

    /// Known elements as shares; single ones that were repeated are repeated as such.
    fn known_as(&mut self, prim: Prim, at: usize, slot: Slot) -> Lowered<Slot> {
        let mut runs = vec![];
        if self.lengths(at)?.iter().product::<usize>() < 2 || !self.repeated(at, &mut runs)? {
            return Ok(self.step(prim, vec![slot]));
        }
        let of = |(from, (_, len)): (usize, &(Slot, usize))| Run::Steps { from, step: 0, len: *len };
        let picks = Picks::of_runs(runs.iter().enumerate().map(of));
        let elements = runs.iter().map(|(slot, _)| self.step(prim.clone(), vec![*slot])).collect();
        Ok(self.pick(picks, elements))
    }

    /// Appends the single known elements of which a value is made, each with the times that it stands there; false if it is made otherwise.
    fn repeated(&self, at: usize, runs: &mut Vec<(Slot, usize)>) -> Lowered<bool> {
        let node = &self.computation.nodes()[at];
        let elements = self.lengths(at)?.iter().product();
        match (&node.op, &node.arguments[..]) {
            (Op::Broadcast(_), [from]) if self.lengths(from.0 as usize)?.iter().product::<usize>() == 1 => {
                let known = self.forms[from.0 as usize].known;
                runs.extend(known.map(|slot| (slot, elements)));
                Ok(known.is_some())
            }
            (Op::Concat(0), parts) => {
                for part in parts {
                    if !self.repeated(part.0 as usize, runs)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
            _ => Ok(false),
        }
    }

    /// A node's value as an order.
    fn order(&mut self, at: usize) -> Lowered<Slot> {
        if let Some(slot) = self.forms[at].order {
            return Ok(slot);
        }
        let places = self.places(at)?;
        let slot = self.step(Prim::FromPlaces, vec![places]);
        self.forms[at].order = Some(slot);
        Ok(slot)
    }

    /// The row that comes to each place, as words of 64 bits.
    fn places(&mut self, at: usize) -> Lowered<Slot> {
        match self.forms[at] {
            Forms { known: Some(slot), .. } => Ok(self.step(Prim::AsWords(Ring::U64), vec![slot])),
            Forms { order: Some(slot), .. } => {
                let rows = self.lengths(at)?[0];
                Ok(self.step(Prim::Places { rows }, vec![slot]))
            }
            _ => Err(self.unsupported(at)),
        }
    }

    fn unsupported(&self, at: usize) -> ComputeError {
        let op = &self.computation.nodes()[at].op;
        refuse(
            format!("three parties do not run {op:?} on shares of numbers yet"),
            "run it with `--protocol gmw` or `yao`",
        )
    }

    fn node(&mut self, at: usize, node: &Node) -> Lowered<Forms> {
        let args: Vec<usize> = node.arguments.iter().map(|v| v.0 as usize).collect();
        let (scalar, to) = (node.ty.scalar, self.lengths(at)?);
        if let Op::Constant(tensor) = &node.op {
            return Ok(known(self.step(Prim::Known(Arc::new(tensor.clone())), vec![])));
        }
        let all_known: Option<Vec<Slot>> = args.iter().map(|a| self.forms[*a].known).collect();
        if let Some(reads) = all_known {
            // Single elements are computed here, so that circuits have them built in.
            let constants: Option<Vec<Arc<Tensor>>> = args.iter().map(|a| self.constant(*a)).collect();
            if let Some(constants) = constants.filter(|_| to.is_empty()) {
                let operands: Vec<&Tensor> = constants.iter().map(|tensor| &**tensor).collect();
                let made = back_end::apply(&node.op, &operands, scalar, &to)?;
                return Ok(known(self.step(Prim::Known(Arc::new(made)), vec![])));
            }
            let prim = Prim::Apply { op: node.op.clone(), scalar, lengths: to };
            return Ok(known(self.step(prim, reads)));
        }
        if let Some(forms) = self.rectified(at)? {
            return Ok(forms);
        }
        let ring = self.ring(scalar);
        match (&node.op, ring) {
            (Op::Reveal(None), _) => {
                let slot = match self.forms[args[0]].words {
                    Some(slot) => slot,
                    None => self.bits(args[0])?,
                };
                Ok(known(self.step(Prim::Open { scalar, lengths: to }, vec![slot])))
            }
            (Op::Reveal(Some(_)) | Op::Wrapping, _) => Ok(self.forms[args[0]]),
            (Op::Scan(kind), _) => self.scan(*kind, args[0], args[1], &to),
            (Op::Compact { rows }, Some(ring)) if self.lengths(args[0])?[0] > 0 => {
                let reads = vec![self.words(args[0], Ring::U64)?, self.words(args[1], ring)?];
                let kept = usize::try_from(*rows).expect("a length that was counted");
                Ok(words(self.step(Prim::Compact { kept }, reads)))
            }
            (Op::Reduce(reduction, axis), _) => {
                let axis = Axis::of(&self.lengths(args[0])?, usize::from(*axis));
                self.reduce(*reduction, axis, node, args[0], &to)
            }
            (Op::PrefixSum(axis), Some(ring)) => {
                let axis = Axis::of(&to, usize::from(*axis));
                let slot = self.words(args[0], ring)?;
                Ok(words(self.step(Prim::Fold { axis, prefix: true }, vec![slot])))
            }
            (Op::MatMul, Some(ring)) => {
                let [a, b] = [self.lengths(args[0])?, self.lengths(args[1])?];
                let k = a[a.len() - 1];
                let shape = [if a.len() == 2 { a[0] } else { 1 }, k, if b.len() == 2 { b[1] } else { 1 }];
                let (reads, left) = self.factors(&args, ring)?;
                let prim = left.map_or(Prim::MatMul(shape), |left| Prim::MatMulKnown { shape, left });
                Ok(words(self.step(prim, reads)))
            }
            (Op::Conv2d { steps, groups }, Some(ring)) => self.conv2d(&args, *steps, *groups, ring),
            (Op::Pool { .. }, _) => self.pool(node, args[0], &to),
            (Op::Mul, Some(ring)) => self.product(&args, ring, &to),
            (Op::Add | Op::Sub, Some(ring)) if self.any_words(&args) => {
                let minus = node.op == Op::Sub;
                let reads = self.aligned_words(&args, ring, &to)?;
                Ok(words(self.step(Prim::Sum { minus }, reads)))
            }
            (Op::Select, Some(ring)) if self.any_words(&args[1..]) => {
                let choose = self.bits(args[0])?;
                let choose = self.spread(choose, &self.lengths(args[0])?, &to);
                let branches = self.aligned_words(&args[1..], ring, &to)?;
                Ok(words(self.step(Prim::Choose, [vec![choose], branches].concat())))
            }
            (Op::Neg, Some(ring)) if self.any_words(&args) => {
                let zero = Tensor::zeros(scalar, &to);
                let zero = self.step(Prim::Known(Arc::new(zero)), vec![]);
                let zero = self.step(Prim::AsWords(ring), vec![zero]);
                let slot = self.words(args[0], ring)?;
                Ok(words(self.step(Prim::Sum { minus: true }, vec![zero, slot])))
            }
            (Op::Compare(comparison), _) if self.on_words(&args) => {
                let ring = self.ring(self.scalar(args[0])).expect("its numbers have one");
                self.compare_words(*comparison, &args, ring, &to)
            }
            (Op::Rescale(by), Some(ring)) if self.on_words(&args) && usize::from(*by) < scalar.bits() => {
                self.truncated(args[0], ring, usize::from(*by))
            }
            (Op::ShiftRight(by), Some(ring)) if self.on_words(&args) && usize::from(*by) < scalar.bits() => {
                self.truncated(args[0], ring, usize::from(*by))
            }
            (Op::Cast(to), Some(ring)) if self.narrows(args[0], *to) => {
                let slot = self.words(args[0], ring)?;
                Ok(words(slot))
            }
            (Op::Gather, _) => {
                let Some(places) = self.forms[args[1]].known else { return self.flat(node, &args, &to) };
                let (rows, inner) = (self.lengths(args[0])?[0], to[1..].iter().product());
                self.either(args[0], |lower, slot| {
                    lower.step(Prim::Gather { rows, inner }, vec![slot, places])
                })
            }
            (Op::Order { descending }, _) if self.rings && to[0] > 1 && self.is_bit(&args) => {
                let flags = self.bits(args[0])?;
                Ok(order(self.partition(flags, descending[0] ^ self.scalar(args[0]).is_signed())?))
            }
            (Op::Order { descending }, _) => {
                let reads = args.iter().map(|a| self.bits(*a)).collect::<Lowered<_>>()?;
                let key = |(a, descending): (&usize, &bool)| Key {
                    signed: self.scalar(*a).is_signed(),
                    descending: *descending,
                };
                let keys = args.iter().zip(descending).map(key).collect();
                Ok(order(self.step(Prim::Sort { rows: to[0], keys }, reads)))
            }
            (Op::Meet { first }, _) => {
                let reads = args.iter().map(|a| self.bits(*a)).collect::<Lowered<_>>()?;
                let first = usize::try_from(*first).expect("a length that was counted");
                Ok(order(self.step(Prim::Meet { rows: to[0], first }, reads)))
            }
            (Op::Invert, _) => {
                let slot = self.order(args[0])?;
                Ok(order(self.step(Prim::Invert, vec![slot])))
            }
            (Op::Permute, _) => {
                let by = self.order(args[1])?;
                let prim = Prim::Permute { inner: to[1..].iter().product() };
                if scalar == Scalar::Place {
                    let places = self.places(args[0])?;
                    let places = self.step(prim, vec![places, by]);
                    return Ok(order(self.step(Prim::FromPlaces, vec![places])));
                }
                self.either(args[0], |lower, slot| lower.step(prim, vec![slot, by]))
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

    /// Whether a key is a single bit.
    fn is_bit(&self, args: &[usize]) -> bool {
        matches!(args, [key] if self.scalar(*key).bits() == 1)
    }

    fn any_words(&self, args: &[usize]) -> bool {
        args.iter().any(|a| self.forms[*a].words.is_some())
    }

    /// Whether operands are cheaper as words: some are, none has bits already, and they fill their ring.
    fn on_words(&self, args: &[usize]) -> bool {
        let full = |at: &usize| {
            self.ring(self.scalar(*at)).is_some_and(|ring| ring.bits() == self.scalar(*at).bits())
        };
        self.any_words(args) && args.iter().all(|a| !self.has_bits(*a) && full(a))
    }

    fn has_bits(&self, at: usize) -> bool {
        self.forms[at].bits.is_some() || self.forms[at].narrow.is_some()
    }

    /// Whether a value is numbers alone.
    pub(crate) fn is_words(&self, at: usize) -> bool {
        self.forms[at].words.is_some() && !self.has_bits(at)
    }

    fn truncated(&mut self, at: usize, ring: Ring, bits: usize) -> Lowered<Forms> {
        let slot = self.words(at, ring)?;
        if bits == 0 {
            return Ok(words(slot));
        }
        let signed = self.scalar(at).is_signed();
        Ok(words(self.step(Prim::Truncate { bits: bits as u32, signed }, vec![slot])))
    }

    fn compare_words(
        &mut self,
        comparison: Comparison,
        args: &[usize],
        ring: Ring,
        to: &[usize],
    ) -> Lowered<Forms> {
        let signed = self.scalar(args[0]).is_signed();
        let mut reads = self.aligned_words(args, ring, to)?;
        let less = |x: usize, y: usize| {
            if self.differ_by_words(args[x], args[y], ring) {
                Prim::LessBounded
            } else {
                Prim::Less { signed }
            }
        };
        let (prim, turned) = match comparison {
            Comparison::Equal => (Prim::Equal, false),
            Comparison::NotEqual => (Prim::Equal, true),
            Comparison::Less => (less(0, 1), false),
            Comparison::GreaterOrEqual => (less(0, 1), true),
            Comparison::Greater | Comparison::LessOrEqual => {
                reads.reverse();
                (less(1, 0), comparison == Comparison::LessOrEqual)
            }
        };
        let slot = self.step(prim, reads);
        if !turned {
            return Ok(bits(slot));
        }
        let block = self.block(&Op::Not, vec![Scalar::Bool], vec![None], Scalar::Bool);
        Ok(bits(self.step(Prim::Block(block), vec![slot])))
    }

    /// Whether every difference x − y of two values' elements is a signed number of the ring, by what is known of their ranges.
    fn differ_by_words(&self, x: usize, y: usize, ring: Ring) -> bool {
        let range = |at: usize| self.range(Value(at as u32));
        let Some((x, y)) = range(x).zip(range(y)) else { return false };
        let half = 1i128 << (ring.bits() - 1);
        let least = x.low.checked_sub(y.high).is_some_and(|least| least >= -half);
        least && x.high.checked_sub(y.low).is_some_and(|most| most < half)
    }

    /// Whether a cast only drops bits off the top of what has words.
    fn narrows(&self, from: usize, to: Scalar) -> bool {
        let scalar = self.scalar(from);
        self.forms[from].words.is_some() && scalar.frac() == to.frac() && to.bits() <= scalar.bits()
    }

    /// The value that a primitive makes of one that it takes in either form: as words where it has them, else as bits.
    fn either(&mut self, at: usize, prim: impl FnOnce(&mut Self, Slot) -> Slot) -> Lowered<Forms> {
        if let Some(slot) = self.forms[at].words {
            return Ok(words(prim(self, slot)));
        }
        let slot = self.bits(at)?;
        Ok(bits(prim(self, slot)))
    }

    /// Bits of numbers from 0 on with zeros above them.
    fn widened(&mut self, slot: Slot, from: usize, to: usize) -> Slot {
        if from == to {
            return slot;
        }
        let [from, to] = [from, to].map(|bits| Scalar::unsigned(bits as u8));
        let block = self.block(&Op::Cast(to), vec![from], vec![None], to);
        self.step(Prim::Block(block), vec![slot])
    }

    /// One element in as many places as there are, where there is one alone.
    fn spread(&mut self, slot: Slot, from: &[usize], to: &[usize]) -> Slot {
        if from == to {
            return slot;
        }
        let one = Run::Steps { from: 0, step: 0, len: to.iter().product() };
        self.pick(Picks::of_runs([one]), vec![slot])
    }

    fn aligned_words(&mut self, args: &[usize], ring: Ring, to: &[usize]) -> Lowered<Vec<Slot>> {
        args.iter()
            .map(|a| {
                let slot = self.words(*a, ring)?;
                Ok(self.spread(slot, &self.lengths(*a)?, to))
            })
            .collect()
    }

    fn product(&mut self, args: &[usize], ring: Ring, to: &[usize]) -> Lowered<Forms> {
        let factor = args.iter().position(|a| self.forms[*a].known.is_some());
        if let Some(k) = factor {
            let slot = self.words(args[1 - k], ring)?;
            let slot = self.spread(slot, &self.lengths(args[1 - k])?, to);
            let factor = self.forms[args[k]].known.expect("it was found");
            return Ok(words(self.step(Prim::Scale, vec![slot, factor])));
        }
        let reads = self.aligned_words(args, ring, to)?;
        Ok(words(self.step(Prim::Product, reads)))
    }

    /// Both factors of what is bilinear: as words, or one of them known, which is then the left one or not.
    pub(crate) fn factors(&mut self, args: &[usize], ring: Ring) -> Lowered<(Vec<Slot>, Option<bool>)> {
        Ok(match [0, 1].map(|k| self.forms[args[k]].known) {
            [Some(known), _] => (vec![known, self.words(args[1], ring)?], Some(true)),
            [_, Some(known)] => (vec![self.words(args[0], ring)?, known], Some(false)),
            _ => (vec![self.words(args[0], ring)?, self.words(args[1], ring)?], None),
        })
    }

    /// Elements moved, all of them in one form.
    fn moved(&mut self, args: &[usize], picks: Picks) -> Lowered<Forms> {
        let ring = self.ring(self.scalar(args[0]));
        if let (Some(ring), true) = (ring, self.any_words(args)) {
            let reads = args.iter().map(|a| self.words(*a, ring)).collect::<Lowered<_>>()?;
            return Ok(words(self.pick(picks, reads)));
        }
        let narrows: Option<Vec<(Slot, usize)>> = args.iter().map(|a| self.forms[*a].narrow).collect();
        if let Some(narrows) = narrows {
            let width = narrows.iter().map(|(_, width)| *width).max().unwrap_or(0);
            let reads = narrows.into_iter().map(|(slot, own)| self.widened(slot, own, width)).collect();
            return Ok(narrow(self.pick(picks, reads), width));
        }
        let reads = args.iter().map(|a| self.bits(*a)).collect::<Lowered<_>>()?;
        Ok(bits(self.pick(picks, reads)))
    }

    /// An element-wise operation as a block on every row. Single known elements are built in.
    fn each(&mut self, node: &Node, args: &[usize], to: &[usize]) -> Lowered<Forms> {
        let scalars: Vec<Scalar> = args.iter().map(|a| self.scalar(*a)).collect();
        let mut built_in = vec![];
        let mut reads = vec![];
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
        let block = self.block(&node.op, scalars, built_in, node.ty.scalar);
        Ok(bits(self.step(Prim::Block(block), reads)))
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
    pub(crate) fn flat(&mut self, node: &Node, args: &[usize], to: &[usize]) -> Lowered<Forms> {
        let constants: Vec<_> = args.iter().map(|a| self.constant(*a)).collect();
        let nodes = self.computation.nodes();
        let operands: Vec<Operand<'_>> = args
            .iter()
            .zip(&constants)
            .map(|(a, tensor)| tensor.as_deref().map_or(Operand::Wires(&nodes[*a].ty), Operand::Known))
            .collect();
        let program = Arc::new(circuits::of_operation(&node.op, &operands)?);
        let wired = args.iter().zip(&constants).filter(|(_, tensor)| tensor.is_none());
        let reads = wired.map(|(a, _)| self.bits(*a)).collect::<Lowered<_>>()?;
        Ok(bits(self.step(Prim::Flat(program, [node.ty.scalar.bits(), to.iter().product()]), reads)))
    }
}
