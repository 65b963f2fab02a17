//! A form of layers that load inputs where they are read and store outputs where they are made, so
//! that slots hold only values that live on between layers.
//!
//! ```text
//! layered    inputs in slots from the start, outputs in slots to the end
//! lean       layer: load inputs, products, XORs, ANDs, store outputs
//!            an input is loaded in each layer that reads it
//! ```
//!
//! A layer of a deep circuit reads few of its inputs (a ripple comparison reads two bits), so that
//! a few slots are enough and stay in the cache. LOCAL: gates, their order and their layers are
//! those of the layered form, and so are all messages.

use crate::{CircuitLayer, Layered, ONE, Slot, ZERO};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A layer of this form.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LeanLayer {
    /// `[input bit, slot]`: loads, before anything else.
    pub loads: Vec<[u32; 2]>,
    /// The gates, in the number and order of the layered form.
    pub gates: CircuitLayer,
    /// `[slot, output bit]`: stores, after all gates.
    pub stores: Vec<[u32; 2]>,
}

/// The lean form of a circuit; [`Layered::lean`] makes it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Lean {
    slots: usize,
    layers: Vec<LeanLayer>,
}

/// The value that a slot of the layered form holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeanValue {
    Constant(Slot),
    Input(u32),
    Gate(u32),
}

/// The gates of a layer over values.
#[derive(Default)]
struct LayerGates {
    products: Vec<u32>,
    xors: Vec<([LeanValue; 2], u32)>,
    ands: Vec<[LeanValue; 2]>,
}

/// The values of a layered form; a gate's value is numbered when the gate makes it.
fn values(layered: &Layered) -> (Vec<LayerGates>, Vec<LeanValue>, usize) {
    let mut holds = vec![LeanValue::Constant(ZERO); layered.slots()];
    holds[ONE as usize] = LeanValue::Constant(ONE);
    (0..layered.input_bits()).for_each(|i| holds[crate::input_slot(i) as usize] = LeanValue::Input(i as u32));
    let mut made = 0;
    let mut make = |holds: &mut Vec<LeanValue>, slot: Slot| {
        holds[slot as usize] = LeanValue::Gate(made);
        made += 1;
        made - 1
    };
    let mut steps = vec![];
    for layer in layered.layers() {
        let mut step = LayerGates::default();
        step.products.extend(layer.products.iter().map(|slot| make(&mut holds, *slot)));
        for [a, b, out] in &layer.xors {
            let reads = [a, b].map(|slot| holds[*slot as usize]);
            step.xors.push((reads, make(&mut holds, *out)));
        }
        step.ands.extend(layer.ands.iter().map(|reads| reads.map(|slot| holds[slot as usize])));
        steps.push(step);
    }
    let outputs = layered.output_slots().iter().map(|slot| holds[*slot as usize]).collect();
    (steps, outputs, made as usize)
}

/// A position in the order: each XOR of a layer, its ANDs together, its end.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
struct Time(u32, u32);

/// The time of a value that is not held.
const NEVER: Time = Time(u32::MAX, u32::MAX);

/// The free slots; the lowest is taken first.
struct Free {
    slots: BinaryHeap<Reverse<Slot>>,
    count: Slot,
}

impl Free {
    fn take(&mut self) -> Slot {
        self.slots.pop().map_or_else(
            || {
                self.count += 1;
                self.count - 1
            },
            |Reverse(slot)| slot,
        )
    }
}

impl Lean {
    pub(crate) fn new(layered: &Layered) -> Lean {
        let (steps, outputs, made) = values(layered);
        let mut maker = Maker {
            last: vec![Time::default(); made],
            slot: vec![Slot::MAX; made],
            taken: vec![vec![]; made],
            brought: vec![(u32::MAX, Slot::MAX, NEVER); layered.input_bits()],
            free: Free { slots: BinaryHeap::new(), count: 2 },
        };
        maker.last_reads(&steps, &outputs);
        let mut layers: Vec<LeanLayer> =
            steps.iter().enumerate().map(|(number, step)| maker.layer(number as u32, step)).collect();
        // Outputs that no gate makes are stored in the last layer.
        let last = layers.last_mut().expect("there is a layer after the last ANDs");
        for (bit, value) in outputs.iter().enumerate() {
            let slot = match value {
                LeanValue::Gate(_) => continue,
                LeanValue::Constant(slot) => *slot,
                LeanValue::Input(i) => {
                    // The slot is free only after this layer has run.
                    maker.free.count += 1;
                    let slot = maker.free.count - 1;
                    last.loads.push([*i, slot]);
                    slot
                }
            };
            last.stores.push([slot, bit as u32]);
        }
        Lean { slots: maker.free.count as usize, layers }
    }

