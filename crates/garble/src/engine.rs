//! Runs layered circuits and programs on an end: gates in batches, wires in slots.

use crate::{GarbleError, GateBackend, Role, Tables, room::Room};
use hushwire_circuit::{Layered, ONE, Program, Slot, Stage, Woven, ZERO, input_slot};
use std::ops::Range;
use zeroize::Zeroizing;

/// AGREEMENT: ANDs whose tables stand together: whole bytes first, packed bits behind them.
const PIECE: usize = 1024;
/// AGREEMENT: bytes that the wires of a strip should fit into, a share of the second cache.
const STRIP_BYTES: usize = 512 << 10;
/// AGREEMENT: the fewest and the most copies of a strip, multiples of [`CUT`].
const STRIP: Range<usize> = 8..33;
/// AGREEMENT: strips begin at multiples of as many copies, so that vectors of wires are whole but in the last.
const CUT: usize = 8;
/// LOCAL: gates of a batch, where nothing else is asked for.
const WIDTH: usize = PIECE;

/// Copies of a block that run side by side. AGREEMENT: the order of tables depends on it.
///
/// As many as keep the second cache, evenly but for `CUT`: 65 copies are 24, 24 and 17 rather than 32, 32 and 1.
///
/// Measured on AES x 65, SHA-1 x 63 and PSI: whole vectors matter most, then long strips; 32 copies within 512 KiB were
/// ahead of 16 and 64, and of strips that keep the first cache.
pub fn strips(slots: usize, copies: usize) -> impl Iterator<Item = Range<usize>> {
    let most = (STRIP_BYTES / (16 * slots.max(1))).clamp(STRIP.start, STRIP.end - 1) / CUT * CUT;
    let (cuts, count) = (copies.div_ceil(CUT), copies.div_ceil(most));
    let start = move |k: usize| (k * cuts / count * CUT).min(copies);
    (0..count).map(move |k| start(k)..start(k + 1))
}

/// Bytes of tables of one run of a program on `instances` sets of inputs.
#[must_use]
pub fn table_bytes<E: GateBackend>(program: &Program, instances: usize) -> u64 {
    let format = E::FORMAT;
    let mut total = 0;
    for k in 0..program.stages().len() {
        let (block, copies) = program.stages().shape(k);
        let xors = |layer: &hushwire_circuit::Layer| layer.xors.iter().filter(|g| has_table(g)).count();
        let xors: usize = if format.xor_bytes == 0 { 0 } else { block.layers().iter().map(xors).sum() };
        let mut last = (0, 0);
        for strip in strips(block.slots(), copies * instances) {
            if last.0 != strip.len() {
                last = (strip.len(), ands_bytes::<E>(&block, strip.len()));
            }
            total += last.1 + (xors * format.xor_bytes * strip.len()) as u64;
        }
    }
    total
}

fn ands_bytes<E: GateBackend>(block: &Layered, strip: usize) -> u64 {
    let layer = |ands: usize| {
        let (whole, rest) = (ands * strip / PIECE, ands * strip % PIECE);
        (whole * E::FORMAT.piece(PIECE) + E::FORMAT.piece(rest)) as u64
    };
    block.layers().iter().map(|l| layer(l.ands.len())).sum()
}

/// Whether an XOR has a table where XORs have any: constants are known to both.
pub(crate) fn has_table([a, b, _]: &[Slot; 3]) -> bool {
    *a > ONE && *b > ONE
}

/// One end with the wires of what it runs.
pub struct Engine<E: GateBackend> {
    end: E,
    ands: Ands,
    /// Slot after slot, or cell after cell with the products of the last layer behind them, the strip's copies of each.
    slots: Room<E::Wire>,
    /// Products of the last layer of ANDs, gate by gate, copy by copy; behind the cells where there are any.
    products: Room<E::Wire>,
    /// Outputs of a stage, which become registers when all copies have read theirs.
    written: Room<E::Wire>,
}

impl<E: GateBackend> Engine<E> {
    /// An end without wires.
    #[must_use]
    pub fn new(end: E) -> Self {
        Engine {
            end,
            ands: Ands {
                width: WIDTH,
                batches: crate::Batches::default(),
                pairs: vec![],
                bits: vec![0; PIECE],
            },
            slots: Room::new(),
            products: Room::new(),
            written: Room::new(),
        }
    }

