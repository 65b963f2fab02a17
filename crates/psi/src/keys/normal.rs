//! Forms into which fields of keys are brought, so that two files that write one thing differently have one key for it.
//!
//! Both parties agree on the form: it is in the job's agreement, with the version of Unicode where letters depend on it.

use super::phone::Phone;
use core::{fmt, str::FromStr};
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// The form of a field.
///
/// Written as words: `exact`, `trim`, `trim nfc`, `trim case`, `trim nfc case`, `email`, `phone:+49`. White space around a
/// field is dropped in all of them but `exact`; the word `trim` need not be written beside another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Normal(Form);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Form {
    Exact,
    Text { nfc: bool, case: bool },
    Email,
    Phone(Phone),
}

/// The outcome for one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formed {
    /// Text, which now stands in the buffer.
    Text,
    /// Nothing was left.
    Empty,
    /// It is not what the form is of, as an e-mail address without an @.
    Malformed,
}

impl Default for Normal {
    /// `trim`.
    fn default() -> Self {
        Self(Form::Text { nfc: false, case: false })
    }
}

impl Normal {
    /// The name that both parties must have alike. It has the version of Unicode where the form rests on its tables.
    #[must_use]
    pub fn agreed(&self) -> String {
        let tables = |letters: &str| format!("{self} (Unicode {letters})");
        let (std, crate_) = (version(char::UNICODE_VERSION), version(unicode_normalization::UNICODE_VERSION));
        match self.0 {
            // White space has not changed since Unicode 6.3.
            Form::Exact | Form::Phone(_) | Form::Text { nfc: false, case: false } => self.to_string(),
            Form::Text { nfc: true, case: false } => tables(&crate_),
            Form::Text { nfc: false, case: true } => tables(&std),
            Form::Text { .. } | Form::Email => tables(&format!("{std}, {crate_}")),
        }
    }

    /// Puts the field in its form into `out`, in place of what was there.
    pub fn apply(&self, field: &str, out: &mut String) -> Formed {
        out.clear();
        match self.0 {
            Form::Exact => out.push_str(field),
            Form::Text { nfc, case } => text(field.trim(), nfc, case, out),
            Form::Email => {
                text(field.trim(), true, true, out);
                if !out.is_empty() && !is_address(out) {
                    return Formed::Malformed;
                }
            }
            Form::Phone(phone) => return phone.apply(field.trim(), out),
        }
        if out.is_empty() { Formed::Empty } else { Formed::Text }
    }
}

fn version<T: fmt::Display>((major, minor, _): (T, T, T)) -> String {
    format!("{major}.{minor}")
}

fn text(field: &str, nfc: bool, case: bool, out: &mut String) {
    if field.is_ascii() {
        out.push_str(field);
        if case {
            out.make_ascii_lowercase();
        }
    } else if case {
        // Letter by letter: the small sigma at a word's end is that within it. Folding may take a text out of its form.
        let small = |letter: char| letter.to_lowercase().map(|c| if c == 'ς' { 'σ' } else { c });
        match nfc {
            true => out.extend(field.nfc().flat_map(small).nfc()),
            false => out.extend(field.chars().flat_map(small)),
        }
    } else if nfc && is_nfc_quick(field.chars()) != IsNormalized::Yes {
        out.extend(field.nfc());
    } else {
        out.push_str(field);
    }
}

/// Something, an @, something. White space, control characters, those without width and what stands around an address in a
/// message's header or a link are no part of it.
fn is_address(text: &str) -> bool {
    let around = |c: char| matches!(c, '<' | '>' | '(' | ')' | ',' | ';' | ':' | '"');
    let unseen = |c: char| matches!(c, '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}');
    let parts = text.split_once('@');
    parts.is_some_and(|(local, domain)| !local.is_empty() && !domain.is_empty() && !domain.contains('@'))
        && !text.chars().any(|c| c.is_whitespace() || c.is_control() || around(c) || unseen(c))
}

impl fmt::Display for Normal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Form::Exact => f.write_str("exact"),
            Form::Email => f.write_str("email"),
            Form::Phone(phone) => write!(f, "phone:{phone}"),
            Form::Text { nfc, case } => {
                f.write_str("trim")?;
                f.write_str(if nfc { " nfc" } else { "" })?;
                f.write_str(if case { " case" } else { "" })
            }
        }
    }
}

