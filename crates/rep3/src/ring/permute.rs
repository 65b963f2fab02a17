//! Columns in the order of a permutation that no party knows.
//!
//! **Functionality.** `out[i] = in[p(i)]`, or `out[p(i)] = in[i]` for the inverse, for columns of one width, additive or XOR-shared.
//! **Paper.** T. Araki, J. Furukawa, K. Ohara, B. Pinkas, H. Rosemarin, H. Tsuchida, "Secure Graph Analysis at Scale", CCS 2021, the
//! shuffle; its idea of stages is that of S. Laur, J. Willemson, B. Zhang, "Round-Efficient Oblivious Database Manipulation", ISC 2011.
//!
//! ```text
//! X, Y, Z   parties 0, 1, 2; of the inverse, which undoes the last stage first, parties 2, 1, 0
//! α         two of x's summands are X's, α is their sum; γ the third, which Y and Z hold
//! m, n      masks from the keys of X, Y and of X, Z         a, b: new summands, likewise
//!
//!   X                            Y                            Z
//!   s = second(first(α) + m) + n
//!     ──────── s ───────►          t = first(γ) − m
//!                                     ──────── t ───────►
//!                                u = third(s) − a             v = third(second(t) − n) − b
//!                                     ──────── u ───────►
//!                                     ◄─────── v ────────
//!   (a, b)                       (a, u + v)                   (b, u + v)
//! ```
//!
//! **Security.** Semi-honest, one party. Every message has a mask whose key its reader lacks, and each mask serves one word.
//! **Rounds and bytes.** Two rounds: X sends a word a row and column, Y two, Z one.

use super::{
    column::{Column, Word},
    gate::{Gate, two_way},
    group::Group,
    masks::{PairWords, Side},
    moves::{Part, gather, leave, part, scatter, through, words_in},
    permutation::Permutation,
};
use crate::{
    Context, Rep3, Role, ShareError,
    pool::{self, Scratch},
};
use hushwire_wire::{
    Cost,
    drive::{Exchanged, Round},
};
use std::sync::Arc;

/// Memory of a [`Permute`], kept from one to the next: fresh pages are half of its time.
#[derive(Default)]
pub struct PermuteSpace<W: Word> {
    /// Between a stage's two movements: of all columns, and of one.
    all: Scratch<W>,
    one: Scratch<W>,
}

/// The result's use.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    /// It is shared again.
    Shares,
    /// Y and Z learn it: no masks a and b.
    Open,
}

/// One party's half of permuting columns of one width. Columns of several widths have a machine each, under the same permutation,
/// which run abreast in the same two rounds.
pub struct Permute<G: Group> {
    cx: Context,
    permutation: Arc<Permutation>,
    columns: Vec<Arc<Column<G::Word>>>,
    /// Columns, which are `columns` and then `out`.
    count: usize,
    inverse: bool,
    end: End,
    /// Rounds that are done.
    rounds: u8,
    space: PermuteSpace<G::Word>,
    out: Vec<Column<G::Word>>,
    gate: Gate,
}

impl<G: Group> Permute<G> {
    /// Row p(i) of every column to place i.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless all shares have the permutation's rows.
    pub fn new(
        cx: Context,
        permutation: Arc<Permutation>,
        columns: Vec<Arc<Column<G::Word>>>,
    ) -> Result<Self, ShareError> {
        let expected = permutation.rows();
        for found in columns.iter().flat_map(|column| [column.own.len(), column.next.len()]) {
            if found != expected {
                return Err(ShareError::Length { what: "a column to permute", expected, found });
            }
        }
        debug_assert_eq!(cx.role, permutation.role());
        Ok(Permute {
            cx,
            permutation,
            count: columns.len(),
            columns,
            inverse: false,
            end: End::Shares,
            rounds: 0,
            space: PermuteSpace::default(),
            out: vec![],
            gate: Gate::default(),
        })
    }

    /// Row i to place p(i) instead.
    #[must_use]
    pub fn inverse(mut self) -> Self {
        self.inverse = true;
        self
    }

    /// Parties 1 and 2 learn the result, in the order in which they then have it: the masks of the last stage are left out, and the
    /// two hear each other's half. Party 0 learns nothing, and has empty columns in the end.
    pub(super) fn open(mut self) -> Self {
        self.end = End::Open;
        self
    }

