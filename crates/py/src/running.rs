//! Work on a thread of its own. The thread that called waits without the interpreter's lock,
//! answers signals, and tells what happens to Python: no other thread ever enters the interpreter.

use crate::errors::raised;
use hushwire::{
    Fault,
    job::{Event, Observer},
};
use pyo3::prelude::*;
use std::{
    collections::VecDeque,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::{
        Arc, Mutex, PoisonError,
        mpsc::{self, Receiver, RecvTimeoutError},
    },
    thread,
    time::{Duration, Instant},
};

/// LOCAL: how often the waiting thread looks for signals and events.
const TICK: Duration = Duration::from_millis(40);
/// LOCAL: how long a run may take to end once it is cancelled, before its thread is left alone.
const GRACE: Duration = Duration::from_millis(200);
/// LOCAL: the stack of the thread, which reads and plans queries.
const STACK: usize = 16 << 20;
/// LOCAL: events that wait to be told; older ones give way.
const MOST_EVENTS: usize = 4096;

/// Events of a run, until the thread that waits tells Python.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<VecDeque<Event>>>);

impl Events {
    /// An observer that keeps events here.
    pub(crate) fn observer(&self) -> Observer {
        let events = self.clone();
        Arc::new(move |event| {
            if matches!(event, Event::Progress(..) | Event::Phase(_) | Event::Note(_) | Event::Connected) {
                let mut waiting = events.0.lock().unwrap_or_else(PoisonError::into_inner);
                // A run has thousands of steps, and the last count is the one that matters.
                if let (Event::Progress(..), Some(Event::Progress(..))) = (&event, waiting.back()) {
                    waiting.pop_back();
                }
                if waiting.len() == MOST_EVENTS {
                    waiting.pop_front();
                }
                waiting.push_back(event);
            }
        })
    }

    fn next(&self) -> Option<Event> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).pop_front()
    }

    /// Calls `told(kind, text, done, whole)` for each event.
    fn tell(&self, py: Python<'_>, told: Option<&Py<PyAny>>) -> PyResult<()> {
        while let Some(event) = self.next() {
            let Some(told) = told else { continue };
            match event {
                Event::Progress(done, whole) => told.call1(py, ("progress", "", done, whole))?,
                Event::Phase(phase) => told.call1(py, ("phase", phase, 0, 0))?,
                Event::Note(note) => told.call1(py, ("note", note, 0, 0))?,
                _ => told.call1(py, ("connected", "", 0, 0))?,
            };
        }
        Ok(())
    }
}

/// Runs work that ends by itself and changes nothing, such as planning: a signal leaves it alone.
///
/// # Errors
/// As [`run`].
pub(crate) fn aside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    run(py, || {}, (&Events::default(), None), work)
}

/// Runs `work` on a thread of its own, and returns its result. A signal calls `cancel`, which
/// ends the run; what does not listen to that is left to end alone, and its result is dropped.
///
/// # Errors
/// The work failed, a signal's handler raised, or `told` did.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    cancel: impl Fn(),
    (events, told): (&Events, Option<&Py<PyAny>>),
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut ended) = mpsc::sync_channel(1);
    let body = move || {
        let panicked = |_| Err(Fault::internal("computing", "a thread panicked"));
        // Nobody waits any more where this fails.
        let _ = sender.send(catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(panicked));
    };
    let thread = thread::Builder::new().name("hushwire".into()).stack_size(STACK).spawn(body);
    let thread = thread.map_err(|e| raised(py, &Fault::internal("starting a thread", e)))?;
    let wait = |ended: &mut Receiver<Result<T, Fault>>| py.detach(move || ended.recv_timeout(TICK));
    loop {
        let got = wait(&mut ended);
        let heard = events.tell(py, told).and_then(|()| py.check_signals());
        match (got, heard) {
            (Ok(result), heard) => {
                let _ = py.detach(move || thread.join());
                heard?;
                return result.map_err(|fault| raised(py, &fault));
            }
            (Err(RecvTimeoutError::Timeout), Ok(())) => {}
            (Err(RecvTimeoutError::Disconnected), _) => {
                return Err(raised(py, &Fault::internal("computing", "the thread ended without a result")));
            }
            (Err(RecvTimeoutError::Timeout), Err(e)) => {
                cancel();
                let since = Instant::now();
                while since.elapsed() < GRACE && matches!(wait(&mut ended), Err(RecvTimeoutError::Timeout)) {}
                return Err(e);
            }
        }
    }
}
