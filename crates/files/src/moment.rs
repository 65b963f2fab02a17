//! Reads dates and times in formats for people: `%d.%m.%Y` is 23.11.2026.

use serde::{Deserialize, Serialize};
use std::{fmt::Write, str::FromStr};

/// A format of dates or times, such as `%Y-%m-%d`. Errors list its possible fields.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct DateFormat {
    text: String,
    items: Vec<Item>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Item {
    /// A field of [`FIELDS`].
    Field(char),
    /// A literal character.
    Plain(char),
    /// Any number of blanks.
    Blank,
}

/// The fields of formats.
pub(crate) const FIELDS: &str = "%Y %y %m %b %B %d %H %I %p %M %S %f %z";

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

impl FromStr for DateFormat {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (mut items, mut rest) = (vec![], text.chars());
        while let Some(c) = rest.next() {
            items.push(match c {
                '%' => match rest.next() {
                    Some('%') => Item::Plain('%'),
                    // C and Python have this form for a number without a leading zero.
                    Some('-') => Item::Field(rest.next().ok_or_else(|| wrong(text))?),
                    Some(field) => Item::Field(field),
                    None => return Err(wrong(text)),
                },
                c if c.is_whitespace() => Item::Blank,
                c => Item::Plain(c),
            });
        }
        let fields: Vec<char> =
            items.iter().filter_map(|item| if let Item::Field(c) = item { Some(*c) } else { None }).collect();
        let count = |of: &str| fields.iter().filter(|field| of.contains(**field)).count();
        let known = |field: &char| FIELDS.contains(&format!("%{field}"));
        let is_whole = count("Yy") == 1 && count("mbB") == 1 && count("d") == 1;
        let hours = count("HI");
        let is_time = hours <= 1 && count("I") == count("p") && (hours == 1 || count("MSfz") == 0);
        let once = fields.iter().enumerate().all(|(at, field)| !fields[..at].contains(field));
        if !fields.iter().all(known) || !is_whole || !is_time || !once {
            return Err(wrong(text));
        }
        Ok(Self { text: text.to_owned(), items })
    }
}

fn wrong(text: &str) -> String {
    format!(
        "{text:?} is no format of dates: write year, month and day once each, as %d.%m.%Y or %d/%m/%Y %H:%M, of {FIELDS}"
    )
}

impl TryFrom<String> for DateFormat {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<DateFormat> for String {
    fn from(format: DateFormat) -> Self {
        format.text
    }
}

/// The fields that were read from a text so far.
#[derive(Default)]
struct DateParts {
    year: u32,
    month: u32,
    day: u32,
    hour: Option<u32>,
    minute: u32,
    second: u32,
    fraction: String,
    /// Whether the time is after noon, for hours up to twelve.
    after_noon: Option<bool>,
    offset: String,
}

/// A number of one to `most` digits, and the text after it.
fn digits(text: &str, most: usize) -> Option<(u32, &str)> {
    let length = text.bytes().take(most).take_while(u8::is_ascii_digit).count();
    let (number, rest) = text.split_at(length);
    Some((number.parse().ok()?, rest))
}

/// A number of exactly `length` digits.
fn exactly(text: &str, length: usize) -> Option<(u32, &str)> {
    let (number, rest) = text.split_at_checked(length)?;
    Some((number.bytes().all(|b| b.is_ascii_digit()).then(|| number.parse().ok())??, rest))
}

/// The month with whose name, or its first three letters, a text begins, and the text after it.
fn month(text: &str) -> Option<(u32, &str)> {
    let lower = text.to_ascii_lowercase();
    let (at, name) = (1..).zip(MONTHS).find(|(_, name)| lower.starts_with(&name[..3]))?;
    let length = if lower.starts_with(name) { name.len() } else { 3 };
    let rest = &text[length..];
    Some((at, rest))
}

impl DateParts {
    /// Reads a field at the start of a text. Returns the rest.
    fn take<'t>(&mut self, field: char, text: &'t str) -> Option<&'t str> {
        let rest;
        match field {
            'Y' => (self.year, rest) = exactly(text, 4)?,
            'y' => {
                (self.year, rest) = exactly(text, 2)?;
                // The rule of POSIX.
                self.year += if self.year < 69 { 2000 } else { 1900 };
            }
            'm' => (self.month, rest) = digits(text, 2)?,
            'b' | 'B' => (self.month, rest) = month(text)?,
            'd' => (self.day, rest) = digits(text, 2)?,
            'H' | 'I' => {
                let (hour, behind) = digits(text, 2)?;
                (self.hour, rest) = (Some(hour), behind);
            }
            'M' => (self.minute, rest) = exactly(text, 2)?,
            'S' => (self.second, rest) = exactly(text, 2)?,
            'f' => {
                let length = text.bytes().take(6).take_while(u8::is_ascii_digit).count();
                let (fraction, behind) = text.split_at(length);
                if fraction.is_empty() {
                    return None;
                }
                (self.fraction, rest) = (fraction.to_owned(), behind);
            }
            'p' => {
                let (half, behind) = text.split_at_checked(2)?;
                self.after_noon = Some(match half.to_ascii_lowercase().as_str() {
                    "am" => false,
                    "pm" => true,
                    _ => return None,
                });
                rest = behind;
            }
            'z' => {
                let bytes = text.as_bytes();
                let length = match bytes.first()? {
                    b'Z' => 1,
                    b'U' | b'G' if text.starts_with("UTC") || text.starts_with("GMT") => 3,
                    b'+' | b'-' if bytes.get(3) == Some(&b':') => 6,
                    // Hours without minutes, as PostgreSQL writes them.
                    b'+' | b'-' if !bytes.get(3).is_some_and(u8::is_ascii_digit) => 3,
                    b'+' | b'-' => 5,
                    _ => return None,
                };
                let (offset, behind) = text.split_at_checked(length)?;
                (self.offset, rest) = (offset.to_owned(), behind);
            }
            _ => return None,
        }
        Some(rest)
    }

    /// The moment in ISO 8601. Its reader must check that the day exists.
    fn iso(self) -> Option<String> {
        let mut iso = format!("{:04}-{:02}-{:02}", self.year, self.month, self.day);
        if let Some(hour) = self.hour {
            let hour = match self.after_noon {
                Some(_) if !(1..=12).contains(&hour) => return None,
                Some(after) => hour % 12 + if after { 12 } else { 0 },
                None => hour,
            };
            // Writing to a string does not fail.
            let _ = write!(iso, " {hour:02}:{:02}:{:02}", self.minute, self.second);
            if !self.fraction.is_empty() {
                let _ = write!(iso, ".{}", self.fraction);
            }
            iso.push_str(&self.offset);
        }
        Some(iso)
    }
}

