//! One call of an extension: chunks, checks, choices and payload, each in its tick. A tick is a
//! place in the schedule of the call. Each tick that has contents is a round.
//!
//! ```text
//! rows        tick i: chunk i and its choices from the receiver; payload a lag behind, from the
//!             sender
//! silent      the sender's ticks: chunk, payload; after four chunks and one more the receiver's:
//!             all four's choices
//! every 16th  a segment ends, checked in the next ticks
//! ```
//!
//! Both endpoints know the message of every tick without announcements ([`plan`]). A message has
//! these parts in this order, if they apply: the chunk's message, a step of a check, packed
//! choices, payload. In malicious modes, no message that could reveal unverified OTs to the peer is
//! sent before their segment is checked.
//!
//! **Waiting.** Over rows the receiver sends more than it receives, and neither endpoint waits.
//! Over a silent extension (the sender speaks) chunks cost time and few bytes, so that an endpoint
//! that waits for the other's last chunk loses the time of a message. The receiver's turn is
//! therefore a chunk late: it sends its choices before it makes the chunk whose message it has just
//! received. The sender makes the next chunk before it waits for these choices. Neither endpoint
//! waits if a message takes less time than a chunk.

use std::collections::VecDeque;

use crate::{
    Level, Machine, OtError, Role, Round, Security, Unverified, Verified,
    bits::bytes,
    end::{ChunkOts, ExtensionEnd},
    machine::{Guarded, Latch, guarded},
    secret::SecretBlocks,
    work::Work,
};

mod plan;
#[cfg(test)]
mod tests;

use plan::TickPlan;
pub(crate) use plan::{GROUP, SEGMENT};

/// LOCAL: the number of bytes of output from which on writes go past the caches; twice the
/// second-level cache of most cores.
const STREAMED: usize = 4 << 20;

/// The message of a chunk that one endpoint has made and the other has not, or not yet.
struct Message {
    /// The number of OTs of the chunk.
    len: usize,
    bytes: Vec<u8>,
}

/// The name of the step in errors of a call that cannot run.
const LOST: &str = "OT extension";
/// The name of the step in errors of a call in a fork.
const CALL: &str = "a call of an OT extension";

/// One call of an extension: OTs of one functionality, or a check of everything that is open.
///
/// An error, or a call that is dropped before its last step, makes the endpoint unusable: every
/// later call answers [`OtError::Lost`] in its first step.
#[must_use = "run its steps, then finish"]
pub struct Pipeline<'e, W: Work, S: Security> {
    end: &'e mut ExtensionEnd<S>,
    work: W,
    /// The number of the first OT.
    base: u64,
    count: usize,
    /// The number of OTs of the chunks whose messages were sent.
    next: usize,
    /// The number of the current tick.
    now: u64,
    /// The contents of the current tick; `None` after the last one.
    plan: Option<TickPlan>,
    /// Whether the receiver brings choices.
    chosen: bool,
    /// Whether the sender sends payload.
    pays: bool,
    /// The chunks that are not delivered yet, oldest first, if there are choices.
    made: VecDeque<ChunkOts>,
    /// The number of chunks of `made` whose choices were sent; they are the oldest ones.
    known: usize,
    /// The number of chunks whose messages were sent and whose choices were not.
    unsaid: usize,
    /// The sender's message of a chunk that it made before the receiver's turn.
    ahead: Option<Message>,
    /// The sender's message of a chunk that the receiver makes after its turn.
    behind: Option<Message>,
    /// Whether the receiver has the turn, or had it in the last tick, and has not made the last
    /// chunk.
    turned: bool,
    /// The next step of the closed segment's check.
    check: Option<usize>,
    /// The number of OTs that were made when that segment was closed.
    closed: usize,
    /// The number of OTs that are verified.
    verified: usize,
    /// Whether the last segment closes with the call.
    close: bool,
    latch: Latch,
    /// Whether this is a fork of the process that opened the endpoint; determined once for each
    /// call.
    forked: bool,
}

