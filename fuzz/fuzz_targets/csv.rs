//! Any bytes are records as a plain reading of RFC 4180's grammar finds them, or an error with its
//! place; what is read can be a column.
#![no_main]

#[path = "../../crates/files/tests/grammar/mod.rs"]
mod grammar;

use libfuzzer_sys::fuzz_target;

fuzz_target!(|csv: &[u8]| grammar::compare(csv));
