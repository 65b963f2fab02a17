//! The papers' figures, and their tables with our figures added.

use std::fmt::Write;

use hushwire_rep3::Sbox;

use super::grid::{KeyMode, Point};
use crate::{
    BenchRow, Paper, Report, Unit,
    human::{Scale, quantity},
    net::Transport,
};

const SLIDES: &str = "Talviste, Willemson: AES on Sharemind (2012), slide `Compare to others`";
const SATURATED: &str = "Talviste, Willemson: AES on Sharemind (2012), slide `Benchmarking, again (2)`";
const ARAKI: &str = "Araki et al., CCS 2016, three servers with 20 cores each and 10 Gb/s";

/// A line of the Sharemind slides.
struct SlideLine {
    team: &'static str,
    model: &'static str,
    s_per_block: f64,
    /// Our nearest point: key and blocks. `None` if the model differs.
    ours: Option<(KeyMode, usize)>,
    /// Whether the line is for exactly this point.
    same: bool,
}

const fn line(
    team: &'static str,
    model: &'static str,
    s_per_block: f64,
    ours: Option<(KeyMode, usize)>,
    same: bool,
) -> SlideLine {
    SlideLine { team, model, s_per_block, ours, same }
}

/// The slides' lines in their order. The last one is the saturated throughput, 12.6 kB/s.
const LINES: [SlideLine; 9] = {
    use KeyMode::{Expand, PreExpanded};
    const DAMGARD: &str = "Damgård, Keller [2009]";
    const HUANG: &str = "Huang et al. [2011]";
    const SHAREMIND: &str = "Sharemind [2011]";
    const LAUNCHBURY: &str = "Launchbury et al. [2011]";
    const fn ours(blocks: usize) -> Option<(KeyMode, usize)> {
        Some((PreExpanded, blocks))
    }
    [
        line(DAMGARD, "3-party, w/o pre-expanded key, 10 blocks in parallel", 2.0, Some((Expand, 10)), true),
        line(HUANG, "2-party, pre-expanded key", 0.06, None, false),
        line(LAUNCHBURY, "3-party, 1 block, no pipelining", 0.015, ours(1), true),
        line(LAUNCHBURY, "3-party, 64 blocks in parallel, pipelined", 0.007, ours(100), false),
        line(SHAREMIND, "3-party, pre-expanded key, 10 blocks in parallel", 0.07, ours(10), true),
        line(SHAREMIND, "3-party, pre-expanded key, 100 blocks in parallel", 0.007, ours(100), true),
        line(SHAREMIND, "3-party, pre-expanded key, 1000 blocks in parallel", 0.001, ours(1000), true),
        line(SHAREMIND, "3-party, pre-expanded key, 5000 blocks in parallel", 0.0005, ours(5000), true),
        line(SHAREMIND, "3-party, pre-expanded key, 550 blocks, saturated", 16.0 / 12_600.0, ours(550), true),
    ]
};

/// The cores, the AES/s if the paper's text has it, and the Gb/s that each server sends.
const ARAKI_LINES: [(&str, Option<f64>, f64); 6] = [
    ("1 a party", None, 0.572),
    ("5 a party", None, 2.99),
    ("10 a party", None, 5.47),
    ("16 a party", None, 6.95),
    ("20 a party", Some(1.3e6), 7.38),
    ("1 a party, scaled to all of it", Some(0.130e6), 0.780),
];
/// The AND cores of a VU9P at 125 MHz, AES/s, and Gb/s. The paper computes them from bits per
/// cycle.
const FPGA_LINES: [(u32, f64, f64); 6] = [
    (1, 0.490e6, 2.67),
    (3, 1.47e6, 8.00),
    (12, 5.89e6, 32.0),
    (24, 11.8e6, 64.0),
    (48, 23.5e6, 128.0),
    (60, 29.4e6, 160.0),
];

/// The figure of a paper for this point, in the row's unit; empty if no paper has one.
pub(super) fn stated(point: &Point) -> Paper {
    let asked = (point.key, point.blocks);
    if let Some(line) = LINES.iter().find(|line| line.same && line.ours == Some(asked)) {
        let (value, unit) = if point.blocks == 1 {
            (1e3 * line.s_per_block, Unit::MS)
        } else {
            (1.0 / line.s_per_block, Unit::BLOCKS_PER_S)
        };
        let source = if point.blocks == 550 { SATURATED } else { SLIDES };
        return Paper::new(value, &unit, source)
            .with("system", format!("{}: {}", line.team, line.model))
            .with("s_per_block", line.s_per_block)
            .with("bytes_per_second", 16.0 / line.s_per_block);
    }
    if point.key == KeyMode::PreExpanded && point.blocks >= 10_000 {
        let (and_cores, aes, gbps) = FPGA_LINES[FPGA_LINES.len() - 1];
        return Paper::new(1.3e6, &Unit::BLOCKS_PER_S, ARAKI)
            .with("gbps", 7.38)
            .with("fpga_and_cores", and_cores)
            .with("fpga_blocks_per_s", aes)
            .with("fpga_gbps", gbps);
    }
    Paper::default()
}

