//! Table 5 of the VASA paper, with our figures added.

use std::fmt::Write;

use hushwire_aes::Tier;
use hushwire_ot::{Level, Protocol};

use super::{grid::OtKind, limits::aes_calls};
use crate::{BenchRow, Paper, Report, Unit, net::Transport};

const SOURCE: &str =
    "Münch, Schneider, Yalame: VASA (ACSAC 2021), Table 5, EMP-OT on a Core i7-1068NG7, localhost";
/// The number of OTs for the table's times.
pub(super) const OTS: f64 = 10e6;

/// The table's columns.
const COLUMNS: [(&str, OtKind); 3] = [("OT", OtKind::Ot), ("C-OT", OtKind::Cot), ("R-OT", OtKind::Rot)];

/// The paper's seconds, without and with VAES.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Seconds {
    pub(super) reference: f64,
    pub(super) vaes: f64,
}

/// A library of the table, with its columns OT, C-OT and R-OT. The C-OT of the last library has
/// random choices.
struct Library {
    title: &'static str,
    protocol: Protocol,
    level: Level,
    cells: [Option<Seconds>; 3],
    /// In percent, as printed.
    improvement: [f64; 3],
}

const fn cell(reference: f64, vaes: f64) -> Option<Seconds> {
    Some(Seconds { reference, vaes })
}

/// The libraries in the table's order. The first two have passive security.
const LIBRARIES: [Library; 5] = [
    Library {
        title: "EMP-OT IKNP",
        protocol: Protocol::Iknp,
        level: Level::SemiHonest,
        cells: [cell(0.35, 0.28), cell(0.20, 0.16), cell(0.33, 0.25)],
        improvement: [20.0, 20.0, 24.2],
    },
    Library {
        title: "EMP-OT FERRET",
        protocol: Protocol::FerretB11,
        level: Level::SemiHonest,
        cells: [cell(1.33, 1.13), cell(1.14, 0.99), cell(1.32, 1.09)],
        improvement: [15.0, 10.4, 17.4],
    },
    Library {
        title: "EMP-OT ALSZ",
        protocol: Protocol::Alsz,
        level: Level::Malicious,
        cells: [cell(0.39, 0.32), cell(0.24, 0.19), cell(0.38, 0.29)],
        improvement: [17.9, 20.8, 23.7],
    },
    Library {
        title: "EMP-OT FERRET",
        protocol: Protocol::FerretB11,
        level: Level::Malicious,
        cells: [cell(1.38, 1.21), cell(1.20, 1.04), cell(1.37, 1.16)],
        improvement: [12.3, 13.3, 15.3],
    },
    Library {
        title: RANDOM,
        protocol: Protocol::FerretB11,
        level: Level::Malicious,
        cells: [None, cell(0.94, 0.80), None],
        improvement: [0.0, 14.8, 0.0],
    },
];
const RANDOM: &str = "+Random Choice";

impl Library {
    /// Our kind of OT in a column.
    fn kind(&self, column: usize) -> OtKind {
        if self.title == RANDOM { OtKind::Rcot } else { COLUMNS[column].1 }
    }

    /// The work that takes time in addition to AES.
    fn beside_aes(&self) -> &'static str {
        match self.protocol {
            Protocol::Alsz => "the comparison of rows in pairs, their transposition and the link",
            Protocol::FerretB11 => "LPN's reads all over a table that the second cache does not hold",
            _ => "transposition, memory and the link",
        }
    }
}

/// The paper's figures for these OTs: seconds, and the improvement in percent.
pub(super) fn line(protocol: Protocol, level: Level, kind: OtKind) -> Option<(Seconds, f64)> {
    let of = LIBRARIES.iter().filter(|library| library.protocol == protocol && library.level == level);
    of.flat_map(|library| (0..COLUMNS.len()).map(move |column| (library, column)))
        .filter(|(library, column)| library.kind(*column) == kind)
        .find_map(|(library, column)| Some((library.cells[column]?, library.improvement[column])))
}

/// The paper's figure for a row: its time with VAES, as a rate.
pub(super) fn stated(protocol: Protocol, level: Level, kind: OtKind) -> Paper {
    let Some((seconds, improvement)) = line(protocol, level, kind) else { return Paper::default() };
    Paper::new(OTS / seconds.vaes, &Unit::OT_PER_S, SOURCE)
        .with("ots", OTS)
        .with("ref_seconds", seconds.reference)
        .with("vaes_seconds", seconds.vaes)
        .with("improvement_percent", improvement)
}

/// Whether a report has every row of the table on its widest tier.
pub(super) fn is_whole(report: &Report) -> bool {
    let tier = widest(report);
    let has =
        |library: &Library, c: usize| library.cells[c].is_none() || ours(report, library, c, tier).is_some();
    LIBRARIES.iter().all(|library| (0..COLUMNS.len()).all(|c| has(library, c)))
}

