//! The time that messages between parties are under way, which all of them take for the same.

use hushwire_wire::{Channel, NetError};
use std::time::{Duration, Instant};

/// AGREEMENT: exchanges that are timed, after one by which nobody waits for another to begin.
const TIMED: usize = 2;
const STEP: &str = "measuring delays";

/// Times exchanges with all others, of which every party hears: the longest of the parties' shortest.
pub(super) fn announced<const N: usize>(control: &mut [Channel; N]) -> Result<Duration, NetError> {
    let mut exchange = |own: u64| -> Result<[u64; N], NetError> {
        let (own, mut theirs) = (own.to_le_bytes(), [[0; 8]; N]);
        control.iter_mut().try_for_each(|channel| channel.start(STEP, &own))?;
        for (channel, theirs) in control.iter_mut().zip(&mut theirs) {
            channel.finish(STEP, &own, theirs)?;
        }
        Ok(theirs.map(u64::from_le_bytes))
    };
    exchange(0)?;
    let mut own = u64::MAX;
    for _ in 0..TIMED {
        let begun = Instant::now();
        exchange(0)?;
        own = own.min(u64::try_from(begun.elapsed().as_nanos()).unwrap_or(u64::MAX));
    }
    let theirs = exchange(own)?;
    Ok(Duration::from_nanos(theirs.into_iter().fold(own, u64::max)))
}
