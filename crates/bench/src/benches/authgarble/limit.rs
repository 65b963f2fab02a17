//! The limits of a phase: the AES of all parties, their bytes on the link, and the delay of the
//! phase's rounds.
//!
//! The AES calls of a party for an AND are as follows. B is the number of ANDs in a bucket, and k
//! hashes of one input take k + 1 calls:
//!
//! | phase | calls |
//! |---|---|
//! | function-independent | to each peer 3 B OTs each way of 4 calls, and 3 B hashes |
//! | function-dependent | a garbler n hashes of 4 inputs, of half gates n − 1 |
//! | online | the evaluator n hashes of n − 1 inputs, of half gates n − 1 of 2 (n − 1) |

use hushwire_aes::Backend;
use hushwire_authgarble::{Form, bucket_size};
use hushwire_wire::Shape;
use std::thread;

use super::{
    grid::{AuthPhase, Point},
    parties::Measured,
};
use crate::{
    BoxError, CaseContext, LimitBound, Unit,
    bounds::{self, count},
    link::Taken,
};

/// The AES calls of all parties for an AND, of `ands` ANDs in all.
pub(super) fn calls(point: &Point, ands: u64) -> u64 {
    let n = point.parties as u64;
    let half = point.variant == Form::HalfGates;
    match point.phase {
        AuthPhase::Setup => 0,
        AuthPhase::Independent => {
            let b = bucket_size(ands) as u64;
            n * (n - 1) * b * (3 * 2 * 4 + 3 * 2)
        }
        AuthPhase::Dependent if half => (n - 1) * 4 * n,
        AuthPhase::Dependent => (n - 1) * 4 * (n + 1),
        AuthPhase::Online if half => (n - 1) * 2 * n,
        AuthPhase::Online => (n - 1) * (n + 1),
    }
}

/// The tightest bound.
pub(super) fn of(
    ctx: &mut CaseContext<'_>,
    point: &Point,
    backend: Backend,
    run: &Measured,
    taken: Option<&Taken>,
) -> Result<LimitBound, BoxError> {
    let spent = run.phase(point.phase);
    let at = point.params().to_string();
    // Parties share cores if there are fewer cores than threads.
    let working = match point.phase {
        AuthPhase::Online => 1,
        AuthPhase::Dependent => (point.parties - 1) * point.threads,
        _ => point.parties * point.threads,
    };
    let cores = working.min(thread::available_parallelism()?.get());
    let blocks = count(calls(point, run.ands) * run.ands);
    let bytes = count(spent.total);
    let mut all = vec![];
    if blocks > 0.0 {
        let peak = bounds::rounds(ctx, backend)?;
        let name = format!("AES on {cores} cores, {at}");
        all.push(ctx.bound(&name, Unit::MS, |_| Ok(1e3 * blocks / (peak * count(cores as u64))))?);
    }
    if let Some(taken) = taken {
        all.push(taken.bound(ctx, &format!("{at} over"), &Unit::MS, |rate| 1e3 * bytes / rate)?);
    } else {
        // Every byte is copied into a queue and out of it.
        let copies = bounds::copies(ctx, "copies of 1 MiB", 1 << 20)?;
        let name = format!("copies of all messages, {at}");
        all.push(ctx.bound(&name, Unit::MS, |_| Ok(2e3 * bytes / (copies * count(cores as u64))))?);
    }
    if point.net != Shape::NONE {
        let delay = 1e3 * point.net.one_way().as_secs_f64() * count(spent.rounds);
        let sent = point.net.bits_per_second.map_or(0.0, |rate| 8e3 * count(spent.bytes) / count(rate));
        all.push(ctx.bound(&format!("{}, {at}", point.net), Unit::MS, |_| Ok(delay.max(sent)))?);
    }
    all.into_iter().reduce(|a, b| a.tighter(b, &Unit::MS)).ok_or_else(|| "a phase has no limit".into())
}
