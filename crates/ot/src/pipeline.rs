//! The schedule of one call: chunks, checks, choices and payload, each in its tick.
//!
//! ```text
//! tick           i             i + lag            i + later lag
//! chunk i        made          choices fixed      payload
//! every 16th     segment ends, checked in the next ticks
//! ```
//!
//! Where the sender speaks and there is no payload, the choices of sixteen chunks travel together, a lag after the last of
//! them was made: until then the sender need not wait for its peer.
//!
//! All lags are constants, so that both ends agree on every message without announcing any: a tick's message holds,
//! in this order and as far as they apply, the chunk's message, a step of a check, packed choices, payload. While one
//! end works on chunk i the other works on the payload of an earlier one. In malicious modes nothing that could tell
//! the peer about unverified OTs is sent before their segment is checked.

use std::collections::VecDeque;

use hushwire_block::Block;
use zeroize::ZeroizeOnDrop;

use crate::{
    Level, Machine, OtError, Role, Round, Security, Unverified, Verified,
    bits::bytes,
    end::{End, Made},
    machine::{Guarded, Latch, guarded},
    secret::refit,
    work::Work,
};

/// AGREEMENT: chunks between two checks.
pub(crate) const SEGMENT: usize = 16;

/// AGREEMENT: chunks whose choices travel in one message, where the sender speaks and no payload waits for them. Were
/// there a message a chunk, neither end could be more than a chunk ahead, and each would wait for the other in every
/// tick.
pub(crate) const GROUP: usize = 16;

/// LOCAL: bytes of output from which on they go past the caches; twice the second cache of most cores.
const STREAMED: usize = 4 << 20;

/// The parts of one tick's messages.
#[derive(Clone, Copy, Default)]
struct Plan {
    /// OTs and message bytes of the next chunk.
    chunk: Option<(usize, usize)>,
    /// Step of the check that runs.
    check: Option<usize>,
    /// Chunks whose choices are fixed, and the bytes that say them.
    derandomize: Option<(usize, usize)>,
    /// OTs whose payload is sent.
    payload: Option<usize>,
}

/// Buffers for blocks of chunks, kept for the next ones and wiped at the end.
#[derive(Default, ZeroizeOnDrop)]
pub(crate) struct Spare(Vec<Vec<Block>>);

/// The tick of a call that cannot run.
const LOST: &str = "OT extension";

/// One call of an extension: OTs of one functionality, or a check of what is open.
///
/// An error, or a call that is dropped before its last step, leaves its end without use: every later call of it
/// answers [`OtError::Lost`] in its first step.
#[must_use = "run its steps, then finish"]
pub struct Pipeline<'e, W: Work, S: Security> {
    end: &'e mut End<S>,
    work: W,
    /// The first OT's number.
    base: u64,
    count: usize,
    next: usize,
    now: u64,
    plan: Option<Plan>,
    choice_lag: Option<u64>,
    payload_lag: Option<u64>,
    /// Chunks not delivered yet, oldest first; the first `fixed` of them have their choices fixed.
    made: VecDeque<Made>,
    fixed: usize,
    spare: Spare,
    /// The tick in which the check of the closed segment begins.
    check: Option<u64>,
    /// OTs made when that segment closed, and OTs that are verified.
    closed: usize,
    verified: usize,
    /// Whether the last segment closes with the call.
    close: bool,
    latch: Latch,
}

impl<'e, W: Work, S: Security> Pipeline<'e, W, S> {
    /// `close` asks for a check at the end, whatever the work.
    pub(crate) fn new(end: &'e mut End<S>, mut work: W, close: bool) -> Self {
        work.assert_sizes();
        let steps = end.extension.check_steps().len() as u64;
        let malicious = S::LEVEL == Level::Malicious;
        // A segment's first chunk is checked after the segment and the steps of its check.
        let checked = if malicious { SEGMENT as u64 + steps } else { 0 };
        let choice_lag = work.is_chosen().then(|| match end.extension.speaker() {
            Role::Receiver => 0,
            Role::Sender => checked.max(1),
        });
        let payload_lag = (work.payload_bytes(1) > 0).then(|| checked.max(choice_lag.unwrap_or(0) + 1));
        let opens = payload_lag.is_some() || choice_lag.is_some_and(|lag| lag > 0);
        let lost = core::mem::replace(&mut end.busy, true);
        let (base, count) = (end.next, work.count());
        let streamed = 16 * count >= STREAMED;
        end.extension.stream(streamed && work.place(0, 0).is_some());
        end.hasher.streamed = streamed;
        let mut pipeline = Self {
            end,
            work,
            base,
            count,
            next: 0,
            now: 0,
            plan: None,
            choice_lag,
            payload_lag,
            made: VecDeque::new(),
            fixed: 0,
            spare: Spare::default(),
            check: None,
            closed: 0,
            verified: 0,
            close: close || opens,
            latch: if lost { Latch::lost(LOST) } else { Latch::new() },
        };
        if !lost {
            pipeline.close_segment();
            pipeline.plan_tick();
        }
        pipeline
    }

