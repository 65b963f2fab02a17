//! The evaluator's side.

use super::{
    Side, Terms,
    agree::{Agreed, run_digest},
    bits::{loose, tight},
    garbler::{LABELS, public_labels},
    job::Job,
    stats::{Stats, Watched},
};
use crate::{
    Engine, Evaluate, GarbleError, Receive, Role, SessionNonce, Tables, engine::table_bytes, room::resize,
};
use hushwire_block::{Block, Buffer};
use hushwire_ot::{Context, Driver, Receiver, Receiving, SemiHonest};
use hushwire_prg::Prg;
use hushwire_wire::Channel;
use std::time::Instant;
use zeroize::Zeroizing;

/// The evaluator under one scheme.
pub(super) struct Evaluates<E: Evaluate> {
    terms: Terms,
    engine: Engine<E>,
    ot: Receiver<SemiHonest>,
    driver: Driver,
    agreed: Agreed,
    /// The public stream of labels.
    labels: Prg,
    wires: Zeroizing<Vec<E::Wire>>,
    buffer: Buffer,
}

impl<E: Evaluate> Evaluates<E> {
    pub(super) fn new(
        channel: &mut Channel,
        context: &Context,
        terms: Terms,
        ot: Receiver<SemiHonest>,
        driver: Driver,
    ) -> Result<Self, GarbleError> {
        let mut public = Block::ZERO;
        channel.recv("Yao start point", &mut public.0)?;
        let public = SessionNonce(public);
        Ok(Evaluates {
            terms,
            engine: Engine::new(E::new(context.backend, terms.scheme, public)),
            ot,
            driver,
            agreed: Agreed::default(),
            labels: public_labels(context, public),
            wires: Zeroizing::new(vec![]),
            buffer: Buffer::new(),
        })
    }

    /// This party's own inputs.
    fn transfer(&mut self, channel: &mut Channel, job: &Job<'_>, inputs: &[u8]) -> Result<(), GarbleError> {
        let count = job.input_wires(Role::Evaluator);
        if count == 0 {
            return Ok(());
        }
        let n = job.instances;
        let places = job.inputs(Role::Evaluator).flat_map(|r| r.start * n..r.end * n);
        let choices = tight(inputs, n);
        let mut blocks = Zeroizing::new(vec![Block::ZERO; count]);
        let end = self.engine.end();
        if self.terms.scheme.has_free_xor() {
            let mut steps = self.ot.extend(Receiving::Cot { choices: &choices, t: &mut blocks });
            self.driver.run(channel, &mut steps)?;
            steps.finish().trust();
            for (place, t) in places.zip(blocks.iter()) {
                self.wires[place] = end.label(*t);
            }
        } else {
            let mut steps = self.ot.extend(Receiving::RotChosen { choices: &choices, messages: &mut blocks });
            self.driver.run(channel, &mut steps)?;
            steps.finish().trust();
            for (i, (place, message)) in places.zip(blocks.iter()).enumerate() {
                self.wires[place] = end.message(*message, choices[i / 8] >> (i % 8) & 1);
            }
        }
        Ok(())
    }

    /// The garbler's inputs.
    fn draw(&mut self, job: &Job<'_>) {
        let n = job.instances;
        let mut labels = [Block::ZERO; LABELS];
        let end = self.engine.end();
        for register in job.inputs(Role::Garbler).flatten() {
            for wires in self.wires[register * n..][..n].chunks_mut(LABELS) {
                self.labels.fill_blocks(&mut labels[..wires.len()]);
                for (wire, label) in wires.iter_mut().zip(&labels) {
                    *wire = end.label(*label);
                }
            }
        }
    }
}

impl<E: Evaluate + Send + 'static> Side for Evaluates<E> {
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn Side + Send> {
        Box::new(Evaluates { engine: self.engine.with_width(width), ..*self })
    }

    fn run(
        &mut self,
        channel: &mut Channel,
        job: &Job<'_>,
        inputs: &[u8],
        stats: &mut Stats,
    ) -> Result<Zeroizing<Vec<u8>>, GarbleError> {
        let begun = Instant::now();
        let digest = run_digest(job, self.terms);
        let waits = self.agreed.ask(channel, &digest)?;
        self.agreed.remember(digest, job, || table_bytes::<E>(job.program, job.instances));
        // Registers that nothing was written to are 0.
        let zero = self.engine.end().constants()[0];
        resize(&mut self.wires, job.program.registers() * job.instances);
        self.wires.fill(zero);
        self.transfer(channel, job, inputs)?;
        self.draw(job);
        if waits {
            Agreed::hear_answer(channel, &digest)?;
        }
        let permute_bits = job.output_bytes(Role::Evaluator);
        let total = self.agreed.tables + permute_bits as u64;
        let mut tables = Watched::new(Receive::new(channel, &mut self.buffer, total), begun, stats);
        self.engine.program(job.program, job.instances, &mut self.wires, &mut tables)?;
        let end = self.engine.end();
        let bits = |role| Zeroizing::new(job.planes(role, &self.wires, |w| end.signal(w)));
        let mut outputs = bits(Role::Evaluator);
        if permute_bits > 0 {
            let bits = tables.tables.next(permute_bits)?;
            let opened = loose(bits, job.output_planes(Role::Evaluator), job.instances);
            let opened = opened.ok_or_else(|| {
                GarbleError::malformed(channel.from(), "permute bits of outputs", "bits past the last one")
            })?;
            outputs.iter_mut().zip(opened.iter()).for_each(|(out, bit)| *out ^= bit);
        }
        let theirs = tight(&bits(Role::Garbler), job.instances);
        channel.send("Yao outputs of the garbler", &theirs)?;
        stats.ands += job.program.ands() * job.instances as u64;
        stats.batches = self.engine.batches();
        Ok(outputs)
    }
}
