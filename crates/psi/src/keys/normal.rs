//! Normal forms of key fields, so that two files that write the same thing differently have the
//! same key for it.
//!
//! Both parties agree on the form. It is part of the job's agreement, with the version of Unicode
//! if letters depend on it.

#[cfg(feature = "phone")]
use super::phone::{PLANS, Phone};
use super::{email, written};
use core::{fmt, str::FromStr};
use hushwire_files::Dialect;
use std::borrow::Cow;
use unicode_normalization::{IsNormalized, UnicodeNormalization, char::is_combining_mark, is_nfc_quick};
use zeroize::Zeroizing;

/// The normal form of a field.
///
/// Its text is a list of words: `exact`, `trim`, `trim nfc`, `trim case`, `trim nfc case`,
/// `trim accents`, `trim accents case`, `email`, `phone:+49`, `date`, `number`, `iban`. All of them
/// but `exact` drop white space around a field; the word `trim` may be omitted beside another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Normal(NormalForm);

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum NormalForm {
    Exact,
    Text {
        nfc: bool,
        case: bool,
    },
    /// Letters without their accents.
    Plain {
        case: bool,
    },
    Email,
    Date,
    Number,
    Iban,
    #[cfg(feature = "phone")]
    Phone(Phone),
}

/// The result for one field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Formed {
    /// The buffer now holds the text.
    Text,
    /// No text was left.
    Empty,
    /// It does not fit the form, for example an e-mail address without an @.
    Malformed,
}

impl Default for Normal {
    /// `trim`.
    fn default() -> Self {
        Self(NormalForm::Text { nfc: false, case: false })
    }
}

impl Normal {
    /// The name on which both parties must agree. It contains the version of Unicode if the form
    /// depends on its tables.
    #[must_use]
    pub fn agreed(&self) -> String {
        let tables = |letters: &str| format!("{self} (Unicode {letters})");
        let (std, crate_) = (version(char::UNICODE_VERSION), version(unicode_normalization::UNICODE_VERSION));
        match self.0 {
            // White space has not changed since Unicode 6.3.
            NormalForm::Exact | NormalForm::Text { nfc: false, case: false } => self.to_string(),
            NormalForm::Date | NormalForm::Number | NormalForm::Iban => self.to_string(),
            #[cfg(feature = "phone")]
            NormalForm::Phone(_) => format!("{self} ({PLANS})"),
            NormalForm::Text { nfc: true, case: false } | NormalForm::Plain { case: false } => {
                tables(&crate_)
            }
            NormalForm::Text { nfc: false, case: true } => tables(&std),
            NormalForm::Text { .. } | NormalForm::Plain { .. } => tables(&format!("{std}, {crate_}")),
            NormalForm::Email => tables(&format!("{std}, {crate_}; {}", email::TABLES)),
        }
    }

    /// Replaces `out` by the field's normal form.
    pub fn apply(&self, field: &str, out: &mut String) -> Formed {
        out.clear();
        match self.0 {
            NormalForm::Exact => out.push_str(field),
            NormalForm::Text { nfc, case } => text(field.trim(), nfc, case, out),
            NormalForm::Plain { case } => {
                let marks =
                    Zeroizing::new(field.trim().nfd().filter(|c| !is_combining_mark(*c)).collect::<String>());
                text(&marks, true, case, out);
            }
            NormalForm::Email => return email::apply(field.trim(), out),
            NormalForm::Date | NormalForm::Number | NormalForm::Iban if field.trim().is_empty() => {}
            NormalForm::Date if !written::date(field.trim(), out) => return Formed::Malformed,
            NormalForm::Number if !written::number(field.trim(), out) => return Formed::Malformed,
            NormalForm::Iban if !written::iban(field.trim(), out) => return Formed::Malformed,
            NormalForm::Date | NormalForm::Number | NormalForm::Iban => {}
            #[cfg(feature = "phone")]
            NormalForm::Phone(phone) => return phone.apply(field.trim(), out),
        }
        if out.is_empty() { Formed::Empty } else { Formed::Text }
    }

