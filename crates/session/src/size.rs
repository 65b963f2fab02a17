//! Sizes on the command line and in messages.

/// Units with their bytes. The longest suffixes come first, so that `MiB` is not read as `B`.
const UNITS: [(&str, u64); 13] = [
    ("KiB", 1 << 10),
    ("MiB", 1 << 20),
    ("GiB", 1 << 30),
    ("TiB", 1 << 40),
    ("KB", 1_000),
    ("MB", 1_000_000),
    ("GB", 1_000_000_000),
    ("TB", 1_000_000_000_000),
    ("K", 1 << 10),
    ("M", 1 << 20),
    ("G", 1 << 30),
    ("T", 1 << 40),
    ("B", 1),
];

/// Reads `256MiB`, `1 GiB`, `500MB`, `64M` (binary) or plain bytes.
///
/// # Errors
/// The text is no whole number with such a unit, or exceeds any memory.
pub fn parse(text: &str) -> Result<u64, String> {
    let trimmed = text.trim();
    let lower = trimmed.to_ascii_lowercase();
    let found = UNITS
        .iter()
        .find_map(|(unit, bytes)| Some((lower.strip_suffix(&unit.to_ascii_lowercase())?, *bytes)));
    let (digits, unit) = found.unwrap_or((&lower, 1));
    let digits = digits.trim_end();
    if digits.is_empty() || !digits.bytes().all(|b| b.is_ascii_digit()) {
        return Err(format!("{trimmed:?} is not a size; write a whole number and a unit, as in 256MiB"));
    }
    let number: Option<u64> = digits.parse().ok();
    number.and_then(|n| n.checked_mul(unit)).ok_or_else(|| format!("{trimmed} is larger than any memory"))
}

/// Formats a size for people, as `12.3 MiB`.
#[must_use]
pub fn show(bytes: u64) -> String {
    let units = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match units.iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / f64::from(1 << shift)),
        None => format!("{bytes} B"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read() {
        for (text, bytes) in [
            ("0", 0),
            ("17", 17),
            ("17B", 17),
            ("256MiB", 256 << 20),
            ("256 mib", 256 << 20),
            ("256M", 256 << 20),
            ("256MB", 256_000_000),
            ("1GiB", 1 << 30),
            (" 3k ", 3072),
            ("2TiB", 2 << 40),
        ] {
            assert_eq!(parse(text), Ok(bytes), "{text}");
        }
    }

    #[test]
    fn nonsense_is_refused() {
        for text in
            ["", "MiB", "-1", "1.5GiB", "0x10", "1 G B", "12 parsecs", "99999999999999999999", "99999999TiB"]
        {
            assert!(parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_shown() {
        assert_eq!(show(0), "0 B");
        assert_eq!(show(1023), "1023 B");
        assert_eq!(show(1536), "1.5 KiB");
        assert_eq!(show(256 << 20), "256.0 MiB");
        assert_eq!(show(5 << 30), "5.0 GiB");
    }

    proptest::proptest! {
        #[test]
        fn plain_numbers_survive(n: u64) {
            proptest::prop_assert_eq!(parse(&n.to_string()), Ok(n));
        }

        #[test]
        fn no_text_panics(text in ".{0,12}") {
            let _ = parse(&text);
        }
    }
}
