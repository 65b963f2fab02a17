//! The dialect of a text file with a table: the separators of its fields, and the notation of its
//! values.
//!
//! ```text
//! separator  auto , ; tab |          header   names in the first record: yes, no, auto
//! quote      " ' none                null     words that mean NULL, as does the empty field
//! decimal    . ,                     thousands  . , space apostrophe
//! trim       blanks around fields    units    currency and percent signs at numbers
//! encoding   auto utf-8 utf-16le utf-16be latin1 windows-1252
//! date-format  %d.%m.%Y and similar, besides ISO 8601
//! ```
//! The options have the same names on command lines, in job files and in schemas. A dialect is
//! local to the owner of a file: no other member learns it.

use crate::{encoding::Encoding, moment::DateFormat};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;

/// The way in which a text file with a table is read. An option that is not set has its default.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields, default)]
pub struct Dialect {
    #[serde(skip_serializing_if = "Option::is_none")]
    separator: Option<Separator>,
    #[serde(skip_serializing_if = "Option::is_none")]
    header: Option<HeaderRow>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quote: Option<Quote>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decimal: Option<char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thousands: Option<char>,
    #[serde(skip_serializing_if = "Option::is_none")]
    null: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    date_format: Option<Vec<DateFormat>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    trim: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    units: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    encoding: Option<Encoding>,
}

/// The separator of two fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Separator {
    /// The one of [`SEPARATORS`] with which the file's first records agree.
    Auto,
    /// This byte.
    Byte(u8),
}

/// Whether the first record has the names of columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum HeaderRow {
    /// It has names unless it looks like data.
    Auto,
    /// It has names.
    Yes,
    /// It has no names. Columns are called c1, c2 and so on.
    No,
}

/// The quotes around fields that contain separators.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Quote {
    /// No quotes: a quote is a character like any other.
    None,
    /// This byte.
    Byte(u8),
}

/// The separators that are detected.
pub(crate) const SEPARATORS: [u8; 4] = *b",;\t|";

/// An option of a dialect: its name, the form of its values, and one line of help.
#[derive(Clone, Copy, Debug)]
pub struct DialectOption {
    /// The name, as in files, and on a command line without its hyphens.
    pub name: &'static str,
    /// The form of its values.
    pub values: &'static str,
    /// The effect of the option, and its default.
    pub help: &'static str,
}

const fn option(name: &'static str, values: &'static str, help: &'static str) -> DialectOption {
    DialectOption { name, values, help }
}

/// All options of a dialect.
pub const DIALECT_OPTIONS: [DialectOption; 10] = [
    option("separator", "auto|,|;|tab||", "the character between fields; auto finds , ; tab and | [auto]"),
    option(
        "header",
        "yes|no|auto",
        "whether the first line names the columns; without, they are c1, c2 … [yes, with a note where it looks like data]",
    ),
    option("quote", "\"|'|none", "the character around fields that have separators in them [\"]"),
    option("decimal", ".|,", "the decimal mark of numbers [.]"),
    option("thousands", ".|,|space|'", "the mark between groups of three digits [none]"),
    option("null", "WORD,WORD…", "words that mean NULL, as NA,n/a,NULL,NaN; an empty field always does"),
    option(
        "date-format",
        "FORMAT,FORMAT…",
        "formats of dates and times, as %d.%m.%Y or %d/%m/%Y %H:%M [ISO 8601, Z and offsets as UTC]",
    ),
    option("trim", "yes|no", "whether blanks around fields are dropped [yes]"),
    option(
        "units",
        "yes|no",
        "whether currency and percent signs beside numbers are dropped; (3.50) and 3.50- are -3.50 [no]",
    ),
    option(
        "encoding",
        "auto|utf-8|utf-16le|utf-16be|latin1|windows-1252",
        "the encoding of the text; auto is UTF-8, or UTF-16 with a byte order mark [auto]",
    ),
];

/// The character for a name, for characters that are awkward on a command line.
fn character(text: &str) -> Option<char> {
    let named = match text {
        "comma" => ',',
        "semicolon" => ';',
        "tab" | "\\t" => '\t',
        "bar" | "pipe" => '|',
        "point" | "dot" => '.',
        "space" => ' ',
        "apostrophe" => '\'',
        _ => {
            let mut all = text.chars();
            return all.next().filter(|_| all.next().is_none());
        }
    };
    Some(named)
}

