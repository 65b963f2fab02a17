//! Any text has a form, is empty or is malformed, and a form of a form is itself.
#![no_main]

use hushwire_psi::{Formed, Normal};
use libfuzzer_sys::fuzz_target;

const FORMS: [&str; 10] = [
    "exact", "trim", "nfc", "case", "nfc case", "email", "phone:+1", "phone:+49", "phone:+61", "phone:+55",
];

fuzz_target!(|bytes: &[u8]| {
    let field = String::from_utf8_lossy(bytes);
    let (mut once, mut twice) = (String::new(), String::new());
    for form in FORMS {
        let normal: Normal = form.parse().expect("it is a form");
        match normal.apply(&field, &mut once) {
            Formed::Text => {
                assert_eq!(normal.apply(&once, &mut twice), Formed::Text, "{form}");
                assert_eq!(once, twice, "{form}");
            }
            Formed::Empty | Formed::Malformed => assert!(once.is_empty(), "{form}"),
        }
    }
});