    /// Ends the segment where it is due and the check before is done; its check begins with the tick `now`.
    fn close_segment(&mut self) {
        if S::LEVEL == Level::SemiHonest || self.check.is_some() {
            return;
        }
        if !self.end.extension.is_open() {
            self.verified = self.next;
        } else if self.end.in_segment >= SEGMENT || self.close && self.next == self.count {
            self.end.extension.close_segment();
            self.end.in_segment = 0;
            self.closed = self.next;
            self.check = Some(self.now);
        }
    }

    /// Finds the next tick in which something happens.
    fn plan_tick(&mut self) {
        self.plan = None;
        loop {
            let mut plan = Plan::default();
            let left = self.count - self.next;
            if left > 0 {
                let len = self.end.extension.chunk_len(left);
                plan.chunk = Some((len, self.end.extension.chunk_bytes(len)));
            }
            plan.check =
                self.check.filter(|begin| *begin <= self.now).map(|begin| (self.now - begin) as usize);
            plan.derandomize = match (self.choice_lag, plan.chunk) {
                (Some(0), chunk) => chunk.map(|(len, _)| (1, bytes(len))),
                _ => self.group_due(),
            };
            plan.payload = self.due(self.payload_lag, self.made.front());
            if plan.chunk.is_some()
                || plan.check.is_some()
                || plan.derandomize.is_some()
                || plan.payload.is_some()
            {
                self.plan = Some(plan);
                return;
            }
            if self.made.is_empty() && self.check.is_none() {
                self.end.busy = false;
                return;
            }
            self.now += 1;
        }
    }

    /// The number of OTs in `made`, if its tick and this lag make now.
    fn due(&self, lag: Option<u64>, made: Option<&Made>) -> Option<usize> {
        made.filter(|made| lag.is_some_and(|lag| made.tick + lag == self.now)).map(|made| made.len)
    }

    /// The chunks whose choices are due now, and the bytes of these: a group, when its last chunk was made a lag ago.
    fn group_due(&self) -> Option<(usize, usize)> {
        let most = if self.payload_lag.is_some() { 1 } else { GROUP };
        let waiting = self.made.len() - self.fixed;
        let whole = waiting >= most || self.next == self.count;
        let group = self.made.range(self.fixed..self.fixed + waiting.min(most));
        self.due(self.choice_lag, group.clone().next_back().filter(|_| whole))?;
        Some((group.len(), group.map(|made| bytes(made.len)).sum()))
    }

    fn me(&self) -> Role {
        self.end.extension.role()
    }

    /// Whether this end sends the messages of chunks.
    pub(crate) fn speaks(&self) -> bool {
        self.end.extension.speaker() == self.me()
    }

    /// The bytes of the four parts of this tick's message from `from`.
    fn parts(&self, plan: &Plan, from: Role) -> [usize; 4] {
        let extension = &self.end.extension;
        let chunk = plan.chunk.filter(|_| extension.speaker() == from).map_or(0, |(_, bytes)| bytes);
        let check = plan.check.map(|step| extension.check_steps()[step]).filter(|step| step.from == from);
        let derandomize = plan.derandomize.filter(|_| from == Role::Receiver).map_or(0, |(_, bytes)| bytes);
        let payload =
            plan.payload.filter(|_| from == Role::Sender).map_or(0, |len| self.work.payload_bytes(len));
        [chunk, check.map_or(0, |step| step.bytes), derandomize, payload]
    }

    /// Makes the next chunk, with one of the messages empty.
    fn make(&mut self, len: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        let mut made = Made {
            first: self.base + self.next as u64,
            start: self.next,
            len,
            tick: self.now,
            blocks: Vec::new(),
            bits: Vec::new(),
        };
        let blocks = match self.work.place(self.next, len) {
            Some(blocks) => blocks,
            None => {
                made.blocks = self.spare.0.pop().unwrap_or_default();
                refit(&mut made.blocks, len);
                &mut made.blocks[..]
            }
        };
        self.end.extension.chunk(heard, said, blocks)?;
        self.end.in_segment += 1;
        self.next += len;
        if self.choice_lag.is_none() || self.me() == Role::Receiver {
            self.work.take(&mut self.end.hasher, &mut made, None);
        }
        self.made.push_back(made);
        if self.choice_lag.is_none() {
            self.fixed += 1;
            self.pop();
        }
        Ok(())
    }

    /// The receiver says the choices of the oldest `chunks` whose are not fixed.
    fn say_choices(&mut self, chunks: usize, mut said: &mut [u8]) {
        for _ in 0..chunks {
            if self.choice_lag != Some(0) {
                self.assert_verified(self.fixed);
            }
            let bits = &self.made[self.fixed].bits;
            let (now, rest) = said.split_at_mut(bits.len());
            now.copy_from_slice(bits);
            said = rest;
            self.go_on();
        }
    }

