//! Plans: the steps that compute a computation, with the form of every value.

use crate::{
    TwoError,
    encrypted::Layer,
    lower::Lower,
    ops::{Holders, Shape},
    order::{self, Key},
    ring::packed,
    shift::Sign,
    tally::{self, Tally},
};
use hushwire_circuit::{Program, planes::plane_bytes};
use hushwire_compute::{Computation, Op, Scalar, Tensor};
use hushwire_machine::{Channel, Cost, Meter};
use std::{ops::Range, sync::Arc, time::Duration};

/// A step's number, which is that of its value.
pub(crate) type Slot = usize;

/// Elements before, of and behind an axis: `outer` series of `n` elements, `inner` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Axis {
    pub(crate) outer: usize,
    pub(crate) n: usize,
    pub(crate) inner: usize,
}

impl Axis {
    pub(crate) fn of(lengths: &[usize], axis: usize) -> Axis {
        let [outer, inner] = [&lengths[..axis], &lengths[axis + 1..]].map(|of| of.iter().product());
        Axis { outer, n: lengths[axis], inner }
    }

    /// Series.
    pub(crate) fn series(self) -> usize {
        self.outer * self.inner
    }

    /// The place of element `i` of series `k`.
    pub(crate) fn place(self, k: usize, i: usize) -> usize {
        (k / self.inner * self.n + i) * self.inner + k % self.inner
    }
}

/// A primitive. Arguments are values in the forms that stand beside each.
#[derive(Clone)]
pub(crate) enum Prim {
    /// Numbers of an input: the owner's are its share, and the other's share is 0.
    InputWords(usize),
    /// The same as bit planes.
    InputBits(usize),
    /// Known elements. No arguments.
    Known(Arc<Tensor>),
    /// An operation in the open: known → known.
    Apply { op: Op, scalar: Scalar, lengths: Vec<usize> },
    /// Known → bits, party 0's.
    AsBits,
    /// Known → words, party 0's.
    AsWords,
    /// The same numbers modulo less: words → words.
    Narrow,
    /// Elements moved: forms of one kind → that.
    Pick(Arc<Vec<usize>>),
    /// Of `rows` rows of `inner` elements, those at known places, the second argument.
    Gather { rows: usize, inner: usize },
    /// a + b, a − b of words.
    Sum { minus: bool },
    /// Words times known elements, one or as many.
    Scale,
    /// Words times 2^by.
    Shift(u32),
    /// Sums along an axis of words; with `prefix` after each element.
    Fold { axis: Axis, prefix: bool },
    /// Sums of so many words each.
    SumEach(usize),
    /// Matrices of which one is known, the first or the second: that as known, and words.
    MatMulKnown { shape: Shape, first: bool },
    /// Words → bits, by a circuit that adds the shares.
    ToBits(Arc<Program>),
    /// Bits → words.
    ToWords,
    /// Words × words.
    Product([Holders; 2]),
    /// Rows of words by a factor each, as many words in each row.
    Rows([Holders; 2]),
    /// Matrices of words.
    MatMul(Shape, [Holders; 2]),
    /// One bit each, words, words → the second where it is 1, else the third.
    Choose,
    /// Words < words → one bit each.
    Less { signed: bool },
    /// The same where every difference is a signed number of the ring.
    LessBounded,
    /// Words = words → one bit each.
    Equal,
    /// The same signed numbers modulo twice as much: words → words.
    Widen,
    /// Words without so many lower bits, rounded towards −∞.
    Truncate { by: u32, sign: Sign },
    /// Words without so many lower bits, 0 in place of those below 0, modulo as much less: words → words.
    Rectify { by: u32 },
    /// The same numbers, from 0 on, modulo more: words → words.
    Extend,
    /// A block on every row: bits … → bits.
    Block(Arc<Program>),
    /// A program on all bits of all elements: bits … → bits.
    Flat(Arc<Program>),
    /// Some outputs of a program on everything.
    Part { from: usize },
    /// Images by the weights that one party has, under encryption: weights and images, as words.
    Encrypted(Arc<Layer>),
    /// Bits of keys, the first most significant → the order of their rows.
    Sort { keys: Vec<Key> },
    /// Words, the place to which each row goes → that order.
    ToPlaces,
    /// Known places → the order in which the row of each comes.
    AsOrder,
    /// An order, undone.
    Invert,
    /// Two orders → the first, then the second.
    Then,
    /// Bits or words in rows of so many elements, and an order → the rows in it.
    Permute { inner: usize },
    /// Bits or words → known.
    Open { scalar: Scalar, lengths: Vec<usize> },
}

