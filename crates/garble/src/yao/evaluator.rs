//! The evaluator's side.

use super::{
    OUTPUTS, Side, Terms,
    agree::{Agreed, COMPUTATION, Digest, compare, run_digest},
    bits::{loose, tight},
    chunks::Chunks,
    garbler::{LABELS, public_labels},
    gate::{Running, Steps},
    job::Job,
    stats::{Clock, Stats},
};
use crate::{Engine, Evaluate, GarbleError, Role, SessionNonce, Transfer, room::resize};
use hushwire_block::Block;
use hushwire_ot::{Context, Exchanged, Machine, Pipeline, Receiver, Receiving, Round, SemiHonest};
use hushwire_prg::Prg;
use hushwire_wire::Cost;
use zeroize::{Zeroize, Zeroizing};

/// The evaluator under one scheme.
pub(super) struct Evaluates<E: Evaluate> {
    terms: Terms,
    engine: Engine<E>,
    ot: Receiver<SemiHonest>,
    agreed: Agreed,
    /// The public stream of labels.
    labels: Prg,
    wires: Zeroizing<Vec<E::Wire>>,
    /// The OTs' choices, and what comes of them.
    choices: Zeroizing<Vec<u8>>,
    received: Zeroizing<Vec<Block>>,
}

impl<E: Evaluate> Evaluates<E> {
    pub(super) fn new(
        context: &Context,
        terms: Terms,
        public: SessionNonce,
        ot: Receiver<SemiHonest>,
    ) -> Self {
        Evaluates {
            terms,
            engine: Engine::new(E::new(context.backend, terms.scheme, public)),
            ot,
            agreed: Agreed::default(),
            labels: public_labels(context, public),
            wires: Zeroizing::new(vec![]),
            choices: Zeroizing::new(vec![]),
            received: Zeroizing::new(vec![]),
        }
    }
}

impl<E: Evaluate + Send + 'static> Side for Evaluates<E> {
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn Side + Send> {
        Box::new(Evaluates { engine: self.engine.with_width(width), ..*self })
    }

    fn begin<'p>(
        &'p mut self,
        job: Job<'p>,
        inputs: &'p [u8],
        stats: &'p mut Stats,
    ) -> Box<dyn Running + 'p> {
        let Evaluates { terms, engine, ot, agreed, labels, wires, choices, received } = self;
        *choices = tight(inputs, job.instances);
        Box::new(Run {
            terms: *terms,
            digest: run_digest(&job, *terms),
            clock: Clock::begin(stats),
            engine,
            agreed,
            labels,
            wires,
            chunks: Chunks::new::<E>(&job),
            job,
            choices,
            phase: Phase::Ask(ot, received),
            outputs: Zeroizing::new(vec![]),
        })
    }
}

/// A run of the evaluator's.
struct Run<'p, E: Evaluate> {
    terms: Terms,
    digest: Digest,
    clock: Clock<'p>,
    engine: &'p mut Engine<E>,
    agreed: &'p mut Agreed,
    labels: &'p mut Prg,
    wires: &'p mut Zeroizing<Vec<E::Wire>>,
    chunks: Chunks<'p>,
    job: Job<'p>,
    choices: &'p [u8],
    phase: Phase<'p>,
    outputs: Zeroizing<Vec<u8>>,
}

/// OTs under way.
type Ots<'p> = Box<Pipeline<'p, Receiving<'p>, SemiHonest>>;

/// The round under way.
enum Phase<'p> {
    /// The digests.
    Ask(&'p mut Receiver<SemiHonest>, &'p mut Zeroizing<Vec<Block>>),
    /// This party's inputs; and whether the garbler's digest comes before the tables.
    Choices(Ots<'p>, bool),
    Answer,
    Tables,
    /// Signals of the garbler's outputs.
    Outputs(Zeroizing<Vec<u8>>),
    Done,
}

