//! The bounds of an OT: its AES calls, and its bytes on the link.
//!
//! AES calls for an OT, at the sender and at the receiver:
//!
//! | | sender | receiver |
//! |---|--:|--:|
//! | IKNP, KOS: 127 rows of one bit, from one seed or from both | 127/128 | 127/64 |
//! | ALSZ: 191 such rows | 191/128 | 191/64 |
//! | SoftSpoken k: 128/k trees of 2^k leaves, one unknown to the sender | (2^k − 1)/k | 2^k/k |
//! | Ferret: a leaf of a tree; ten indices of 32 bits | 1 + 2.5 | 1 + 2.5 |
//! | a random or chosen OT: hashes | 2 h | h |
//!
//! A hash is h = 1 call, or 2 if it has a tweak: in malicious modes and after Ferret. Checks, and
//! the inner nodes of trees that serve many OTs, are not counted. So a limit may be too high, but
//! never too low.

use std::thread;

use hushwire_ot::{Level, Protocol};

use super::grid::{OtKind, Point};
use crate::{
    BoxError, CaseContext, LimitBound, Unit,
    bounds::{self, count},
    link::{self, Taken},
};

/// The AES calls for an OT at the sender and at the receiver.
pub(super) fn aes_calls(protocol: Protocol, level: Level, kind: OtKind) -> [f64; 2] {
    let spoken = |k: i32| [(2f64.powi(k) - 1.0) / f64::from(k), 2f64.powi(k) / f64::from(k)];
    let (silent, [sender, receiver]) = match protocol {
        Protocol::Iknp | Protocol::Kos => (false, [127.0 / 128.0, 127.0 / 64.0]),
        Protocol::Alsz => (false, [191.0 / 128.0, 191.0 / 64.0]),
        Protocol::SoftSpoken2 => (false, spoken(2)),
        Protocol::SoftSpoken4 => (false, spoken(4)),
        Protocol::SoftSpoken8 => (false, spoken(8)),
        Protocol::FerretB9
        | Protocol::FerretB10
        | Protocol::FerretB11
        | Protocol::FerretB12
        | Protocol::FerretB13 => (true, [3.5, 3.5]),
    };
    let hash = match kind {
        OtKind::Rcot | OtKind::Cot => 0.0,
        OtKind::Rot | OtKind::Ot if silent || level == Level::Malicious => 2.0,
        OtKind::Rot | OtKind::Ot => 1.0,
    };
    [sender + 2.0 * hash, receiver + hash]
}

/// The OTs per second that AES allows on this many cores, with `threads` threads for each party,
/// and the limit's name.
pub(super) fn aes_bound(
    rounds: f64,
    [sender, receiver]: [f64; 2],
    threads: usize,
    cores: usize,
) -> (f64, String) {
    let busier = sender.max(receiver);
    if cores >= 2 * threads {
        let each = if threads == 1 { "a core each" } else { "a core for each thread" };
        let name = format!("AES at {} calls an OT, {each}", short(busier));
        return (rounds * count(threads as u64) / busier, name);
    }
    let (both, shared) = (sender + receiver, rounds * count(cores as u64));
    let bound = (shared / both).min(rounds * count(threads as u64) / busier);
    let on = if cores == 1 { "one core".to_owned() } else { format!("{cores} cores") };
    let threads = if threads == 1 { "one thread each".to_owned() } else { format!("{threads} threads each") };
    (bound, format!("AES at {} calls an OT of both parties on {on}, {threads}", short(both)))
}

/// The tightest bound of a point, if one OT took `bytes` bytes in the busier direction of its link.
pub(super) fn of(
    ctx: &mut CaseContext<'_>,
    point: &Point,
    bytes: f64,
    taken: &Taken,
) -> Result<LimitBound, BoxError> {
    let unit = Unit::OT_PER_S;
    let cores = thread::available_parallelism()?.get();
    let rounds = bounds::rounds(ctx, point.backend)?;
    let calls = aes_calls(point.protocol, point.level, point.kind);
    let (bound, name) = aes_bound(rounds, calls, point.threads, cores);
    let least = ctx.bound(&format!("{} {name}", point.backend.tier()), unit.clone(), |_| Ok(bound))?;
    let over = format!("{} bytes an OT over", short(bytes));
    link::tightened(ctx, least, (Some(taken), point.net), &over, &unit, (1.0, bytes))
}

/// A number with at most three digits after the point.
fn short(value: f64) -> String {
    format!("{}", (1e3 * value).round() / 1e3)
}
