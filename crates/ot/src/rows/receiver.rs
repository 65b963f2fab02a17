//! The receiver of the extension, which makes all trees and speaks. For each chunk it sends the
//! differences d_i of the rows u_i, and for a malicious mode's check its folds or hashes.

use std::sync::Arc;

use hushwire_aes::Aes128;
use hushwire_block::{Block, Buffer, Gf128, from_bytes_mut};
use hushwire_machine::Process;
use hushwire_simd::clmul::Clmul;
use zeroize::Zeroize;

use crate::{CheckStep, Context, Extension, OtError, Role, Security, machine::wrong_length};

use super::{
    RowKind,
    kind::{FULL, Proof},
    pairs,
    segment::{Closed, Segment},
    stock::Stock,
    tree::secret,
};

/// The keys of a set-up.
pub(super) struct Keys {
    pub(super) kind: RowKind,
    pub(super) process: Process,
    /// Leaf x of tree i, at place (i − first tree) · 2^k + x.
    pub(super) leaves: Vec<Aes128>,
    /// The key of row 0, if k = 1.
    pub(super) own: Aes128,
}

impl Keys {
    /// Makes the columns from `first` on. It writes the choices to `choices`, v to `rows`, and the
    /// message to `said`, with a row for each tree from tree 1 on.
    fn columns(
        &self,
        context: &Context,
        first: u128,
        choices: &mut [Block],
        rows: &mut [Block],
        said: &mut [Block],
    ) {
        let (width, k, leaves) = (choices.len(), self.kind.bits(), self.kind.leaves());
        let backend = context.backend;
        let (zeroth, rest) = rows.split_at_mut(k * width);
        let mut trees = self.leaves.chunks_exact(leaves);
        if self.kind.first_tree() == 0 {
            let tree = trees.next().expect("tree 0");
            backend.leaf_sums(tree, first, choices, zeroth);
        } else {
            backend.counter_blocks(&self.own, first, choices);
        }
        // Bit 0 of Δ is known to be 1, so that q may be 0 in row 0, and t the choices.
        zeroth[..width].copy_from_slice(choices);
        for ((tree, v), u) in trees.zip(rest.chunks_exact_mut(k * width)).zip(said.chunks_exact_mut(width)) {
            backend.leaf_sums(tree, first, u, v);
            for (u, choice) in u.iter_mut().zip(choices.iter()) {
                *u ^= *choice;
            }
        }
    }
}

/// The receiver of one lane.
pub(super) struct Receiver {
    keys: Arc<Keys>,
    context: Context,
    clmul: Clmul,
    proof: Proof,
    steps: Vec<CheckStep>,
    /// The next column's counter.
    column: u128,
    choices: [Block; FULL],
    rows: Buffer,
    stock: Stock,
    pub(super) segment: Segment,
    pub(super) closed: Option<Closed>,
    challenge: Vec<u8>,
    /// A change that a cheating receiver makes to its messages before it hashes them.
    #[cfg(test)]
    pub(super) deviate: Option<super::tests::Deviate>,
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.choices.zeroize();
        self.rows.zeroize();
    }
}

impl Receiver {
    pub(super) fn new(
        keys: Arc<Keys>,
        context: Context,
        proof: Proof,
        steps: Vec<CheckStep>,
        lane: u16,
        setup: &[u8],
    ) -> Self {
        let clmul = Clmul::best();
        let segment = Segment::new(context, clmul, keys.kind, proof, setup);
        Receiver {
            context,
            clmul,
            proof,
            steps,
            column: u128::from(lane) << 64,
            choices: [Block::ZERO; FULL],
            rows: Buffer::new(),
            stock: Stock::default(),
            segment,
            closed: None,
            challenge: Vec::new(),
            #[cfg(test)]
            deviate: None,
            keys,
        }
    }

    /// Writes the whole check of a segment of rows: the last column's message, x, and a fold of
    /// every row.
    fn say_rows(mut closed: Closed, said: &mut [Block]) {
        let (message, folds) = said.split_at_mut(closed.message.len());
        message.copy_from_slice(&closed.message);
        closed.fold_last(message);
        // Row 0 is the choices, so that its fold is x.
        folds[0] = closed.rows[0].into();
        for (said, fold) in folds[1..].iter_mut().zip(&closed.rows) {
            *said = (*fold).into();
        }
    }

    /// Writes the last column's message and four hashes for every pair.
    fn say_pairs(&self, mut closed: Closed, said: &mut [Block]) {
        let (message, hashes) = said.split_at_mut(closed.message.len());
        message.copy_from_slice(&closed.message);
        closed.fold_last(message);
        let (segment, x) = (closed.name(), closed.rows[0]);
        let stream = |row: usize| -> [Gf128; 2] {
            let one = closed.rows[row];
            [one + closed.sent[row - 1] + x, one]
        };
        let pairs = pairs::partners(self.context.backend, &self.challenge);
        let mut sums = secret(hashes.len());
        for ([i, j], sums) in pairs.into_iter().zip(sums.chunks_exact_mut(4)) {
            let (gi, gj) = (stream(i), stream(j));
            for (at, sum) in sums.iter_mut().enumerate() {
                *sum = (gi[at / 2] + gj[at % 2]).into();
            }
        }
        pairs::hash::<4>(self.context.backend, &segment, &self.challenge, &sums, hashes);
    }
}

impl<S: Security> Extension<S> for Receiver {
    fn role(&self) -> Role {
        Role::Receiver
    }

    fn speaker(&self) -> Role {
        Role::Receiver
    }

    fn process(&self) -> Process {
        self.keys.process
    }

    fn delta(&self) -> Option<Block> {
        None
    }

    fn chunk_len(&self, wanted: usize) -> usize {
        self.stock.chunk_len(wanted)
    }

    fn chunk_bytes(&self, len: usize) -> usize {
        16 * (self.keys.kind.trees() - 1) * self.stock.columns(len)
    }

    fn chunk(&mut self, _: &[u8], said: &mut [u8], blocks: &mut [Block]) -> Result<(), OtError> {
        let width = self.stock.columns(blocks.len());
        if width == 0 {
            self.stock.take(blocks);
            return Ok(());
        }
        let kind = self.keys.kind;
        self.rows.set_len(16 * kind.rows() * width);
        let (rows, said) = (self.rows.blocks_mut(), from_bytes_mut(said));
        let choices = &mut self.choices[..width];
        self.keys.columns(&self.context, self.column, choices, rows, said);
        self.column += width as u128;
        #[cfg(test)]
        if let Some(deviate) = &mut self.deviate {
            deviate(said);
        }
        self.segment.add(said, rows);
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
        let kind = self.keys.kind;
        let (mut last, mut choices) = (secret(kind.rows()), secret(1));
        let mut message = vec![Block::ZERO; kind.trees() - 1];
        self.keys.columns(&self.context, self.column, &mut choices, &mut last, &mut message);
        self.column += 1;
        self.closed = Some(self.segment.close(core::mem::take(&mut *last), message));
    }

    fn check(&mut self, step: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        if self.steps[step].from == Role::Sender {
            wrong_length(self.steps[step].name, heard, self.steps[step].bytes)?;
            self.challenge = heard.to_vec();
            return Ok(());
        }
        let closed = self.closed.take().expect("a segment was closed");
        match self.proof {
            Proof::Pairs => self.say_pairs(closed, from_bytes_mut(said)),
            _ => Self::say_rows(closed, from_bytes_mut(said)),
        }
        Ok(())
    }
}
