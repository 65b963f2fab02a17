//! Columns in the order of a permutation that no party knows.
//!
//! **Functionality.** `out[i] = in[p(i)]`, or `out[p(i)] = in[i]` for the inverse, for columns of
//! one width, additive or XOR-shared.
//! **Paper.** T. Araki, J. Furukawa, K. Ohara, B. Pinkas, H. Rosemarin, H. Tsuchida, "Secure Graph
//! Analysis at Scale", CCS 2021, the shuffle; its idea of stages is that of S. Laur, J. Willemson,
//! B. Zhang, "Round-Efficient Oblivious Database Manipulation", ISC 2011.
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
//! **Security.** Semi-honest, one party. Every message has a mask whose key its receiver lacks, and
//! each mask is used for one word.
//! **Rounds and bytes.** Two rounds: X sends a word per row and column, Y two, Z one.
//! [`Permute::in_pieces`] sends the same bytes in more rounds. Messages then take the memory of one
//! piece, and parties work at the same time.

use super::{
    column::{Bits, Column},
    gate::{TwoWayGate, two_way},
    group::{Group, Xor},
    masks::{Neighbour, PairWords},
    moves::{PermutePart, gather, leave, part, scatter, scatter_planes, through, turn, words_in},
    permutation::Permutation,
    planes::fits,
    summand::{same, shape},
    word::Word,
};
use crate::{
    Context, Rep3, Role, ShareError,
    pool::{self, Scratch},
};
use hushwire_block::registry;
use hushwire_circuit::planes::plane_bytes;
use hushwire_machine::{
    Cost,
    drive::{Exchanged, Round},
};
use std::{ops::Range, sync::Arc};

/// Memory of a [`Permute`], kept for the next one: fresh pages take half of its time.
#[derive(Default)]
pub struct PermuteSpace<W: Word> {
    /// The rows between a stage's two movements: of all columns, and of one.
    all: Scratch<W>,
    one: Scratch<W>,
}

/// The use of the result.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ResultUse {
    /// It is shared again.
    Shares,
    /// Y and Z learn it, so the masks a and b are left out.
    Open,
}

/// A column to permute.
enum PermuteSource<W: Word> {
    Words(Arc<Column<W>>),
    /// Strings with at most as many bits as a word has. They are turned to words and back, a few
    /// rows at a time.
    Planes(Arc<Bits>),
}

/// One party's endpoint of permuting columns of one width. Columns of several widths need a machine
/// each, under the same permutation; these run side by side in the same two rounds.
pub struct Permute<G: Group> {
    cx: Context,
    permutation: Arc<Permutation>,
    columns: Vec<PermuteSource<G::Word>>,
    /// The number of columns, which are first in `columns` and then in `out`.
    count: usize,
    inverse: bool,
    end: ResultUse,
    /// AGREEMENT: the most rows of a column in a message.
    most: usize,
    /// The number of rounds that are done.
    rounds: usize,
    space: PermuteSpace<G::Word>,
    /// If strings are permuted, their planes are in `planes`, and the current piece is in the only
    /// column of `out`.
    out: Vec<Column<G::Word>>,
    planes: Option<Bits>,
    gate: TwoWayGate,
}

impl<G: Group> Permute<G> {
    /// Moves row p(i) of every column to place i.
    ///
    /// # Errors
    /// [`ShareError::Length`] unless all shares have the permutation's rows.
    pub fn new(
        cx: Context,
        permutation: Arc<Permutation>,
        columns: Vec<Arc<Column<G::Word>>>,
    ) -> Result<Self, ShareError> {
        let rows = permutation.rows();
        columns.iter().try_for_each(|column| column.expect_rows("a column to permute", rows))?;
        Ok(Self::of(cx, permutation, columns.into_iter().map(PermuteSource::Words).collect()))
    }

    fn of(cx: Context, permutation: Arc<Permutation>, columns: Vec<PermuteSource<G::Word>>) -> Self {
        assert_eq!(cx.role, permutation.role());
        Permute {
            cx,
            permutation,
            count: columns.len(),
            columns,
            inverse: false,
            end: ResultUse::Shares,
            most: usize::MAX,
            rounds: 0,
            space: PermuteSpace::default(),
            out: vec![],
            planes: None,
            gate: TwoWayGate::default(),
        }
    }

    /// Moves row i to place p(i) instead.
    #[must_use]
    pub fn inverse(mut self) -> Self {
        self.inverse = true;
        self
    }