/// Both tables, with the rows that the report has.
pub(super) fn tables(report: &Report) -> String {
    sharemind(report) + &araki(report)
}

fn sharemind(report: &Report) -> String {
    let mut out = String::from(
        "\n## The Sharemind slides' table, ours beside\n\n\
         Tower S-box, one thread a party; TLS on loopback where it was measured. Opening the result is not in the time.\n\n\
         | team | model | s per block | B/s | ours | s per block | B/s | ratio |\n\
         |---|---|--:|--:|---|--:|--:|--:|\n",
    );
    for line in &LINES {
        let theirs = format!(
            "{} | {} | {} | {}",
            line.team,
            line.model,
            seconds(line.s_per_block),
            bytes(line.s_per_block)
        );
        let found = line.ours.and_then(|(key, blocks)| Some((key, blocks, ours(report, key, blocks)?)));
        let beside = match (found, line.ours) {
            (Some((key, blocks, row)), _) => {
                let s = s_per_block(row);
                let transport = row.params.text("transport").unwrap_or_default();
                let blocks = if blocks == 1 { "1 block".to_owned() } else { format!("{blocks} blocks") };
                let of = format!("{transport}, {}, {blocks}", key.name());
                format!("{of} | {} | {} | {}", seconds(s), bytes(s), ratio(line.s_per_block / s))
            }
            (None, Some(_)) => "not measured in this run | | |".to_owned(),
            (None, None) => "another model | | |".to_owned(),
        };
        // Writing to a string does not fail.
        let _ = writeln!(out, "| {theirs} | {beside} |");
    }
    out
}

fn araki(report: &Report) -> String {
    let mut out = String::from(
        "\n## Araki et al. and the FPGA paper's tables, ours beside\n\n\
         Gb/s are those that each party sends, without what TCP and TLS add. All of ours runs on this one machine.\n\n\
         | system | cores | M AES/s | Gb/s |\n|---|---|--:|--:|\n",
    );
    let mut line = |system: &str, cores: &str, aes: Option<f64>, gbps: f64| {
        let aes = aes.map(|aes| number(aes / 1e6)).unwrap_or_default();
        let _ = writeln!(out, "| {system} | {cores} | {aes} | {} |", number(gbps));
    };
    for (cores, aes, gbps) in ARAKI_LINES {
        line("Araki et al.", cores, aes, gbps);
    }
    for (and_cores, aes, gbps) in FPGA_LINES {
        line("FPGA, one VU9P a party, computed", &format!("{and_cores} AND cores"), Some(aes), gbps);
    }
    let usable = report.machine.usable_cores.unwrap_or(1);
    let large = |row: &&BenchRow| {
        let blocks = row.params.integer("blocks").unwrap_or(0);
        row.is(&[("key", KeyMode::PreExpanded.name())]) && blocks >= 100_000
    };
    for row in report.rows.iter().filter(large) {
        let text = |key| row.params.text(key).unwrap_or_default();
        let threads = row.params.integer("threads").and_then(|n| u64::try_from(n).ok()).unwrap_or(1);
        let inproc = row.is(&[("transport", Transport::Inproc.name())]);
        let cores = usable.min(if inproc { threads } else { 3 * threads });
        let system = format!(
            "ours: {}, {}, {} blocks, threads={threads}",
            text("sbox"),
            text("transport"),
            text("blocks")
        );
        let gbps = row.median * row.bytes_per_unit.unwrap_or(0.0) * 8.0 / 1e9;
        line(&system, &format!("{cores} for all three parties"), Some(row.median), gbps);
    }
    out
}

/// Our row for a line: the tower's, on the first transport that was measured.
fn ours(report: &Report, key: KeyMode, blocks: usize) -> Option<&BenchRow> {
    let blocks = blocks.to_string();
    let wanted = |transport: Transport| {
        let name = transport.name();
        [("sbox", Sbox::Tower.name()), ("key", key.name()), ("blocks", &*blocks), ("transport", name)]
    };
    let order = [Transport::TcpTls, Transport::TcpInsecure, Transport::Inproc];
    order.into_iter().find_map(|transport| report.rows.iter().find(|row| row.is(&wanted(transport))))
}

fn s_per_block(row: &BenchRow) -> f64 {
    if row.unit == Unit::MS { row.median / 1e3 } else { 1.0 / row.median }
}

fn seconds(s: f64) -> String {
    quantity(1e3 * s, &Unit::MS)
}

fn bytes(s_per_block: f64) -> String {
    quantity(16.0 / s_per_block, &Unit::BYTES_PER_S)
}

fn number(value: f64) -> String {
    Scale::plain().number(value)
}

fn ratio(value: f64) -> String {
    format!("{} ×", number(value))
}
