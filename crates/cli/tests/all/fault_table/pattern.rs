//! Whole texts with places for what differs from run to run.

/// Whether `text` is `pattern`, in which `{port}` and `{n}` stand for a number, `{s}` for a
/// duration and `{pin}` for a pin. Everything else stands for itself.
pub(crate) fn matches(pattern: &str, text: &str) -> bool {
    let Some((before, rest)) = pattern.split_once('{') else { return pattern == text };
    let Some((kind, after)) = rest.split_once('}') else { panic!("{pattern:?} has no end of a place") };
    let Some(text) = text.strip_prefix(before) else { return false };
    let longest = match kind {
        "port" | "n" => run(text, |c| c.is_ascii_digit()),
        "s" => {
            let digits = run(text, |c| c.is_ascii_digit() || c == '.');
            let unit = ["ms", "µs", "s", " s"].into_iter().find(|unit| text[digits..].starts_with(unit));
            match unit {
                Some(unit) if digits > 0 => digits + unit.len(),
                _ => 0,
            }
        }
        "pin" => {
            let digits = text.strip_prefix("sha256:").map_or(0, |text| run(text, |c| c.is_ascii_hexdigit()));
            if digits == 64 { "sha256:".len() + 64 } else { 0 }
        }
        other => panic!("{pattern:?} has a place of the unknown kind {other:?}"),
    };
    longest > 0 && matches(after, &text[longest..])
}

/// Returns the number of bytes of the longest prefix of `text` with characters of that kind.
fn run(text: &str, of: impl Fn(char) -> bool) -> usize {
    text.find(|c| !of(c)).unwrap_or(text.len())
}

#[test]
fn places_take_what_they_stand_for_and_nothing_else() {
    let pin = format!("sha256:{}", "0a".repeat(32));
    for (pattern, text, same) in [
        ("plain", "plain", true),
        ("plain", "plain.", false),
        ("at 127.0.0.1:{port}: x", "at 127.0.0.1:7001: x", true),
        ("at 127.0.0.1:{port}: x", "at 127.0.0.1:: x", false),
        ("at {port}", "at 7001x", false),
        ("for {s}; {s}", "for 8s; 3.5 s", true),
        ("for {s}", "for 8 m", false),
        ("{pin} is", &format!("{pin} is"), true),
        ("{pin} is", &format!("{} is", &pin[..70]), false),
    ] {
        assert_eq!(matches(pattern, text), same, "{pattern:?} and {text:?}");
    }
}
