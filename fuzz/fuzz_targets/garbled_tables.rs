//! An evaluator takes tables of any bytes to the last one, or finds them too short, in memory and
//! in messages.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/garble/tests/all/streams/mod.rs"]
mod streams;

fuzz_target!(|bytes: &[u8]| streams::fed(bytes));