    /// Sends messages of one column's words, for about `rows` rows each, if columns have more. All
    /// parties must set the same number.
    #[must_use]
    pub fn in_pieces(mut self, rows: usize) -> Self {
        // Every piece begins at a 128-bit word of the masks' stream.
        self.most = rows.max(1).checked_next_multiple_of(16).unwrap_or(usize::MAX);
        self
    }

    /// Opens the result to parties 1 and 2, in the order that they hold at the end. The masks of
    /// the last stage are left out, and each of the two receives the other's half. Party 0 learns
    /// nothing, and its resulting columns are empty.
    pub(super) fn open(mut self) -> Self {
        self.end = ResultUse::Open;
        self
    }

    /// Uses this memory.
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

    /// The columns in their new order, after the run, and the memory for the next one.
    #[must_use]
    pub fn into_parts(mut self) -> (Vec<Column<G::Word>>, PermuteSpace<G::Word>) {
        if self.words() == 0 {
            self.out = self.columns.iter().map(|_| Column::zeros(0)).collect();
        }
        (self.out, self.space)
    }

    fn gate(&mut self) -> &mut TwoWayGate {
        &mut self.gate
    }

    /// The number of words of all columns.
    fn words(&self) -> usize {
        self.count * self.permutation.rows()
    }

    fn part(&self) -> PermutePart {
        part(self.cx.role, self.inverse)
    }

    /// The slot that leads from X to Y and from Y to Z.
    fn ahead(&self) -> usize {
        usize::from(!self.inverse)
    }

    /// The number of pieces of a column, and of a phase. Columns that are one piece travel
    /// together.
    fn pieces(&self) -> [usize; 2] {
        let each = self.permutation.rows().div_ceil(self.most).max(1);
        [each, if each == 1 { 1 } else { each * self.count }]
    }

    /// Whether this round is in the second phase, and its columns and rows.
    fn piece(&self) -> (bool, Range<usize>, Range<usize>) {
        let (rows, [each, all]) = (self.permutation.rows(), self.pieces());
        let at = self.rounds % all;
        let columns = if each == 1 { 0..self.count } else { at / each..at / each + 1 };
        let first = if each == 1 { 0 } else { at % each * self.most };
        (self.rounds >= all, columns, first..rows.min(first.saturating_add(self.most)))
    }

    fn exchange(&self) -> Option<[Round; 2]> {
        if self.words() == 0 || self.rounds == 2 * self.pieces()[1] {
            return None;
        }
        let (second, columns, rows) = self.piece();
        let bytes = columns.len() * rows.len() * G::Word::BYTES;
        let name = "permutation of rows";
        let ahead = |out, into| Round { name, out, into };
        let (ahead, back) = match (second, self.part()) {
            (false, PermutePart::X) => (ahead(bytes, 0), Round::even(name, 0)),
            (false, PermutePart::Y) => (ahead(bytes, bytes), Round::even(name, 0)),
            (false, PermutePart::Z) => (ahead(0, bytes), Round::even(name, 0)),
            (true, PermutePart::X) => (ahead(0, 0), Round::even(name, 0)),
            (true, PermutePart::Y) => (ahead(bytes, 0), Round { name, out: 0, into: bytes }),
            (true, PermutePart::Z) => (ahead(0, bytes), Round { name, out: bytes, into: 0 }),
        };
        Some(if self.inverse { [ahead, back] } else { [back, ahead] })
    }

    /// The neighbour for a side of the protocol: the inverse exchanges left and right.
    fn side(&self, side: Neighbour) -> Neighbour {
        if self.inverse { side.other() } else { side }
    }

    /// The first word of the stream for the masks of a column, and for its new summands, which lie
    /// behind all masks.
    fn streams(&self, column: usize) -> [u64; 2] {
        let words = (self.permutation.rows() * G::Word::BYTES).div_ceil(16);
        [column, self.count + column].map(|place| (place * words) as u64)
    }

