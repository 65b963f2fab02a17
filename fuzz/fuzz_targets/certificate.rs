//! Any bytes are a certificate, whose dates and name are read or not.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hushwire_wire::fuzzing::certificate(bytes));
