//! A form of the layered circuit for evaluators whose XORs cost memory traffic: sums of three
//! operands, and products that are not copied.
//!
//! ```text
//! layer      x1 = a ⊕ b   x2 = x1 ⊕ c   z = x2 ∧ d            three slots written, five read
//! woven      s = a ⊕ b ⊕ c              z = s ∧ d             one cell written, three read
//! ```
//!
//! - An XOR that only one other XOR reads is part of that XOR's sum.
//! - Sums that need no product of the previous layer come first, so that they run while those
//!   products are being computed.
//! - Products stay where the ANDs write them, after the cells. A sum reads them there; only a
//!   product that a later layer or an AND reads is copied.
//!
//! Layers and the order of ANDs are those of [`Layered`]: nothing on which parties agree depends on
//! this form.

use crate::{Layered, ONE, Slot, ZERO};
use hushwire_block::TripleSums;
use std::ops::Range;

/// The place of a value: a cell or, after all cells, a product of the previous layer.
pub type WovenCell = u32;

/// The number of meaningless ANDs after the last, so that vectors of ANDs are full wherever a layer
/// ends.
pub const SPARE: usize = 16;

/// A layer: its sums, then its ANDs, which are independent of each other.
#[derive(Clone, Debug)]
pub struct WovenLayer {
    /// The layer's range of [`Woven::sums`].
    pub sums: Range<usize>,
    /// The layer's range of [`Woven::ands`].
    pub ands: Range<usize>,
}

/// A [`Layered`] circuit over cells. Cells 0 and 1 hold the constants, cells from 2 on start as the
/// inputs.
#[derive(Clone, Debug)]
pub struct Woven {
    layers: Vec<WovenLayer>,
    sums: TripleSums,
    ands: Vec<[WovenCell; 2]>,
    cells: usize,
    products: usize,
    outputs: Vec<WovenCell>,
}

/// The origin of a value.
#[derive(Clone, Copy)]
enum ValueOrigin {
    /// A constant or an input.
    Given,
    /// An AND of the previous layer, by its number in that layer.
    Product(u32),
    /// An XOR.
    Sum(u32, u32),
}

/// A value: the content of a slot for some time.
struct WovenValue {
    made: ValueOrigin,
    layer: u32,
    /// The number of sums, ANDs and outputs that read it.
    readers: u32,
    /// Whether only sums of this layer read it.
    sums_alone: bool,
    /// Whether it is part of the one sum that reads it.
    fused: bool,
    /// Its last read, as a position in the order of this form.
    last: u32,
    cell: WovenCell,
}

/// The number that means no cell.
const NOWHERE: WovenCell = WovenCell::MAX;
/// A time after all others.
const ALWAYS: u32 = u32::MAX;
/// The value of constant 0.
const ZERO_VALUE: u32 = ZERO;
/// The largest number of a sum's operands.
const MOST: usize = 3;

impl Woven {
    /// Weaves a circuit.
    #[must_use]
    pub fn new(block: &Layered) -> Woven {
        Weaver::new(block).weave(block)
    }

    /// The layers; their number is the AND-depth plus one.
    #[must_use]
    #[inline]
    pub fn layers(&self) -> &[WovenLayer] {
        &self.layers
    }

    /// The sums of all layers.
    #[must_use]
    #[inline]
    pub fn sums(&self) -> &TripleSums {
        &self.sums
    }

    /// The operands `[a, b]` of all layers' ANDs, in the order of the [`Layered`] form; no operand
    /// is a product's place. [`SPARE`] meaningless entries follow the last one.
    #[must_use]
    #[inline]
    pub fn ands(&self) -> &[[WovenCell; 2]] {
        &self.ands
    }

    /// The number of cells, without the products after them.
    #[must_use]
    #[inline]
    pub fn cells(&self) -> usize {
        self.cells
    }

    /// The largest number of products of a layer, plus [`SPARE`].
    #[must_use]
    #[inline]
    pub fn products(&self) -> usize {
        self.products
    }

    /// The places of the output bits after the last layer, in order.
    #[must_use]
    #[inline]
    pub fn outputs(&self) -> &[WovenCell] {
        &self.outputs
    }
}

/// Values, numbered as they are made, and the values that each gate reads.
struct Weaver {
    values: Vec<WovenValue>,
    /// For each layer: the number of XORs, and the values that ANDs read.
    xors: Vec<u32>,
    ands: Vec<Vec<[u32; 2]>>,
    outputs: Vec<u32>,
}