    /// The same, with batches of at most `width` gates. LOCAL: no byte depends on it.
    ///
    /// # Panics
    /// If `width` is 0.
    #[must_use]
    pub fn with_width(self, width: usize) -> Self {
        assert!(width > 0, "a batch holds at least one gate");
        Engine { ands: Ands { width, ..self.ands }, ..self }
    }

    /// The end.
    pub fn end(&mut self) -> &mut E {
        &mut self.end
    }

    /// The end, without its wires.
    #[must_use]
    pub fn into_end(self) -> E {
        self.end
    }

    /// Batches so far.
    #[must_use]
    pub fn batches(&self) -> crate::Batches {
        self.ands.batches
    }

    /// Runs a block once: wires of its inputs to wires of its outputs.
    ///
    /// # Errors
    /// The error of `tables`.
    ///
    /// # Panics
    /// If there are not as many inputs as the block has input bits.
    pub fn block(
        &mut self,
        block: &Layered,
        inputs: &[E::Wire],
        tables: &mut dyn Tables,
    ) -> Result<Zeroizing<Vec<E::Wire>>, GarbleError> {
        assert_eq!(inputs.len(), block.input_bits(), "a wire for every input bit");
        self.ready(block, 1);
        self.slots[input_slot(0) as usize..][..inputs.len()].copy_from_slice(inputs);
        self.layers(block, 1, tables)?;
        Ok(Zeroizing::new(outputs::<E>(block).iter().map(|s| self.slots[*s as usize]).collect()))
    }

