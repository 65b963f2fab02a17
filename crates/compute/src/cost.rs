//! The price of a computation on circuits, before anything runs: its gates, and each protocol's
//! bytes for them.
//!
//! ```text
//! Computation + lengths ─► GateWork (ANDs by layer) ─► Cost, by each BooleanProtocol of a table
//! ```
//!
//! The table is open: a caller can make a [`BooleanProtocol`] of its own in addition to
//! [`PROTOCOLS`]. A cost covers gates only: protocols report set-up, oblivious transfers, inputs
//! and outputs separately.

use crate::{Computation, ComputeError, circuits};
use core::fmt::Write;
use hushwire_circuit::Program;
use std::collections::BTreeMap;

/// ANDs that do not depend on each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AndLayer {
    /// The number of ANDs of the block, at least 1.
    pub ands: usize,
    /// The number of copies of the block that run side by side.
    pub copies: usize,
}

/// The gates of a computation as a circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateWork {
    /// The layers with ANDs. Each depends on the layers before it.
    pub layers: Vec<AndLayer>,
    /// The number of bits of all inputs.
    pub input_bits: usize,
    /// The number of bits of all outputs.
    pub output_bits: usize,
}

impl GateWork {
    /// The work of a computation, with numbers for its symbols. The circuit is built, but nothing
    /// runs.
    ///
    /// # Errors
    /// The same as [`Computation::bind`] and [`circuits::program`].
    pub fn of(computation: &Computation, symbols: &BTreeMap<String, u64>) -> Result<Self, ComputeError> {
        Ok(GateWork::of_program(&circuits::program(&computation.bind(symbols)?)?))
    }

    /// The work of a program.
    #[must_use]
    pub fn of_program(program: &Program) -> Self {
        let stages = program.stages();
        let mut layers = vec![];
        for k in 0..stages.len() {
            let (block, copies) = stages.shape(k);
            let ands = block.layers().iter().map(|layer| layer.ands.len()).filter(|ands| *ands > 0);
            layers.extend(ands.map(|ands| AndLayer { ands, copies }));
        }
        GateWork { layers, input_bits: program.input_bits(), output_bits: program.output_bits() }
    }

    /// The number of ANDs.
    #[must_use]
    pub fn ands(&self) -> u64 {
        self.layers.iter().map(|layer| layer.ands as u64 * layer.copies as u64).sum()
    }

    /// The AND depth.
    #[must_use]
    pub fn depth(&self) -> u64 {
        self.layers.len() as u64
    }
}

/// The cost of gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// The number of rounds.
    pub rounds: u64,
    /// The bytes sent by the party that sends most.
    pub bytes_sent: u64,
}

/// A protocol of the table.
#[derive(Clone, Copy)]
pub struct BooleanProtocol {
    /// Its name on the command line.
    pub name: &'static str,
    /// The protocol's needs in addition to gates, in words.
    pub besides: &'static str,
    /// The cost of gates.
    pub cost: fn(&GateWork) -> Cost,
}

/// The Boolean protocols, with one instance each.
pub const PROTOCOLS: [BooleanProtocol; 3] = [
    BooleanProtocol {
        name: "yao",
        besides: "an oblivious transfer for each bit of the evaluator",
        cost: yao,
    },
    BooleanProtocol { name: "gmw", besides: "a triple for each AND", cost: gmw },
    BooleanProtocol { name: "rep3", besides: "nothing", cost: rep3 },
];

/// Half gates send 32 bytes for each AND, in one direction: S. Zahur, M. Rosulek, D. Evans, "Two
/// halves make a whole", Eurocrypt 2015.
fn yao(work: &GateWork) -> Cost {
    Cost { rounds: u64::from(!work.layers.is_empty()), bytes_sent: 32 * work.ands() }
}

/// GMW sends two bits for each AND. A message opens the operands of up to 2^20 ANDs.
fn gmw(work: &GateWork) -> Cost {
    const PART: usize = 1 << 20;
    let mut cost = Cost::default();
    for layer in &work.layers {
        let most = (PART / layer.copies).max(1);
        for first in (0..layer.ands).step_by(most) {
            let ands = most.min(layer.ands - first);
            cost.rounds += 1;
            cost.bytes_sent += 2 * (ands * layer.copies).div_ceil(8) as u64;
        }
    }
    cost
}

/// One bit for each AND. Blocks of at least eight copies send whole bytes for each AND. T. Araki,
/// J. Furukawa, Y. Lindell, A. Nof, K. Ohara, "High-throughput semi-honest secure three-party
/// computation with an honest majority", CCS 2016.
fn rep3(work: &GateWork) -> Cost {
    let bytes = |layer: &AndLayer| match layer.copies {
        ..8 => (layer.ands * layer.copies).div_ceil(8),
        copies => layer.ands * copies.div_ceil(8),
    };
    Cost { rounds: work.depth(), bytes_sent: work.layers.iter().map(|layer| bytes(layer) as u64).sum() }
}

/// The table as text, a line for each protocol.
#[must_use]
pub fn table(work: &GateWork, protocols: &[BooleanProtocol]) -> String {
    let mut out = format!("{} ANDs, {} of them one after the other\n", work.ands(), work.depth());
    for protocol in protocols {
        let Cost { rounds, bytes_sent } = (protocol.cost)(work);
        let (name, besides) = (protocol.name, protocol.besides);
        let _ = writeln!(
            out,
            "  {name}: {rounds} rounds and {bytes_sent} bytes a party for gates; besides, {besides}"
        );
    }
    out
}
