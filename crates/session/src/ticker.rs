//! Reports the bytes that move during a run.

use crate::member_config::{Event, Observer};
use hushwire_machine::Meter;
use std::{
    sync::{Arc, Condvar, Mutex, PoisonError},
    thread::{self, JoinHandle},
    time::Duration,
};

/// LOCAL: the interval between reports.
const EVERY: Duration = Duration::from_millis(250);

/// Reports the bytes that meters count to an observer, until it is dropped.
pub(crate) struct Ticker {
    over: Arc<(Mutex<bool>, Condvar)>,
    thread: Option<JoinHandle<()>>,
}

impl Ticker {
    pub(crate) fn start(meters: &[Meter; 2], observer: &Observer) -> Self {
        let over = Arc::new((Mutex::new(false), Condvar::new()));
        let (ends, meters, observer) = (over.clone(), meters.clone(), observer.clone());
        let mut told = None;
        let mut tell = move || {
            let of = meters.each_ref().map(Meter::reading);
            let now = of.iter().fold((0, 0), |(sent, received), reading| {
                (sent + reading.bytes_sent(), received + reading.bytes_received())
            });
            if told != Some(now) {
                told = Some(now);
                observer(Event::Traffic { sent: now.0, received: now.1 });
            }
        };
        let ticks = move || {
            let (flag, rings) = &*ends;
            let mut over = flag.lock().unwrap_or_else(PoisonError::into_inner);
            while !*over {
                over = rings.wait_timeout(over, EVERY).unwrap_or_else(PoisonError::into_inner).0;
                tell();
            }
        };
        // Without this thread, no bytes are reported, and the run goes on.
        let thread = thread::Builder::new().name("traffic".into()).spawn(ticks).ok();
        Self { over, thread }
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        *self.over.0.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.over.1.notify_all();
        if let Some(thread) = self.thread.take() {
            // A panic in the observer ended that thread only.
            drop(thread.join());
        }
    }
}
