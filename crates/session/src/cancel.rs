//! A handle that ends a run from another thread.
//!
//! A program keeps one clone of a [`Cancel`], and the member's configuration has another. A
//! cancelled run ends in the step that was in progress, and the other members are told that this
//! member was interrupted. A cancellation has no effect once the outputs are about to get their
//! names.

use crate::Fault;
use hushwire_fault::code;
use hushwire_machine::{PartyId, Reason, Watch};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// Ends a run of any kind from another thread. A clone of the handle goes into the member's
/// configuration.
///
/// The run ends within a second, with [`code::CANCELLED`] and the step that was in progress. The
/// other members are told that this member was interrupted. A run that begins later with the same
/// handle ends at once.
#[derive(Clone, Default)]
pub struct Cancel(Arc<State>);

#[derive(Default)]
struct State {
    asked: AtomicBool,
    under_way: Mutex<UnderWay>,
}

#[derive(Default)]
struct UnderWay {
    step: String,
    /// The session; set once all members have met.
    session: Option<(Watch, PartyId)>,
    /// Whether the outputs are about to get their names. Nothing can end the run after that.
    decided: bool,
}

impl Cancel {
    /// Makes the handle of a run that is not cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run in progress. If all members of the run are already done, the run still ends
    /// well.
    pub fn cancel(&self) {
        let under_way = self.lock();
        if under_way.decided {
            return;
        }
        self.0.asked.store(true, Ordering::SeqCst);
        if let Some((watch, me)) = &under_way.session {
            watch.abort(*me, Reason::Interrupted, &under_way.step);
        }
    }

    /// Whether the run was cancelled.
    #[must_use]
    pub fn asked(&self) -> bool {
        self.0.asked.load(Ordering::SeqCst)
    }

    /// The flag, for waits that poll it themselves.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0.asked
    }

    /// Records the step that is in progress from now on.
    pub fn enter(&self, step: &str) {
        step.clone_into(&mut self.lock().step);
    }

    /// Records the session that a cancellation ends.
    ///
    /// # Errors
    /// The run is already cancelled.
    pub fn attend(&self, watch: Option<Watch>, me: PartyId) -> Result<(), Fault> {
        self.lock().session = watch.map(|watch| (watch, me));
        self.check()
    }

    /// Checks that the run goes on.
    ///
    /// # Errors
    /// The run is cancelled.
    pub fn check(&self) -> Result<(), Fault> {
        if self.asked() { Err(self.fault()) } else { Ok(()) }
    }

    /// Marks the run as too late to cancel: other members may have named their outputs.
    pub(crate) fn decide(&self) {
        self.lock().decided = true;
    }

    /// Returns the cancellation's error if the run was cancelled, else `e`.
    pub fn explains(&self, e: Fault) -> Fault {
        if self.asked() { self.fault() } else { e }
    }

    /// The error of a cancelled run, in the step that was in progress.
    #[must_use]
    pub fn fault(&self) -> Fault {
        let step = self.lock().step.clone();
        let step = if step.is_empty() { "starting".to_owned() } else { step };
        Fault::new(code::CANCELLED, step, "the program cancelled the run", "start it again to compute it")
    }

    fn lock(&self) -> MutexGuard<'_, UnderWay> {
        self.0.under_way.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