impl FromStr for Normal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split([' ', ',']).filter(|word| !word.is_empty()).collect();
        let alone = |form| match words.as_slice() {
            [_] => Ok(Self(form)),
            _ => Err(format!("{text:?}: {} stands alone", words[0])),
        };
        match words.first() {
            None => return Err("it names no form".to_owned()),
            Some(&"exact") => return alone(Form::Exact),
            Some(&"email") => return alone(Form::Email),
            Some(&"phone") => return Err("phone needs a country code, as in phone:+49".to_owned()),
            Some(word) => {
                if let Some(code) = word.strip_prefix("phone:") {
                    return alone(Form::Phone(code.parse()?));
                }
            }
        }
        let (mut nfc, mut case) = (false, false);
        for word in words {
            match word {
                "trim" => {}
                "nfc" => nfc = true,
                "case" => case = true,
                "exact" | "email" | "phone" => return Err(format!("{text:?}: {word} stands alone")),
                _ => {
                    return Err(format!("{word:?} is none of exact, trim, nfc, case, email and phone:+CODE"));
                }
            }
        }
        Ok(Self(Form::Text { nfc, case }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn formed(form: &str, field: &str) -> String {
        let normal: Normal = form.parse().unwrap_or_else(|e| panic!("{e}"));
        let mut out = "left over".to_owned();
        match normal.apply(field, &mut out) {
            Formed::Text => out,
            Formed::Empty => "(empty)".to_owned(),
            Formed::Malformed => "(malformed)".to_owned(),
        }
    }

    #[test]
    fn fields_are_brought_into_one_form() {
        for (form, field, expected) in [
            ("exact", " Ann ", " Ann "),
            ("trim", "\u{a0} Ann\t", "Ann"),
            ("trim", " \t", "(empty)"),
            ("exact", "", "(empty)"),
            ("case", " Ann ", "ann"),
            ("case", "ΟΔΟΣ", "οδοσ"),
            ("case", "οδος", "οδοσ"),
            ("case", "STRASSE", "strasse"),
            ("nfc", "Zoe\u{308}", "Zoë"),
            ("nfc", "Zoë", "Zoë"),
            ("case", "ZOE\u{308}", "zoe\u{308}"),
            ("nfc case", "ZOE\u{308}", "zoë"),
            // The small form of the dotted capital I is two characters.
            ("nfc case", "İ", "i\u{307}"),
            ("email", " Ann.Lee@Example.ORG ", "ann.lee@example.org"),
            ("email", "ANN@BU\u{308}CHER.example", "ann@bücher.example"),
            ("email", "", "(empty)"),
            ("email", "ann", "(malformed)"),
            ("email", "@x", "(malformed)"),
            ("email", "a@", "(malformed)"),
            ("email", "a@b@c", "(malformed)"),
            ("email", "a b@c", "(malformed)"),
            ("email", "<a@b.c>", "(malformed)"),
            ("email", "mailto:a@b.c", "(malformed)"),
            ("email", "a@b.c;", "(malformed)"),
            ("email", "a\u{200b}@b.c", "(malformed)"),
            ("email", "o'neil+tag@b.c", "o'neil+tag@b.c"),
        ] {
            assert_eq!(formed(form, field), expected, "{form} of {field:?}");
        }
    }

    #[test]
    fn forms_are_read_as_they_are_shown() {
        for (text, shown) in [
            ("trim", "trim"),
            ("case", "trim case"),
            ("case,nfc", "trim nfc case"),
            ("  trim  nfc ", "trim nfc"),
            ("exact", "exact"),
            ("email", "email"),
            ("phone:+49", "phone:+49"),
            ("phone:49", "phone:+49"),
        ] {
            let normal: Normal = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(normal.to_string(), shown);
            assert_eq!(shown.parse(), Ok(normal));
            assert!(normal.agreed().starts_with(shown), "{}", normal.agreed());
        }
        for text in [
            "",
            " ",
            "lower",
            "exact nfc",
            "nfc exact",
            "email case",
            "phone",
            "phone:",
            "phone:x",
            "phone:+0",
        ] {
            assert!(text.parse::<Normal>().is_err(), "{text:?}");
        }
        assert!("email".parse::<Normal>().is_ok_and(|n| n.agreed().contains("Unicode")));
    }

    proptest! {
        /// A form of a form is itself, whatever the text.
        #[test]
        fn forms_are_kept(text in "\\PC{0,12}", form in 0usize..7) {
            let form = ["exact", "trim", "nfc", "case", "nfc case", "email", "phone:+49"][form];
            let once = formed(form, &text);
            if !once.starts_with('(') {
                prop_assert_eq!(formed(form, &once), once.clone(), "{} of {:?}", form, text);
            }
        }
    }
}