    /// [`Normal::apply`] for a field of a file: its owner's formats of dates and marks of numbers
    /// come first. In a form of texts a day that has the format of a date becomes ISO 8601's, and
    /// other texts stay.
    pub(super) fn apply_to(&self, field: &str, dialect: &Dialect, out: &mut String) -> Formed {
        if field.trim().is_empty() {
            return self.apply(field, out);
        }
        let own = match self.0 {
            NormalForm::Date => dialect.moment(field),
            NormalForm::Number => match dialect.number(field.trim()) {
                Some(number) => number,
                None => {
                    out.clear();
                    return Formed::Malformed;
                }
            },
            NormalForm::Text { .. } => match dialect.moment(field) {
                Cow::Owned(iso) if written::begins_with_day(&iso) => Cow::Owned(iso),
                _ => Cow::Borrowed(field),
            },
            _ => Cow::Borrowed(field),
        };
        // A day of another order than the owner's is no date.
        if own.is_empty() {
            out.clear();
            return Formed::Malformed;
        }
        match own {
            Cow::Owned(own) => self.apply(&Zeroizing::new(own), out),
            Cow::Borrowed(own) => self.apply(own, out),
        }
    }
}

#[cfg(feature = "phone")]
fn phone(code: &str) -> Result<NormalForm, String> {
    Ok(NormalForm::Phone(code.parse()?))
}

#[cfg(not(feature = "phone"))]
fn phone(code: &str) -> Result<NormalForm, String> {
    Err(format!(
        "phone:{code} takes numbering plans, and this hushwire was built without them; build it with `cargo build --release \
         -p hushwire-cli --features phone`, or bring both files into one form and write trim"
    ))
}

fn version<T: fmt::Display>((major, minor, _): (T, T, T)) -> String {
    format!("{major}.{minor}")
}

