//! Protocols that are written as in papers, and machines made of them.
//!
//! ```text
//! async fn ── sends its messages ─► a round: write to and read from every slot ─► receives theirs
//! ```
//!
//! A protocol is an `async` function that sends and receives messages through a [`Talk`]. A
//! [`Line`] polls it a round at a time, and is a [`Machine`]. The function awaits nothing but the
//! next messages, so there is no executor and no waker.

use crate::locks::lock;
use crate::{
    Cost,
    driver::Buffers,
    machine::{Exchanged, Gathered, Machine, Message, Round},
    misstep::Misstep,
};
use hushwire_block::Buffer;
use std::{
    future::poll_fn,
    pin::Pin,
    sync::{Arc, Mutex},
    task::{Context, Poll, Waker},
};

/// The messages between a line and its machine.
#[derive(Default)]
struct Post {
    asked: Option<Asked>,
    /// The messages of a round that has passed.
    back: Option<Asked>,
    /// The buffers of inner machines that are done: on all slots, and on one.
    spare: [Buffers; 2],
}

/// A round that a line waits for, with the messages that it sends. After the round, it has the
/// messages that came.
enum Asked {
    /// A message on the only slot. The received message takes the place of the one that was sent,
    /// since fresh pages cost more than a copy.
    One(Round, Vec<u8>),
    /// The same in a buffer that is not cleared when it grows again.
    Kept(Round, Buffer),
    /// A message on every slot.
    Each(Vec<Round>, Vec<Vec<u8>>),
    /// The round of an inner machine, on all slots or on one.
    Within(Buffers, Option<usize>),
    /// A message on the only slot, which is not made before it is asked for.
    Ready(Round),
}

impl Asked {
    fn round(&self, slot: usize) -> Round {
        match self {
            Self::One(round, _) | Self::Kept(round, _) | Self::Ready(round) => *round,
            Self::Each(rounds, _) => rounds[slot],
            Self::Within(buffers, None) => buffers.round(slot),
            Self::Within(buffers, Some(one)) if *one == slot => buffers.round(0),
            Self::Within(buffers, _) => Round::even(buffers.round(0).name, 0),
        }
    }

    fn said(&self, slot: usize) -> &[u8] {
        match self {
            Self::One(_, message) => message,
            Self::Kept(_, message) => message,
            Self::Each(_, messages) => &messages[slot],
            Self::Within(buffers, None) => buffers.said(slot),
            Self::Within(buffers, Some(one)) if *one == slot => buffers.said(0),
            Self::Within(..) | Self::Ready(_) => &[],
        }
    }

    /// Passes on a slot's message in its buffer, if it has one.
    fn hand(&mut self, slot: usize, out: &mut Buffer, bytes: usize) {
        match self {
            Self::Kept(_, message) if bytes > 0 => std::mem::swap(out, message),
            Self::Within(buffers, None) => buffers.lend(slot, out),
            Self::Within(buffers, Some(one)) if *one == slot => buffers.lend(0, out),
            _ => {
                out.reserve_len(bytes);
                out[..bytes].copy_from_slice(self.said(slot));
            }
        }
    }

    fn hear(&mut self, slot: usize, message: &Exchanged<'_>) {
        let heard = message.heard;
        let place = match self {
            Self::One(_, message) => message,
            Self::Each(_, messages) => &mut messages[slot],
            Self::Kept(_, message) => {
                message.set_len(heard.len());
                return message.copy_from_slice(heard);
            }
            Self::Within(buffers, None) => return buffers.hear(slot, message),
            Self::Within(buffers, Some(one)) if *one == slot => return buffers.hear(0, message),
            Self::Within(..) | Self::Ready(_) => return,
        };
        place.clear();
        place.extend_from_slice(heard);
    }

    /// As [`Asked::hear`], for messages in buffers. It keeps a buffer if it has another in
    /// exchange.
    fn keep(&mut self, slot: usize, own: &mut Message, heard: &mut Buffer) {
        match self {
            // A round without a received message returns no buffer.
            Self::Kept(round, message) => {
                if round.into > 0 {
                    std::mem::swap(message, heard);
                }
                message.set_len(round.into);
            }
            Self::Within(buffers, None) => buffers.keep(slot, own, heard),
            Self::Within(buffers, Some(one)) if *one == slot => buffers.keep(0, own, heard),
            _ => {
                let heard = &heard[..own.comes()];
                self.hear(slot, &Exchanged::heard(heard));
            }
        }
    }
}