/// The means by which private matrices and kernels are multiplied by shared numbers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Products {
    /// Correlated OTs: no bound on numbers, and much to send.
    #[default]
    Ot,
    /// Encryption ([`hushwire_bfv`]), and OTs where a layer has no room for its noise.
    He,
}

/// SECURITY: results of layers under encryption that a session opens at most: each layer's flooding hides as many.
pub const COEFFICIENTS: u64 = 1 << 26;

/// The form and size of a step's value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Size {
    Known(usize),
    Words(u32, usize),
    Bits(usize, usize),
    /// Rows, and the networks that each party has for it.
    Order(usize, usize),
}

impl Size {
    /// Elements.
    pub(crate) fn rows(self) -> usize {
        match self {
            Size::Known(rows) | Size::Words(_, rows) | Size::Bits(_, rows) | Size::Order(rows, _) => rows,
        }
    }

    pub(crate) fn with_rows(self, rows: usize) -> Size {
        match self {
            Size::Known(_) => Size::Known(rows),
            Size::Words(ring, _) => Size::Words(ring, rows),
            Size::Bits(width, _) => Size::Bits(width, rows),
            Size::Order(_, stages) => Size::Order(rows, stages),
        }
    }

    /// Bits of an element of words or bits.
    pub(crate) fn width(self) -> usize {
        match self {
            Size::Words(ring, _) => ring as usize,
            Size::Bits(width, _) => width,
            _ => unreachable!("a plan keeps to its forms"),
        }
    }

    /// Networks of an order.
    pub(crate) fn stages(self) -> usize {
        match self {
            Size::Order(_, stages) => stages,
            _ => unreachable!("a plan keeps to its forms"),
        }
    }

    /// The ring of words.
    pub(crate) fn ring(self) -> u32 {
        match self {
            Size::Words(ring, _) => ring,
            _ => unreachable!("a plan keeps to its forms"),
        }
    }
}

/// A primitive and what it reads, all computed before.
#[derive(Clone)]
pub(crate) struct Step {
    pub(crate) prim: Prim,
    pub(crate) reads: Vec<Slot>,
    pub(crate) size: Size,
    /// The computation's node that it is a part of.
    pub(crate) node: usize,
}

/// The time that a node of a computation took at a party, and what it sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// All of it: OTs, messages and waiting, too.
    pub all: Duration,
    /// Of that, products of matrices and kernels.
    pub products: Duration,
    /// The count of a meter meanwhile, where the party has one.
    pub cost: Cost,
}

/// AGREEMENT: OTs of a direction of a piece, which then stay in the cache.
pub(crate) const PIECE: usize = 1 << 17;
/// AGREEMENT: triples that are made before they are used.
const TRIPLES: u64 = 1 << 22;

impl Step {
    /// Whether the parties talk.
    pub(crate) fn talks(&self) -> bool {
        match &self.prim {
            Prim::ToBits(_)
            | Prim::ToWords
            | Prim::Product(_)
            | Prim::Rows(_)
            | Prim::MatMul(..)
            | Prim::Choose
            | Prim::Less { .. }
            | Prim::LessBounded
            | Prim::Equal
            | Prim::Widen
            | Prim::Truncate { .. }
            | Prim::Rectify { .. }
            | Prim::Extend
            | Prim::Encrypted(_)
            | Prim::Sort { .. }
            | Prim::ToPlaces
            | Prim::Permute { .. }
            | Prim::Open { .. } => true,
            Prim::Block(program) | Prim::Flat(program) => program.ands() > 0,
            _ => false,
        }
    }

    /// Whether it multiplies matrices, or kernels by images.
    pub(crate) fn is_product(&self) -> bool {
        matches!(self.prim, Prim::MatMul(..) | Prim::MatMulKnown { .. } | Prim::Encrypted(_))
    }

