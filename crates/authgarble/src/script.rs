//! A protocol of many rounds written as one straight line, and run as a [`Machine`].
//!
//! ```text
//! async fn ── exchange(out) ─► the machine's round: write to every slot, read from every slot ─► messages ── goes on
//! ```
//!
//! The function awaits nothing but [`Talk::exchange`], so that each poll runs it from one round to the next; there is no
//! executor, no I/O and no waker. It hears exactly as many bytes as it asked for, and after an error it is gone.

use crate::AuthError;
use hushwire_machine::{
    Cost,
    drive::{Exchanged, Machine, Misstep, Round},
};
use std::{
    future::{Future, poll_fn},
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

/// The messages between the line and its machine.
#[derive(Default)]
struct Post {
    asked: Option<Asked>,
    heard: Option<Vec<Vec<u8>>>,
}

/// A round that the line waits for.
struct Asked {
    name: &'static str,
    out: Vec<Vec<u8>>,
    into: Vec<usize>,
}

/// The line's end of the messages: one party among `n`, with a slot for each peer, in the order of parties.
pub(crate) struct Talk {
    post: Arc<Mutex<Post>>,
    me: usize,
    n: usize,
    threads: usize,
}

impl Talk {
    /// This party.
    pub(crate) fn me(&self) -> usize {
        self.me
    }

    /// LOCAL: threads of this party's own work.
    pub(crate) fn threads(&self) -> usize {
        self.threads
    }

    /// Parties.
    pub(crate) fn n(&self) -> usize {
        self.n
    }

    /// Peers.
    pub(crate) fn slots(&self) -> usize {
        self.n - 1
    }

    /// The party behind a slot.
    pub(crate) fn peer(&self, slot: usize) -> usize {
        slot + usize::from(slot >= self.me)
    }

    /// One round: a message to each slot, and one of so many bytes from each.
    pub(crate) async fn exchange(
        &self,
        name: &'static str,
        out: Vec<Vec<u8>>,
        into: Vec<usize>,
    ) -> Vec<Vec<u8>> {
        assert!(out.len() == self.slots() && into.len() == self.slots(), "a message for each slot");
        lock(&self.post).asked = Some(Asked { name, out, into });
        poll_fn(|_| match lock(&self.post).heard.take() {
            Some(heard) => Poll::Ready(heard),
            None => Poll::Pending,
        })
        .await
    }
}

fn lock(post: &Mutex<Post>) -> MutexGuard<'_, Post> {
    post.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A line under way, behind a machine with a slot for each peer ([`Wiring::Mesh`](hushwire_machine::drive::Wiring::Mesh)).
///
/// Take its steps under any driver, then [`finish`](Script::finish).
#[must_use = "take its steps, then finish"]
pub struct Script<'a, T> {
    post: Arc<Mutex<Post>>,
    slots: usize,
    line: Line<'a, T>,
    cost: Option<Cost>,
}

enum Line<'a, T> {
    Runs(Pin<Box<dyn Future<Output = Result<T, AuthError>> + 'a>>),
    Done(T),
    /// The error, until a step reports it; `name` is the step at which it happened.
    Lost(&'static str, Option<AuthError>),
}

impl<'a, T> Script<'a, T> {
    /// Of party `me` among `n`, which works on so many threads.
    pub(crate) fn new<F>([me, n]: [usize; 2], threads: usize, line: impl FnOnce(Talk) -> F) -> Self
    where
        F: Future<Output = Result<T, AuthError>> + 'a,
    {
        let post = Arc::new(Mutex::new(Post::default()));
        let line = Line::Runs(Box::pin(line(Talk { post: post.clone(), me, n, threads: threads.max(1) })));
        let mut script = Script { post, slots: n - 1, line, cost: None };
        // What fails before the first round is reported by the first step.
        let _: Result<(), Misstep> = script.run("the beginning");
        script
    }

    /// With a declared cost.
    pub(crate) fn costing(self, cost: Cost) -> Self {
        Script { cost: Some(cost), ..self }
    }

    /// The result, when there is no round any more.
    ///
    /// # Panics
    /// If rounds are left, or one failed (the caller's bug).
    #[must_use]
    pub fn finish(self) -> T {
        match self.line {
            Line::Done(result) => result,
            _ => panic!("finish comes after the last round"),
        }
    }

    /// The result, if it has come to one.
    #[must_use]
    pub fn result(&self) -> Option<&T> {
        match &self.line {
            Line::Done(result) => Some(result),
            _ => None,
        }
    }

    /// Whether a step failed.
    #[cfg(test)]
    pub(crate) fn is_lost(&self) -> bool {
        matches!(self.line, Line::Lost(..))
    }

    /// Goes on to the next round or the end.
    fn run(&mut self, name: &'static str) -> Result<(), Misstep> {
        if let Line::Runs(line) = &mut self.line {
            match line.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                Poll::Pending => {}
                Poll::Ready(Ok(result)) => self.line = Line::Done(result),
                Poll::Ready(Err(e)) => self.line = Line::Lost(name, Some(e)),
            }
        }
        Ok(())
    }

    fn lose<E>(&mut self, name: &'static str, e: impl Into<AuthError>) -> Result<E, AuthError> {
        self.line = Line::Lost(name, None);
        Err(e.into())
    }

    /// The error of a line that is lost.
    fn alive(&mut self) -> Result<(), AuthError> {
        match &mut self.line {
            Line::Lost(step, e) => Err(e.take().unwrap_or(Misstep::Lost { step }.into())),
            _ => Ok(()),
        }
    }
}

impl<T> Machine for Script<'_, T> {
    type Error = AuthError;

    fn slots(&self) -> usize {
        self.slots
    }

    fn round(&self, slot: usize) -> Option<Round> {
        match &self.line {
            Line::Done(_) => None,
            // Some round, so that nobody takes it for done.
            Line::Lost(name, _) => Some(Round::even(name, 0)),
            Line::Runs(_) => {
                let post = lock(&self.post);
                let asked = post.asked.as_ref().expect("a line waits for nothing but messages");
                Some(Round { name: asked.name, out: asked.out[slot].len(), into: asked.into[slot] })
            }
        }
    }

    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), AuthError> {
        self.alive()?;
        let fault = {
            let mut post = lock(&self.post);
            let Some(asked) = &mut post.asked else { return Ok(()) };
            let message = &mut asked.out[slot];
            if out.len() == message.len() {
                out.copy_from_slice(message);
                None
            } else {
                let (step, expected) = (asked.name, message.len());
                Some(Misstep::Buffer { step, found: out.len(), expected })
            }
        };
        fault.map_or(Ok(()), |fault| self.lose("a message", fault))
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), AuthError> {
        self.alive()?;
        let Some(mut asked) = lock(&self.post).asked.take() else { return Ok(()) };
        let step = asked.name;
        if messages.len() != self.slots {
            return self.lose(step, Misstep::Buffer { step, found: messages.len(), expected: self.slots });
        }
        for (message, expected) in messages.iter().zip(&asked.into) {
            let found = message.heard.len();
            if found != *expected {
                return self.lose(step, Misstep::Message { step, found, expected: *expected });
            }
        }
        // What came goes where what was sent has been: fresh pages cost more than copies.
        let kept = |(mut old, message): (Vec<u8>, &Exchanged<'_>)| {
            old.clear();
            old.extend_from_slice(message.heard);
            old
        };
        let heard = std::mem::take(&mut asked.out).into_iter().zip(messages).map(kept).collect();
        lock(&self.post).heard = Some(heard);
        self.run(step)?;
        self.alive()
    }

    fn cost(&self) -> Option<Cost> {
        self.cost
    }
}