    /// Runs a program on `instances` sets of wires: register `r` of instance `j` is `registers[r instances + j]`, inputs
    /// first; outputs are where the program says.
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
        assert_eq!(registers.len(), program.registers() * instances, "a wire for every register");
        for k in 0..program.stages().len() {
            self.stage(&program.stages().stage(k), instances, registers, tables)?;
        }
        Ok(())
    }

    /// Copy `c` on instance `j` is unit `c instances + j`.
    fn stage(
        &mut self,
        stage: &Stage,
        instances: usize,
        registers: &mut [E::Wire],
        tables: &mut dyn Tables,
    ) -> Result<(), GarbleError> {
        let Stage { block, copies, reads, writes } = stage;
        let (ins, outs) = (block.input_bits(), block.output_slots().len());
        let units = copies * instances;
        self.written.resize(units * outs);
        let mut written = 0;
        for strip in strips(block.slots(), units) {
            let n = strip.len();
            self.ready(block, n);
            if instances == 1 {
                let reads = &reads[strip.start * ins..strip.end * ins];
                gather(registers, reads, ins, &mut self.slots[input_slot(0) as usize * n..]);
            } else {
                for Run { copy, instance, at, len } in runs(&strip, instances) {
                    for (i, r) in reads[copy * ins..][..ins].iter().enumerate() {
                        let from = *r as usize * instances + instance;
                        let to = input_slot(i) as usize * n + at;
                        copy_wires(&registers[from..from + len], &mut self.slots[to..]);
                    }
                }
            }
            self.layers(block, n, tables)?;
            for Run { at, len, .. } in runs(&strip, instances) {
                for slot in outputs::<E>(block) {
                    let from = *slot as usize * n + at;
                    copy_wires(&self.slots[from..from + len], &mut self.written[written..]);
                    written += len;
                }
            }
        }
        written = 0;
        for strip in strips(block.slots(), units) {
            for Run { copy, instance, len, .. } in runs(&strip, instances) {
                for r in &writes[copy * outs..][..outs] {
                    let to = *r as usize * instances + instance;
                    copy_wires(&self.written[written..written + len], &mut registers[to..]);
                    written += len;
                }
            }
        }
        Ok(())
    }

    /// Room for a strip's wires, with the constants in theirs.
    fn ready(&mut self, block: &Layered, strip: usize) {
        let slots = if E::SUMS { block.woven().cells() + block.woven().products() } else { block.slots() };
        self.slots.resize(slots * strip);
        let [zero, one] = self.end.constants();
        self.slots[ZERO as usize * strip..][..strip].fill(zero);
        self.slots[ONE as usize * strip..][..strip].fill(one);
    }

    fn layers(&mut self, block: &Layered, strip: usize, tables: &mut dyn Tables) -> Result<(), GarbleError> {
        if E::SUMS {
            return self.woven_layers(block.woven(), strip, tables);
        }
        for layer in block.layers() {
            for (slot, product) in layer.products.iter().zip(self.products.chunks_exact(strip)) {
                copy_wires(product, &mut self.slots[*slot as usize * strip..]);
            }
            self.end.xors(&mut self.slots, strip, &layer.xors, tables)?;
            self.products.resize(layer.ands.len() * strip);
            self.ands.run(&mut self.end, &self.slots, &layer.ands, strip, &mut self.products, tables)?;
        }
        Ok(())
    }

    fn woven_layers(
        &mut self,
        woven: &Woven,
        strip: usize,
        tables: &mut dyn Tables,
    ) -> Result<(), GarbleError> {
        for layer in woven.layers() {
            self.end.sums(&mut self.slots, strip, woven.sums(), layer.sums.clone());
            let (cells, products) = self.slots.split_at_mut(woven.cells() * strip);
            self.ands.run(&mut self.end, cells, &layer.ands, strip, products, tables)?;
        }
        Ok(())
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
    /// The ANDs of a layer, piece by piece, gate by gate and copy by copy.
    fn run<E: GateBackend>(
        &mut self,
        end: &mut E,
        wires: &[E::Wire],
        gates: &[[Slot; 2]],
        strip: usize,
        products: &mut [E::Wire],
        tables: &mut dyn Tables,
    ) -> Result<(), GarbleError> {
        let total = gates.len() * strip;
        let format = E::FORMAT;
        // No divisions, in what narrow layers do a million times a second.
        let mut first = 0;
        while first < total {
            let n = PIECE.min(total - first);
            let pairs = expand(gates, strip, first, n, &mut self.pairs);
            let (bytes, packed) = tables.next(format.piece(n))?.split_at_mut(n * format.and_bytes);
            let bits = &mut self.bits[..if format.and_bits > 0 { n } else { 0 }];
            if E::ROLE == Role::Evaluator {
                unpack(packed, format.and_bits, bits);
            }
            let mut at = 0;
            while at < n {
                let end_at = n.min(at + self.width);
                let bits = if bits.is_empty() { &mut [][..] } else { &mut bits[at..end_at] };
                end.ands(
                    wires,
                    &pairs[at..end_at],
                    &mut products[first + at..first + end_at],
                    &mut bytes[at * format.and_bytes..end_at * format.and_bytes],
                    bits,
                );
                self.batches.calls += 1;
                at = end_at;
            }
            if E::ROLE == Role::Garbler {
                pack(bits, format.and_bits, packed);
            }
            self.batches.gates += n as u64;
            first += n;
        }
        Ok(())
    }
}

/// Instances of one copy that stand side by side in a strip, from place `at` on.
struct Run {
    copy: usize,
    instance: usize,
    at: usize,
    len: usize,
}

/// The runs of a strip of units.
fn runs(strip: &Range<usize>, instances: usize) -> impl Iterator<Item = Run> {
    let Range { start, end } = *strip;
    let mut unit = start;
    std::iter::from_fn(move || {
        let (copy, instance, at) = (unit / instances, unit % instances, unit - start);
        let len = (instances - instance).min(end - unit);
        unit += len;
        (len > 0).then_some(Run { copy, instance, at, len })
    })
}

/// LOCAL: copies of which a slot's wires are gathered together: a vector of labels.
const TILE: usize = 4;

/// The `ins` wires that each of some copies reads, to `to`, input by input, copy by copy.
fn gather<W: Copy>(registers: &[W], reads: &[u32], ins: usize, to: &mut [W]) {
    // Large tables are not in the cache, and lie in pieces that are too short for the CPU to see what comes next: a wire of
    // every line is read first, many lines at once.
    for r in reads.iter().step_by(64 / size_of::<W>()) {
        std::hint::black_box(registers[*r as usize]);
    }
    let copies = reads.len() / ins.max(1);
    for (tile, reads) in reads.chunks(TILE * ins.max(1)).enumerate() {
        for i in 0..ins {
            let to = &mut to[i * copies + tile * TILE..];
            for (to, reads) in to.iter_mut().zip(reads.chunks_exact(ins)) {
                *to = registers[reads[i] as usize];
            }
        }
    }
}

