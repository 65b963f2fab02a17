//! Runs programs on an endpoint, with gates in batches and wires in slots.
//!
//! A [`Cursor`] gives the order: stage by stage, strip by strip of copies, layer by layer. The
//! engine gathers a strip's operands from registers, runs XORs and batches of independent ANDs, and
//! keeps the outputs until the stage ends. It contains no cryptography, and no byte of the tables
//! depends on the width of its batches.

use crate::{
    GarbleError, GateBackend, Stretch, Tables,
    cursor::{CHUNK, Cursor, PIECE, Step, strips},
    room::Room,
};
use hushwire_circuit::{Layered, ONE, Program, Slot, Stage, ZERO, input_slot};
use std::ops::Range;

/// LOCAL: the default for the number of gates in a batch.
const WIDTH: usize = PIECE;

/// An endpoint with the wires of the program that it runs.
pub struct Engine<E: GateBackend> {
    end: E,
    ands: Ands,
    /// The registers that the current stage reads and writes, and the copies of its current strip.
    reads: Vec<u32>,
    writes: Vec<u32>,
    strip: usize,
    /// The strip's copies of each slot, slot after slot. For a single copy with sums: the cells,
    /// cell after cell, and behind them the products of the last layer.
    slots: Room<E::Wire>,
    /// The products of the last layer of ANDs, gate by gate, copy by copy; behind the cells if
    /// there are cells.
    products: Room<E::Wire>,
    /// The outputs of the stage, which become registers after all copies have read theirs, and
    /// their number so far.
    written: Room<E::Wire>,
    kept: usize,
}

impl<E: GateBackend> Engine<E> {
    /// An endpoint without wires.
    #[must_use]
    pub fn new(end: E) -> Self {
        let ands =
            Ands { width: WIDTH, batches: crate::Batches::default(), pairs: vec![], bits: vec![0; PIECE] };
        let (slots, products, written) = (Room::new(), Room::new(), Room::new());
        Engine { end, ands, reads: vec![], writes: vec![], strip: 0, slots, products, written, kept: 0 }
    }

    /// The same engine, with batches of at most `width` gates. LOCAL: no byte depends on the width.
    ///
    /// # Panics
    /// If `width` is 0.
    #[must_use]
    pub fn with_width(self, width: usize) -> Self {
        assert!(width > 0, "a batch holds at least one gate");
        Engine { ands: Ands { width, ..self.ands }, ..self }
    }

    /// The endpoint.
    pub fn end(&mut self) -> &mut E {
        &mut self.end
    }

    /// The endpoint, without its wires.
    #[must_use]
    pub fn into_end(self) -> E {
        self.end
    }

    /// The batches so far.
    #[must_use]
    pub fn batches(&self) -> crate::Batches {
        self.ands.batches
    }

    /// Runs a program on `instances` instances. Register `r` of instance `j` is `registers[r
    /// instances + j]`; the inputs come first, and the program defines the places of the outputs.
    /// Copy `c` of a stage on instance `j` is unit `c instances + j`.
    ///
    /// # Errors
    /// The error of `tables`.
    ///
    /// # Panics
    /// If `registers` does not hold every register of every instance.
    pub fn program(
        &mut self,
        program: &Program,
        instances: usize,
        registers: &mut [E::Wire],
        tables: &mut dyn Tables,
    ) -> Result<(), GarbleError> {
        let mut cursor = Cursor::new::<E>(program, instances);
        loop {
            let (bytes, last) = cursor.upcoming(CHUNK);
            self.advance(&mut cursor, registers, E::Bytes::of(tables.next(bytes)?));
            if last {
                return Ok(());
            }
        }
    }

