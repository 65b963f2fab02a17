//! The contents of every tick, computed from counts that are the same at both endpoints.

use super::Pipeline;
use crate::{Level, Role, Security, bits::bytes, work::Work};

/// AGREEMENT: the number of chunks between two checks.
pub(crate) const SEGMENT: usize = 16;

/// AGREEMENT: the number of chunks whose choices are sent in one message over a silent extension.
/// Until then the sender holds their blocks, a quarter of the second-level cache of most cores.
/// Each turn costs the time of a message if that is longer than a chunk's.
pub(crate) const GROUP: usize = 4;

/// The parts of one tick's messages.
#[derive(Clone, Copy, Default)]
pub(super) struct TickPlan {
    /// The OTs and message bytes of the next chunk.
    pub(super) chunk: Option<(usize, usize)>,
    /// The step of the running check.
    pub(super) check: Option<usize>,
    /// The number of chunks whose choices are sent, and the bytes of these choices.
    pub(super) choices: Option<(usize, usize)>,
    /// The number of OTs whose payload is sent.
    pub(super) payload: Option<usize>,
}

impl TickPlan {
    fn is_empty(&self) -> bool {
        self.chunk.is_none() && self.check.is_none() && self.choices.is_none() && self.payload.is_none()
    }
}

impl<W: Work, S: Security> Pipeline<'_, W, S> {
    /// Whether `role` sends this step of the check.
    pub(super) fn step_is_from(&self, step: usize, role: Role) -> bool {
        self.end.extension.check_steps()[step].from == role
    }

    /// The bytes of the four parts of this tick's message from `from`.
    pub(super) fn parts(&self, plan: &TickPlan, from: Role) -> [usize; 4] {
        let extension = &self.end.extension;
        let chunk = plan.chunk.filter(|_| extension.speaker() == from).map_or(0, |(_, bytes)| bytes);
        let check = plan.check.filter(|step| self.step_is_from(*step, from));
        let choices = plan.choices.filter(|_| from == Role::Receiver).map_or(0, |(_, bytes)| bytes);
        let payload =
            plan.payload.filter(|_| from == Role::Sender).map_or(0, |len| self.work.payload_bytes(len));
        [chunk, check.map_or(0, |step| extension.check_steps()[step].bytes), choices, payload]
    }

    /// Counts the contents of this tick.
    pub(super) fn account(&mut self, plan: &TickPlan) {
        if let Some((len, _)) = plan.chunk {
            self.next += len;
            self.end.in_segment += 1;
            self.unsaid += usize::from(self.chosen);
        }
        if let Some((chunks, _)) = plan.choices {
            self.unsaid -= chunks;
        }
        if let Some(step) = plan.check {
            self.check = Some(step + 1).filter(|next| *next < self.end.extension.check_steps().len());
            if self.check.is_none() {
                self.verified = self.closed;
            }
        }
        if self.left() == 0 {
            self.end.next = self.base + self.count as u64;
        }
    }

    /// Closes the segment if it is full and the check before it is done.
    pub(super) fn close_segment(&mut self) {
        // A chunk that only one endpoint has made belongs to the next segment at both.
        let apart = self.ahead.is_some() || self.behind.is_some() || self.turned;
        if S::LEVEL == Level::SemiHonest || self.check.is_some() || apart {
            return;
        }
        if !self.end.extension.is_open() {
            self.verified = self.next;
        } else if self.end.in_segment >= SEGMENT || self.close && self.left() == 0 {
            self.end.extension.close_segment();
            self.end.in_segment = 0;
            self.closed = self.next;
            self.check = Some(0);
        }
    }

    /// Finds the next tick that has any contents.
    pub(super) fn plan_tick(&mut self) {
        self.plan = if self.is_silent() { self.plan_turn() } else { self.plan_rows() };
        if self.plan.is_none() {
            self.end.busy = false;
        }
    }

    /// The OTs and message bytes of the next chunk.
    fn next_chunk(&self) -> Option<(usize, usize)> {
        let left = Some(self.left()).filter(|left| *left > 0)?;
        if let Some(ahead) = &self.ahead {
            return Some((ahead.len, ahead.bytes.len()));
        }
        let len = self.end.extension.chunk_len(left);
        Some((len, self.end.extension.chunk_bytes(len)))
    }

    /// If the receiver speaks, everything follows its chunk at a lag that is a constant of the
    /// protocol.
    fn plan_rows(&mut self) -> Option<TickPlan> {
        let steps = self.end.extension.check_steps().len();
        // A segment's first chunk is verified after the whole segment and the steps of its check.
        let checked = if S::LEVEL == Level::Malicious { SEGMENT + steps } else { 0 };
        let lag = checked.max(1) as u64;
        loop {
            let chunk = self.next_chunk();
            let choices = chunk.filter(|_| self.chosen).map(|(len, _)| (1, bytes(len)));
            let due = self.made.front().filter(|made| made.tick + lag == self.now);
            let plan = TickPlan { chunk, check: self.check, choices, payload: due.map(|made| made.len) };
            if !plan.is_empty() {
                return Some(plan);
            }
            if self.made.is_empty() {
                return None;
            }
            self.now += 1;
        }
    }

    /// If the sender speaks, each tick has one speaker.
    fn plan_turn(&self) -> Option<TickPlan> {
        let mut plan = TickPlan::default();
        if self.is_receivers_turn() {
            let ready = self.ready();
            let said = self.made.range(self.known..self.known + ready).map(|made| bytes(made.len)).sum();
            plan.choices = Some((ready, said)).filter(|_| ready > 0);
            plan.check = self.check.filter(|step| self.step_is_from(*step, Role::Receiver));
        } else {
            plan.chunk = self.next_chunk();
            plan.check = self.check.filter(|step| self.step_is_from(*step, Role::Sender));
            plan.payload = self.made.front().filter(|_| self.pays && self.known > 0).map(|made| made.len);
        }
        Some(plan).filter(|plan| !plan.is_empty())
    }

    /// Whether the receiver speaks in the next tick, with its step of a check or with choices.
    /// While chunks are left, it has the turn if it has received one more chunk than it sends
    /// choices for.
    pub(super) fn is_receivers_turn(&self) -> bool {
        let check = self.check.map(|step| self.step_is_from(step, Role::Receiver));
        match (S::LEVEL, self.left() > 0) {
            (Level::SemiHonest, true) => self.unsaid > GROUP,
            (Level::SemiHonest, false) => self.unsaid > 0,
            (Level::Malicious, true) => check == Some(true) && self.end.in_segment > 0 || self.ready() > 0,
            (Level::Malicious, false) => check.unwrap_or(self.ready() > 0),
        }
    }

    /// The number of chunks whose choices the receiver may send.
    fn ready(&self) -> usize {
        let unsaid = self.made.range(self.known..).take(self.unsaid);
        match S::LEVEL {
            // The receiver may not have made the last chunk yet.
            Level::SemiHonest => self.unsaid - usize::from(self.left() > 0).min(self.unsaid),
            Level::Malicious => unsaid.take_while(|made| made.start + made.len <= self.verified).count(),
        }
    }
}
