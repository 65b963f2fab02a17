//! Benchmarks whose limits are measured in the same run, with tables and plots.
//!
//! A benchmark is a list of [`Case`]s: a name, parameters, and a closure that measures and returns
//! a [`BenchRow`]. [`run`] chooses the cases that the options select, and runs them within the time
//! budget. It prints a Markdown table row by row, and rewrites the JSON report after each row.
//! [`plot::svg`] draws such reports.
//!
//! ```
//! use hushwire_bench::{BenchOptions, Case, Params, BenchRow, Unit};
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
//!         Ok(BenchRow::new("throughput", Unit::BYTES_PER_S, speed).limit("copy"))
//!     })
//!     .core(true)
//!     .quick(len == 64)
//! });
//! let options = BenchOptions { row_seconds: Some(0.001), ..BenchOptions::default() };
//! let report = hushwire_bench::run("xor", cases.collect(), &options)?;
//! assert_eq!(report.rows.len(), 2);
//! # Ok::<(), hushwire_bench::BenchError>(())
//! ```
//!
//! The benchmarks themselves are the rows of [`BENCHES`].

#![forbid(unsafe_code)]

mod axes;
mod bench;
mod benches;
mod bounds;
mod date;
mod engine;
mod error;
mod human;
mod implementation;
pub mod limits;
mod link;
pub mod machine;
pub mod net;
mod papers;
mod params;
mod place;
mod plans;
pub mod plot;
pub mod report;
mod reporter;
pub mod select;
mod sets;
mod steal;
mod table;
mod three;
pub mod timing;
#[cfg(test)]
mod trial;
mod unit;
mod workers;

pub use bench::{Bench, BenchAsked, OptionCheck, OwnOption, Takes, network};
pub use benches::BENCHES;
#[doc(hidden)]
pub use benches::{RECEIVES, receive};
pub use engine::{Case, CaseContext, run, run_cases, run_with};
pub use error::{BenchError, BoxError, Result};
pub use limits::{LimitBound, Limits, ReportLimit, Spread};
pub use machine::HostMachine;
pub use params::Params;
pub use report::{BenchRow, Paper, Report};
pub use reporter::{Progress, Reporter};
pub use select::{BenchOptions, Selection};
pub use timing::{Measurement, Timer};
pub use unit::Unit;
