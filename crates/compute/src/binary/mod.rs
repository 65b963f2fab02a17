//! The canonical binary form, and the digest that parties agree on.
//!
//! ```text
//! "hwc" 2, name, members, symbols, circuits, nodes, outputs
//! list     count, items                 string   bytes, UTF-8
//! number   7 bits a byte, low first, as few bytes as do        node   operation's code, parameters, arguments
//! circuit  widths of inputs, widths of outputs, gates, each a code and its wires
//! ```
//!
//! Types of nodes but inputs follow from their operands and are not written. A form that another one says shorter, or in
//! another order, is refused: one computation has one form.

mod read;
mod write;

use crate::{Computation, ComputeError, Netlist, Op, Value, draft::Draft, infer::arity};
use read::Reader;
use std::collections::{HashMap, HashSet};
use write::Writer;

const MAGIC: &[u8; 4] = b"hwc\x02";
/// AGREEMENT: the domain of digests.
const DOMAIN: &str = "hushwire 2026 computation 1";

/// AGREEMENT: operations without parameters, by code from [`FIRST_PLAIN`].
const PLAIN: [Op; 20] = [
    Op::Add,
    Op::Sub,
    Op::Mul,
    Op::Div,
    Op::Rem,
    Op::Neg,
    Op::Abs,
    Op::Min,
    Op::Max,
    Op::And,
    Op::Or,
    Op::Xor,
    Op::Not,
    Op::Select,
    Op::MatMul,
    Op::Gather,
    Op::Permute,
    Op::Invert,
    Op::Join,
    Op::Wrapping,
];
const FIRST_PLAIN: u8 = 32;

impl Computation {
    /// The binary form.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut w = Writer(MAGIC.to_vec());
        w.string(&self.name);
        w.strings(&self.members);
        w.strings(&self.symbols);
        let circuits = self.circuits();
        w.number(circuits.len() as u64);
        circuits.iter().for_each(|c| w.circuit(c));
        let circuits: HashMap<&Netlist, usize> =
            circuits.iter().enumerate().map(|(at, c)| (*c, at)).collect();
        w.number(self.nodes.len() as u64);
        for (at, node) in self.nodes.iter().enumerate() {
            w.op(&node.op, &node.ty, &circuits);
            if let Op::Input(_) = node.op {
                w.promise(self.promised(Value(at as u32)));
            }
            if arity(&node.op).is_none() {
                w.number(node.arguments.len() as u64);
            }
            node.arguments.iter().for_each(|v| w.number(v.0.into()));
        }
        w.number(self.outputs.len() as u64);
        for output in &self.outputs {
            w.string(&output.name);
            w.number(output.value.0.into());
            w.number(output.to.len() as u64);
            output.to.iter().for_each(|m| w.number(m.0.into()));
        }
        w.0
    }

    /// The computation of a binary form.
    ///
    /// # Errors
    /// Bytes that no computation has as its form, or a computation that the checker refuses.
    pub fn from_bytes(bytes: &[u8]) -> Result<Computation, ComputeError> {
        let mut r = Reader { bytes, at: 0 };
        if r.take(4)? != MAGIC {
            return Err(ComputeError::Binary { at: 0, cause: "no mark of version 2".into() });
        }
        let mut draft = Draft::new(&r.string()?)?;
        for _ in 0..r.count()? {
            draft.member(&r.string()?)?;
        }
        for _ in 0..r.count()? {
            draft.symbol(&r.string()?)?;
        }
        let circuits = (0..r.count()?).map(|_| r.circuit()).collect::<Result<Vec<_>, _>>()?;
        for _ in 0..r.count()? {
            r.node(&mut draft, &circuits)?;
        }
        for _ in 0..r.count()? {
            let (name, value) = (r.string()?, r.value()?);
            let to = (0..r.count()?).map(|_| r.member()).collect::<Result<_, _>>()?;
            draft.output(&name, value, to)?;
        }
        let computation = draft.finish()?;
        let again = computation.to_bytes();
        if again != bytes {
            let at = again.iter().zip(bytes).take_while(|(a, b)| a == b).count();
            return Err(ComputeError::Binary { at, cause: "not the canonical form".into() });
        }
        Ok(computation)
    }

    /// The circuits that it carries, in the order in which nodes name them.
    pub(crate) fn circuits(&self) -> Vec<&Netlist> {
        let mut seen = HashSet::new();
        let carried = self.nodes.iter().filter_map(|node| match &node.op {
            Op::Circuit(circuit) => Some(circuit),
            _ => None,
        });
        carried.filter(|circuit| seen.insert(*circuit)).collect()
    }

    /// The identity of the computation: BLAKE3 of its binary form.
    #[must_use]
    pub fn digest(&self) -> [u8; 32] {
        blake3::derive_key(DOMAIN, &self.to_bytes())
    }
}