    /// Whether it moves rows. Such a step makes its OTs as it goes, in lots of its own.
    pub(crate) fn moves(&self) -> bool {
        matches!(self.prim, Prim::Sort { .. } | Prim::ToPlaces | Prim::Permute { .. })
    }

    fn is_row_by_row(&self) -> bool {
        !matches!(
            self.prim,
            Prim::MatMul(..)
                | Prim::Rows(_)
                | Prim::Flat(_)
                | Prim::Encrypted(_)
                | Prim::Sort { .. }
                | Prim::ToPlaces
                | Prim::Permute { .. }
                | Prim::Open { .. }
        )
    }

    /// The cost of some of the step's rows; of all where it is not computed row by row.
    pub(crate) fn tally(&self, reads: &[Size], rows: usize) -> Tally {
        match (&self.prim, reads) {
            (Prim::ToBits(program) | Prim::Block(program), _) => tally::circuit(program, rows),
            (Prim::Flat(program), _) => tally::circuit(program, 1),
            (Prim::ToWords, [Size::Bits(width, _)]) => tally::to_words(rows, *width, self.size.ring()),
            (Prim::Product(holders), _) => tally::multiply(rows, 1, *holders, self.size.ring()),
            (Prim::Rows(holders), [x, factors]) => {
                let each = x.rows() / factors.rows();
                tally::multiply(factors.rows(), each, *holders, self.size.ring())
            }
            (Prim::MatMul(shape, holders), _) => tally::matmul(*shape, *holders, self.size.ring()),
            (Prim::Choose, _) => tally::times_bit(rows, self.size.ring()),
            (Prim::Less { .. }, [x, _]) => tally::less(rows, x.ring()),
            (Prim::LessBounded, [x, _]) => tally::signs(rows, x.ring()),
            (Prim::Equal, [x, _]) => tally::equal(rows, x.ring()),
            (Prim::Widen, [x]) => tally::widen(rows, x.ring()),
            (Prim::Encrypted(layer), _) => layer.tally(),
            (Prim::Rectify { by }, [x]) => tally::rectify(rows, x.ring(), *by),
            (Prim::Extend, [x]) => tally::extend(rows, x.ring(), self.size.ring()),
            (Prim::Truncate { by, sign }, _) => tally::truncate(rows, self.size.ring(), *by, *sign),
            (Prim::Open { scalar, .. }, [Size::Words(..)]) => {
                Tally::message([packed(rows, scalar.bits()); 2])
            }
            (Prim::Open { scalar, .. }, _) => Tally::message([scalar.bits() * plane_bytes(rows); 2]),
            _ => Tally::default(),
        }
    }
}

/// An input: which party brings it, and its type.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) owner: usize,
    pub(crate) scalar: Scalar,
    pub(crate) lengths: Vec<usize>,
}

/// An output: its value and type, and which parties learn it.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) slot: Slot,
    pub(crate) scalar: Scalar,
    pub(crate) lengths: Vec<usize>,
    pub(crate) to: [bool; 2],
}

impl Output {
    pub(crate) fn elements(&self) -> usize {
        self.lengths.iter().product()
    }

    /// Bytes of a share that is opened.
    pub(crate) fn bytes(&self, size: Size) -> usize {
        match size {
            Size::Known(_) => 0,
            Size::Words(..) => packed(self.elements(), self.scalar.bits()),
            Size::Bits(width, rows) => width * plane_bytes(rows),
            Size::Order(..) => unreachable!("places are opened as numbers"),
        }
    }
}

/// The steps that compute a computation, the same at both parties.
pub struct Plan {
    pub(crate) steps: Vec<Step>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) digest: [u8; 32],
}

/// The distance between the parties, by which OTs of a direction are made at a time: for pieces that share their rounds. AGREEMENT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distance {
    /// Rounds take less than the work between them.
    #[default]
    Near,
    /// Rounds count.
    Far,
}

impl Distance {
    /// The distance of parties who hear each other's answers after such a time.
    #[must_use]
    pub fn of(round_trip: Duration) -> Self {
        if round_trip < Distance::FAR { Distance::Near } else { Distance::Far }
    }

