//! The evaluator's side.

use super::{
    OUTPUTS, Side, Terms,
    agree::{Agreed, COMPUTATION, compare},
    bits::{loose, tight},
    common::{Common, Kept},
    gate::{Running, Steps},
    job::Job,
    stats::Stats,
};
use crate::{Evaluate, GarbleError, Role, SessionNonce, Transfer, room::resize};
use hushwire_block::Block;
use hushwire_machine::Cost;
use hushwire_ot::{Context, Exchanged, Machine, Pipeline, Receiver, Receiving, Round, SemiHonest};
use zeroize::{Zeroize, Zeroizing};

/// The evaluator under one scheme.
pub(super) struct Evaluates<E: Evaluate> {
    kept: Kept<E>,
    ot: Receiver<SemiHonest>,
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
        let kept = Kept::new(context, terms, public, E::new(context.backend, terms.scheme, public));
        Evaluates { kept, ot, choices: Zeroizing::new(vec![]), received: Zeroizing::new(vec![]) }
    }
}

impl<E: Evaluate + Send + 'static> Side for Evaluates<E> {
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn Side + Send> {
        Box::new(Evaluates { kept: self.kept.with_width(width), ..*self })
    }

    fn begin<'p>(
        &'p mut self,
        job: Job<'p>,
        inputs: &'p [u8],
        stats: &'p mut Stats,
    ) -> Box<dyn Running + 'p> {
        let Evaluates { kept, ot, choices, received } = self;
        *choices = tight(inputs, job.instances);
        Box::new(Run { common: kept.begin(job, stats), choices, phase: Phase::Ask(ot, received) })
    }
}

/// A run of the evaluator's.
struct Run<'p, E: Evaluate> {
    common: Common<'p, E>,
    choices: &'p [u8],
    phase: Phase<'p>,
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
        let waits = self.common.agreed.repeats(&self.common.digest);
        if !waits {
            compare(&self.common.digest, heard, COMPUTATION)?;
        }
        self.common.settle();
        if self.common.agreed.choices == 0 {
            return Ok(self.draw(waits));
        }
        resize(received, self.common.agreed.choices);
        let ot = ot.extend(E::Transfer::receive(self.choices, received));
        Ok(Phase::Choices(Box::new(ot), waits))
    }

    /// This party's own inputs.
    fn transferred(&mut self, ot: Ots<'p>) {
        let received = E::Transfer::received(ot.finish().trust());
        let own = |(i, block): (usize, &Block)| {
            let (block, choice) = (*block, self.choices[i / 8] >> (i % 8) & 1);
            move |end: &mut E| end.own(block, choice)
        };
        self.common.transferred(received.iter().enumerate().map(own));
        received.iter_mut().zeroize();
    }

    /// The garbler's inputs.
    fn draw(&mut self, waits: bool) -> Phase<'p> {
        self.common.draw(|end, label, _, _| end.label(label));
        if waits { Phase::Answer } else { Phase::Tables }
    }

    /// Signals of the outputs that a role learns.
    fn signals(&mut self, role: Role) -> Zeroizing<Vec<u8>> {
        self.common.bits(role, E::signal)
    }

    /// A message of tables, the last one with permute bits behind it.
    fn evaluate(&mut self, heard: &[u8]) -> Result<Phase<'p>, GarbleError> {
        self.common.clock.tables(&self.common.chunks);
        let Some(permute) = self.common.chunks.advance(self.common.engine, self.common.wires, heard) else {
            self.common.chunks.next();
            return Ok(Phase::Tables);
        };
        let opened =
            loose(permute, self.common.job.output_planes(Role::Evaluator), self.common.job.instances);
        let opened = opened.ok_or_else(|| {
            GarbleError::malformed(None, "permute bits of outputs", "bits past the last one")
        })?;
        self.common.outputs = self.signals(Role::Evaluator);
        self.common.outputs.iter_mut().zip(opened.iter()).for_each(|(out, bit)| *out ^= bit);
        self.common.clock.done(&self.common.job, self.common.engine.batches());
        Ok(Phase::Outputs(tight(&self.signals(Role::Garbler), self.common.job.instances)))
    }
}

impl<E: Evaluate> Steps for Run<'_, E> {
    fn round(&self) -> Option<Round> {
        match &self.phase {
            Phase::Ask(..) => Some(self.common.agreed.round(&self.common.digest, Role::Evaluator)),
            Phase::Choices(ot, _) => ot.round(0),
            Phase::Answer => Some(Agreed::answer(Role::Evaluator)),
            Phase::Tables => Some(self.common.chunks.round(Role::Evaluator)),
            Phase::Outputs(signals) => Some(Round { name: OUTPUTS, out: signals.len(), into: 0 }),
            Phase::Done => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), GarbleError> {
        match &mut self.phase {
            Phase::Ask(..) => out.copy_from_slice(&self.common.digest),
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
                compare(&self.common.digest, heard, COMPUTATION)?;
                Phase::Tables
            }
            Phase::Tables => self.evaluate(heard)?,
            Phase::Outputs(_) | Phase::Done => Phase::Done,
        };
        Ok(())
    }

    fn cost(&self) -> Option<Cost> {
        self.common.cost::<E::Transfer>(Role::Evaluator)
    }
}

impl<E: Evaluate + Send> Running for Run<'_, E> {
    fn outputs(&mut self) -> Zeroizing<Vec<u8>> {
        self.common.end()
    }
}
