//! Gates that arrive one at a time: ANDs wait for each other and run together when one of their
//! outputs is referred to, or when enough wait.
//!
//! **Functionality.** Any [`Gates`](hushwire_circuit::Gates), such as those of a file, on either
//! [`GateBackend`](crate::GateBackend) of any scheme, with nothing known of gates to come
//! ([`DynamicBatcher`]).
//! **Paper.** J.-P. Münch, T. Schneider, H. Yalame, "VASA: Vector AES Instructions for Security
//! Applications", ACSAC 2021: dynamic batching.
//! **Deviations.** Constants and copies are names of other wires, so that neither waits for
//! anything. Where XORs have tables they are numbered and wait too, for an AND to come between:
//! both ends then number gates alike at any width.
//! **Security.** The schemes' own: order changes which number a gate has, and each has one of its
//! own.
//!
//! ```text
//! AND         waits; flush if an operand waits already, and when `width` wait
//! XOR, NOT    at once; flush first if an operand waits
//! copy, constant   another name of a wire
//! ```
//!
//! **Order of tables** (AGREEMENT, [`Order::File`]): gate by gate as they arrive, each AND a piece
//! of its own ([`Format::piece`](crate::Format::piece) of 1, so that packed bits fill a byte).
//! Width and tier are LOCAL. The engine's order is another one ([`Order::Depth`]): both ends take
//! the same.
//!
//! **When to use which.** A circuit that is there as a whole belongs into
//! [`Engine`](crate::Engine): it runs layers, and many copies side by side, in batches as wide as
//! they come, and keeps only live wires. Gates whose order is another's choice, or that are made on
//! the way and used once, are what this is for; it keeps a wire for every number. The gain of a
//! batch depends on the order: with width 16, the published circuits of AES-128 and SHA-256 collect
//! 1.7 and 1.1 gates a batch as their files have them, and 14.9 and 11.4 sorted by AND-depth.

mod batcher;
mod order;
#[cfg(test)]
mod tests;

pub use batcher::DynamicBatcher;
pub use order::{Order, table_bytes};
