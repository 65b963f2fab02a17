//! The paper's figures: J.-P. Münch, T. Schneider, H. Yalame, "VASA: Vector AES Instructions for Security Applications",
//! ACSAC 2021, Table 6; milliseconds, SHA-256 among three parties on one host, means of eleven runs.

use std::fmt::Write;

use super::grid::{Phase, Point};
use crate::{Paper, Report, Unit, implementation::Implementation};

/// By implementation and phase.
const TABLE: [[f64; 4]; 3] =
    [[45.0, 564.5, 247.0, 7.0], [45.9, 580.7, 250.6, 6.7], [45.4, 453.0, 250.7, 7.0]];

/// The paper's milliseconds.
pub(super) fn ms(implementation: Implementation, phase: Phase) -> f64 {
    TABLE[implementation as usize][phase as usize]
}

/// As a row has it: for SHA-256 among three over plain TCP.
pub(super) fn stated(point: &Point) -> Paper {
    if !point.is_the_papers() {
        return Paper::default();
    }
    Paper::new(ms(point.implementation, point.phase), &Unit::MS, "VASA, Table 6")
        .with("machine", "Core i7-1068NG7, EMP-AGMPC with openings unchecked")
        .with("phase", point.phase.name())
}

/// The table of each link and variant, as far as it was measured.
pub(super) fn print(report: &Report) -> String {
    let mut links = vec![];
    for row in &report.rows {
        let link = ["transport", "net", "variant"].map(|key| row.params.text(key).unwrap_or_default());
        if !links.contains(&link) {
            links.push(link);
        }
    }
    links.iter().map(|link| print_link(report, link.each_ref().map(String::as_str))).collect()
}

fn print_link(report: &Report, [transport, net, variant]: [&str; 3]) -> String {
    let mut out =
        format!("\nMilliseconds over {transport}, net {net}: ours ({variant}) / the paper's over loopback");
    out += " (Core i7-1068NG7, openings unchecked). Improv% is over the line above.\n\n";
    out += "| | setup | function-independent | function-dependent | online |\n|---|--:|--:|--:|--:|\n";
    let ours = |implementation: Implementation, phase: Phase| {
        let row = [("implementation", implementation.name()), ("phase", phase.name())];
        let wanted = [row[0], row[1], ("transport", transport), ("net", net), ("variant", variant)];
        report.rows.iter().find(|row| row.is(&wanted)).map(|row| row.median)
    };
    let text = |value: Option<f64>| value.map_or("—".to_owned(), |v| format!("{v:.1}"));
    let mut before: Option<Implementation> = None;
    for implementation in Implementation::ALL {
        if Phase::ALL.iter().all(|phase| ours(implementation, *phase).is_none()) {
            continue;
        }
        let cells =
            Phase::ALL.map(|p| format!("{} / {:.1}", text(ours(implementation, p)), ms(implementation, p)));
        let _ = writeln!(out, "| {} | {} |", implementation.name(), cells.join(" | "));
        if let Some(before) = before {
            let gain = |old: f64, new: f64| 100.0 * (old / new - 1.0);
            let cells = Phase::ALL.map(|p| {
                let own = ours(before, p).zip(ours(implementation, p)).map(|(old, new)| gain(old, new));
                format!("{} / {:.1}", text(own), gain(ms(before, p), ms(implementation, p)))
            });
            let _ = writeln!(out, "| Improv% | {} |", cells.join(" | "));
        }
        before = Some(implementation);
    }
    out
}
