//! Inputs of owners outside the three parties: two of the three shares are expanded from seeds, the
//! third is sent in full.
//!
//! ```text
//! seeds     once: party i receives those of x_i and x_{i+1}
//! a value   x_e in full, e = (batch + input) mod 3, to its holders, parties e and e-1;
//!           the other two are expanded
//! ```
//!
//! **Security.** Both holders of a share must have received the same: [`OwnerInputs::tags`] are the
//! input of a [`Comparison`](crate::Comparison), and nothing that depends on the inputs is opened
//! before its verdict.

use crate::{Addition, Batch, Role, Shares, Tags};
use hushwire_aes::Backend;
use hushwire_block::Wiped;
use hushwire_machine::{
    NetError,
    drive::{Exchanged, Latch, Round},
    gated,
};
use hushwire_prg::{Prg, Seed};
use std::ops::Range;

/// AGREEMENT: domain separation of the expansion of an owner's seeds from any other use of them.
const LABEL: &str = "hushwire job input v1";

/// The index of the share that an owner sends in full for input `input` of batch `batch`.
/// AGREEMENT.
pub(crate) fn explicit(batch: u32, input: usize) -> usize {
    (batch as usize + input) % 3
}

/// LOCAL: bytes of a value that are shared at a time, a multiple of every word size. Together with
/// the bytes that are subtracted they fit into the second-level cache.
const PIECE: usize = 1 << 18;

/// The stream from which a share of an input is expanded.
pub(crate) fn stream(backend: Backend, seed: &Seed, batch: u32, input: usize) -> Prg {
    let place = [batch.to_le_bytes(), (input as u32).to_le_bytes()].concat();
    Prg::new(backend, &seed.derive(LABEL, &place), "planes")
}

/// An owner's endpoint: fresh seeds of the three shares of all its inputs.
pub struct Owner {
    backend: Backend,
    seeds: [Seed; 3],
}

impl Owner {
    /// Draws seeds, for one session.
    #[must_use]
    pub fn new(backend: Backend) -> Owner {
        Owner { backend, seeds: [0; 3].map(|_: u8| Seed::random()) }
    }

    /// The first message to a party: its two seeds.
    #[must_use]
    pub fn seeds(&self, party: Role) -> Wiped<[u8; 32]> {
        let mut pair = Wiped::new([0; 32]);
        pair[..16].copy_from_slice(self.seeds[party.index()].expose());
        pair[16..].copy_from_slice(self.seeds[party.right().index()].expose());
        pair
    }

    /// Shares a value, once for each batch and input. Each holder's part is appended to its
    /// message.
    pub fn share(
        &self,
        batch: u32,
        input: usize,
        value: Wiped<Vec<u8>>,
        addition: Addition,
        messages: &mut [Wiped<Vec<u8>>; 3],
    ) {
        let (full, holders) = self.full(batch, input, value, addition);
        for party in holders {
            messages[party.index()].extend_from_slice(&full);
        }
    }

    /// The share of a value that is sent in full, once for each batch and input, and the parties
    /// that hold it. The other shares are expanded a piece at a time, so a value needs no memory
    /// beyond its own and a piece.
    #[must_use]
    pub fn full(
        &self,
        batch: u32,
        input: usize,
        mut value: Wiped<Vec<u8>>,
        addition: Addition,
    ) -> (Wiped<Vec<u8>>, [Role; 2]) {
        let mut grown = Wiped::new(vec![0; value.len().min(PIECE)]);
        let e = explicit(batch, input);
        let mut streams =
            [(e + 1) % 3, (e + 2) % 3].map(|other| stream(self.backend, &self.seeds[other], batch, input));
        for piece in value.chunks_mut(PIECE) {
            let grown = &mut grown[..piece.len()];
            for stream in &mut streams {
                stream.fill(grown);
                addition.take(piece, grown);
            }
        }
        // Share x_e is the own share of party e, and the next share of party e-1.
        (value, [Role::ALL[e], Role::ALL[e].left()])
    }
}

/// A party's two seeds of an owner's shares.
#[derive(Clone)]
pub struct OwnerSeeds([Seed; 2]);

impl OwnerSeeds {
    /// The seeds of this party's share and of the next.
    pub(crate) fn both(&self) -> &[Seed; 2] {
        &self.0
    }

