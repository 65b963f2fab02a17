//! Yao's protocol: two parties compute a circuit, and learn what they agreed to learn, nothing else.
//!
//! # Functionality
//! [`Party::run`] evaluates a program on any number of instances at once. Each input is one party's, each output goes to
//! either party, both, or neither ([`TwoParty`]); inputs and outputs are bit planes ([`hushwire_circuit::planes`]). The
//! garbler is party 0, the evaluator party 1.
//!
//! # Paper
//! A. Yao (FOCS 1986), as M. Bellare, V. T. Hoang, P. Rogaway (CCS 2012) state it: projective garbling, and OT for
//! the evaluator's inputs. Proof for two semi-honest parties: Y. Lindell, B. Pinkas (J. Cryptology 2009). The garbling
//! is any private [`Scheme`].
//!
//! # Deviations
//! - With free XOR the OTs' Δ is the scheme's: a correlated OT gives the evaluator t = q ⊕ bΔ, which is the label of b
//!   where q is that of 0, and no message beside the choices moves (ALSZ, CCS 2013, section 5).
//! - The garbler's labels are not sent. Both parties draw the label that the evaluator will hold from a public stream,
//!   and the garbler makes it the label of its bit.
//! - Constants cost nothing; outputs are opened by permute bits and signals, one bit each way.
//!
//! # Security
//! Semi-honest parties, κ = 128: the scheme's assumption, and that of semi-honest OT extension ([`hushwire_ot`]). The
//! hash's start point is drawn by the garbler after the OTs are set up. Gates are numbered through the life of a party,
//! so that no tweak of the hash serves twice under one Δ. The evaluator sends signals of the garbler's outputs; permute
//! bits of those never leave the garbler. Neither party notices a peer that garbles or answers wrongly.
//!
//! # Notation
//! Δ: the correlation; q, t: what sender and receiver of a correlated OT hold; S: the public start point; permute bit: the
//! signal of truth value 0; truth value = permute bit ⊕ signal.
//!
//! # Rounds and bytes
//! ```text
//!            garbler                                evaluator
//! open       terms 32                      ◄──►     terms 32
//!            OT extension's set-up         ◄──►     (the evaluator receives)
//!            S 16                           ──►
//! run        digest 32                     ◄──►     digest 32, choices of the OTs
//!            tables, then a permute bit for each
//!            output bit of the evaluator    ──►
//!                                          ◄──      a signal for each output bit of the garbler
//! ```
//! The digest covers program, roles, instances and terms. Where it is that of the run before, the evaluator's choices
//! follow at once and the garbler's digest comes with the tables: one round trip. Where it is new, the choices wait for the
//! garbler's digest, so that both parties hear of a difference before anything else moves. Tables are [`Format`]'s bytes
//! a gate in one stream ([`crate::Send`]); they are evaluated while others are made.
//!
//! # Constant time
//! Secret are the inputs, Δ, labels, permute bits, and outputs towards the outside. Which register a bit is in, and
//! how long a message is, both parties know from the circuit.
//!
//! [`Format`]: crate::Format

mod agree;
mod bits;
mod evaluator;
mod garbler;
mod job;
mod stats;
#[cfg(test)]
mod tests;

pub use stats::Stats;

use crate::{Family, GarbleError, Role, Scheme, half, prf, three_halves};
use agree::{greet, terms_digest};
use hushwire_circuit::{Planes, Program, TwoParty};
use hushwire_ot::{Context, Driver, OtError, Protocol, SemiHonest, open_receiver, open_sender};
use hushwire_prg::Seed;
use hushwire_wire::Channel;
use job::Job;
use std::time::Instant;
use zeroize::Zeroizing;

/// The terms that both parties agree on before they open. AGREEMENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// The scheme of the garbled gates.
    pub scheme: Scheme,
    /// The OT extension for the evaluator's inputs.
    pub ot: Protocol,
}

impl Default for Terms {
    /// MI half gates, and SoftSpoken with trees of 16 leaves: few bytes, and set up within milliseconds.
    fn default() -> Self {
        Terms { scheme: Scheme::default(), ot: Protocol::SoftSpoken4 }
    }
}

/// One party of Yao's protocol in one session: set up once, it runs any number of programs.
///
/// After an error it is of no use: open another, in a new session or under a context of its own.
pub struct Party {
    role: Role,
    side: Box<dyn Side + Send>,
    stats: Stats,
    lost: bool,
}

