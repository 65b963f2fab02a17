//! Computations as text and in binary form: what is read is written again as the same, and nothing
//! panics.
#![no_main]

use hushwire_compute::Computation;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Ok(read) = Computation::from_bytes(bytes) {
        assert_eq!(read.to_bytes(), bytes);
        assert_eq!(read.to_string().parse(), Ok(read));
    }
    if let Some(read) = core::str::from_utf8(bytes).ok().and_then(|text| text.parse::<Computation>().ok()) {
        assert_eq!(Computation::from_bytes(&read.to_bytes()), Ok(read.clone()));
        let again: Computation = read.to_string().parse().unwrap();
        // Names of derived forms and of values are kept.
        assert_eq!((again.to_string(), again), (read.to_string(), read));
    }
});
