//! Rates from cycle counts, as the paper computes them.

/// The ANDs of one AES-128 with expanded key, as counted by the paper, and by us.
pub(super) const PAPER_ANDS: f64 = 5440.0;
pub(super) const OUR_ANDS: f64 = 5120.0;
/// Bits of a lane's word.
pub(super) const WORD: f64 = 128.0;
/// The instances of a batch for each lane: five cores with one word each.
pub(super) const BLOCKS_OF_LANE: u32 = 640;

/// The bits of AND results, in Gb/s.
pub(super) fn gbps(lanes: u32, busy: f64, mhz: u32, interval: f64) -> f64 {
    WORD * f64::from(lanes) * busy * f64::from(mhz) / interval / 1e3
}

/// The AES-128 per second, with `ands` ANDs each.
pub(super) fn aes_per_s(gbps: f64, ands: f64) -> f64 {
    gbps * 1e9 / ands
}

/// The number of lanes that fill a line of `line` Gb/s.
pub(super) fn lanes_for(line: f64, busy: f64, mhz: u32) -> u32 {
    (1..u32::MAX).find(|lanes| gbps(*lanes, busy, mhz, 1.0) >= line).unwrap_or(u32::MAX)
}

/// The number of independent blocks that keep the lanes busy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Enough {
    pub threads: u32,
    pub blocks: u32,
    /// The least k with 2^k ≥ blocks.
    pub k: u32,
    pub busy: f64,
}

impl Enough {
    fn new(threads: u32, lanes: u32, busy: f64) -> Self {
        let blocks = BLOCKS_OF_LANE * lanes * threads;
        Self { threads, blocks, k: blocks.next_power_of_two().trailing_zeros(), busy }
    }
}

/// The fewest threads of `sweep` (threads and busy, ascending) from which on the lanes are always
/// at least `least` busy.
pub(super) fn enough(sweep: &[(u32, f64)], lanes: u32, least: f64) -> Option<Enough> {
    let from = sweep.iter().rposition(|(_, busy)| *busy < least).map_or(0, |last| last + 1);
    sweep.get(from).map(|(threads, busy)| Enough::new(*threads, lanes, *busy))
}

/// The fewest threads of `sweep` after which no larger number makes lanes busier by more than
/// `gain`. `None` if that is only the last number, after which none was tried.
pub(super) fn no_further_gain(sweep: &[(u32, f64)], lanes: u32, gain: f64) -> Option<Enough> {
    let most = sweep.iter().map(|(_, busy)| *busy).fold(0.0, f64::max);
    let at = sweep.iter().position(|(_, busy)| *busy + gain >= most)?;
    (at + 1 < sweep.len()).then(|| Enough::new(sweep[at].0, lanes, sweep[at].1))
}