impl<'p, E: Evaluate> Run<'p, E> {
    /// The garbler's digest, where it comes at once.
    fn hear(
        &mut self,
        heard: &[u8],
        ot: &'p mut Receiver<SemiHonest>,
        received: &'p mut Zeroizing<Vec<Block>>,
    ) -> Result<Phase<'p>, GarbleError> {
        let waits = self.agreed.repeats(&self.digest);
        if !waits {
            compare(&self.digest, heard, COMPUTATION)?;
        }
        self.agreed.remember(self.digest, &self.job);
        // Registers that nothing was written to are 0.
        let zero = self.engine.end().constants()[0];
        resize(self.wires, self.job.program.registers() * self.job.instances);
        self.wires.fill(zero);
        if self.agreed.choices == 0 {
            return Ok(self.draw(waits));
        }
        resize(received, self.agreed.choices);
        let ot = ot.extend(E::Transfer::receive(self.choices, received));
        Ok(Phase::Choices(Box::new(ot), waits))
    }

    /// This party's own inputs.
    fn transferred(&mut self, ot: Ots<'p>) {
        let received = E::Transfer::received(ot.finish().trust());
        let (n, end) = (self.job.instances, self.engine.end());
        let places = self.job.inputs(Role::Evaluator).flat_map(|r| r.start * n..r.end * n);
        for (i, (place, block)) in places.zip(received.iter()).enumerate() {
            self.wires[place] = end.own(*block, self.choices[i / 8] >> (i % 8) & 1);
        }
        received.iter_mut().zeroize();
    }

    /// The garbler's inputs.
    fn draw(&mut self, waits: bool) -> Phase<'p> {
        let n = self.job.instances;
        let mut labels = [Block::ZERO; LABELS];
        let end = self.engine.end();
        for register in self.job.inputs(Role::Garbler).flatten() {
            for wires in self.wires[register * n..][..n].chunks_mut(LABELS) {
                self.labels.fill_blocks(&mut labels[..wires.len()]);
                for (wire, label) in wires.iter_mut().zip(&labels) {
                    *wire = end.label(*label);
                }
            }
        }
        if waits { Phase::Answer } else { Phase::Tables }
    }

    /// Signals of the outputs that a role learns.
    fn signals(&mut self, role: Role) -> Zeroizing<Vec<u8>> {
        let end = self.engine.end();
        Zeroizing::new(self.job.planes(role, self.wires, |wire| end.signal(wire)))
    }

    /// A message of tables, the last one with permute bits behind it.
    fn evaluate(&mut self, heard: &[u8]) -> Result<Phase<'p>, GarbleError> {
        self.clock.tables(&self.chunks);
        let Some(permute) = self.chunks.advance(self.engine, self.wires, heard) else {
            self.chunks.next();
            return Ok(Phase::Tables);
        };
        let opened = loose(permute, self.job.output_planes(Role::Evaluator), self.job.instances);
        let opened = opened.ok_or_else(|| {
            GarbleError::malformed(None, "permute bits of outputs", "bits past the last one")
        })?;
        self.outputs = self.signals(Role::Evaluator);
        self.outputs.iter_mut().zip(opened.iter()).for_each(|(out, bit)| *out ^= bit);
        self.clock.done(&self.job, self.engine.batches());
        Ok(Phase::Outputs(tight(&self.signals(Role::Garbler), self.job.instances)))
    }
}

impl<E: Evaluate> Steps for Run<'_, E> {
    fn round(&self) -> Option<Round> {
        match &self.phase {
            Phase::Ask(..) => Some(self.agreed.round(&self.digest, Role::Evaluator)),
            Phase::Choices(ot, _) => ot.round(0),
            Phase::Answer => Some(Agreed::answer(Role::Evaluator)),
            Phase::Tables => Some(self.chunks.round(Role::Evaluator)),
            Phase::Outputs(signals) => Some(Round { name: OUTPUTS, out: signals.len(), into: 0 }),
            Phase::Done => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), GarbleError> {
        match &mut self.phase {
            Phase::Ask(..) => out.copy_from_slice(&self.digest),
            Phase::Choices(ot, _) => ot.write(0, out)?,
            Phase::Outputs(signals) => out.copy_from_slice(signals),
            Phase::Answer | Phase::Tables | Phase::Done => {}
        }
        Ok(())
    }

    fn take(&mut self, heard: &[u8]) -> Result<(), GarbleError> {
        self.phase = match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Ask(ot, received) => self.hear(heard, ot, received)?,
            Phase::Choices(mut ot, waits) => {
                ot.read(&[Exchanged::heard(heard)])?;
                if ot.round(0).is_some() {
                    Phase::Choices(ot, waits)
                } else {
                    self.transferred(ot);
                    self.draw(waits)
                }
            }
            Phase::Answer => {
                compare(&self.digest, heard, COMPUTATION)?;
                Phase::Tables
            }
            Phase::Tables => self.evaluate(heard)?,
            Phase::Outputs(_) | Phase::Done => Phase::Done,
        };
        Ok(())
    }

    fn cost(&self) -> Option<Cost> {
        self.chunks.cost::<E::Transfer>(&self.job, self.terms, self.agreed, &self.digest, Role::Evaluator)
    }
}

impl<E: Evaluate + Send> Running for Run<'_, E> {
    fn outputs(&mut self) -> Zeroizing<Vec<u8>> {
        self.clock.end();
        std::mem::take(&mut self.outputs)
    }
}
