//! The garbler's side.

use super::{
    OUTPUTS, Side, Terms,
    agree::{Agreed, COMPUTATION, Digest, compare, mismatch, run_digest},
    bits::{loose, tight},
    chunks::Chunks,
    gate::{Running, Steps},
    job::Job,
    stats::{Clock, Stats},
};
use crate::{Engine, Garble, GarbleError, Role, SessionNonce, Transfer, room::resize};
use hushwire_block::Block;
use hushwire_circuit::planes::plane_bytes;
use hushwire_ot::{Context, Exchanged, Machine, Pipeline, Round, SemiHonest, Sender, Sending};
use hushwire_prg::{Prg, Seed};
use hushwire_wire::Cost;
use zeroize::{Zeroize, Zeroizing};

/// The garbler under one scheme.
pub(super) struct Garbles<E: Garble> {
    terms: Terms,
    engine: Engine<E>,
    ot: Sender<SemiHonest>,
    agreed: Agreed,
    /// The public stream of labels.
    labels: Prg,
    wires: Zeroizing<Vec<E::Wire>>,
    /// Results of the OTs.
    sent: Zeroizing<Vec<Sent<E>>>,
}

type Sent<E> = <<E as Garble>::Transfer as Transfer>::Sent;

/// The stream of labels that the evaluator holds for the garbler's inputs. AGREEMENT.
pub(super) fn public_labels(context: &Context, public: SessionNonce) -> Prg {
    Prg::new(context.backend, &Seed::from_bytes(public.0.0), "yao labels of the garbler's inputs")
}

/// Labels drawn at a time.
pub(super) const LABELS: usize = 256;

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
        Garbles {
            terms,
            engine: Engine::new(end),
            ot,
            agreed: Agreed::default(),
            labels: public_labels(context, public),
            wires: Zeroizing::new(vec![]),
            sent: Zeroizing::new(vec![]),
        }
    }
}

impl<E: Garble + Send + 'static> Side for Garbles<E> {
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn Side + Send> {
        Box::new(Garbles { engine: self.engine.with_width(width), ..*self })
    }

    fn begin<'p>(
        &'p mut self,
        job: Job<'p>,
        inputs: &'p [u8],
        stats: &'p mut Stats,
    ) -> Box<dyn Running + 'p> {
        let Garbles { terms, engine, ot, agreed, labels, wires, sent } = self;
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
            inputs,
            phase: Phase::Hear(ot, sent),
            outputs: Zeroizing::new(vec![]),
        })
    }
}

