//! The order of rows by keys, without telling anything of the keys.
//!
//! **Functionality.** A permutation p: row p(i) comes i-th by the first key, equal ones by the second and so on; rows whose keys are all
//! equal stay as they came. It is applied to payload, to the keys and to their places by [`Permute`].
//! **Way.** K. Hamada, R. Kikuchi, D. Ikarashi, K. Chida, K. Takahashi, "Practically Efficient Multi-party Sorting Protocols from
//! Comparison Sort Algorithms", ICISC 2012: shuffle, then sort by comparisons whose results are opened. Here every row's string of bits
//! ends in the row's number, so that no two are equal, and comparisons come in whole levels (module `ranking`).
//!
//! ```text
//! keys, row numbers ─► strings of bits ─► shuffle ─┬─► pairs of a level ─► less ─► open ─┐
//!                                                  └──────────◄────── until all is known ◄┘
//! ```
//!
//! **Security.** Semi-honest, one party. Strings differ, so that the shuffled rows come in a uniformly random order of theirs whatever
//! the keys are; opened comparisons are a function of that order, which a simulator draws itself. One shuffle serves one sort: it
//! is drawn here, and nothing else can be opened under it.
//! **Rounds and bytes.** Of the shuffle, of every level: w + 1 rounds and bits a pair, or of few pairs 2 + ⌈log2 w⌉ rounds and less than
//! 3 w + 1 bits. How many are few is a parameter ([`Sort::wide_from`]): more the longer a round takes. [`sort_bound`] bounds both; they
//! depend on it and on the opened order alone.

use super::{
    below::Below,
    group::Xor,
    keys::{SortKey, string_bits, strings},
    permutation::{Fresh, Permutation},
    permute::{Permute, permute_cost},
    planes::Tiles,
    ranking::{RankedPair, Ranking, answer, most_comparisons, most_levels, most_pairs},
    records::{MOST, Records},
};
use crate::{
    Addition, Batch, CircuitBatch, CircuitWorkspace, Output, Rep3, Reveal, Role, ShareError, Shares,
    kept::Function, pool,
};
use hushwire_circuit::{Adder, Builder, Circuit, planes::plane_bytes};
use hushwire_machine::{
    Cost, NetError,
    drive::{Exchanged, Machine, Misstep, Round},
};
use std::sync::Arc;

/// AGREEMENT: pairs of a level from which on the comparison of fewest ANDs is faster than the one of fewest rounds, where parties are close
/// to each other.
pub const WIDE: usize = 1 << 14;

/// The part of the protocol under way.
enum Step {
    Shuffle(Permute<Xor<u32>>),
    /// Of few pairs.
    Circuit(Box<CircuitBatch>),
    /// Of many.
    Below(Below),
    Open(Reveal),
    Done,
    /// SECURITY: there is no way back from an error.
    Lost,
}

/// One party's half of a sort. Its batch serves it alone: how many levels there are shows on the way.
pub struct Sort {
    batch: Batch,
    fresh: Fresh,
    width: usize,
    wide: usize,
    ranking: Ranking,
    step: Step,
    columns: Vec<Records>,
    pairs: Vec<RankedPair>,
    /// Memory of the comparisons, kept from level to level.
    tiles: Tiles,
    spare: pool::Scratch<[u32; 2]>,
    sides: [Shares; 2],
    /// Whether rows have moved since `sides[0]` was taken.
    moved: bool,
    below: Shares,
    ws: CircuitWorkspace,
}

impl Sort {
    /// Of `rows` rows by keys, the first most significant. Without any, rows stay as they are.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless every key has as many rows, and there are fewer than 2^32.
    pub fn new(mut batch: Batch, rows: usize, keys: &[SortKey]) -> Result<Sort, ShareError> {
        let fresh = Fresh::draw(batch.context(), rows)?;
        let cx = batch.context();
        let strings = strings(&cx, rows, keys)?;
        let step = if rows > 1 { Step::Shuffle(fresh.shuffle(cx, strings.columns)?) } else { Step::Done };
        Ok(Sort {
            batch,
            fresh,
            width: strings.width,
            wide: WIDE,
            ranking: Ranking::new(rows as u32),
            step,
            columns: vec![],
            pairs: vec![],
            tiles: Records::tiles(),
            spare: pool::Scratch::new(vec![]),
            sides: [0; 2].map(|_: u8| none()),
            moved: true,
            below: none(),
            ws: CircuitWorkspace::default(),
        })
    }

