//! Boolean circuits: Bristol files, builders, the layered form that protocols run, and an evaluator
//! in the clear.
//!
//! ```text
//! Bristol file ─┐
//!               ├─► Circuit (gates) ─► Layered (layers, slots) ─► Program (stages of blocks)
//! Builder ──────┘
//! ```
//!
//! A [`Circuit`] is a list of gates, as in a file. Every protocol reads a [`Layered`] circuit:
//! linear gates and ANDs by AND-depth, and wires in slots that are reused. A [`Program`] runs
//! layered blocks one after the other on bit registers, each block on many operands at once, so
//! that repetitive work stays small.
//!
//! This crate makes its own circuits: [`words`] (arithmetic), [`aes`], [`sha`], [`sort`],
//! [`shuffle`], [`psi`] and [`phasing`], all by name in [`named`]. [`bristol`] reads and writes
//! files, [`eval`] runs circuits in the clear, [`planes`] and [`text`] represent values,
//! [`oblivious`] sorts secret values on one machine, and [`ranking`] sorts by comparisons that its
//! caller makes.
//!
//! **Bit order.** Wire 0 of an input or output is bit 0 of its packed bytes: bit `i` is bit `i % 8`
//! of byte `i / 8`.
#![forbid(unsafe_code)]

mod adder;
pub mod aes;
pub mod bristol;
mod builder;
mod check;
mod circuit;
mod count;
pub mod eval;
mod flat;
mod layered;
mod lean;
pub mod named;
pub mod oblivious;
pub mod phasing;
pub mod planes;
mod program;
pub mod psi;
pub mod ranking;
mod registers;
mod route;
pub mod sha;
pub mod shuffle;
pub mod sort;
mod steps;
pub mod text;
mod two;
mod walk;
pub mod words;
mod woven;

pub use adder::Adder;
pub use builder::{Bit, Builder};
pub use circuit::{Circuit, CircuitError, Gate, Wire};
pub use count::count;
pub use flat::{Counts, Flat, Gates, TooLarge};
pub use layered::{CircuitLayer, Layered, ONE, Slot, ZERO, input_slot};
pub use lean::{Lean, LeanLayer};
pub use planes::{Planes, PlanesError};
pub use program::{Program, Stage, Stages};
pub use registers::Registers;
pub use two::TwoParty;
pub use walk::{Walk, Wires};
pub use woven::{SPARE, Woven, WovenCell, WovenLayer};
