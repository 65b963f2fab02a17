//! Writes files: each gate goes straight from its source to the file.

use super::Format;
use crate::{Gate, Gates, Wire};
use std::io::{self, Write};

/// The reason why a circuit could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The format cannot express the circuit.
    #[error("{0}")]
    DoesNotFit(String),
    /// The bytes could not be written.
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Writes a circuit and keeps nothing in memory.
///
/// Bristol Fashion can express every circuit. The older format lacks constants and copies: they
/// become XORs and INVs with one more wire that is 0 (`w ⊕ w` for input wire 0). A single input is
/// written as two inputs, the second of width 0.
///
/// # Errors
/// [`WriteError::DoesNotFit`] in the older format if the circuit has more than two inputs or not
/// one output, or if constants need an input bit and there is none; the error of `out`.
pub fn write(source: &dyn Gates, format: Format, out: &mut dyn Write) -> Result<(), WriteError> {
    match format {
        Format::Fashion => fashion(source, out),
        Format::Old => old(source, out),
    }
}

fn fashion(source: &dyn Gates, out: &mut dyn Write) -> Result<(), WriteError> {
    writeln!(out, "{} {}", source.counts().total(), source.wires())?;
    for widths in [source.inputs(), source.outputs()] {
        write!(out, "{}", widths.len())?;
        for width in widths {
            write!(out, " {width}")?;
        }
        writeln!(out)?;
    }
    writeln!(out)?;
    source.each(&mut |gate| match gate {
        Gate::Xor { a, b, out: o } => writeln!(out, "2 1 {a} {b} {o} XOR"),
        Gate::And { a, b, out: o } => writeln!(out, "2 1 {a} {b} {o} AND"),
        Gate::Inv { a, out: o } => writeln!(out, "1 1 {a} {o} INV"),
        Gate::Const { value, out: o } => writeln!(out, "1 1 {} {o} EQ", u8::from(value)),
        Gate::Copy { a, out: o } => writeln!(out, "1 1 {a} {o} EQW"),
    })?;
    Ok(())
}

fn old(source: &dyn Gates, out: &mut dyn Write) -> Result<(), WriteError> {
    let no = |why: &str| {
        Err(WriteError::DoesNotFit(format!("the older Bristol Format {why}; use Bristol Fashion")))
    };
    let (x, y) = match *source.inputs() {
        [] => (0, 0),
        [x] => (x, 0),
        [x, y] => (x, y),
        _ => return no("has two inputs only"),
    };
    let [width] = *source.outputs() else { return no("has exactly one output") };
    let counts = source.counts();
    // A wire that is 0, from which copies and ones are made. Its number is after the inner wires
    // and before the outputs.
    let needs_zero = counts.copy + counts.one > 0;
    let first_output = source.wires() - width as u64;
    if counts.zero + counts.copy + counts.one > 0 && x + y == 0 {
        return no("has no constants, and this circuit has no input to make them from");
    }
    if needs_zero && first_output < (x + y) as u64 {
        return no("cannot name inputs as outputs beside constants and copies");
    }
    let wires = source.wires() + u64::from(needs_zero);
    if wires > 1 << 32 {
        return no("has wires below 2^32");
    }
    writeln!(out, "{} {wires}", counts.total() + u64::from(needs_zero))?;
    writeln!(out, "{x} {y}   {width}")?;
    writeln!(out)?;
    let zero = first_output;
    if needs_zero {
        writeln!(out, "2 1 0 0 {zero} XOR")?;
    }
    let name = |w: Wire| u64::from(w) + u64::from(needs_zero && u64::from(w) >= first_output);
    source.each(&mut |gate| {
        let o = name(gate.out());
        match gate {
            Gate::Xor { a, b, .. } => writeln!(out, "2 1 {} {} {o} XOR", name(a), name(b)),
            Gate::And { a, b, .. } => writeln!(out, "2 1 {} {} {o} AND", name(a), name(b)),
            Gate::Inv { a, .. } => writeln!(out, "1 1 {} {o} INV", name(a)),
            Gate::Const { value: false, .. } => writeln!(out, "2 1 0 0 {o} XOR"),
            Gate::Const { value: true, .. } => writeln!(out, "1 1 {zero} {o} INV"),
            Gate::Copy { a, .. } => writeln!(out, "2 1 {} {zero} {o} XOR", name(a)),
        }
    })?;
    Ok(())
}
