//! Sorts rows by keys without revealing anything about the keys.
//!
//! **Functionality.** A permutation p: row p(i) comes i-th by the first key, rows of equal first
//! keys by the second, and so on. Rows whose keys are all equal keep their order. [`Permute`]
//! applies it to payload, to the keys and to their places.
//! **Source.** K. Hamada, R. Kikuchi, D. Ikarashi, K. Chida, K. Takahashi, "Practically Efficient
//! Multi-party Sorting Protocols from Comparison Sort Algorithms", ICISC 2012: shuffle, then sort
//! by comparisons whose results are opened. Here every row's string of bits ends in the row's
//! number, so that no two are equal, and comparisons come in whole levels (module `ranking`).
//!
//! ```text
//! keys, row numbers ─► strings of bits ─► shuffle ─┬─► pairs of a level ─► less ─► open ─┐
//!                                                  └──────────◄────── until all is known ◄┘
//! ```
//!
//! **Security.** Semi-honest, one party. Strings differ, so the shuffled rows are in a uniformly
//! random order whatever the keys are. Opened comparisons are a function of that order, and a
//! simulator draws it itself. One shuffle serves one sort: it is drawn here, and nothing else can
//! be opened under it.
//! **Rounds and bytes.** The costs of the shuffle, and for every level w + 1 rounds and w + 1 bits
//! a pair. A level of few pairs takes 2 + ⌈log2 w⌉ rounds and less than 3 w + 1 bits a pair
//! instead. The limit is a parameter ([`Sort::wide_from`]), which should be higher if a round takes
//! longer. [`sort_bound`] bounds both costs; they depend on this parameter and on the opened order
//! alone.

use super::{
    below::Below,
    column::Column,
    group::Xor,
    keys::{SortKey, string_bits, strings},
    permutation::{Fresh, Permutation},
    permute::{Permute, permute_cost},
    planes::Tiles,
    ranking::{RankedPair, Ranking, answer, most_comparisons, most_levels, most_pairs},
    records::{MOST, Records},
};
use crate::{
    Addition, Batch, CircuitBatch, CircuitWorkspace, Output, Rep3, Role, ShareError, Shares, kept::Function,
    pool,
};
use hushwire_block::Wiped;
use hushwire_circuit::{Adder, Builder, Circuit, planes::plane_bytes};
use hushwire_machine::{
    Cost, NetError,
    drive::{Line, Talk},
    passed_on,
};
use std::sync::Arc;

/// AGREEMENT: the number of pairs from which on a level is wide. If parties are close to each
/// other, a comparison with the fewest ANDs is faster from there on than one with the fewest
/// rounds.
pub const WIDE: usize = 1 << 14;

/// One party's endpoint of a sort. Its batch serves nothing else, because the number of levels
/// becomes known only during the run.
pub struct Sort(Line<'static, Arc<Permutation>, NetError>);

impl Sort {
    /// A sort of `rows` rows by keys, the first most significant. Without keys, rows keep their
    /// order. Levels are wide from [`WIDE`] pairs on.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless every key has `rows` rows, and there are fewer than 2^32.
    pub fn new(batch: Batch, rows: usize, keys: &[SortKey]) -> Result<Sort, ShareError> {
        Self::wide_from(batch, rows, keys, WIDE)
    }

    /// As [`Sort::new`], with levels of fewer than `wide` pairs compared at logarithmic depth, and
    /// all others with the fewest ANDs. `wide` should be higher if a round takes longer. AGREEMENT:
    /// parties that set different numbers fail at the first level between them, whose messages
    /// differ in length.
    ///
    /// # Errors
    /// As [`Sort::new`].
    pub fn wide_from(
        mut batch: Batch,
        rows: usize,
        keys: &[SortKey],
        wide: usize,
    ) -> Result<Sort, ShareError> {
        let fresh = Fresh::draw(batch.context(), rows)?;
        let cx = batch.context();
        let strings = strings(&cx, 0..rows, rows, keys)?;
        let shuffle = fresh.shuffle(cx, strings.columns)?;
        let state = Comparisons::new(batch, strings.width, wide);
        Ok(Sort(Line::over(2, move |talk| state.run(talk, rows, fresh, shuffle))))
    }

    /// The order, after the run.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Arc<Permutation> {
        self.0.finish()
    }
}

passed_on!([] Sort, NetError, self => self.0);

/// Opened comparisons of shuffled strings, one level of pairs at a time, and the memory that is
/// kept between levels.
pub(super) struct Comparisons {
    pub(super) batch: Batch,
    width: usize,
    wide: usize,
    /// The strings, in columns.
    columns: Vec<Records>,
    /// The pairs of the current level.
    pub(super) pairs: Vec<RankedPair>,
    /// Memory of the comparisons.
    tiles: Tiles,
    sides: [Shares; 2],
    below: Shares,
    ws: CircuitWorkspace,
}

impl Comparisons {
    /// Comparisons of strings of `width` bits, with the fewest ANDs from `wide` pairs on.
    pub(super) fn new(batch: Batch, width: usize, wide: usize) -> Comparisons {
        Comparisons {
            batch,
            width,
            wide,
            columns: vec![],
            pairs: vec![],
            tiles: Records::tiles(),
            sides: [0; 2].map(|_: u8| none()),
            below: none(),
            ws: CircuitWorkspace::default(),
        }
    }

    /// Replaces the strings.
    pub(super) fn take(&mut self, strings: &[Column<u32>]) {
        self.columns = strings.chunks(MOST).map(Records::of).collect();
    }