impl DateFormat {
    /// The format as it was written.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether the format begins like ISO 8601. A text that does not fit it may then look like a
    /// date of ISO 8601.
    pub(crate) fn begins_like_iso(&self) -> bool {
        self.items.starts_with(&[Item::Field('Y'), Item::Plain('-')])
    }

    /// Returns the moment that a text of this format names, in ISO 8601; `None` if the text does
    /// not fit.
    #[must_use]
    pub fn read(&self, text: &str) -> Option<String> {
        let (mut found, mut rest) = (DateParts::default(), text);
        for item in &self.items {
            rest = match item {
                Item::Field(field) => found.take(*field, rest)?,
                Item::Plain(c) => rest.strip_prefix(*c)?,
                Item::Blank => rest.trim_start(),
            };
        }
        if rest.is_empty() { found.iso() } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_read_by_their_formats() {
        for (format, text, iso) in [
            ("%d.%m.%Y", "23.11.2026", Some("2026-11-23")),
            ("%d.%m.%Y", "3.1.2026", Some("2026-01-03")),
            ("%-d.%-m.%Y", "3.1.2026", Some("2026-01-03")),
            ("%d.%m.%Y", "2026-11-23", None),
            ("%d.%m.%Y", "23.11.2026 ", None),
            ("%d.%m.%Y", "23.11.26", None),
            ("%m/%d/%y", "02/28/69", Some("1969-02-28")),
            ("%m/%d/%y", "02/28/68", Some("2068-02-28")),
            ("%Y%m%d", "20261123", Some("2026-11-23")),
            ("%d %b %Y", "3 Nov 2026", Some("2026-11-03")),
            ("%d %B %Y", "03  november 2026", Some("2026-11-03")),
            ("%d %b %Y", "3 Nox 2026", None),
            ("%d/%m/%Y %H:%M", "3/1/2026 9:05", Some("2026-01-03 09:05:00")),
            ("%m/%d/%Y %I:%M:%S %p", "1/3/2026 12:00:00 AM", Some("2026-01-03 00:00:00")),
            ("%m/%d/%Y %I:%M %p", "1/3/2026 1:07 pm", Some("2026-01-03 13:07:00")),
            ("%m/%d/%Y %I:%M %p", "1/3/2026 13:07 pm", None),
            ("%Y-%m-%dT%H:%M:%S.%f%z", "2026-01-03T04:05:06.5+02:00", Some("2026-01-03 04:05:06.5+02:00")),
            ("%Y-%m-%d %H:%M:%S%z", "2026-01-03 04:05:06Z", Some("2026-01-03 04:05:06Z")),
            ("%d.%m.%Y %H:%M %z", "3.1.2026 4:05 UTC", Some("2026-01-03 04:05:00UTC")),
            ("%d.%m.%Y %H:%M%z", "3.1.2026 4:05+02", Some("2026-01-03 04:05:00+02")),
            ("%d.%m.%Y %H:%M %z", "3.1.2026 4:05 CET", None),
            ("%d%%%m%%%Y", "3%1%2026", Some("2026-01-03")),
            ("%d.%m.%Y", "é", None),
            ("%d %b %Y", "3 é", None),
        ] {
            let format: DateFormat = format.parse().unwrap_or_else(|e| panic!("{e}"));
            assert_eq!(format.read(text).as_deref(), iso, "{format:?} {text:?}");
        }
    }

    #[test]
    fn formats_name_a_day() {
        for format in
            ["", "%d.%m", "%d.%m.%Y.%y", "%Y-%m-%d %M", "%Y-%m-%d %I", "%Y-%m-%d %H %p", "%Y-%m-%d %Q", "%"]
        {
            assert!(format.parse::<DateFormat>().is_err(), "{format:?}");
        }
    }
}