/// All of `from` to the start of `to`; a single wire, as there is without copies, without a call.
#[inline(always)]
fn copy_wires<W: Copy>(from: &[W], to: &mut [W]) {
    match from {
        [one] => to[0] = *one,
        _ => to[..from.len()].copy_from_slice(from),
    }
}

/// `n` pairs of wires from gate-and-copy `first` on.
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

/// The lower `width` bits of every byte, at most 8, one after the other; what is left of the last byte is 0.
fn pack(bits: &[u8], width: usize, packed: &mut [u8]) {
    if width == 0 {
        return;
    }
    // Eight gates make `width` whole bytes.
    for (bits, packed) in bits.chunks(8).zip(packed.chunks_mut(width)) {
        let mut word = 0u64;
        for (k, bits) in bits.iter().enumerate() {
            word |= u64::from(bits & ((1 << width) - 1)) << (k * width);
        }
        packed.copy_from_slice(&word.to_le_bytes()[..packed.len()]);
    }
}

/// Undoes [`pack`].
fn unpack(packed: &[u8], width: usize, bits: &mut [u8]) {
    if width == 0 {
        return;
    }
    for (bits, packed) in bits.chunks_mut(8).zip(packed.chunks(width)) {
        let mut word = [0; 8];
        word[..packed.len()].copy_from_slice(packed);
        let word = u64::from_le_bytes(word);
        for (k, bits) in bits.iter_mut().enumerate() {
            *bits = (word >> (k * width)) as u8 & ((1 << width) - 1);
        }
    }
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
    fn strips_are_whole_vectors_and_nearly_even() {
        for slots in [1, 10, 300, 1025, 1500, 5000, 100_000] {
            for copies in (0..140).chain([1000, 1001]) {
                let all: Vec<_> = strips(slots, copies).collect();
                assert_eq!(all.iter().map(Range::len).sum::<usize>(), copies);
                assert!(all.windows(2).all(|w| w[0].end == w[1].start));
                assert!(all.iter().all(|s| s.start % CUT == 0 && s.len() < STRIP.end && !s.is_empty()));
                assert!(all.iter().all(|s| s.len() <= STRIP.start || 16 * slots * s.len() <= STRIP_BYTES));
                let cuts = |s: &Range<usize>| s.len().div_ceil(CUT);
                assert!(all.iter().all(|s| cuts(s).abs_diff(cuts(&all[0])) <= 1), "{slots} {copies}");
            }
        }
        assert!(strips(10, 65).eq([0..24, 24..48, 48..65]));
    }

    #[test]
    fn runs_are_the_units_in_order() {
        for instances in [1, 2, 7, 65] {
            for strip in [0..1, 3..9, 0..64, 60..130] {
                let mut units = vec![];
                for Run { copy, instance, at, len } in runs(&strip, instances) {
                    assert!(len > 0 && instance + len <= instances && at == units.len());
                    units.extend((0..len).map(|i| copy * instances + instance + i));
                }
                assert_eq!(units, strip.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn bits_pack_and_unpack() {
        for width in [4, 5] {
            for n in [0usize, 1, 7, 8, 9, 100] {
                let bits: Vec<u8> = (0..n).map(|i| (i * 37 % (1 << width)) as u8).collect();
                let mut packed = vec![0xff; (n * width).div_ceil(8)];
                pack(&bits.iter().map(|b| b | 0xe0 << (width - 4)).collect::<Vec<_>>(), width, &mut packed);
                for i in 0..8 * packed.len() {
                    let expected = bits.get(i / width).is_some_and(|b| b >> (i % width) & 1 == 1);
                    assert_eq!(packed[i / 8] >> (i % 8) & 1 == 1, expected, "bit {i} of {n} times {width}");
                }
                let mut again = vec![0; n];
                unpack(&packed, width, &mut again);
                assert_eq!(again, bits);
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
