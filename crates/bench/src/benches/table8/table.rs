//! Table 8 in the paper's form, with this run's figures added.

use std::fmt::Write;

use hushwire_garble::Scheme;

use super::{Impl, PaperCircuit, SCHEMES};
use crate::{
    BenchRow, Params, Report,
    axes::params,
    benches::garble::GarbleOp,
    papers::{VASA_4, VASA_8, beside},
};

/// The relative difference of counts from which on times per AND are compared.
const DIFFERENT: f64 = 0.05;

/// The table, with the parts that were measured.
pub(super) fn print(report: &Report) -> String {
    let mut out = String::from("\nMilliseconds, ours / the paper's");
    out += " (Core i7-1068NG7; fixed key alone has a reference there). Improv% is over the line above.\n";
    for op in GarbleOp::ALL {
        let _ = write!(out, "\nOurs: {}. The paper's: {}.\n", super::phase(op), super::paper_phase(op));
        let _ = write!(out, "\n| {} | | PRP | MI | CIRC | PRF |\n|---|---|--:|--:|--:|--:|\n", op.name());
        for work in PaperCircuit::ALL.map(Some).into_iter().chain([None]) {
            let ours =
                |k: usize, column: usize| find(report, &params(work, SCHEMES[column], Impl::ALL[k], op));
            let ours = |k: usize, column: usize| ours(k, column).map(|row| row.median);
            let theirs = |k: usize, column: usize| theirs(work, SCHEMES[column], Impl::ALL[k], op);
            let first = format!("| {} ", work.map_or("mean", PaperCircuit::name));
            let names = (&*first, &Impl::ALL.map(Impl::name)[..]);
            beside(&mut out, names, (SCHEMES.len(), 1), |k| k.checked_sub(1), [&ours, &theirs]);
        }
    }
    out + &differences(report)
}

fn params(work: Option<PaperCircuit>, scheme: Scheme, imp: Impl, op: GarbleOp) -> Params {
    let circuit = work.map_or("mean", PaperCircuit::name);
    params!(work; circuit = circuit, scheme = scheme, impl = imp, op = op)
}

fn theirs(work: Option<PaperCircuit>, scheme: Scheme, imp: Impl, op: GarbleOp) -> Option<f64> {
    if work.is_some() { &VASA_8 } else { &VASA_4 }.figure(&params(work, scheme, imp, op))
}

fn find<'a>(report: &'a Report, wanted: &Params) -> Option<&'a BenchRow> {
    report.rows.iter().find(|row| row.params == *wanted)
}

/// The circuits whose number of ANDs differs from the paper's.
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
            for op in GarbleOp::ALL {
                for imp in Impl::ALL {
                    for scheme in SCHEMES {
                        let ours = find(report, &params(Some(work), scheme, imp, op));
                        let Some((ours, theirs)) = ours.zip(theirs(Some(work), scheme, imp, op)) else {
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