    /// The round trip of parties who are far from each other, and of all who are farther.
    pub const FAR: Duration = Duration::from_micros(300);

    pub(crate) const fn cots(self) -> usize {
        match self {
            Distance::Near => 1 << 17,
            Distance::Far => 1 << 21,
        }
    }

    /// Chunks of OTs whose messages travel together.
    pub(crate) const fn window(self) -> usize {
        match self {
            Distance::Near => 8,
            Distance::Far => 64,
        }
    }
}

/// Bytes with which a run begins: what it is, and whether the party would have OTs made ahead.
pub(crate) const BEGIN: usize = blake3::OUT_LEN + 1;

/// The count of a meter on a channel, where there is one.
pub(crate) fn read(meter: Option<&Meter>, channel: &Channel) -> Cost {
    meter.map_or(Cost::default(), |meter| meter.lane(channel.lane()))
}

/// A part of a step: which, and which of its rows.
pub(crate) type Piece = (Slot, Range<usize>);

impl Plan {
    /// The plan of a computation without symbols, with all products by OT. `owners` says which party, 0 or 1, brings each input, and `learns` which learn each
    /// output, in order.
    ///
    /// # Errors
    /// A length has no number yet, or an operation that circuits do not have.
    ///
    /// # Panics
    /// If there is not an owner for each input, and a pair for each output (the caller's bug).
    pub fn new(computation: &Computation, owners: &[usize], learns: &[[bool; 2]]) -> Result<Plan, TwoError> {
        Plan::with(computation, owners, learns, Products::Ot)
    }

    /// The same with matrices and kernels that one party alone has multiplied as `products` says.
    ///
    /// # Errors
    /// As [`Self::new`], and one run opens more results under encryption than a session hides ([`COEFFICIENTS`]).
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn with(
        computation: &Computation,
        owners: &[usize],
        learns: &[[bool; 2]],
        products: Products,
    ) -> Result<Plan, TwoError> {
        Plan::with_lists(computation, owners, learns, products, u64::MAX)
    }

    /// The same with lists of at most about so many bytes, with the programs of circuits. It fails
    /// before it takes more memory.
    ///
    /// # Errors
    /// As [`Self::with`], and longer lists.
    ///
    /// # Panics
    /// As [`Self::new`].
    pub fn with_lists(
        computation: &Computation,
        owners: &[usize],
        learns: &[[bool; 2]],
        products: Products,
        most: u64,
    ) -> Result<Plan, TwoError> {
        assert!(owners.iter().all(|owner| *owner < 2), "owners are parties 0 and 1");
        assert_eq!(owners.len(), computation.inputs().count(), "an owner for each input");
        assert_eq!(learns.len(), computation.outputs().len(), "who learns each output");
        let plan = Lower::plan(computation, owners, learns, products, most)?;
        let found = plan.coefficients();
        if found > COEFFICIENTS { Err(TwoError::TooMany { found }) } else { Ok(plan) }
    }

    /// Layers under encryption.
    pub(crate) fn layers(&self) -> impl Iterator<Item = (&Step, &Arc<Layer>)> {
        self.steps.iter().filter_map(|step| match &step.prim {
            Prim::Encrypted(layer) => Some((step, layer)),
            _ => None,
        })
    }

    /// Products that layers under encryption compute.
    #[must_use]
    pub fn encrypted_products(&self) -> u64 {
        self.layers().map(|(_, layer)| layer.linear.coefficients() * layer.linear.conv().terms()).sum()
    }

    /// The input whose words a step has, in its order or another.
    pub(crate) fn input_of(&self, at: Slot) -> Option<usize> {
        match &self.steps[at].prim {
            Prim::InputWords(k) => Some(*k),
            Prim::Pick(_) => self.input_of(self.steps[at].reads[0]),
            _ => None,
        }
    }

    /// Results that a run opens under encryption, which noise has to hide.
    #[must_use]
    pub fn coefficients(&self) -> u64 {
        self.layers().map(|(_, layer)| layer.linear.coefficients()).sum()
    }

