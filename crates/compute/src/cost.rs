//! The price of a computation on circuits, before anything runs: its gates, and what each protocol sends for them.
//!
//! ```text
//! Computation + lengths ─► Work (ANDs by layer) ─► Cost, by each Protocol of a table
//! ```
//!
//! The table is open: whoever has another protocol makes a [`Protocol`] of its own beside [`PROTOCOLS`]. A cost is that of gates
//! and says so: set-up, oblivious transfers, inputs and outputs are told apart by the protocols themselves.

use crate::{Computation, ComputeError, circuits};
use core::fmt::Write;
use hushwire_circuit::Program;
use std::collections::BTreeMap;

/// ANDs that do not wait for each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layer {
    /// ANDs of the block, 1 or more.
    pub ands: usize,
    /// Copies of the block that run side by side.
    pub copies: usize,
}

/// The gates of a computation as a circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Layers with ANDs, each waits for those before.
    pub layers: Vec<Layer>,
    /// Bits of all inputs.
    pub input_bits: usize,
    /// Bits of all outputs.
    pub output_bits: usize,
}

impl Work {
    /// Of a computation with numbers for its symbols. The circuit is made, and nothing runs.
    ///
    /// # Errors
    /// As [`Computation::bind`] and [`circuits::program`].
    pub fn of(computation: &Computation, symbols: &BTreeMap<String, u64>) -> Result<Self, ComputeError> {
        Ok(Work::of_program(&circuits::program(&computation.bind(symbols)?)?))
    }

    /// Of a program.
    #[must_use]
    pub fn of_program(program: &Program) -> Self {
        let stages = program.stages();
        let mut layers = vec![];
        for k in 0..stages.len() {
            let (block, copies) = stages.shape(k);
            let ands = block.layers().iter().map(|layer| layer.ands.len()).filter(|ands| *ands > 0);
            layers.extend(ands.map(|ands| Layer { ands, copies }));
        }
        Work { layers, input_bits: program.input_bits(), output_bits: program.output_bits() }
    }

    /// ANDs in all.
    #[must_use]
    pub fn ands(&self) -> u64 {
        self.layers.iter().map(|layer| layer.ands as u64 * layer.copies as u64).sum()
    }

    /// ANDs one after the other.
    #[must_use]
    pub fn depth(&self) -> u64 {
        self.layers.len() as u64
    }
}

/// The cost of gates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Messages one after the other.
    pub rounds: u64,
    /// Bytes that the party sends which sends most.
    pub bytes_sent: u64,
}

/// A protocol's line in the table.
#[derive(Clone, Copy)]
pub struct Protocol {
    /// Its name on the command line.
    pub name: &'static str,
    /// Its needs beside gates, in words.
    pub besides: &'static str,
    /// The cost of gates.
    pub cost: fn(&Work) -> Cost,
}

/// The Boolean protocols, one instance each.
pub const PROTOCOLS: [Protocol; 3] = [
    Protocol { name: "yao", besides: "an oblivious transfer for each bit of the evaluator", cost: yao },
    Protocol { name: "gmw", besides: "a triple for each AND", cost: gmw },
    Protocol { name: "rep3", besides: "nothing", cost: rep3 },
];

/// Half gates, 32 bytes an AND, one way: S. Zahur, M. Rosulek, D. Evans, "Two halves make a whole", Eurocrypt 2015.
fn yao(work: &Work) -> Cost {
    Cost { rounds: u64::from(!work.layers.is_empty()), bytes_sent: 32 * work.ands() }
}

/// Two bits an AND. A message opens up to 2^20 ANDs' operands.
fn gmw(work: &Work) -> Cost {
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

/// A bit an AND; blocks of eight copies and more send whole bytes an AND: T. Araki, J. Furukawa, Y. Lindell, A. Nof, K. Ohara,
/// "High-throughput semi-honest secure three-party computation with an honest majority", CCS 2016.
fn rep3(work: &Work) -> Cost {
    let bytes = |layer: &Layer| match layer.copies {
        ..8 => (layer.ands * layer.copies).div_ceil(8),
        copies => layer.ands * copies.div_ceil(8),
    };
    Cost { rounds: work.depth(), bytes_sent: work.layers.iter().map(|layer| bytes(layer) as u64).sum() }
}

/// The table for people, a line for each protocol.
#[must_use]
pub fn table(work: &Work, protocols: &[Protocol]) -> String {
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
