//! A device sends any bytes: the engine takes what it asked for, or refuses it, and keeps no more
//! than it asked for.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| hushwire_hdl::fuzzing::frames(bytes));