/// Reads an option's truth value. The error names the option.
fn truth(name: &str, text: &str) -> Result<bool, String> {
    match text {
        "yes" | "true" => Ok(true),
        "no" | "false" => Ok(false),
        _ => Err(format!("{name} is yes or no, not {text:?}")),
    }
}

impl Dialect {
    /// Strict CSV as in RFC 4180: commas, names in the first line, blanks as part of fields, and
    /// UTF-8.
    #[must_use]
    pub fn rfc4180() -> Self {
        Self {
            separator: Some(Separator::Byte(b',')),
            header: Some(HeaderRow::Yes),
            quote: Some(Quote::Byte(b'"')),
            encoding: Some(Encoding::Utf8),
            trim: Some(false),
            ..Self::default()
        }
    }

    /// Sets an option from text. The elements of a list are separated by commas.
    ///
    /// # Errors
    /// There is no such option, or the option has no such value. The text lists the alternatives.
    pub fn set(&mut self, name: &str, text: &str) -> Result<(), String> {
        let one = |what: &str| character(text).ok_or_else(|| format!("{name} is {what}, not {text:?}"));
        match name {
            "separator" if text == "auto" => self.separator = Some(Separator::Auto),
            "separator" => {
                let what = "auto or one character, as , ; tab or |";
                let byte = u8::try_from(one(what)?).ok().filter(|b| b.is_ascii() && !b"\r\n\"".contains(b));
                let byte = byte.ok_or_else(|| format!("{name} is {what}, not {text:?}"))?;
                self.separator = Some(Separator::Byte(byte));
            }
            "header" => {
                self.header = Some(match text {
                    "auto" => HeaderRow::Auto,
                    text => match truth(name, text) {
                        Ok(true) => HeaderRow::Yes,
                        Ok(false) => HeaderRow::No,
                        Err(_) => return Err(format!("header is yes, no or auto, not {text:?}")),
                    },
                });
            }
            "quote" if text == "none" => self.quote = Some(Quote::None),
            "quote" => match one("none or one character, as \" or '")? {
                mark @ ('"' | '\'') => self.quote = Some(Quote::Byte(mark as u8)),
                _ => return Err(format!("quote is \", ' or none, not {text:?}")),
            },
            "decimal" => match one("a point or a comma")? {
                mark @ ('.' | ',') => self.decimal = Some(mark),
                _ => return Err(format!("decimal is a point or a comma, not {text:?}")),
            },
            "thousands" => match one("a point, a comma, space or an apostrophe")? {
                mark @ ('.' | ',' | ' ' | '\'' | '_') => self.thousands = Some(mark),
                _ => {
                    let what = "a point, a comma, space or an apostrophe";
                    return Err(format!("thousands is {what}, not {text:?}"));
                }
            },
            "null" => self.null = Some(text.split(',').map(|word| word.trim().to_owned()).collect()),
            "date-format" => {
                let formats = text.split(',').map(|format| format.trim().parse());
                self.date_format = Some(formats.collect::<Result<_, String>>()?);
            }
            "trim" => self.trim = Some(truth(name, text)?),
            "units" => self.units = Some(truth(name, text)?),
            "encoding" => self.encoding = Some(text.parse()?),
            _ => return Err(format!("{name} is no option of a file")),
        }
        if self.thousands.is_some_and(|mark| mark == self.decimal_mark()) {
            return Err("decimal and thousands are the same character".to_owned());
        }
        Ok(())
    }

    /// Sets an option that is a list, with one text for each element. Elements may contain commas.
    ///
    /// # Errors
    /// As [`Dialect::set`], or the option is not a list.
    pub fn set_list(&mut self, name: &str, list: &[&str]) -> Result<(), String> {
        match (name, list) {
            ("null", _) => self.null = Some(list.iter().map(|word| (*word).to_owned()).collect()),
            ("date-format", _) => {
                self.date_format = Some(list.iter().map(|text| text.parse()).collect::<Result<_, String>>()?);
            }
            (_, [one]) => self.set(name, one)?,
            _ => return Err(format!("{name} has one value, and no list")),
        }
        Ok(())
    }

