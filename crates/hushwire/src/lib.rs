//! Hushwire's library in one crate: what a Rust program adds to compute among several parties.
//!
//! - [`circuit`]: Boolean circuits by name, from Bristol files, or gate by gate; the plain evaluator.
//! - [`rep3`]: three parties, replicated shares: circuits, AES, products.
//! - [`garble`]: two parties, garbled circuits: six garbling schemes, and Yao's protocol on any circuit.
//! - [`ot`]: two parties, oblivious transfer: base OTs, extensions, functionalities over them.
//! - [`wire`]: channels, transports, the handshake, and drivers that run protocols over them.
//! - [`aes`], [`prg`], [`block`]: kernels, randomness and data underneath.
//!
//! Each crate's documentation states its security model. `examples/first_circuit.rs` runs a circuit among three parties in
//! thirty lines, `examples/yao.rs` one between two, `examples/oblivious_transfer.rs` OTs between two;
//! `examples/new_protocol.rs` is the companion of `docs/guide/new-protocol.md`.
#![forbid(unsafe_code)]

pub use hushwire_aes as aes;
pub use hushwire_block as block;
pub use hushwire_circuit as circuit;
pub use hushwire_garble as garble;
pub use hushwire_ot as ot;
pub use hushwire_prg as prg;
pub use hushwire_rep3 as rep3;
pub use hushwire_wire as wire;
