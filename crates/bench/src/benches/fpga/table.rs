//! The paper's Table II with our figures added, the number of blocks that fill the lanes, and the
//! targets.

use std::fmt::Write;

use super::{
    grid::{CLOCK, CLOCKS, LANES, LINK, LINKS, MOST},
    paper,
    rates::{Enough, enough, gbps, lanes_for, no_further_gain},
};
use crate::{BenchRow, Report, human::percent};

/// Lanes count as busy from this fraction on.
const BUSY: f64 = 0.9;
/// The largest relative gain that does not count.
const GAIN: f64 = 0.01;
/// The line to fill, in Gb/s, and the most lanes for it.
const LINE: f64 = 200.0;
const LINE_LANES: u32 = 8;

/// All parts that were measured.
pub(super) fn print(report: &Report) -> String {
    areas(report) + &table_2(report) + &sweep(report) + &goals(report) + WHAT_IS_NOT
}

const WHAT_IS_NOT: &str = "\nNot measured: nothing was placed, routed or run on a board, and clock rates are assumed. LUTs are counted as \
     synthesis left them; packing two small ones into one would take fewer.\n";

fn number(row: &BenchRow, key: &str) -> Option<f64> {
    row.more.get(key)?.as_f64()
}

fn word<'a>(row: &'a BenchRow, key: &str) -> &'a str {
    row.more.get(key).and_then(|v| v.as_str()).unwrap_or("—")
}

fn find<'a>(report: &'a Report, wanted: &[(&str, &str)]) -> Option<&'a BenchRow> {
    let fits =
        |row: &&BenchRow| wanted.iter().all(|(key, value)| row.params.text(key).as_deref() == Some(*value));
    report.rows.iter().find(fits)
}

/// The row of a design with this many lanes. For the sequencer it is the row with all threads and a
/// link from board to board.
fn of<'a>(report: &'a Report, design: &str, lanes: u32, mhz: u32) -> Option<&'a BenchRow> {
    let (lanes, mhz, most, link) = (lanes.to_string(), mhz.to_string(), MOST.to_string(), LINK.to_string());
    let mut wanted = vec![("design", design), ("lanes", &*lanes), ("mhz", &*mhz)];
    match design {
        "sequencer" => wanted.extend([("threads", &*most), ("link", &*link)]),
        "and_lane" | "and_lane_ii2" => {}
        _ => wanted.push(("link", "1")),
    }
    find(report, &wanted)
}

fn share(value: Option<f64>) -> String {
    value.map_or("—".into(), |v| format!("{:.2} %", 100.0 * v))
}

fn text(value: Option<f64>, digits: usize) -> String {
    value.map_or("—".into(), |v| format!("{v:.digits$}"))
}

/// One line for each design with an area.
fn areas(report: &Report) -> String {
    let mut out = String::new();
    let mut line = |name: &str, figure: &dyn Fn(&str) -> Option<f64>, resource: &str| {
        if figure("luts").is_some() {
            let cells =
                ["luts", "ffs", "brams", "urams", "muxf7", "muxf8", "srls"].map(|k| text(figure(k), 0));
            let _ = writeln!(
                out,
                "| {name} | {} | {}{resource} |",
                cells.join(" | "),
                share(figure("fabric_share"))
            );
        }
    };
    for design in ["and_lane", "and_lane_ii2", "party", "three_party", "sequencer"] {
        let lane = |row: &&BenchRow| {
            let text = |key| row.params.text(key);
            text("design").as_deref() == Some(design) && text("lanes").as_deref() == Some("1")
        };
        let Some(row) = report.rows.iter().find(lane) else { continue };
        line(design, &|key| number(row, key), &format!(" ({})", word(row, "fabric_resource")));
        for (form, name) in
            [("composite_sbox", "composite S-box"), ("ii2", "interval 2"), ("contexts_8", "8 threads")]
        {
            let figure = |key: &str| row.more.get(form)?.get(key)?.as_f64();
            line(&format!("{design}, {name}"), &figure, "");
        }
    }
    if out.is_empty() {
        return out;
    }
    "\n## One lane a party: area, by synthesis\n\n\
     | design | LUT | FF | BRAM | URAM | F7 | F8 | SRL | of a VU9P |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|\n"
        .to_owned()
        + &out
}

