//! Telephone numbers in the form of E.164, by the numbering plans of libphonenumber.

use super::Formed;
use core::{fmt, str::FromStr};
use rlibphonenumber::{PHONE_NUMBER_UTIL, PhoneNumberFormat, Region};
use zeroize::Zeroizing;

/// AGREEMENT: the version of the numbering plans, which must be the same at both parties.
/// Cargo.toml pins the library's version; a test compares the two.
pub(super) const PLANS: &str = "libphonenumber 9.0.42";

/// LOCAL: the largest number of digits of a field. E.164 has 15, plus prefixes; no plan has a
/// longer number.
const MOST_DIGITS: usize = 40;

/// The country whose numbers are written without its code.
///
/// A number is valid if the library says so: `+…` anywhere, the country's own prefix for calls
/// abroad, and national numbers with or without their prefix. A number that begins with 00 and is
/// not valid as written is read with + in place of 00. If both readings are valid and differ, it is
/// unknown which one is meant, and the number is malformed. So is a national number that begins
/// with the digits of the country's code, if it is valid as another number with a + before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Phone {
    code: u16,
    region: Region,
}

impl Phone {
    pub(super) fn apply(self, field: &str, out: &mut String) -> Formed {
        if field.is_empty() {
            return Formed::Empty;
        }
        // Some write (0) after every country's code, even where national numbers do not begin with
        // 0.
        let optional = || self.read(&without_zero(field)?);
        // A link, as RFC 3966 has it.
        let field = field
            .get(..4)
            .filter(|tag| tag.eq_ignore_ascii_case("tel:"))
            .map_or(field, |_| field[4..].trim());
        // Programs that take a column of numbers for floats write 301234567.0.
        let field = field.strip_suffix(".0").filter(|rest| is_digits(rest)).unwrap_or(field);
        match self.read(field).or_else(optional) {
            Some(number) => {
                out.push_str(&number);
                Formed::Text
            }
            None => Formed::Malformed,
        }
    }

    fn read(self, field: &str) -> Option<Zeroizing<String>> {
        let digits = digits(field)?;
        let as_written = self.valid(&digits);
        let code = self.code.to_string();
        let (abroad, zeros) = match digits.strip_prefix("00") {
            // No number begins with +11: 0011 is Australia's prefix for calls abroad.
            Some(rest) if !rest.starts_with("11") => (Zeroizing::new(format!("+{rest}")), true),
            None if digits.starts_with(&code) => (Zeroizing::new(format!("+{}", *digits)), false),
            _ => return as_written,
        };
        match as_written {
            None if zeros => self.valid(&abroad),
            Some(number) if number != abroad && self.valid(&abroad).as_ref() == Some(&abroad) => None,
            as_written => as_written,
        }
    }

    /// The number in the form of E.164, if it is valid.
    fn valid(self, digits: &str) -> Option<Zeroizing<String>> {
        let number = PHONE_NUMBER_UTIL.parse(digits, Some(self.region)).ok()?;
        let valid = PHONE_NUMBER_UTIL.is_valid_number(&number);
        valid.then(|| Zeroizing::new(PHONE_NUMBER_UTIL.format(&number, PhoneNumberFormat::E164).into_owned()))
    }
}

/// Whether a field is digits of ASCII alone, behind a + or not.
fn is_digits(field: &str) -> bool {
    let digits = field.strip_prefix('+').unwrap_or(field);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// A field without its zero in brackets, blanks between them or not; `None` if it has none.
fn without_zero(field: &str) -> Option<Zeroizing<String>> {
    let is_blank = |c: char| c.is_whitespace();
    field.match_indices(['(', '[', '\u{ff08}', '\u{ff3b}']).find_map(|(at, open)| {
        let rest = field[at + open.len()..].trim_start_matches(is_blank);
        let rest = rest.strip_prefix(['0', '\u{ff10}'])?.trim_start_matches(is_blank);
        let rest = rest.strip_prefix([')', ']', '\u{ff09}', '\u{ff3d}'])?;
        Some(Zeroizing::new(format!("{}{rest}", &field[..at])))
    })
}

/// The digits of a field as ASCII, after its +, if the field contains only these and the marks
/// between them. The library would read letters as digits, and E.164 cannot express an extension:
/// both are refused.
fn digits(field: &str) -> Option<Zeroizing<String>> {
    let mut digits = Zeroizing::new(String::with_capacity(MOST_DIGITS));
    for c in field.chars().filter(|c| !is_mark(*c)) {
        if digits.len() == MOST_DIGITS {
            return None;
        }
        match c {
            '0'..='9' => digits.push(c),
            '+' | '\u{ff0b}' if digits.is_empty() => digits.push('+'),
            _ => digits.push(digit(c)?),
        }
    }
    Some(digits)
}

/// A decimal digit of any script.
fn digit(c: char) -> Option<char> {
    let digit =
        c.is_numeric().then(|| PHONE_NUMBER_UTIL.normalize_digits_only(c.encode_utf8(&mut [0; 4])))?;
    digit.chars().next()
}

/// White space, hyphens and dashes, slashes, dots, brackets, and zero-width characters, which come
/// with copies from web pages and address books.
fn is_mark(c: char) -> bool {
    c.is_whitespace()
        || matches!(
            c,
            '-' | '/' | '.' | '(' | ')' | '[' | ']'
            | '\u{2010}'..='\u{2015}' | '\u{2212}' | '\u{30fc}' | '\u{ff0d}'
            | '\u{ff08}' | '\u{ff09}' | '\u{ff0e}' | '\u{ff0f}' | '\u{ff3b}' | '\u{ff3d}'
            | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}'
            | '\u{2060}' | '\u{2066}'..='\u{2069}' | '\u{feff}'
        )
}

impl fmt::Display for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{}", self.code)
    }
}

impl FromStr for Phone {
    type Err = String;

    /// Parses a country's calling code. If several countries share one, it denotes the one that the
    /// library calls the main country.
    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let code = digits.parse().ok().filter(|_: &u16| !digits.starts_with(['0', '+']));
        let code = code.ok_or_else(|| format!("{text:?} is no country code; write it as in phone:+49"))?;
        let region = match code {
            // Reserved for the Vatican City, whose numbers have +39.
            379 => Some(Region::VA),
            _ => PHONE_NUMBER_UTIL.get_region_for_country_code(i32::from(code)),
        };
        match region {
            Some(region) if region != Region::World => Ok(Self { code, region }),
            _ => Err(format!("{text:?} is the code of no country; write one as in phone:+49")),
        }
    }
}

#[cfg(test)]
mod tests;
