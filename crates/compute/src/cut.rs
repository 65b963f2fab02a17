//! Separates the parts of a computation that owners compute alone from the part that all compute
//! together.
//!
//! ```text
//! owner of x     x ─► x − mean(x) ─► squares ─┐ brought in place of x
//! owner of y     y ───────────────────────────┴─► computed together ─► outputs
//! known to all   p ─► p / 100 ─► a constant
//! ```
//!
//! A value that depends only on one owner's inputs, on values that all know and on constants is
//! computed by that owner in the clear. The rest begins with the first operation that mixes owners,
//! and contains everything that depends on it. The cut follows from the computation, its owners and
//! the public values alone, so members that agree on those make the same cut.
//!
//! Some operations remain although one owner could compute them. Moves of elements cost nothing on
//! shares, so they remain if their operand has fewer bits. An owner makes a number wider only if
//! the wider one is summed or multiplied: comparisons would pay for its upper bits. An order of
//! rows is not a value that a member can bring.

use crate::{
    Computation, ComputeError, Op, Range, Scalar, Tensor, Type, Value, Visibility, draft::Draft, eval,
    ops::OpRole,
};
use std::collections::{BTreeMap, BTreeSet};

/// The cut of a computation without symbols; `O` names owners.
#[derive(Clone, Debug)]
pub struct Cut<O> {
    shared: Computation,
    brought: Vec<(O, Value)>,
    /// For each node of the rest, its value in the whole computation.
    origins: Vec<Value>,
}

/// The members that can compute a value in the clear.
#[derive(Clone, PartialEq)]
enum Known<O> {
    /// All members: it is a constant of the computation.
    Constant,
    /// All members that know the public inputs.
    All,
    /// The owner of the inputs that it needs.
    One(O),
    /// No single member, or the cut leaves it to the rest.
    Together,
}

impl<O: Clone + PartialEq> Known<O> {
    fn with(self, other: &Self) -> Self {
        match (self, other) {
            (Known::Constant, other) => other.clone(),
            (known, Known::Constant) => known,
            (Known::All, other) => other.clone(),
            (known, Known::All) => known,
            (known, other) if known == *other => known,
            _ => Known::Together,
        }
    }
}

impl Computation {
    /// Cuts a computation without symbols. `owners` has the owner of each input, `None` if all know
    /// it. `public` has the values of public inputs. `numbers` tells whether the back end adds and
    /// multiplies words instead of bits.
    ///
    /// # Errors
    /// A length has no number yet, or a public value breaks an operation, such as a place of a
    /// `gather` that does not exist.
    ///
    /// # Panics
    /// If an input has neither an owner nor a value.
    pub fn cut<O: Clone + PartialEq>(
        &self,
        owners: &[Option<O>],
        public: &BTreeMap<String, Tensor>,
        numbers: bool,
    ) -> Result<Cut<O>, ComputeError> {
        self.cut_among(owners, public, numbers, |_| true)
    }

    /// Like [`Computation::cut`], with owners that compute nothing: `computes` tells which ones do.
    /// The others bring their inputs unchanged, and the rest does not rely on the ranges of these.
    ///
    /// # Errors
    /// The same as [`Computation::cut`].
    ///
    /// # Panics
    /// The same as [`Computation::cut`].
    pub fn cut_among<O: Clone + PartialEq>(
        &self,
        owners: &[Option<O>],
        public: &BTreeMap<String, Tensor>,
        numbers: bool,
        computes: fn(&O) -> bool,
    ) -> Result<Cut<O>, ComputeError> {
        let mut cutting = Cutting::new(self, owners, numbers, computes);
        cutting.choose();
        let constants = cutting.of(|known| *known == Known::All);
        let found = eval::some(self, |name| public.get(name), &constants)?;
        let constants: BTreeMap<Value, Tensor> = constants.into_iter().zip(found).collect();
        // With public numbers known, a sum that might have wrapped may be refused. The rest then
        // has no promises.
        let cut = self.rest(&cutting, &constants, true);
        cut.or_else(|_| self.rest(&cutting, &constants, false))
    }