    fn reads(&self, at: Slot) -> Vec<Size> {
        self.steps[at].reads.iter().map(|slot| self.steps[*slot].size).collect()
    }

    /// Whether a step is in one piece, whatever its rows are.
    pub(crate) fn is_whole(&self, at: Slot) -> bool {
        !self.steps[at].is_row_by_row()
    }

    /// The cost of a piece.
    pub(crate) fn tally_of(&self, (at, rows): &Piece) -> Tally {
        self.steps[*at].tally(&self.reads(*at), rows.len())
    }

    /// The costs of pieces that share their rounds.
    pub(crate) fn tallies(&self, group: &[Piece]) -> Vec<Tally> {
        group.iter().map(|piece| self.tally_of(piece)).collect()
    }

    /// The costs of all pieces that share their rounds, in the order of a run. Those of a sort are
    /// estimates.
    pub(crate) fn lots(&self, distance: Distance) -> impl Iterator<Item = Vec<Tally>> + Send {
        let groups = self.waves().into_iter().flat_map(move |wave| self.groups(&wave, distance));
        groups.flat_map(move |group| self.lots_of(&group, distance))
    }

    /// The costs of pieces that share their rounds: of one that moves rows lot after lot.
    pub(crate) fn lots_of(&self, group: &[Piece], distance: Distance) -> Vec<Vec<Tally>> {
        match group {
            [(at, _)] if self.steps[*at].moves() => order::lots(&self.steps[*at], &self.reads(*at), distance),
            group => vec![self.tallies(group)],
        }
    }

    /// Whether steps move rows. Their lots depend on opened values, so no OTs are made ahead of
    /// such a run.
    pub(crate) fn moves(&self) -> bool {
        self.steps.iter().any(Step::moves)
    }

    /// The steps of a wave in pieces, those side by side that share rounds. AGREEMENT.
    pub(crate) fn groups(&self, wave: &[Slot], distance: Distance) -> Vec<Vec<Piece>> {
        let (mut groups, mut group, mut held) = (vec![], vec![], Tally::default());
        for at in wave {
            let (step, reads) = (&self.steps[*at], self.reads(*at));
            let rows = reads.iter().map(|size| size.rows()).max().unwrap_or(0);
            let mut start = 0;
            loop {
                let most = if step.is_row_by_row() { fitting(step, &reads, rows - start) } else { rows };
                let piece = (*at, start..start + most);
                if matches!(step.prim, Prim::Encrypted(_)) || step.moves() {
                    // Before the others: its messages are its own.
                    groups.insert(0, vec![piece]);
                    break;
                }
                let next = held.beside(self.tally_of(&piece));
                if !group.is_empty()
                    && (next.cots.iter().any(|n| *n > distance.cots()) || next.triples > TRIPLES)
                {
                    groups.push(std::mem::take(&mut group));
                    held = Tally::default();
                }
                held = held.beside(self.tally_of(&piece));
                group.push(piece);
                start += most;
                if start >= rows {
                    break;
                }
            }
        }
        if !group.is_empty() {
            groups.push(group);
        }
        groups
    }

    /// The steps that talk, in waves: each needs what the waves before have computed.
    pub(crate) fn waves(&self) -> Vec<Vec<Slot>> {
        let (mut waves, mut after) = (Vec::<Vec<Slot>>::new(), vec![]);
        for (at, step) in self.steps.iter().enumerate() {
            let wave = step.reads.iter().map(|slot: &Slot| after[*slot]).max().unwrap_or(0);
            after.push(wave + usize::from(step.talks()));
            if step.talks() {
                if waves.len() <= wave {
                    waves.resize_with(wave + 1, Vec::new);
                }
                waves[wave].push(at);
            }
        }
        waves
    }
}

/// The most rows of a piece: OTs and triples suffice for them, a multiple of 64 unless that is all.
fn fitting(step: &Step, reads: &[Size], rows: usize) -> usize {
    let fits = |n: usize| {
        let tally = step.tally(reads, n);
        tally.cots.iter().all(|cots| *cots <= PIECE) && tally.triples <= TRIPLES
    };
    let mut most = rows;
    while most > 64 && !fits(most) {
        most = (most / 2).next_multiple_of(64);
    }
    most
}