    /// Works in this memory.
    #[must_use]
    pub fn with_space(mut self, space: PermuteSpace<G::Word>) -> Self {
        self.space = space;
        self
    }

    /// The columns in their new order, after the run.
    #[must_use]
    pub fn finish(self) -> Vec<Column<G::Word>> {
        self.into_parts().0
    }

    /// The columns in their new order, after the run, and the memory for the next.
    #[must_use]
    pub fn into_parts(mut self) -> (Vec<Column<G::Word>>, PermuteSpace<G::Word>) {
        if self.words() == 0 {
            self.out = self.columns.iter().map(|_| Column::zeros(0)).collect();
        }
        (self.out, self.space)
    }

    fn gate(&mut self) -> &mut Gate {
        &mut self.gate
    }

    /// Words of all columns.
    fn words(&self) -> usize {
        self.count * self.permutation.rows()
    }

    fn part(&self) -> Part {
        part(self.cx.role, self.inverse)
    }

    /// The slot that leads from X to Y and from Y to Z.
    fn ahead(&self) -> usize {
        usize::from(!self.inverse)
    }

    fn exchange(&self) -> Option<[Round; 2]> {
        let bytes = self.words() * G::Word::BYTES;
        if self.rounds == 2 || bytes == 0 {
            return None;
        }
        let name = "permutation of rows";
        let ahead = |out, into| Round { name, out, into };
        let (ahead, back) = match (self.rounds, self.part()) {
            (0, Part::X) => (ahead(bytes, 0), Round::even(name, 0)),
            (0, Part::Y) => (ahead(bytes, bytes), Round::even(name, 0)),
            (0, Part::Z) => (ahead(0, bytes), Round::even(name, 0)),
            (_, Part::X) => (ahead(0, 0), Round::even(name, 0)),
            (_, Part::Y) => (ahead(bytes, 0), Round { name, out: 0, into: bytes }),
            (_, Part::Z) => (ahead(0, bytes), Round { name, out: bytes, into: 0 }),
        };
        Some(if self.inverse { [ahead, back] } else { [back, ahead] })
    }

    /// The neighbour on whose side a part of the protocol lies, forward; the inverse has left and right changed.
    fn side(&self, side: Side) -> Side {
        if self.inverse { side.other() } else { side }
    }

    /// The first word of the stream for the new summands, behind the masks.
    fn second_half(&self) -> u64 {
        (self.count * (self.permutation.rows() * G::Word::BYTES).div_ceil(16)) as u64
    }

    fn say(&mut self, _slot: usize, out: &mut [u8]) {
        if out.is_empty() {
            return;
        }
        let (rows, part) = (self.permutation.rows(), self.part());
        let second_half = self.second_half();
        let (left, right) = (self.side(Side::Left), self.side(Side::Right));
        let stage = |side| self.permutation.stage(side, self.inverse);
        let PermuteSpace { all, one } = &mut self.space;
        let bytes = rows * G::Word::BYTES;
        match (self.rounds, part) {
            (0, Part::X) => {
                let (first, second) = (stage(right), stage(left));
                let mut masks = [right, left].map(|side| PairWords::new(&self.cx, side, 0));
                all.set_len(rows);
                one.set_len(rows);
                for (column, out) in self.columns.iter().zip(out.chunks_exact_mut(bytes)) {
                    let Rep3 { own, next } = &**column;
                    let sums = own.iter().zip(next).map(|(x, y)| G::plus(*x, *y));
                    scatter(first.into, sums, all);
                    through(&mut masks[0], first.from, all, second.into, one, G::plus);
                    leave(&mut masks[1], second.from, one, out, G::plus);
                }
            }
            (0, _) => {
                let first = stage(left);
                let mut masks = PairWords::new(&self.cx, left, 0);
                one.set_len(rows);
                for (column, out) in self.columns.iter().zip(out.chunks_exact_mut(bytes)) {
                    let third = if right == Side::Right { &column.next } else { &column.own };
                    scatter(first.into, third.iter().copied(), one);
                    leave(&mut masks, first.from, one, out, G::minus);
                }
            }
            (_, Part::Y) => {
                let third = stage(right);
                let mut masks = PairWords::new(&self.cx, left, second_half);
                for (all, out) in all.chunks_exact(rows).zip(out.chunks_exact_mut(bytes)) {
                    match self.end {
                        End::Shares => leave(&mut masks, third.from, all, out, G::minus),
                        End::Open => gather(third.from, all, out),
                    }
                }
            }
            (_, _) => {
                let (second, third) = (stage(right), stage(left));
                let mut masks = [0, second_half].map(|first| PairWords::new(&self.cx, right, first));
                one.set_len(rows);
                for (all, out) in all.chunks_exact(rows).zip(out.chunks_exact_mut(bytes)) {
                    through(&mut masks[0], second.from, all, third.into, one, G::minus);
                    match self.end {
                        End::Shares => leave(&mut masks[1], third.from, one, out, G::minus),
                        End::Open => gather(third.from, one, out),
                    }
                }
            }
        }
    }

