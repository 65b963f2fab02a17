//! Hushwire's library in one crate: what a Rust program adds to compute among several parties.
//!
//! Two owners, three parties, one circuit; none of the parties learns a number, and Alice and Bob learn one bit:
//!
//! ```
//! use hushwire::{CircuitBuilder, Local, job::Protocol};
//!
//! # fn main() -> Result<(), hushwire::job::JobError> {
//! let job = CircuitBuilder::named(Protocol::Rep3, "less:32")
//!     .input("alice", "client:alice")
//!     .input("bob", "client:bob")
//!     .output("bob-is-richer", ["client:alice", "client:bob"])
//!     .build()?;
//! let ended = Local::new(&job).input("alice", "dec:50000").input("bob", "dec:70000").run()?;
//! assert_eq!(ended.digits("bob-is-richer"), Some("1"));
//! # Ok(())
//! # }
//! ```
//!
//! - [`CircuitBuilder`] puts a circuit's job together; [`job::Job::read`] reads one of any kind from its file, and
//!   [`job::PsiJob`] is an intersection.
//! - [`Local`] runs all members in this process, [`Member`] one of them, whose others are elsewhere: the engine of
//!   `hushwire local run`, `party` and `client`, with the same checks, errors and files.
//! - [`job`]: jobs, member files, the agreement and the engine itself.
//! - [`circuit`]: Boolean circuits by name, from Bristol files, or gate by gate; the plain evaluator.
//! - [`rep3`]: three parties, replicated shares: circuits, AES, products.
//! - [`garble`], [`gmw`]: two parties: garbled circuits with six schemes and Yao's protocol; shares of bits.
//! - [`ot`]: two parties, oblivious transfer: base OTs, extensions, functionalities over them.
//! - [`psi`]: two parties, private set intersection on a channel.
//! - [`wire`]: channels, transports, the handshake, and drivers that run protocols over them.
//! - [`aes`], [`prg`], [`block`], [`simd`]: kernels, randomness and data underneath.
//!
//! Each crate's documentation states its security model. `examples/millionaires.rs` is the program above,
//! `examples/first_circuit.rs` the same protocol step by step, `examples/yao.rs` one between two,
//! `examples/oblivious_transfer.rs` OTs between two; `examples/new_protocol.rs` is the companion of
//! `docs/guide/new-protocol.md`.
#![forbid(unsafe_code)]

mod builder;
mod local;
mod member;
mod places;

pub use builder::CircuitBuilder;
pub use local::{Ended, Local};
pub use member::Member;
pub use places::Places;

pub use hushwire_aes as aes;
pub use hushwire_block as block;
pub use hushwire_circuit as circuit;
pub use hushwire_garble as garble;
pub use hushwire_gmw as gmw;
pub use hushwire_job as job;
pub use hushwire_ot as ot;
pub use hushwire_prg as prg;
pub use hushwire_psi as psi;
pub use hushwire_rep3 as rep3;
pub use hushwire_simd as simd;
pub use hushwire_wire as wire;
