//! Processor time that a host takes from this virtual machine while the machine has work.

use std::fs;

/// The largest share of stolen time for an undisturbed row.
const MOST: f64 = 0.05;

/// The fewest requested ticks for which a share is meaningful. With this many, a single stolen tick
/// is already [`MOST`].
const LEAST_DEMAND: u64 = 20;

/// Ticks since the machine started, for all processors together.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Ticks {
    /// The time in which some thread ran or was ready to run, including stolen time.
    demand: u64,
    /// The part of it that the host gave to others.
    stolen: u64,
}

impl Ticks {
    /// The current count; `None` without Linux's `/proc/stat`.
    pub(crate) fn now() -> Option<Self> {
        Self::parse(&fs::read_to_string("/proc/stat").ok()?)
    }

    /// Parses the line for all processors: user, nice, system, idle, iowait, irq, softirq, steal.
    /// The time of guests, which may follow, is already part of user and nice.
    fn parse(text: &str) -> Option<Self> {
        let line = text.lines().find_map(|line| line.strip_prefix("cpu "))?;
        let ticks: Option<Vec<u64>> = line.split_whitespace().take(8).map(|n| n.parse().ok()).collect();
        let [user, nice, system, _idle, _iowait, irq, softirq, stolen] = ticks?[..] else { return None };
        Some(Self { demand: user + nice + system + irq + softirq + stolen, stolen })
    }

    /// The stolen share of the time that was requested since `before`, from 0 to 1. `None` if so
    /// little was requested that one tick would decide, or if the counters went backwards, as after
    /// a migration.
    pub(crate) fn stolen_since(&self, before: &Self) -> Option<f64> {
        let demand = self.demand.checked_sub(before.demand)?;
        let stolen = self.stolen.checked_sub(before.stolen)?;
        #[expect(clippy::cast_precision_loss, reason = "ticks of one row")]
        let share = stolen as f64 / demand as f64;
        (demand >= LEAST_DEMAND).then_some(share)
    }
}

/// The mark of a row during which the host took more than a twentieth of the requested time.
pub(crate) fn mark(share: f64) -> Option<String> {
    let percent = crate::human::percent(share);
    (share > MOST).then(|| format!("the host took {percent} of the processor time that was wanted"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  100 10 20 5000 300 1 2 7 40 0\ncpu0 50 5 10 2500 150 0 1 3 20 0\nintr 1\n";

    #[test]
    fn stolen_time_is_a_share_of_what_was_wanted() {
        let before = Ticks::parse(BEFORE).unwrap();
        assert_eq!(before, Ticks { demand: 140, stolen: 7 });
        // 80 ticks of work and 20 stolen ticks. Idle time and the time of guests do not count.
        let after = Ticks::parse("cpu  180 10 20 9000 900 1 2 27 90 0\n").unwrap();
        assert_eq!(after.stolen_since(&before), Some(0.2));
        assert_eq!(before.stolen_since(&after), None, "counters never go back");
        let soon = Ticks::parse("cpu  108 10 20 5000 300 1 2 8 40 0\n").unwrap();
        assert_eq!(soon.stolen_since(&before), None, "one tick of nine says nothing");
    }

    #[test]
    fn old_and_foreign_formats_are_not_guessed_at() {
        for text in ["", "cpu0 1 2 3 4 5 6 7 8\n", "cpu  1 2 3 4\n", "cpu  1 2 3 4 5 6 7 x\n"] {
            assert_eq!(Ticks::parse(text), None, "{text:?}");
        }
    }

    #[test]
    fn more_than_a_twentieth_is_marked() {
        assert_eq!((mark(0.0), mark(0.05)), (None, None));
        assert!(mark(0.051).is_some_and(|mark| mark.contains("took 5.1 %")));
    }
}