/// The line's access to its messages, on one slot or more.
///
/// Buffers are reused: a message is passed by value, and the received message is returned in the
/// same memory.
pub struct Talk {
    post: Arc<Mutex<Post>>,
    slots: usize,
}

impl Talk {
    /// The number of slots.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Runs one round of a line with one slot: sends `out` and receives `into` bytes. If both are
    /// empty, there is no round.
    ///
    /// # Panics
    /// If the line has more than one slot (the caller's bug).
    pub async fn exchange(&self, name: &'static str, out: Vec<u8>, into: usize) -> Vec<u8> {
        assert_eq!(self.slots, 1, "a message for each slot");
        if out.is_empty() && into == 0 {
            return out;
        }
        let round = Round { name, out: out.len(), into };
        match self.pass(Asked::One(round, out)).await {
            Asked::One(_, heard) => heard,
            _ => Vec::new(),
        }
    }

    /// Declares the next round of a line with one slot, and waits until its message is asked for. A
    /// message that takes long to compute is thus not made earlier. The same round must follow,
    /// with a message of `out` bytes.
    ///
    /// # Panics
    /// If the line has more than one slot (the caller's bug).
    pub async fn ready(&self, name: &'static str, out: usize, into: usize) {
        assert_eq!(self.slots, 1, "a message for each slot");
        if out > 0 {
            self.pass(Asked::Ready(Round { name, out, into })).await;
        }
    }

    /// As [`Talk::exchange`], in a [`Buffer`] for long messages. A buffer that shrinks and grows
    /// again is not cleared.
    ///
    /// # Panics
    /// As in [`Talk::exchange`].
    pub async fn exchange_in(&self, name: &'static str, out: Buffer, into: usize) -> Buffer {
        assert_eq!(self.slots, 1, "a message for each slot");
        if out.is_empty() && into == 0 {
            return out;
        }
        let round = Round { name, out: out.len(), into };
        match self.pass(Asked::Kept(round, out)).await {
            Asked::Kept(_, heard) => heard,
            _ => Buffer::new(),
        }
    }

    /// Runs one round, with a message to each slot, and one of `into[slot]` bytes from each.
    ///
    /// # Panics
    /// If the number of either is not that of the line's slots (the caller's bug).
    pub async fn exchange_all(&self, name: &'static str, out: Vec<Vec<u8>>, into: &[usize]) -> Vec<Vec<u8>> {
        assert!(out.len() == self.slots && into.len() == self.slots, "a message for each slot");
        let rounds = out.iter().zip(into).map(|(out, into)| Round { name, out: out.len(), into: *into });
        match self.pass(Asked::Each(rounds.collect(), out)).await {
            Asked::Each(_, heard) => heard,
            _ => Vec::new(),
        }
    }

    /// Runs a machine with the same number of slots to its end, as a part of this line.
    ///
    /// # Errors
    /// The machine failed.
    ///
    /// # Panics
    /// If the machine's number of slots differs from the line's (the caller's bug).
    pub async fn run<M: Machine + ?Sized>(&self, machine: &mut M) -> Result<(), M::Error> {
        self.within(machine, None).await
    }

    /// As [`Talk::run`], for a machine with one slot, on this slot of the line.
    ///
    /// # Errors
    /// The machine failed.
    ///
    /// # Panics
    /// If the machine has more than one slot, or the line does not have this one (the caller's
    /// bug).
    pub async fn run_on<M: Machine + ?Sized>(&self, slot: usize, machine: &mut M) -> Result<(), M::Error> {
        assert!(slot < self.slots, "a slot of the line's");
        self.within(machine, Some(slot)).await
    }

    async fn within<M: Machine + ?Sized>(&self, machine: &mut M, on: Option<usize>) -> Result<(), M::Error> {
        let spare = usize::from(on.is_some());
        let mut buffers = std::mem::take(&mut lock(&self.post).spare[spare]);
        let mut absorb = false;
        buffers.fit(machine, if on.is_some() { 1 } else { self.slots });
        while buffers.advance(machine, absorb)? {
            absorb = true;
            if let Asked::Within(back, _) = self.pass(Asked::Within(buffers, on)).await {
                buffers = back;
                buffers.returned();
            } else {
                return Ok(());
            }
        }
        lock(&self.post).spare[spare] = buffers;
        Ok(())
    }

    /// Waits for the round's messages.
    async fn pass(&self, asked: Asked) -> Asked {
        lock(&self.post).asked = Some(asked);
        poll_fn(|_| lock(&self.post).back.take().map_or(Poll::Pending, Poll::Ready)).await
    }
}