    /// The sender hears them.
    fn hear_choices(&mut self, chunks: usize, mut heard: &[u8]) {
        for _ in 0..chunks {
            let made = &mut self.made[self.fixed];
            let (now, rest) = heard.split_at(bytes(made.len));
            self.work.take(&mut self.end.hasher, made, Some(now));
            heard = rest;
            self.go_on();
        }
    }

    /// The oldest chunk whose choices were not fixed has them fixed.
    fn go_on(&mut self) {
        self.fixed += 1;
        if self.payload_lag.is_none() {
            self.pop();
        }
    }

    /// Nothing is opened before it is verified.
    fn assert_verified(&self, i: usize) {
        let made = &self.made[i];
        let verified = S::LEVEL == Level::SemiHonest || made.start + made.len <= self.verified;
        assert!(verified, "the schedule opens OTs before they are verified");
    }

    /// The oldest chunk is delivered; its buffer is kept.
    fn pop(&mut self) {
        if let Some(mut made) = self.made.pop_front() {
            self.fixed -= 1;
            if !made.blocks.is_empty() {
                self.spare.0.push(core::mem::take(&mut made.blocks));
            }
        }
    }

    /// The outputs of the call, unverified.
    ///
    /// # Panics
    /// If steps are left, or one failed (the caller's bug).
    pub fn finish(self) -> Unverified<W, S> {
        assert!(self.round(0).is_none(), "finish comes after the last step");
        self.end.epochs.wrap(self.work)
    }

    /// Proof that all is verified that this end ever made, of a call that closes.
    pub(crate) fn proof(self) -> Verified {
        self.assert_done();
        self.end.epochs.pass()
    }

    /// The outputs of a call that ends with its check.
    pub(crate) fn into_verified(self) -> W {
        self.assert_done();
        self.work
    }

    fn assert_done(&self) {
        assert!(self.round(0).is_none(), "finish comes after the last step");
        let open = S::LEVEL == Level::Malicious && self.end.extension.is_open();
        assert!(!open, "the last segment was closed and checked");
    }
}

guarded!([W: Work, S: Security] Pipeline<'_, W, S>);

impl<W: Work, S: Security> Guarded for Pipeline<'_, W, S> {
    fn exchange(&self) -> Option<Round> {
        let plan = self.plan.as_ref()?;
        let name = match plan.check {
            Some(step) => self.end.extension.check_steps()[step].name,
            None if plan.chunk.is_some() => "OT extension",
            None => "OT choices and payload",
        };
        let sum = |from| self.parts(plan, from).iter().sum();
        Some(Round { name, out: sum(self.me()), into: sum(self.me().other()) })
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), OtError> {
        let Some(plan) = self.plan else { return Ok(()) };
        let me = self.me();
        let [chunk, check, derandomize, _] = self.parts(&plan, me);
        let (chunk, out) = out.split_at_mut(chunk);
        let (check, out) = out.split_at_mut(check);
        let (derandomize, payload) = out.split_at_mut(derandomize);
        if let Some((len, _)) = plan.chunk.filter(|_| self.end.extension.speaker() == me) {
            self.make(len, &[], chunk)?;
        }
        if let Some(step) = plan.check.filter(|step| self.end.extension.check_steps()[*step].from == me) {
            self.end.extension.check(step, &[], check)?;
        }
        if let Some((chunks, _)) = plan.derandomize.filter(|_| me == Role::Receiver) {
            self.say_choices(chunks, derandomize);
        }
        if plan.payload.is_some() && me == Role::Sender {
            self.assert_verified(0);
            self.work.write_payload(&mut self.end.hasher, &self.made[0], payload);
            self.pop();
        }
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        let Some(plan) = self.plan else { return Ok(()) };
        let me = self.me();
        let [chunk, check, derandomize, _] = self.parts(&plan, me.other());
        let (chunk, message) = message.split_at(chunk);
        let (check, message) = message.split_at(check);
        let (derandomize, payload) = message.split_at(derandomize);
        if let Some((len, _)) = plan.chunk.filter(|_| self.end.extension.speaker() != me) {
            self.make(len, chunk, &mut [])?;
        }
        if let Some(step) = plan.check {
            if self.end.extension.check_steps()[step].from != me {
                self.end.extension.check(step, check, &mut [])?;
            }
            if step + 1 == self.end.extension.check_steps().len() {
                self.check = None;
                self.verified = self.closed;
            }
        }
        if let Some((chunks, _)) = plan.derandomize.filter(|_| me == Role::Sender) {
            self.hear_choices(chunks, derandomize);
        }
        if plan.payload.is_some() && me == Role::Receiver {
            self.work.read_payload(&self.end.hasher, &mut self.made[0], payload);
            self.pop();
        }
        self.now += 1;
        if self.next == self.count {
            self.end.next = self.base + self.count as u64;
        }
        self.close_segment();
        self.plan_tick();
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}

#[cfg(test)]
#[path = "pipeline_tests.rs"]
mod tests;
