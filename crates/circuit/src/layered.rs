//! The form of a circuit that protocols run: gates in layers, wires in slots.

use crate::{Circuit, Gate, Lean, Woven};
use std::sync::{Arc, OnceLock};

/// The place of a wire while it is needed.
pub type Slot = u32;
/// The slot of constant 0.
pub const ZERO: Slot = 0;
/// The slot of constant 1.
pub const ONE: Slot = 1;

/// The slot in which input bit `i` starts, counted over all inputs.
#[must_use]
#[inline]
pub const fn input_slot(i: usize) -> Slot {
    2 + i as Slot
}

/// A layer. First the products of the previous layer are stored in their slots, then `xors` run in
/// order, then all `ands`, which are independent of each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CircuitLayer {
    /// The slots of the products of the previous layer's `ands`, in their order; empty in the first
    /// layer. A slot may be one that the previous layer's ANDs read.
    pub products: Vec<Slot>,
    /// `[a, b, out]`, in order; `out` may be `a` or `b`. NOT is `⊕ ONE`.
    pub xors: Vec<[Slot; 3]>,
    /// `[a, b]`; empty in the last layer, and only there.
    pub ands: Vec<[Slot; 2]>,
}

/// A circuit in as many layers as its AND-depth.
///
/// The order is canonical (AGREEMENT): the number of layers is the smallest possible, every gate is
/// in the latest layer that this allows, and gates of a layer keep the order of the [`Circuit`].
/// Late gates keep few wires live: SHA-256 needs half the slots that it would need with early
/// gates. Gates that no output needs are left out; copies and constants become slots. Slots hold
/// only live wires, and a wire takes the lowest free slot.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layered {
    inputs: Vec<usize>,
    outputs: Vec<usize>,
    slots: usize,
    layers: Vec<CircuitLayer>,
    output_slots: Vec<Slot>,
    ands: usize,
    woven: Later<Woven>,
    lean: Later<Lean>,
}

/// A form that is derived from this one at its first use.
#[derive(Clone, Debug)]
struct Later<T>(Arc<OnceLock<T>>);

impl<T> Default for Later<T> {
    fn default() -> Self {
        Later(Arc::default())
    }
}

impl<T> PartialEq for Later<T> {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl<T> Eq for Later<T> {}

/// The source of a wire after copies and constants are folded.
#[derive(Clone, Copy)]
enum WireSource {
    Zero,
    One,
    /// A wire that an input, an XOR, an AND or a NOT makes.
    Wire(u32),
}

impl Layered {
    /// Orders a circuit.
    #[must_use]
    pub fn new(circuit: &Circuit) -> Layered {
        LayerOrder::new(circuit).slots(circuit)
    }

    /// The widths of the inputs, in bits.
    #[must_use]
    pub fn inputs(&self) -> &[usize] {
        &self.inputs
    }

    /// The number of bits of all inputs together.
    #[must_use]
    pub fn input_bits(&self) -> usize {
        self.inputs.iter().sum()
    }

    /// The widths of the outputs, in bits.
    #[must_use]
    pub fn outputs(&self) -> &[usize] {
        &self.outputs
    }

    /// The number of slots, including those of constants and inputs.
    #[must_use]
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The layers; their number is the AND-depth plus one.
    #[must_use]
    pub fn layers(&self) -> &[CircuitLayer] {
        &self.layers
    }

    /// The AND-depth: the number of layers with ANDs.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.layers.len() - 1
    }

    /// The number of AND gates.
    #[must_use]
    pub fn ands(&self) -> usize {
        self.ands
    }

    /// The slots of the output bits after the last layer, in order.
    #[must_use]
    pub fn output_slots(&self) -> &[Slot] {
        &self.output_slots
    }

    /// The form for garbling, made at the first call and kept.
    #[must_use]
    pub fn woven(&self) -> &Woven {
        self.woven.0.get_or_init(|| Woven::new(self))
    }

    /// The form whose inputs and outputs are outside the slots, made at the first call and kept.
    #[must_use]
    pub fn lean(&self) -> &Lean {
        self.lean.0.get_or_init(|| Lean::new(self))
    }

