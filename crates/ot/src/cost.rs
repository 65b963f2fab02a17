//! The declared cost of a call, from the schedule in the protocol notes and not from running it.

use hushwire_wire::Cost;

use crate::{
    Level, Protocol, Role,
    ferret::Set,
    pipeline::{GROUP, SEGMENT},
    protocol::Core,
    rows::Kind,
};

/// A functionality, for its cost.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Functionality {
    /// Random correlated OT.
    Rcot,
    /// Correlated OT for given choices.
    Cot,
    /// Random OT for random choices.
    Rot,
    /// Random OT for given choices.
    RotChosen,
    /// Chosen OT of blocks.
    Ot,
    /// Chosen OT of bits.
    BitOt,
}

/// The bytes of one tick: the sender's and the receiver's.
type Sent = [u64; 2];

/// The ticks of a call.
#[derive(Default)]
struct Ticks(Vec<Sent>);

impl Ticks {
    fn add(&mut self, tick: usize, from: Role, bytes: usize) {
        if self.0.len() <= tick {
            self.0.resize(tick + 1, [0; 2]);
        }
        self.0[tick][from as usize] += bytes as u64;
    }
}

impl Protocol {
    /// The cost of an end's first call for the sender and the receiver, a following `verify` included, set-up excluded.
    #[must_use]
    pub fn cost(self, level: Level, what: Functionality, count: usize) -> [Cost; 2] {
        let (speaker, chunks) = match self.core() {
            Core::Rows(kind) => (Role::Receiver, row_chunks(kind, count)),
            Core::Ferret(set, _) => (Role::Sender, tree_chunks(&set, level, count)),
        };
        let check = self.check(level);
        let malicious = level == Level::Malicious;
        let mut ticks = Ticks::default();
        for (i, (_, bytes)) in chunks.iter().enumerate() {
            ticks.add(i, speaker, *bytes);
        }
        // Segments end every 16 chunks; the rest where the call or `verify` closes, when no check runs.
        let mut free = 0;
        if malicious {
            let ends =
                (1..=chunks.len()).filter(|made| made.is_multiple_of(SEGMENT) || *made == chunks.len());
            for made in ends {
                let begin = free.max(made);
                for (step, (from, bytes)) in check.iter().enumerate() {
                    ticks.add(begin + step, *from, *bytes);
                }
                free = begin + check.len();
            }
        }
        let checked = if malicious { SEGMENT + check.len() } else { 0 };
        let given = !matches!(what, Functionality::Rcot | Functionality::Rot);
        let fix_lag = if speaker == Role::Receiver { 0 } else { checked.max(1) };
        let payload_lag = checked.max(fix_lag + 1);
        // Choices of sixteen chunks travel together where the sender speaks and no payload waits for them.
        let alone = speaker == Role::Receiver || matches!(what, Functionality::Ot | Functionality::BitOt);
        let group = if alone { 1 } else { GROUP };
        for (i, (len, _)) in chunks.iter().enumerate() {
            if given {
                let last = (i / group * group + group).min(chunks.len()) - 1;
                ticks.add(last + fix_lag, Role::Receiver, len.div_ceil(8));
            }
            match what {
                Functionality::Ot => ticks.add(i + payload_lag, Role::Sender, 32 * len),
                Functionality::BitOt => ticks.add(i + payload_lag, Role::Sender, 2 * len.div_ceil(8)),
                _ => {}
            }
        }
        let rounds = ticks.0.iter().filter(|sent| **sent != [0; 2]).count() as u64;
        [Role::Sender, Role::Receiver]
            .map(|role| Cost { rounds, bytes_sent: ticks.0.iter().map(|sent| sent[role as usize]).sum() })
    }

    /// Messages of a check, one a tick.
    fn check(self, level: Level) -> Vec<(Role, usize)> {
        if level == Level::SemiHonest {
            return Vec::new();
        }
        match self.core() {
            Core::Rows(kind) => {
                let [sender, receiver] = kind.cost(level).check_bytes;
                let both = [(Role::Sender, sender), (Role::Receiver, receiver)];
                both.into_iter().filter(|(_, bytes)| *bytes > 0).collect()
            }
            Core::Ferret(..) => vec![(Role::Receiver, 16), (Role::Sender, 32)],
        }
    }
}

/// OTs and message bytes of each chunk: 8192, the last one's columns a multiple of 512.
fn row_chunks(kind: Kind, count: usize) -> Vec<(usize, usize)> {
    let full = 8192;
    let bits = kind.cost(Level::SemiHonest).bits_per_ot;
    let lens = (0..count.div_ceil(full)).map(|i| full.min(count - i * full));
    lens.map(|len| (len, bits * len.next_multiple_of(512) / 8)).collect()
}

/// OTs and message bytes of each chunk: a tree, and a round's refill with its first; a segment's first tree lends 128
/// OTs to its check.
fn tree_chunks(set: &Set, level: Level, count: usize) -> Vec<(usize, usize)> {
    let mut chunks: Vec<(usize, usize)> = Vec::new();
    let mut left = count;
    while left > 0 {
        let i = chunks.len();
        let spent = if level == Level::Malicious && i.is_multiple_of(SEGMENT) { 128 } else { 0 };
        let first = i.is_multiple_of(set.trees() - set.refill_trees());
        let trees = if first { 1 + set.refill_trees() } else { 1 };
        let len = left.min(set.leaves() - spent);
        chunks.push((len, trees * set.tree_bytes()));
        left -= len;
    }
    chunks
}
