//! Inputs of parties and outputs to parties, as machines on the ring that runs against the
//! direction of products.
//!
//! ```text
//! input of party p:   x_p is expanded from the key that p shares with its left neighbour;
//!                     x_{p+2} is zero;
//!                     x_{p+1} = v ⊕ x_p, or v − x_p of words, goes to the right
//! output to party r:  it lacks x_{r+2}, which its left neighbour has as `own`
//! ```

use crate::{Addition, Batch, Role, ShareError, Shares, pool::Scratch};
use hushwire_block::Wiped;
use hushwire_machine::{
    Cost, NetError,
    drive::{Exchanged, Latch, Round},
    gated,
};
use std::ops::Range;

/// An input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Input {
    /// The party that brings it; `None` for an owner outside the parties, whose
    /// [`OwnerInputs`](crate::OwnerInputs) fill its place.
    pub owner: Option<Role>,
    /// The bytes of its value.
    pub bytes: usize,
    /// The group in which it is shared.
    pub addition: Addition,
}

/// An output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Output {
    /// The parties that learn it.
    pub learns: [bool; 3],
    /// The bytes of its value.
    pub bytes: usize,
    /// The group in which it is shared.
    pub addition: Addition,
}

/// The sharing of the parties' inputs, in progress.
#[must_use = "run it, then finish"]
pub struct Sharing {
    shares: Shares,
    out: Wiped<Vec<u8>>,
    from_left: Vec<Range<usize>>,
    done: bool,
    latch: Latch,
}

impl Sharing {
    pub(crate) fn new(batch: &mut Batch, inputs: &[Input], values: &[u8]) -> Result<Self, ShareError> {
        let me = batch.session().role();
        let expected = inputs.iter().filter(|input| input.owner == Some(me)).map(|input| input.bytes).sum();
        if values.len() != expected {
            let what = "the value of this party's inputs";
            return Err(ShareError::Length { what, expected, found: values.len() });
        }
        let total = inputs.iter().map(|input| input.bytes).sum();
        let mut shares = Shares { own: vec![0; total], next: vec![0; total] };
        let (mut out, mut from_left) = (Wiped::new(Vec::with_capacity(expected)), vec![]);
        let (mut at, mut values) = (0, values);
        for input in inputs {
            let place = at..at + input.bytes;
            at = place.end;
            let Some(owner) = input.owner else { continue };
            let grown = batch.random(input.bytes);
            if owner == me {
                let (value, rest) = values.split_at(input.bytes);
                values = rest;
                shares.own[place.clone()].copy_from_slice(&grown.own);
                shares.next[place.clone()].copy_from_slice(value);
                input.addition.take(&mut shares.next[place.clone()], &grown.own);
                out.extend_from_slice(&shares.next[place]);
            } else if owner == me.left() {
                from_left.push(place);
            } else {
                shares.next[place].copy_from_slice(&grown.next);
            }
        }
        Ok(Sharing { shares, out, from_left, done: inputs.is_empty(), latch: Latch::new() })
    }

    /// The shares of all inputs, one after the other, with zeros for those of owners outside.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Shares {
        assert!(self.done, "finish comes after the last round");
        self.shares
    }
}

gated!([] Sharing, NetError;
    fn cost(&self) -> Option<Cost> {
        one_round(self.exchange())
    }
);

impl Sharing {
    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        let into = self.from_left.iter().map(Range::len).sum();
        (!self.done).then_some(Round { name: "sharing inputs", out: self.out.len(), into })
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), NetError> {
        out.copy_from_slice(&self.out);
        Ok(())
    }

    fn hear(&mut self, Exchanged { mut heard, .. }: Exchanged<'_>) -> Result<(), NetError> {
        for place in &self.from_left {
            let (value, rest) = heard.split_at(place.len());
            self.shares.own[place.clone()].copy_from_slice(value);
            heard = rest;
        }
        self.done = true;
        Ok(())
    }
}

/// The opening of outputs to parties, in progress.
#[must_use = "run it, then finish"]
pub struct Reveal {
    out: Scratch<u8>,
    /// The sum of the two shares that this party holds of the outputs that it learns; after the
    /// run, their value.
    value: Wiped<Vec<u8>>,
    /// The parts of `value`.
    parts: Vec<(Addition, usize)>,
    done: bool,
    latch: Latch,
}

impl Reveal {
    pub(crate) fn new(me: Role, outputs: &[Output], shares: &Shares) -> Self {
        let all = |party: Role| outputs.iter().filter(|o| o.learns[party.index()]).map(|o| o.bytes).sum();
        let (mut out, mut value) = (Scratch::room(all(me.right())), Wiped::new(Vec::with_capacity(all(me))));
        let (mut at, mut parts) = (0, vec![]);
        for Output { learns, bytes, addition } in outputs {
            let place = at..at + bytes;
            at = place.end;
            if learns[me.right().index()] {
                out.extend_from_slice(&shares.own[place.clone()]);
            }
            if learns[me.index()] {
                let start = value.len();
                value.extend_from_slice(&shares.own[place.clone()]);
                addition.add(&mut value[start..], &shares.next[place]);
                parts.push((*addition, *bytes));
            }
        }
        let done = outputs.iter().all(|output| !output.learns.contains(&true));
        Reveal { out, value, parts, done, latch: Latch::new() }
    }

    /// The opening of one output of bytes that is shared by ⊕. `out` is this party's own share if
    /// the right neighbour learns it, and `value` the sum of both shares if this party learns it.
    /// Each is empty otherwise.
    pub(crate) fn of_sums(learns: [bool; 3], me: Role, out: Scratch<u8>, value: Wiped<Vec<u8>>) -> Self {
        assert_eq!((out.is_empty(), value.is_empty()), (!learns[me.right().index()], !learns[me.index()]));
        let parts = if value.is_empty() { vec![] } else { vec![(Addition::Xor, value.len())] };
        let done = !learns.contains(&true);
        Reveal { out, value, parts, done, latch: Latch::new() }
    }

    /// The outputs that this party learns, one after the other.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    #[must_use]
    pub fn finish(self) -> Wiped<Vec<u8>> {
        assert!(self.done, "finish comes after the last round");
        self.value
    }
}

gated!([] Reveal, NetError;
    fn cost(&self) -> Option<Cost> {
        one_round(self.exchange())
    }
);

impl Reveal {
    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        let (out, into) = (self.out.len(), self.value.len());
        (!self.done).then_some(Round { name: "opening outputs", out, into })
    }

    fn say(&mut self, out: &mut [u8]) -> Result<(), NetError> {
        out.copy_from_slice(&self.out);
        Ok(())
    }

    fn hear(&mut self, message: Exchanged<'_>) -> Result<(), NetError> {
        let (mut value, mut heard) = (&mut self.value[..], message.heard);
        for (addition, bytes) in &self.parts {
            let (part, rest) = value.split_at_mut(*bytes);
            let (share, after) = heard.split_at(*bytes);
            addition.add(part, share);
            (value, heard) = (rest, after);
        }
        self.done = true;
        Ok(())
    }
}

/// The cost of a machine with this round alone; a round that moves no bytes costs nothing.
pub(crate) fn one_round(round: Option<Round>) -> Option<Cost> {
    let moves = round.filter(|round| round.out + round.into > 0);
    Some(Cost { rounds: moves.is_some().into(), bytes_sent: moves.map_or(0, |round| round.out as u64) })
}
