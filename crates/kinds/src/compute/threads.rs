//! Threads, lanes and memory of three parties' computations.

use hushwire_compute::Value;
use hushwire_fault::code;
use hushwire_session::{Fault, Protocol};
use hushwire_three::{Cut, Plan};
use std::time::Duration;

/// AGREEMENT: the default number of compute threads of each of three parties.
pub(super) const THREADS: u16 = 2;

/// The number of compute threads of each party of a protocol: `asked`, or else the default.
pub(super) fn threads(protocol: Protocol, asked: Option<u16>) -> Result<u16, (String, &'static str)> {
    match (protocol, asked) {
        (Protocol::Rep3, asked) => Ok(asked.unwrap_or(THREADS).max(1)),
        // Threads share the work of each batch, and only gain if each has a core of its own.
        (Protocol::Authgarble(_) | Protocol::Ywz20(_), asked) => Ok(asked.unwrap_or(1).max(1)),
        (_, None | Some(1)) => Ok(1),
        (_, Some(n)) => Err((
            format!("{n} threads are asked for, and a party of protocol {protocol} computes on one"),
            "leave out `threads`, or take protocol rep3 or authgarble",
        )),
    }
}

/// The number of lanes between parties: those of computing and one for control. Two parties on
/// words have one more, for OTs.
pub(super) fn lanes(protocol: Protocol, threads: u16) -> u16 {
    match protocol {
        Protocol::Rep3 => Cut::new(threads, Duration::ZERO).lanes() as u16 + 1,
        Protocol::Two => 3,
        _ => 2,
    }
}

/// The cut of a run between parties that are so far apart that rounds dominate. It has no more
/// rounds than a run without pieces.
pub(super) fn far(threads: u16) -> Cut {
    Cut::new(threads, Duration::MAX)
}

/// The cut of a plan, with pieces short enough for the memory that it may take. Refuses a plan that
/// takes more even in the shortest pieces.
pub(super) fn within(plan: &Plan, cut: Cut, memory: Option<u64>) -> Result<Cut, Fault> {
    let Some(most) = memory.filter(|most| *most < u64::MAX) else { return Ok(cut) };
    if let Some(cut) = plan.cut_within(cut, most) {
        return Ok(cut);
    }
    let [takes, most] = apart(plan.memory(cut), most);
    let cause = format!("it takes up to {takes} of memory at each party, and may take {most}");
    let remedy = "allow more memory, take fewer threads, or bring fewer rows";
    Err(Fault::new(code::COMPUTATION, "planning the job", cause, remedy))
}

/// Like [`within`] for a party's shards, each of which may take `memory` bytes. `operation`
/// describes the operation to which a node of the rest belongs.
pub(super) fn within_shards(
    plan: &Plan,
    cut: Cut,
    shards: usize,
    memory: Option<u64>,
    operation: impl Fn(Value) -> String,
) -> Result<Cut, Fault> {
    let Some(most) = memory.filter(|most| *most < u64::MAX) else { return Ok(cut) };
    plan.cut_within_shards(cut, shards, most).map_err(|memory| {
        let [takes, may] = apart(memory.bytes, most);
        let (cause, remedy) = match memory.whole {
            Some((node, bytes)) if bytes > most => (
                format!(
                    "{} runs on the first shard of each party alone, takes up to {takes} of memory there, and may take {may}",
                    operation(node)
                ),
                "allow more memory, or bring fewer rows: more shards are of no help",
            ),
            _ => (
                format!("it takes up to {takes} of memory at a shard, and may take {may}"),
                "allow more memory, or take more shards",
            ),
        };
        Fault::new(code::COMPUTATION, "planning the job", cause, remedy)
    })
}

/// Formats two sizes in MiB, or in bytes if both would round to the same number.
fn apart(takes: u64, most: u64) -> [String; 2] {
    match [takes, most].map(|bytes| bytes.div_ceil(1 << 20)) {
        [a, b] if a > b => [format!("{a} MiB"), format!("{b} MiB")],
        _ => [format!("{takes} bytes"), format!("{most} bytes")],
    }
}