    /// Returns this dialect, with unset options taken from `base`.
    #[must_use]
    pub fn over(self, base: &Self) -> Self {
        let base = base.clone();
        Self {
            separator: self.separator.or(base.separator),
            header: self.header.or(base.header),
            quote: self.quote.or(base.quote),
            decimal: self.decimal.or(base.decimal),
            thousands: self.thousands.or(base.thousands),
            null: self.null.or(base.null),
            date_format: self.date_format.or(base.date_format),
            trim: self.trim.or(base.trim),
            units: self.units.or(base.units),
            encoding: self.encoding.or(base.encoding),
        }
    }

    /// Whether no option is set.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the set options, in the form for [`Dialect::set_list`].
    #[must_use]
    pub fn options(&self) -> Vec<(&'static str, Vec<String>)> {
        let shown = |byte: u8| if byte == b'\t' { "tab".to_owned() } else { char::from(byte).to_string() };
        let truth = |truth: bool| if truth { "yes" } else { "no" }.to_owned();
        let mut all = vec![];
        let mut put = |name, value: Option<Vec<String>>| all.extend(value.map(|value| (name, value)));
        put(
            "separator",
            self.separator.map(|separator| {
                vec![match separator {
                    Separator::Auto => "auto".to_owned(),
                    Separator::Byte(byte) => shown(byte),
                }]
            }),
        );
        put(
            "header",
            self.header.map(|header| {
                vec![match header {
                    HeaderRow::Auto => "auto".to_owned(),
                    HeaderRow::Yes => truth(true),
                    HeaderRow::No => truth(false),
                }]
            }),
        );
        put(
            "quote",
            self.quote.map(|quote| {
                vec![match quote {
                    Quote::None => "none".to_owned(),
                    Quote::Byte(byte) => shown(byte),
                }]
            }),
        );
        put("decimal", self.decimal.map(|mark| vec![mark.to_string()]));
        put(
            "thousands",
            self.thousands.map(|mark| vec![if mark == ' ' { "space".to_owned() } else { mark.to_string() }]),
        );
        put("null", self.null.clone());
        put(
            "date-format",
            self.date_format.as_ref().map(|all| all.iter().map(|format| format.text().to_owned()).collect()),
        );
        put("trim", self.trim.map(|trim| vec![truth(trim)]));
        put("units", self.units.map(|units| vec![truth(units)]));
        put("encoding", self.encoding.map(|encoding| vec![encoding.name().to_owned()]));
        all
    }

    pub(crate) fn separator(&self) -> Separator {
        self.separator.unwrap_or(Separator::Auto)
    }

    pub(crate) fn header(&self) -> Option<HeaderRow> {
        self.header
    }

    pub(crate) fn quote(&self) -> Option<u8> {
        match self.quote {
            None => Some(b'"'),
            Some(Quote::None) => None,
            Some(Quote::Byte(byte)) => Some(byte),
        }
    }

    pub(crate) fn encoding(&self) -> Option<Encoding> {
        self.encoding.filter(|encoding| *encoding != Encoding::Auto)
    }

    pub(crate) fn decimal_mark(&self) -> char {
        self.decimal.unwrap_or('.')
    }

    /// Whether blanks around fields are dropped.
    #[must_use]
    pub fn trims(&self) -> bool {
        self.trim.unwrap_or(true)
    }