impl Weaver {
    /// Numbers the values of slots.
    fn new(block: &Layered) -> Weaver {
        let mut all = Weaver { values: vec![], xors: vec![], ands: vec![], outputs: vec![] };
        let mut held = vec![0; block.slots()];
        for (slot, held) in held.iter_mut().enumerate().take(2 + block.input_bits()) {
            *held = all.value(ValueOrigin::Given, 0);
            all.values[slot].cell = slot as WovenCell;
        }
        for (d, layer) in block.layers().iter().enumerate() {
            for (i, slot) in layer.products.iter().enumerate() {
                held[*slot as usize] = all.value(ValueOrigin::Product(i as u32), d);
            }
            for [a, b, out] in &layer.xors {
                let [a, b] = [held[*a as usize], held[*b as usize]];
                all.read(a, d, true);
                all.read(b, d, true);
                held[*out as usize] = all.value(ValueOrigin::Sum(a, b), d);
            }
            let ands = layer.ands.iter().map(|pair| pair.map(|slot| held[slot as usize])).collect::<Vec<_>>();
            for value in ands.iter().flatten() {
                all.read(*value, d, false);
            }
            all.xors.push(layer.xors.len() as u32);
            all.ands.push(ands);
        }
        all.outputs = block.output_slots().iter().map(|slot| held[*slot as usize]).collect();
        for i in 0..all.outputs.len() {
            all.read(all.outputs[i], block.layers().len(), false);
        }
        all
    }

    fn value(&mut self, made: ValueOrigin, layer: usize) -> u32 {
        let (readers, last) = (0, 0);
        let layer = layer as u32;
        self.values.push(WovenValue {
            made,
            layer,
            readers,
            sums_alone: true,
            fused: false,
            last,
            cell: NOWHERE,
        });
        (self.values.len() - 1) as u32
    }

    fn read(&mut self, value: u32, layer: usize, by_sum: bool) {
        let value = &mut self.values[value as usize];
        value.readers += 1;
        value.sums_alone &= by_sum && value.layer as usize == layer;
    }

    /// A layer's XORs as sums of at most [`MOST`] values: an XOR that only one other XOR reads is
    /// part of that XOR's sum.
    fn fuse(&mut self, xors: Range<u32>) -> Vec<CellSum> {
        let mut sums: Vec<CellSum> = Vec::with_capacity(xors.len());
        for x in xors.clone() {
            let ValueOrigin::Sum(a, b) = self.values[x as usize].made else { unreachable!("an XOR") };
            let mut sum = CellSum { value: x, operands: [ZERO_VALUE; MOST], len: 0 };
            let opens = [a, b].map(|v| {
                let value = &self.values[v as usize];
                value.readers == 1 && value.sums_alone && matches!(value.made, ValueOrigin::Sum(..))
            });
            for (v, (opens, later)) in [a, b].into_iter().zip(opens.into_iter().zip([1, 0])) {
                let inner = if opens { sums[(v - xors.start) as usize] } else { CellSum::of(v) };
                if sum.len + inner.len + later <= MOST {
                    self.values[v as usize].fused |= opens;
                    inner.operands().iter().for_each(|v| sum.push(*v));
                } else {
                    sum.push(v);
                }
            }
            sums.push(sum);
        }
        sums.retain(|sum| !self.values[sum.value as usize].fused);
        sums
    }

    /// The sums of every layer, in order; a copy of a product is a sum of one operand.
    fn order(&mut self, given: usize) -> Vec<Vec<CellSum>> {
        let mut waits = vec![false; self.values.len()];
        let mut next = given as u32;
        let mut ordered = Vec::with_capacity(self.ands.len());
        for d in 0..self.ands.len() {
            let products = next..next + if d == 0 { 0 } else { self.ands[d - 1].len() as u32 };
            let xors = products.end..products.end + self.xors[d];
            next = xors.end;
            let (mut early, mut late) = (vec![], vec![]);
            for v in products {
                waits[v as usize] = true;
                let value = &self.values[v as usize];
                if value.readers > 0 && !value.sums_alone {
                    late.push(CellSum::of(v));
                }
            }
            for sum in self.fuse(xors) {
                let now = |v: &u32| waits[*v as usize] && self.values[*v as usize].layer as usize == d;
                let wait = sum.operands().iter().any(now);
                waits[sum.value as usize] = wait;
                if wait { late.push(sum) } else { early.push(sum) }
            }
            early.append(&mut late);
            ordered.push(early);
        }
        ordered
    }

    /// Finds the last read of each value; sums and layers' ANDs count as times.
    fn last_reads(&mut self, ordered: &[Vec<CellSum>]) {
        let mut time = 0;
        for (sums, ands) in ordered.iter().zip(&self.ands) {
            for sum in sums {
                time += 1;
                for v in sum.operands() {
                    self.values[*v as usize].last = time;
                }
            }
            time += 1;
            for v in ands.iter().flatten() {
                self.values[*v as usize].last = time;
            }
        }
        for v in &self.outputs {
            self.values[*v as usize].last = ALWAYS;
        }
    }

