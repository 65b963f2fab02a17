//! The `hushwire` command.
#![forbid(unsafe_code)]
fn main() {}
