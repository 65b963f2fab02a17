//! Computations as circuits: every Boolean protocol can run them, with the same result bits.
//!
//! A value has a register for each of its bits, element after element, the lowest bit first. An
//! operation is a stage that runs one block on all elements. Shapes, shifts and casts are wires. A
//! permutation is not a list of places: `order` keeps the decisions of a sorting network's
//! exchanges, `permute` repeats them on its rows, and `invert` runs them backwards.
//!
//! ```text
//!              ANDs for n rows of k bits
//! order        about 2 k E, E = n (log n)² / 4 exchanges, k the keys' bits and log n of the row
//! permute      k E
//! / %          about 2 k² an element; by a public number of l bits 2 k l
//! scan         below 4 k n, and 2 k n more of sums, the least and the greatest
//! ```

pub(crate) mod arith;
pub(crate) mod columns;
mod lower;
pub(crate) mod permutation;
mod stages;
pub(crate) mod values;

use crate::{Computation, ComputeError, Op, Scalar, Tensor, Type, Visibility, draft::Draft, ops::Lowering};
use hushwire_circuit::{Builder, Layered, Program};
use std::sync::Arc;

/// The program of a computation without symbols. Its inputs are the computation's inputs, its
/// outputs the computation's outputs, in order, each with the bits of all elements.
///
/// # Errors
/// A length has no number, the places of a `gather` are not constants, or the computation has more
/// bits than a program can have registers.
pub fn program(computation: &Computation) -> Result<Program, ComputeError> {
    program_within(computation, stages::MAX_REGISTERS)
}

/// Like [`program`], with a limit on the bits of inputs and computed values. It fails before it
/// allocates more memory.
///
/// # Errors
/// The same as [`program`].
pub fn program_within(computation: &Computation, most_bits: usize) -> Result<Program, ComputeError> {
    lower::lower(computation, most_bits)
}

/// An element-wise operation on one element of each operand, as a block. Operands with a number in
/// `known` are built in; the others are the block's inputs. `to` is the scalar of its result.
///
/// # Panics
/// If the operation is not element-wise, or the checker would refuse the operands.
#[must_use]
pub fn element(op: &Op, scalars: &[Scalar], known: &[Option<u128>], to: Scalar) -> Program {
    let def = op.def();
    let Lowering::Elements(block) = def.lowering() else { panic!("`{}` goes element by element", op.name()) };
    let mut b = Builder::new();
    let wired = scalars.iter().zip(known).filter(|(_, known)| known.is_none());
    let inputs: Vec<_> = wired.map(|(scalar, _)| b.input(scalar.bits())).collect();
    let out = values::element(&mut b, &*block, scalars, known, to, &inputs);
    Program::of_block(op.name(), Arc::new(Layered::new(&b.finish(&[out]))))
}

/// An operand of [`of_operation`].
#[derive(Clone, Copy)]
pub enum Operand<'a> {
    /// A value that all members know; it is built in.
    Known(&'a Tensor),
    /// A value of this type without symbols.
    Wires(&'a Type),
}

/// A single operation as a program, whose inputs are the operands that are not known.
///
/// # Errors
/// The same as [`program`], or the operation does not take the operands.
pub fn of_operation(op: &Op, operands: &[Operand<'_>]) -> Result<Program, ComputeError> {
    of_operation_within(op, operands, stages::MAX_REGISTERS)
}

/// Like [`of_operation`], with a limit on bits. It fails before it allocates more memory.
///
/// # Errors
/// The same as [`of_operation`].
pub fn of_operation_within(
    op: &Op,
    operands: &[Operand<'_>],
    most_bits: usize,
) -> Result<Program, ComputeError> {
    let mut draft = Draft::new("operation")?;
    let member = draft.member("all")?;
    let mut values = vec![];
    for (i, operand) in operands.iter().enumerate() {
        values.push(match operand {
            Operand::Known(tensor) => draft.push(Op::Constant((*tensor).clone()), vec![])?,
            Operand::Wires(ty) => {
                let ty = Type::new(ty.scalar, ty.shape.clone(), Visibility::Secret);
                draft.input(&format!("x{i}"), ty)?
            }
        });
    }
    let value = draft.push(op.clone(), values)?;
    draft.output("y", value, vec![member])?;
    program_within(&draft.finish()?, most_bits)
}
