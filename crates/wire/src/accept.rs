//! The listening side of joining a session: takes connections until every peer is here.

use std::{
    io,
    sync::atomic::Ordering,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use crate::{
    Listener,
    connect::{BACKOFF, GRACE, Joining},
    tcp::Guard,
};

/// LOCAL: connections that greet at the same time; more wait in the system's queue.
const GREETERS: usize = 64;
/// LOCAL: the wait for connections that greet, before others are accepted that may be strangers.
const ALL_HERE: Duration = Duration::from_millis(10);

impl Joining<'_> {
    /// Whether to go on accepting; `grace` holds when that ends for a party that gave up.
    fn may_accept(&self, grace: &mut Option<Instant>) -> bool {
        if self.guard.given_up.load(Ordering::SeqCst) {
            return Instant::now() < *grace.get_or_insert_with(|| Instant::now() + GRACE);
        }
        self.guard.check().is_ok()
    }

    pub(crate) fn accept_all<'s, 'e>(&'s self, scope: &'s Scope<'s, 'e>, listener: &'s Listener) {
        let mut grace = None;
        while self.awaited.load(Ordering::SeqCst) > 0 && self.may_accept(&mut grace) {
            if self.greeting.load(Ordering::SeqCst) >= GREETERS {
                thread::sleep(BACKOFF.0);
                continue;
            }
            // Everybody may be here already.
            let (seen, greeting) = (self.moved.epoch(), self.greeting.load(Ordering::SeqCst));
            if greeting >= self.awaited.load(Ordering::SeqCst) && greeting > 0 {
                self.moved.wait_past(seen, ALL_HERE);
                if self.moved.epoch() != seen {
                    continue;
                }
            }
            // Short waits: the last greeting may fill the last slot meanwhile.
            let turn = Guard { given_up: &self.heard_all, ..self.guard }.within(Duration::from_millis(50));
            let stream = match listener.accept(&turn, self.cfg.socket_buffer) {
                Ok(stream) => stream,
                Err(e) => {
                    if e.kind() != io::ErrorKind::TimedOut {
                        self.refuse(format!("no connection could be accepted: {e}"));
                        thread::sleep(BACKOFF.1);
                    }
                    continue;
                }
            };
            self.greeting.fetch_add(1, Ordering::SeqCst);
            let greeter = thread::Builder::new().name("greeter".to_owned()).spawn_scoped(scope, move || {
                match self.greet(stream) {
                    Ok((slot, link)) => self.keep(slot, link),
                    Err((true, e)) => self.give_up(e),
                    Err((false, e)) => self.refuse(e.to_string()),
                }
                self.greeting.fetch_sub(1, Ordering::SeqCst);
            });
            if let Err(e) = greeter {
                self.greeting.fetch_sub(1, Ordering::SeqCst);
                self.refuse(format!("no thread could be started: {e}"));
            }
        }
    }
}
