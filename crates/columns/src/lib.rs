//! Converts columns of numbers and bits to other widths, without a branch for each row, and adds up
//! products of numbers in the clear.
//!
//! ```text
//! bits      borrowed bits: the validity of rows, truth values
//! numbers   numbers of one width as numbers of another, and the first one outside a range
//! floats    floats as whole numbers of steps
//! products  sums of products, for convolutions and products of matrices
//! ```
//!
//! The functions are not generic, so they are compiled in this crate, which every profile
//! optimises.

#![forbid(unsafe_code)]

mod bits;
mod floats;
mod numbers;
mod products;

pub use bits::{BitSlice, packed};
pub use floats::{FloatSlice, append_steps, first_unfit};
pub use numbers::{NumberSlice, append, divided, first_outside, multiplied};
pub use products::{Number, TILE};

/// LOCAL: the number of rows that are handled at a time, so that they stay in the first-level
/// cache.
const PIECE: usize = 1 << 11;