/// The table with our rows below the paper's, as far as the report has them.
pub(super) fn print(report: &Report, ots: usize) -> String {
    let (old, new) = (Some(Tier::AesNi), widest(report));
    let mut out = String::from("\n## Table 5 of the VASA paper, ours beside\n\nSeconds for 10 million OTs");
    if ots as f64 != OTS {
        // Writing to a string does not fail.
        let _ = write!(out, ", ours scaled from runs of {ots}");
    }
    out += "; plain TCP on loopback, set-up excluded. Improvement: seconds saved, in per cent.\n\n\
            | security | library | impl | OT | C-OT | R-OT |\n|---|---|---|--:|--:|--:|\n";
    let mut less = String::new();
    for (i, library) in LIBRARIES.iter().enumerate() {
        let security = match i {
            0 => "passive",
            2 => "active",
            _ => "",
        };
        let paper = |of: fn(Seconds) -> f64| library.cells.map(|cell| cell.map(of));
        let our = |tier| [0, 1, 2].map(|column| ours(report, library, column, tier).map(seconds));
        let (before, with) = (our(old), our(new));
        let saved =
            [0, 1, 2].map(|c| before[c].zip(with[c]).map(|(before, with)| 100.0 * (1.0 - with / before)));
        let printed = [0, 1, 2].map(|c| library.cells[c].map(|_| library.improvement[c]));
        let mut line = |security: &str, title: &str, name: &str, cells: [String; 3]| {
            let _ = writeln!(out, "| {security} | {title} | {name} | {} |", cells.join(" | "));
        };
        let time = |cell: Option<f64>| cell.map_or("—".to_owned(), |s| format!("{s:.2}"));
        let short = |cell: Option<f64>| cell.map_or("—".to_owned(), |s| format!("{s:.3}"));
        let percent = |cell: Option<f64>| cell.map_or("—".to_owned(), |p| format!("{p:.1}%"));
        line(security, library.title, "Ref", paper(|s| s.reference).map(time));
        line("", "", "VAES", paper(|s| s.vaes).map(time));
        line("", "", "Improv%", printed.map(percent));
        let of = format!("ours: {} {}", library.protocol, library.level.name());
        line("", &of, "aesni", before.map(short));
        line("", "", new.map_or("VAES", Tier::name), with.map(short));
        line("", "", "Improv%", saved.map(percent));
        for column in 0..COLUMNS.len() {
            if let (Some(ours), Some(paper)) = (saved[column], printed[column])
                && ours < paper
            {
                less += &less_saved(report, library, column, [ours, paper]);
            }
        }
    }
    if !less.is_empty() {
        out += "\nWhere wider instructions save less than in the paper:\n\n";
        out += &less;
    }
    out
}

/// The reason why wider AES instructions save less: the part of the time that is not AES at full
/// rate.
fn less_saved(report: &Report, library: &Library, column: usize, [ours_saved, paper]: [f64; 2]) -> String {
    let kind = library.kind(column);
    let Library { protocol, level, .. } = *library;
    let (old, new) = (Tier::AesNi, widest(report));
    let calls = aes_calls(protocol, level, kind).into_iter().fold(0.0, f64::max);
    let per_ot = |tier: Tier| Some(calls / report.limits.get(&format!("{tier} rounds"))?.value);
    let share = || {
        let row = ours(report, library, column, Some(old))?;
        let (new, before, with) = (new?, per_ot(old)?, per_ot(new?)?);
        Some((new, 100.0 * before * row.median, 100.0 * (before - with) * row.median))
    };
    let title = if kind == OtKind::Rcot { "random C-OT" } else { COLUMNS[column].0 };
    let mut text =
        format!("- {protocol} {}, {title}: {ours_saved:.1} %, in the paper {paper:.1} %.", level.name());
    if let Some((new, aes, spared)) = share() {
        // Writing to a string does not fail.
        let _ = write!(
            text,
            " On {old}, AES at the rate of rounds alone is {aes:.0} % of the time, and {new} spares {spared:.1} %; \
             what binds is {}.",
            library.beside_aes()
        );
    }
    text + "\n"
}

/// The widest tier among the rows.
fn widest(report: &Report) -> Option<Tier> {
    let tiers = report.rows.iter().filter_map(|row| row.params.text("tier")?.parse::<Tier>().ok());
    tiers.max_by_key(|tier| Tier::ALL.iter().position(|t| t == tier))
}

/// Our row for a cell.
fn ours<'a>(
    report: &'a Report,
    library: &Library,
    column: usize,
    tier: Option<Tier>,
) -> Option<&'a BenchRow> {
    library.cells[column]?;
    let wanted = [
        ("protocol", &*library.protocol.to_string()),
        ("security", library.level.name()),
        ("kind", library.kind(column).name()),
        ("tier", tier?.name()),
        ("batched", "true"),
        ("transport", Transport::TcpInsecure.name()),
        ("net", "none"),
    ];
    report.rows.iter().find(|row| row.unit == Unit::OT_PER_S && row.is(&wanted))
}

fn seconds(row: &BenchRow) -> f64 {
    OTS / row.median
}
