//! Computations between two parties.
#![forbid(unsafe_code)]

mod compare;
mod error;
mod kit;
mod ops;
mod play;
mod ring;
#[cfg(test)]
mod tests;

pub use error::TwoError;
pub use ops::Sign;