    /// The rest of the computation. `promise` tells whether its inputs promise their ranges.
    fn rest<O: Clone + PartialEq>(
        &self,
        cutting: &Cutting<'_, O>,
        constants: &BTreeMap<Value, Tensor>,
        promise: bool,
    ) -> Result<Cut<O>, ComputeError> {
        let mut draft = Draft::new(self.name())?;
        for member in self.members() {
            draft.member(member)?;
        }
        let (mut brought, mut values) = (vec![], vec![None; self.nodes().len()]);
        let mut origins = vec![];
        // A node that already existed keeps its first origin.
        let mut made = |draft: &Draft, value: Value| origins.resize(draft.so_far().nodes().len(), value);
        let mut names: BTreeSet<String> = self.inputs().map(|(name, _)| name.to_owned()).collect();
        for (value, known) in cutting.wanted() {
            let Known::One(owner) = known else { continue };
            let Type { scalar, shape, visibility } = self.node(value).ty.clone();
            let visibility = match visibility {
                Visibility::Public => Visibility::Public,
                _ => Visibility::Secret,
            };
            let promised = Some(value).filter(|_| promise && scalar.is_number() && (cutting.computes)(owner));
            let promised = promised.and_then(|value| self.range(value));
            let promised =
                promised.filter(|range| Some(*range) != Range::of(scalar) && range.high < i128::MAX);
            let name = self.brought_name(value, &mut names);
            let ty = Type::new(scalar, shape, visibility);
            values[value.0 as usize] = Some(draft.input_within(&name, ty, promised)?);
            made(&draft, value);
            brought.push((owner.clone(), value));
        }
        for (value, known) in cutting.wanted() {
            let op = match known {
                Known::One(_) => continue,
                Known::All => Op::Constant(constants[&value].clone()),
                Known::Constant | Known::Together => self.node(value).op.clone(),
            };
            let reads = if *known == Known::All { &[][..] } else { &self.node(value).arguments };
            let reads = reads.iter().map(|v| values[v.0 as usize].expect("what is read is wanted"));
            values[value.0 as usize] = Some(draft.push(op, reads.collect())?);
            made(&draft, value);
        }
        for output in self.outputs() {
            let value = values[output.value.0 as usize].expect("outputs are wanted");
            draft.output(&output.name, value, output.to.clone())?;
        }
        Ok(Cut { shared: draft.finish()?, brought, origins })
    }

    /// A name for a value that an owner brings, different from the names of all inputs.
    fn brought_name(&self, value: Value, taken: &mut BTreeSet<String>) -> String {
        if let Op::Input(name) = &self.node(value).op {
            return name.clone();
        }
        let own = self.value_name(value).map(str::to_owned).into_iter();
        let mut all = own.chain((0..).map(|k| format!("t{}_{k}", value.0)));
        let name = all.find(|name| !taken.contains(name)).expect("numbers do not end");
        taken.insert(name.clone());
        name
    }
}

impl<O: PartialEq> Cut<O> {
    /// The rest, which is computed together. Its inputs are the values that owners bring, under
    /// names of their own. Its outputs are those of the whole computation.
    #[must_use]
    pub fn shared(&self) -> &Computation {
        &self.shared
    }

    /// For each input of the rest: its owner, and its value in the whole computation.
    #[must_use]
    pub fn brought(&self) -> &[(O, Value)] {
        &self.brought
    }

    /// For each node of the rest, its value in the whole computation. Reports on the progress of a
    /// run use it.
    #[must_use]
    pub fn origins(&self) -> &[Value] {
        &self.origins
    }

    /// Computes in the clear the values that one owner brings to the rest, in order. `inputs` has
    /// that owner's inputs and the public ones.
    ///
    /// # Errors
    /// A `gather` names a place that does not exist.
    ///
    /// # Panics
    /// If an input is missing, or `whole` is not the computation that was cut.
    pub fn bring<'t>(
        &self,
        whole: &Computation,
        owner: &O,
        inputs: impl Fn(&str) -> Option<&'t Tensor>,
    ) -> Result<Vec<Tensor>, ComputeError> {
        let mine = self.brought.iter().filter(|(of, _)| of == owner).map(|(_, value)| *value);
        eval::some(whole, inputs, &mine.collect::<Vec<_>>())
    }
}

/// A cut under construction.
struct Cutting<'c, O> {
    computation: &'c Computation,
    numbers: bool,
    /// Whether an owner computes anything.
    computes: fn(&O) -> bool,
    known: Vec<Known<O>>,
    /// The values that the rest reads or gets as inputs.
    wanted: Vec<bool>,
    /// The wanted values that the rest sums or multiplies.
    summed: Vec<bool>,
}

