//! Dynamic batching for gates that arrive one at a time. ANDs wait, and run together when another
//! gate reads one of their outputs, or when enough ANDs wait.
//!
//! **Functionality.** [`DynamicBatcher`] runs any [`Gates`](hushwire_circuit::Gates), such as those
//! of a file, on either [`GateBackend`](crate::GateBackend) of any scheme, without knowledge of
//! later gates.
//!
//! **Paper.** J.-P. Münch, T. Schneider, H. Yalame, "VASA: Vector AES Instructions for Security
//! Applications", ACSAC 2021: dynamic batching.
//!
//! **Deviations.** Constants and copies are names of other wires, so that they never wait. In
//! schemes whose XORs have tables, XORs are numbered and wait as well, until an AND comes: both
//! endpoints then number gates alike at any width.
//!
//! **Security.** The security is that of the scheme: the order changes only the number of a gate,
//! and every gate has a number of its own.
//!
//! ```text
//! AND         waits; flush if an operand waits already, and when `width` wait
//! XOR, NOT    at once; flush first if an operand waits
//! copy, constant   another name of a wire
//! ```
//!
//! **Order of tables** (AGREEMENT, [`Order::File`]): gate by gate as they arrive. Each AND is a
//! piece of its own ([`Format::piece`](crate::Format::piece) of 1, so that packed bits fill a
//! byte). Width and tier are LOCAL. The engine has another order ([`Order::Depth`]); both endpoints
//! must use the same.
//!
//! **When to use which.** A circuit that is available as a whole should run on
//! [`Engine`](crate::Engine). The engine runs layers, and many copies together, in batches as wide
//! as they come, and it keeps only live wires. The batcher is for gates whose order somebody else
//! chose, or that are made on the way and used once; it keeps a wire for every number. The gain of
//! a batch depends on the order. With width 16, the published circuits of AES-128 and SHA-256 have
//! 1.7 and 1.1 gates in a batch in the order of their files, and 14.9 and 11.4 if sorted by AND
//! depth.

mod batcher;
mod order;
#[cfg(test)]
mod tests;

pub use batcher::DynamicBatcher;
pub use order::{Order, table_bytes};
