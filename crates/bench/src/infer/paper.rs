//! The paper's figures: J.-P. Münch, T. Schneider, H. Yalame, "VASA: Vector AES Instructions for Security Applications",
//! ACSAC 2021, Table 9 (appendix B) and its geometric means, Table 7; seconds, CrypTFlow2 with products by OT in a ring of 32 bits, both parties on
//! one host.

use super::tables::Column;
use crate::{Paper, Unit, implementation::Implementation};

/// Networks of the tables, in their order.
pub(super) const NETWORKS: [&str; 4] = ["squeezenet", "squeezenet-cifar", "resnet50", "densenet121"];

type Figures = [Option<f64>; 7];

const fn line(figures: [f64; 7]) -> Figures {
    // Below a second nothing is printed: 0 here.
    let (mut out, mut k) = ([None; 7], 0);
    while k < 7 {
        if figures[k] > 0.0 {
            out[k] = Some(figures[k]);
        }
        k += 1;
    }
    out
}

/// Reference and VAES: convolution, truncation, ReLU, matrices, batch normalization, maxima, all.
const TABLE9: [[Figures; 2]; 4] = [
    [line([28.1, 0.0, 4.0, 27.2, 0.0, 4.7, 39.0]), line([28.0, 0.0, 2.9, 26.9, 0.0, 3.1, 35.6])],
    [line([28.0, 0.0, 4.0, 27.0, 0.0, 4.4, 38.5]), line([28.2, 0.0, 2.9, 27.2, 0.0, 3.2, 35.8])],
    [line([439.7, 30.8, 18.7, 436.1, 12.7, 3.2, 513.3]), line([448.2, 20.9, 12.7, 444.5, 11.2, 2.1, 503.1])],
    [line([250.1, 30.6, 28.6, 244.3, 19.2, 2.7, 335.6]), line([250.0, 21.1, 20.5, 243.9, 16.2, 1.9, 313.8])],
];
const TABLE7: [Figures; 2] =
    [line([96.5, 30.7, 9.6, 94.0, 15.6, 3.7, 126.8]), line([97.0, 21.0, 6.8, 94.5, 13.5, 2.5, 119.1])];

/// The paper's seconds for a cell; without a network, for the mean of all four.
pub(super) fn seconds(network: Option<&str>, implementation: Implementation, column: Column) -> Option<f64> {
    let of = match network {
        None => TABLE7,
        Some(network) => TABLE9[NETWORKS.iter().position(|n| *n == network)?],
    };
    match implementation {
        Implementation::Ref => of[0][column as usize],
        Implementation::Vaes => of[1][column as usize],
        // Theirs batches only inside of the library of OTs.
        Implementation::Batched => None,
    }
}

/// As a row has it.
pub(super) fn stated(network: Option<&str>, implementation: Implementation, column: Column) -> Paper {
    let table = if network.is_some() { "VASA, Table 9" } else { "VASA, Table 7" };
    seconds(network, implementation, column).map_or_else(Paper::default, |seconds| {
        Paper::new(1e3 * seconds, &Unit::MS, table)
            .with("machine", "Core i7-1068NG7, several threads a party, CrypTFlow2 with products by OT")
            .with("phase", column.name())
    })
}
