//! Numbers modulo a power of two, shared among three parties.
//!
//! ```text
//! column   x = x_0 + x_1 + x_2 mod 2^k, party i holds (x_i, x_{i+1}), k = 8, 16, 32 or 64
//! bits     the same for each of k bits, with ⊕ in place of +: a plane a bit, ⌈rows/8⌉ bytes each
//! ```
//!
//! Rings of a width between these use the next wider column: reducing each share reduces the
//! number.
//!
//! **Slots.** Every machine of this module has two slots. Slot 0 leads to the left neighbour and
//! from the right one and carries products and openings. Slot 1 leads the other way and carries
//! values that one party deals, or that are opened to some parties.

mod below;
mod bilinear;
mod carries;
mod carries_shape;
mod column;
mod compact;
mod conv;
#[cfg(test)]
mod conversion_tests;
mod deal;
mod dot;
mod expected;
mod few_rounds;
mod gate;
mod gemm;
mod greatest;
mod group;
mod inject;
mod keys;
pub mod linear;
mod masks;
mod matmul;
mod meet;
mod moves;
mod mul;
mod negative_in_few;
mod on_bits;
mod on_numbers;
mod parts;
mod permutation;
mod permute;
mod places;
mod planes;
mod ranking;
mod records;
mod rectify;
mod rectify_by_bits;
mod shape;
pub mod sharded;
mod sort;
mod steps;
mod summand;
#[doc(hidden)]
pub mod test_support;
mod to_numbers;
mod truncate;
mod truncate_in_few;
mod word;
mod zeros;

pub use bilinear::{Bilinear, Factors};
pub use column::{Bits, Column};
pub use compact::{Compact, compact_cost};
pub use conv::{Conv2d, Geometry, conv2d_known};
pub use dot::Dot;
pub use expected::sort_expected;
pub use greatest::Greatest;
pub use group::{Group, Sum, Xor};
pub use inject::{Inject, Select};
pub use keys::SortKey;
pub use matmul::{MatMul, matmul_known};
pub use meet::{Meet, meet_cost};
pub use mul::Product;
pub use negative_in_few::NegativeInFew;
pub use on_bits::OnBits;
pub use on_numbers::OnNumbers;
pub use permutation::Permutation;
pub use permute::{Permute, PermuteSpace, permute_cost};
pub use places::FromPlaces;
pub use rectify::Rectify;
pub use rectify_by_bits::RectifyByBits;
pub use sort::{Sort, WIDE, sort_bound};
pub use steps::{Bringing, Opening, Reveal, RevealBits, Sharing, SharingBits};
pub use to_numbers::ToNumbers;
pub use truncate::Truncate;
pub use truncate_in_few::TruncateInFew;
pub use word::Word;
