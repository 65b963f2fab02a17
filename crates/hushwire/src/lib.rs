//! Hushwire's library in one crate: what a Rust program adds to compute among several parties.
//!
//! Two owners, three parties, one circuit; none of the parties learns a number, and Alice and Bob learn one bit:
//!
//! ```
//! use hushwire::{CircuitBuilder, Local, job::Protocol};
//!
//! # fn main() -> Result<(), hushwire::job::Fault> {
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
//! A file is encrypted under a key that exists only as the parties' shares, which are kept, and decrypted again:
//!
//! ```
//! use hushwire::{Local, job::{InputPlace, OutputPlace, aes_ctr::AesCtrJob}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let dir = dir.path();
//! std::fs::write(dir.join("letter"), "Dear Bob")?;
//! let (job, keys, secret) = (AesCtrJob::new("alice"), dir.join("keys"), dir.join("letter.enc"));
//! let run = Local::new(&job).keys(&keys).data(InputPlace::File(dir.join("letter")));
//! run.result(OutputPlace::File(secret.clone())).run()?;
//! assert_ne!(std::fs::read(&secret)?, b"Dear Bob");
//!
//! let job = job.decrypting();
//! let run = Local::new(&job).keys(&keys).data(InputPlace::File(secret));
//! let ended = run.result(OutputPlace::Memory).run()?;
//! assert_eq!(ended.bytes(), Some(&b"Dear Bob"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! Two lists are compared, and each party learns what both have:
//!
//! ```
//! use hushwire::{Local, job::{Common, InputPlace, Fault, PsiJob, PsiTask}, psi::Reveal};
//!
//! # fn main() -> Result<(), Fault> {
//! let task = PsiTask::new(&PsiJob::new(Reveal::Items, "email"))?;
//! let lists = ["email\nann@x\nbob@x\n", "email\neve@x\nann@x\n"];
//! let ended = Local::new(&task).rows(lists.map(InputPlace::memory)).run()?;
//! assert_eq!(ended.common(0), Some(&Common::Items(vec!["ann@x".to_owned()])));
//! # Ok(())
//! # }
//! ```
//!
//! Three people learn the mean of their salaries, on a session that serves further computations:
//!
//! ```
//! use hushwire::{Local, compute::Computation};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mean: Computation = "computation mean_pay
//!     members ada, bob, cleo
//!     input a: u64 from ada
//!     input b: u64 from bob
//!     input c: u64 from cleo
//!     output mean = (a + b + c) / 3 to ada, bob, cleo"
//!     .parse()?;
//! let mut parties = Local::three()?;
//! let learnt = parties.run(&mean, [("a", 52_000u64), ("b", 61_000), ("c", 70_600)])?;
//! assert_eq!(learnt["mean"].number(0), Some(61_200));
//! # Ok(())
//! # }
//! ```
//!
//! - [`CircuitBuilder`] puts a circuit's job together; [`job::Job::read`] reads one of any kind from its file, and
//!   [`job::PsiJob`] is an intersection.
//! - [`Local`] runs all members of a job of any kind in this process, or hands out a [`LocalMember`] for each; [`Member`] is one of
//!   them, whose others are elsewhere. `hushwire local`, `party` and `client` stand on these, with their checks, errors and
//!   files.
//! - [`Local::three`] and [`Party::connect`] are sessions: three parties that met once run one [`compute::Computation`] after the
//!   other, with progress, until they end or are cancelled.
//! - [`compute`]: computations on numbers, columns and tensors: builder, text, checker, the plain evaluator.
//! - [`job`]: jobs, member files, the agreement and the engine itself.
//! - [`circuit`]: Boolean circuits by name, from Bristol files, or gate by gate; the plain evaluator.
//! - [`rep3`]: three parties, replicated shares: circuits, AES, products.
//! - [`garble`], [`gmw`]: two parties: garbled circuits with six schemes and Yao's protocol; shares of bits.
//! - [`ot`]: two parties, oblivious transfer: base OTs, extensions, functionalities over them.
//! - [`psi`]: two parties, private set intersection on a channel.
//! - [`machine`]: protocols as machines, drivers that run them, channels, and links within one process.
//! - [`wire`]: sessions between processes: transports, the handshake, liveness.
//! - [`aes`], [`prg`], [`block`], [`simd`]: kernels, randomness and data underneath.
//!
//! Each crate's documentation states its security model. `examples/millionaires.rs` is the program above,
//! `examples/first_circuit.rs` the same protocol step by step, `examples/yao.rs` one between two,
//! `examples/salaries.rs` a session, `examples/oblivious_transfer.rs` OTs between two; `examples/new_protocol.rs` is the companion of
//! `docs/dev/new-protocol.md`.
#![forbid(unsafe_code)]

mod builder;
pub mod job;
mod local;
mod member;
mod places;
mod session;

pub use builder::CircuitBuilder;
pub use local::{Ended, Local, LocalMembers};
pub use member::{LocalMember, Member, Opened};
pub use places::Places;
pub use session::{Client, Party, Three};

pub use hushwire_aes as aes;
pub use hushwire_block as block;
pub use hushwire_circuit as circuit;
pub use hushwire_compute as compute;
pub use hushwire_files as files;
pub use hushwire_garble as garble;
pub use hushwire_gmw as gmw;
pub use hushwire_machine as machine;
pub use hushwire_ot as ot;
pub use hushwire_prg as prg;
pub use hushwire_psi as psi;
pub use hushwire_rep3 as rep3;
pub use hushwire_simd as simd;
pub use hushwire_wire as wire;