    fn weave(mut self, block: &Layered) -> Woven {
        let given = 2 + block.input_bits();
        let ordered = self.order(given);
        self.last_reads(&ordered);
        let free = (2..given).filter(|v| self.values[*v].last == 0).map(|v| v as WovenCell).collect();
        let mut cells = Cells { count: given as WovenCell, free };
        let (mut gates, mut layers): (Vec<[u32; 4]>, _) = (vec![], vec![]);
        let mut all: Vec<[WovenCell; 2]> = vec![];
        let mut time = 0;
        for (sums, ands) in ordered.iter().zip(&self.ands) {
            let first = gates.len();
            for sum in sums {
                time += 1;
                let mut gate = [ZERO; 4];
                for (g, v) in gate.iter_mut().zip(sum.operands()) {
                    let value = &mut self.values[*v as usize];
                    *g = match value.made {
                        ValueOrigin::Product(i) if value.cell == NOWHERE => PRODUCT | i,
                        _ => value.cell,
                    };
                    cells.release(value, time);
                }
                let cell = cells.take();
                gate[MOST] = cell;
                self.values[sum.value as usize].cell = cell;
                gates.push(gate);
            }
            time += 1;
            let from = all.len();
            all.extend(ands.iter().map(|pair| pair.map(|v| self.values[v as usize].cell)));
            ands.iter().flatten().for_each(|v| cells.release(&mut self.values[*v as usize], time));
            layers.push(WovenLayer { sums: first..gates.len(), ands: from..all.len() });
        }
        for operand in gates.iter_mut().flatten().filter(|operand| **operand & PRODUCT != 0) {
            *operand = (*operand & !PRODUCT) + cells.count;
        }
        let outputs = self.outputs.iter().map(|v| self.values[*v as usize].cell).collect();
        let products = self.ands.iter().map(Vec::len).max().unwrap_or(0) + SPARE;
        all.resize(all.len() + SPARE, [ZERO; 2]);
        Woven {
            layers,
            sums: TripleSums::new(gates),
            ands: all,
            cells: cells.count as usize,
            products,
            outputs,
        }
    }
}

/// The sum of some values.
#[derive(Clone, Copy)]
struct CellSum {
    value: u32,
    operands: [u32; MOST],
    len: usize,
}

impl CellSum {
    /// A sum of one operand.
    fn of(value: u32) -> CellSum {
        CellSum { value, operands: [value, ZERO_VALUE, ZERO_VALUE], len: 1 }
    }

    fn push(&mut self, value: u32) {
        self.operands[self.len] = value;
        self.len += 1;
    }

    fn operands(&self) -> &[u32] {
        &self.operands[..self.len]
    }
}

/// The free cells. The cell that was freed last is taken first, while it is in the first-level
/// cache.
struct Cells {
    count: WovenCell,
    free: Vec<WovenCell>,
}

impl Cells {
    fn take(&mut self) -> WovenCell {
        self.free.pop().unwrap_or_else(|| {
            self.count += 1;
            self.count - 1
        })
    }

    /// Frees a value's cell if this is its last read. A second operand with the same value has no
    /// effect.
    fn release(&mut self, value: &mut WovenValue, time: u32) {
        if value.last == time && value.cell > ONE && value.cell != NOWHERE {
            value.last = 0;
            self.free.push(value.cell);
        }
    }
}

/// Marks a product's number among cells.
const PRODUCT: u32 = 1 << 31;

