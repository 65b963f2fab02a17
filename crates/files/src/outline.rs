//! The form of a value, for errors that must not repeat the value.

/// LOCAL: the most characters of an outline.
const MOST: usize = 24;

/// The form of a value: `a` for a letter, `9` for a digit, and punctuation unchanged. It lets a
/// person find a value in a file, and shows nothing that should not be in a log.
#[must_use]
pub fn outline(value: &str) -> String {
    let shown = |c: char| match c {
        c if c.is_alphabetic() => 'a',
        c if c.is_numeric() => '9',
        ' ' => ' ',
        c if c.is_ascii_punctuation() => c,
        _ => '?',
    };
    let mut outline: String = value.chars().take(MOST).map(shown).collect();
    if value.chars().nth(MOST).is_some() {
        outline.push('…');
    }
    outline
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_outline_has_no_letter_and_no_digit_of_the_value() {
        for (value, form) in [
            ("n/a", "a/a"),
            ("12.50 €", "99.99 ?"),
            ("Zürich", "aaaaaa"),
            ("2024-01-01T00:00:00Z", "9999-99-99a99:99:99a"),
            ("\u{1b}[2J", "?[9a"),
            ("", ""),
        ] {
            assert_eq!(outline(value), form);
        }
        assert_eq!(outline(&"x".repeat(30)), format!("{}…", "a".repeat(24)));
    }
}