/// A protocol as a machine.
///
/// Run it under any driver, then call [`finish`](Line::finish). It enforces the gate's rules as
/// other machines do: exact lengths, calls in turn, nothing after an error.
#[must_use = "take its steps, then finish"]
pub struct Line<'a, T, E> {
    post: Arc<Mutex<Post>>,
    slots: usize,
    /// The number of slots of this round that were written.
    written: usize,
    state: State<'a, T, E>,
    cost: Option<Declared<'a>>,
}

type Declared<'a> = Box<dyn Fn() -> Option<Cost> + Send + 'a>;

type LineFuture<'a, T, E> = Pin<Box<dyn Future<Output = Result<T, E>> + Send + 'a>>;

enum State<'a, T, E> {
    Runs(LineFuture<'a, T, E>),
    Done(T),
    /// The step at which the line failed, and the error until a step reports it. SECURITY: this is
    /// final.
    Lost(&'static str, Option<E>),
}

impl<'a, T, E: From<Misstep>> Line<'a, T, E> {
    /// Makes a machine of a protocol on one slot, and runs it up to its first message. An error
    /// before that is reported by the first step.
    pub fn new<F>(protocol: impl FnOnce(Talk) -> F) -> Self
    where
        F: Future<Output = Result<T, E>> + Send + 'a,
    {
        Self::over(1, protocol)
    }

    /// The same on `slots` slots.
    pub fn over<F>(slots: usize, protocol: impl FnOnce(Talk) -> F) -> Self
    where
        F: Future<Output = Result<T, E>> + Send + 'a,
    {
        let post = Arc::<Mutex<Post>>::default();
        let state = State::Runs(Box::pin(protocol(Talk { post: post.clone(), slots })));
        let mut line = Line { post, slots, written: 0, state, cost: None };
        line.go_on("the beginning");
        line
    }

    /// Declares a cost.
    pub fn costing(self, cost: Cost) -> Self {
        self.costing_by(move || Some(cost))
    }

    /// Declares a cost that is computed on demand.
    pub fn costing_by(self, cost: impl Fn() -> Option<Cost> + Send + 'a) -> Self {
        Line { cost: Some(Box::new(cost)), ..self }
    }

    /// The result, once no round remains.
    ///
    /// # Panics
    /// If rounds remain, or one failed (the caller's bug).
    #[must_use]
    pub fn finish(self) -> T {
        match self.state {
            State::Done(result) => result,
            State::Runs(_) | State::Lost(..) => panic!("finish comes after the last round"),
        }
    }

    /// The result, if there is one.
    #[must_use]
    pub fn result(&self) -> Option<&T> {
        match &self.state {
            State::Done(result) => Some(result),
            State::Runs(_) | State::Lost(..) => None,
        }
    }

    /// Whether a step failed.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self.state, State::Lost(..))
    }

    /// Continues to the next round or the end; `step` is the step in progress.
    fn go_on(&mut self, step: &'static str) {
        self.written = 0;
        // The line is lost while the function runs, so that a panic is final.
        self.state = match std::mem::replace(&mut self.state, State::Lost(step, None)) {
            State::Runs(mut protocol) => {
                match protocol.as_mut().poll(&mut Context::from_waker(Waker::noop())) {
                    Poll::Pending => State::Runs(protocol),
                    Poll::Ready(Ok(result)) => State::Done(result),
                    Poll::Ready(Err(e)) => State::Lost(step, Some(e)),
                }
            }
            state => state,
        };
    }

    fn lose<X>(&mut self, step: &'static str, fault: Misstep) -> Result<X, E> {
        self.state = State::Lost(step, None);
        Err(fault.into())
    }

    /// Checks that a message of `found` bytes may be written to a slot. No message follows the last
    /// round.
    fn begin(&mut self, slot: usize, found: usize) -> Result<bool, E> {
        if !self.runs()? {
            let fault = Misstep::Buffer { step: AFTER, found, expected: 0 };
            return if found == 0 { Ok(false) } else { self.lose(AFTER, fault) };
        }
        let in_turn = slot == self.written && slot < self.slots;
        let Some(Round { name: step, out: expected, .. }) = self.round(if in_turn { slot } else { 0 }) else {
            return Ok(false);
        };
        if !in_turn {
            return self.lose(step, Misstep::Lost { step });
        }
        if found != expected {
            return self.lose(step, Misstep::Buffer { step, found, expected });
        }
        self.make(step)?;
        Ok(true)
    }

    /// Makes the line compute the message that it has declared as ready.
    fn make(&mut self, step: &'static str) -> Result<(), E> {
        let declared = {
            let Post { asked, back, .. } = &mut *lock(&self.post);
            let Some(Asked::Ready(round)) = *asked else { return Ok(()) };
            *back = asked.take();
            round
        };
        self.go_on(step);
        self.runs()?;
        assert_eq!(self.round(0), Some(declared), "the round that was declared");
        Ok(())
    }

    /// Continues with a round's messages. An error of the protocol ends this step.
    fn answer(&mut self, asked: Asked) -> Result<(), E> {
        let step = asked.round(0).name;
        lock(&self.post).back = Some(asked);
        self.go_on(step);
        self.runs().map(|_| ())
    }

    /// Whether a round is in progress. If the line is lost, returns its error.
    fn runs(&mut self) -> Result<bool, E> {
        match &mut self.state {
            State::Runs(_) => Ok(true),
            State::Done(_) => Ok(false),
            State::Lost(step, e) => Err(e.take().unwrap_or(Misstep::Lost { step }.into())),
        }
    }
}