    async fn run(
        mut self,
        talk: Talk,
        rows: usize,
        fresh: Fresh,
        mut shuffle: Permute<Xor<u32>>,
    ) -> Result<Arc<Permutation>, NetError> {
        if rows > 1 {
            talk.run(&mut shuffle).await?;
            self.take(&shuffle.finish());
        }
        let ranking = self.rank(&talk, rows).await?;
        Ok(fresh.then(ranking.rows()))
    }

    /// Ranks the first `rows` of the strings.
    pub(super) async fn rank(&mut self, talk: &Talk, rows: usize) -> Result<Ranking, NetError> {
        let mut ranking = Ranking::new(rows as u32);
        let mut spare = pool::Scratch::new(vec![]);
        // Whether rows have moved since the first operands were gathered.
        let mut moved = true;
        loop {
            ranking.ask(&mut self.pairs);
            if self.pairs.is_empty() {
                return Ok(ranking);
            }
            let answers = self.less(talk, moved).await?;
            moved = false;
            let of = |i: usize| answer(&answers, i, self.pairs.len());
            ranking.hear(of, |start, from| {
                moved = true;
                self.columns.iter_mut().for_each(|records| records.reorder(start, from, &mut spare));
            });
        }
    }

    /// Opens, for each pair, whether its first string is less. If no row has `moved`, the first
    /// operands are those of the level before and are not gathered again.
    pub(super) async fn less(&mut self, talk: &Talk, moved: bool) -> Result<Wiped<Vec<u8>>, NetError> {
        // While the rows of a segment search the tree of its sample, they stay where they are.
        if moved {
            self.gather(0);
        }
        self.gather(1);
        if self.pairs.len() < self.wide {
            self.compare_few(talk).await?;
        } else {
            self.compare_many(talk).await?;
        }
        self.open(talk).await
    }

    /// Gathers the planes of one operand of the pairs.
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

    /// Compares a level's pairs at logarithmic depth.
    async fn compare_few(&mut self, talk: &Talk) -> Result<(), NetError> {
        let (cx, width) = (self.batch.context(), self.width);
        let function = Function::Less { adder: Adder::Prefix, signed: false };
        let program = cx.kept.program(function, width, || less(Adder::Prefix, width));
        let [x, y] = &self.sides;
        let inputs = Rep3 { own: [&x.own[..], &y.own].concat(), next: [&x.next[..], &y.next].concat() };
        let (inputs, ws) = (vec![Arc::new(inputs)], std::mem::take(&mut self.ws));
        let circuit = CircuitBatch::over(program, cx, inputs, self.pairs.len(), ws);
        let mut circuit = Box::new(circuit.expect("planes of the program's inputs"));
        talk.run_on(0, &mut *circuit).await?;
        self.below = circuit.output();
        self.ws = circuit.into_workspace();
        Ok(())
    }

    /// Compares a level's pairs with the fewest ANDs.
    async fn compare_many(&mut self, talk: &Talk) -> Result<(), NetError> {
        let sides = std::mem::replace(&mut self.sides, [0; 2].map(|_: u8| none()));
        let below = std::mem::replace(&mut self.below, none());
        let machine = Below::new(self.batch.context(), self.width, self.pairs.len(), sides, below);
        let mut machine = machine.expect("planes of as many pairs");
        talk.run_on(0, &mut machine).await?;
        (self.below, self.sides) = machine.finish();
        Ok(())
    }

    /// Opens a level's answers to all parties.
    async fn open(&mut self, talk: &Talk) -> Result<Wiped<Vec<u8>>, NetError> {
        let answers = &self.below;
        let all = Output { learns: [true; 3], bytes: answers.own.len(), addition: Addition::Xor };
        let mut reveal = self.batch.reveal(&[all], answers);
        talk.run_on(1, &mut reveal).await?;
        Ok(reveal.finish())
    }
}

fn none() -> Shares {
    Rep3 { own: vec![], next: vec![] }
}

/// The circuit that tests whether one string is less than another, both of `width` bits.
fn less(adder: Adder, width: usize) -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input(width), b.input(width));
    let less = adder.less(&mut b, false, &x, &y);
    b.finish(&[vec![less]])
}

/// A bound on a party's cost of a sort by keys of `keys` bits in all, with levels that are wide
/// from `wide` pairs on. The cost itself is a function of the opened order, which is uniform among
/// all orders. The share of orders that exceed the bound is negligible.
#[must_use]
pub fn sort_bound(role: Role, rows: usize, keys: usize, wide: usize) -> Cost {
    if rows < 2 {
        return Cost::default();
    }
    let (width, comparisons) = (string_bits(rows, keys), most_comparisons(rows));
    let shuffle = permute_cost(role, false, rows * 4 * width.div_ceil(32));
    let levels = most_levels(rows);
    // Narrow levels take three ANDs per bit instead of one; every level ends in a byte that is not
    // full.
    let narrow = comparisons.min(levels.saturating_mul(wide as u64));
    let bits = (width as u64 + 1) * comparisons + 2 * width as u64 * narrow;
    // No level has more pairs than rows, or than its sample allows.
    let rounds = if most_pairs(rows) < wide as u64 { narrow_rounds(width) } else { width as u64 + 1 };
    Cost {
        rounds: shuffle.rounds + levels * rounds,
        bytes_sent: shuffle.bytes_sent + bits / 8 + levels * (3 * width as u64 + 1),
    }
}

/// The rounds of a level that is compared at logarithmic depth, and opened.
pub(super) fn narrow_rounds(width: usize) -> u64 {
    2 + u64::from(width.next_power_of_two().ilog2())
}

#[cfg(test)]
#[path = "sort_tests.rs"]
pub(super) mod tests;