    /// Continues a run with its next tables, which must have the number of bytes that
    /// [`Cursor::upcoming`] gives; this number may be 0. The run ends with the last tables; until
    /// then the engine runs nothing else.
    ///
    /// # Panics
    /// If tables end within a piece, or `registers` does not hold every register of every instance.
    pub fn advance(&mut self, cursor: &mut Cursor<'_>, registers: &mut [E::Wire], mut tables: E::Bytes<'_>) {
        let (program, instances) = (cursor.program(), cursor.instances());
        assert_eq!(registers.len(), program.registers() * instances, "a wire for every register");
        cursor.walk(tables.bytes(), |at, shape, step| {
            let block = &*shape.block;
            match step {
                Step::Stage(k) => {
                    let Stage { reads, writes, .. } = program.stages().stage(k);
                    (self.reads, self.writes) = (reads, writes);
                    self.kept = 0;
                    self.written.resize(shape.units * block.output_slots().len());
                }
                Step::Begin => self.read(block, &at.units(shape), instances, registers),
                Step::Layers(layers, bytes) => self.layers(block, layers, tables.take(bytes)),
                Step::Layer => self.arrive(block, at.layer()),
                Step::Xors(..) if E::SUMS => {}
                Step::Xors(gates, bytes) => {
                    let gates = &block.layers()[at.layer()].xors[gates];
                    self.end.xors(&mut self.slots, self.strip, gates, tables.take(bytes));
                }
                Step::Ands(from, n, bytes) => self.ands(block, at.layer(), from, n, tables.take(bytes)),
                Step::End => self.keep(block, &at.units(shape), instances),
                Step::Write => self.write(block, shape.units, instances, registers),
            }
        });
        assert_eq!(tables.bytes(), 0, "tables of whole pieces");
    }

    /// Makes room for a strip's wires, and fills in constants and operands.
    fn read(&mut self, block: &Layered, strip: &Range<usize>, instances: usize, registers: &[E::Wire]) {
        let n = strip.len();
        self.strip = n;
        let slots = if E::SUMS { block.woven().cells() + block.woven().products() } else { block.slots() };
        self.slots.resize(slots * n);
        let [zero, one] = self.end.constants();
        self.slots[ZERO as usize * n..][..n].fill(zero);
        self.slots[ONE as usize * n..][..n].fill(one);
        let ins = block.input_bits();
        if instances == 1 {
            let reads = &self.reads[strip.start * ins..strip.end * ins];
            return gather(registers, reads, ins, &mut self.slots[input_slot(0) as usize * n..]);
        }
        for CopyRun { copy, instance, at, len } in runs(strip, instances) {
            for (i, r) in self.reads[copy * ins..][..ins].iter().enumerate() {
                let from = *r as usize * instances + instance;
                copy_wires(&registers[from..from + len], &mut self.slots[input_slot(i) as usize * n + at..]);
            }
        }
    }

    /// Begins a layer: computes the sums that it reads, or moves the products of the previous layer
    /// to their slots.
    fn arrive(&mut self, block: &Layered, layer: usize) {
        let strip = self.strip;
        if E::SUMS {
            let woven = block.woven();
            return self.end.sums(&mut self.slots, strip, woven.sums(), woven.layers()[layer].sums.clone());
        }
        let products = &block.layers()[layer].products;
        for (slot, product) in products.iter().zip(self.products.chunks_exact(strip)) {
            copy_wires(product, &mut self.slots[*slot as usize * strip..]);
        }
    }

    /// Runs whole layers of a single copy; one by one if batches must be narrow.
    fn layers(&mut self, block: &Layered, layers: Range<usize>, mut tables: E::Bytes<'_>) {
        let woven = block.woven();
        if self.ands.width >= PIECE {
            let gates = |layer: usize| woven.layers()[layer].ands.len();
            self.ands.batches.calls += layers.clone().filter(|layer| gates(*layer) > 0).count() as u64;
            self.ands.batches.gates += (tables.bytes() / E::FORMAT.and_bytes) as u64;
            return self.end.layers(&mut self.slots, woven, layers, tables);
        }
        for layer in layers {
            self.arrive(block, layer);
            let n = woven.layers()[layer].ands.len();
            self.ands(block, layer, 0, n, tables.take(n * E::FORMAT.and_bytes));
        }
    }