/// One role under one scheme.
trait Side {
    /// Runs a job: planes of this party's inputs to planes of what it learns.
    fn run(
        &mut self,
        channel: &mut Channel,
        job: &Job<'_>,
        inputs: &[u8],
        stats: &mut Stats,
    ) -> Result<Zeroizing<Vec<u8>>, GarbleError>;
    /// The same with batches of another width.
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn Side + Send>;
}

/// The name of a run in errors.
const STEP: &str = "Yao run";

impl Party {
    /// Sets up OTs and the garbling. `context` is agreed and of no other set-up; `seed` is this party's secret randomness
    /// for this set-up alone.
    ///
    /// # Errors
    /// The scheme is not private, the peer has other terms, or the channel failed.
    pub fn open(
        channel: &mut Channel,
        role: Role,
        context: &Context,
        terms: Terms,
        seed: &Seed,
    ) -> Result<Party, GarbleError> {
        let begun = Instant::now();
        let open = match terms.scheme {
            Scheme::Prp | Scheme::Mi | Scheme::Mi4 | Scheme::Circ => Party::of::<half::HalfGates>,
            Scheme::Prf => Party::of::<prf::PrfOnly>,
            Scheme::ThreeHalves => Party::of::<three_halves::ThreeHalves>,
            Scheme::PrivacyFree => {
                return Err(GarbleError::Unsupported {
                    scheme: terms.scheme.name(),
                    what: "hides no inputs, so that Yao's protocol cannot run on it",
                    instead: Scheme::PRIVATE.map(Scheme::name).join(", "),
                });
            }
        };
        greet(channel, role, |role| terms_digest(context, terms, role))?;
        let mut party = open(channel, role, context, terms, seed)?;
        party.stats.setup = begun.elapsed();
        Ok(party)
    }

    fn of<F: Family + 'static>(
        channel: &mut Channel,
        role: Role,
        context: &Context,
        terms: Terms,
        seed: &Seed,
    ) -> Result<Party, GarbleError> {
        let mut driver = Driver::new();
        let (part, ot_seed) = (context.child("yao inputs", 0), seed.derive("yao ot", &context.sid.0));
        let side: Box<dyn Side + Send> = match role {
            Role::Garbler => {
                let ot = open_sender::<SemiHonest>(&mut driver, channel, &part, terms.ot, &ot_seed)?;
                Box::new(garbler::Garbles::<F::Garbler>::new(channel, context, terms, seed, ot, driver)?)
            }
            Role::Evaluator => {
                let ot = open_receiver::<SemiHonest>(&mut driver, channel, &part, terms.ot, &ot_seed)?;
                Box::new(evaluator::Evaluates::<F::Evaluator>::new(channel, context, terms, ot, driver)?)
            }
        };
        Ok(Party { role, side, stats: Stats::default(), lost: false })
    }

    /// The same, with batches of at most `width` gates. LOCAL: no byte depends on it.
    ///
    /// # Panics
    /// If `width` is 0.
    #[must_use]
    pub fn with_width(self, width: usize) -> Self {
        Party { side: self.side.with_width(width), ..self }
    }

    /// Runs `program` on as many sets of inputs as the planes have instances. `inputs` are the inputs that this party brings, in
    /// the circuit's order; gives the outputs that it learns, likewise.
    ///
    /// # Errors
    /// The peer runs another program, roles or instances, or the channel failed. After an error every later call fails.
    ///
    /// # Panics
    /// If `roles` are of another program, or `inputs` not as wide as they say (the caller's bug).
    pub fn run(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        roles: &TwoParty,
        inputs: &Planes,
    ) -> Result<Planes, GarbleError> {
        let job = Job::new(program, roles, inputs.instances());
        assert_eq!(inputs.width(), job.input_bits(self.role), "planes of this party's inputs");
        if core::mem::replace(&mut self.lost, true) {
            return Err(OtError::Lost { step: STEP }.into());
        }
        let mut outputs = Planes::zeros(job.output_planes(self.role), job.instances);
        outputs.copy_from_slice(&self.side.run(channel, &job, inputs, &mut self.stats)?);
        self.stats.runs += 1;
        self.lost = false;
        Ok(outputs)
    }

    /// The role of this party.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// The party's work so far, over all runs.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }
}