    /// The number of slots, including those of constants.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The layers, in the number of the layered form.
    #[must_use]
    pub fn layers(&self) -> &[LeanLayer] {
        &self.layers
    }
}

struct Maker {
    /// For each gate's value: the last time at which it is needed, its slot, its output bits.
    last: Vec<Time>,
    slot: Vec<Slot>,
    taken: Vec<Vec<u32>>,
    /// For each input: the layer that loaded it last, its slot, its last read there.
    brought: Vec<(u32, Slot, Time)>,
    free: Free,
}

impl Maker {
    fn last_reads(&mut self, steps: &[LayerGates], outputs: &[LeanValue]) {
        for (bit, value) in outputs.iter().enumerate() {
            if let LeanValue::Gate(made) = value {
                self.taken[*made as usize].push(bit as u32);
            }
        }
        for (layer, step) in (0..).zip(steps) {
            let end = Time(layer, u32::MAX);
            let made = step.products.iter().copied().chain(step.xors.iter().map(|(_, out)| *out));
            made.for_each(|made| {
                // A value that nothing reads is released at the end of its layer.
                self.last[made as usize] =
                    if self.taken[made as usize].is_empty() { Time::default() } else { end };
            });
            for (at, (reads, _)) in (0..).zip(&step.xors) {
                reads.iter().for_each(|value| self.read(*value, Time(layer, at)));
            }
            let ands = Time(layer, step.xors.len() as u32);
            step.ands.iter().flatten().for_each(|value| self.read(*value, ands));
        }
    }

    fn read(&mut self, value: LeanValue, time: Time) {
        if let LeanValue::Gate(made) = value {
            let last = &mut self.last[made as usize];
            *last = time.max(*last);
        }
    }

    fn layer(&mut self, number: u32, step: &LayerGates) -> LeanLayer {
        let mut layer = LeanLayer::default();
        let ands = Time(number, step.xors.len() as u32);
        let reads = (0..).zip(&step.xors).flat_map(|(at, (reads, _))| reads.map(|v| (v, Time(number, at))));
        let reads = reads.chain(step.ands.iter().flatten().map(|v| (*v, ands)));
        for (value, time) in reads {
            let LeanValue::Input(i) = value else { continue };
            let (brought, slot, last) = &mut self.brought[i as usize];
            if *brought != number {
                (*brought, *slot) = (number, self.free.take());
                layer.loads.push([i, *slot]);
            }
            *last = time;
        }
        for made in &step.products {
            layer.gates.products.push(self.take(*made));
        }
        for (at, (reads, out)) in (0..).zip(&step.xors) {
            let [a, b] = reads.map(|value| self.place(value));
            self.release(reads, Time(number, at));
            layer.gates.xors.push([a, b, self.take(*out)]);
        }
        layer.gates.ands.extend(step.ands.iter().map(|reads| reads.map(|value| self.place(value))));
        let made: Vec<u32> =
            step.products.iter().copied().chain(step.xors.iter().map(|(_, out)| *out)).collect();
        for made in &made {
            let slot = self.slot[*made as usize];
            layer.stores.extend(self.taken[*made as usize].iter().map(|bit| [slot, *bit]));
        }
        let all: Vec<LeanValue> = step.ands.iter().flatten().copied().collect();
        self.release(&all, ands);
        let made: Vec<LeanValue> = made.into_iter().map(LeanValue::Gate).collect();
        self.release(&made, Time(number, u32::MAX));
        layer
    }

    fn take(&mut self, made: u32) -> Slot {
        let slot = self.free.take();
        self.slot[made as usize] = slot;
        slot
    }

    fn place(&self, value: LeanValue) -> Slot {
        match value {
            LeanValue::Constant(slot) => slot,
            LeanValue::Input(i) => self.brought[i as usize].1,
            LeanValue::Gate(made) => self.slot[made as usize],
        }
    }