    /// BLAKE3 over the widths and every layer, as little-endian 32-bit words; each list is preceded
    /// by its length.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_derive_key("hushwire circuit v1");
        let mut list = |len: usize, words: &mut dyn Iterator<Item = u32>| {
            hash.update(&(len as u64).to_le_bytes());
            for w in words {
                hash.update(&w.to_le_bytes());
            }
        };
        list(self.inputs.len(), &mut self.inputs.iter().map(|n| *n as u32));
        list(self.outputs.len(), &mut self.outputs.iter().map(|n| *n as u32));
        list(self.layers.len(), &mut std::iter::empty());
        for layer in &self.layers {
            list(layer.products.len(), &mut layer.products.iter().copied());
            list(layer.xors.len(), &mut layer.xors.iter().flatten().copied());
            list(layer.ands.len(), &mut layer.ands.iter().flatten().copied());
        }
        list(self.output_slots.len(), &mut self.output_slots.iter().copied());
        *hash.finalize().as_bytes()
    }
}

/// The gates by layer, over the circuit's wires.
struct LayerOrder {
    source: Vec<WireSource>,
    needed: Vec<bool>,
    /// The numbers of gates by layer: linear gates, and ANDs whose products the next layer
    /// receives.
    linear: Vec<Vec<usize>>,
    ands: Vec<Vec<usize>>,
}

impl LayerOrder {
    fn new(circuit: &Circuit) -> LayerOrder {
        let mut source: Vec<WireSource> = (0..circuit.wires() as u32).map(WireSource::Wire).collect();
        let mut depth = vec![0u32; circuit.wires()];
        for gate in circuit.gates() {
            match *gate {
                Gate::Const { value, out } => {
                    source[out as usize] = if value { WireSource::One } else { WireSource::Zero };
                }
                Gate::Copy { a, out } => source[out as usize] = source[a as usize],
                _ => {
                    let deepest = gate.reads().map(|w| match source[w as usize] {
                        WireSource::Wire(w) => depth[w as usize],
                        _ => 0,
                    });
                    let deepest = deepest.max().unwrap_or(0);
                    depth[gate.out() as usize] = deepest + u32::from(matches!(gate, Gate::And { .. }));
                }
            }
        }
        let mut needed = vec![false; circuit.wires()];
        let need = |needed: &mut Vec<bool>, w: usize| {
            if let WireSource::Wire(w) = source[w] {
                needed[w as usize] = true;
            }
        };
        for w in circuit.first_output()..circuit.wires() {
            need(&mut needed, w);
        }
        for gate in circuit.gates().iter().rev() {
            if needed[gate.out() as usize] {
                gate.reads().for_each(|w| need(&mut needed, w as usize));
            }
        }
        let real =
            |g: &Gate| needed[g.out() as usize] && !matches!(g, Gate::Const { .. } | Gate::Copy { .. });
        let deepest = circuit.gates().iter().filter(|g| real(g)).map(|g| depth[g.out() as usize]).max();
        let deepest = deepest.unwrap_or(0);
        // The latest layer in which each wire may be made.
        let mut due = vec![deepest; circuit.wires()];
        for gate in circuit.gates().iter().rev().filter(|g| real(g)) {
            let layer = due[gate.out() as usize] - u32::from(matches!(gate, Gate::And { .. }));
            for wire in gate.reads() {
                if let WireSource::Wire(wire) = source[wire as usize] {
                    due[wire as usize] = due[wire as usize].min(layer);
                }
            }
        }
        let layers = deepest as usize + 1;
        let (mut linear, mut ands) = (vec![vec![]; layers], vec![vec![]; layers]);
        for (number, gate) in circuit.gates().iter().enumerate().filter(|(_, g)| real(g)) {
            let due = due[gate.out() as usize] as usize;
            match gate {
                Gate::And { .. } => ands[due - 1].push(number),
                _ => linear[due].push(number),
            }
        }
        LayerOrder { source, needed, linear, ands }
    }