    fn hear(&mut self, messages: [Exchanged<'_>; 2]) {
        let (rows, part) = (self.permutation.rows(), self.part());
        let (ahead, back) = (messages[self.ahead()], messages[1 - self.ahead()]);
        let bytes = rows * G::Word::BYTES;
        let right = self.side(Side::Right);
        if self.rounds == 0 {
            if part != Part::X {
                let into = self.permutation.stage(right, self.inverse).into;
                let all = &mut self.space.all;
                all.set_len(rows * self.count);
                for (all, heard) in all.chunks_exact_mut(rows).zip(ahead.heard.chunks_exact(bytes)) {
                    scatter(into, heard.chunks_exact(G::Word::BYTES).map(G::Word::read), all);
                }
            }
        } else {
            let (own, heard) = match part {
                Part::X => (&[][..], &[][..]),
                Part::Y => (ahead.own, back.heard),
                Part::Z => (back.own, ahead.heard),
            };
            self.end(rows, own, heard);
        }
        self.rounds += 1;
    }

    /// The result from the last two messages, in the memory of columns that nobody else has.
    fn end(&mut self, rows: usize, own: &[u8], heard: &[u8]) {
        let (part, bytes) = (self.part(), rows * G::Word::BYTES);
        let columns = std::mem::take(&mut self.columns);
        let [mut left, mut right] =
            [Side::Left, Side::Right].map(|side| PairWords::new(&self.cx, side, self.second_half()));
        let open = self.end == End::Open;
        let masks = |words: &mut PairWords<'_>, out: &mut Vec<G::Word>| {
            if !open {
                words.runs::<G::Word>(rows, |_, masks| out.extend(words_in::<G::Word>(masks)));
            }
        };
        let mut results = Vec::with_capacity(columns.len());
        for (i, column) in columns.into_iter().enumerate() {
            let sum = |out: &mut Vec<G::Word>| {
                let [own, heard] = [own, heard].map(|message| words_in(&message[i * bytes..(i + 1) * bytes]));
                out.extend(own.zip(heard).map(|(u, v)| G::plus(u, v)));
            };
            let room = |_| Rep3 { own: pool::room(rows), next: pool::room(rows) };
            let mut column = Arc::try_unwrap(column).unwrap_or_else(room);
            let Rep3 { own, next } = &mut column;
            own.clear();
            next.clear();
            // A mask of two parties is their summand: `own` with the left neighbour, `next` with the right one.
            match (part, self.inverse) {
                (Part::X, _) => {
                    masks(&mut left, own);
                    masks(&mut right, next);
                }
                (Part::Y, false) | (Part::Z, true) => {
                    masks(&mut left, own);
                    sum(next);
                }
                (Part::Y, true) | (Part::Z, false) => {
                    sum(own);
                    masks(&mut right, next);
                }
            }
            results.push(column);
        }
        self.out = results;
    }
}

two_way!([G: Group] Permute<G>;
    fn cost(&self) -> Option<Cost> {
        Some(permute_cost(self.cx.role, self.inverse, self.words() * G::Word::BYTES))
    }
);

/// The cost of permuting columns that have so many bytes in all.
#[must_use]
pub fn permute_cost(role: Role, inverse: bool, bytes: usize) -> Cost {
    let messages = match part(role, inverse) {
        Part::X | Part::Z => 1,
        Part::Y => 2,
    };
    Cost { rounds: if bytes > 0 { 2 } else { 0 }, bytes_sent: messages * bytes as u64 }
}

#[cfg(test)]
#[path = "permute_tests.rs"]
mod tests;
