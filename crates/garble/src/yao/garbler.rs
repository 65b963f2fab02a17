//! The garbler's side.

use super::{
    OUTPUTS, Side, Terms,
    agree::{Agreed, COMPUTATION, compare, mismatch},
    bits::{loose, tight},
    common::{Common, Kept},
    gate::{Running, Steps},
    job::Job,
    stats::Stats,
};
use crate::{Garble, GarbleError, Role, SessionNonce, Transfer, room::resize};
use hushwire_circuit::planes::plane_bytes;
use hushwire_machine::Cost;
use hushwire_ot::{Context, Exchanged, Machine, Pipeline, Round, SemiHonest, Sender, Sending};
use hushwire_prg::Seed;
use zeroize::{Zeroize, Zeroizing};

/// The garbler under one scheme.
pub(super) struct Garbles<E: Garble> {
    kept: Kept<E>,
    ot: Sender<SemiHonest>,
    /// Results of the OTs.
    sent: Zeroizing<Vec<Sent<E>>>,
}

type Sent<E> = <<E as Garble>::Transfer as Transfer>::Sent;

impl<E: Garble> Garbles<E> {
    /// `seed` is the garbling's alone.
    pub(super) fn new(
        context: &Context,
        terms: Terms,
        public: SessionNonce,
        seed: &Seed,
        ot: Sender<SemiHonest>,
    ) -> Self {
        let end = E::new(context.backend, terms.scheme, public, seed, E::Transfer::delta(&ot));
        Garbles { kept: Kept::new(context, terms, public, end), ot, sent: Zeroizing::new(vec![]) }
    }
}

impl<E: Garble + Send + 'static> Side for Garbles<E> {
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn Side + Send> {
        Box::new(Garbles { kept: self.kept.with_width(width), ..*self })
    }

    fn begin<'p>(
        &'p mut self,
        job: Job<'p>,
        inputs: &'p [u8],
        stats: &'p mut Stats,
    ) -> Box<dyn Running + 'p> {
        let Garbles { kept, ot, sent } = self;
        Box::new(Run { common: kept.begin(job, stats), inputs, phase: Phase::Hear(ot, sent) })
    }
}

/// A run of the garbler's.
struct Run<'p, E: Garble> {
    common: Common<'p, E>,
    inputs: &'p [u8],
    phase: Phase<'p, Sent<E>>,
}

/// OTs under way.
type Ots<'p> = Box<Pipeline<'p, Sending<'p>, SemiHonest>>;

/// The round under way.
enum Phase<'p, T: Zeroize> {
    /// The digests.
    Hear(&'p mut Sender<SemiHonest>, &'p mut Zeroizing<Vec<T>>),
    /// The evaluator, which runs something else, gets to hear it.
    Tell,
    /// It runs the run before once more, so that its choices come before it has heard.
    Skip(Ots<'p>),
    /// The evaluator's inputs; and whether it waits for the digest.
    Choices(Ots<'p>, bool),
    Answer,
    Tables,
    Outputs,
    Done,
}

impl<'p, E: Garble> Run<'p, E> {
    /// The evaluator's digest.
    fn hear(
        &mut self,
        heard: &[u8],
        ot: &'p mut Sender<SemiHonest>,
        sent: &'p mut Zeroizing<Vec<Sent<E>>>,
    ) -> Result<Phase<'p, Sent<E>>, GarbleError> {
        let (owes, same) = (self.common.agreed.repeats(&self.common.digest), heard == self.common.digest);
        if owes && !same {
            return Ok(Phase::Tell);
        }
        let repeats = self.common.agreed.repeats(heard);
        if same {
            self.common.settle();
        }
        let choices = if same || repeats { self.common.agreed.choices } else { 0 };
        if choices > 0 {
            resize(sent, choices);
            let ot = Box::new(ot.extend(E::Transfer::send(sent)));
            return Ok(if same { Phase::Choices(ot, owes) } else { Phase::Skip(ot) });
        }
        compare(&self.common.digest, heard, COMPUTATION)?;
        Ok(self.encode(owes))
    }

    /// The evaluator's inputs.
    fn transferred(&mut self, ot: Ots<'p>) {
        let sent = E::Transfer::sent(ot.finish().trust());
        self.common.transferred(sent.iter().map(|sent| |end: &mut E| end.theirs(*sent)));
        sent.iter_mut().zeroize();
    }

    /// This party's own inputs.
    fn encode(&mut self, owes: bool) -> Phase<'p, Sent<E>> {
        let (inputs, height) = (self.inputs, plane_bytes(self.common.job.instances));
        let bit = |plane: usize, j: usize| inputs[plane * height + j / 8] >> (j % 8) & 1;
        self.common.draw(|end, label, plane, j| end.own(label, bit(plane, j)));
        if owes { Phase::Answer } else { Phase::Tables }
    }

    /// Permute bits of the outputs that a role learns.
    fn permute_bits(&mut self, role: Role) -> Zeroizing<Vec<u8>> {
        self.common.bits(role, E::permute_bit)
    }

    /// The evaluator's signals.
    fn open(&mut self, heard: &[u8]) -> Result<(), GarbleError> {
        let signals = loose(heard, self.common.job.output_planes(Role::Garbler), self.common.job.instances);
        let signals = signals
            .ok_or_else(|| GarbleError::malformed(None, "output signals", "bits past the last one"))?;
        self.common.outputs = self.permute_bits(Role::Garbler);
        self.common.outputs.iter_mut().zip(signals.iter()).for_each(|(out, signal)| *out ^= signal);
        Ok(())
    }
}

