//! The parts of a party, and of its run, that both roles share.

use super::{
    Terms,
    agree::{Agreed, Digest, run_digest},
    chunks::{Chunks, Declared},
    job::Job,
    stats::{Clock, Stats},
};
use crate::{Engine, GateBackend, Role, SessionNonce, room::resize};
use hushwire_block::Block;
use hushwire_ot::Context;
use hushwire_prg::{Prg, Seed};
use zeroize::Zeroizing;

/// The number of labels that are drawn at a time.
const LABELS: usize = 256;

/// A party's state under one scheme that lasts from run to run, without its OTs.
pub(super) struct Kept<E: GateBackend> {
    terms: Terms,
    engine: Engine<E>,
    agreed: Agreed,
    /// The public stream of the labels that the evaluator holds for the garbler's inputs.
    /// AGREEMENT.
    labels: Prg,
    wires: Zeroizing<Vec<E::Wire>>,
}

impl<E: GateBackend> Kept<E> {
    pub(super) fn new(context: &Context, terms: Terms, public: SessionNonce, end: E) -> Self {
        let seed = Seed::from_bytes(public.0.0);
        let labels = Prg::new(context.backend, &seed, "yao labels of the garbler's inputs");
        let (agreed, wires) = (Agreed::default(), Zeroizing::new(vec![]));
        Kept { terms, engine: Engine::new(end), agreed, labels, wires }
    }

    pub(super) fn with_width(self, width: usize) -> Self {
        Kept { engine: self.engine.with_width(width), ..self }
    }

    pub(super) fn begin<'p>(&'p mut self, job: Job<'p>, stats: &'p mut Stats) -> RunState<'p, E> {
        let Kept { terms, engine, agreed, labels, wires } = self;
        RunState {
            terms: *terms,
            digest: run_digest(&job, *terms),
            clock: Clock::begin(stats),
            engine,
            agreed,
            labels,
            wires,
            chunks: Chunks::new::<E>(&job),
            job,
        }
    }
}

/// A run's state, without its inputs.
pub(super) struct RunState<'p, E: GateBackend> {
    terms: Terms,
    pub(super) digest: Digest,
    pub(super) clock: Clock<'p>,
    pub(super) engine: &'p mut Engine<E>,
    pub(super) agreed: &'p mut Agreed,
    labels: &'p mut Prg,
    pub(super) wires: &'p mut Zeroizing<Vec<E::Wire>>,
    pub(super) chunks: Chunks<'p>,
    pub(super) job: Job<'p>,
}

impl<'p, E: GateBackend> RunState<'p, E> {
    /// Everything on which the run's cost depends, before it begins.
    pub(super) fn declared(&self, role: Role) -> Declared<'p> {
        let (repeats, is_first) = (self.agreed.repeats(&self.digest), self.agreed.is_first());
        Declared { chunks: self.chunks.clone(), job: self.job, terms: self.terms, repeats, is_first, role }
    }

    /// Records that both parties run the same: remembers the digest, and makes room for the wires.
    pub(super) fn settle(&mut self) {
        self.agreed.remember(self.digest, &self.job);
        // Registers that were never written are 0.
        let zero = self.engine.end().constants()[0];
        resize(self.wires, self.job.program.registers() * self.job.instances);
        self.wires.fill(zero);
    }

    /// Sets the wires of the evaluator's inputs from the results of their OTs, in order.
    pub(super) fn transferred(&mut self, wires: impl Iterator<Item = impl FnOnce(&mut E) -> E::Wire>) {
        let (n, end) = (self.job.instances, self.engine.end());
        let places = self.job.inputs(Role::Evaluator).flat_map(|r| r.start * n..r.end * n);
        places.zip(wires).for_each(|(place, wire)| self.wires[place] = wire(end));
    }

    /// Sets the wires of the garbler's inputs. Each comes from its public label, the plane of the
    /// input's bit, and the instance.
    pub(super) fn draw(&mut self, mut wire: impl FnMut(&mut E, Block, usize, usize) -> E::Wire) {
        let n = self.job.instances;
        let mut labels = [Block::ZERO; LABELS];
        let end = self.engine.end();
        for (plane, register) in self.job.inputs(Role::Garbler).flatten().enumerate() {
            for (part, wires) in self.wires[register * n..][..n].chunks_mut(LABELS).enumerate() {
                self.labels.fill_blocks(&mut labels[..wires.len()]);
                for (i, (to, label)) in wires.iter_mut().zip(&labels).enumerate() {
                    *to = wire(end, *label, plane, part * LABELS + i);
                }
            }
        }
    }

    /// One bit for each wire of the outputs that a role learns, as planes.
    pub(super) fn bits(&mut self, role: Role, bit: impl Fn(&E, E::Wire) -> u8) -> Zeroizing<Vec<u8>> {
        let end = &*self.engine.end();
        Zeroizing::new(self.job.planes(role, self.wires, |wire| bit(end, wire)))
    }
}