    fn say(&mut self, _slot: usize, out: &mut [u8]) {
        if out.is_empty() {
            return;
        }
        let (second_phase, columns, piece) = self.piece();
        let (rows, part) = (self.permutation.rows(), self.part());
        let streams: Vec<[u64; 2]> = columns.clone().map(|column| self.streams(column)).collect();
        // The words of the stream before the piece.
        let before = (piece.start * G::Word::BYTES / 16) as u64;
        let (left, right) = (self.side(Neighbour::Left), self.side(Neighbour::Right));
        let stage = |side| self.permutation.stage(side, self.inverse);
        let masks = |side, first| PairWords::new(&self.cx, side, first);
        let PermuteSpace { all, one } = &mut self.space;
        let out = out.chunks_exact_mut(piece.len() * G::Word::BYTES);
        for ((column, [mask, fresh]), out) in columns.zip(streams).zip(out) {
            let begins = piece.start == 0;
            match (second_phase, part) {
                (false, PermutePart::X) => {
                    let (first, second) = (stage(right), stage(left));
                    if begins {
                        all.set_len(rows);
                        one.set_len(rows);
                        match &self.columns[column] {
                            PermuteSource::Words(words) => {
                                let sums = words.own.iter().zip(&words.next).map(|(x, y)| G::plus(*x, *y));
                                scatter(first.into, sums, all);
                            }
                            PermuteSource::Planes(bits) => {
                                scatter_planes(self.cx.backend, first.into, &bits.shares().pair(), all);
                            }
                        }
                        through(&mut masks(right, mask), first.from, all, second.into, one, G::plus);
                    }
                    leave(&mut masks(left, mask + before), &second.from[piece.clone()], one, out, G::plus);
                }
                (false, _) => {
                    let first = stage(left);
                    if begins {
                        one.set_len(rows);
                        let third = usize::from(right == Neighbour::Right);
                        match &self.columns[column] {
                            PermuteSource::Words(words) => {
                                let third = [&words.own, &words.next][third];
                                scatter(first.into, third.iter().copied(), one);
                            }
                            PermuteSource::Planes(bits) => {
                                let third = bits.shares().pair()[third];
                                scatter_planes(self.cx.backend, first.into, &[third], one);
                            }
                        }
                    }
                    leave(&mut masks(left, mask + before), &first.from[piece.clone()], one, out, G::minus);
                }
                (true, PermutePart::Y) => {
                    let (from, all) = (&stage(right).from[piece.clone()], &all[column * rows..][..rows]);
                    match self.end {
                        ResultUse::Shares => {
                            leave(&mut masks(left, fresh + before), from, all, out, G::minus);
                        }
                        ResultUse::Open => gather(from, all, out),
                    }
                }
                (true, _) => {
                    let (second, third) = (stage(right), stage(left));
                    if begins {
                        let all = &all[column * rows..][..rows];
                        one.set_len(rows);
                        through(&mut masks(right, mask), second.from, all, third.into, one, G::minus);
                    }
                    let from = &third.from[piece.clone()];
                    match self.end {
                        ResultUse::Shares => {
                            leave(&mut masks(right, fresh + before), from, one, out, G::minus);
                        }
                        ResultUse::Open => gather(from, one, out),
                    }
                }
            }
        }
    }

