//! The declared cost of a call, computed from the protocol's schedule and not from a run.

use hushwire_machine::Cost;

use crate::{
    Level, Protocol, Role,
    ferret::Set,
    pipeline::{GROUP, SEGMENT},
    protocol::Core,
    rows::RowKind,
};

/// A functionality, as an argument for costs.
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

/// The bytes of one tick, by sender and receiver.
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
    /// The cost of an endpoint's first call, for the sender and the receiver. It includes a
    /// following `verify`, and excludes the set-up.
    #[must_use]
    pub fn cost(self, level: Level, what: Functionality, count: usize) -> [Cost; 2] {
        let payload = |len: usize| match what {
            Functionality::Ot => 32 * len,
            Functionality::BitOt => 2 * len.div_ceil(8),
            _ => 0,
        };
        let given = !matches!(what, Functionality::Rcot | Functionality::Rot);
        let malicious = level == Level::Malicious;
        let ticks = match self.core() {
            Core::Rows(kind) => {
                row_ticks(&row_chunks(kind, count), &self.core().check(level), given, payload)
            }
            Core::Ferret(set, _) => {
                let chunks = tree_chunks(&set, level, count, SEGMENT, false);
                let turns = if malicious { checked_turns(chunks.len()) } else { turns(chunks.len()) };
                silent_ticks(&chunks, &turns, given, payload)
            }
        };
        let rounds = ticks.0.iter().filter(|sent| **sent != [0; 2]).count() as u64;
        [Role::Sender, Role::Receiver]
            .map(|role| Cost { rounds, bytes_sent: ticks.0.iter().map(|sent| sent[role as usize]).sum() })
    }
}

/// The lengths of the messages in an endpoint's calls of random OTs, correlated or not, in
/// semi-honest mode, computed from counts alone. Calls follow each other: a call uses the OTs that
/// earlier calls made and did not deliver.
#[derive(Clone)]
pub struct Chunks {
    core: Core,
    /// The number of OTs that were made and not delivered.
    left: usize,
    /// The number of trees of the current round of a silent extension that were output.
    trees: usize,
}

impl Chunks {
    /// The chunks of an endpoint that was just set up.
    #[must_use]
    pub fn new(protocol: Protocol) -> Self {
        Self { core: protocol.core(), left: 0, trees: 0 }
    }

    /// The party that sends the chunks; the other sends nothing.
    #[must_use]
    pub fn speaker(&self) -> Role {
        match self.core {
            Core::Rows(_) => Role::Receiver,
            Core::Ferret(..) => Role::Sender,
        }
    }

    /// The bytes of each chunk of the next call, which has `count` OTs; 0 for a chunk of leftover
    /// OTs.
    pub fn call(&mut self, count: usize) -> Vec<usize> {
        let (mut chunks, mut wanted) = (vec![], count);
        while wanted > 0 {
            let (made, bytes) = match &self.core {
                _ if self.left > 0 => (self.left, 0),
                Core::Rows(kind) => row_chunk(*kind, wanted.min(FULL)),
                Core::Ferret(set, _) => {
                    let trees = set.trees_for(wanted, 0, set.refill_trees() + self.trees);
                    let refill = set.refill_share(self.trees, trees);
                    self.trees = (self.trees + trees) % (set.trees() - set.refill_trees());
                    (trees * set.leaves(), (refill + trees) * set.tree_bytes())
                }
            };
            let taken = wanted.min(made);
            (self.left, wanted) = (made - taken, wanted - taken);
            chunks.push(bytes);
        }
        chunks
    }
}

impl Core {
    /// The messages of a check, one in each tick.
    pub(crate) fn check(self, level: Level) -> Vec<(Role, usize)> {
        if level == Level::SemiHonest {
            return Vec::new();
        }
        match self {
            Core::Rows(kind) => {
                let [sender, receiver] = kind.cost(level).check_bytes;
                let both = [(Role::Sender, sender), (Role::Receiver, receiver)];
                both.into_iter().filter(|(_, bytes)| *bytes > 0).collect()
            }
            Core::Ferret(..) => vec![(Role::Receiver, 16), (Role::Sender, 32)],
        }
    }
}

/// If the receiver speaks, tick i has chunk i and its choices; a segment's check follows the
/// segment, and payload follows its chunk at a lag.
fn row_ticks(
    chunks: &[(usize, usize)],
    check: &[(Role, usize)],
    given: bool,
    payload: impl Fn(usize) -> usize,
) -> Ticks {
    let mut ticks = Ticks::default();
    let lag = if check.is_empty() { 1 } else { SEGMENT + check.len() };
    for (i, (len, bytes)) in chunks.iter().enumerate() {
        ticks.add(i, Role::Receiver, bytes + if given { len.div_ceil(8) } else { 0 });
        ticks.add(i + lag, Role::Sender, payload(*len));
    }
    // Segments end every 16 chunks. The last one ends where the call or `verify` closes, once no
    // check is running.
    let mut free = 0;
    let ends = (1..=chunks.len()).filter(|made| made.is_multiple_of(SEGMENT) || *made == chunks.len());
    for made in ends {
        let begin = free.max(made);
        for (step, (from, bytes)) in check.iter().enumerate() {
            ticks.add(begin + step, *from, *bytes);
        }
        free = begin + check.len();
    }
    ticks
}

/// A tick of the sender, or a turn of the receiver.
enum Turn {
    /// Whether the tick has a chunk, and whether it has a digest.
    Sender { chunk: bool, digest: bool },
    /// Whether the receiver sends a check's first step, and the number of chunks whose choices it
    /// sends.
    Receiver { places: bool, choices: usize },
}

