//! The set-up of a party.

use super::{
    Party, Side, Stats, Terms,
    agree::{DIGEST, Digest, TERMS, compare, terms_digest},
    evaluator::Evaluates,
    garbler::Garbles,
    gate::{Gate, Steps},
};
use crate::{Family, GarbleError, Role, Scheme, SessionNonce, half, prf, three_halves};
use hushwire_block::Block;
use hushwire_machine::{Process, drive::Driver};
use hushwire_ot::{self as ot, Context, Exchanged, Machine, Round, SemiHonest};
use hushwire_prg::{Prg, Seed};
use std::time::Instant;

/// The set-up of a [`Party`], a [`Machine`].
#[must_use = "take its steps, then finish"]
pub struct Opening {
    gate: Gate<SetUp>,
    begun: Instant,
    process: Process,
}

/// A side of a family, when its OTs are set up and the start point is known.
type Make = fn(&SetUp, ot::Opening<SemiHonest>, SessionNonce) -> Box<dyn Side + Send>;

fn side<F: Family + 'static>(
    SetUp { role, context, terms, seed, .. }: &SetUp,
    ots: ot::Opening<SemiHonest>,
    public: SessionNonce,
) -> Box<dyn Side + Send> {
    match role {
        Role::Garbler => {
            Box::new(Garbles::<F::Garbler>::new(context, *terms, public, seed, ots.into_sender()))
        }
        Role::Evaluator => {
            Box::new(Evaluates::<F::Evaluator>::new(context, *terms, public, ots.into_receiver()))
        }
    }
}

struct SetUp {
    role: Role,
    context: Context,
    terms: Terms,
    /// Of the OTs, and of the garbling.
    ot_seed: Seed,
    seed: Seed,
    make: Make,
    phase: Phase,
}

/// The round under way.
enum Phase {
    Terms,
    Ots(ot::Opening<SemiHonest>),
    /// The start point, which the garbler sends last.
    Start(ot::Opening<SemiHonest>, SessionNonce),
    Done(Option<Box<dyn Side + Send>>),
}

impl Opening {
    /// As [`Party::open`] says.
    ///
    /// # Errors
    /// The scheme is not private.
    pub fn new(role: Role, context: &Context, terms: Terms, seed: &Seed) -> Result<Self, GarbleError> {
        let of = match terms.scheme {
            Scheme::Prp | Scheme::Mi | Scheme::Mi4 | Scheme::Circ => Opening::of::<half::HalfGates>,
            Scheme::Prf => Opening::of::<prf::PrfOnly>,
            Scheme::ThreeHalves => Opening::of::<three_halves::ThreeHalves>,
            Scheme::PrivacyFree => {
                return Err(GarbleError::Unsupported {
                    scheme: terms.scheme.name(),
                    what: "hides no inputs, so that Yao's protocol cannot run on it",
                    instead: Scheme::PRIVATE.map(Scheme::name).join(", "),
                });
            }
        };
        Ok(of(role, context, terms, seed))
    }

    pub(super) fn of<F: Family + 'static>(role: Role, context: &Context, terms: Terms, seed: &Seed) -> Self {
        let [ot_seed, seed] = ["yao ot", "yao garbler"].map(|label| seed.derive(label, &context.sid.0));
        let (context, make, phase) = (*context, side::<F> as Make, Phase::Terms);
        let set_up = SetUp { role, context, terms, ot_seed, seed, make, phase };
        Opening { gate: Gate::new(set_up), begun: Instant::now(), process: Process::here() }
    }

    /// The party, when there is no round any more.
    ///
    /// # Panics
    /// If rounds are left, or one failed (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Party {
        assert!(self.gate.is_done(), "finish comes after the last round");
        let SetUp { role, phase: Phase::Done(Some(side)), .. } = self.gate.steps else {
            unreachable!("it was done")
        };
        let stats = Stats { setup: self.begun.elapsed(), ..Stats::default() };
        Party { role, side, driver: Driver::new(), stats, lost: false, process: self.process }
    }
}

impl SetUp {
    fn digest(&self, role: Role) -> Digest {
        terms_digest(&self.context, self.terms, role)
    }

    /// The OTs, with a peer that has the same terms.
    fn ots(&self) -> Result<Phase, GarbleError> {
        let part = self.context.child("yao inputs", 0);
        let open = match self.role {
            Role::Garbler => ot::Opening::sender,
            Role::Evaluator => ot::Opening::receiver,
        };
        Ok(Phase::Ots(open(&part, self.terms.ot, &self.ot_seed)?))
    }

    /// The garbler's start point, drawn when nothing that the evaluator chooses can depend on it any more.
    fn start(&self) -> SessionNonce {
        SessionNonce(match self.role {
            Role::Garbler => Prg::new(self.context.backend, &self.seed, "yao start point").next_block(),
            Role::Evaluator => Block::ZERO,
        })
    }
}

impl Steps for SetUp {
    fn round(&self) -> Option<Round> {
        match &self.phase {
            Phase::Terms => Some(Round::even("Yao terms", DIGEST)),
            Phase::Ots(ots) => ots.round(0),
            Phase::Start(..) => {
                let (out, into) = if self.role == Role::Garbler { (16, 0) } else { (0, 16) };
                Some(Round { name: "Yao start point", out, into })
            }
            Phase::Done(_) => None,
        }
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), GarbleError> {
        match &mut self.phase {
            Phase::Terms => out.copy_from_slice(&self.digest(self.role)),
            Phase::Ots(ots) => ots.write(0, out)?,
            Phase::Start(_, point) => out.copy_from_slice(&point.0.0[..out.len()]),
            Phase::Done(_) => {}
        }
        Ok(())
    }

    fn take(&mut self, heard: &[u8]) -> Result<(), GarbleError> {
        self.phase = match std::mem::replace(&mut self.phase, Phase::Done(None)) {
            Phase::Terms => {
                let other = if self.role == Role::Garbler { Role::Evaluator } else { Role::Garbler };
                compare(&self.digest(other), heard, TERMS)?;
                self.ots()?
            }
            Phase::Ots(mut ots) => {
                ots.read(&[Exchanged::heard(heard)])?;
                if ots.round(0).is_some() { Phase::Ots(ots) } else { Phase::Start(ots, self.start()) }
            }
            Phase::Start(ots, mut point) => {
                point.0.0[..heard.len()].copy_from_slice(heard);
                Phase::Done(Some((self.make)(self, ots, point)))
            }
            done @ Phase::Done(_) => done,
        };
        Ok(())
    }
}

impl Machine for Opening {
    type Error = GarbleError;

    fn round(&self, slot: usize) -> Option<Round> {
        self.gate.round(slot)
    }
    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), GarbleError> {
        self.gate.write(slot, out)
    }
    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), GarbleError> {
        self.gate.read(messages)
    }
}