pub(super) fn text(field: &str, nfc: bool, case: bool, out: &mut String) {
    if field.is_ascii() {
        out.push_str(field);
        if case {
            out.make_ascii_lowercase();
        }
    } else if case {
        // Letter by letter, so that the small sigma at a word's end equals the one within a word.
        // Folding may break the normal form.
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

impl fmt::Display for Normal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            NormalForm::Exact => f.write_str("exact"),
            NormalForm::Email => f.write_str("email"),
            NormalForm::Date => f.write_str("date"),
            NormalForm::Number => f.write_str("number"),
            NormalForm::Iban => f.write_str("iban"),
            NormalForm::Plain { case } => {
                f.write_str(if case { "trim accents case" } else { "trim accents" })
            }
            #[cfg(feature = "phone")]
            NormalForm::Phone(phone) => write!(f, "phone:{phone}"),
            NormalForm::Text { nfc, case } => {
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
            Some(&"exact") => return alone(NormalForm::Exact),
            Some(&"email") => return alone(NormalForm::Email),
            Some(&"date") => return alone(NormalForm::Date),
            Some(&"number") => return alone(NormalForm::Number),
            Some(&"iban") => return alone(NormalForm::Iban),
            Some(&"phone") => return Err("phone needs a country code, as in phone:+49".to_owned()),
            Some(word) => {
                if let Some(code) = word.strip_prefix("phone:") {
                    return alone(phone(code)?);
                }
            }
        }
        let (mut nfc, mut case, mut plain) = (false, false, false);
        for word in words {
            match word {
                "trim" => {}
                "nfc" => nfc = true,
                "case" => case = true,
                "accents" => plain = true,
                "exact" | "email" | "phone" | "date" | "number" | "iban" => {
                    return Err(format!("{text:?}: {word} stands alone"));
                }
                _ => {
                    return Err(format!(
                        "{word:?} is none of exact, trim, nfc, case, accents, email, date, number, iban and phone:+CODE"
                    ));
                }
            }
        }
        // Letters without accents have one spelling.
        Ok(Self(if plain { NormalForm::Plain { case } } else { NormalForm::Text { nfc, case } }))
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
            ("accents", " José Peña ", "Jose Pena"),
            ("accents", "Jose\u{301}", "Jose"),
            ("accents case", "ÅSA Ørsted ŁÓDŹ", "asa ørsted łodz"),
            ("case accents nfc", "İ", "i"),
            ("accents", "\u{301}", "(empty)"),
            ("date", " 2026-1-5 ", "2026-01-05"),
            ("date", "5.1.2026", "(malformed)"),
            ("date", " ", "(empty)"),
            ("number", " 007.0 ", "7"),
            ("number", "", "(empty)"),
            ("iban", " de89 3704 0044 0532 0130 00 ", "DE89370400440532013000"),
            ("iban", "", "(empty)"),
            ("email", " Ann.Lee@Example.ORG ", "ann.lee@example.org"),
            ("email", "ANN@BU\u{308}CHER.example", "ann@xn--bcher-kva.example"),
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
            ("accents", "trim accents"),
            ("nfc case accents", "trim accents case"),
            ("date", "date"),
            ("number", "number"),
            ("iban", "iban"),
            #[cfg(feature = "phone")]
            ("phone:+49", "phone:+49"),
            #[cfg(feature = "phone")]
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
            "date iban",
            "trim number",
            "phone",
            "phone:",
            "phone:x",
            "phone:+0",
        ] {
            assert!(text.parse::<Normal>().is_err(), "{text:?}");
        }
        assert!("email".parse::<Normal>().is_ok_and(|n| n.agreed().contains("Unicode")));
    }

    #[cfg(not(feature = "phone"))]
    #[test]
    fn a_build_without_numbering_plans_says_how_to_have_them() {
        let refused = "phone:+49".parse::<Normal>().err().unwrap_or_default();
        assert!(
            refused.starts_with("phone:+49 takes numbering plans") && refused.contains("--features phone"),
            "{refused}"
        );
    }

    const FORMS: &[&str] = &[
        "exact",
        "trim",
        "nfc",
        "case",
        "nfc case",
        "email",
        "accents",
        "accents case",
        "date",
        "number",
        "iban",
        #[cfg(feature = "phone")]
        "phone:+49",
    ];

    #[test]
    fn fields_are_read_as_their_owner_writes_dates_and_numbers() {
        let mut dialect = Dialect::default();
        for (option, value) in
            [("date-format", "%d.%m.%Y,%d.%m.%Y %H:%M"), ("decimal", ","), ("thousands", ".")]
        {
            dialect.set(option, value).unwrap_or_else(|e| panic!("{option}: {e}"));
        }
        for (form, field, expected) in [
            ("date", "5.1.2026", "2026-01-05"),
            ("date", "05.01.2026 00:00", "2026-01-05"),
            ("date", "05.01.2026 09:00", "(malformed)"),
            ("date", "31.02.2026", "(malformed)"),
            ("date", "2026-01-05", "2026-01-05"),
            ("date", "", "(empty)"),
            ("trim", "5.1.2026", "2026-01-05"),
            ("case", "05.01.2026 09:00", "2026-01-05 09:00:00"),
            // No day, and no format: the text itself.
            ("trim", "31.02.2026", "31.02.2026"),
            ("trim", " Ann ", "Ann"),
            ("exact", "5.1.2026", "5.1.2026"),
            ("number", "1.234,50", "1234.5"),
            ("number", "1.5", "(malformed)"),
            ("trim", "1.234,50", "1.234,50"),
        ] {
            let normal: Normal = form.parse().unwrap_or_else(|e| panic!("{e}"));
            let mut out = "left over".to_owned();
            let formed = match normal.apply_to(field, &dialect, &mut out) {
                Formed::Text => out,
                Formed::Empty => "(empty)".to_owned(),
                Formed::Malformed => "(malformed)".to_owned(),
            };
            assert_eq!(formed, expected, "{form} of {field:?}");
        }
        // Days before months: what does not fit is no ISO date with months before days.
        let mut american = Dialect::default();
        american.set("date-format", "%Y-%d-%m").unwrap_or_else(|e| panic!("{e}"));
        let mut out = String::new();
        let date: Normal = "date".parse().unwrap_or_default();
        assert_eq!(
            (date.apply_to("2026-01-05", &american, &mut out), &out[..]),
            (Formed::Text, "2026-05-01")
        );
        assert_eq!(date.apply_to("2026-01-05x", &american, &mut out), Formed::Malformed);
    }

    proptest! {
        /// Normalization is idempotent, for any text.
        #[test]
        fn forms_are_kept(text in "\\PC{0,12}", form in prop::sample::select(FORMS)) {
            let once = formed(form, &text);
            if !once.starts_with('(') {
                prop_assert_eq!(formed(form, &once), once.clone(), "{} of {:?}", form, text);
            }
        }

        /// Spellings that a form makes equal, of letters that have one capital each: capitals,
        /// accents apart, and white space around.
        #[test]
        fn spellings_of_one_text_are_equal(text in "[ -~\u{e0}-\u{f6}\u{f8}-\u{fe}\u{3ac}-\u{3af}\u{3b1}-\u{3c1}\u{3c3}-\u{3ce}\u{430}-\u{44f}]{0,12}") {
            let (upper, apart) = (text.to_uppercase(), text.nfd().collect::<String>());
            let wide = format!("\u{3000}\t{text}\u{a0}");
            prop_assert_eq!(formed("trim", &wide), formed("trim", &text));
            prop_assert_eq!(formed("nfc", &apart), formed("nfc", &text));
            prop_assert_eq!(formed("case", &upper.to_lowercase()), formed("case", &text));
            for other in [upper.nfd().collect::<String>(), apart, upper, wide] {
                prop_assert_eq!(formed("nfc case", &other), formed("nfc case", &text), "{:?}", other);
            }
        }
    }
}
