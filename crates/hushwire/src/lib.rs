//! The library of Hushwire: the single dependency of a Rust program that computes among several
//! parties.
//!
//! Each program below is complete. The parties are threads of one process. They send each other the
//! messages that they would send over a network. The section [Across machines](#across-machines) is
//! about processes on several machines.
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
//! A job says what is computed, and which members bring and learn which values. A [`LocalJob`] runs
//! all members of a job in this process. In this example two owners bring numbers. Three parties
//! compute, and no party learns a number:
//!
//! ```
#![doc = include_str!("../examples/millionaires.rs")]
//! ```
//!
//! This example encrypts a file under a key that exists only as shares of the parties, and decrypts
//! the file again:
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
//! This one compares two lists. Each party learns the items that are in both:
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
//! - A [`Member`] is one member of a job; the other members run elsewhere. [`job::Job::read`] reads
//!   a job of any kind from its file.
//! - [`Party::connect`] and [`Client::connect`] join a session for computations, as
//!   [`Local::three`] does for all parties at once.
//! - [`wire::connect`] opens links to other processes. `Net::channel` makes a channel of these
//!   links for [`ot::send`], [`garble::garble`] or any other protocol.
//!
//! The commands `hushwire local`, `hushwire party` and `hushwire client` call this library.
//!
//! # Modules
//! | module | content |
//! |---|---|
//! | [`compute`] | computations on numbers, columns and tensors: builder, text, evaluator |
//! | [`job`] | jobs of all kinds, members' files, the agreement, the run |
//! | [`files`] | tables (CSV, Parquet), NumPy arrays, results, keys on disk |
//! | [`fault`] | errors, with the table of all codes |
//! | [`circuit`] | Boolean circuits by name, from Bristol files, or gate by gate |
//! | [`rep3`] | three parties on replicated shares |
//! | [`garble`], [`gmw`], [`ot`] | two parties: garbled circuits, shares of bits, OTs |
//! | [`psi`] | two parties: private set intersection |
//! | [`machine`], [`wire`] | protocols as machines; channels, transports, the handshake |
//! | [`aes`], [`prg`], [`block`], [`simd`] | kernels, randomness and blocks |
//! | `sql`, `tables` | queries (feature `sql`) |
//! | `nn` | neural networks (feature `models`) |
//! | `two` | two parties on shares of numbers (feature `two`) |
//! | `authgarble` | n parties, all but one of which may cheat (feature `n-party`) |
//!
//! The features `sql`, `models`, `two` and `n-party` are on by default. The feature `parquet` is
//! off, and adds Parquet files. The documentation of each crate states its security model. The
//! programs `first_circuit.rs`, `yao.rs` and `oblivious_transfer.rs` in `examples` show protocols
//! step by step. `docs/dev/new-protocol.md` explains `examples/new_protocol.rs`.
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
pub use member::{LocalMember, Member, Opened, ShardAddresses};
#[cfg(feature = "models")]
pub use model::LocalModel;
pub use pair::local_pair;
pub use places::LocalPlaces;
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
