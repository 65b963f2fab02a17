//! Any bytes are a notice of a peer.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hushwire_wire::fuzzing::notice(bytes));
