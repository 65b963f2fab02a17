//! The table of all codes with their kinds and texts. It is the one place to review when an error
//! changes.
//!
//! A number keeps its meaning in all releases. Words in braces are placeholders, for which each
//! error gives a value. A code whose text is `{cause}` covers many cases about one kind of file or
//! request.

use crate::{Entry, text::place};
use std::fmt::Write;

mod files;
mod keeping;
mod questions;
mod session;

/// Defines the codes of a group, and their entries.
macro_rules! table {
    ($($number:literal $constant:ident $kind:ident $name:literal
        $text:literal
        $remedy:literal)*) => {
        /// The codes of the group.
        pub(super) mod code {
            use crate::Code;
            $(
                #[doc = concat!($name, ".")]
                pub const $constant: Code = Code($number);
            )*
        }

        pub(super) const TABLE: &[crate::Entry] = &[$(
            crate::Entry {
                code: code::$constant,
                kind: crate::Kind::$kind,
                name: $name,
                text: $text,
                remedy: $remedy,
            },
        )*];
    };
}
use table;

/// The codes.
pub mod code {
    pub use super::{files::code::*, keeping::code::*, questions::code::*, session::code::*};
}

const PARTS: [&[Entry]; 4] = [session::TABLE, files::TABLE, questions::TABLE, keeping::TABLE];

const COUNT: usize = PARTS[0].len() + PARTS[1].len() + PARTS[2].len() + PARTS[3].len();

/// All codes, in order.
pub const TABLE: &[Entry] = &{
    let mut all = [PARTS[0][0]; COUNT];
    let (mut part, mut at) = (0, 0);
    while part < PARTS.len() {
        let mut of_part = 0;
        while of_part < PARTS[part].len() {
            all[at] = PARTS[part][of_part];
            (of_part, at) = (of_part + 1, at + 1);
        }
        part += 1;
    }
    all
};

/// The headings of the page, each before the first code of its hundred.
const GROUPS: [(u16, &str); 11] = [
    (0, "Any command"),
    (1, "The network and the other members"),
    (2, "Protocols"),
    (3, "Files and values"),
    (4, "Jobs and members"),
    (5, "Circuits and computations"),
    (6, "Queries"),
    (7, "Models"),
    (8, "Intersections"),
    (9, "Encryption, keys and preprocessing"),
    (10, "The service and its sealed data"),
];

/// The list of all codes for the troubleshooting page, in Markdown.
#[must_use]
pub fn page() -> String {
    let mut page = String::new();
    let mut group = None;
    for entry in TABLE {
        let hundred = entry.code.0 / 100;
        if group.replace(hundred) != Some(hundred) {
            let title = GROUPS.iter().find(|(number, _)| *number == hundred).map_or("", |(_, title)| title);
            // Writing to a string cannot fail.
            let _ = write!(page, "\n## {title}\n");
        }
        let _ = write!(page, "\n### {}: {}\n\n{}\n", entry.code, entry.name, entry.explanation());
    }
    page
}

impl Entry {
    /// The text, the remedy and the exit code, for people who look up the code.
    #[must_use]
    pub fn explanation(&self) -> String {
        let code = self.kind.exit_code();
        let says =
            if self.text == "{cause}" { "The message says the cause".to_owned() } else { code_of(self.text) };
        let then = match self.remedy {
            "" => ".".to_owned(),
            "{remedy}" if self.text == "{cause}" => " and what to do.".to_owned(),
            "{remedy}" => ". The message says what to do.".to_owned(),
            remedy => format!(".\n\nWhat to do: {remedy}."),
        };
        format!("{says}{then} Exit code {code} ({}).", self.kind.name())
    }

    /// The names of the placeholders in the entry's texts.
    #[must_use]
    pub fn places(&self) -> Vec<&'static str> {
        let mut names = vec![];
        for template in [self.text, self.remedy] {
            let mut rest = template;
            while let Some((_, name, after)) = place(rest) {
                names.push(name);
                rest = after;
            }
        }
        names
    }
}

/// A template without changes, in a monospaced font.
fn code_of(template: &str) -> String {
    format!("`{}`", template.replace('`', "'"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use std::collections::BTreeSet;

    #[test]
    fn codes_are_in_order_and_read_as_they_are_written() {
        assert!(TABLE.windows(2).all(|pair| pair[0].code < pair[1].code), "codes rise");
        for entry in TABLE {
            assert_eq!(entry.code.entry(), entry);
            assert_eq!(entry.code.to_string().parse(), Ok(entry.code));
            assert_eq!(entry.code.to_string().to_lowercase().parse(), Ok(entry.code));
            assert!(GROUPS.iter().any(|(number, _)| *number == entry.code.0 / 100), "{}", entry.code);
        }
        for none in ["HW0000", "HW", "", "HW+101", "XX0101", "101x", "é"] {
            assert!(none.parse::<Code>().is_err(), "{none}");
        }
        assert_eq!("101".parse(), Ok(code::CLOSED), "people leave the letters out");
    }

    #[test]
    fn names_and_anchors_are_unique() {
        let names: BTreeSet<_> = TABLE.iter().map(|entry| entry.name).collect();
        let anchors: BTreeSet<_> = TABLE.iter().map(Entry::anchor).collect();
        assert_eq!([names.len(), anchors.len()], [TABLE.len(); 2]);
        assert_eq!(code::OT_NAME.entry().anchor(), "hw0204-no-such-protocol-of-oblivious-transfer");
    }

    #[test]
    fn texts_are_clauses() {
        for Entry { code, text, remedy, name, .. } in TABLE {
            for clause in [text, remedy, name] {
                assert!(!clause.ends_with(['.', ';', ' ']) && !clause.contains("; {"), "{code}: {clause}");
                assert_eq!(clause.matches('{').count(), clause.matches('}').count(), "{code}: {clause}");
            }
            assert!(!text.is_empty() && !name.is_empty(), "{code}");
        }
    }
}
