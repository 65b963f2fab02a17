//! The values of a computation during its lowering, as operations see them.

use super::{
    permutation::Permutation,
    stages::{Reg, Stages},
};
use crate::{ComputeError, Scalar, Tensor};
use hushwire_circuit::{Bit, Builder, words};
use std::collections::BTreeMap;

/// The registers of an operation's result: a register for each bit, element after element.
pub(crate) type LoweredRegs = Result<Vec<Reg>, ComputeError>;

/// A lowered value.
#[derive(Clone)]
pub(crate) enum Lowered {
    /// A value that all members know. It is built into blocks.
    Known(Tensor),
    /// A register for each bit, element after element.
    Bits(Vec<Reg>),
    /// A permutation of rows.
    Order(Permutation),
}

/// An operation to lower: the numbers of its operands' values, and the scalar and lengths of its
/// result.
#[derive(Clone, Copy)]
pub(crate) struct Site<'a> {
    pub(crate) args: &'a [usize],
    pub(crate) scalar: Scalar,
    pub(crate) to: &'a [usize],
}

/// One element of each operand of an element-wise operation.
#[derive(Clone, Copy)]
pub(crate) struct Element<'a> {
    pub(crate) scalars: &'a [Scalar],
    pub(crate) operands: &'a [Vec<Bit>],
    /// The result's scalar.
    pub(crate) to: Scalar,
}

impl<'a> Element<'a> {
    /// The first operand's bits.
    pub(crate) fn x(self) -> &'a [Bit] {
        &self.operands[0]
    }

    /// The second operand's bits.
    pub(crate) fn y(self) -> &'a [Bit] {
        &self.operands[1]
    }

    /// Whether the first operand has a sign.
    pub(crate) fn is_signed(self) -> bool {
        self.scalars[0].is_signed()
    }
}

/// The bits of one element of an element-wise operation.
pub(crate) type Block<'a> = dyn Fn(&mut Builder, Element<'_>) -> Vec<Bit> + 'a;

/// The values so far, and the stages that make them.
pub(crate) struct Values {
    pub(crate) stages: Stages,
    values: Vec<Lowered>,
    types: Vec<(Scalar, Vec<usize>)>,
}

/// The number of elements of a series along an axis, and the places of each series' elements.
pub(crate) fn series(lengths: &[usize], axis: usize) -> (usize, Vec<Vec<usize>>) {
    let (outer, n, inner) = (
        lengths[..axis].iter().product::<usize>(),
        lengths[axis],
        lengths[axis + 1..].iter().product::<usize>(),
    );
    let one = |k: usize| (0..n).map(|i| (k / inner * n + i) * inner + k % inner).collect();
    (n, (0..outer * inner).map(one).collect())
}

impl Values {
    /// Starts without values, with at most `most` registers.
    pub(super) fn new(most: usize) -> Self {
        Values { stages: Stages::new(most), values: vec![], types: vec![] }
    }

    /// Adds the next value.
    pub(super) fn push(&mut self, value: Lowered, scalar: Scalar, lengths: Vec<usize>) {
        self.values.push(value);
        self.types.push((scalar, lengths));
    }

    pub(crate) fn scalar(&self, at: usize) -> Scalar {
        self.types[at].0
    }

    pub(crate) fn lengths(&self, at: usize) -> &[usize] {
        &self.types[at].1
    }

    /// The value, if all members know it.
    pub(crate) fn known(&self, at: usize) -> Option<&Tensor> {
        match &self.values[at] {
            Lowered::Known(tensor) => Some(tensor),
            _ => None,
        }
    }

    /// The registers of a value. Constants and permutations get registers here.
    pub(crate) fn bits(&mut self, at: usize) -> LoweredRegs {
        let bits = match self.values[at].clone() {
            Lowered::Bits(bits) => return Ok(bits),
            Lowered::Known(tensor) => {
                let width = tensor.scalar().bits();
                self.stages.room(tensor.len(), width)?;
                let bit = |k: usize| tensor.element(k / width)[k % width / 64] >> (k % width % 64) & 1 == 1;
                let bits: Vec<bool> = (0..tensor.len() * width).map(bit).collect();
                self.stages.constants(&bits)?
            }
            Lowered::Order(order) => {
                let numbers = self.stages.numbers(order.rows, 64)?;
                return order.apply(&mut self.stages, 64, &numbers);
            }
        };
        self.values[at] = Lowered::Bits(bits.clone());
        Ok(bits)
    }

    /// A value's elements, `width` registers each.
    pub(crate) fn elements(&mut self, at: usize) -> Result<Vec<Vec<Reg>>, ComputeError> {
        let width = self.scalar(at).bits();
        Ok(self.bits(at)?.chunks_exact(width).map(<[Reg]>::to_vec).collect())
    }

