//! Makes text from others safe to show.

use std::{borrow::Cow, fmt::Write};

/// Returns `text` with every character escaped that could move the cursor, hide text or turn its
/// direction. It is for text from a peer or a file, before that becomes part of a message.
///
/// The escaped characters are the control characters of Unicode (including line ends), and the line
/// and paragraph separators. The invisible characters that order or join text (bidirectional marks,
/// zero width, tags) are escaped as well. A tab becomes `\t`, a line feed `\n`, the escape
/// character `\u{1b}`. A backslash is not escaped, so the result is for people and cannot be parsed
/// back. Text without any of these characters is borrowed.
#[must_use]
pub fn printable(text: &str) -> Cow<'_, str> {
    let Some(first) = text.find(disturbs) else { return Cow::Borrowed(text) };
    let mut shown = String::with_capacity(text.len() + 16);
    shown.push_str(&text[..first]);
    for c in text[first..].chars() {
        if disturbs(c) {
            // Writing to a string cannot fail.
            let _ = write!(shown, "{}", c.escape_default());
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

fn disturbs(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plain_text_is_borrowed() {
        for text in ["", "party 1", "C:\\keys\\a.pem", "Größe – 数 ✓ 'x' \"y\""] {
            assert!(matches!(printable(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn what_disturbs_a_terminal_is_escaped() {
        let cases = [
            ("a\x1b[2Jb", "a\\u{1b}[2Jb"),
            ("one\ntwo\r\tthree", "one\\ntwo\\r\\tthree"),
            ("\0\x07\x7f\u{9b}31m", "\\u{0}\\u{7}\\u{7f}\\u{9b}31m"),
            ("abc\u{202e}txt.exe", "abc\\u{202e}txt.exe"),
            ("a\u{2028}b\u{200b}c\u{feff}\u{e0041}", "a\\u{2028}b\\u{200b}c\\u{feff}\\u{e0041}"),
            ("größe\u{1b}é", "größe\\u{1b}é"),
        ];
        for (text, shown) in cases {
            assert_eq!(printable(text), shown);
        }
    }

    #[test]
    fn no_control_character_is_left() {
        for c in (0..=0x10_ffff).filter_map(char::from_u32).filter(|c| c.is_control()) {
            let text = format!("x{c}y");
            assert!(!printable(&text).chars().any(char::is_control), "{c:?}");
        }
    }
}