fn table_2(report: &Report) -> String {
    let mut out = String::new();
    for mhz in CLOCKS {
        for (design, shown) in [("party", "party"), ("sequencer", "sequencer, 16 threads, link 50")] {
            for lanes in LANES {
                if let Some(row) = of(report, design, lanes, mhz) {
                    line(&mut out, row, shown, lanes, mhz);
                }
            }
        }
        if let Some(row) = of(report, "three_party", 1, mhz) {
            line(&mut out, row, "three_party", 3, mhz);
        }
    }
    if out.is_empty() {
        return out;
    }
    "\n## Table II of the FPGA paper, ours / the paper's (125 MHz)\n\n\
     A lane is the paper's AND core. Of three_party, whose three cores the paper counts as such, Gb/s are one party's, and the\n\
     paper's line is for three cores. A sequencer is bound by UltraRAM, which holds the slots of all threads: above 100 % it does not fit.\n\n\
     | MHz | design | AND cores | bits | Gb/s | M AES/s of 5440 ANDs | of 5120 | of a VU9P | Gb/s per % | × the paper's | cycles | area |\n\
     |--:|---|--:|--:|--:|--:|--:|--:|--:|--:|---|---|\n"
        .to_owned()
        + &out
}

fn line(out: &mut String, row: &BenchRow, design: &str, cores: u32, mhz: u32) {
    let theirs = paper::TABLE_2.into_iter().find(|line| line.0 == cores);
    let beside = |ours: String, theirs: Option<f64>, digits: usize| match theirs {
        Some(_) => format!("{ours} / {}", text(theirs, digits)),
        None => ours,
    };
    let per_percent = number(row, "gbps_per_percent");
    let ratio = per_percent.zip(paper::gbps_per_percent(1)).map(|(ours, theirs)| ours / theirs);
    let fabric = share(number(row, "fabric_share"));
    let fabric = match theirs.and_then(|line| line.3) {
        Some(theirs) => format!("{fabric} / {:.2} %", 100.0 * theirs),
        None => fabric,
    };
    let aes = number(row, "aes_per_s").map(|aes| aes / 1e6);
    let aes_ours = number(row, "aes_per_s_5120").map(|aes| aes / 1e6);
    let _ = writeln!(
        out,
        "| {mhz} | {design} | {cores} | {} | {} | {} | {} | {fabric} | {} | {} | {} | {} |",
        128 * cores,
        beside(text(number(row, "gbps"), 1), theirs.map(|line| line.1), 2),
        beside(text(aes, 2), theirs.map(|line| line.2), 2),
        text(aes_ours, 2),
        text(per_percent, 2),
        text(ratio, 1),
        word(row, "rate"),
        word(row, "area"),
    );
}

/// The threads and the busy fractions of a lane over a link, ascending.
fn busy(report: &Report, link: u32) -> Vec<(u32, f64)> {
    let (link, clock) = (link.to_string(), CLOCK.to_string());
    let fits = |row: &&BenchRow| {
        let is = |key, value: &str| row.params.text(key).as_deref() == Some(value);
        is("design", "sequencer") && is("lanes", "1") && is("mhz", &clock) && is("link", &link)
    };
    let of = |row: &BenchRow| {
        Some((u32::try_from(row.params.integer("threads")?).ok()?, number(row, "lane_busy")?))
    };
    report.rows.iter().filter(fits).filter_map(of).collect()
}

fn sweep(report: &Report) -> String {
    let sweeps: Vec<_> = LINKS.into_iter().map(|link| (link, busy(report, link))).collect();
    let sweeps: Vec<_> = sweeps.into_iter().filter(|(_, sweep)| sweep.len() > 1).collect();
    if sweeps.is_empty() {
        return String::new();
    }
    let mut out = String::from(
        "\n## How many blocks keep the sequencer's lane busy\n\n\
         AES-128, 640 blocks a thread, each thread one batch: filling and draining are in it.\n\n\
         | link, cycles | threads: busy |\n|--:|---|\n",
    );
    for (link, sweep) in &sweeps {
        let cells: Vec<_> = sweep.iter().map(|(threads, busy)| format!("{threads}: {busy:.3}")).collect();
        let _ = writeln!(out, "| {link} | {} |", cells.join(", "));
    }
    out += "\n";
    let blocks =
        |e: Enough| format!("{} blocks ({} threads, busy {:.3}): k = {}", e.blocks, e.threads, e.busy, e.k);
    for (link, sweep) in &sweeps {
        let filled = enough(sweep, 1, BUSY).map_or_else(
            || "no number of threads that was tried keeps a lane 90 % busy".to_owned(),
            |e| format!("a lane is 90 % busy from {}", blocks(e)),
        );
        let most = no_further_gain(sweep, 1, GAIN).map_or_else(
            || "the last step still gains".to_owned(),
            |e| format!("no further gain from {}", blocks(e)),
        );
        let _ = writeln!(out, "- Links of {link} cycles: {filled}; {most}. With n lanes, n times as many.");
    }
    out + &in_step(report)
}

