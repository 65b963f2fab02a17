//! Compiles layers to a graph of sums. Bits that all instances have in common are separated from
//! the wires first.
//!
//! Every wire is a **material** (an input row, a product, or a sum of two materials) and a pending
//! scalar. An XOR with a common bit or with 1 changes only the pending scalar. A slot holds its
//! material and a **bias**, a scalar that the LIN adds. The bias is the pending scalar that most
//! readers need; ANDs count first, since they cannot add a scalar themselves. If an AND needs
//! another scalar, or the material is a row or a product, the AND reads a copy that a LIN of one
//! slot makes.

use super::schedule::{DataFlow, Lin, Node};
use super::sums::{ScalarNumber, ScalarTable};
use super::{Microcode, MicrocodeError, Scalar};
use hushwire_circuit::{Layered, ONE, ZERO, input_slot};
use std::collections::HashMap;

/// The number of a node: a material or a copy.
type Id = u32;

/// The value of a wire: a material plus a sum of scalars that is still to be added.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct PendingValue {
    /// `None` if the value is a scalar alone.
    material: Option<Id>,
    pending: ScalarNumber,
}

const NOTHING: PendingValue = PendingValue { material: None, pending: 0 };

/// The readers of a material with one pending scalar.
struct Demand {
    pending: ScalarNumber,
    ands: usize,
    others: usize,
}

struct Graph {
    sums: ScalarTable,
    nodes: Vec<Node>,
    /// The layer that makes each node.
    layer: Vec<u32>,
    demands: Vec<Vec<Demand>>,
    /// The sums of materials so far, so that equal ones are made once.
    made: HashMap<[Id; 2], Id>,
    /// The operands of every AND, in order.
    ands: Vec<[PendingValue; 2]>,
    outputs: Vec<PendingValue>,
}

impl Microcode {
    /// Compiles `block`. The inputs whose indices are in `common` (in any order) are the same for
    /// all instances.
    ///
    /// # Errors
    /// If an index in `common` does not exist, or the circuit has too many live bits or sums of
    /// common bits.
    pub fn compile(name: &str, block: &Layered, common: &[usize]) -> Result<Microcode, MicrocodeError> {
        let inputs = block.inputs().len();
        let mut common = common.to_vec();
        common.sort_unstable();
        common.dedup();
        if let Some(&index) = common.iter().find(|i| **i >= inputs) {
            return Err(MicrocodeError::NoInput { index, inputs });
        }
        let mut graph = Graph::new(block, &common)?;
        let layer_ands: Vec<usize> =
            block.layers().iter().map(|layer| layer.ands.len()).filter(|ands| *ands > 0).collect();
        let plan = graph.plan(&layer_ands)?;
        let sums = graph.sums;
        let (instructions, scalars, slots) = plan.instructions(&sums)?;
        // The text file has the name on one line.
        let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
        Ok(Microcode {
            name,
            digest: block.digest(),
            inputs: block.inputs().to_vec(),
            outputs: block.outputs().to_vec(),
            common,
            slots,
            scalars,
            layer_ands,
            instructions,
        })
    }
}

impl Graph {
    fn new(block: &Layered, common: &[usize]) -> Result<Graph, MicrocodeError> {
        let mut graph = Graph {
            sums: ScalarTable::new(),
            nodes: vec![],
            layer: vec![],
            demands: vec![],
            made: HashMap::new(),
            ands: vec![],
            outputs: vec![],
        };
        let mut slots = vec![NOTHING; block.slots()];
        slots[ONE as usize].pending = graph.sums.insert(Scalar { one: true, bits: vec![] })?;
        let (mut bit, mut common_bit) = (0, 0);
        for (i, width) in block.inputs().iter().enumerate() {
            let is_common = common.binary_search(&i).is_ok();
            for _ in 0..*width {
                slots[input_slot(bit) as usize] = if is_common {
                    let pending = graph.sums.insert(Scalar { one: false, bits: vec![common_bit] })?;
                    common_bit += 1;
                    PendingValue { material: None, pending }
                } else {
                    graph.material(Node::In, 0)
                };
                bit += 1;
            }
        }
        let mut products = vec![];
        for (d, layer) in block.layers().iter().enumerate() {
            for (slot, product) in layer.products.iter().zip(&products) {
                slots[*slot as usize] = *product;
            }
            for [a, b, out] in &layer.xors {
                slots[*out as usize] = graph.xor(slots[*a as usize], slots[*b as usize], d as u32)?;
            }
            products.clear();
            for operands in &layer.ands {
                let operands = operands.map(|slot| slots[slot as usize]);
                operands.iter().for_each(|value| graph.demand(*value, true));
                products.push(graph.material(Node::Product, d as u32));
                graph.ands.push(operands);
            }
        }
        graph.outputs = block.output_slots().iter().map(|slot| slots[*slot as usize]).collect();
        for output in graph.outputs.clone() {
            graph.demand(output, false);
        }
        assert!(slots[ZERO as usize] == NOTHING, "constants stay");
        Ok(graph)
    }

