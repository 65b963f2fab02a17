//! Common parts of regular expressions, which the owner of a text applies in the clear.
//!
//! The syntax is RE2's, as in DuckDB. The time of a search is proportional to the text, whatever
//! the pattern is. [`spelt`] translates a pattern for the engine used here: the engine's classes
//! cover all of Unicode, but those of RE2 only ASCII.

use super::{Arguments, text};
use crate::Fault;
use hushwire_fault::code;
use regex::{Regex, RegexBuilder};
use std::{cell::RefCell, collections::HashMap};

/// LOCAL: the largest compiled pattern, in bytes.
const LARGEST: usize = 1 << 20;

/// A pattern and its options, which are public arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Pattern {
    text: String,
    /// Whether upper-case and lower-case letters are equal.
    any_case: bool,
    /// Whether a dot matches the end of a line.
    dot_all: bool,
    /// Whether `^` and `$` match at the ends of lines.
    lines: bool,
    /// Whether all of a text must match.
    whole: bool,
    /// Whether all matches count, and not only the first.
    pub(super) all: bool,
}

impl Pattern {
    /// The pattern in argument `at`, and the options in argument `options`, if there are any.
    pub(super) fn of(
        arguments: &Arguments<'_>,
        at: usize,
        options: usize,
        whole: bool,
    ) -> Result<Self, Fault> {
        let text = String::from_utf8_lossy(&text::literal(arguments, at)?).into_owned();
        let letters = match arguments.all.get(options) {
            None => vec![],
            Some(_) => text::literal(arguments, options)?,
        };
        let name = arguments.name.to_uppercase();
        let mut made = Pattern { text, any_case: false, dot_all: false, lines: false, whole, all: false };
        for letter in letters {
            match letter {
                b'i' => made.any_case = true,
                b'c' => made.any_case = false,
                b's' => made.dot_all = true,
                b'm' | b'n' | b'p' => made.dot_all = false,
                b'l' => made.text = regex::escape(&made.text),
                b'g' => made.all = true,
                _ => {
                    let clause = format!("{name} with the option {}", char::from(letter));
                    let remedy =
                        "write options of c, i, s, l and g, as in REGEXP_REPLACE(text, 'a', 'b', 'gi')";
                    return Err(Fault::filled(
                        code::SQL_UNSUPPORTED,
                        &[("clause", &clause), ("remedy", &remedy)],
                    ));
                }
            }
        }
        if let Err(cause) = made.compiled() {
            let clause = format!("{name} with this pattern ({cause})");
            let remedy = "write a regular expression of RE2, without references back and looks around";
            return Err(Fault::filled(code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)]));
        }
        Ok(made)
    }

    fn compiled(&self) -> Result<Regex, String> {
        let text = spelt(&self.text);
        let text = if self.whole { format!("\\A(?:{text})\\z") } else { text };
        let made = RegexBuilder::new(&text)
            .case_insensitive(self.any_case)
            .dot_matches_new_line(self.dot_all)
            .multi_line(self.lines)
            .size_limit(LARGEST)
            .dfa_size_limit(LARGEST)
            .build();
        made.map_err(|e| match e {
            regex::Error::CompiledTooBig(_) => "it is too large".to_owned(),
            // The last line of the parser's message has the cause.
            other => {
                other.to_string().lines().last().unwrap_or_default().trim_start_matches("error: ").to_owned()
            }
        })
    }

    /// The number of its groups.
    pub(super) fn groups(&self) -> usize {
        self.compiled().map_or(0, |regex| regex.captures_len() - 1)
    }

    /// Whether it matches an empty part of a text.
    pub(super) fn is_empty(&self) -> bool {
        self.compiled().is_ok_and(|regex| regex.is_match(""))
    }

    /// Applies the expression, which is compiled once for all rows.
    pub(super) fn with<T>(&self, of: impl FnOnce(&Regex) -> T) -> Option<T> {
        thread_local! {
            static KNOWN: RefCell<HashMap<Pattern, Regex>> = RefCell::default();
        }
        /// LOCAL: the most patterns that a thread keeps.
        const MOST: usize = 64;
        KNOWN.with_borrow_mut(|known| {
            if known.len() > MOST {
                known.clear();
            }
            if !known.contains_key(self) {
                known.insert(self.clone(), self.compiled().ok()?);
            }
            known.get(self).map(of)
        })
    }

    /// The public arguments: the options, the pattern, and a text after it.
    pub(super) fn public(&self, behind: &[u8]) -> Vec<i128> {
        let flags = [self.any_case, self.dot_all, self.lines, self.whole, self.all];
        let flags = flags.iter().rev().fold(0, |bits, flag| bits << 1 | i128::from(*flag));
        [vec![flags], text::public(self.text.as_bytes()), vec![0], text::public(behind)].concat()
    }

    /// Splits public arguments into the pattern and the text after it.
    pub(super) fn of_public(public: &[i128]) -> (Pattern, Vec<u8>) {
        let (flags, rest) = public.split_first().map_or((0, &[][..]), |(first, rest)| (*first, rest));
        let flag = |k: u32| flags >> k & 1 == 1;
        let mut parts = rest.split(|byte| *byte == 0).map(text::of_public);
        let text = String::from_utf8_lossy(&parts.next().unwrap_or_default()).into_owned();
        let pattern = Pattern {
            text,
            any_case: flag(0),
            dot_all: flag(1),
            lines: flag(2),
            whole: flag(3),
            all: flag(4),
        };
        (pattern, parts.next().unwrap_or_default())
    }

    /// The text of the pattern in a plan.
    pub(super) fn shown(&self) -> String {
        format!("'{}'", self.text)
    }
}