    /// The permutation of a value whose scalar is `Place`.
    pub(crate) fn order(&self, at: usize) -> Permutation {
        match &self.values[at] {
            Lowered::Order(order) => order.clone(),
            _ => panic!("only permutations have that scalar"),
        }
    }

    /// The operands' elements at these places, which count the elements of all operands, one
    /// operand after another.
    pub(crate) fn moved(&mut self, args: &[usize], places: &[usize]) -> LoweredRegs {
        let mut elements = vec![];
        for at in args {
            elements.extend(self.elements(*at)?);
        }
        Ok(places.iter().flat_map(|place| elements[*place].iter().copied()).collect())
    }

    /// Computes element by element. Single numbers that all members know are built into the block.
    pub(super) fn each(&mut self, site: Site<'_>, make: &Block<'_>) -> LoweredRegs {
        let n = site.to.iter().product();
        let scalars: Vec<Scalar> = site.args.iter().map(|a| self.scalar(*a)).collect();
        let single = |value: &Lowered| match value {
            Lowered::Known(tensor) if tensor.lengths().is_empty() && tensor.scalar().bits() <= 128 => {
                Some(tensor.get(0))
            }
            _ => None,
        };
        let fixed: Vec<Option<u128>> = site.args.iter().map(|a| single(&self.values[*a])).collect();
        let mut wired = vec![];
        for (a, _) in site.args.iter().zip(&fixed).filter(|(_, fixed)| fixed.is_none()) {
            let one = self.lengths(*a).is_empty();
            wired.push((self.elements(*a)?, one));
        }
        let reads = (0..n)
            .flat_map(|i| wired.iter().flat_map(move |(all, one)| all[if *one { 0 } else { i }].clone()))
            .collect();
        let wide = scalars.iter().zip(&fixed).filter(|(_, fixed)| fixed.is_none()).map(|(s, _)| s.bits());
        let widths: Vec<usize> = wide.collect();
        self.stages
            .run(n, &widths, reads, |b, inputs| element(b, make, &scalars, &fixed, site.scalar, inputs))
    }

    /// Computes all of `all`, together with others of the same length. Each takes `width`
    /// registers.
    pub(crate) fn by_length<T>(
        &mut self,
        all: &[T],
        length: impl Fn(&T) -> usize,
        width: usize,
        mut make: impl FnMut(&mut Self, &[&T]) -> LoweredRegs,
    ) -> LoweredRegs {
        let mut kinds: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
        all.iter().enumerate().for_each(|(at, one)| kinds.entry(length(one)).or_default().push(at));
        let mut out = vec![0; all.len() * width];
        for places in kinds.values() {
            let made = make(self, &places.iter().map(|at| &all[*at]).collect::<Vec<_>>())?;
            for (at, made) in places.iter().zip(made.chunks_exact(width)) {
                out[at * width..][..width].copy_from_slice(made);
            }
        }
        Ok(out)
    }

    /// The order of rows by keys, which are joined to one unsigned number for each row. The first
    /// key is on top, signs are flipped, and descending keys are complemented.
    pub(crate) fn sorted(&mut self, site: Site<'_>, descending: &[bool]) -> Result<Lowered, ComputeError> {
        let rows = site.to[0];
        let widths: Vec<usize> = site.args.iter().map(|a| self.scalar(*a).bits()).collect();
        let signed: Vec<bool> = site.args.iter().map(|a| self.scalar(*a).is_signed()).collect();
        let keys = site.args.iter().map(|a| self.elements(*a)).collect::<Result<Vec<_>, _>>()?;
        let reads = (0..rows).flat_map(|r| keys.iter().flat_map(move |key| key[r].clone())).collect();
        let made = self.stages.run(rows, &widths, reads, |b, keys| {
            let mut out = vec![];
            for ((key, down), signed) in keys.iter().zip(descending).zip(&signed).rev() {
                for (i, bit) in key.iter().enumerate() {
                    let sign = *signed && i == key.len() - 1;
                    out.push(if *down == sign { *bit } else { b.not(*bit) });
                }
            }
            out
        })?;
        Permutation::sorting(&mut self.stages, rows, widths.iter().sum(), &made).map(Lowered::Order)
    }
}

/// The block of one element: known operands are built in, the others come from `inputs`.
pub(super) fn element(
    b: &mut Builder,
    make: &Block<'_>,
    scalars: &[Scalar],
    fixed: &[Option<u128>],
    to: Scalar,
    inputs: &[Vec<Bit>],
) -> Vec<Bit> {
    let mut inputs = inputs.iter();
    let operand = |(fixed, scalar): (&Option<u128>, &Scalar)| match fixed {
        Some(number) => words::constant(*number, scalar.bits()),
        None => inputs.next().expect("an input for each that is not fixed").clone(),
    };
    let operands: Vec<_> = fixed.iter().zip(scalars).map(operand).collect();
    make(b, Element { scalars, operands: &operands, to })
}
