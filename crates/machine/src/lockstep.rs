//! All parties of a protocol on one thread.
//!
//! [`Lockstep`] advances the machines of all parties round by round, without links. A test may edit
//! messages in transit. At the end of a run, the rounds and bytes of each machine are compared with
//! its declared cost.

use crate::{
    Cost,
    driver::advance,
    machine::{Exchanged, Gathered, Machine, Message},
};
use hushwire_block::registry;

/// The assignment of slots to the parties that they receive from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Wiring {
    /// Even slots lead to the left neighbour and from the right one, odd slots the other way. Two
    /// parties form a ring.
    #[default]
    Ring,
    /// A slot for each peer, in the order of parties.
    Mesh,
}

impl Wiring {
    /// The party and the slot whose message is received on `slot` of party `i` among `n`.
    fn heard(self, n: usize, i: usize, slot: usize) -> (usize, usize) {
        match self {
            Wiring::Ring if slot.is_multiple_of(2) => ((i + 1) % n, slot),
            Wiring::Ring => ((i + n - 1) % n, slot),
            Wiring::Mesh => {
                let peer = slot + usize::from(slot >= i);
                (peer, i - usize::from(peer < i))
            }
        }
    }
}

/// A message of a run in lockstep.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Place {
    /// The number of earlier rounds.
    pub round: usize,
    /// The party that sends it.
    pub party: usize,
    /// The sender's slot.
    pub slot: usize,
}

/// A function that changes messages in transit.
type Edit<'a> = &'a mut dyn FnMut(Place, &mut Vec<u8>);

fn erased<M: Machine>(parties: &mut [M]) -> Vec<&mut dyn Machine<Error = M::Error>> {
    let mut all: Vec<&mut dyn Machine<Error = M::Error>> = Vec::with_capacity(parties.len());
    for party in parties {
        all.push(party);
    }
    all
}

/// One party's messages.
#[derive(Default)]
struct Post {
    messages: Vec<Message>,
    /// Messages that are delivered in place of the party's own.
    instead: Vec<Option<Vec<u8>>>,
}

/// Advances all parties on one thread, without queues or copies. Each party reads its peer's
/// message in the peer's buffer.
#[derive(Default)]
pub struct Lockstep {
    wiring: Wiring,
    sent: Vec<Post>,
    out: Vec<Post>,
}

impl Lockstep {
    /// A driver of parties on a ring, initially without buffers. Buffers are kept between runs.
    #[must_use]
    pub fn new() -> Self {
        Lockstep::default()
    }

    /// A driver of parties that are joined by `wiring`.
    #[must_use]
    pub fn wired(wiring: Wiring) -> Self {
        Lockstep { wiring, ..Self::default() }
    }

    /// Runs every party to its end.
    ///
    /// # Errors
    /// The first error of a party. The other parties stay where they are.
    ///
    /// # Panics
    /// If the parties' rounds do not match each other, or the cost of one differs from its
    /// declaration (a bug of the protocol).
    pub fn run<M: Machine>(&mut self, parties: &mut [M]) -> Result<(), M::Error> {
        self.drive(&mut erased(parties), None)
    }

    /// As [`Lockstep::run`], with a cheat. `edit` gets a copy of every message and may change it in
    /// any way, including its length, before it is received. The sender continues with the message
    /// that it made.
    ///
    /// # Errors
    /// The errors of [`Lockstep::run`].
    ///
    /// # Panics
    /// As [`Lockstep::run`].
    pub fn run_edited<M: Machine>(
        &mut self,
        parties: &mut [M],
        mut edit: impl FnMut(Place, &mut Vec<u8>),
    ) -> Result<(), M::Error> {
        self.drive(&mut erased(parties), Some(&mut edit))
    }

    /// One function serves all machines with the same error, since tests run hundreds of kinds.
    fn drive<E>(
        &mut self,
        parties: &mut [&mut dyn Machine<Error = E>],
        mut edit: Option<Edit<'_>>,
    ) -> Result<(), E> {
        let (wiring, n) = (self.wiring, parties.len());
        for posts in [&mut self.sent, &mut self.out] {
            posts.resize_with(n, Post::default);
            for (post, party) in posts.iter_mut().zip(&*parties) {
                post.messages.resize_with(party.slots(), Message::default);
            }
        }
        let declared: Vec<Option<Cost>> = parties.iter().map(Machine::cost).collect();
        let (mut spent, mut rounds) = (vec![Cost::default(); n], 0);
        for round in 0.. {
            let (sent, out) = (&self.sent, &mut self.out);
            let mut running = 0;
            for (i, (party, post)) in parties.iter_mut().zip(out.iter_mut()).enumerate() {
                let of = |slot: usize| {
                    let (peer, theirs) = wiring.heard(n, i, slot);
                    let instead = sent[peer].instead.get(theirs).and_then(Option::as_deref);
                    let heard = instead.unwrap_or_else(|| sent[peer].messages[theirs].sent());
                    Exchanged { own: sent[i].messages[slot].sent(), heard }
                };
                let more = registry::as_end(i, || {
                    if round == 0 {
                        return advance(*party, None, &mut post.messages);
                    }
                    let last = Gathered::new(post.messages.len(), &of);
                    advance(*party, Some(last.all()), &mut post.messages)
                })?;
                running += usize::from(more);
            }
            if running == 0 {
                break;
            }
            assert_eq!(running, n, "some parties are done before the others");
            self.compare();
            rounds += 1;
            for (i, (post, spent)) in self.out.iter_mut().zip(&mut spent).enumerate() {
                let bytes: usize = post.messages.iter().map(|message| message.sent().len()).sum();
                spent.bytes_sent += bytes as u64;
                spent.rounds +=
                    u64::from(bytes + post.messages.iter().map(Message::comes).sum::<usize>() > 0);
                post.instead.clear();
                if let Some(edit) = &mut edit {
                    let copies = post.messages.iter().enumerate().map(|(slot, message)| {
                        let mut copy = message.sent().to_vec();
                        edit(Place { round, party: i, slot }, &mut copy);
                        Some(copy)
                    });
                    post.instead.extend(copies);
                }
            }
            std::mem::swap(&mut self.sent, &mut self.out);
        }
        for (i, (declared, spent)) in declared.iter().zip(&spent).enumerate() {
            // A round may pass in which a party sends nothing.
            let all = Cost { rounds, ..*spent };
            let well = declared.is_none_or(|declared| declared == *spent || declared == all);
            assert!(well, "party {i}: {declared:?}, {spent:?} in {rounds} rounds");
        }
        Ok(())
    }

    /// Checks that every message has the length that its receiver expects.
    fn compare(&self) {
        for (i, post) in self.out.iter().enumerate() {
            for (slot, message) in post.messages.iter().enumerate() {
                let (peer, theirs) = self.wiring.heard(self.out.len(), i, slot);
                let comes = self.out[peer].messages[theirs].sent().len();
                assert_eq!(
                    comes,
                    message.comes(),
                    "rounds differ: slot {slot} of party {i} and party {peer}"
                );
            }
        }
    }
}