    /// Runs a piece of a layer's ANDs.
    fn ands(&mut self, block: &Layered, layer: usize, from: usize, n: usize, tables: E::Bytes<'_>) {
        let (end, strip) = (&mut self.end, self.strip);
        if E::SUMS {
            let (cells, products) = self.slots.split_at_mut(block.woven().cells() * strip);
            let gates = &block.woven().ands()[block.woven().layers()[layer].ands.clone()];
            return self.ands.run(end, cells, (gates, strip), &mut products[from..from + n], from, tables);
        }
        let gates = &block.layers()[layer].ands;
        if from == 0 {
            self.products.resize(gates.len() * strip);
        }
        let products = &mut self.products[from..from + n];
        self.ands.run(end, &self.slots, (gates, strip), products, from, tables);
    }

    /// Keeps a strip's outputs.
    fn keep(&mut self, block: &Layered, strip: &Range<usize>, instances: usize) {
        for CopyRun { at, len, .. } in runs(strip, instances) {
            for slot in outputs::<E>(block) {
                let from = *slot as usize * strip.len() + at;
                copy_wires(&self.slots[from..from + len], &mut self.written[self.kept..]);
                self.kept += len;
            }
        }
    }

    /// Writes the stage's outputs to their registers.
    fn write(&mut self, block: &Layered, units: usize, instances: usize, registers: &mut [E::Wire]) {
        let (outs, mut written) = (block.output_slots().len(), 0);
        for strip in strips(block.slots(), units) {
            for CopyRun { copy, instance, len, .. } in runs(&strip, instances) {
                for r in &self.writes[copy * outs..][..outs] {
                    let to = *r as usize * instances + instance;
                    copy_wires(&self.written[written..written + len], &mut registers[to..]);
                    written += len;
                }
            }
        }
    }
}

/// The slots of a block's outputs after its last layer.
fn outputs<E: GateBackend>(block: &Layered) -> &[Slot] {
    if E::SUMS { block.woven().outputs() } else { block.output_slots() }
}

/// Batches of ANDs.
struct Ands {
    width: usize,
    batches: crate::Batches,
    pairs: Vec<[Slot; 2]>,
    bits: Vec<u8>,
}

impl Ands {
    /// Runs a piece of the ANDs of a layer in a strip of `strip` copies, from gate and copy `from`
    /// on, and writes these products.
    fn run<E: GateBackend>(
        &mut self,
        end: &mut E,
        wires: &[E::Wire],
        (gates, strip): (&[[Slot; 2]], usize),
        products: &mut [E::Wire],
        from: usize,
        tables: E::Bytes<'_>,
    ) {
        let (n, format, width) = (products.len(), E::FORMAT, self.width);
        let pairs = expand(gates, strip, from, n, &mut self.pairs);
        let (mut bytes, packed) = tables.split(n * format.and_bytes);
        let bits = &mut self.bits[..if format.and_bits > 0 { n } else { 0 }];
        packed.unpack(format.and_bits, bits);
        // The loop has no divisions, because narrow layers run it a million times a second.
        let mut at = 0;
        while at < n {
            let until = n.min(at.saturating_add(width));
            let bits = if bits.is_empty() { E::Bytes::default() } else { E::Bytes::of(&mut bits[at..until]) };
            let tables = bytes.take((until - at) * format.and_bytes);
            end.ands(wires, &pairs[at..until], &mut products[at..until], tables, bits);
            self.batches.calls += 1;
            at = until;
        }
        packed.pack(format.and_bits, bits);
        self.batches.gates += n as u64;
    }
}

/// Consecutive instances of one copy in a strip, from place `at` on.
struct CopyRun {
    copy: usize,
    instance: usize,
    at: usize,
    len: usize,
}

/// The copy runs of a strip of units.
fn runs(strip: &Range<usize>, instances: usize) -> impl Iterator<Item = CopyRun> {
    let Range { start, end } = *strip;
    let mut unit = start;
    std::iter::from_fn(move || {
        let (copy, instance, at) = (unit / instances, unit % instances, unit - start);
        let len = (instances - instance).min(end - unit);
        unit += len;
        (len > 0).then_some(CopyRun { copy, instance, at, len })
    })
}