    fn hear(&mut self, messages: [Exchanged<'_>; 2]) {
        let (second_phase, columns, piece) = self.piece();
        let (rows, part) = (self.permutation.rows(), self.part());
        let (ahead, back) = (messages[self.ahead()], messages[1 - self.ahead()]);
        if second_phase {
            let (own, heard) = match part {
                PermutePart::X => (&[][..], &[][..]),
                PermutePart::Y => (ahead.own, back.heard),
                PermutePart::Z => (back.own, ahead.heard),
            };
            self.end(columns, &piece, own, heard);
        } else if part != PermutePart::X {
            let right = self.side(Neighbour::Right);
            let into = &self.permutation.stage(right, self.inverse).into[piece.clone()];
            let all = &mut self.space.all;
            all.set_len(rows * self.count);
            let heard = ahead.heard.chunks_exact(piece.len() * G::Word::BYTES);
            for (column, heard) in columns.zip(heard) {
                scatter(into, words_in(heard), &mut all[column * rows..][..rows]);
            }
        }
        self.rounds += 1;
    }

    /// Makes a piece of the result from the last two messages. It uses the memory of the old
    /// columns if they are held nowhere else.
    fn end(&mut self, which: Range<usize>, piece: &Range<usize>, own: &[u8], heard: &[u8]) {
        let (part, rows) = (self.part(), self.permutation.rows());
        for column in std::mem::take(&mut self.columns) {
            let room = |rows| Rep3 { own: pool::room(rows), next: pool::room(rows) };
            let mut column = match column {
                PermuteSource::Words(column) => Arc::try_unwrap(column).unwrap_or_else(|_| room(rows)),
                PermuteSource::Planes(bits) => {
                    self.planes = Some(Arc::unwrap_or_clone(bits));
                    room(rows.min(self.most))
                }
            };
            column.own.clear();
            column.next.clear();
            self.out.push(column);
        }
        let (bytes, before) = (piece.len() * G::Word::BYTES, (piece.start * G::Word::BYTES / 16) as u64);
        let open = self.end == ResultUse::Open;
        for (i, column) in which.enumerate() {
            let [_, fresh] = self.streams(column);
            let masks = |side, out: &mut Vec<G::Word>| {
                if !open {
                    let mut words = PairWords::new(&self.cx, side, fresh + before);
                    let take = |_, masks: &[u8]| out.extend(words_in::<G::Word>(masks));
                    let draw = || words.runs::<G::Word>(piece.len(), take);
                    // Y and Z have drawn these words already for their messages, and keep the same
                    // words as summands.
                    if part == PermutePart::X { draw() } else { registry::silent(draw) }
                }
            };
            let sum = |out: &mut Vec<G::Word>| {
                let [own, heard] = [own, heard].map(|message| words_in(&message[i * bytes..(i + 1) * bytes]));
                out.extend(own.zip(heard).map(|(u, v)| G::plus(u, v)));
            };
            let Rep3 { own, next } = &mut self.out[column];
            // A mask of two parties is their summand: `own` with the left neighbour, `next` with
            // the right one.
            match (part, self.inverse) {
                (PermutePart::X, _) => {
                    masks(Neighbour::Left, own);
                    masks(Neighbour::Right, next);
                }
                (PermutePart::Y, false) | (PermutePart::Z, true) => {
                    masks(Neighbour::Left, own);
                    sum(next);
                }
                (PermutePart::Y, true) | (PermutePart::Z, false) => {
                    sum(own);
                    masks(Neighbour::Right, next);
                }
            }
            if let Some(bits) = &mut self.planes {
                let (backend, height) = (self.cx.backend, plane_bytes(rows));
                let planes = bits.over();
                for (words, planes) in [(own, &mut planes.own), (next, &mut planes.next)] {
                    turn(backend, words, piece.start, height, planes);
                    words.clear();
                }
            }
        }
    }
}

impl<W: Word> Permute<Xor<W>> {
    /// As [`Permute::new`], for strings of bits, one per row, which move as words do and stay in
    /// planes.
    ///
    /// # Errors
    /// [`ShareError`] if a row has more bits than a word, or the number of rows is not the
    /// permutation's.
    pub fn of_bits(cx: Context, permutation: Arc<Permutation>, bits: Arc<Bits>) -> Result<Self, ShareError> {
        fits::<W>(&bits)?;
        same("strings to permute", (bits.width(), permutation.rows()), shape(&bits))?;
        Ok(Self::of(cx, permutation, vec![PermuteSource::Planes(bits)]))
    }

    /// The strings in their new order, after the run.
    ///
    /// # Panics
    /// If it has not run, or runs on columns of words (the caller's bug).
    #[must_use]
    pub fn finish_bits(self) -> Bits {
        match (self.planes, self.columns.into_iter().next()) {
            (Some(bits), _) => bits,
            // With no rows there are no rounds.
            (None, Some(PermuteSource::Planes(bits))) if bits.rows() == 0 => Arc::unwrap_or_clone(bits),
            _ => panic!("strings that were permuted"),
        }
    }
}

two_way!([G: Group] Permute<G>;
    fn cost(&self) -> Option<Cost> {
        let cost = permute_cost(self.cx.role, self.inverse, self.words() * G::Word::BYTES);
        Some(Cost { rounds: cost.rounds * self.pieces()[1] as u64, ..cost })
    }
);

/// The cost of permuting columns of `bytes` bytes in total, in two rounds.
#[must_use]
pub fn permute_cost(role: Role, inverse: bool, bytes: usize) -> Cost {
    let messages = match part(role, inverse) {
        PermutePart::X | PermutePart::Z => 1,
        PermutePart::Y => 2,
    };
    Cost { rounds: if bytes > 0 { 2 } else { 0 }, bytes_sent: messages * bytes as u64 }
}

#[cfg(test)]
#[path = "permute_tests.rs"]
mod tests;
