//! The sender of the extension, which lacks one leaf of every tree. It adds the received
//! differences to its rows where the bits of Δ are 1, and checks the receiver's folds or hashes. A
//! failed check ends all lanes of its set-up.

use std::sync::{
    Arc,
    atomic::{AtomicBool, Ordering},
};

use hushwire_aes::Aes128;
use hushwire_block::{Block, Buffer, Gf128, from_bytes};
use hushwire_machine::Process;
use hushwire_prg::Prg;
use hushwire_simd::clmul::Clmul;
use subtle::{Choice, ConstantTimeEq};
use zeroize::Zeroize;

use crate::{Check, CheckStep, Context, Extension, OtError, Role, Security, machine::wrong_length};

use super::{
    RowKind,
    delta::Delta,
    kind::Proof,
    mask::add_masked,
    pairs,
    segment::{Closed, Segment},
    stock::Stock,
    tree::secret,
};

/// The name of a chunk's message.
const CHUNK: &str = "OT extension";

/// The keys of a set-up.
pub(super) struct Keys {
    pub(super) kind: RowKind,
    pub(super) process: Process,
    /// Leaf y ⊕ α of tree i, at place (i − first tree) · 2^k + y; unused at y = 0.
    pub(super) leaves: Vec<Aes128>,
    pub(super) delta: Delta,
    /// Whether a check of any lane has failed.
    pub(super) failed: AtomicBool,
}

impl Keys {
    /// Refuses to continue after a failed check of any lane. All lanes have one Δ, and a wrong
    /// guess of a bit reveals the bit.
    fn alive(&self, step: &'static str) -> Result<(), OtError> {
        if self.failed.load(Ordering::SeqCst) { Err(OtError::Lost { step }) } else { Ok(()) }
    }

    /// Ends all lanes if a check failed. A check that passes while another lane's fails gives an
    /// error as well.
    pub(super) fn verdict(&self, passed: Choice, check: Check, step: &'static str) -> Result<(), OtError> {
        if bool::from(passed) {
            return self.alive(step);
        }
        self.failed.store(true, Ordering::SeqCst);
        Err(OtError::abort(check))
    }

    /// Makes the columns from `first` on, before the message is applied.
    fn columns(&self, context: &Context, first: u128, rows: &mut [Block]) {
        let (k, leaves) = (self.kind.bits(), self.kind.leaves());
        let width = rows.len() / self.kind.rows();
        let from = self.kind.first_tree();
        let trees = self.leaves.chunks_exact(leaves);
        for (tree, w) in trees.zip(rows[from * k * width..].chunks_exact_mut(k * width)) {
            context.backend.leaf_sums_punctured(tree, first, w);
        }
        // Row 0 is 0, since bit 0 of Δ is 1.
        rows[..width].fill(Block::ZERO);
    }
}

/// The sender of one lane.
pub(super) struct Sender {
    keys: Arc<Keys>,
    context: Context,
    clmul: Clmul,
    proof: Proof,
    steps: Vec<CheckStep>,
    /// The next column's counter.
    column: u128,
    rows: Buffer,
    stock: Stock,
    segment: Segment,
    closed: Option<Closed>,
    /// The stream of the challenges of pairs.
    coins: Prg,
    challenge: Vec<u8>,
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.rows.zeroize();
    }
}

impl Sender {
    pub(super) fn new(
        keys: Arc<Keys>,
        context: Context,
        proof: Proof,
        steps: Vec<CheckStep>,
        lane: u16,
        setup: &[u8],
        coins: Prg,
    ) -> Self {
        let clmul = Clmul::best();
        let segment = Segment::new(context, clmul, keys.kind, proof, setup);
        Sender {
            context,
            clmul,
            proof,
            steps,
            column: u128::from(lane) << 64,
            rows: Buffer::new(),
            stock: Stock::default(),
            segment,
            closed: None,
            coins,
            challenge: Vec::new(),
            keys,
        }
    }

