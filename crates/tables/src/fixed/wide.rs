//! Numbers on shares, of one width: 128 bits, and fewer for dates.

use super::Fixed;
use crate::{
    algebra::Range,
    lower::{
        divide::{Divisor, divided},
        numbers::{number, resized},
    },
};
use hushwire_circuit::{Bit, Builder as Circuits};
use hushwire_compute::{Netlist, Op, Scalar, Val};

/// A column of numbers.
#[derive(Clone, Copy)]
pub(crate) struct Wide<'b>(pub(crate) Val<'b>);

impl<'b> Fixed for Wide<'b> {
    type Truth = Val<'b>;

    fn same(self, n: i128) -> Self {
        Wide(number(self.0, n))
    }

    fn plus(self, other: Self) -> Self {
        Wide(self.0 + other.0)
    }

    fn minus(self, other: Self) -> Self {
        Wide(self.0 - other.0)
    }

    fn times(self, other: Self, without: u8) -> Self {
        Wide(self.0 * other.0).right(without)
    }

    fn left(self, bits: u8) -> Self {
        if bits == 0 { self } else { Wide(self.0 * number(self.0, 1 << bits)) }
    }

    fn right(self, bits: u8) -> Self {
        if bits == 0 { self } else { Wide(self.0 >> u16::from(bits)) }
    }

    fn below(self, other: Self) -> Val<'b> {
        self.0.less(other.0)
    }

    fn both(a: Val<'b>, b: Val<'b>) -> Val<'b> {
        a & b
    }

    fn part(self, by: i128) -> Self {
        let bits = self.0.ty().map_or(64, |ty| ty.scalar.bits() as u16);
        let all = Range { low: 0, ..Range::of_bits(bits) };
        Wide(resized(divided(self.0, all, Divisor::Known(by)).whole, bits as u8))
    }

    fn choose(condition: Val<'b>, yes: Self, no: Self) -> Self {
        Wide(condition.builder().select(condition, yes.0, no.0))
    }

    fn over(self, divisor: Self) -> Self {
        let all = Range { low: 0, high: i128::MAX };
        let found = divided(self.0, all, Divisor::Column(divisor.0, all));
        Wide(found.whole.cast(Scalar::signed(128)))
    }

    fn whole_root(self) -> Self {
        let bits = self.0.cast(Scalar::Bits(128));
        let made = self.0.builder().apply(Op::Circuit(root()), &[bits]);
        Wide(made.cast(Scalar::unsigned(64)).cast(Scalar::signed(128)))
    }
}

/// A circuit for the root, which handles two bits of the number per step. A bit of the root is 1 if
/// the remainder allows it.
fn root() -> Netlist {
    let mut c = Circuits::new();
    let x = c.input(128);
    let mut root: Vec<Bit> = vec![];
    let mut rest: Vec<Bit> = vec![];
    for step in (0..64).rev() {
        // The remainder times four, and two more bits; the root so far times four, and 1.
        rest.splice(0..0, [x[2 * step], x[2 * step + 1]]);
        let mut taken = vec![Bit::ONE, Bit::ZERO];
        taken.extend(&root);
        taken.resize(rest.len().max(taken.len()), Bit::ZERO);
        rest.resize(taken.len(), Bit::ZERO);
        let mut carry = Bit::ONE;
        let mut less = vec![];
        for (a, b) in rest.iter().zip(&taken) {
            let not = c.not(*b);
            let (p, q) = (c.xor(*a, carry), c.xor(not, carry));
            less.push(c.xor(*a, q));
            let both = c.and(p, q);
            carry = c.xor(both, carry);
        }
        for (bit, less) in rest.iter_mut().zip(less) {
            let change = c.xor(*bit, less);
            let change = c.and(carry, change);
            *bit = c.xor(*bit, change);
        }
        root.insert(0, carry);
        // The remainder is at most twice the root.
        rest.truncate(root.len() + 1);
    }
    Netlist::new(c.finish(&[root])).expect("one input and one output")
}
