//! Computations as circuits, so that every Boolean protocol runs them with the same bits out.
//!
//! A value is a register for each of its bits, element after element, the lowest bit first; an operation is a stage that
//! runs one block on all elements. Shapes, shifts and casts are wires. A permutation is no list of places: `order` keeps the
//! decisions of a sorting network's exchanges, `permute` runs them again on its rows, and `invert` from the end.
//!
//! ```text
//!              ANDs for n rows of k bits
//! order        about 2 k E, E = n (log n)² / 4 exchanges, k the keys' bits and log n of the row
//! permute      k E
//! / %          about 2 k² an element
//! ```

mod arith;
mod columns;
mod lower;
mod permutation;
mod stages;

use crate::{Computation, ComputeError};
use hushwire_circuit::Program;

/// A program that computes a computation without symbols: its inputs are the computation's inputs, its outputs the
/// outputs, in order, each the bits of all elements.
///
/// # Errors
/// A length has no number yet, places of a `gather` that are no constants, or a computation of more bits than a program
/// has registers.
pub fn program(computation: &Computation) -> Result<Program, ComputeError> {
    lower::lower(computation)
}