    /// Frees the slots of those values whose last use is at this time, each slot once.
    fn release(&mut self, values: &[LeanValue], time: Time) {
        for value in values {
            let slot = match *value {
                LeanValue::Constant(_) => continue,
                LeanValue::Input(i) => match &mut self.brought[i as usize] {
                    (_, slot, last) if *last == time => {
                        *last = NEVER;
                        *slot
                    }
                    _ => continue,
                },
                LeanValue::Gate(made) => {
                    let last = &mut self.last[made as usize];
                    if *last != time {
                        continue;
                    }
                    *last = NEVER;
                    self.slot[made as usize]
                }
            };
            self.free.slots.push(Reverse(slot));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bit, Builder, words};
    use proptest::prelude::*;

    /// The outputs of 64 instances, by the lean form.
    fn run(lean: &Lean, inputs: &[u64], outputs: usize) -> Vec<u64> {
        // The former content of a slot must not matter.
        let mut slots = vec![0x5a5a_5a5a_5a5a_5a5a; lean.slots()];
        (slots[ZERO as usize], slots[ONE as usize]) = (0, u64::MAX);
        let mut out = vec![0; outputs];
        let mut products: Vec<u64> = vec![];
        for LeanLayer { loads, gates, stores } in lean.layers() {
            loads.iter().for_each(|[input, slot]| slots[*slot as usize] = inputs[*input as usize]);
            assert_eq!(products.len(), gates.products.len());
            products.iter().zip(&gates.products).for_each(|(p, slot)| slots[*slot as usize] = *p);
            for [a, b, out] in &gates.xors {
                slots[*out as usize] = slots[*a as usize] ^ slots[*b as usize];
            }
            products = gates.ands.iter().map(|[a, b]| slots[*a as usize] & slots[*b as usize]).collect();
            stores.iter().for_each(|[slot, bit]| out[*bit as usize] = slots[*slot as usize]);
        }
        out
    }

    fn check(circuit: &crate::Circuit) -> usize {
        let layered = Layered::new(circuit);
        let lean = Lean::new(&layered);
        let outputs = layered.outputs().iter().sum();
        let number = |i: usize| (i as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(i as u32 % 64);
        let inputs: Vec<u64> = (0..layered.input_bits()).map(number).collect();
        // The layered form, run the same way.
        let mut slots = vec![0; layered.slots()];
        slots[ONE as usize] = u64::MAX;
        inputs.iter().enumerate().for_each(|(i, v)| slots[crate::input_slot(i) as usize] = *v);
        let mut products: Vec<u64> = vec![];
        for layer in layered.layers() {
            products.iter().zip(&layer.products).for_each(|(p, slot)| slots[*slot as usize] = *p);
            for [a, b, out] in &layer.xors {
                slots[*out as usize] = slots[*a as usize] ^ slots[*b as usize];
            }
            products = layer.ands.iter().map(|[a, b]| slots[*a as usize] & slots[*b as usize]).collect();
        }
        let expected: Vec<u64> = layered.output_slots().iter().map(|slot| slots[*slot as usize]).collect();
        assert_eq!(run(&lean, &inputs, outputs), expected);
        for (lean, layer) in lean.layers().iter().zip(layered.layers()) {
            assert_eq!(
                [lean.gates.products.len(), lean.gates.xors.len(), lean.gates.ands.len()],
                [layer.products.len(), layer.xors.len(), layer.ands.len()],
            );
        }
        lean.slots()
    }

    fn two(width: usize, make: impl FnOnce(&mut Builder, &[Bit], &[Bit]) -> Vec<Bit>) -> crate::Circuit {
        let mut b = Builder::new();
        let (x, y) = (b.input(width), b.input(width));
        let out = make(&mut b, &x, &y);
        b.finish(&[out])
    }

    #[test]
    fn outputs_are_those_of_the_layers() {
        let slots = check(&two(64, |b, x, y| vec![words::less(b, x, y)]));
        assert!(slots < 16, "a comparison by ripple needs few: {slots}");
        check(&two(64, words::add_mod));
        check(&two(17, |b, x, y| words::mul(b, x, y, 17)));
        // Repeated outputs, inputs and constants as outputs, unread inputs, a NOT whose operand has
        // no other use.
        check(&two(4, |b, x, y| {
            let (and, not) = (b.and(x[0], y[0]), b.not(y[1]));
            vec![and, and, x[2], x[2], Bit::ZERO, Bit::ONE, not, y[3]]
        }));
        check(&two(1, |_, _, _| vec![]));
    }

    proptest! {
        #[test]
        fn any_circuit_is_that_of_its_layers(
            inputs in 1usize..9,
            gates in prop::collection::vec((0u8..4, any::<prop::sample::Index>(), any::<prop::sample::Index>()), 0..120),
            outputs in prop::collection::vec(any::<prop::sample::Index>(), 0..20),
        ) {
            let mut b = Builder::new();
            let mut bits = b.input(inputs);
            bits.extend([Bit::ZERO, Bit::ONE]);
            for (kind, x, y) in gates {
                let [x, y] = [x, y].map(|at| bits[at.index(bits.len())]);
                bits.push(match kind {
                    0 => b.not(x),
                    1 => b.xor(x, y),
                    _ => b.and(x, y),
                });
            }
            let out: Vec<Bit> = outputs.iter().map(|at| bits[at.index(bits.len())]).collect();
            check(&b.finish(&[out]));
        }
    }
}