    /// The seeds of [`Owner::seeds`].
    #[must_use]
    pub fn from_bytes(bytes: &[u8; 32]) -> Self {
        let seed = |at: usize| {
            let mut seed = Wiped::new([0; 16]);
            seed.copy_from_slice(&bytes[at..at + 16]);
            Seed::from_bytes(*seed)
        };
        OwnerSeeds([seed(0), seed(16)])
    }
}

/// One owner's inputs of a batch, at a party: a machine on the channel from the owner.
#[must_use = "run it, then compare its tags with the other holders'"]
pub struct OwnerInputs<'s> {
    tagging: crate::Tagging,
    places: Vec<Range<usize>>,
    /// The parts that arrive in full: of this party's own share (0), or of the next (1).
    full: Vec<(usize, Range<usize>)>,
    shares: &'s mut Shares,
    done: bool,
    latch: Latch,
}

impl<'s> OwnerInputs<'s> {
    /// Takes these inputs from an owner: the number of each, and its place in `shares`. `turn` is
    /// the number that the owner gives to the batch in [`Owner::share`]. All parties ask for the
    /// owners of a batch in the same order.
    pub fn new(
        batch: &mut Batch,
        OwnerSeeds(seeds): &OwnerSeeds,
        turn: u32,
        inputs: impl Iterator<Item = (usize, Range<usize>)>,
        shares: &'s mut Shares,
    ) -> Self {
        let tagging = batch.tagging();
        let session = batch.session();
        let held = [session.role().index(), session.role().right().index()];
        let (mut places, mut full) = (vec![], vec![]);
        for (input, place) in inputs {
            for (s, share) in [&mut shares.own, &mut shares.next].into_iter().enumerate() {
                if held[s] == explicit(turn, input) {
                    full.push((s, place.clone()));
                } else {
                    let out = &mut share[place.clone()];
                    stream(session.backend(), &seeds[s], turn, input).fill(out);
                }
            }
            places.push(place);
        }
        OwnerInputs { tagging, done: places.is_empty(), places, full, shares, latch: Latch::new() }
    }

    /// The tags of the shares that arrived.
    ///
    /// # Panics
    /// If it has not run (the caller's bug).
    pub fn tags(mut self) -> Tags {
        assert!(self.done, "tags come after the last round");
        for place in self.places {
            self.tagging.part(&self.shares.own[place.clone()], &self.shares.next[place]);
        }
        self.tagging.finish()
    }
}

gated!([] OwnerInputs<'_>, NetError;);

impl OwnerInputs<'_> {
    fn latch(&self) -> &Latch {
        &self.latch
    }

    fn exchange(&self) -> Option<Round> {
        let into = self.full.iter().map(|(_, place)| place.len()).sum();
        (!self.done).then_some(Round { name: "sharing inputs", out: 0, into })
    }

    fn say(&mut self, _out: &mut [u8]) -> Result<(), NetError> {
        Ok(())
    }

    fn hear(&mut self, Exchanged { mut heard, .. }: Exchanged<'_>) -> Result<(), NetError> {
        for (s, place) in &self.full {
            let share = if *s == 0 { &mut self.shares.own } else { &mut self.shares.next };
            let (value, rest) = heard.split_at(place.len());
            share[place.clone()].copy_from_slice(value);
            heard = rest;
        }
        self.done = true;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_values_are_shared_as_their_streams_run() {
        let owner = Owner::new(Backend::best());
        for addition in [Addition::Xor, Addition::Words(8)] {
            let value: Vec<u8> = (0..2 * PIECE + 24).map(|i| (i ^ (i >> 7)) as u8).collect();
            let (full, holders) = owner.full(1, 4, value.clone().into(), addition);
            assert_eq!(holders.map(Role::index), [2, 1], "share 2 is party 2's own, and the next of party 1");
            let mut sum = full.to_vec();
            for seed in &owner.seeds[..2] {
                let mut grown = vec![0; value.len()];
                stream(owner.backend, seed, 1, 4).fill(&mut grown);
                addition.add(&mut sum, &grown);
            }
            assert!(sum == value, "{addition:?}");
        }
    }
}