    /// Returns a field without surrounding blanks, if these are dropped.
    #[must_use]
    pub fn trimmed<'f>(&self, field: &'f str) -> &'f str {
        if self.trims() { field.trim() } else { field }
    }

    /// Whether a field means NULL: it is empty, or one of the words. Surrounding blanks do not
    /// count if they are dropped.
    #[must_use]
    pub fn is_null(&self, field: &str) -> bool {
        let field = self.trimmed(field);
        field.is_empty() || self.is_null_word(field)
    }

    /// Whether a field is one of the words that mean NULL.
    #[must_use]
    pub fn is_null_word(&self, field: &str) -> bool {
        let words = self.null.as_deref().unwrap_or_default();
        !words.is_empty() && words.iter().any(|word| word == self.trimmed(field))
    }

    /// Returns a number with a decimal point and no other marks, as programs write it. `None` if
    /// the field is not a number of this dialect. Without options, any field is passed on, with a
    /// hyphen for the sign U+2212.
    #[must_use]
    pub fn number<'f>(&self, field: &'f str) -> Option<Cow<'f, str>> {
        let units = self.units.unwrap_or(false);
        if self.decimal_mark() == '.' && self.thousands.is_none() && !units {
            let minus = field.strip_prefix('\u{2212}').map(|size| Cow::Owned(format!("-{size}")));
            return Some(minus.unwrap_or(Cow::Borrowed(field)));
        }
        let mut text = field.trim();
        let mut negative = false;
        if units && let Some(inner) = text.strip_prefix('(').and_then(|text| text.strip_suffix(')')) {
            (text, negative) = (inner.trim(), true);
        } else if units && let Some(size) = text.strip_suffix(['-', '\u{2212}']) {
            // The notation of SAP.
            (text, negative) = (size.trim_end(), true);
        }
        let (mut sign, rest) = signed(text);
        text = rest;
        if units {
            text = without_unit(text);
            if sign.is_empty() {
                (sign, text) = signed(text);
            }
        }
        if negative {
            if !sign.is_empty() {
                return None;
            }
            sign = "-";
        }
        let (mantissa, exponent) = match text.find(['e', 'E']) {
            Some(at) => text.split_at(at),
            None => (text, ""),
        };
        let (whole, behind) = match mantissa.split_once(self.decimal_mark()) {
            Some((whole, behind)) => (whole, Some(behind)),
            None => (mantissa, None),
        };
        let is_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
        let whole = self.ungrouped(whole)?;
        if !is_digits(behind.unwrap_or_default())
            || whole.is_empty() && behind.unwrap_or_default().is_empty()
            || !exponent.is_empty() && !is_digits(exponent[1..].trim_start_matches(['+', '-']))
        {
            return None;
        }
        let mut number = format!("{sign}{whole}");
        if let Some(behind) = behind {
            number.push('.');
            number.push_str(behind);
        }
        number.push_str(exponent);
        Some(Cow::Owned(number))
    }

    /// Digits without the marks between groups of three; `None` if groups have other lengths.
    fn ungrouped(&self, whole: &str) -> Option<String> {
        let is_mark = |c: char| match self.thousands {
            Some(' ') => matches!(c, ' ' | '\u{a0}' | '\u{202f}' | '\u{2009}'),
            Some('\'') => matches!(c, '\'' | '\u{2019}'),
            mark => Some(c) == mark,
        };
        let groups: Vec<&str> = whole.split(is_mark).collect();
        let is_digits = groups.iter().all(|group| group.bytes().all(|b| b.is_ascii_digit()));
        let is_grouped = match &groups[..] {
            [_] => true,
            [first, rest @ ..] => (1..=3).contains(&first.len()) && rest.iter().all(|group| group.len() == 3),
            [] => false,
        };
        (is_digits && is_grouped).then(|| groups.concat())
    }

    /// Returns a date or a time in ISO 8601, by the first format that fits, or the field itself.
    #[must_use]
    pub fn moment<'f>(&self, field: &'f str) -> Cow<'f, str> {
        let formats = self.date_format.as_deref().unwrap_or_default();
        let found = formats.iter().find_map(|format| format.read(field.trim()));
        match found {
            Some(iso) => Cow::Owned(iso),
            // A date that no format of this order fits must not be read in another order.
            None if formats.iter().any(DateFormat::begins_like_iso) => Cow::Borrowed(""),
            None => Cow::Borrowed(field),
        }
    }
}

fn signed(text: &str) -> (&str, &str) {
    match text.as_bytes().first() {
        Some(b'-' | b'+') => (&text[..1], text[1..].trim_start()),
        _ if text.starts_with('\u{2212}') => ("-", text['\u{2212}'.len_utf8()..].trim_start()),
        _ => ("", text),
    }
}

/// The signs and codes of currencies, and the percent sign.
const UNITS: [&str; 38] = [
    "$", "€", "£", "¥", "₹", "₩", "₽", "₺", "₴", "₪", "₫", "฿", "¢", "%", "‰", "EUR", "USD", "CHF", "GBP",
    "JPY", "CNY", "SEK", "NOK", "DKK", "PLN", "CZK", "HUF", "CAD", "AUD", "NZD", "INR", "BRL", "MXN", "ZAR",
    "Fr.", "SFr.", "kr", "zł",
];

