//! The set-up of a party: the comparison of terms, the set-up of OTs, and the start point of the
//! hash.

use super::{
    SchemeRole, Stats, Terms, YaoParty,
    agree::{DIGEST, TERMS, compare, terms_digest},
    evaluator::Evaluates,
    garbler::Garbles,
};
use crate::{Family, GarbleError, Role, Scheme, SessionNonce, half, prf, three_halves};
use hushwire_block::Block;
use hushwire_machine::{
    Process,
    drive::{Driver, Line, Talk},
    passed_on,
};
use hushwire_ot::{self as ot, Context};
use hushwire_prg::{Prg, Seed};
use std::time::Instant;

/// The set-up of a [`YaoParty`], a [`Machine`](hushwire_machine::drive::Machine).
#[must_use = "take its steps, then finish"]
pub struct Opening {
    role: Role,
    line: Line<'static, Box<dyn SchemeRole + Send>, GarbleError>,
    begun: Instant,
    process: Process,
}

/// The role of a family, after both parties have compared their terms, set up the OTs, and
/// exchanged the start point.
async fn set_up<F: Family + 'static>(
    talk: Talk,
    role: Role,
    context: Context,
    terms: Terms,
    [ot_seed, seed]: [Seed; 2],
) -> Result<Box<dyn SchemeRole + Send>, GarbleError> {
    let (other, open): (_, fn(&_, _, &_) -> _) = match role {
        Role::Garbler => (Role::Evaluator, ot::Opening::sender),
        Role::Evaluator => (Role::Garbler, ot::Opening::receiver),
    };
    let digest = terms_digest(&context, terms, role).to_vec();
    let heard = talk.exchange("Yao terms", digest, DIGEST).await;
    compare(&terms_digest(&context, terms, other), &heard, TERMS)?;
    let mut ots = open(&context.child("yao inputs", 0), terms.ot, &ot_seed)?;
    talk.run(&mut ots).await?;
    // The garbler draws the start point only when the evaluator can no longer make a choice that
    // depends on it.
    let start = "Yao start point";
    if role == Role::Garbler {
        let public = SessionNonce(Prg::new(context.backend, &seed, "yao start point").next_block());
        talk.exchange(start, public.0.0.to_vec(), 0).await;
        Ok(Box::new(Garbles::<F::Garbler>::new(&context, terms, public, &seed, ots.into_sender())))
    } else {
        let mut public = SessionNonce(Block::ZERO);
        public.0.0.copy_from_slice(&talk.exchange(start, vec![], 16).await);
        Ok(Box::new(Evaluates::<F::Evaluator>::new(&context, terms, public, ots.into_receiver())))
    }
}

impl Opening {
    /// See [`YaoParty::open`].
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
        let context = *context;
        let line = Line::new(move |talk| set_up::<F>(talk, role, context, terms, [ot_seed, seed]));
        Opening { role, line, begun: Instant::now(), process: Process::here() }
    }

    /// The party, after the last round.
    ///
    /// # Panics
    /// If rounds are left, or one failed (the caller's bug).
    #[must_use]
    pub fn finish(self) -> YaoParty {
        let stats = Stats { setup: self.begun.elapsed(), ..Stats::default() };
        let (role, side, process) = (self.role, self.line.finish(), self.process);
        YaoParty { role, side, driver: Driver::new(), stats, lost: false, process }
    }
}

passed_on!([] Opening, GarbleError, self => self.line);
