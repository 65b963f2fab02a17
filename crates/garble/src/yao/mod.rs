//! Yao's protocol: two parties evaluate a circuit, and learn the agreed outputs and nothing else.
//!
//! # Functionality
//! [`YaoParty::run`] evaluates a program on any number of instances at once. Each input belongs to
//! one party; each output goes to either party, to both, or to neither ([`TwoParty`]). Inputs and
//! outputs are bit planes ([`hushwire_circuit::planes`]). The garbler is party 0, the evaluator
//! party 1.
//!
//! # Paper
//! A. Yao (FOCS 1986), as stated by M. Bellare, V. T. Hoang, P. Rogaway (CCS 2012): projective
//! garbling, and OT for the evaluator's inputs. Proof for two semi-honest parties: Y. Lindell, B.
//! Pinkas (J. Cryptology 2009). The garbling is any private [`Scheme`].
//!
//! # Deviations
//! - With free XOR, the Δ of the OTs is that of the scheme. A correlated OT gives the evaluator t =
//!   q ⊕ bΔ, which is the label of b if q is that of 0. No message but the choices is sent (ALSZ,
//!   CCS 2013, section 5).
//! - The garbler's labels are not sent. Both parties draw the label that the evaluator will hold
//!   from a public stream, and the garbler makes it the label of its bit.
//! - Constants cost nothing. Outputs are opened by permute bits and signals, one bit in each
//!   direction.
//!
//! # Security
//! Semi-honest parties, κ = 128, with the assumptions of the scheme and of semi-honest OT extension
//! ([`hushwire_ot`]). The garbler draws the hash's start point after the OTs are set up. Gates are
//! numbered through the life of a party, so that no tweak of the hash is used twice with one Δ. The
//! evaluator sends the signals of the garbler's outputs; the permute bits of those outputs never
//! leave the garbler. Neither party detects a peer that garbles or answers wrongly.
//!
//! # Notation
//! Δ: the correlation; q, t: the sender's and the receiver's values of a correlated OT; S: the
//! public start point; permute bit: the signal of truth value 0; truth value = permute bit ⊕
//! signal.
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
//! The digest covers program, roles, instances and terms. If it equals that of the last run, the
//! evaluator's choices follow at once, and the garbler's digest comes with the tables: one round
//! trip. If it is new, the choices wait for the garbler's digest, so that both parties learn of a
//! difference before anything else is sent. Tables have the bytes of [`Format`] for each gate. They
//! are sent in one-way messages whose lengths follow from the program (`chunks.rs`), and are
//! evaluated while later ones are made. Set-up and run are machines: [`Opening`], [`Run`].
//!
//! # Constant time
//! Inputs, Δ, labels and permute bits are secret, and outputs are secret from outsiders. Both
//! parties know from the circuit which register holds a bit, and how long a message is.
//!
//! [`Format`]: crate::Format

mod agree;
mod bits;
mod chunks;
mod common;
mod evaluator;
mod garbler;
mod job;
mod opening;
mod stats;
#[cfg(test)]
mod tests;

pub use opening::Opening;
pub use stats::Stats;

use crate::{GarbleError, Role, Scheme};
use hushwire_circuit::{Planes, Program, TwoParty};
use hushwire_machine::{
    Channel, Process,
    drive::{Driver, Line},
    passed_on,
};
use hushwire_ot::{Context, OtError, Protocol};
use hushwire_prg::Seed;
use job::Job;
use zeroize::Zeroizing;

/// The terms on which both parties agree before they open. AGREEMENT.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Terms {
    /// The scheme of the garbled gates.
    pub scheme: Scheme,
    /// The OT extension for the evaluator's inputs.
    pub ot: Protocol,
}

impl Default for Terms {
    /// MI half gates, and SoftSpoken with trees of 16 leaves: few bytes, and a set-up within
    /// milliseconds.
    fn default() -> Self {
        Terms { scheme: Scheme::default(), ot: Protocol::SoftSpoken4 }
    }
}

/// One party of Yao's protocol in one session. It is set up once, and runs any number of programs.
///
/// It cannot be used after an error: open another party, in a new session or under a context of its
/// own.
pub struct YaoParty {
    role: Role,
    side: Box<dyn SchemeRole + Send>,
    driver: Driver,
    stats: Stats,
    lost: bool,
    process: Process,
}

/// One role with one scheme.
trait SchemeRole {
    /// Begins a job with the planes of this party's inputs.
    fn begin<'p>(&'p mut self, job: Job<'p>, inputs: &'p [u8], stats: &'p mut Stats) -> Running<'p>;
    /// The same role, with batches of another width.
    fn with_width(self: Box<Self>, width: usize) -> Box<dyn SchemeRole + Send>;
}

