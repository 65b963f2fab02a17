//! The part of an intersection that is revealed.

use hushwire_files::{Dialect, FileError, Rows, csv_line};
use hushwire_psi::Reveal;
use std::{fmt, path::Path, str::FromStr};

/// The part of an intersection that is revealed.
///
/// ```text
/// items | flags | size | sum:COLUMN,count | sum:COLUMN@party0,count | columns:NAME,NAME
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PsiReveal {
    /// The keys that are in both sets.
    Items,
    /// For each of a party's rows, whether its key is in both sets.
    Flags,
    /// To both: the number of common keys.
    Size,
    /// To both: the number of common keys, and the sum of a column over the rows that have one.
    Sum {
        /// The column, in the file of that party.
        column: String,
        /// The party's number.
        of: u8,
    },
    /// To one party: the keys that are in both sets, with the other party's fields in some columns.
    Columns {
        /// The columns, in the other party's file.
        names: Vec<String>,
    },
}

impl PsiReveal {
    /// The form for circuits of whole sets, which reveal no sum and no columns.
    pub(super) fn of_sets(&self) -> Option<Reveal> {
        match self {
            Self::Items => Some(Reveal::Items),
            Self::Flags => Some(Reveal::Flags),
            Self::Size => Some(Reveal::Size),
            Self::Sum { .. } | Self::Columns { .. } => None,
        }
    }
}

impl From<Reveal> for PsiReveal {
    fn from(reveal: Reveal) -> Self {
        match reveal {
            Reveal::Items => Self::Items,
            Reveal::Flags => Self::Flags,
            Reveal::Size => Self::Size,
        }
    }
}

impl fmt::Display for PsiReveal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Items => f.write_str("items"),
            Self::Flags => f.write_str("flags"),
            Self::Size => f.write_str("size"),
            Self::Sum { column, of } => write!(f, "sum:{column}@party{of},count"),
            Self::Columns { names } => {
                write!(f, "columns:{}", csv_line(names).unwrap_or_else(|_| names.join(",")))
            }
        }
    }
}

impl FromStr for PsiReveal {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(sum) = text.strip_prefix("sum:") {
            let Some(sum) = sum.strip_suffix(",count") else {
                return Err("a sum is told with the number of keys: write sum:COLUMN,count".to_owned());
            };
            let owners = [("@party0", 0), ("@party1", 1), ("@a", 0), ("@b", 1)];
            let named = owners.iter().find_map(|(end, of)| Some((sum.strip_suffix(end)?, *of)));
            let (column, of) = named.unwrap_or((sum, 1));
            return match column.trim() {
                "" => Err("it names no column: write sum:COLUMN,count".to_owned()),
                column => Ok(Self::Sum { column: column.to_owned(), of }),
            };
        }
        if let Some(names) = text.strip_prefix("columns:") {
            return Ok(Self::Columns { names: listed(names)? });
        }
        text.parse::<Reveal>().map(Self::from).map_err(|_| {
            format!("{text:?} is none of items, flags, size, sum:COLUMN,count and columns:NAME,NAME")
        })
    }
}

/// Splits names that are written as a line of CSV, in which a name with a comma is in quotes.
fn listed(text: &str) -> Result<Vec<String>, String> {
    let wrong =
        |cause: String| format!("{cause}: write columns:NAME,NAME, and a name with a comma in quotes");
    let odd = |e: FileError| wrong(format!("{}: {}", e.fault().step(), e.fault().cause()));
    let mut rows = Rows::with(Path::new("the list"), text.as_bytes(), &Dialect::rfc4180()).map_err(odd)?;
    let names = rows.header().iter().map(|name| String::from_utf8_lossy(name).trim().to_owned());
    let names: Vec<String> = names.collect();
    match rows.read() {
        Ok(None) if !names.is_empty() && names.iter().all(|name| !name.is_empty()) => Ok(names),
        Ok(None) => Err(wrong("it has an empty name".to_owned())),
        Ok(Some(_)) => Err(wrong("it has a line end".to_owned())),
        Err(e) => Err(odd(e)),
    }
}

#[cfg(test)]
mod tests {
    use super::PsiReveal;

    #[test]
    fn names_are_read_as_they_are_written() {
        for (text, written) in [
            ("items", "items"),
            ("flags", "flags"),
            ("size", "size"),
            ("sum:a, b,count", "sum:a, b@party1,count"),
            ("sum:x@y,count", "sum:x@y@party1,count"),
            ("sum:x@a,count", "sum:x@party0,count"),
            ("sum:x@party0,count", "sum:x@party0,count"),
            ("columns:plan", "columns:plan"),
            ("columns: plan , Größe,\"a, \"\"b\"\"\"", "columns:plan,Größe,\"a, \"\"b\"\"\""),
        ] {
            let reveal: PsiReveal = text.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(reveal.to_string(), written);
            assert_eq!(written.parse(), Ok(reveal));
        }
        for text in [
            "sum",
            "sum:",
            "sum:,count",
            "sum:x",
            "sum:x,size",
            "count",
            "",
            "columns",
            "columns:",
            "columns:a,,b",
            "columns:a,",
            "columns:a b\"",
            "columns:a\nb",
        ] {
            assert!(text.parse::<PsiReveal>().is_err(), "{text}");
        }
    }
}
