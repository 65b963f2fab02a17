//! A peer that holds the keys sends records of any kind, between any bytes.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hushwire_wire::fuzzing::records(bytes));