    fn material(&mut self, node: Node, layer: u32) -> PendingValue {
        self.nodes.push(node);
        self.layer.push(layer);
        self.demands.push(vec![]);
        PendingValue { material: Some(self.nodes.len() as Id - 1), pending: 0 }
    }

    fn demand(&mut self, value: PendingValue, and: bool) {
        let Some(material) = value.material else { return };
        let demands = &mut self.demands[material as usize];
        let at = demands.iter().position(|d| d.pending == value.pending).unwrap_or_else(|| {
            demands.push(Demand { pending: value.pending, ands: 0, others: 0 });
            demands.len() - 1
        });
        *(if and { &mut demands[at].ands } else { &mut demands[at].others }) += 1;
    }

    fn xor(&mut self, x: PendingValue, y: PendingValue, layer: u32) -> Result<PendingValue, MicrocodeError> {
        let pending = self.sums.xor(x.pending, y.pending)?;
        let material = match (x.material, y.material) {
            (None, material) | (material, None) => material,
            (Some(a), Some(b)) if a == b => None,
            (Some(a), Some(b)) => {
                let key = [a.min(b), a.max(b)];
                self.demand(x, false);
                self.demand(y, false);
                Some(match self.made.get(&key) {
                    Some(material) => *material,
                    None => {
                        let lin = Lin { sources: [Some(key[0]), Some(key[1])], scalar: 0 };
                        let made = self.material(Node::Lin(lin), layer).material.expect("it was just made");
                        self.made.insert(key, made);
                        made
                    }
                })
            }
        };
        Ok(PendingValue { material, pending })
    }

    /// Chooses biases and copies.
    fn plan(&mut self, layer_ands: &[usize]) -> Result<DataFlow, MicrocodeError> {
        let mut bias: Vec<ScalarNumber> = vec![0; self.nodes.len()];
        for id in 0..self.nodes.len() {
            let Node::Lin(mut lin) = self.nodes[id] else { continue };
            // If there are several maxima, the first one is taken.
            let best = self.demands[id].iter().rev().max_by_key(|d| (d.ands, d.others));
            bias[id] = best.map_or(0, |d| d.pending);
            let mut scalar = bias[id];
            for source in lin.sources.into_iter().flatten() {
                scalar = self.sums.xor(scalar, bias[source as usize])?;
            }
            lin.scalar = scalar;
            self.nodes[id] = Node::Lin(lin);
        }
        let mut copies: HashMap<PendingValue, Id> = HashMap::new();
        let mut ands = Vec::with_capacity(self.ands.len());
        let values = std::mem::take(&mut self.ands);
        let mut layers = layer_ands.iter().enumerate().flat_map(|(d, n)| std::iter::repeat_n(d as u32, *n));
        for operands in values {
            let layer = layers.next().unwrap_or(0);
            let mut ids = [0; 2];
            for (id, value) in ids.iter_mut().zip(operands) {
                *id = match (value.material, copies.get(&value)) {
                    (Some(material), _) if bias[material as usize] == value.pending => material,
                    (_, Some(copy)) => *copy,
                    (material, None) => {
                        let held = material.map_or(0, |m| bias[m as usize]);
                        let scalar = self.sums.xor(value.pending, held)?;
                        let lin = Lin { sources: [material, None], scalar };
                        let copy = self.material(Node::Lin(lin), layer).material.expect("it was just made");
                        copies.insert(value, copy);
                        copy
                    }
                };
            }
            ands.push(ids);
        }
        let mut outputs = Vec::with_capacity(self.outputs.len());
        for value in std::mem::take(&mut self.outputs) {
            let held = value.material.map_or(0, |m| bias[m as usize]);
            outputs.push((value.material, self.sums.xor(value.pending, held)?));
        }
        let (nodes, layer) = (std::mem::take(&mut self.nodes), std::mem::take(&mut self.layer));
        Ok(DataFlow::new(nodes, layer, ands, layer_ands.to_vec(), outputs))
    }
}