    /// The last read of each wire, as a position in the order of linear gates and layers of ANDs.
    fn last_reads(&self, circuit: &Circuit) -> Vec<usize> {
        let mut last = vec![0; circuit.wires()];
        let mut time = 0;
        for (linear, ands) in self.linear.iter().zip(&self.ands) {
            for &g in linear {
                time += 1;
                self.wires(circuit.gates()[g]).for_each(|w| last[w] = time);
            }
            // All ANDs of a layer read at the same time.
            time += 1;
            for &g in ands {
                self.wires(circuit.gates()[g]).for_each(|w| last[w] = time);
            }
        }
        for w in circuit.first_output()..circuit.wires() {
            if let WireSource::Wire(w) = self.source[w] {
                last[w as usize] = usize::MAX;
            }
        }
        last
    }

    fn wires(&self, gate: Gate) -> impl Iterator<Item = usize> + '_ {
        gate.reads().filter_map(|w| match self.source[w as usize] {
            WireSource::Wire(w) => Some(w as usize),
            _ => None,
        })
    }

    fn slots(self, circuit: &Circuit) -> Layered {
        let last = self.last_reads(circuit);
        let input_bits: usize = circuit.inputs().iter().sum();
        let mut slots = Slots::new(input_bits, circuit.wires());
        for w in 0..input_bits {
            if !self.needed[w] {
                slots.release(w);
            }
        }
        let slot_of = |slots: &Slots, w: u32| match self.source[w as usize] {
            WireSource::Zero => ZERO,
            WireSource::One => ONE,
            WireSource::Wire(w) => slots.slot_of[w as usize],
        };
        let mut layers: Vec<CircuitLayer> = vec![];
        let mut time = 0;
        for (d, (linear, ands)) in self.linear.iter().zip(&self.ands).enumerate() {
            let mut layer = CircuitLayer::default();
            if d > 0 {
                for &g in &self.ands[d - 1] {
                    layer.products.push(slots.take(circuit.gates()[g].out() as usize));
                }
            }
            for &g in linear {
                time += 1;
                let gate = circuit.gates()[g];
                let (a, b) = match gate {
                    Gate::Xor { a, b, .. } => (slot_of(&slots, a), slot_of(&slots, b)),
                    Gate::Inv { a, .. } => (slot_of(&slots, a), ONE),
                    _ => unreachable!("only XOR and NOT are linear here"),
                };
                let mut dead: Vec<usize> = self.wires(gate).filter(|w| last[*w] == time).collect();
                dead.dedup();
                dead.into_iter().for_each(|w| slots.release(w));
                layer.xors.push([a, b, slots.take(gate.out() as usize)]);
            }
            time += 1;
            let mut dead = vec![];
            for &g in ands {
                let Gate::And { a, b, .. } = circuit.gates()[g] else { unreachable!("ANDs only") };
                layer.ands.push([slot_of(&slots, a), slot_of(&slots, b)]);
                dead.extend(self.wires(circuit.gates()[g]).filter(|w| last[*w] == time));
            }
            dead.sort_unstable();
            dead.dedup();
            dead.into_iter().for_each(|w| slots.release(w));
            layers.push(layer);
        }
        let output_slots =
            (circuit.first_output()..circuit.wires()).map(|w| slot_of(&slots, w as u32)).collect();
        Layered {
            inputs: circuit.inputs().to_vec(),
            outputs: circuit.outputs().to_vec(),
            slots: slots.count,
            ands: layers.iter().map(|l| l.ands.len()).sum(),
            layers,
            output_slots,
            woven: Later::default(),
            lean: Later::default(),
        }
    }
}

/// The free slots; the lowest is taken first.
struct Slots {
    slot_of: Vec<Slot>,
    free: std::collections::BinaryHeap<std::cmp::Reverse<Slot>>,
    count: usize,
}

impl Slots {
    fn new(input_bits: usize, wires: usize) -> Slots {
        let mut slot_of = vec![Slot::MAX; wires];
        for (i, slot) in slot_of.iter_mut().take(input_bits).enumerate() {
            *slot = input_slot(i);
        }
        Slots { slot_of, free: std::collections::BinaryHeap::new(), count: 2 + input_bits }
    }

    fn take(&mut self, wire: usize) -> Slot {
        let slot = match self.free.pop() {
            Some(std::cmp::Reverse(slot)) => slot,
            None => {
                self.count += 1;
                (self.count - 1) as Slot
            }
        };
        self.slot_of[wire] = slot;
        slot
    }

    fn release(&mut self, wire: usize) {
        self.free.push(std::cmp::Reverse(self.slot_of[wire]));
    }
}
