//! The forms in which values enter and leave a run: bits, or numbers if they are only summed and
//! multiplied. A [`Door`] gives the length of a share in bytes, and the group in which shares add
//! up. A client makes and joins shares by a door alone.

use hushwire_compute::{Computation, Op, Reduction, Scalar, Value, Visibility};
use hushwire_plan::Size;
use hushwire_rep3::Addition;

/// The form of an input or output, as shares in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Door {
    /// The elements' scalar.
    pub scalar: Scalar,
    /// The number of elements.
    pub elements: usize,
    /// The bits of its words; `None` for bit planes.
    pub(crate) ring: Option<u32>,
}

impl Door {
    pub(crate) fn bits(scalar: Scalar, elements: usize) -> Self {
        Door { scalar, elements, ring: None }
    }

    /// The door of a value with this size.
    pub(crate) fn of(scalar: Scalar, size: Size) -> Self {
        let ring = if let Size::Words(ring, _) = size { Some(ring) } else { None };
        Door { scalar, elements: size.rows(), ring }
    }

    pub(crate) fn size(&self) -> Size {
        let bits = Size::Bits(self.scalar.bits(), self.elements);
        self.ring.map_or(bits, |ring| Size::Words(ring, self.elements))
    }

    /// The group in which the shares add up. Shares of bit planes add by ⊕, shares of numbers as
    /// words of 1, 2, 4 or 8 bytes.
    #[must_use]
    pub fn addition(&self) -> Addition {
        self.ring.map_or(Addition::Xor, |ring| Addition::Words((ring / 8) as u8))
    }

    /// The bytes of a share: a plane of ⌈elements/8⌉ bytes for each bit, or a word for each
    /// element.
    #[must_use]
    pub fn bytes(&self) -> usize {
        match self.ring {
            None => self.scalar.bits() * self.elements.div_ceil(8),
            Some(ring) => self.elements * ring as usize / 8,
        }
    }
}

/// The form that is cheapest for the readers of a value.
#[derive(Clone, Copy, PartialEq)]
enum Want {
    Either,
    Numbers,
    Bits,
}

impl Want {
    fn and(self, other: Want) -> Want {
        match (self, other) {
            (Want::Bits, _) | (_, Want::Bits) => Want::Bits,
            (Want::Numbers, _) | (_, Want::Numbers) => Want::Numbers,
            _ => Want::Either,
        }
    }
}

/// Whether a value is computed from products, which are numbers.
fn is_product(computation: &Computation, value: Value) -> bool {
    let is_shared = computation.node(value).ty.visibility != Visibility::Public;
    is_shared && matches!(computation.node(value).op, Op::Mul | Op::MatMul | Op::Conv2d { .. })
}

/// For each node, whether all its readers can use numbers. No reader needs its bits, and at least
/// one needs its numbers.
pub(crate) fn numbers(computation: &Computation, has_ring: impl Fn(Scalar) -> bool) -> Vec<bool> {
    let nodes = computation.nodes();
    let mut wants = vec![Want::Either; nodes.len()];
    for (at, node) in nodes.iter().enumerate().rev() {
        let (own, ringed) = (wants[at], has_ring(node.ty.scalar));
        for (k, argument) in node.arguments.iter().enumerate() {
            let from = argument.0 as usize;
            let want = match &node.op {
                Op::Mul | Op::MatMul | Op::Conv2d { .. } | Op::PrefixSum(_) if ringed => Want::Numbers,
                Op::Reduce(reduction, _) | Op::Pool { reduction, .. }
                    if ringed && matches!(reduction, Reduction::Sum | Reduction::Mean) =>
                {
                    Want::Numbers
                }
                // A sum is free if no reader needs its bits.
                Op::Add | Op::Sub | Op::Neg | Op::ShiftLeft(_) if ringed => match own {
                    // A sum with a product is a sum of numbers, for any reader.
                    Want::Bits if node.arguments.iter().any(|value| is_product(computation, *value)) => {
                        Want::Numbers
                    }
                    Want::Bits => Want::Bits,
                    _ => Want::Numbers,
                },
                Op::Select if ringed && k > 0 => own,
                Op::Broadcast(_)
                | Op::Reshape(_)
                | Op::Transpose(_)
                | Op::Slice { .. }
                | Op::Concat(_)
                | Op::Reveal(_)
                | Op::Wrapping => own,
                Op::Gather | Op::Permute if k == 0 => own,
                Op::Compact { .. } if k == 1 => Want::Numbers,
                _ => Want::Bits,
            };
            wants[from] = wants[from].and(want);
        }
    }
    let numbers = wants.iter().zip(nodes);
    numbers.map(|(want, node)| *want == Want::Numbers && has_ring(node.ty.scalar)).collect()
}