/// The name of the step for a call after the last round.
const AFTER: &str = "after the last step";

impl<T, E: From<Misstep>> Machine for Line<'_, T, E> {
    type Error = E;

    fn slots(&self) -> usize {
        self.slots
    }

    fn round(&self, slot: usize) -> Option<Round> {
        match &self.state {
            State::Done(_) => None,
            // A round is returned, so that the line does not look done.
            State::Lost(step, _) => Some(Round::even(step, 0)),
            State::Runs(_) => lock(&self.post).asked.as_ref().map(|asked| asked.round(slot)),
        }
    }

    fn write(&mut self, slot: usize, out: &mut [u8]) -> Result<(), E> {
        if self.begin(slot, out.len())? {
            if let Some(asked) = &lock(&self.post).asked {
                out.copy_from_slice(asked.said(slot));
            }
            self.written += 1;
        }
        Ok(())
    }

    fn hand(&mut self, slot: usize, out: &mut Buffer, bytes: usize) -> Result<(), E> {
        if self.begin(slot, bytes)? {
            if let Some(asked) = &mut lock(&self.post).asked {
                asked.hand(slot, out, bytes);
            }
            self.written += 1;
        }
        Ok(())
    }

    fn read(&mut self, messages: &[Exchanged<'_>]) -> Result<(), E> {
        if !self.runs()? {
            let found = messages.iter().map(|message| message.heard.len()).sum();
            let fault = if messages.len() == self.slots {
                Misstep::Message { step: AFTER, found, expected: 0 }
            } else {
                Misstep::Buffer { step: AFTER, found: messages.len(), expected: self.slots }
            };
            let is_well = messages.len() == self.slots && found == 0;
            return if is_well { Ok(()) } else { self.lose(AFTER, fault) };
        }
        let Some(mut asked) = lock(&self.post).asked.take() else { return Ok(()) };
        let step = asked.round(0).name;
        // A party with an empty message may skip writing it.
        if (self.written..self.slots).any(|slot| asked.round(slot).out > 0) {
            return self.lose(step, Misstep::Lost { step });
        }
        if messages.len() != self.slots {
            return self.lose(step, Misstep::Buffer { step, found: messages.len(), expected: self.slots });
        }
        for (slot, message) in messages.iter().enumerate() {
            let (found, expected) = (message.heard.len(), asked.round(slot).into);
            if found != expected {
                return self.lose(step, Misstep::Message { step, found, expected });
            }
        }
        messages.iter().enumerate().for_each(|(slot, message)| asked.hear(slot, message));
        self.answer(asked)
    }

    fn take(&mut self, own: &mut [Message], heard: &mut [Buffer]) -> Result<(), E> {
        let fits = |asked: &mut Asked| {
            let comes = |(slot, own): (usize, &Message)| own.comes() == asked.round(slot).into;
            own.len() == self.slots && self.written == self.slots && own.iter().enumerate().all(comes)
        };
        let asked = lock(&self.post).asked.take_if(fits);
        let Some(mut asked) = asked.filter(|_| matches!(self.state, State::Runs(_))) else {
            return self.read(Gathered::of(own, heard).all());
        };
        own.iter_mut().zip(heard).enumerate().for_each(|(slot, (own, heard))| asked.keep(slot, own, heard));
        self.answer(asked)
    }

    fn cost(&self) -> Option<Cost> {
        self.cost.as_ref()?()
    }
}

#[cfg(test)]
mod tests;