impl<E: Garble> Steps for Run<'_, E> {
    fn round(&self) -> Option<Round> {
        match &self.phase {
            Phase::Hear(..) => Some(self.common.agreed.round(&self.common.digest, Role::Garbler)),
            Phase::Tell => Some(Agreed::tell()),
            Phase::Skip(ot) | Phase::Choices(ot, _) => ot.round(0),
            Phase::Answer => Some(Agreed::answer(Role::Garbler)),
            Phase::Tables => Some(self.common.chunks.round(Role::Garbler)),
            Phase::Outputs => {
                Some(Round { name: OUTPUTS, out: 0, into: self.common.job.output_bytes(Role::Garbler) })
            }
            Phase::Done => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), GarbleError> {
        match &mut self.phase {
            Phase::Hear(..) | Phase::Tell | Phase::Answer => {
                out.copy_from_slice(&self.common.digest[..out.len()]);
            }
            Phase::Skip(ot) | Phase::Choices(ot, _) => ot.write(0, out)?,
            Phase::Tables => {
                self.common.clock.tables(&self.common.chunks);
                if let Some(permute) = self.common.chunks.advance(self.common.engine, self.common.wires, out)
                {
                    let bits = self.permute_bits(Role::Evaluator);
                    permute.copy_from_slice(&tight(&bits, self.common.job.instances));
                }
            }
            Phase::Outputs | Phase::Done => {}
        }
        Ok(())
    }

    fn take(&mut self, heard: &[u8]) -> Result<(), GarbleError> {
        self.phase = match std::mem::replace(&mut self.phase, Phase::Done) {
            Phase::Hear(ot, sent) => self.hear(heard, ot, sent)?,
            Phase::Tell => return Err(mismatch(COMPUTATION)),
            Phase::Skip(mut ot) => {
                ot.read(&[Exchanged::heard(heard)])?;
                if ot.round(0).is_none() {
                    return Err(mismatch(COMPUTATION));
                }
                Phase::Skip(ot)
            }
            Phase::Choices(mut ot, owes) => {
                ot.read(&[Exchanged::heard(heard)])?;
                if ot.round(0).is_some() {
                    Phase::Choices(ot, owes)
                } else {
                    self.transferred(ot);
                    self.encode(owes)
                }
            }
            Phase::Answer => Phase::Tables,
            Phase::Tables if self.common.chunks.is_last() => {
                self.common.clock.done(&self.common.job, self.common.engine.batches());
                Phase::Outputs
            }
            Phase::Tables => {
                self.common.chunks.next();
                Phase::Tables
            }
            Phase::Outputs => {
                self.open(heard)?;
                Phase::Done
            }
            Phase::Done => Phase::Done,
        };
        Ok(())
    }

    fn cost(&self) -> Option<Cost> {
        self.common.cost::<E::Transfer>(Role::Garbler)
    }
}

impl<E: Garble + Send> Running for Run<'_, E> {
    fn outputs(&mut self) -> Zeroizing<Vec<u8>> {
        self.common.end()
    }
}
