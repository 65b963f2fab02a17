//! A file of any bytes is one party's share of a key, as it would be written, or is refused.
#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../crates/kinds/src/encrypt/share_file/codec.rs"]
mod codec;
#[path = "../../crates/kinds/src/encrypt/share_file/fed.rs"]
mod fed;

fuzz_target!(|bytes: &[u8]| fed::fed(bytes));
