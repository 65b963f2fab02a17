//! Limits that several benchmarks measure: AES rounds in registers, and copies.

use std::{convert::Infallible, hint::black_box, thread, time::Instant};

use hushwire_aes::Backend;

use crate::{BoxError, CaseContext, LimitBound, Timer, Unit, net::Transport};

/// The iterations of a call in registers, so that the call itself takes no measurable time.
const ITERATIONS: u64 = 64;

/// The name of [`rounds`] for this backend.
pub(crate) fn rounds_name(backend: Backend) -> String {
    format!("{} rounds", backend.tier())
}

/// The most AES-128 blocks per second that one core can compute with this tier, without memory
/// accesses and key schedules.
pub(crate) fn rounds(ctx: &mut CaseContext<'_>, backend: Backend) -> Result<f64, BoxError> {
    ctx.limit(&rounds_name(backend), Unit::BLOCKS_PER_S, |timer| {
        let blocks = count(ITERATIONS * backend.rounds_only(1).blocks);
        Ok(blocks * best(timer, || backend.rounds_only(ITERATIONS)))
    })
}

/// The most AES-128 blocks per second that one core can compute with this tier, if every `H` blocks
/// have their own key. It includes key schedules, and no memory accesses.
pub(crate) fn keyed_rounds<const H: usize>(
    ctx: &mut CaseContext<'_>,
    backend: Backend,
) -> Result<f64, BoxError> {
    const { assert!(H == 1 || H == 2, "the limit's name") };
    let each = if H == 1 { "a block" } else { "two blocks" };
    ctx.limit(&format!("{}, a key for {each}", rounds_name(backend)), Unit::BLOCKS_PER_S, |timer| {
        let blocks = count(ITERATIONS * backend.keyed_rounds_only::<H>(1).blocks);
        Ok(blocks * best(timer, || backend.keyed_rounds_only::<H>(ITERATIONS)))
    })
}

/// The units per second that the PRF of three parties' zero-shares allows on the cores of their
/// threads. `calls` counts the calls of all parties for a unit. In lockstep a thread computes for
/// all three.
pub(crate) fn prf(
    ctx: &mut CaseContext<'_>,
    backend: Backend,
    what: &str,
    (transport, threads): (Transport, usize),
    (unit, calls): (&Unit, f64),
) -> Result<LimitBound, BoxError> {
    let threads = if transport == Transport::Inproc { threads } else { 3 * threads };
    let cores = threads.min(thread::available_parallelism()?.get());
    let peak = rounds(ctx, backend)?;
    let name = format!("PRF of {what} on {cores} {}", if cores == 1 { "core" } else { "cores" });
    ctx.bound(&name, unit.clone(), |_| Ok(peak * count(cores as u64) / calls))
}

/// The most bytes copied per second of all runs, if source and destination have `bytes` bytes
/// together.
pub(crate) fn copies(ctx: &mut CaseContext<'_>, name: &str, bytes: usize) -> Result<f64, BoxError> {
    ctx.limit(name, Unit::BYTES_PER_S, |timer| {
        Ok(copy_rates(timer, bytes / 2).into_iter().fold(0.0, f64::max))
    })
}

/// The bytes copied per second in each run, with `len` bytes at a time from one buffer to another.
pub(crate) fn copy_rates(timer: Timer, len: usize) -> Vec<f64> {
    let (from, mut to) = (vec![1u8; len], vec![2u8; len]);
    let seconds = seconds(timer, |n| {
        for _ in 0..n {
            to.copy_from_slice(black_box(&from));
            black_box(&mut to);
        }
    });
    seconds.into_iter().map(|seconds| count(len as u64) / seconds).collect()
}

/// The most calls per second of all runs, because a limit is the machine's undisturbed rate.
fn best<T>(timer: Timer, call: impl Fn() -> T) -> f64 {
    let runs = seconds(timer, |n| {
        for _ in 0..n {
            black_box(call());
        }
    });
    1.0 / runs.into_iter().fold(f64::INFINITY, f64::min)
}

/// The seconds for each call, in each run. `work` gets the number of calls to make.
fn seconds(timer: Timer, mut work: impl FnMut(u64)) -> Vec<f64> {
    let seconds = timer.durations(|n| {
        let begin = Instant::now();
        work(n);
        Ok::<_, Infallible>(begin.elapsed())
    });
    seconds.unwrap_or_else(|never| match never {})
}

/// A count as a factor of a rate.
#[expect(clippy::cast_precision_loss, reason = "counts stay far below 2^52")]
pub(crate) fn count(n: u64) -> f64 {
    n as f64
}
