//! `bench fpga`: the hardware party of `hdl/`, in cycles and fabric, beside the FPGA paper's Table II.
//!
//! | `design` | |
//! |---|---|
//! | `and_lane` | a 128-bit AND a clock |
//! | `and_lane_ii2` | one in two clocks, with one AES pipeline |
//! | `party` | lanes with streams, keys and links |
//! | `three_party` | three parties of a lane in a ring, on one device |
//! | `sequencer` | AES-128 from microcode on `threads` batches of 640 blocks a lane |
//!
//! `lanes` is of a party; `link` the cycles of a link between parties, `threads` batches under way (both `-` where there
//! are none); `mhz` a clock that is **assumed**: nothing here is placed, routed or run on a board. Metric: `throughput`
//! in bits of AND results a second, 128 · lanes · busy · clock / interval. Cycles are counted by simulation of all three
//! parties, every result checked (`rate`: `simulated`), or those of one lane, as lanes go in step under one control
//! (`computed`; `--all`, or `--only lanes=N`, simulates those too). Area is counted by yosys without packing LUTs
//! (`area`: `synthesised`); of three lanes and more it is that of two and as much again as the second took for each
//! (`computed`). `rate_from` and `area_from` say whether this run found it out or an earlier one of the same sources.

mod area;
mod device;
mod error;
mod grid;
mod paper;
mod rates;
mod row;
mod sim;
mod store;
mod table;
#[cfg(test)]
mod tests;
mod tools;

use std::rc::Rc;

use crate::{BenchOptions, Case, Error, Report, Result};
use area::{Synthesis, Top};
use device::{Area, VU9P};
use error::FpgaError;
use grid::{Design, Point};
use sim::Simulation;
use store::Origin;
use tools::Places;

/// Counts cycles and fabric, and prints the paper's Table II below, ours beside.
///
/// # Errors
/// As [`crate::run`]; before any row [`Error::Setup`] where the sources or a tool are absent. A case fails when a
/// simulated result is wrong.
pub fn run(options: &BenchOptions) -> Result<Report> {
    let world = World::new(options).map_err(|e| Error::Setup { bench: "fpga", source: e.into() })?;
    crate::run_with("fpga", cases(&Rc::new(world)), options, table::print)
}

fn cases(world: &Rc<World>) -> Vec<Case<'static>> {
    let case = |point: Point| {
        let world = world.clone();
        let name = if point.design.is_sequencer() { "aes128" } else { "and" };
        let case = Case::new(name, point.params(), move |_| Ok(row::make(&world, &point)?));
        case.core(point.core()).quick(point.quick())
    };
    Point::all().into_iter().map(case).collect()
}

/// The tools, and what the options ask of them.
struct World {
    simulation: Simulation,
    synthesis: Synthesis,
    /// Areas that would take long are left out where they are not remembered.
    quick: bool,
    /// Simulate any number of lanes.
    every_lane: bool,
}

impl World {
    fn new(options: &BenchOptions) -> std::result::Result<Self, FpgaError> {
        let places = Places::find()?;
        Ok(Self {
            simulation: Simulation::new(&places)?,
            synthesis: Synthesis::new(&places)?,
            quick: options.quick,
            every_lane: options.all || options.only.iter().any(|asked| asked.key == "lanes"),
        })
    }

    /// The area of a module, and where it comes from.
    fn area(&self, top: &Top) -> std::result::Result<Option<(Area, Origin)>, FpgaError> {
        if self.quick && top.name != "and_lane" {
            return Ok(self.synthesis.remembered(top));
        }
        self.synthesis.area(top).map(Some)
    }
}
