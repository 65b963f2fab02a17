//! What bounds the benchmark: the PRF of the zero-shares, the loopback link, and its delay.

use std::{thread, time::Duration};

use hushwire_aes::Backend;
use hushwire_rep3::{KeySize, Sbox, cost, expansion_cost, zero_words};

use super::grid::{KeyMode, Point};
use crate::{
    BoxError, Context, Unit,
    bounds::{self, count},
    link,
    net::Transport,
};

/// Blocks of a batch so long that its padding does not count.
const MANY: usize = 4096;

/// Measures the limits of a point and gives the name of the one that binds.
pub(super) fn of(
    ctx: &mut Context<'_>,
    backend: Backend,
    point: &Point,
    rounds: u64,
) -> Result<String, BoxError> {
    if point.blocks == 1 {
        return one_block(ctx, backend, point, rounds);
    }
    let sbox = point.sbox;
    let threads = if point.transport == Transport::Inproc { point.threads } else { 3 * point.threads };
    let cores = threads.min(thread::available_parallelism()?.get());
    let peak = bounds::rounds(ctx, backend)?;
    let prf = format!("PRF of {sbox} on {cores} {}", if cores == 1 { "core" } else { "cores" });
    let bound = ctx.limit(&prf, Unit::BLOCKS_PER_S, |_| {
        Ok(peak * count(cores as u64) / (count(prf_blocks(sbox, MANY)) / count(MANY as u64)))
    })?;
    if point.transport == Transport::Inproc {
        return Ok(prf);
    }
    let (bytes_per_s, flows) = link::three_flows(ctx, point.transport)?;
    let link = format!("{sbox} over {flows}");
    let link_bound = ctx.limit(&link, Unit::BLOCKS_PER_S, |_| {
        let all_parties = count(3 * cost(KeySize::Aes128, sbox, MANY).bytes_sent) / count(MANY as u64);
        Ok(bytes_per_s / all_parties)
    })?;
    let (least, name) = if link_bound < bound { (link_bound, link) } else { (bound, prf) };
    if let Some(rate) = point.net.bits_per_second {
        let shaped = format!("{sbox} over {}", point.net);
        let bound = ctx.limit(&shaped, Unit::BLOCKS_PER_S, |_| {
            let each = count(cost(KeySize::Aes128, sbox, MANY).bytes_sent) / count(MANY as u64);
            Ok(count(rate) / 8.0 / each)
        })?;
        if bound < least {
            return Ok(shaped);
        }
    }
    Ok(name)
}

/// PRF calls of all three parties for a batch: two for every word that each of them draws.
fn prf_blocks(sbox: Sbox, blocks: usize) -> u64 {
    3 * 2 * zero_words(KeySize::Aes128, sbox, blocks)
}

/// The time of one block: over a link its delays, in one process its PRF.
fn one_block(
    ctx: &mut Context<'_>,
    backend: Backend,
    point: &Point,
    rounds: u64,
) -> Result<String, BoxError> {
    if point.transport == Transport::Inproc {
        let peak = bounds::rounds(ctx, backend)?;
        let mut calls = prf_blocks(point.sbox, 1);
        let mut name = format!("PRF of one block with {}", point.sbox);
        if point.key == KeyMode::Expand {
            // A message of the expansion of one key fits in a word.
            calls += 3 * 2 * expansion_cost(KeySize::Aes128, point.sbox, 1).rounds;
            name += " and its key";
        }
        ctx.limit(&name, Unit::MS, |_| Ok(1e3 * count(calls) / peak))?;
        return Ok(name);
    }
    if point.net.rtt > Duration::ZERO {
        let name = format!("{rounds} one-way delays of {}", point.net);
        ctx.limit(&name, Unit::MS, |_| Ok(1e3 * count(rounds) * point.net.one_way().as_secs_f64()))?;
        return Ok(name);
    }
    let (one_way, link) = link::one_way_ms(ctx, point.transport)?;
    let name = format!("{rounds} one-way delays of {link}");
    ctx.limit(&name, Unit::MS, |_| Ok(count(rounds) * one_way))?;
    Ok(name)
}
