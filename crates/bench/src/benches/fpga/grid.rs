//! The rows of the bench.

use serde_json::Value;

use super::Top;
use crate::{
    Params,
    axes::{axis, params},
};

axis! {
    /// Modules of `hdl/rtl`.
    pub(super) enum Design {
        AndLane = "and_lane",
        AndLaneIi2 = "and_lane_ii2",
        Party = "party",
        ThreeParty = "three_party",
        Sequencer = "sequencer",
    }
}

impl Design {
    pub(super) fn is_sequencer(self) -> bool {
        self == Self::Sequencer
    }

    /// The module with this many lanes.
    pub(super) fn top(self, lanes: u32) -> Top {
        match self {
            Self::AndLane | Self::AndLaneIi2 => Top::new(self.name(), &[]),
            _ => Top::new(self.name(), &[("LANES", lanes)]),
        }
    }

    /// Another variant of it, and the variant's name.
    pub(super) fn other(self) -> Option<(&'static str, Top)> {
        match self {
            Self::AndLane => Some(("composite_sbox", Top::new(self.name(), &[("COMPOSITE", 1)]))),
            Self::Party => Some(("ii2", Top::new(self.name(), &[("LANES", 1), ("II2", 1)]))),
            Self::Sequencer => Some(("contexts_8", Top::new(self.name(), &[("LANES", 1), ("CONTEXTS", 8)]))),
            _ => None,
        }
    }
}

/// The lanes of a party: the paper's numbers of AND cores, and 8 for a line of 200 Gb/s.
pub(super) const LANES: [u32; 7] = [1, 3, 8, 12, 24, 48, 60];
pub(super) const CLOCKS: [u32; 3] = [125, 200, 250];
/// The cycles of a link: none to speak of, from board to board, through a switch, and across a
/// building.
pub(super) const LINKS: [u32; 4] = [1, 50, 250, 1000];
/// The link for which numbers of lanes are compared.
pub(super) const LINK: u32 = 50;
pub(super) const THREADS: [u32; 6] = [1, 2, 4, 8, 12, 16];
/// The most threads of a row, which are all threads of the sequencer.
pub(super) const MOST: u32 = 16;
/// The clock of rows that differ only in cycles.
pub(super) const CLOCK: u32 = 200;

/// One row of the grid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Point {
    pub design: Design,
    pub lanes: u32,
    pub mhz: u32,
    /// The batches in flight; 0 without a sequencer.
    pub threads: u32,
    /// 0 without a link.
    pub link: u32,
}

impl Point {
    pub(super) fn all() -> Vec<Self> {
        let mut points = vec![];
        let mut add = |design, lanes, threads, link, clocks: &[u32]| {
            points.extend(clocks.iter().map(|&mhz| Self { design, lanes, mhz, threads, link }));
        };
        add(Design::AndLane, 1, 0, 0, &CLOCKS);
        add(Design::AndLaneIi2, 1, 0, 0, &CLOCKS);
        for lanes in LANES {
            add(Design::Party, lanes, 0, 1, &CLOCKS);
        }
        for link in &LINKS[1..3] {
            add(Design::Party, 1, 0, *link, &[CLOCK]);
        }
        add(Design::ThreeParty, 1, 0, 1, &CLOCKS);
        for link in LINKS {
            for threads in THREADS {
                add(Design::Sequencer, 1, threads, link, if threads == MOST { &CLOCKS } else { &[CLOCK] });
            }
        }
        for lanes in &LANES[1..] {
            for link in &LINKS[1..3] {
                add(Design::Sequencer, *lanes, MOST, *link, &CLOCKS);
            }
        }
        points
    }

    pub(super) fn params(&self) -> Params {
        let given = |n: u32| if n == 0 { Value::from("-") } else { n.into() };
        params!(self; design, lanes, mhz, threads = given(self.threads), link = given(self.link))
    }

    /// Whether cycles are simulated for exactly this number of lanes by default.
    pub(super) fn simulated(&self) -> bool {
        self.lanes == 1 || (self.lanes == 3 && self.design.is_sequencer())
    }
}
