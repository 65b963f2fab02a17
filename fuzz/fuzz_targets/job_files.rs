//! Any bytes are read as a job, a party's or a client's file, or refused with the line; what is
//! read makes a plan or is told why not.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/kinds/tests/all/files/mod.rs"]
mod files;

fuzz_target!(|bytes: &[u8]| files::fed(bytes));
