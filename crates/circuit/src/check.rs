//! Checks that each wire is written once and before it is read. Gates are checked one by one;
//! memory grows with their number.

use crate::{Gate, Wire};

/// The number of wires of a page.
const PAGE: usize = 4096;

/// A fault of a gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum GateFault {
    /// It names a wire that does not exist.
    NoWire(Wire),
    /// It reads a wire that nothing has written.
    Unwritten(Wire),
    /// It writes an input, or a wire that was written before.
    Rewritten(Wire),
}

/// The set of written wires. A header may claim 2^32 wires, so that a page is allocated only when
/// one of its wires is written. The table of pages takes at most 8 MiB.
pub(crate) struct WireCheck {
    input_bits: usize,
    wires: usize,
    pages: Vec<Option<Box<[u64; PAGE / 64]>>>,
}

impl WireCheck {
    pub(crate) fn new(input_bits: usize, wires: usize) -> WireCheck {
        WireCheck { input_bits, wires, pages: vec![] }
    }

    pub(crate) fn written(&self, wire: usize) -> bool {
        let page = || self.pages.get(wire / PAGE)?.as_ref();
        wire < self.input_bits || page().is_some_and(|p| p[wire % PAGE / 64] >> (wire % 64) & 1 == 1)
    }

    /// Checks the next gate and records its output.
    pub(crate) fn gate(&mut self, gate: Gate) -> Result<(), GateFault> {
        gate.reads().try_for_each(|wire| self.read(wire))?;
        self.write(gate.out())
    }

    pub(crate) fn read(&self, wire: Wire) -> Result<(), GateFault> {
        match wire as usize {
            w if w >= self.wires => Err(GateFault::NoWire(wire)),
            w if !self.written(w) => Err(GateFault::Unwritten(wire)),
            _ => Ok(()),
        }
    }

    pub(crate) fn write(&mut self, wire: Wire) -> Result<(), GateFault> {
        let w = wire as usize;
        if w >= self.wires {
            return Err(GateFault::NoWire(wire));
        }
        if self.written(w) {
            return Err(GateFault::Rewritten(wire));
        }
        if self.pages.len() <= w / PAGE {
            self.pages.resize(w / PAGE + 1, None);
        }
        self.pages[w / PAGE].get_or_insert_with(|| Box::new([0; PAGE / 64]))[w % PAGE / 64] |= 1 << (w % 64);
        Ok(())
    }

    /// The first output wire that no gate has written.
    pub(crate) fn missing(&self, output_bits: usize) -> Option<Wire> {
        (self.wires - output_bits..self.wires).find(|w| !self.written(*w)).map(|w| w as Wire)
    }
}