/// The simulated numbers of lanes, compared with one lane.
fn in_step(report: &Report) -> String {
    let mut out = String::new();
    for lanes in &LANES[1..] {
        for link in LINKS {
            let (most, link) = (MOST.to_string(), link.to_string());
            let row = |lanes: &str| {
                find(
                    report,
                    &[("design", "sequencer"), ("lanes", lanes), ("threads", &most), ("link", &link)],
                )
            };
            let Some((one, row)) = row("1").zip(row(&lanes.to_string())) else { continue };
            if word(row, "rate") == "simulated" {
                let cycles = |row| number(row, "total_cycles");
                let same =
                    if cycles(one) == cycles(row) { "the same cycles as" } else { "OTHER cycles than" };
                let [a, b] = [one, row].map(|row| text(cycles(row), 0));
                let _ = writeln!(
                    out,
                    "- {lanes} lanes, links of {link}: {same} one lane ({b}, {a}), by simulation."
                );
            }
        }
    }
    out
}

fn goals(report: &Report) -> String {
    let mut lines = vec![];
    let mut goal = |reached: bool, text: String| {
        lines.push(format!("- {}: {text}", if reached { "reached" } else { "MISSED" }));
    };
    if let Some((interval, rate)) = of(report, "and_lane", 1, paper::MHZ)
        .and_then(|row| number(row, "initiation_interval").zip(number(row, "gbps")))
    {
        let times = rate / paper::TABLE_2[0].1;
        goal(
            interval <= 1.0,
            format!(
                "interval {interval:.0}, {rate:.2} Gb/s a lane at 125 MHz, {times:.1} × the paper's (asked: 1, 6 ×)"
            ),
        );
    }
    let party = of(report, "party", 1, paper::MHZ).and_then(|row| number(row, "gbps_per_percent"));
    if let Some((ours, theirs)) = party.zip(paper::gbps_per_percent(1)) {
        let three = paper::gbps_per_percent(3).unwrap_or(f64::INFINITY);
        goal(
            ours / theirs >= 8.0,
            format!(
                "a party gives {ours:.2} Gb/s per % of the fabric, {:.1} × the paper's {theirs:.2} for its party (asked: 8 ×), and \
                 {:.1} × the {three:.2} of its three cores on 5 %",
                ours / theirs,
                ours / three
            ),
        );
    }
    let sequencer = |mhz| of(report, "sequencer", 1, mhz).and_then(|row| number(row, "lane_busy"));
    for link in LINKS {
        let sweep = busy(report, link);
        if let Some((threads, busy)) = sweep.last().filter(|(threads, _)| *threads == MOST) {
            let blocks = 640 * threads;
            goal(
                *busy >= BUSY,
                format!(
                    "the sequencer keeps its lane {} busy on {blocks} AES blocks, links of {link} cycles (asked: 90 %)",
                    percent(*busy)
                ),
            );
        }
    }
    if of(report, "party", 1, CLOCK).is_some() {
        let filled = lanes_for(LINE, 1.0, CLOCK);
        let rate = gbps(LINE_LANES, 1.0, CLOCK, 1.0);
        goal(
            filled <= LINE_LANES,
            format!("parties of {filled} lanes fill 200 Gb/s at 200 MHz, on paper ({rate:.1} Gb/s)"),
        );
    }
    if let Some(busy) = sequencer(CLOCK) {
        let filled = lanes_for(LINE, busy, CLOCK);
        let rate = gbps(LINE_LANES, busy, CLOCK, 1.0);
        goal(
            filled <= LINE_LANES,
            format!(
                "sequencers of {filled} lanes fill 200 Gb/s at 200 MHz with AES, on paper (8 lanes: {rate:.1} Gb/s)"
            ),
        );
    }
    if lines.is_empty() {
        String::new()
    } else {
        format!("\n## What was to be reached\n\n{}\n", lines.join("\n"))
    }
}
