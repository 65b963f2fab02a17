//! A package that is never built: its manifest asks for all features of all dependencies.
//!
//! `cargo xtask test` chooses it beside the package that it tests, so that the dependencies have
//! the features that they have in tests of the whole workspace, and are not built once more.
#![forbid(unsafe_code)]

fn main() {}