/// A class of RE2, in the form used in brackets, by its letter.
fn class(letter: char) -> Option<&'static str> {
    Some(match letter.to_ascii_lowercase() {
        'd' => "0-9",
        's' => "\\t\\n\\f\\r\\x20",
        'w' => "0-9A-Za-z_",
        _ => return None,
    })
}

/// Translates a pattern of RE2 to the syntax of the engine.
///
/// - `\d`, `\s`, `\w` and `\b` match only ASCII.
/// - Within brackets, `[`, `&` and `~` are literal; the engine would allow sets in sets.
/// - A backslash before an ASCII sign makes it literal. For the engine, `\<` begins a word.
/// - `\Q…\E` is its literal text.
fn spelt(pattern: &str) -> String {
    let (mut out, mut rest, mut is_set) = (String::with_capacity(pattern.len()), pattern, false);
    while let Some(c) = rest.chars().next() {
        rest = &rest[c.len_utf8()..];
        match c {
            '\\' => {
                let Some(next) = rest.chars().next() else {
                    out.push(c);
                    break;
                };
                rest = &rest[next.len_utf8()..];
                match (next, class(next)) {
                    (_, Some(class)) if is_set && next.is_ascii_lowercase() => out.push_str(class),
                    (_, Some(class)) => {
                        let not = if next.is_ascii_uppercase() { "^" } else { "" };
                        let set = format!("[{not}{class}]");
                        out.push_str(&set);
                    }
                    ('b' | 'B', None) if !is_set => out.push_str(&format!("(?-u:\\{next})")),
                    ('Q', None) => {
                        let (text, behind) = rest.split_once("\\E").unwrap_or((rest, ""));
                        out.push_str(&regex::escape(text));
                        rest = behind;
                    }
                    ('<' | '>', None) => out.push(next),
                    _ => out.extend([c, next]),
                }
            }
            '[' if !is_set => {
                is_set = true;
                out.push(c);
                if let Some(behind) = rest.strip_prefix('^') {
                    (out, rest) = (out + "^", behind);
                }
                // A bracket in front is literal.
                if let Some(behind) = rest.strip_prefix(']') {
                    (out, rest) = (out + "\\]", behind);
                }
            }
            '[' => match rest.strip_prefix(':').and_then(|name| name.split_once(":]")) {
                Some((name, behind)) => {
                    out.push_str(&format!("[:{name}:]"));
                    rest = behind;
                }
                None => out.push_str("\\["),
            },
            ']' if is_set => {
                is_set = false;
                out.push(c);
            }
            '&' | '~' if is_set => out.extend(['\\', c]),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(pattern: &str, text: &str, any_case: bool) -> Option<bool> {
        let text_of = pattern.to_owned();
        let made =
            Pattern { text: text_of, any_case, dot_all: false, lines: false, whole: false, all: false };
        made.with(|regex| regex.is_match(text))
    }

    #[test]
    fn patterns_mean_what_they_mean_in_re2() {
        // Each expected result is that of RE2, from DuckDB's regexp_matches.
        for (pattern, text, wanted) in [
            (r"^\w+$", "Müller", false),
            (r"^\W$", "ü", true),
            (r"^[^\w]$", "ü", true),
            (r"^[\W]$", "ü", true),
            (r"^[\w-]+$", "a-b", true),
            (r"^\d+$", "١٢", false),
            (r"^[\d]$", "١", false),
            (r"^\D$", "١", true),
            (r"^\s$", "\u{a0}", false),
            (r"^\s$", "\u{b}", false),
            (r"^\S$", "\u{a0}", true),
            (r"\bller", "Müller", true),
            (r"M\b", "Müller", true),
            (r"l\Bl", "Müller", true),
            (r"^[[]$", "[", true),
            (r"^[]]$", "]", true),
            (r"^[^]]$", "a", true),
            (r"^[a&&b]$", "&", true),
            (r"^[[:alpha:]]$", "ü", false),
            (r"^\pL$", "ü", true),
            (r"^\Qa.b\E$", "a.b", true),
            (r"^\Qa.b\E$", "axb", false),
            (r"\<a", "<a", true),
            (r"\<a", "a", false),
            (r"^a.b$", "aüb", true),
        ] {
            assert_eq!(matches(pattern, text, false), Some(wanted), "{pattern} {text:?}");
        }
        assert_eq!(matches(r"^\w$", "ſ", true), Some(true));
        assert_eq!(matches(r"^ÜL$", "ül", true), Some(true));
        assert_eq!(matches(r"(", "", false), None);
        assert_eq!(matches(r"a\", "", false), None);
        assert_eq!(matches(r"[a", "", false), None);
    }
}