/// A run of the garbler's.
struct Run<'p, E: Garble> {
    terms: Terms,
    digest: Digest,
    clock: Clock<'p>,
    engine: &'p mut Engine<E>,
    agreed: &'p mut Agreed,
    labels: &'p mut Prg,
    wires: &'p mut Zeroizing<Vec<E::Wire>>,
    chunks: Chunks<'p>,
    job: Job<'p>,
    inputs: &'p [u8],
    phase: Phase<'p, Sent<E>>,
    outputs: Zeroizing<Vec<u8>>,
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
        let (owes, same) = (self.agreed.repeats(&self.digest), heard == self.digest);
        if owes && !same {
            return Ok(Phase::Tell);
        }
        let repeats = self.agreed.repeats(heard);
        if same {
            self.agreed.remember(self.digest, &self.job);
            // Registers that nothing was written to are 0.
            let zero = self.engine.end().constants()[0];
            resize(self.wires, self.job.program.registers() * self.job.instances);
            self.wires.fill(zero);
        }
        let choices = if same || repeats { self.agreed.choices } else { 0 };
        if choices > 0 {
            resize(sent, choices);
            let ot = Box::new(ot.extend(E::Transfer::send(sent)));
            return Ok(if same { Phase::Choices(ot, owes) } else { Phase::Skip(ot) });
        }
        compare(&self.digest, heard, COMPUTATION)?;
        Ok(self.encode(owes))
    }

    /// The evaluator's inputs.
    fn transferred(&mut self, ot: Ots<'p>) {
        let sent = E::Transfer::sent(ot.finish().trust());
        let (n, end) = (self.job.instances, self.engine.end());
        let places = self.job.inputs(Role::Evaluator).flat_map(|r| r.start * n..r.end * n);
        for (place, sent) in places.zip(sent.iter()) {
            self.wires[place] = end.theirs(*sent);
        }
        sent.iter_mut().zeroize();
    }

    /// This party's own inputs.
    fn encode(&mut self, owes: bool) -> Phase<'p, Sent<E>> {
        let (n, height) = (self.job.instances, plane_bytes(self.job.instances));
        let mut labels = [Block::ZERO; LABELS];
        let (end, planes) = (self.engine.end(), self.inputs.chunks_exact(height.max(1)));
        for (register, plane) in self.job.inputs(Role::Garbler).flatten().zip(planes) {
            for (part, wires) in self.wires[register * n..][..n].chunks_mut(LABELS).enumerate() {
                self.labels.fill_blocks(&mut labels[..wires.len()]);
                for (i, (wire, label)) in wires.iter_mut().zip(&labels).enumerate() {
                    let j = part * LABELS + i;
                    *wire = end.own(*label, plane[j / 8] >> (j % 8) & 1);
                }
            }
        }
        if owes { Phase::Answer } else { Phase::Tables }
    }

    /// Permute bits of the outputs that a role learns.
    fn permute_bits(&mut self, role: Role) -> Zeroizing<Vec<u8>> {
        let end = self.engine.end();
        Zeroizing::new(self.job.planes(role, self.wires, |wire| end.permute_bit(wire)))
    }

    /// The evaluator's signals.
    fn open(&mut self, heard: &[u8]) -> Result<(), GarbleError> {
        let signals = loose(heard, self.job.output_planes(Role::Garbler), self.job.instances);
        let signals = signals
            .ok_or_else(|| GarbleError::malformed(None, "output signals", "bits past the last one"))?;
        self.outputs = self.permute_bits(Role::Garbler);
        self.outputs.iter_mut().zip(signals.iter()).for_each(|(out, signal)| *out ^= signal);
        Ok(())
    }
}

impl<E: Garble> Steps for Run<'_, E> {
    fn round(&self) -> Option<Round> {
        match &self.phase {
            Phase::Hear(..) => Some(self.agreed.round(&self.digest, Role::Garbler)),
            Phase::Tell => Some(Agreed::tell()),
            Phase::Skip(ot) | Phase::Choices(ot, _) => ot.round(0),
            Phase::Answer => Some(Agreed::answer(Role::Garbler)),
            Phase::Tables => Some(self.chunks.round(Role::Garbler)),
            Phase::Outputs => {
                Some(Round { name: OUTPUTS, out: 0, into: self.job.output_bytes(Role::Garbler) })
            }
            Phase::Done => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), GarbleError> {
        match &mut self.phase {
            Phase::Hear(..) | Phase::Tell | Phase::Answer => {
                out.copy_from_slice(&self.digest[..out.len()]);
            }
            Phase::Skip(ot) | Phase::Choices(ot, _) => ot.write(0, out)?,
            Phase::Tables => {
                self.clock.tables(&self.chunks);
                if let Some(permute) = self.chunks.advance(self.engine, self.wires, out) {
                    let bits = self.permute_bits(Role::Evaluator);
                    permute.copy_from_slice(&tight(&bits, self.job.instances));
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
            Phase::Tables if self.chunks.is_last() => {
                self.clock.done(&self.job, self.engine.batches());
                Phase::Outputs
            }
            Phase::Tables => {
                self.chunks.next();
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
        self.chunks.cost::<E::Transfer>(&self.job, self.terms, self.agreed, &self.digest, Role::Garbler)
    }
}

impl<E: Garble + Send> Running for Run<'_, E> {
    fn outputs(&mut self) -> Zeroizing<Vec<u8>> {
        self.clock.end();
        std::mem::take(&mut self.outputs)
    }
}