impl<'e, W: Work, S: Security> Pipeline<'e, W, S> {
    /// `close` requests a check at the end, whatever the work.
    pub(crate) fn new(end: &'e mut ExtensionEnd<S>, mut work: W, close: bool) -> Self {
        work.assert_sizes();
        let (chosen, pays) = (work.is_chosen(), work.payload_bytes(1) > 0);
        assert!(chosen || !pays, "payload is for choices");
        let opens = pays || chosen && end.extension.speaker() == Role::Sender;
        let lost = core::mem::replace(&mut end.busy, true);
        let (base, count, forked) = (end.next, work.count(), !end.process.is_here());
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
            chosen,
            pays,
            made: VecDeque::new(),
            known: 0,
            unsaid: 0,
            ahead: None,
            behind: None,
            turned: false,
            check: None,
            closed: 0,
            verified: 0,
            close: close || opens,
            latch: if lost { Latch::lost(LOST) } else { Latch::new() },
            forked,
        };
        if !lost {
            pipeline.close_segment();
            pipeline.plan_tick();
        }
        pipeline
    }

    /// Fails in a fork of the process that opened the endpoint.
    fn here(&self) -> Result<(), OtError> {
        if self.forked { Ok(self.end.process.check(CALL)?) } else { Ok(()) }
    }

    fn me(&self) -> Role {
        self.end.extension.role()
    }

    /// Whether this endpoint sends the messages of chunks.
    pub(crate) fn speaks(&self) -> bool {
        self.end.extension.speaker() == self.me()
    }

    /// Whether the sender speaks.
    fn is_silent(&self) -> bool {
        self.end.extension.speaker() == Role::Sender
    }

    /// The number of OTs for which no chunk's message was sent.
    fn left(&self) -> usize {
        self.count - self.next
    }

    /// Makes the chunk of `len` OTs that begins with OT `start` of this call, from the message that
    /// this endpoint heard, or with the message that it says; the other one is empty.
    fn make(&mut self, start: usize, len: usize, heard: &[u8], said: &mut [u8]) -> Result<(), OtError> {
        let mut made = ChunkOts {
            first: self.base + start as u64,
            start,
            len,
            tick: self.now,
            blocks: SecretBlocks::default(),
            bits: Vec::new(),
        };
        let blocks = match self.work.place(start, len) {
            Some(blocks) => blocks,
            None => {
                made.blocks = self.end.spare.pop().unwrap_or_default();
                made.blocks.refit(len);
                &mut made.blocks[..]
            }
        };
        self.end.extension.chunk(heard, said, blocks)?;
        let taken = !self.chosen || self.me() == Role::Receiver;
        if taken {
            self.work.take(&mut self.end.hasher, &mut made, None);
        }
        if taken && !self.pays {
            // The chunk is delivered. The next one is made in the same buffer, which is in the
            // cache.
            self.keep(&mut made);
        }
        if self.chosen {
            self.made.push_back(made);
        }
        Ok(())
    }

    /// At the sender, before it waits for the receiver: makes the next chunk without sending it.
    fn make_ahead(&mut self) -> Result<(), OtError> {
        let len = self.end.extension.chunk_len(self.left());
        let mut message = vec![0; self.end.extension.chunk_bytes(len)];
        self.make(self.next, len, &[], &mut message)?;
        self.ahead = Some(Message { len, bytes: message });
        Ok(())
    }

    /// Makes the chunk that follows a tick over a silent extension. The receiver makes the chunk
    /// whose message it received now or before its turn; the sender makes its next one before it
    /// waits.
    fn take_turns(&mut self, plan: &TickPlan, chunk: &[u8]) -> Result<(), OtError> {
        let waits = self.left() > 0 && self.is_receivers_turn();
        self.turned = waits || plan.chunk.is_none() && self.left() > 0;
        match (plan.chunk, self.me()) {
            (Some((len, _)), Role::Receiver) if waits => {
                self.behind = Some(Message { len, bytes: chunk.to_vec() });
            }
            (Some((len, _)), Role::Receiver) => self.make(self.next - len, len, chunk, &mut [])?,
            (Some(_), Role::Sender) if waits => self.make_ahead()?,
            _ => {}
        }
        if plan.chunk.is_none()
            && let Some(Message { len, bytes }) = self.behind.take()
        {
            self.make(self.next - len, len, &bytes, &mut [])?;
        }
        Ok(())
    }

    /// At the receiver: sends the choices of the oldest `chunks` chunks whose choices were not sent
    /// yet.
    fn say_choices(&mut self, chunks: usize, mut said: &mut [u8]) {
        for _ in 0..chunks {
            if self.is_silent() {
                self.assert_verified(self.known);
            }
            let bits = &self.made[self.known].bits;
            let (now, rest) = said.split_at_mut(bits.len());
            now.copy_from_slice(bits);
            said = rest;
            self.known += 1;
            if !self.pays {
                self.pop();
            }
        }
    }

    /// At the sender: receives choices. They need not be used at once, so that the receiver does
    /// not wait while the sender uses them.
    fn hear_choices(&mut self, chunks: usize, mut heard: &[u8]) {
        for _ in 0..chunks {
            let made = &mut self.made[self.known];
            let (now, rest) = heard.split_at(bytes(made.len));
            made.bits.clear();
            made.bits.extend_from_slice(now);
            heard = rest;
            self.known += 1;
        }
    }

    /// At the sender: turns the oldest chunk's random choices into those of the receiver, and
    /// delivers the chunk if no payload follows.
    fn derandomize(&mut self) {
        let made = &mut self.made[0];
        let bits = core::mem::take(&mut made.bits);
        self.work.take(&mut self.end.hasher, made, Some(&bits));
        if !self.pays {
            self.pop();
        }
    }

    /// Writes the sender's payload of the oldest chunk.
    fn say_payload(&mut self, payload: &mut [u8]) {
        self.assert_verified(0);
        self.derandomize();
        self.work.write_payload(&mut self.end.hasher, &self.made[0], payload);
        self.pop();
    }

    /// Asserts that chunk `i` of `made`, which the caller opens, is verified in malicious modes.
    fn assert_verified(&self, i: usize) {
        let made = &self.made[i];
        let verified = S::LEVEL == Level::SemiHonest || made.start + made.len <= self.verified;
        assert!(verified, "the schedule opens OTs before they are verified");
    }

    /// Removes the oldest chunk, which is delivered.
    fn pop(&mut self) {
        if let Some(mut made) = self.made.pop_front() {
            self.known -= 1;
            self.keep(&mut made);
        }
    }

    /// Keeps a chunk's buffer for the next ones.
    fn keep(&mut self, made: &mut ChunkOts) {
        if !made.blocks.is_empty() {
            self.end.spare.push(core::mem::take(&mut made.blocks));
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

    /// The proof that all OTs that this endpoint ever made are verified, after a call that closes.
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
        self.here()?;
        let Some(plan) = self.plan else { return Ok(()) };
        let me = self.me();
        let [chunk, check, choices, _] = self.parts(&plan, me);
        let (chunk, out) = out.split_at_mut(chunk);
        let (check, out) = out.split_at_mut(check);
        let (choices, payload) = out.split_at_mut(choices);
        if let Some((len, _)) = plan.chunk.filter(|_| self.speaks()) {
            match self.ahead.take() {
                Some(ahead) => chunk.copy_from_slice(&ahead.bytes),
                None => self.make(self.next, len, &[], chunk)?,
            }
        }
        if let Some(step) = plan.check.filter(|step| self.step_is_from(*step, me)) {
            self.end.extension.check(step, &[], check)?;
        }
        if let Some((chunks, _)) = plan.choices.filter(|_| me == Role::Receiver) {
            self.say_choices(chunks, choices);
        }
        if plan.payload.is_some() && me == Role::Sender {
            self.say_payload(payload);
        }
        Ok(())
    }

    fn take(&mut self, message: &[u8]) -> Result<(), OtError> {
        self.here()?;
        let Some(plan) = self.plan else { return Ok(()) };
        let me = self.me();
        let [chunk, check, choices, _] = self.parts(&plan, me.other());
        let (chunk, message) = message.split_at(chunk);
        let (check, message) = message.split_at(check);
        let (choices, payload) = message.split_at(choices);
        let rows = plan.chunk.filter(|_| !self.is_silent() && !self.speaks());
        if let Some((len, _)) = rows {
            self.make(self.next, len, chunk, &mut [])?;
        }
        if let Some(step) = plan.check.filter(|step| !self.step_is_from(*step, me)) {
            self.end.extension.check(step, check, &mut [])?;
        }
        self.account(&plan);
        if let Some((chunks, _)) = plan.choices.filter(|_| me == Role::Sender) {
            self.hear_choices(chunks, choices);
        }
        if plan.payload.is_some() && me == Role::Receiver {
            self.work.read_payload(&self.end.hasher, &mut self.made[0], payload);
            self.pop();
        }
        if me == Role::Sender && !self.pays {
            // One chunk for each chunk that is made, so that no later message is delayed; all
            // chunks if none is left to make.
            let most = if self.left() == 0 { self.known } else { usize::from(plan.chunk.is_some()) };
            for _ in 0..most.min(self.known) {
                self.derandomize();
            }
        }
        if self.is_silent() {
            self.take_turns(&plan, chunk)?;
        }
        self.now += 1;
        self.close_segment();
        self.plan_tick();
        Ok(())
    }

    fn latch(&self) -> &Latch {
        &self.latch
    }
}
