//! The canonical binary form of a computation, and the digest on which parties agree.
//!
//! ```text
//! "hwc" 2, name, members, symbols, circuits, nodes, outputs
//! list     count, items
//! string   bytes, UTF-8
//! number   7 bits a byte, low first, in the fewest bytes
//! node     operation's code, parameters, arguments
//! circuit  widths of inputs, widths of outputs, gates, each a code and its wires
//! ```
//!
//! The types of nodes follow from their operands and are not written, except for inputs. A form
//! that is not the shortest, or that has another order, is refused. Each computation therefore has
//! exactly one form.

pub(crate) mod parameter;
pub(crate) mod read;
pub(crate) mod write;

use crate::{Computation, ComputeError, Member, Netlist, Node, Op, Type, Value, Visibility, draft::Draft};
use read::Reader;
use std::collections::HashSet;
use write::Writer;

const MAGIC: &[u8; 4] = b"hwc\x02";
/// AGREEMENT: the domain of digests.
const DOMAIN: &str = "hushwire 2026 computation 1";

impl Computation {
    /// The computation's binary form.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let circuits = self.circuits();
        let numbers = circuits.iter().enumerate().map(|(at, c)| (*c, at)).collect();
        let mut w = Writer { bytes: MAGIC.to_vec(), circuits: numbers };
        w.string(&self.name);
        w.strings(&self.members);
        w.strings(&self.symbols);
        w.number(circuits.len() as u64);
        circuits.iter().for_each(|c| w.circuit(c));
        w.number(self.nodes.len() as u64);
        for (at, node) in self.nodes.iter().enumerate() {
            self.write_node(&mut w, Value(at as u32), node);
        }
        w.number(self.outputs.len() as u64);
        for output in &self.outputs {
            w.string(&output.name);
            w.number(output.value.0.into());
            w.number(output.to.len() as u64);
            output.to.iter().for_each(|m| w.number(m.0.into()));
        }
        w.bytes
    }

    /// Writes a node: its operation's code and parameters, then its arguments; for an input, its
    /// type and promise.
    fn write_node(&self, w: &mut Writer<'_>, value: Value, node: &Node) {
        node.op.write(w);
        if let Op::Input(_) = node.op {
            w.scalar(node.ty.scalar);
            w.shape(&node.ty.shape);
            w.number(match node.ty.visibility {
                Visibility::Public => 0,
                Visibility::Secret => 1,
                Visibility::Private(member) => 2 + u64::from(member.0),
            });
            w.promise(self.promised(value));
        }
        if node.op.arity().is_none() {
            w.number(node.arguments.len() as u64);
        }
        node.arguments.iter().for_each(|v| w.number(v.0.into()));
    }

    /// Reads a computation from its binary form.
    ///
    /// # Errors
    /// The bytes are not the form of a computation, or the checker refuses the computation.
    pub fn from_bytes(bytes: &[u8]) -> Result<Computation, ComputeError> {
        let mut r = Reader { bytes, at: 0, circuits: vec![] };
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
        r.circuits = (0..r.count()?).map(|_| r.circuit()).collect::<Result<_, _>>()?;
        for _ in 0..r.count()? {
            read_node(&mut r, &mut draft)?;
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

    /// The circuits that the computation carries, in the order of their numbers in nodes.
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

fn read_node(r: &mut Reader<'_>, draft: &mut Draft) -> Result<(), ComputeError> {
    let op = Op::read(r)?;
    if let Op::Input(name) = &op {
        let (scalar, shape) = (r.scalar()?, r.shape()?);
        let visibility = match r.number()? {
            0 => Visibility::Public,
            1 => Visibility::Secret,
            member => match u16::try_from(member - 2) {
                Ok(member) => Visibility::Private(Member(member)),
                Err(_) => return r.err("a number is too large"),
            },
        };
        let promised = r.promise()?;
        draft.input_within(name, Type { scalar, shape, visibility }, promised)?;
        return Ok(());
    }
    let n = match op.arity() {
        Some(n) => n as u64,
        None => r.count()?,
    };
    let arguments = (0..n).map(|_| r.value()).collect::<Result<_, _>>()?;
    draft.push(op, arguments)?;
    Ok(())
}
