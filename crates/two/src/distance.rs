//! How far the parties are from each other, and how much they do at a time.

use std::time::Duration;

/// AGREEMENT: OTs of a direction of a piece, which then stay in the cache.
pub(crate) const PIECE: usize = 1 << 17;

/// The distance between the parties, by which OTs of a direction are made at a time: for pieces
/// that share their rounds. AGREEMENT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distance {
    /// Rounds take less than the work between them.
    #[default]
    Near,
    /// Rounds count.
    Far,
}

impl Distance {
    /// The distance of parties who hear each other's answers after such a time.
    #[must_use]
    pub fn of(round_trip: Duration) -> Self {
        if round_trip < Distance::FAR { Distance::Near } else { Distance::Far }
    }

    /// The round trip of parties who are far from each other, and of all who are farther.
    pub const FAR: Duration = Duration::from_micros(300);

    pub(crate) const fn cots(self) -> usize {
        match self {
            Distance::Near => 1 << 17,
            Distance::Far => 1 << 21,
        }
    }

    /// Chunks of OTs whose messages travel together.
    pub(crate) const fn window(self) -> usize {
        match self {
            Distance::Near => 8,
            Distance::Far => 64,
        }
    }
}
