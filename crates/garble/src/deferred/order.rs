//! The orders of tables, and the number of bytes of tables in the order of files.

use crate::GateBackend;
use core::fmt;
use hushwire_circuit::{Gate, Gates};

/// The order of tables. AGREEMENT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// Gate by gate as the gates arrive: [`DynamicBatcher`](super::DynamicBatcher).
    File,
    /// Layer by layer: [`Engine`](crate::Engine).
    #[default]
    Depth,
}

impl Order {
    /// Both orders of gates.
    pub const ALL: [Order; 2] = [Order::File, Order::Depth];

    /// The name that users write.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Order::File => "file",
            Order::Depth => "depth",
        }
    }
}

impl fmt::Display for Order {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The number of bytes of the tables of these gates in the order of files. If XORs have tables, it
/// reads the gates once.
///
/// # Errors
/// The gates cannot be read.
pub fn table_bytes<E: GateBackend>(gates: &dyn Gates) -> std::io::Result<u64> {
    let (format, counts) = (E::FORMAT, gates.counts());
    let ands = counts.and * format.piece(1) as u64;
    if format.xor_bytes == 0 {
        return Ok(ands);
    }
    // XORs with constants have no table.
    let mut constant = vec![false; gates.wires() as usize];
    let mut xors = 0;
    gates.each(&mut |gate| {
        match gate {
            Gate::Const { out, .. } => constant[out as usize] = true,
            Gate::Copy { a, out } => constant[out as usize] = constant[a as usize],
            Gate::Xor { a, b, .. } if !constant[a as usize] && !constant[b as usize] => xors += 1,
            _ => {}
        }
        Ok(())
    })?;
    Ok(ands + xors * format.xor_bytes as u64)
}
