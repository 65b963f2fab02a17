//! The bounds of the benchmark: the PRF of the zero-shares, the loopback link, and its delay.

use std::time::Duration;

use hushwire_aes::Backend;
use hushwire_rep3::{KeySize, Sbox, cost, expansion_cost, zero_words};

use super::grid::{ChunkCut, KeyMode, Point};
use crate::{
    BoxError, CaseContext, LimitBound, Unit,
    bounds::{self, count},
    link::{self, RowLink, Taken},
    net::Transport,
};

/// The blocks of a batch that is so long that its padding does not matter.
const MANY: usize = 4096;

/// The link whose limit is measured around a point's row. `None` for parties in lockstep, and for
/// modelled networks, whose delays are computed.
pub(super) fn link(point: &Point, cut: &ChunkCut) -> Option<RowLink> {
    if point.blocks == 1 {
        let own = point.transport != Transport::Inproc && point.net.rtt == Duration::ZERO;
        return own.then(|| RowLink::delay(point.transport));
    }
    let chunk = cost(KeySize::Aes128, point.sbox, cut.chunk);
    RowLink::three_flows(point.transport, chunk.bytes_sent / chunk.rounds.max(1))
}

/// The tightest bound of a point, given the measured limit of its link.
pub(super) fn of(
    ctx: &mut CaseContext<'_>,
    backend: Backend,
    point: &Point,
    rounds: u64,
    taken: Option<&Taken>,
) -> Result<LimitBound, BoxError> {
    if point.blocks == 1 {
        return one_block(ctx, backend, point, rounds, taken);
    }
    let (sbox, unit) = (point.sbox.to_string(), Unit::BLOCKS_PER_S);
    let many = count(MANY as u64);
    let calls = count(prf_blocks(point.sbox, MANY)) / many;
    let least = bounds::prf(ctx, backend, &sbox, (point.transport, point.threads), (&unit, calls))?;
    // The bytes that one party sends for a block.
    let each = count(cost(KeySize::Aes128, point.sbox, MANY).bytes_sent) / many;
    link::tightened(ctx, least, (taken, point.net), &format!("{sbox} over"), &unit, (3.0, each))
}

/// The PRF calls of all three parties for a batch: two for every word that each party draws.
fn prf_blocks(sbox: Sbox, blocks: usize) -> u64 {
    3 * 2 * zero_words(KeySize::Aes128, sbox, blocks)
}

/// The time of one block: its delays over a link, or its PRF calls in one process.
fn one_block(
    ctx: &mut CaseContext<'_>,
    backend: Backend,
    point: &Point,
    rounds: u64,
    taken: Option<&Taken>,
) -> Result<LimitBound, BoxError> {
    if point.transport == Transport::Inproc {
        let peak = bounds::rounds(ctx, backend)?;
        let mut calls = prf_blocks(point.sbox, 1);
        let mut name = format!("PRF of one block with {}", point.sbox);
        if point.key == KeyMode::Expand {
            // A message in the expansion of one key fits in a word.
            calls += 3 * 2 * expansion_cost(KeySize::Aes128, point.sbox, 1).rounds;
            name += " and its key";
        }
        return ctx.bound(&name, Unit::MS, |_| Ok(1e3 * count(calls) / peak));
    }
    if let Some(taken) = taken {
        let delays = format!("{rounds} one-way delays of");
        return taken.bound(ctx, &delays, &Unit::MS, |one_way| count(rounds) * one_way);
    }
    let name = format!("{rounds} one-way delays of {}", point.net);
    ctx.bound(&name, Unit::MS, |_| Ok(1e3 * count(rounds) * point.net.one_way().as_secs_f64()))
}
