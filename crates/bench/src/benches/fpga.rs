//! `bench fpga`: the hardware party of `hdl/`, in cycles and fabric, compared with the FPGA paper's
//! Table II.
//!
//! | `design` | |
//! |---|---|
//! | `and_lane` | a 128-bit AND per clock |
//! | `and_lane_ii2` | one in two clocks, with one AES pipeline |
//! | `party` | lanes with streams, keys and links |
//! | `three_party` | three parties of a lane in a ring, on one device |
//! | `sequencer` | AES-128 from microcode on `threads` batches of 640 blocks per lane |
//!
//! `lanes` is the number of lanes of a party. `link` is the number of cycles of a link between
//! parties, and `threads` the number of batches in flight; both are `-` if there are none. `mhz` is
//! an **assumed** clock: no design here is placed, routed or run on a board. The metric is
//! `throughput` in bits of AND results per second, 128 · lanes · busy · clock / interval. Cycles
//! are counted by simulation of all three parties with every result checked (`rate`: `simulated`).
//! Or they are those of one lane, since lanes run in step under one control (`computed`; `--all`,
//! or `--only lanes=N`, simulates these too). Area is counted by yosys without packing LUTs
//! (`area`: `synthesised`). For three or more lanes it is the area of two lanes, plus the second
//! lane's area for each further lane (`computed`). `rate_from` and `area_from` tell whether the
//! figure is from this run, or from an earlier run with the same sources.

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
    // One row of each design, at the paper's clock.
    quick: &["design=sequencer lanes=1 threads=1 link=50", "design!=sequencer lanes=1 mhz=125 link=-|1"],
    cases,
    below: |_, report| table::print(report),
    ..Bench::EMPTY
}];

/// The presence of sources and tools is checked before any row.
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

/// The tools, and the options that concern them.
struct World {
    simulation: Simulation,
    synthesis: Synthesis,
    /// Whether areas that take long and are not stored are left out.
    quick: bool,
    /// Whether any number of lanes is simulated.
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

    /// The area of a module, and its origin.
    fn area(&self, top: &Top) -> Result<Option<(Area, Origin)>, BoxError> {
        if self.quick && top.name != "and_lane" {
            return Ok(self.synthesis.remembered(top));
        }
        self.synthesis.area(top).map(Some)
    }
}