impl<'c, O: Clone + PartialEq> Cutting<'c, O> {
    fn new(
        computation: &'c Computation,
        owners: &[Option<O>],
        numbers: bool,
        computes: fn(&O) -> bool,
    ) -> Self {
        let (nodes, mut owners) = (computation.nodes(), owners.iter());
        let mut known: Vec<Known<O>> = Vec::with_capacity(nodes.len());
        for node in nodes {
            let of = |known: &[Known<O>]| {
                let reads = node.arguments.iter().map(|v| &known[v.0 as usize]);
                reads.fold(Known::Constant, Known::with)
            };
            known.push(match &node.op {
                Op::Input(_) => match owners.next().expect("an owner, or none, for each input") {
                    Some(owner) => Known::One(owner.clone()),
                    None => Known::All,
                },
                // All members learn it, which takes a message.
                Op::Reveal(None) => match of(&known) {
                    Known::One(_) => Known::Together,
                    known => known,
                },
                _ => match of(&known) {
                    Known::One(owner) if !computes(&owner) => Known::Together,
                    known => known,
                },
            });
        }
        let mut wanted = vec![false; nodes.len()];
        computation.outputs().iter().for_each(|output| wanted[output.value.0 as usize] = true);
        Cutting { computation, numbers, computes, known, wanted, summed: vec![false; nodes.len()] }
    }

    /// The number of bits of all elements.
    fn bits(&self, at: usize) -> usize {
        let ty = &self.computation.nodes()[at].ty;
        ty.shape.elements().unwrap_or(0).saturating_mul(ty.scalar.bits())
    }

    /// The operands that are not constants of the computation.
    fn reads(&self, at: usize) -> Vec<usize> {
        let reads = self.computation.nodes()[at].arguments.iter().map(|v| v.0 as usize);
        let mut reads: Vec<usize> = reads.filter(|v| self.known[*v] != Known::Constant).collect();
        reads.dedup();
        reads
    }

    /// Goes from the outputs back, and chooses the values that are computed together and the known
    /// values that are brought. Readers are visited before their operands.
    fn choose(&mut self) {
        // For each value, its moves that would be brought in its place.
        let mut moves: Vec<Vec<usize>> = vec![vec![]; self.known.len()];
        for at in (0..self.known.len()).rev() {
            let moved = std::mem::take(&mut moves[at]);
            let bits: usize = moved.iter().map(|m| self.bits(*m)).fold(0, usize::saturating_add);
            if !moved.is_empty() && (self.wanted[at] || bits >= self.bits(at)) {
                for m in moved {
                    self.left(m);
                }
            }
            if !self.wanted[at] {
                continue;
            }
            match self.known[at] {
                Known::Constant | Known::Together => self.left(at),
                _ => match self.reads(at)[..] {
                    _ if self.computation.nodes()[at].ty.scalar == Scalar::Place => self.left(at),
                    [from] if self.moves(at, from) => moves[from].push(at),
                    _ => {}
                },
            }
        }
    }

    /// Leaves a value to the rest, which then reads its operands.
    fn left(&mut self, at: usize) {
        if self.known[at] != Known::Constant {
            self.known[at] = Known::Together;
        }
        let node = &self.computation.nodes()[at];
        let role = node.op.def().facts().role;
        let sums = role == OpRole::Sums || (role == OpRole::Moves && self.summed[at]);
        for v in &node.arguments {
            self.wanted[v.0 as usize] = true;
            self.summed[v.0 as usize] |= sums;
        }
        self.constants(node.arguments.iter().map(|v| v.0 as usize).collect());
    }

    /// Adds the operands of computed constants, their operands, and so on. A move is left to the
    /// rest when its operand is reached. The constants that the move also reads, such as places,
    /// may have higher numbers and have been passed by then.
    fn constants(&mut self, mut of: Vec<usize>) {
        while let Some(at) = of.pop() {
            if self.known[at] != Known::Constant {
                continue;
            }
            for v in &self.computation.nodes()[at].arguments {
                if !std::mem::replace(&mut self.wanted[v.0 as usize], true) {
                    of.push(v.0 as usize);
                }
            }
        }
    }

    /// Whether a known value is only another form of `from`, which costs nothing on shares.
    fn moves(&self, at: usize, from: usize) -> bool {
        let [node, from] = [at, from].map(|at| &self.computation.nodes()[at]);
        match &node.op {
            Op::Cast(to) => {
                let summed = self.numbers && self.summed[at] && to.bits() <= 64;
                to.bits() > from.ty.scalar.bits() && to.frac() == from.ty.scalar.frac() && !summed
            }
            op => op.def().facts().role == OpRole::Moves,
        }
    }

    /// The values that the rest is given or reads, in order.
    fn wanted(&self) -> impl Iterator<Item = (Value, &Known<O>)> {
        let all = self.known.iter().zip(&self.wanted).enumerate();
        all.filter(|(_, (_, wanted))| **wanted).map(|(at, (known, _))| (Value(at as u32), known))
    }

    fn of(&self, is: impl Fn(&Known<O>) -> bool) -> Vec<Value> {
        self.wanted().filter(|(_, known)| is(known)).map(|(value, _)| value).collect()
    }
}
