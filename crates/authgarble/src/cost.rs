//! The declared cost of each phase: its rounds, and the bytes that one party sends to all its
//! peers. Costs are computed from agreed numbers alone: the number of parties, the OT protocol, and
//! the task. Tests compare runs with them.

use crate::{
    Form, Need, Task,
    bits::ots,
    bucket,
    bucket::batches,
    params::{SEED, TRIALS},
    room::{HASH, NONCE, opened_bytes},
    task::pieces,
};
use hushwire_machine::Cost;
use hushwire_ot::{Functionality, Level, Protocol};

/// Rounds and bytes so far, the same at every party.
struct Tally {
    n: usize,
    cost: Cost,
}

impl Tally {
    fn new(n: usize) -> Tally {
        Tally { n, cost: Cost::default() }
    }

    /// A round in which this party sends `bytes` bytes in all.
    fn round(&mut self, bytes: usize) {
        self.cost.rounds += 1;
        self.cost.bytes_sent += bytes as u64;
    }

    /// A round in which this party sends `bytes` bytes to each peer.
    fn each(&mut self, bytes: usize) {
        self.round((self.n - 1) * bytes);
    }

    fn broadcast(&mut self, bytes: usize) {
        self.each(bytes + if self.n > 2 { HASH } else { 0 });
    }

    fn confirm(&mut self) {
        if self.n > 2 {
            self.broadcast(0);
        }
    }

    fn together(&mut self, bytes: usize) {
        self.broadcast(HASH);
        self.broadcast(NONCE + bytes);
    }

    fn coin(&mut self) {
        self.together(32);
    }

    /// An opening of bits to their recipients; party `me` sends its shares to all others.
    fn reveal(&mut self, me: usize, due: impl Fn(usize) -> usize) {
        self.round((0..self.n).filter(|p| *p != me).map(|p| opened_bytes(1, due(p))).sum());
    }

    fn bits(&mut self, ot: Protocol, count: usize) {
        let all = ots(self.n, count);
        let [sender, receiver] = ot.cost(Level::Malicious, Functionality::Cot, all);
        self.cost.rounds += sender.rounds;
        self.cost.bytes_sent += (self.n as u64 - 1) * (sender.bytes_sent + receiver.bytes_sent);
        if self.n > 2 {
            self.coin();
            self.confirm();
            self.broadcast(16);
            self.each(16);
            self.confirm();
        }
    }

    fn batch(&mut self, ot: Protocol, n: usize) {
        let b = bucket::size(n);
        self.bits(ot, 3 * n * b);
        self.each(16 * n * b);
        self.each((n * b).div_ceil(8));
        self.coin();
        self.confirm();
        self.together(16);
        self.confirm();
        self.coin();
        self.confirm();
        self.each(opened_bytes(1, n * (b - 1)));
    }
}

/// Bytes of 128 base OTs (CSW20), the sender's and the receiver's together.
const BASE: usize = 10_288;
/// Bytes of SoftSpoken's trees and their check: 128 levels of two blocks, whatever the trees are.
const TREES: usize = 4_208;

/// The rounds of two openings at the same time, one in each direction, and the bytes that a party
/// sends for both: base OTs and, for SoftSpoken, trees.
fn opening(ot: Protocol) -> Option<(u64, usize)> {
    match ot {
        Protocol::Kos => Some((4, BASE)),
        Protocol::SoftSpoken2 | Protocol::SoftSpoken4 | Protocol::SoftSpoken8 => Some((5, BASE + TREES)),
        _ => None,
    }
}

/// The cost of the set-up for each of `n` parties; `None` with Ferret, which makes its first OTs in
/// the set-up.
#[must_use]
pub fn setup(n: usize, ot: Protocol) -> Option<Cost> {
    let (rounds, bytes) = opening(ot)?;
    let mut tally = Tally::new(n);
    tally.cost.rounds = rounds;
    tally.cost.bytes_sent = ((n - 1) * bytes) as u64;
    if n > 2 {
        tally.bits(ot, TRIALS);
        tally.broadcast(HASH * (1 + 2 * TRIALS));
        tally.broadcast(NONCE + 16 * TRIALS * (n - 1));
        tally.confirm();
        tally.broadcast(TRIALS * (NONCE + 16));
        tally.confirm();
    }
    Some(tally.cost)
}

/// The cost of the function-independent phase for each of `n` parties. It is exact for extensions
/// by rows. Ferret makes OTs in advance, so that with Ferret the cost holds for a first call of the
/// extension.
#[must_use]
pub fn preprocess(n: usize, ot: Protocol, need: Need) -> Cost {
    let mut tally = Tally::new(n);
    for size in batches(need.triples as usize) {
        tally.batch(ot, size);
    }
    tally.bits(ot, need.masks as usize);
    tally.confirm();
    tally.cost
}

/// The cost of the function-dependent phase for party `me` among `n`.
#[must_use]
pub fn garble(me: usize, n: usize, task: &Task) -> Cost {
    let mut tally = Tally::new(n);
    let ands = task.program.ands() as usize * task.instances;
    tally.broadcast(HASH);
    tally.confirm();
    tally.each(opened_bytes(2, ands));
    tally.reveal(me, |p| task.roles.input_bits(&task.program, p) * task.instances);
    for piece in pieces(ands) {
        tally.round(if me == 0 { 0 } else { task.form.table_bytes([me, n], piece.len()) });
    }
    tally.cost
}

/// The cost of the online phase for party `me` among `n`.
#[must_use]
pub fn online(me: usize, n: usize, task: &Task) -> Cost {
    let mut tally = Tally::new(n);
    let (program, instances) = (&task.program, task.instances);
    let own = |p| task.roles.input_bits(program, p) * instances;
    tally.broadcast((0..n).map(own).max().unwrap_or(0).div_ceil(8));
    tally.confirm();
    tally.round(if me == 0 { 0 } else { 16 * program.input_bits() * instances });
    let said = |bytes: usize| if me == 0 { (n - 1) * bytes } else { 0 };
    match task.form {
        Form::Rows => tally.round(said((program.output_bits() * instances).div_ceil(8) + HASH)),
        Form::HalfGates => {
            tally.round(said((program.ands() as usize * instances).div_ceil(8) + SEED + HASH));
            tally.round(if me == 0 { 0 } else { 16 });
        }
    }
    tally.reveal(me, |p| task.roles.output_bits(program, p) * instances);
    tally.each(HASH);
    tally.cost
}
