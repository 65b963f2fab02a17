//! The garbler's side.

use super::{
    Side, Terms,
    agree::{Agreed, Heard, run_digest},
    bits::{loose, tight},
    job::Job,
    stats::{Stats, Watched},
};
use crate::{
    Engine, Garble, GarbleError, Role, Send, SessionNonce, Tables, engine::table_bytes, room::resize,
};
use hushwire_block::{Block, Buffer};
use hushwire_circuit::planes::plane_bytes;
use hushwire_ot::{Context, Driver, SemiHonest, Sender, Sending};
use hushwire_prg::{Prg, Seed};
use hushwire_wire::Channel;
use std::time::Instant;
use zeroize::Zeroizing;

/// The garbler under one scheme.
pub(super) struct Garbles<E: Garble> {
    terms: Terms,
    engine: Engine<E>,
    ot: Sender<SemiHonest>,
    driver: Driver,
    agreed: Agreed,
    /// The public stream of labels.
    labels: Prg,
    wires: Zeroizing<Vec<E::Wire>>,
    buffer: Buffer,
}

/// The stream of labels that the evaluator holds for the garbler's inputs. AGREEMENT.
pub(super) fn public_labels(context: &Context, public: SessionNonce) -> Prg {
    Prg::new(context.backend, &Seed::from_bytes(public.0.0), "yao labels of the garbler's inputs")
}

/// Labels drawn at a time.
pub(super) const LABELS: usize = 256;

impl<E: Garble> Garbles<E> {
    pub(super) fn new(
        channel: &mut Channel,
        context: &Context,
        terms: Terms,
        seed: &Seed,
        ot: Sender<SemiHonest>,
        driver: Driver,
    ) -> Result<Self, GarbleError> {
        let seed = seed.derive("yao garbler", &context.sid.0);
        let public = SessionNonce(Prg::new(context.backend, &seed, "yao start point").next_block());
        channel.send("Yao start point", &public.0.0)?;
        let delta = terms.scheme.has_free_xor().then(|| ot.delta());
        let end = E::new(context.backend, terms.scheme, public, &seed, delta);
        Ok(Garbles {
            terms,
            engine: Engine::new(end),
            ot,
            driver,
            agreed: Agreed::default(),
            labels: public_labels(context, public),
            wires: Zeroizing::new(vec![]),
            buffer: Buffer::new(),
        })
    }

    /// The evaluator's inputs.
    fn transfer(&mut self, channel: &mut Channel, job: &Job<'_>) -> Result<(), GarbleError> {
        let count = job.input_wires(Role::Evaluator);
        if count == 0 {
            return Ok(());
        }
        let n = job.instances;
        let places = job.inputs(Role::Evaluator).flat_map(|r| r.start * n..r.end * n);
        let end = self.engine.end();
        if self.terms.scheme.has_free_xor() {
            let mut q = Zeroizing::new(vec![Block::ZERO; count]);
            let mut steps = self.ot.extend(Sending::Cot(&mut q));
            self.driver.run(channel, &mut steps)?;
            steps.finish().trust();
            for (place, q) in places.zip(q.iter()) {
                self.wires[place] = end.correlated(*q);
            }
        } else {
            let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; count]);
            let mut steps = self.ot.extend(Sending::Rot { pairs: &mut pairs, chosen: true });
            self.driver.run(channel, &mut steps)?;
            steps.finish().trust();
            for (place, pair) in places.zip(pairs.iter()) {
                self.wires[place] = end.pair(*pair);
            }
        }
        Ok(())
    }

    /// Takes the choices of a run as the one before, which the evaluator sends before it has heard that this party runs
    /// another; then it gets to hear it.
    fn skip(&mut self, channel: &mut Channel) -> Result<(), GarbleError> {
        let mut q = Zeroizing::new(vec![Block::ZERO; self.agreed.choices]);
        Ok(self.driver.run(channel, &mut self.ot.extend(Sending::Cot(&mut q)))?)
    }

    /// This party's own inputs.
    fn encode(&mut self, job: &Job<'_>, inputs: &[u8]) {
        let (n, height) = (job.instances, plane_bytes(job.instances));
        let mut labels = [Block::ZERO; LABELS];
        let end = self.engine.end();
        for (register, plane) in job.inputs(Role::Garbler).flatten().zip(inputs.chunks_exact(height.max(1))) {
            for (part, wires) in self.wires[register * n..][..n].chunks_mut(LABELS).enumerate() {
                self.labels.fill_blocks(&mut labels[..wires.len()]);
                for (i, (wire, label)) in wires.iter_mut().zip(&labels).enumerate() {
                    let j = part * LABELS + i;
                    *wire = end.own(*label, plane[j / 8] >> (j % 8) & 1);
                }
            }
        }
    }
}

impl<E: Garble + std::marker::Send + 'static> Side for Garbles<E> {
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn Side + std::marker::Send> {
        Box::new(Garbles { engine: self.engine.with_width(width), ..*self })
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
        let owes = match self.agreed.hear(channel, &digest)? {
            Heard::Same { owes } => owes,
            Heard::Other { repeats } => {
                if repeats {
                    self.skip(channel)?;
                }
                return Err(Agreed::mismatch(channel));
            }
        };
        self.agreed.remember(digest, job, || table_bytes::<E>(job.program, job.instances));
        // Registers that nothing was written to are 0.
        let zero = self.engine.end().constants()[0];
        resize(&mut self.wires, job.program.registers() * job.instances);
        self.wires.fill(zero);
        self.transfer(channel, job)?;
        self.encode(job, inputs);
        if owes {
            Agreed::answer(channel, &digest)?;
        }
        let mut tables = Watched::new(Send::new(channel, &mut self.buffer), begun, stats);
        self.engine.program(job.program, job.instances, &mut self.wires, &mut tables)?;
        let mut tables = tables.tables;
        let end = self.engine.end();
        let bits = |end: &E, role| Zeroizing::new(job.planes(role, &self.wires, |w| end.permute_bit(w)));
        let theirs = tight(&bits(end, Role::Evaluator), job.instances);
        if !theirs.is_empty() {
            tables.next(theirs.len())?.copy_from_slice(&theirs);
        }
        tables.finish()?;
        stats.ands += job.program.ands() * job.instances as u64;
        stats.batches = self.engine.batches();
        let mut outputs = bits(self.engine.end(), Role::Garbler);
        let mut signals = Zeroizing::new(vec![0; job.output_bytes(Role::Garbler)]);
        channel.recv("Yao outputs of the garbler", &mut signals)?;
        let signals = loose(&signals, job.output_planes(Role::Garbler), job.instances).ok_or_else(|| {
            GarbleError::malformed(channel.from(), "output signals", "bits past the last one")
        })?;
        outputs.iter_mut().zip(signals.iter()).for_each(|(out, signal)| *out ^= signal);
        Ok(outputs)
    }
}
