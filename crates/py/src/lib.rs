//! The native module of the Python package `hushwire`.
//!
//! ```text
//! running   work on a thread of its own, while this one answers signals and reports progress
//! errors    faults as exceptions
//! arrays    arrays as tensors, and back
//! compute   computations and their prices
//! session   parties that met once
//! models    neural networks on sessions
//! arrow     tables of other libraries, by the C data interface
//! columns   tables as the columns of a query
//! query     queries and their results
//! service   the service's client
//! jobs      intersections, encryptions, networks, oblivious transfers
//! ```
#![deny(unsafe_code)]
#![allow(clippy::needless_pass_by_value, reason = "what Python calls owns what it is given")]
#![allow(clippy::too_many_arguments, clippy::type_complexity, reason = "Python names them")]

mod arrays;
mod arrow;
mod columns;
mod compute;
mod errors;
mod jobs;
mod models;
mod query;
mod running;
mod service;
mod session;

use pyo3::prelude::*;
use std::ffi::OsString;

/// Runs a line of the command `hushwire` in this process, and returns its exit code. `again` are
/// the words that start this program again.
#[pyfunction]
fn command(py: Python<'_>, args: Vec<OsString>, again: Vec<OsString>) -> u8 {
    py.detach(|| hushwire_cli::run(args, Some(again)))
}

/// The native part of the package.
#[pymodule]
fn _native(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("__version__", env!("CARGO_PKG_VERSION"))?;
    module.add_function(wrap_pyfunction!(command, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::psi, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::aes, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::model, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::transfer, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::job_digest, module)?)?;
    module.add_function(wrap_pyfunction!(jobs::psi_keys, module)?)?;
    module.add_class::<compute::Computation>()?;
    module.add_class::<models::Network>()?;
    module.add_class::<session::Session>()?;
    module.add_class::<columns::FrameColumns>()?;
    module.add_class::<service::Service>()?;
    module.add_class::<query::Query>()?;
    module.add_class::<query::QueryResult>()?;
    Ok(())
}
