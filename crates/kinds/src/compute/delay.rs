//! The measured delay of messages between parties. All parties agree on one number.

use hushwire_machine::{Channel, NetError};
use std::time::{Duration, Instant};

/// AGREEMENT: exchanges that are timed, after a first one that only waits for all to begin.
const TIMED: usize = 3;
const STEP: &str = "measuring delays";

/// Times exchanges with all other parties, and returns the longest of the parties' shortest delays.
/// A party that begins late finds its peer's message waiting, and the peer then waits longer by the
/// same time, in turns. Two exchanges in a row therefore take twice the delay at both.
pub(super) fn announced(control: &mut [Channel]) -> Result<Duration, NetError> {
    let mut exchange = |own: u64| -> Result<Vec<u64>, NetError> {
        let (own, mut theirs) = (own.to_le_bytes(), vec![[0; 8]; control.len()]);
        control.iter_mut().try_for_each(|channel| channel.start(STEP, &own))?;
        for (channel, theirs) in control.iter_mut().zip(&mut theirs) {
            channel.finish(STEP, &own, theirs)?;
        }
        Ok(theirs.into_iter().map(u64::from_le_bytes).collect())
    };
    exchange(0)?;
    let mut times = [Instant::now(); TIMED + 1];
    for time in &mut times[1..] {
        exchange(0)?;
        *time = Instant::now();
    }
    let own = shortest(&times);
    let theirs = exchange(own)?;
    Ok(Duration::from_nanos(theirs.into_iter().fold(own, u64::max)))
}

/// Half of the shortest time of two exchanges in a row, in nanoseconds; `times` are the ends of the
/// exchanges.
fn shortest(times: &[Instant]) -> u64 {
    let pairs = times.windows(3).map(|three| (three[2] - three[0]).as_nanos() / 2);
    pairs.min().and_then(|least| u64::try_from(least).ok()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One party begins a delay later than the other. Exchanges then take no time and twice the
    /// delay, in turns.
    #[test]
    fn who_begins_late_measures_the_same() {
        let begun = Instant::now();
        for late in [0, 7, 20] {
            let ends = [0, 20 + late, 40, 60 + late].map(|ms| begun + Duration::from_millis(ms));
            assert_eq!(Duration::from_nanos(shortest(&ends)), Duration::from_millis(20), "{late} ms late");
        }
    }
}
