//! `bench fpga`: the hardware party of `hdl/`, in cycles and fabric, beside the FPGA paper's Table
//! II.
//!
//! | `design` | |
//! |---|---|
//! | `and_lane` | a 128-bit AND a clock |
//! | `and_lane_ii2` | one in two clocks, with one AES pipeline |
//! | `party` | lanes with streams, keys and links |
//! | `three_party` | three parties of a lane in a ring, on one device |
//! | `sequencer` | AES-128 from microcode on `threads` batches of 640 blocks a lane |
//!
//! `lanes` is of a party; `link` the cycles of a link between parties, `threads` batches under way
//! (both `-` where there are none); `mhz` a clock that is **assumed**: nothing here is placed,
//! routed or run on a board. Metric: `throughput` in bits of AND results a second, 128 · lanes ·
//! busy · clock / interval. Cycles are counted by simulation of all three parties, every result
//! checked (`rate`: `simulated`), or those of one lane, as lanes go in step under one control
//! (`computed`; `--all`, or `--only lanes=N`, simulates those too). Area is counted by yosys
//! without packing LUTs (`area`: `synthesised`); of three lanes and more it is that of two and as
//! much again as the second took for each (`computed`). `rate_from` and `area_from` say whether
//! this run found it out or an earlier one of the same sources.

mod area;
mod device;
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

use crate::{Bench, BenchAsked, BenchError, BenchOptions, BoxError, Case, Result, Takes};
use area::{Synthesis, Top};
use device::{Area, VU9P};
use grid::{Design, Point};
use sim::Simulation;
use store::Origin;
use tools::HdlPlaces;

pub(super) const BENCHES: &[Bench] = &[Bench {
    name: "fpga",
    about: "The hardware party in cycles and fabric, by simulation and synthesis, beside the FPGA paper's Table II",
    examples: "Example:\n  hushwire bench fpga --only design=party --json fpga.json\nNeeds verilator and yosys: hdl/setup",
    takes: Takes::Options,
    core: &["*"],
    // One of each, at the paper's clock.
    quick: &["design=sequencer lanes=1 threads=1 link=50", "design!=sequencer lanes=1 mhz=125 link=-|1"],
    cases,
    below: |_, report| table::print(report),
    ..Bench::EMPTY
}];

/// Before any row it is looked whether the sources and the tools are there.
fn cases(asked: &BenchAsked) -> Result<Vec<Case<'static>>> {
    let world = World::new(&asked.options).map_err(|e| BenchError::Failed(format!("bench fpga: {e}")))?;
    let world = Rc::new(world);
    let case = |point: Point| {
        let world = world.clone();
        let name = if point.design.is_sequencer() { "aes128" } else { "and" };
        Case::new(name, point.params(), move |_| row::make(&world, &point))
    };
    Ok(Point::all().into_iter().map(case).collect())
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
    fn new(options: &BenchOptions) -> Result<Self, BoxError> {
        let places = HdlPlaces::find()?;
        Ok(Self {
            simulation: Simulation::new(&places)?,
            synthesis: Synthesis::new(&places)?,
            quick: options.quick,
            every_lane: options.all || options.only.iter().any(|asked| asked.key == "lanes"),
        })
    }

    /// The area of a module, and where it comes from.
    fn area(&self, top: &Top) -> Result<Option<(Area, Origin)>, BoxError> {
        if self.quick && top.name != "and_lane" {
            return Ok(self.synthesis.remembered(top));
        }
        self.synthesis.area(top).map(Some)
    }
}