/// A number without a unit before or after it.
fn without_unit(text: &str) -> &str {
    let front = UNITS.iter().find_map(|unit| text.strip_prefix(unit)).unwrap_or(text).trim_start();
    UNITS.iter().find_map(|unit| front.strip_suffix(unit)).unwrap_or(front).trim_end()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dialect(options: &[(&str, &str)]) -> Dialect {
        let mut dialect = Dialect::default();
        for (name, value) in options {
            dialect.set(name, value).unwrap_or_else(|e| panic!("{name}: {e}"));
        }
        dialect
    }

    #[test]
    fn numbers_are_read_by_their_marks_alone() {
        let german = dialect(&[("decimal", ","), ("thousands", ".")]);
        for (field, number) in [
            ("1.234,50", Some("1234.50")),
            ("-12", Some("-12")),
            (" 1.234.567 ", Some("1234567")),
            (",5", Some(".5")),
            ("3,", Some("3.")),
            ("1,5e3", Some("1.5e3")),
            // A point that does not separate thousands would be a decimal point.
            ("1.5", None),
            ("12.34,5", None),
            ("1234.567", None),
            ("1,2,3", None),
            ("", None),
            ("-", None),
            ("e5", None),
            ("n/a", None),
        ] {
            assert_eq!(german.number(field).as_deref(), number, "{field:?}");
        }
        let french = dialect(&[("decimal", "comma"), ("thousands", "space")]);
        assert_eq!(french.number("12\u{202f}345,6").as_deref(), Some("12345.6"));
        let swiss = dialect(&[("thousands", "apostrophe"), ("units", "yes")]);
        for (field, number) in [
            ("CHF 1'234.50", Some("1234.50")),
            ("1\u{2019}234.50 CHF", Some("1234.50")),
            ("-$5", Some("-5")),
            ("$-5", Some("-5")),
            ("($1'000)", Some("-1000")),
            ("12.5 %", Some("12.5")),
            ("\u{2212}3%", Some("-3")),
            ("1'234.50-", Some("-1234.50")),
            ("CHF 5 -", Some("-5")),
            ("-3-", None),
            ("-", None),
            ("--3", None),
            ("(-3)", None),
            ("EUR", None),
            ("12 kg", None),
        ] {
            assert_eq!(swiss.number(field).as_deref(), number, "{field:?}");
        }
        assert_eq!(Dialect::default().number("anything").as_deref(), Some("anything"));
        assert_eq!(Dialect::default().number("\u{2212}12.5").as_deref(), Some("-12.5"));
    }

    #[test]
    fn words_for_null_are_exact_but_for_blanks() {
        let words = dialect(&[("null", "NA, n/a")]);
        for (field, null) in [("", true), (" NA ", true), ("n/a", true), ("na", false), ("NAN", false)] {
            assert_eq!(words.is_null(field), null, "{field:?}");
        }
        let exact = dialect(&[("null", "NA"), ("trim", "no")]);
        assert!(exact.is_null("NA") && !exact.is_null(" NA") && exact.trimmed(" x ") == " x ");
    }

    #[test]
    fn options_are_written_as_they_are_read() {
        let all = [
            ("separator", "tab"),
            ("header", "no"),
            ("quote", "none"),
            ("decimal", ","),
            ("thousands", "space"),
            ("null", "NA,-"),
            ("date-format", "%d.%m.%Y,%m/%d/%y"),
            ("trim", "no"),
            ("units", "yes"),
            ("encoding", "latin1"),
        ];
        let (first, mut again) = (dialect(&all), Dialect::default());
        for (name, values) in first.options() {
            again.set_list(name, &values.iter().map(String::as_str).collect::<Vec<_>>()).unwrap();
        }
        assert_eq!(first, again);
        assert_eq!(first.options().len(), DIALECT_OPTIONS.len());
        assert!(DIALECT_OPTIONS.iter().zip(first.options()).all(|(option, (name, _))| option.name == name));
        assert_eq!(Dialect::default().over(&first), first);
        assert_eq!(dialect(&[("trim", "yes")]).over(&first).trim, Some(true));
    }

    #[test]
    fn other_values_are_refused() {
        for (name, value) in [
            ("separator", "::"),
            ("separator", "\""),
            ("separator", "é"),
            ("header", "maybe"),
            ("quote", "x"),
            ("decimal", ";"),
            ("thousands", "x"),
            ("thousands", "."),
            ("date-format", "%Q"),
            ("trim", "1"),
            ("encoding", "ebcdic"),
            ("colour", "red"),
        ] {
            assert!(Dialect::default().set(name, value).is_err(), "{name} {value}");
        }
        assert!(Dialect::default().set_list("decimal", &[",", "."]).is_err());
    }
}
