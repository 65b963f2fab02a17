//! Any bytes come first on a connection.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hushwire_wire::fuzzing::hello(bytes));