/// A run, which ends with the planes of the outputs that this party learns.
type Running<'p> = Line<'p, Zeroizing<Vec<u8>>, GarbleError>;

/// The names of steps in errors.
const STEP: &str = "Yao run";
const TABLES: &str = "garbled tables";
const OUTPUTS: &str = "Yao outputs of the garbler";

impl YaoParty {
    /// Sets up OTs and the garbling: an [`Opening`] over a channel. `context` is agreed, and no
    /// other set-up uses it. `seed` is this party's secret randomness for this set-up alone.
    ///
    /// # Errors
    /// The scheme is not private, the peer has other terms, or the channel failed.
    pub fn open(
        channel: &mut Channel,
        role: Role,
        context: &Context,
        terms: Terms,
        seed: &Seed,
    ) -> Result<YaoParty, GarbleError> {
        let (mut driver, mut opening) = (Driver::new(), Opening::new(role, context, terms, seed)?);
        let peer = channel.from().or(channel.to());
        driver.run(channel, &mut opening).map_err(|e| e.of(peer))?;
        Ok(YaoParty { driver, ..opening.finish() })
    }

    /// The same party, with batches of at most `width` gates. LOCAL: no byte depends on the width.
    ///
    /// # Panics
    /// If `width` is 0.
    #[must_use]
    pub fn with_width(self, width: usize) -> Self {
        YaoParty { side: self.side.with_width(width), ..self }
    }

    /// Runs `program` on all instances of the planes: a [`Run`] over a channel. `inputs` are the
    /// inputs of this party in the circuit's order; the result has the outputs that it learns, in
    /// the same order.
    ///
    /// # Errors
    /// The peer runs another program, other roles or other instances, or the channel failed. After
    /// an error every later call fails.
    ///
    /// # Panics
    /// If `roles` belong to another program, or `inputs` do not have their width (the caller's
    /// bug).
    pub fn run(
        &mut self,
        channel: &mut Channel,
        program: &Program,
        roles: &TwoParty,
        inputs: &Planes,
    ) -> Result<Planes, GarbleError> {
        let mut driver = std::mem::take(&mut self.driver);
        let mut run = self.begin(program, roles, inputs)?;
        let peer = channel.from().or(channel.to());
        driver.run(channel, &mut run).map_err(|e| e.of(peer))?;
        let outputs = run.finish();
        self.driver = driver;
        Ok(outputs)
    }

    /// Begins a run as a [`Machine`](hushwire_machine::drive::Machine). Until it is finished, every
    /// later call fails.
    ///
    /// # Errors
    /// An earlier run failed or was not finished, or this process is a fork of the one that opened
    /// the session.
    ///
    /// # Panics
    /// The same as for [`YaoParty::run`].
    pub fn begin<'p>(
        &'p mut self,
        program: &'p Program,
        roles: &'p TwoParty,
        inputs: &'p Planes,
    ) -> Result<Run<'p>, GarbleError> {
        self.process.check(STEP)?;
        let job = Job::new(program, roles, inputs.instances());
        assert_eq!(inputs.width(), job.input_bits(self.role), "planes of this party's inputs");
        if core::mem::replace(&mut self.lost, true) {
            return Err(OtError::Lost { step: STEP }.into());
        }
        let outputs = Planes::zeros(job.output_planes(self.role), job.instances);
        let line = self.side.begin(job, inputs, &mut self.stats);
        Ok(Run { line, outputs, lost: &mut self.lost })
    }

    /// The role of this party.
    #[must_use]
    pub fn role(&self) -> Role {
        self.role
    }

    /// This party's work so far, over all runs.
    #[must_use]
    pub fn stats(&self) -> Stats {
        self.stats
    }
}

/// One run of a [`YaoParty`], a [`Machine`](hushwire_machine::drive::Machine).
#[must_use = "take its steps, then finish"]
pub struct Run<'p> {
    line: Running<'p>,
    outputs: Planes,
    lost: &'p mut bool,
}

impl Run<'_> {
    /// The outputs that this party learns, after the last round.
    ///
    /// # Panics
    /// If rounds are left, or one failed (the caller's bug).
    #[must_use]
    pub fn finish(mut self) -> Planes {
        self.outputs.copy_from_slice(&self.line.finish());
        *self.lost = false;
        self.outputs
    }
}

passed_on!([] Run<'_>, GarbleError, self => self.line);
