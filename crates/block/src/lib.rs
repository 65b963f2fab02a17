//! 128-bit blocks, bit-matrix transposition, GF(2^64) and GF(2^128).
//!
//! The whole project has one bit order: bit `i` of a block, and of any bit string, is bit `i % 8`
//! of byte `i / 8`.
//!
//! ```text
//! byte      0                       1                            15
//! bit       7 6 5 4 3 2 1 0         15 14 13 12 11 10 9 8   ..   127 .. 120
//! u128      2^7      ..  2^0        2^15      ..      2^8        2^127 .. 2^120     (little-endian)
//! ```

pub mod bits;
mod block;
mod buffer;
pub mod fold;
pub mod gates;
pub mod gf128;
mod gf64;
pub mod registry;
mod tagged;
mod threads;
pub mod transpose;
mod wipe;

pub use block::{Block, as_bytes, as_bytes_mut, from_bytes, from_bytes_mut};
pub use buffer::Buffer;
pub use gates::TripleSums;
pub use gf64::Gf64;
pub use gf128::Gf128;
pub use tagged::Tagged;
pub use threads::abreast;
pub use wipe::{Flat, Wipe, Wiped};