    /// Compares levels of fewer pairs at logarithmic depth, all others by fewest ANDs: more where a round takes longer, [`WIDE`] unless said.
    /// AGREEMENT: parties that say different numbers fail at the first level between them, whose messages differ in length.
    #[must_use]
    pub fn wide_from(mut self, pairs: usize) -> Sort {
        self.wide = pairs;
        self
    }

    /// The order, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Arc<Permutation> {
        assert!(matches!(self.step, Step::Done), "finish comes after the last round");
        self.fresh.then(self.ranking.rows())
    }

    /// Goes on to a step that has a round, or to the end.
    fn settle(&mut self) {
        while self.round(0).is_none() {
            match std::mem::replace(&mut self.step, Step::Done) {
                Step::Shuffle(shuffle) => {
                    self.columns = shuffle.finish().chunks(MOST).map(Records::of).collect();
                    self.compare();
                }
                Step::Circuit(circuit) => {
                    self.below = circuit.output();
                    self.ws = circuit.into_workspace();
                    self.open();
                }
                Step::Below(machine) => {
                    (self.below, self.sides) = machine.finish();
                    self.open();
                }
                Step::Open(reveal) => {
                    let Sort { ranking, columns, spare, moved, pairs, .. } = self;
                    *moved = false;
                    let answers = reveal.finish();
                    let of = |i: usize| answer(&answers, i, pairs.len());
                    ranking.hear(of, |start, from| {
                        *moved = true;
                        columns.iter_mut().for_each(|records| records.reorder(start, from, spare));
                    });
                    self.compare();
                }
                Step::Done | Step::Lost => return,
            }
        }
    }

    /// Begins the next level; without one the sort is done.
    fn compare(&mut self) {
        self.ranking.ask(&mut self.pairs);
        if self.pairs.is_empty() {
            return;
        }
        // The rows of a segment that search stay as they are while they go down the tree of its sample.
        if self.moved {
            self.gather(0);
        }
        self.gather(1);
        let (cx, pairs) = (self.batch.context(), self.pairs.len());
        if pairs < self.wide {
            let width = self.width;
            let function = Function::Less { adder: Adder::Prefix, signed: false };
            let program = cx.kept.program(function, width, || less(Adder::Prefix, width));
            let [x, y] = &self.sides;
            let inputs = Rep3 { own: [&x.own[..], &y.own].concat(), next: [&x.next[..], &y.next].concat() };
            let (inputs, ws) = (vec![Arc::new(inputs)], std::mem::take(&mut self.ws));
            let circuit = CircuitBatch::over(program, cx, inputs, pairs, ws);
            self.step = Step::Circuit(Box::new(circuit.expect("planes of the program's inputs")));
        } else {
            let sides = std::mem::replace(&mut self.sides, [0; 2].map(|_: u8| none()));
            let below = std::mem::replace(&mut self.below, none());
            let machine = Below::new(cx, self.width, pairs, sides, below);
            self.step = Step::Below(machine.expect("planes of as many pairs"));
        }
    }

    /// The planes of one side of the pairs.
    fn gather(&mut self, side: usize) {
        let height = plane_bytes(self.pairs.len());
        let backend = self.batch.session().backend();
        let Rep3 { own, next } = &mut self.sides[side];
        pool::set_len(own, self.width * height);
        pool::set_len(next, self.width * height);
        let planes = own.chunks_mut(MOST * 32 * height).zip(next.chunks_mut(MOST * 32 * height));
        for (records, (planes, planes_next)) in self.columns.iter().zip(planes) {
            records.planes(backend, &self.pairs, side, [planes, planes_next], &mut self.tiles);
        }
    }

    /// Opens a level's answers to all.
    fn open(&mut self) {
        let answers = &self.below;
        let all = Output { learns: [true; 3], bytes: answers.own.len(), addition: Addition::Xor };
        self.step = Step::Open(self.batch.reveal(&[all], answers));
    }

    /// Runs a step; lost if it fails.
    fn guarded(&mut self, step: impl FnOnce(&mut Step) -> Result<(), NetError>) -> Result<(), NetError> {
        let done = step(&mut self.step);
        if done.is_err() {
            self.step = Step::Lost;
        }
        done
    }
}

fn none() -> Shares {
    Rep3 { own: vec![], next: vec![] }
}

const LOST: Misstep = Misstep::Lost { step: "a sort" };

/// Nothing is said on a slot that a step lacks.
pub(super) fn nothing(found: usize) -> Result<(), NetError> {
    if found == 0 { Ok(()) } else { Err(Misstep::Buffer { step: "a sort", found, expected: 0 }.into()) }
}

