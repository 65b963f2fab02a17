//! Table 8 as the paper has it, with this run's figures beside.

use std::fmt::Write;

use super::{Impl, PaperCircuit, paper};
use crate::{Report, Row, garble::grid::Op};
use paper::SCHEMES;

/// The relative difference of counts above which times per AND are compared.
const DIFFERENT: f64 = 0.05;

/// The table, as far as it was measured.
pub(super) fn print(report: &Report) -> String {
    let mut out = String::from("\nMilliseconds, ours / the paper's");
    out += " (Core i7-1068NG7; fixed key alone has a reference there). Improv% is over the line above.\n";
    for op in Op::ALL {
        let _ = write!(out, "\nOurs: {}. The paper's: {}.\n", super::phase(op), paper::phase(op));
        let _ = write!(out, "\n| {} | | PRP | MI | CIRC | PRF |\n|---|---|--:|--:|--:|--:|\n", op.name());
        for work in PaperCircuit::ALL.map(Some).into_iter().chain([None]) {
            for imp in Impl::ALL {
                lines(&mut out, report, work, imp, op);
            }
        }
    }
    out + &differences(report)
}

fn lines(out: &mut String, report: &Report, work: Option<PaperCircuit>, imp: Impl, op: Op) {
    let rows = SCHEMES.map(|scheme| find(report, work, scheme.name(), imp, op));
    if rows.iter().all(Option::is_none) {
        return;
    }
    let name = work.map_or("mean", PaperCircuit::name);
    let mut line = |label: &str, cells: Vec<String>| {
        let _ = writeln!(out, "| {name} | {label} | {} |", cells.join(" | "));
    };
    let text = |value: Option<f64>| value.map_or("—".to_owned(), |v| format!("{v:.1}"));
    let papers = SCHEMES.map(|scheme| paper::ms(work, scheme, imp, op));
    let cells = rows.iter().zip(papers);
    line(imp.name(), cells.map(|(r, p)| format!("{} / {}", text(r.map(|r| r.median)), text(p))).collect());
    if imp == Impl::Ref {
        return;
    }
    let before = if imp == Impl::Vaes { Impl::AesNi } else { Impl::Ref };
    let cell = |(row, scheme): (&Option<&Row>, _)| {
        let ours = row.and_then(|r| r.more.get("improvement_percent")?.as_f64());
        let theirs = paper::ms(work, scheme, before, op).zip(paper::ms(work, scheme, imp, op));
        format!("{} / {}", text(ours), text(theirs.map(|(old, new)| 100.0 * (old / new - 1.0))))
    };
    line("Improv%", rows.iter().zip(SCHEMES).map(cell).collect());
}

fn find<'a>(
    report: &'a Report,
    work: Option<PaperCircuit>,
    scheme: &str,
    imp: Impl,
    op: Op,
) -> Option<&'a Row> {
    let wanted = [
        ("circuit", work.map_or("mean", PaperCircuit::name)),
        ("scheme", scheme),
        ("impl", imp.name()),
        ("op", op.name()),
    ];
    report.rows.iter().find(|row| row.is(&wanted))
}

/// Circuits with another number of ANDs than the paper's.
fn differences(report: &Report) -> String {
    let mut out = String::new();
    for work in PaperCircuit::ALL {
        let Some(row) = report.rows.iter().find(|row| row.is(&[("circuit", work.name())])) else { continue };
        let Some(ands) = row.more.get("ands").and_then(serde_json::Value::as_u64) else { continue };
        let ratio = ands as f64 / work.paper_ands() as f64;
        let _ =
            write!(out, "\n- {}: {ands} ANDs, the paper's {} ({ratio:.3}).", work.name(), work.paper_ands());
        if (ratio - 1.0).abs() > DIFFERENT {
            out += " Compare times per AND:";
            for op in Op::ALL {
                for imp in Impl::ALL {
                    for scheme in SCHEMES {
                        let ours = find(report, Some(work), scheme.name(), imp, op);
                        let Some((ours, theirs)) = ours.zip(paper::ms(Some(work), scheme, imp, op)) else {
                            continue;
                        };
                        let ns =
                            [ours.median / ands as f64, theirs / work.paper_ands() as f64].map(|ms| 1e6 * ms);
                        let _ = write!(
                            out,
                            " {} {} {scheme} {:.1} / {:.1} ns;",
                            op.name(),
                            imp.name(),
                            ns[0],
                            ns[1]
                        );
                    }
                }
            }
        }
    }
    if out.is_empty() { out } else { out + "\n" }
}
