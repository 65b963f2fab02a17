//! Hushwire's library in one crate: what a Rust program adds to compute among several parties.
//!
//! Each program below is complete. The parties are threads of one process, which send the messages that they
//! would send over a network. For processes on several machines, see [below](#across-machines).
//!
//! # Oblivious transfer
//! ```
#![doc = include_str!("../examples/ot.rs")]
//! ```
//!
//! # A garbled circuit
//! ```
#![doc = include_str!("../examples/garbling.rs")]
//! ```
//!
//! # Three parties on numbers
//! ```
#![doc = include_str!("../examples/three_party.rs")]
//! ```
//!
#![cfg_attr(feature = "sql", doc = "# A query over two owners' tables\n```")]
#![cfg_attr(feature = "sql", doc = include_str!("../examples/query.rs"))]
#![cfg_attr(feature = "sql", doc = "```\n")]
#![cfg_attr(feature = "models", doc = "# A neural network\n```")]
#![cfg_attr(feature = "models", doc = include_str!("../examples/model.rs"))]
#![cfg_attr(feature = "models", doc = "```\n")]
#![cfg_attr(feature = "n-party", doc = "# n parties, all but one of which may cheat\n```")]
#![cfg_attr(feature = "n-party", doc = include_str!("../examples/n_party.rs"))]
#![cfg_attr(feature = "n-party", doc = "```\n")]
//! # Jobs
//! A job says what is computed, who brings what and who learns what. [`LocalJob`] runs all its members in this
//! process. Here two owners bring numbers, three parties compute, and none of these learns a number:
//!
//! ```
#![doc = include_str!("../examples/millionaires.rs")]
//! ```
//!
//! A file is encrypted under a key that exists only as the parties' shares, and decrypted again:
//!
//! ```
//! use hushwire::{LocalJob, job::{InputPlace, OutputPlace, aes_ctr::AesCtrJob}};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let dir = tempfile::tempdir()?;
//! # let dir = dir.path();
//! std::fs::write(dir.join("letter"), "Dear Bob")?;
//! let (job, keys, secret) = (AesCtrJob::new("alice"), dir.join("keys"), dir.join("letter.enc"));
//! let run = LocalJob::new(&job).keys(&keys).data(InputPlace::File(dir.join("letter")));
//! run.result(OutputPlace::File(secret.clone())).run()?;
//! assert_ne!(std::fs::read(&secret)?, b"Dear Bob");
//!
//! let job = job.decrypting();
//! let run = LocalJob::new(&job).keys(&keys).data(InputPlace::File(secret));
//! let ended = run.result(OutputPlace::Memory).run()?;
//! assert_eq!(ended.bytes(), Some(&b"Dear Bob"[..]));
//! # Ok(())
//! # }
//! ```
//!
//! Two lists are compared, and each party learns what both have:
//!
//! ```
//! use hushwire::{LocalJob, job::{Common, InputPlace, Fault, PsiJob, PsiTask}, psi::Reveal};
//!
//! # fn main() -> Result<(), Fault> {
//! let task = PsiTask::new(&PsiJob::new(Reveal::Items, "email"))?;
//! let lists = ["email\nann@x\nbob@x\n", "email\neve@x\nann@x\n"];
//! let ended = LocalJob::new(&task).rows(lists.map(InputPlace::memory)).run()?;
//! assert_eq!(ended.common(0), Some(&Common::Items(vec!["ann@x".to_owned()])));
//! # Ok(())
//! # }
//! ```
//!
//! # Across machines
//! - [`Member`] is one member of a job whose others are elsewhere. [`job::Job::read`] reads a job of any kind from
//!   its file.
//! - [`Party::connect`] and [`Client::connect`] join a session for computations, as [`Local::three`] does for all
//!   parties at once.
//! - [`wire::connect`] gives links to other processes, and `Net::channel` of these a channel for [`ot::send`],
//!   [`garble::garble`] and any other protocol.
//!
//! The commands `hushwire local`, `party` and `client` are calls of this library.
//!
//! # Modules
//! | module | content |
//! |---|---|
//! | [`compute`] | computations on numbers and tensors: builder, text, plain evaluator |
//! | [`job`] | jobs, member files, the agreement, the engine |
//! | [`files`] | CSV and Parquet tables, results, keys on disk |
//! | [`circuit`] | Boolean circuits by name, from files, or gate by gate; plain evaluator |
//! | [`rep3`] | three parties on replicated shares |
//! | [`garble`], [`gmw`], [`ot`] | two parties: garbling, shares of bits, oblivious transfer |
//! | [`psi`] | two parties: private set intersection |
//! | [`machine`], [`wire`] | protocols as machines; transports, handshake, liveness |
//! | [`aes`], [`prg`], [`block`], [`simd`] | kernels, randomness and blocks |
//!
//! The features `sql`, `models`, `two` and `n-party` are on by default and add the modules of their names;
//! `parquet` adds Parquet files. Each crate's documentation states its security model. `examples/first_circuit.rs`,
//! `yao.rs` and `oblivious_transfer.rs` are protocols step by step; `examples/new_protocol.rs` is the companion
//! of `docs/dev/new-protocol.md`.
#![forbid(unsafe_code)]

mod builder;
pub mod garble;
pub mod job;
mod local;
mod local_job;
mod member;
#[cfg(feature = "models")]
mod model;
pub mod ot;
mod pair;
mod places;
#[cfg(feature = "sql")]
mod query;
mod session;

pub use builder::CircuitBuilder;
pub use hushwire_fault::Fault;
pub use local::Local;
pub use local_job::{Ended, LocalJob, LocalMembers};
pub use member::{LocalMember, Member, Opened};
#[cfg(feature = "models")]
pub use model::LocalModel;
pub use pair::local_pair;
pub use places::Places;
#[cfg(feature = "sql")]
pub use query::LocalQuery;
pub use session::{Client, Party};

pub use hushwire_aes as aes;
#[cfg(feature = "n-party")]
pub use hushwire_authgarble as authgarble;
pub use hushwire_block as block;
pub use hushwire_circuit as circuit;
pub use hushwire_compute as compute;
pub use hushwire_fault as fault;
pub use hushwire_files as files;
pub use hushwire_gmw as gmw;
pub use hushwire_machine as machine;
#[cfg(feature = "models")]
pub use hushwire_nn as nn;
pub use hushwire_prg as prg;
pub use hushwire_psi as psi;
pub use hushwire_rep3 as rep3;
pub use hushwire_simd as simd;
#[cfg(feature = "sql")]
pub use hushwire_sql as sql;
#[cfg(feature = "sql")]
pub use hushwire_tables as tables;
#[cfg(feature = "two")]
pub use hushwire_two as two;
pub use hushwire_wire as wire;
