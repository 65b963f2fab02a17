//! Benchmarks with the limit measured in the same run, tables and plots.
//!
//! A bench is a list of [`Case`]s: a name, parameters, and a closure that
//! measures and gives a [`Row`]. [`run`] chooses the cases that the options ask
//! for, runs them inside the time budget, prints a Markdown table row by row and
//! rewrites the JSON report after each row. [`plot::svg`] draws such reports.
//!
//! ```
//! use hushwire_bench::{BenchOptions, Case, Params, Row, Unit};
//!
//! let cases = [64usize, 4096].into_iter().map(|len| {
//!     let params = Params::new().with("bytes", len).with("tier", "portable");
//!     Case::new("xor", params, move |ctx| {
//!         let (mut a, b) = (vec![1u8; len], vec![2u8; len]);
//!         ctx.limit("copy", Unit::BYTES_PER_S, |timer| {
//!             let (from, mut to) = (vec![0u8; 1 << 16], vec![0u8; 1 << 16]);
//!             let copied = timer.rate(65536.0, || {
//!                 to.copy_from_slice(std::hint::black_box(&from));
//!             });
//!             Ok(copied.median)
//!         })?;
//!         let speed = ctx.timer().rate(len as f64, || {
//!             a.iter_mut().zip(&b).for_each(|(a, b)| *a ^= b);
//!             std::hint::black_box(&mut a);
//!         });
//!         Ok(Row::new("throughput", Unit::BYTES_PER_S, speed).limit("copy"))
//!     })
//!     .core(true)
//!     .quick(len == 64)
//! });
//! let options = BenchOptions { row_seconds: Some(0.001), ..BenchOptions::default() };
//! let report = hushwire_bench::run("xor", cases.collect(), &options)?;
//! assert_eq!(report.rows.len(), 2);
//! # Ok::<(), hushwire_bench::Error>(())
//! ```
//!
//! The benches themselves: [`aes`], [`aes3`], [`authgarble`], [`compute`], [`fpga`], [`garble`], [`infer`], [`ot`], [`psi`], [`rep3`], [`table8`], [`tables`],
//! [`tpch`], [`yao`].

#![forbid(unsafe_code)]

pub mod aes;
pub mod aes3;
pub mod authgarble;
mod bounds;
pub mod compute;
mod date;
mod engine;
mod error;
pub mod fpga;
pub mod garble;
mod human;
mod implementation;
pub mod infer;
pub mod limits;
mod link;
pub mod machine;
pub mod net;
pub mod ot;
mod params;
mod place;
mod plans;
pub mod plot;
pub mod psi;
pub mod rep3;
pub mod report;
mod reporter;
pub mod select;
mod steal;
mod table;
pub mod table8;
pub mod tables;
mod three;
pub mod timing;
pub mod tpch;
#[cfg(test)]
mod trial;
mod unit;
mod workers;
pub mod yao;

pub use engine::{Case, Context, run, run_cases, run_with};
pub use error::{BoxError, Error, Result};
pub use limits::{Bound, Limit, Limits, Spread};
pub use machine::Machine;
pub use params::Params;
pub use report::{Paper, Report, Row};
pub use reporter::{Progress, Reporter};
pub use select::{BenchOptions, Selection};
pub use timing::{Measurement, Timer};
pub use unit::Unit;
