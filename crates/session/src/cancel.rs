//! The right to end a run from another thread.

use crate::Fault;
use hushwire_fault::code;
use hushwire_machine::{PartyId, Reason, Watch};
use std::sync::{
    Arc, Mutex, MutexGuard, PoisonError,
    atomic::{AtomicBool, Ordering},
};

/// Ends a run of any kind from another thread: a clone of it goes into the member's configuration.
///
/// The run ends within a second with [`code::CANCELLED`] and the step that was under way, and the
/// other members hear that this one was interrupted. A run that begins later with the same handle
/// ends at once.
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
    /// The session, once all members have met.
    session: Option<(Watch, PartyId)>,
    /// Whether the outputs are about to get their names, which nothing ends any more.
    decided: bool,
}

impl Cancel {
    /// The handle of a run that nobody has cancelled.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Ends the run under way. A run all of whose members are done is past that, and ends well.
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

    /// The flag, for what waits without asking.
    pub(crate) fn flag(&self) -> &AtomicBool {
        &self.0.asked
    }

    /// The step that is under way from now on.
    pub fn enter(&self, step: &str) {
        step.clone_into(&mut self.lock().step);
    }

    /// The session that a cancellation ends.
    ///
    /// # Errors
    /// The run is cancelled already.
    pub fn attend(&self, watch: Option<Watch>, me: PartyId) -> Result<(), Fault> {
        self.lock().session = watch.map(|watch| (watch, me));
        self.check()
    }

    /// Whether the run goes on.
    ///
    /// # Errors
    /// It is cancelled.
    pub fn check(&self) -> Result<(), Fault> {
        if self.asked() { Err(self.fault()) } else { Ok(()) }
    }

    /// From now on the run is past cancelling: others may have named their outputs.
    pub(crate) fn decide(&self) {
        self.lock().decided = true;
    }

    /// The error of the run, which is the cancellation's if there was one.
    pub fn explains(&self, e: Fault) -> Fault {
        if self.asked() { self.fault() } else { e }
    }

    /// The error of a run that was cancelled, in the step that was under way.
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