/// LOCAL: the number of copies for which a slot's wires are gathered together: a vector of labels.
const TILE: usize = 4;

/// Gathers the `ins` wires that each of some copies reads into `to`, input by input, copy by copy.
fn gather<W: Copy>(registers: &[W], reads: &[u32], ins: usize, to: &mut [W]) {
    // Large tables are not in the cache, and their pieces are too short for the CPU's prefetcher.
    // The loop therefore reads one wire of every cache line first, many lines at once.
    for r in reads.iter().step_by(64 / size_of::<W>()) {
        std::hint::black_box(registers[*r as usize]);
    }
    let copies = reads.len() / ins.max(1);
    let whole = copies - copies % TILE;
    let of = |copy: usize| &reads[copy * ins..][..ins];
    for copy in (0..whole).step_by(TILE) {
        let tile: [&[u32]; TILE] = [of(copy), of(copy + 1), of(copy + 2), of(copy + 3)];
        for i in 0..ins {
            for (to, reads) in to[i * copies + copy..][..TILE].iter_mut().zip(tile) {
                *to = registers[reads[i] as usize];
            }
        }
    }
    for copy in whole..copies {
        for (i, r) in of(copy).iter().enumerate() {
            to[i * copies + copy] = registers[*r as usize];
        }
    }
}

/// Copies `from` to the start of `to`. A single wire, the usual case without copies, is copied
/// without a call.
#[inline(always)]
fn copy_wires<W: Copy>(from: &[W], to: &mut [W]) {
    match from {
        [one] => to[0] = *one,
        _ => to[..from.len()].copy_from_slice(from),
    }
}

/// The operands of `n` ANDs, from gate and copy `first` on.
fn expand<'a>(
    gates: &'a [[Slot; 2]],
    strip: usize,
    first: usize,
    n: usize,
    pairs: &'a mut Vec<[Slot; 2]>,
) -> &'a [[Slot; 2]] {
    if strip == 1 {
        return &gates[first..first + n];
    }
    pairs.clear();
    let mut copy = first % strip;
    for [a, b] in &gates[first / strip..] {
        let until = strip.min(copy + n - pairs.len());
        let (a, b) = (a * strip as Slot, b * strip as Slot);
        pairs.extend((copy as Slot..until as Slot).map(|i| [a + i, b + i]));
        if pairs.len() == n {
            break;
        }
        copy = 0;
    }
    pairs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gathered_wires_stand_input_by_input_and_copy_by_copy() {
        let registers: Vec<u128> = (0..97).map(|r| r + 1000).collect();
        for (ins, copies) in (0..6).flat_map(|ins| (0..20).map(move |copies| (ins, copies))) {
            let reads: Vec<u32> = (0..ins * copies).map(|k| (k * k * 7 + 3) as u32 % 97).collect();
            let mut to = vec![0; ins * copies + 1];
            gather(&registers, &reads, ins, &mut to);
            for (k, r) in reads.iter().enumerate() {
                assert_eq!(to[k % ins * copies + k / ins], registers[*r as usize]);
            }
            assert_eq!(to[ins * copies], 0, "nothing is written behind them");
        }
    }

    #[test]
    fn runs_are_the_units_in_order() {
        for instances in [1, 2, 7, 65] {
            for strip in [0..1, 3..9, 0..64, 60..130] {
                let mut units = vec![];
                for CopyRun { copy, instance, at, len } in runs(&strip, instances) {
                    assert!(len > 0 && instance + len <= instances && at == units.len());
                    units.extend((0..len).map(|i| copy * instances + instance + i));
                }
                assert_eq!(units, strip.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn pairs_of_every_piece() {
        let gates = [[2, 3], [4, 5], [6, 6]];
        let all: Vec<[Slot; 2]> =
            gates.iter().flat_map(|[a, b]| (0..4).map(move |i| [4 * a + i, 4 * b + i])).collect();
        for first in 0..12 {
            for n in 1..=12 - first {
                assert_eq!(expand(&gates, 4, first, n, &mut vec![]), &all[first..first + n]);
            }
        }
    }
}
