//! Runs work on its own thread. The calling thread waits without the interpreter's lock, handles
//! signals, and reports events to Python. So no other thread ever enters the interpreter.

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

/// LOCAL: the time between two looks of the waiting thread at signals and events.
const TICK: Duration = Duration::from_millis(40);
/// LOCAL: the time that a cancelled run may take to end, before its thread is left alone.
const GRACE: Duration = Duration::from_millis(200);
/// LOCAL: the stack in bytes of the thread, which reads and plans queries.
const STACK: usize = 16 << 20;
/// LOCAL: the most events that wait to be reported; older ones are dropped.
const MOST_EVENTS: usize = 4096;

/// The events of a run, until the waiting thread reports them to Python.
#[derive(Clone, Default)]
pub(crate) struct Events(Arc<Mutex<VecDeque<Event>>>);

impl Events {
    /// Returns an observer that stores events here.
    pub(crate) fn observer(&self) -> Observer {
        let events = self.clone();
        Arc::new(move |event| {
            if matches!(event, Event::Progress(..) | Event::Phase(_) | Event::Note(_) | Event::Connected) {
                let mut waiting = events.0.lock().unwrap_or_else(PoisonError::into_inner);
                // A run has thousands of steps, and only the last count is of interest.
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

/// Runs work that ends by itself and changes nothing, such as planning. A signal does not cancel
/// it.
///
/// # Errors
/// As for [`run`].
pub(crate) fn aside<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    run(py, || {}, (&Events::default(), None), work)
}

/// Runs `work` on its own thread, and returns its result. A signal calls `cancel`, which ends the
/// run. Work that does not react to it goes on by itself, and its result is dropped.
///
/// # Errors
/// The work failed, or the handler of a signal or `told` raised an exception.
pub(crate) fn run<T: Send + 'static>(
    py: Python<'_>,
    cancel: impl Fn(),
    (events, told): (&Events, Option<&Py<PyAny>>),
    work: impl FnOnce() -> Result<T, Fault> + Send + 'static,
) -> PyResult<T> {
    let (sender, mut ended) = mpsc::sync_channel(1);
    let body = move || {
        let panicked = |_| Err(Fault::internal("computing", "a thread panicked"));
        // This fails if nobody waits any more.
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
