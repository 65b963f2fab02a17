//! One row: cycles, area, and the figures that follow from them.

use serde_json::{Map, Value, json};

use super::{
    Area, Design, Origin, Point, VU9P, World, paper,
    rates::{OUR_ANDS, PAPER_ANDS, aes_per_s, gbps},
};
use crate::{BenchRow, BoxError, Measurement, Unit};

/// The cycles of a point, in the units of its row.
struct Cycles {
    interval: f64,
    latency: u64,
    busy: f64,
    /// The number of simulated lanes.
    lanes: u32,
    origin: Origin,
    blocks_per_1000: Option<f64>,
    /// The fields that only this design has, with their values.
    more: Vec<(&'static str, u64)>,
}

pub(super) fn make(world: &World, point: &Point) -> Result<BenchRow, BoxError> {
    let cycles = cycles(world, point)?;
    let rate = gbps(point.lanes, cycles.busy, point.mhz, cycles.interval);
    let unit = Unit::per_second("bits");
    let bits = rate * 1e9;
    let measured = Measurement { median: bits, min: bits, max: bits, runs: 1 };
    // Three parties with one lane each correspond to three cores in the paper's table.
    let cores = if point.design == Design::ThreeParty { 3 } else { point.lanes };
    let stated = match point.design {
        Design::Party | Design::ThreeParty => paper::stated(cores, point.mhz),
        _ => crate::Paper::default(),
    };
    let mut row = BenchRow::new("throughput", unit, measured)
        .paper(stated)
        .with("initiation_interval", cycles.interval)
        .with("latency_cycles", cycles.latency)
        .with("lane_busy", cycles.busy)
        .with("ands_per_clock", f64::from(point.lanes) * cycles.busy / cycles.interval)
        .with("blocks_per_1000_cycles", cycles.blocks_per_1000)
        .with("gbps", rate)
        .with("aes_per_s", aes_per_s(rate, PAPER_ANDS))
        .with("aes_per_s_5120", aes_per_s(rate, OUR_ANDS))
        .with("and_cores", cores)
        .with("clock", "assumed")
        .with("rate", if cycles.lanes == point.lanes { "simulated" } else { "computed" })
        .with("rate_from", cycles.origin.name());
    for (key, value) in &cycles.more {
        row = row.with(key, *value);
    }
    let area = area(world, point)?;
    for (key, value) in keys(area.map(|(area, ..)| area)) {
        row = row.with(&key, value);
    }
    let share = area.map(|(area, ..)| area.share(&VU9P));
    let form =
        area.map_or("left out", |(.., synthesised)| if synthesised { "synthesised" } else { "computed" });
    row = row
        .with("fabric_share", share.map(|(share, _)| share))
        .with("fabric_resource", share.map(|(_, resource)| resource))
        .with("gbps_per_percent", share.map(|(share, _)| rate / (100.0 * share)))
        .with("area", form)
        .with("area_from", area.map(|(_, origin, _)| origin.name()));
    // Variants with other parameters, for which only the area is counted.
    let other = point.design.other().filter(|_| point.lanes == 1);
    if let Some((name, top)) = other
        && let Some((area, _)) = world.area(&top)?
    {
        let mut form = keys(Some(area));
        form.insert("fabric_share".into(), area.share(&VU9P).0.into());
        row = row.with(name, form);
    }
    Ok(row)
}

fn cycles(world: &World, point: &Point) -> Result<Cycles, BoxError> {
    let lanes = if point.simulated() || world.every_lane { point.lanes } else { 1 };
    if point.design.is_sequencer() {
        let (counted, origin) = world.simulation.batches(lanes, point.threads, point.link, 1)?;
        // More lanes compute proportionally more blocks in the same cycles.
        let times = f64::from(point.lanes) / f64::from(lanes);
        return Ok(Cycles {
            interval: 1.0,
            latency: counted.total_cycles,
            busy: counted.busy(),
            lanes,
            origin,
            blocks_per_1000: Some(counted.blocks_per_1000() * times),
            more: vec![
                ("blocks", counted.instances * u64::from(point.threads * point.lanes / lanes)),
                ("and_cycles", counted.ands),
                ("cycles", counted.cycles),
                ("total_cycles", counted.total_cycles),
            ],
        });
    }
    let (counted, origin) = world.simulation.stream(point.design.name(), lanes, point.link)?;
    let queues = matches!(point.design, Design::Party | Design::ThreeParty);
    Ok(Cycles {
        interval: counted.interval(),
        latency: counted.latency,
        // The pauses of a stream are part of its interval.
        busy: 1.0,
        lanes,
        origin,
        blocks_per_1000: None,
        more: if queues { vec![("depth", counted.depth)] } else { vec![] },
    })
}

/// The area, its origin, and whether exactly this design was synthesised.
fn area(world: &World, point: &Point) -> Result<Option<(Area, Origin, bool)>, BoxError> {
    let Some((one, origin)) = world.area(&point.design.top(1))? else { return Ok(None) };
    if point.lanes == 1 {
        return Ok(Some((one, origin, true)));
    }
    let Some((two, second)) = world.area(&point.design.top(2))? else { return Ok(None) };
    let origin = if origin == Origin::Run { origin } else { second };
    Ok(Some((Area::of_lanes(one, two, point.lanes), origin, false)))
}

fn keys(area: Option<Area>) -> Map<String, Value> {
    let kinds = ["luts", "ffs", "brams", "urams", "muxf7", "muxf8", "srls", "dsps"];
    let values = area.map_or_else(|| json!({}), |area| json!(area));
    kinds.into_iter().map(|kind| (kind.to_owned(), values.get(kind).cloned().unwrap_or_default())).collect()
}
