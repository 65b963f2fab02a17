//! The folds that both endpoints gather while chunks are made, and the part of them that a check
//! needs after the segment has ended.
//!
//! ```text
//! chunk         message absorbed → χ for its columns → every row folded, while it is in the cache
//! close         the folds are put away, with a column of 128 OTs that is made for the check alone
//! check         the column's message absorbed → its χ → folded too
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

use super::{RowKind, kind::FULL, kind::Proof};

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
    pub(super) chi: Vec<Gf128>,
    open: bool,
    /// The number of segments closed so far.
    number: u64,
}

/// A closed segment.
#[derive(ZeroizeOnDrop)]
pub(crate) struct Closed {
    #[zeroize(skip)]
    context: Context,
    #[zeroize(skip)]
    clmul: Clmul,
    #[zeroize(skip)]
    transcript: Transcript,
    /// A sum for every row; `sent` has one for every row of the messages.
    pub(super) rows: Vec<Gf128>,
    pub(super) sent: Vec<Gf128>,
    /// The last column of every row; the sender's does not yet include the message.
    pub(super) last: Vec<Block>,
    /// The last column's message, at the receiver.
    pub(super) message: Vec<Block>,
    pub(super) number: u64,
}

impl Segment {
    pub(super) fn new(context: Context, clmul: Clmul, kind: RowKind, proof: Proof, setup: &[u8]) -> Self {
        let mut transcript = Transcript::new(&context.sid, kind.domain());
        transcript.absorb(Role::Receiver, setup);
        let mut segment = Segment {
            context,
            clmul,
            proof,
            kind,
            transcript,
            rows: Folds::default(),
            sent: Folds::default(),
            chi: Vec::with_capacity(FULL),
            open: false,
            number: 0,
        };
        segment.renew();
        segment
    }

    fn renew(&mut self) {
        self.rows = Folds::new(self.kind.rows());
        self.sent = Folds::new(self.kind.trees() - 1);
        self.open = false;
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    /// Folds a chunk: the message, and all rows after the message was applied.
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

    /// Closes the segment; `last` and `message` are its sacrificial column.
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
        self.number += 1;
        self.renew();
        closed
    }
}

impl Closed {
    /// Folds the last column, after its message is known and its rows are complete.
    pub(super) fn fold_last(&mut self, message: &[Block]) {
        self.transcript.absorb(Role::Receiver, as_bytes(message));
        let seed = self.transcript.challenge("last column");
        let chi = Gf128::from(Prg::new(self.context.backend, &seed, "rows chi").next_block());
        let columns = [(&mut self.rows, &self.last[..]), (&mut self.sent, message)];
        for (sums, last) in columns {
            for (sum, last) in sums.iter_mut().zip(last) {
                *sum += chi.mul(Gf128::from(*last), self.clmul);
            }
        }
    }

    /// A name for the hashes of this segment's check.
    pub(super) fn name(&self) -> [u8; 32] {
        self.context.sid.child("rows pairs", self.number).0
    }
}
