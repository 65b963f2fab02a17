//! The distance of the parties, and the amount of work that they do at a time. If parties are far
//! from each other, more pieces share their rounds. Both parties must use the same distance, since
//! it determines which pieces share their rounds.

use std::time::Duration;

/// AGREEMENT: the most OTs in each direction of a piece. They then stay in the cache.
pub(crate) const PIECE: usize = 1 << 17;

/// The distance between the parties. It sets the number of OTs in each direction that pieces with
/// shared rounds may take at a time. AGREEMENT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Distance {
    /// Rounds take less time than the work between them.
    #[default]
    Near,
    /// Rounds matter.
    Far,
}

impl Distance {
    /// The distance of parties with this round trip.
    #[must_use]
    pub fn of(round_trip: Duration) -> Self {
        if round_trip < Distance::FAR { Distance::Near } else { Distance::Far }
    }

    /// The round trip from which on parties count as far from each other.
    pub const FAR: Duration = Duration::from_micros(300);

    pub(crate) const fn cots(self) -> usize {
        match self {
            Distance::Near => 1 << 17,
            Distance::Far => 1 << 21,
        }
    }

    /// The number of chunks of OTs whose messages are sent together.
    pub(crate) const fn window(self) -> usize {
        match self {
            Distance::Near => 8,
            Distance::Far => 64,
        }
    }
}
