//! The paper's figures: J.-P. Münch, T. Schneider, H. Yalame, "VASA: Vector AES Instructions for Security Applications",
//! ACSAC 2021, Table 8 (appendix B) and its geometric means, Table 4; milliseconds on one Ice Lake core.

use hushwire_garble::Scheme;

use super::{Impl, PaperCircuit};
use crate::{Paper, Unit, garble::grid::Op};

/// The paper's schemes, in its columns.
pub(super) const SCHEMES: [Scheme; 4] = [Scheme::Prp, Scheme::Mi, Scheme::Circ, Scheme::Prf];

/// Reference (fixed key alone), AES-NI and VAES.
struct Block {
    reference: f64,
    aesni: [f64; 4],
    vaes: [f64; 4],
}

const fn block(reference: f64, aesni: [f64; 4], vaes: [f64; 4]) -> Block {
    Block { reference, aesni, vaes }
}

/// By circuit, in the order of [`PaperCircuit::ALL`], then the means.
const GARBLE: [Block; 5] = [
    block(47.3, [20.5, 27.6, 31.3, 98.5], [16.6, 19.0, 20.8, 66.2]),
    block(236.7, [95.4, 118.6, 145.7, 576.2], [69.8, 79.3, 87.9, 378.3]),
    block(153.0, [75.3, 98.9, 112.3, 288.1], [63.9, 74.2, 79.7, 192.7]),
    block(87.3, [33.4, 42.6, 52.7, 92.9], [25.3, 26.1, 30.7, 59.6]),
    block(110.6, [47.1, 61.0, 72.1, 197.4], [37.0, 41.3, 46.0, 130.3]),
];
const EVALUATE: [Block; 5] = [
    block(23.0, [12.5, 23.1, 15.6, 47.9], [8.6, 11.7, 10.2, 25.1]),
    block(108.8, [56.0, 139.7, 80.9, 261.7], [38.2, 51.5, 52.3, 151.3]),
    block(76.2, [41.9, 92.5, 57.3, 135.7], [33.1, 43.5, 41.9, 78.0]),
    block(53.2, [31.9, 42.7, 40.1, 66.9], [25.0, 28.4, 31.1, 41.0]),
    block(56.5, [31.1, 59.8, 41.3, 103.3], [22.9, 29.4, 28.9, 59.0]),
];

/// The paper's milliseconds for a cell; without a circuit, for the mean of all four.
pub(super) fn ms(work: Option<PaperCircuit>, scheme: Scheme, imp: Impl, op: Op) -> Option<f64> {
    let row = work.map_or(4, |work| work as usize);
    let block = match op {
        Op::Garble => &GARBLE[row],
        Op::Evaluate => &EVALUATE[row],
    };
    let column = SCHEMES.iter().position(|s| *s == scheme)?;
    match imp {
        Impl::Ref => (scheme == Scheme::Prp).then_some(block.reference),
        Impl::AesNi => Some(block.aesni[column]),
        Impl::Vaes => Some(block.vaes[column]),
    }
}

/// The phase of theirs that a figure of the paper times.
pub(super) const fn phase(op: Op) -> &'static str {
    match op {
        Op::Garble => "garble: with sending",
        Op::Evaluate => "evaluate: as reported, perhaps with waiting",
    }
}

/// As a row has it.
pub(super) fn stated(work: Option<PaperCircuit>, scheme: Scheme, imp: Impl, op: Op) -> Paper {
    let table = if work.is_some() { "VASA, Table 8" } else { "VASA, Table 4" };
    ms(work, scheme, imp, op).map_or_else(Paper::default, |ms| {
        let paper = Paper::new(ms, &Unit::MS, table)
            .with("machine", "Core i7-1068NG7, one thread")
            .with("phase", phase(op));
        // The paper's own work for the circuit, where ours may differ.
        work.map_or(paper.clone(), |work| paper.with("ands", work.paper_ands()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_4_is_the_mean_of_table_8() {
        for op in Op::ALL {
            for imp in [Impl::Ref, Impl::AesNi, Impl::Vaes] {
                for scheme in SCHEMES {
                    let Some(mean) = ms(None, scheme, imp, op) else { continue };
                    let cells = PaperCircuit::ALL.map(|work| ms(Some(work), scheme, imp, op).unwrap());
                    let product: f64 = cells.iter().product();
                    assert!((product.powf(0.25) / mean - 1.0).abs() < 0.01, "{scheme} {op:?} {imp:?}");
                }
            }
        }
    }
}