/// Semi-honest: after five chunks come the choices of four, and so on; at the end come all
/// remaining choices.
fn turns(chunks: usize) -> Vec<Turn> {
    let mut turns = Vec::new();
    let mut unsaid = 0;
    for left in (0..chunks).rev() {
        turns.push(Turn::Sender { chunk: true, digest: false });
        unsaid += 1;
        let choices = if left == 0 { unsaid } else { GROUP };
        if left == 0 || unsaid > GROUP {
            turns.push(Turn::Receiver { places: false, choices });
            unsaid -= choices;
        }
    }
    turns
}

/// Malicious: after a segment of sixteen chunks and one more come the segment's places. After one
/// more chunk, which carries the segment's digest, come its choices.
fn checked_turns(chunks: usize) -> Vec<Turn> {
    let mut turns = Vec::new();
    for i in 0..chunks {
        let (second, third) = (i > 0 && i % SEGMENT == 0, i > SEGMENT && i % SEGMENT == 1);
        turns.push(Turn::Sender { chunk: true, digest: third });
        if i + 1 < chunks && second {
            turns.push(Turn::Receiver { places: true, choices: 0 });
        }
        if i + 1 < chunks && third {
            turns.push(Turn::Receiver { places: false, choices: SEGMENT });
        }
    }
    // The last segment's check follows that of the segment before, whose choices are sent with the
    // last check's first step.
    let last = (chunks.saturating_sub(1)) % SEGMENT + 1;
    let before = if chunks > SEGMENT && last <= 2 { SEGMENT } else { 0 };
    if before > 0 && last == 1 {
        turns.push(Turn::Receiver { places: true, choices: 0 });
        turns.push(Turn::Sender { chunk: false, digest: true });
    }
    if chunks > 0 {
        turns.push(Turn::Receiver { places: true, choices: before });
        turns.push(Turn::Sender { chunk: false, digest: true });
        turns.push(Turn::Receiver { places: false, choices: last });
    }
    turns
}

/// The bytes that each party sends in each tick. If choices were received whose payload was not yet
/// sent, a tick of the sender carries the payload of the oldest such chunk.
fn silent_ticks(
    chunks: &[(usize, usize)],
    turns: &[Turn],
    given: bool,
    payload: impl Fn(usize) -> usize,
) -> Ticks {
    let mut ticks = Ticks::default();
    let (mut made, mut said, mut paid) = (0, 0, 0);
    for (tick, turn) in turns.iter().enumerate() {
        match *turn {
            Turn::Sender { chunk, digest } => {
                if chunk {
                    ticks.add(tick, Role::Sender, chunks[made].1);
                    made += 1;
                }
                ticks.add(tick, Role::Sender, if digest { 32 } else { 0 });
                if paid < said {
                    ticks.add(tick, Role::Sender, payload(chunks[paid].0));
                    paid += 1;
                }
            }
            Turn::Receiver { places, choices } => {
                ticks.add(tick, Role::Receiver, if places { 16 } else { 0 });
                for (len, _) in &chunks[said..said + choices] {
                    ticks.add(tick, Role::Receiver, if given { len.div_ceil(8) } else { 0 });
                }
                said += choices;
            }
        }
    }
    for (i, (len, _)) in chunks.iter().enumerate().skip(paid) {
        ticks.add(turns.len() + i, Role::Sender, payload(*len));
    }
    ticks
}

/// The OTs and message bytes of each chunk. A chunk has 8192 OTs; the last one has the rest, and a
/// message for a multiple of 512.
pub(crate) fn row_chunks(kind: RowKind, count: usize) -> Vec<(usize, usize)> {
    let lens = (0..count.div_ceil(FULL)).map(|i| FULL.min(count - i * FULL));
    lens.map(|len| (len, row_chunk(kind, len).1)).collect()
}

/// OTs of a full chunk of rows.
const FULL: usize = 8192;

/// The number of OTs that a chunk for `len` OTs makes, and the bytes of its message.
fn row_chunk(kind: RowKind, len: usize) -> (usize, usize) {
    let made = len.next_multiple_of(512);
    (made, kind.cost(Level::SemiHonest).bits_per_ot * made / 8)
}

/// The OTs and message bytes of each chunk. The bytes have its trees and their share of the round's
/// refill. A segment's first chunk gives 128 OTs to its check. If `count` was set as the limit, the
/// last round has no refill.
pub(crate) fn tree_chunks(
    set: &Set,
    level: Level,
    count: usize,
    segment: usize,
    is_limit: bool,
) -> Vec<(usize, usize)> {
    let mut chunks: Vec<(usize, usize)> = Vec::new();
    let (mut left, mut out, mut is_last) = (count, 0, false);
    while left > 0 {
        let i = chunks.len();
        let spent = if level == Level::Malicious && i.is_multiple_of(segment) { 128 } else { 0 };
        is_last |= out == 0 && is_limit && set.is_enough(level, left);
        let all = set.trees() - if is_last { 0 } else { set.refill_trees() };
        let trees = set.trees_for(left, spent, set.trees() - all + out);
        let refill = if is_last { 0 } else { set.refill_share(out, trees) };
        // A last round may end with its last tree; no OTs are left over then.
        out = (out + trees) % all;
        let len = left.min(trees * set.leaves() - spent);
        chunks.push((len, (refill + trees) * set.tree_bytes()));
        left -= len;
    }
    chunks
}