/// The message of a slot, when there is nothing on the other.
pub(super) fn one<'m>(messages: &[Exchanged<'m>], slot: usize) -> Result<[Exchanged<'m>; 1], NetError> {
    let &[ring, back] = messages else {
        return Err(Misstep::Buffer { step: "a sort", found: messages.len(), expected: 2 }.into());
    };
    let (message, other) = if slot == 0 { (ring, back) } else { (back, ring) };
    nothing(other.own.len() + other.heard.len())?;
    Ok([message])
}

impl Machine for Sort {
    type Error = NetError;

    fn slots(&self) -> usize {
        2
    }

    fn round(&self, slot: usize) -> Option<Round> {
        let on = |its: usize, round: Round| if slot == its { round } else { Round::even(round.name, 0) };
        match &self.step {
            Step::Shuffle(shuffle) => shuffle.round(slot),
            Step::Circuit(circuit) => circuit.round(0).map(|round| on(0, round)),
            Step::Below(below) => below.round(0).map(|round| on(0, round)),
            Step::Open(reveal) => reveal.round(0).map(|round| on(1, round)),
            Step::Done => None,
            Step::Lost => Some(Round::even("a sort", 0)),
        }
    }

    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), NetError> {
        self.guarded(|step| match (step, slot) {
            (Step::Shuffle(shuffle), _) => shuffle.write(slot, out),
            (Step::Circuit(circuit), 0) => circuit.write(0, out),
            (Step::Below(below), 0) => below.write(0, out),
            (Step::Open(reveal), 1) => reveal.write(0, out),
            (Step::Circuit(_) | Step::Below(_) | Step::Open(_) | Step::Done, _) => nothing(out.len()),
            (Step::Lost, _) => Err(LOST.into()),
        })
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), NetError> {
        self.guarded(|step| match step {
            Step::Shuffle(shuffle) => shuffle.read(messages),
            Step::Circuit(circuit) => circuit.read(&one(messages, 0)?),
            Step::Below(below) => below.read(&one(messages, 0)?),
            Step::Open(reveal) => reveal.read(&one(messages, 1)?),
            Step::Done => Ok(()),
            Step::Lost => Err(LOST.into()),
        })?;
        self.settle();
        Ok(())
    }

    fn upcoming(&self) -> Option<Round> {
        match &self.step {
            Step::Circuit(circuit) => circuit.upcoming(),
            _ => None,
        }
    }

    fn turn(&mut self, messages: &[Exchanged<'_>], out: &mut [u8]) -> Result<(), NetError> {
        self.guarded(|step| match step {
            Step::Circuit(circuit) => circuit.turn(&one(messages, 0)?, out),
            _ => Err(LOST.into()),
        })
    }
}

/// Whether one string is less than another, both of `width` bits.
fn less(adder: Adder, width: usize) -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input(width), b.input(width));
    let less = adder.less(&mut b, false, &x, &y);
    b.finish(&[vec![less]])
}

/// A bound of the cost of a sort by keys of so many bits in all, for a party, with levels that are wide from `wide` pairs on. The cost
/// itself is a function of the order that is opened, uniform among all; the part of them that takes more is negligible.
#[must_use]
pub fn sort_bound(role: Role, rows: usize, keys: usize, wide: usize) -> Cost {
    if rows < 2 {
        return Cost::default();
    }
    let (width, comparisons) = (string_bits(rows, keys), most_comparisons(rows));
    let shuffle = permute_cost(role, false, rows * 4 * width.div_ceil(32));
    let levels = most_levels(rows);
    // Few pairs take three ANDs a bit in place of one; every level ends in a byte that is not full.
    let narrow = comparisons.min(levels.saturating_mul(wide as u64));
    let bits = (width as u64 + 1) * comparisons + 2 * width as u64 * narrow;
    // No level has more pairs than there are rows, or than a sample of them has.
    let rounds = if most_pairs(rows) < wide as u64 { narrow_rounds(width) } else { width as u64 + 1 };
    Cost {
        rounds: shuffle.rounds + levels * rounds,
        bytes_sent: shuffle.bytes_sent + bits / 8 + levels * (3 * width as u64 + 1),
    }
}

/// Rounds of a level that is compared at logarithmic depth, and opened.
pub(super) fn narrow_rounds(width: usize) -> u64 {
    2 + u64::from(width.next_power_of_two().ilog2())
}

#[cfg(test)]
#[path = "sort_tests.rs"]
mod tests;
