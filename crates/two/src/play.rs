//! Protocols as they are written on paper, and machines made of them.
//!
//! A protocol is an `async` function that says and hears messages through a [`Talk`]; a [`Play`] polls it a round at a time, and is
//! a machine. There is no executor and no waker: a protocol waits for nothing but the next message.

use crate::TwoError;
use hushwire_machine::{
    drive::{Exchanged, Latch, Round},
    gated,
};
use std::{
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    task::{Context, Poll, Waker},
};

#[derive(Default)]
struct Mail {
    /// The round that is asked for, with its message.
    round: Option<Round>,
    out: Vec<u8>,
    heard: Option<Vec<u8>>,
}

/// A protocol's side of its messages.
#[derive(Clone, Default)]
pub(crate) struct Talk(Arc<Mutex<Mail>>);

impl Talk {
    fn mail(&self) -> MutexGuard<'_, Mail> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says `out` and hears `into` bytes. A round in which nobody says anything is none.
    pub(crate) async fn exchange(&self, name: &'static str, out: Vec<u8>, into: usize) -> Vec<u8> {
        if out.is_empty() && into == 0 {
            return vec![];
        }
        {
            let mut mail = self.mail();
            mail.round = Some(Round { name, out: out.len(), into });
            mail.out = out;
        }
        poll_fn(|_| self.mail().heard.take().map_or(Poll::Pending, Poll::Ready)).await
    }
}

type Script<'p, T> = Pin<Box<dyn Future<Output = Result<T, TwoError>> + Send + 'p>>;

/// A protocol as a machine with one slot.
pub(crate) struct Play<'p, T> {
    talk: Talk,
    script: Option<Script<'p, T>>,
    made: Option<T>,
    latch: Latch,
}

impl<'p, T> Play<'p, T> {
    /// Begins a protocol, and runs it up to its first message.
    pub(crate) fn new<F>(begin: impl FnOnce(Talk) -> F) -> Result<Self, TwoError>
    where
        F: Future<Output = Result<T, TwoError>> + Send + 'p,
    {
        let talk = Talk::default();
        let script: Script<'p, T> = Box::pin(begin(talk.clone()));
        let mut play = Play { talk, script: Some(script), made: None, latch: Latch::new() };
        play.go_on()?;
        Ok(play)
    }

    /// The protocol up to its next message, or to its end.
    fn go_on(&mut self) -> Result<(), TwoError> {
        let Some(script) = &mut self.script else { return Ok(()) };
        if let Poll::Ready(made) = script.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
            self.script = None;
            self.made = Some(made?);
        }
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        self.script.as_ref().and_then(|_| self.talk.mail().round)
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), TwoError> {
        out.copy_from_slice(&std::mem::take(&mut self.talk.mail().out));
        Ok(())
    }

    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), TwoError> {
        {
            let mut mail = self.talk.mail();
            mail.round = None;
            mail.heard = Some(message.heard.to_vec());
        }
        self.go_on()
    }

    /// The protocol's result.
    ///
    /// # Panics
    /// If rounds are left (the caller's bug).
    pub(crate) fn finish(self) -> T {
        self.made.expect("the last round was heard")
    }
}

gated!(['p, T] Play<'p, T>, TwoError;);

#[cfg(test)]
mod tests {
    use super::*;
    use hushwire_machine::drive::{Lockstep, Machine};

    fn sum(mine: u8, rounds: usize) -> Play<'static, u8> {
        Play::new(move |talk| async move {
            let mut sum = mine;
            for _ in 0..rounds {
                sum += talk.exchange("sums", vec![sum], 1).await[0];
                talk.exchange("nothing", vec![], 0).await;
            }
            Ok(sum)
        })
        .expect("it begins")
    }

    #[test]
    fn protocols_are_machines() {
        let mut both = [sum(1, 3), sum(2, 3)];
        Lockstep::new().run(&mut both).expect("honest parties");
        assert_eq!(both.map(Play::finish), [12, 12]);
        assert_eq!(sum(7, 0).finish(), 7);
    }

    #[test]
    fn messages_of_other_lengths_end_a_protocol() {
        let mut one = sum(1, 2);
        one.write(0, &mut [0]).expect("its turn");
        assert!(one.read(&[Exchanged::heard(&[1, 2])]).is_err());
        assert!(one.read(&[Exchanged::heard(&[1])]).is_err() && one.round(0).is_some());
    }
}
