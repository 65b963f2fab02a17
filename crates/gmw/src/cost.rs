//! The cost of a run, computed from the program alone: its triples, rounds and bytes.

use crate::supply::{CALL, WINDOW};
use hushwire_circuit::{Layered, Program, TwoParty, planes::plane_bytes};
use hushwire_machine::Cost;
use hushwire_ot::{Functionality, Level, Protocol};
use std::ops::Range;

/// AGREEMENT: the number of instances of ANDs whose operands are opened in one message. Larger
/// layers take several messages, so that triples and messages are bounded.
const PART: usize = 1 << 20;

/// The number of bytes of a BLAKE3 digest of the computation.
pub(crate) const DIGEST: usize = 32;

/// Splits the ANDs of a layer into messages with as many ANDs as fit, with `width` instances each.
pub(crate) fn parts(ands: usize, width: usize) -> impl Iterator<Item = Range<usize>> {
    let most = gates_in_part(width);
    (0..ands.div_ceil(most)).map(move |k| k * most..ands.min((k + 1) * most))
}

/// The largest number of ANDs that are opened in one message.
pub(crate) fn gates_in_part(width: usize) -> usize {
    (PART / width).max(1)
}

/// The number of bytes of the bits of `gates` ANDs on `width` instances.
pub(crate) fn part_bytes(gates: usize, width: usize) -> usize {
    (gates * width).div_ceil(8)
}

/// The number of bytes of triples (of each share) in all messages, in order; a message has twice as
/// many.
pub(crate) fn messages(program: &Program, instances: usize) -> Vec<usize> {
    let mut lengths = vec![];
    for k in 0..program.stages().len() {
        let (block, copies) = program.stages().shape(k);
        lengths.extend(block_messages(&block, copies * instances));
    }
    lengths
}

fn block_messages(block: &Layered, width: usize) -> impl Iterator<Item = usize> {
    let layers = block.layers().iter().map(|layer| layer.ands.len());
    layers.flat_map(move |ands| parts(ands, width).map(move |part| part_bytes(part.len(), width)))
}

/// The number of triples of one run: one for each AND of each instance, rounded up to whole bytes
/// in each message.
#[must_use]
pub fn triples(program: &Program, instances: usize) -> u64 {
    messages(program, instances).iter().map(|bytes| 8 * *bytes as u64).sum()
}

/// The cost of one run for party `index`, without its triples: the digest, two bits for each AND,
/// and the other party's outputs.
#[must_use]
pub fn circuit_cost(program: &Program, roles: &TwoParty, index: usize, instances: usize) -> Cost {
    let lengths = messages(program, instances);
    let ands: u64 = lengths.iter().map(|bytes| 2 * *bytes as u64).sum();
    let outputs = [0, 1].map(|party| (roles.output_bits(program, party) * plane_bytes(instances)) as u64);
    let opened = u64::from(outputs != [0, 0]);
    Cost { rounds: 1 + lengths.len() as u64 + opened, bytes_sent: DIGEST as u64 + ands + outputs[1 - index] }
}

/// The cost for each party of the triples of a session's first run. Later runs cost the same,
/// except for OTs that an extension has made in excess: up to 511 triples with rows, up to a tree
/// and its share of a refill with Ferret.
#[must_use]
pub fn triples_cost(ot: Protocol, triples: u64) -> Cost {
    let mut cost = Cost::default();
    for first in (0..triples).step_by(CALL) {
        let count = (triples - first).min(CALL as u64) as usize;
        let both = ot.cost(Level::SemiHonest, Functionality::Rot, count);
        cost.rounds += both[0].rounds.div_ceil(WINDOW as u64);
        cost.bytes_sent += both.iter().map(|end| end.bytes_sent).sum::<u64>();
    }
    cost
}