const _: () = assert!(ZERO == 0 && ONE == 1 && Slot::MAX == WovenCell::MAX);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Circuit, Gate, input_slot, named};
    use hushwire_block::Block;
    use hushwire_simd::cpu;
    use proptest::prelude::*;

    fn and(a: Block, b: Block) -> Block {
        Block(std::array::from_fn(|i| a.0[i] & b.0[i]))
    }

    /// The outputs of 128 instances at a time, in `strip` blocks, by the woven form.
    fn run(block: &Layered, inputs: &[Block], strip: usize) -> Vec<Block> {
        let woven = block.woven();
        let mut cells = vec![Block([0x5a; 16]); (woven.cells() + woven.products()) * strip];
        cells[..strip].fill(Block::ZERO);
        cells[strip..2 * strip].fill(Block::ONES);
        cells[input_slot(0) as usize * strip..][..inputs.len()].copy_from_slice(inputs);
        for layer in woven.layers() {
            woven.sums().run(cpu().best(), layer.sums.clone(), &mut cells, strip);
            let (cells, products) = cells.split_at_mut(woven.cells() * strip);
            let ands = &woven.ands()[layer.ands.clone()];
            for ([a, b], out) in ands.iter().zip(products.chunks_mut(strip)) {
                for (i, out) in out.iter_mut().enumerate() {
                    *out = and(cells[*a as usize * strip + i], cells[*b as usize * strip + i]);
                }
            }
        }
        woven.outputs().iter().flat_map(|c| cells[*c as usize * strip..][..strip].to_vec()).collect()
    }

    /// The same outputs, gate by gate.
    fn plain(circuit: &Circuit, inputs: &[Block], strip: usize) -> Vec<Block> {
        let mut wires = vec![Block::ZERO; circuit.wires() * strip];
        wires[..inputs.len()].copy_from_slice(inputs);
        for gate in circuit.gates() {
            for i in 0..strip {
                let wire = |w: u32| wires[w as usize * strip + i];
                let value = match *gate {
                    Gate::Xor { a, b, .. } => wire(a) ^ wire(b),
                    Gate::And { a, b, .. } => and(wire(a), wire(b)),
                    Gate::Inv { a, .. } => wire(a) ^ Block::ONES,
                    Gate::Const { value, .. } => {
                        if value {
                            Block::ONES
                        } else {
                            Block::ZERO
                        }
                    }
                    Gate::Copy { a, .. } => wire(a),
                };
                wires[gate.out() as usize * strip + i] = value;
            }
        }
        wires[circuit.first_output() * strip..].to_vec()
    }

    fn random(n: usize, seed: u64) -> Vec<Block> {
        let mut x = u128::from(seed) | 1 << 64;
        let mut next = || {
            x = x.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(0x5851_f42d_4c95_7f2d);
            Block::from(x ^ x >> 61)
        };
        (0..n).map(|_| next()).collect()
    }

    fn check(circuit: &Circuit, seed: u64) {
        let block = Layered::new(circuit);
        let woven = block.woven();
        assert_eq!(woven.layers().len(), block.layers().len());
        for (w, l) in woven.layers().iter().zip(block.layers()) {
            assert_eq!(w.ands.len(), l.ands.len());
            assert!(
                woven.ands()[w.ands.clone()].as_flattened().iter().all(|c| (*c as usize) < woven.cells()),
                "no AND reads a product"
            );
        }
        for strip in [1, 3, 8] {
            let inputs = random(block.input_bits() * strip, seed);
            assert!(run(&block, &inputs, strip) == plain(circuit, &inputs, strip), "{strip} blocks");
        }
    }

    #[test]
    fn named_circuits_do_as_woven_what_they_do_gate_by_gate() {
        for name in ["aes128", "sha256-block", "mul:9", "less:8", "sort:5x4"] {
            match named::make(name) {
                Ok(circuit) => check(&circuit, 3),
                // Some names denote programs of several stages.
                Err(_) => {
                    let program = named::program(name).expect("a circuit of ours");
                    for k in 0..program.stages().len() {
                        assert!(program.stages().shape(k).0.woven().layers().len() > 1);
                    }
                }
            }
        }
    }

    #[test]
    fn chains_are_sums_of_three_and_products_stay_where_they_are() {
        // x = a ⊕ b ⊕ c ⊕ d, y = x ∧ a; then y ⊕ b, and ¬y by itself.
        let gates = vec![
            Gate::Xor { a: 0, b: 1, out: 4 },
            Gate::Xor { a: 4, b: 2, out: 5 },
            Gate::Xor { a: 5, b: 3, out: 6 },
            Gate::And { a: 6, b: 0, out: 7 },
            Gate::Xor { a: 7, b: 1, out: 8 },
            Gate::Inv { a: 7, out: 9 },
        ];
        let circuit = Circuit::new(vec![4], vec![2], 10, gates).expect("a circuit");
        check(&circuit, 8);
        let block = Layered::new(&circuit);
        let sums: Vec<_> = block.woven().layers().iter().map(|l| l.sums.len()).collect();
        assert_eq!(sums, [2, 2], "a ⊕ b ⊕ c and one more; the product is read where it is");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200))]
        #[test]
        fn random_circuits_do_as_woven_what_they_do_gate_by_gate(
            kinds in proptest::collection::vec((0u8..6, any::<u32>(), any::<u32>()), 1..120),
            inputs in 1usize..9,
            outputs in 1usize..9,
            seed in any::<u64>(),
        ) {
            let mut gates = vec![];
            let mut out = inputs as u32;
            let outputs = outputs.min(kinds.len());
            for (kind, a, b) in kinds {
                let (a, b) = (a % out, b % out);
                gates.push(match kind {
                    0 | 1 => Gate::And { a, b, out },
                    2 => Gate::Inv { a, out },
                    3 if a % 5 == 0 => Gate::Const { value: b % 2 == 1, out },
                    3 if a % 5 == 1 => Gate::Copy { a: b, out },
                    _ => Gate::Xor { a, b, out },
                });
                out += 1;
            }
            let circuit = Circuit::new(vec![inputs], vec![outputs], out as usize, gates).expect("a circuit");
            check(&circuit, seed);
        }
    }
}
