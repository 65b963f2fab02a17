//! The folds that both endpoints gather while chunks are made, and what a check needs of them after
//! the segment has ended.
//!
//! ```text
//! chunk         message absorbed → χ for its columns → every row folded, while it is in the cache
//! close         the folds are put aside, with a last column of 128 OTs that is made for the check
//! check         the last column's message absorbed → its χ → folded, too
//! ```
//!
//! The last column's coefficient is drawn after its message, like every other coefficient. With the
//! usual fixed coefficient 1, a receiver that has seen all χ could choose the last message so that
//! its deviations cancel.

use hushwire_block::{Block, Gf128, as_bytes, fold::Folds};
use hushwire_prg::Prg;
use hushwire_simd::clmul::Clmul;
use zeroize::ZeroizeOnDrop;

use crate::{Context, Role, Transcript};

use super::{
    RowKind,
    kind::{FULL, Proof},
};

/// The folds of an open segment.
pub(super) struct Segment {
    context: Context,
    clmul: Clmul,
    proof: Proof,
    kind: RowKind,
    transcript: Transcript,
    rows: Folds,
    /// The folds of the messages; only the check by pairs needs them.
    sent: Folds,
    /// The coefficients of the last chunk, one for each column.
    pub(super) chi: Vec<Gf128>,
    /// Whether a chunk was added since the last segment was closed.
    open: bool,
    /// The number of segments closed so far.
    number: u64,
}

/// A closed segment, of which the last column is not folded yet.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Closed {
    #[zeroize(skip)]
    context: Context,
    #[zeroize(skip)]
    clmul: Clmul,
    #[zeroize(skip)]
    transcript: Transcript,
    /// The fold of every row.
    pub(super) rows: Vec<Gf128>,
    /// The fold of every row of the messages.
    pub(super) sent: Vec<Gf128>,
    /// The last column of every row. The sender's does not yet include the message.
    pub(super) last: Vec<Block>,
    /// The last column's message, at the receiver.
    pub(super) message: Vec<Block>,
    /// The number of segments that were closed before.
    pub(super) number: u64,
}

/// Folds without a column: of the rows, and of the messages.
fn no_folds(kind: RowKind) -> (Folds, Folds) {
    (Folds::new(kind.rows()), Folds::new(kind.trees() - 1))
}

impl Segment {
    pub(super) fn new(context: Context, clmul: Clmul, kind: RowKind, proof: Proof, setup: &[u8]) -> Self {
        let mut transcript = Transcript::new(&context.sid, kind.domain());
        transcript.absorb(Role::Receiver, setup);
        let (rows, sent) = no_folds(kind);
        let chi = Vec::with_capacity(FULL);
        Segment { context, clmul, proof, kind, transcript, rows, sent, chi, open: false, number: 0 }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Folds a chunk: its message, trees − 1 rows of blocks, and all `rows` after the message was
    /// applied, row by row, both with the chunk's number of columns.
    pub(super) fn add(&mut self, message: &[Block], rows: &[Block]) {
        self.open = true;
        if self.proof == Proof::None {
            return;
        }
        let width = rows.len() / self.kind.rows();
        // The message is hashed separately, since BLAKE3 runs with the most parallelism at the
        // start of an input.
        self.transcript.absorb(Role::Receiver, blake3::hash(as_bytes(message)).as_bytes());
        let mut blocks = [Block::ZERO; FULL];
        let seed = self.transcript.challenge("columns");
        Prg::new(self.context.backend, &seed, "rows chi").fill_blocks(&mut blocks[..width]);
        self.chi.clear();
        self.chi.extend(blocks[..width].iter().map(|block| Gf128::from(*block)));
        self.rows.add(self.clmul, &self.chi, rows);
        if self.proof == Proof::Pairs {
            self.sent.add(self.clmul, &self.chi, message);
        }
    }

    /// Closes the segment. `last` is its last column, with a block for each row, and `message` the
    /// message of that column at the receiver.
    pub(super) fn close(&mut self, last: Vec<Block>, message: Vec<Block>) -> Closed {
        let closed = Closed {
            context: self.context,
            clmul: self.clmul,
            transcript: self.transcript.clone(),
            rows: self.rows.finish(),
            sent: self.sent.finish(),
            last,
            message,
            number: self.number,
        };
        (self.rows, self.sent) = no_folds(self.kind);
        self.open = false;
        self.number += 1;
        closed
    }
}

impl Closed {
    /// Folds the last column, after its message is known and its rows are complete.
    pub(super) fn fold_last(&mut self, message: &[Block]) {
        self.transcript.absorb(Role::Receiver, as_bytes(message));
        let seed = self.transcript.challenge("last column");
        let chi = Gf128::from(Prg::new(self.context.backend, &seed, "rows chi").next_block());
        for (folds, column) in [(&mut self.rows, &self.last[..]), (&mut self.sent, message)] {
            for (fold, block) in folds.iter_mut().zip(column) {
                *fold += chi.mul(Gf128::from(*block), self.clmul);
            }
        }
    }

    /// The domain of the hashes of this segment's check.
    pub(super) fn name(&self) -> [u8; 32] {
        self.context.sid.child("rows pairs", self.number).0
    }
}
