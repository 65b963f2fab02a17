//! The time that messages between parties are under way, which all of them take for the same.

use hushwire_machine::{Channel, NetError};
use std::time::{Duration, Instant};

/// AGREEMENT: exchanges that are timed, after one by which nobody waits for another to begin.
const TIMED: usize = 3;
const STEP: &str = "measuring delays";

/// Times exchanges with all others, of which every party hears: the longest of the parties'
/// shortest. A party that begins late finds the other's message there, and the other one waits as
/// much longer, in turns: two exchanges in a row take twice the delay at both.
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

/// Half of the shortest time of two exchanges in a row, in nanoseconds; `times` are those at which
/// exchanges end.
fn shortest(times: &[Instant]) -> u64 {
    let pairs = times.windows(3).map(|three| (three[2] - three[0]).as_nanos() / 2);
    pairs.min().and_then(|least| u64::try_from(least).ok()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parties of whom one begins a delay later than the other: exchanges take no time and twice
    /// the delay, in turns.
    #[test]
    fn who_begins_late_measures_the_same() {
        let begun = Instant::now();
        for late in [0, 7, 20] {
            let ends = [0, 20 + late, 40, 60 + late].map(|ms| begun + Duration::from_millis(ms));
            assert_eq!(Duration::from_nanos(shortest(&ends)), Duration::from_millis(20), "{late} ms late");
        }
    }
}