    /// Reads the last column's message, and returns the rest.
    fn hear_last<'m>(&self, closed: &mut Closed, heard: &'m [Block]) -> &'m [Block] {
        let kind = self.keys.kind;
        let (message, rest) = heard.split_at(kind.trees() - 1);
        add_masked(self.context.backend, &self.keys.delta, kind.bits(), message, &mut closed.last);
        closed.fold_last(message);
        rest
    }

    /// Checks that every row's fold is the receiver's, plus x if the bit of Δ is 1.
    fn verify_rows(&self, mut closed: Closed, heard: &[Block]) -> Result<(), OtError> {
        let folds = self.hear_last(&mut closed, heard);
        let x = folds[0].to_u128();
        let mut different = 0;
        for (row, (own, fold)) in closed.rows.iter().zip(&folds[1..]).enumerate() {
            different |= own.0 ^ fold.to_u128() ^ x & self.keys.delta.mask(row);
        }
        self.keys.verdict(different.ct_eq(&0), Check::Rows, self.steps[0].name)
    }

    /// For every pair, checks the two hashes that the sender can compute.
    fn verify_pairs(&self, mut closed: Closed, heard: &[Block]) -> Result<(), OtError> {
        let hashes = self.hear_last(&mut closed, heard);
        let segment = closed.name();
        let delta = &self.keys.delta;
        // The fold of the stream that the sender knows, and the difference to the other stream's
        // fold, without x.
        let known = |row: usize| {
            let sent = closed.sent[row - 1];
            (closed.rows[row] + Gf128(sent.0 & delta.mask(row)), sent)
        };
        let mut equal = Choice::from(1);
        let pairs = pairs::partners(self.context.backend, &self.challenge);
        let mut sums = secret(2 * pairs.len());
        for ([i, j], sums) in pairs.iter().zip(sums.chunks_exact_mut(2)) {
            let ((gi, di), (gj, dj)) = (known(*i), known(*j));
            (sums[0], sums[1]) = ((gi + gj).into(), (gi + gj + di + dj).into());
        }
        let mut wanted = vec![Block::ZERO; sums.len()];
        pairs::hash::<2>(self.context.backend, &segment, &self.challenge, &sums, &mut wanted);
        for (([i, j], wanted), hashes) in pairs.iter().zip(wanted.chunks_exact(2)).zip(hashes.chunks_exact(4))
        {
            let (p, q) = (1 ^ delta.bit(*i), 1 ^ delta.bit(*j));
            equal &=
                pairs::matches(hashes, [p, q], wanted[0]) & pairs::matches(hashes, [1 ^ p, 1 ^ q], wanted[1]);
        }
        self.keys.verdict(equal, Check::Pairs, self.steps[1].name)
    }
}

impl<S: Security> Extension<S> for Sender {
    fn role(&self) -> Role {
        Role::Sender
    }

    fn speaker(&self) -> Role {
        Role::Receiver
    }

    fn process(&self) -> Process {
        self.keys.process
    }

    fn delta(&self) -> Option<Block> {
        Some(self.keys.delta.block(self.clmul))
    }

    fn chunk_len(&self, wanted: usize) -> usize {
        self.stock.chunk_len(wanted)
    }

    fn chunk_bytes(&self, len: usize) -> usize {
        16 * (self.keys.kind.trees() - 1) * self.stock.columns(len)
    }

    fn chunk(&mut self, heard: &[u8], _: &mut [u8], blocks: &mut [Block]) -> Result<(), OtError> {
        self.keys.alive(CHUNK)?;
        wrong_length(CHUNK, heard, Extension::<S>::chunk_bytes(self, blocks.len()))?;
        let width = self.stock.columns(blocks.len());
        if width == 0 {
            self.stock.take(blocks);
            return Ok(());
        }
        let kind = self.keys.kind;
        self.rows.set_len(16 * kind.rows() * width);
        let (rows, heard) = (self.rows.blocks_mut(), from_bytes(heard));
        self.keys.columns(&self.context, self.column, rows);
        self.column += width as u128;
        add_masked(self.context.backend, &self.keys.delta, kind.bits(), heard, rows);
        self.segment.add(heard, rows);
        self.stock.turn(self.context.backend, self.clmul, kind, rows, blocks);
        Ok(())
    }

    fn stream(&mut self, on: bool) {
        self.stock.streamed = on;
    }

    fn check_steps(&self) -> &[CheckStep] {
        &self.steps
    }

    fn is_open(&self) -> bool {
        self.segment.is_open()
    }

    fn close_segment(&mut self) {
        if self.proof == Proof::None {
            return;
        }
        let mut last = secret(self.keys.kind.rows());
        self.keys.columns(&self.context, self.column, &mut last);
        self.column += 1;
        self.closed = Some(self.segment.close(core::mem::take(&mut *last), Vec::new()));
    }

    fn check(&mut self, step: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        self.keys.alive(self.steps[step].name)?;
        if self.steps[step].from == Role::Sender {
            self.coins.fill(said);
            self.challenge = said.to_vec();
            return Ok(());
        }
        wrong_length(self.steps[step].name, heard, self.steps[step].bytes)?;
        let closed = self.closed.take().expect("a segment was closed");
        match self.proof {
            Proof::Pairs => self.verify_pairs(closed, from_bytes(heard)),
            _ => self.verify_rows(closed, from_bytes(heard)),
        }
    }
}
