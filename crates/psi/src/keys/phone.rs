//! Telephone numbers as ITU-T E.164 writes them: + and up to 15 digits, the country's code first.

use super::Formed;
use core::{fmt, str::FromStr};

/// LOCAL to the form, and so agreed with it: digits of a number, its country code among them.
const DIGITS: core::ops::RangeInclusive<usize> = 6..=15;

/// The country whose numbers are written without its code.
///
/// `+…` and `00…` are numbers with a code (`011…` where the country is +1). Of others one leading 0 is dropped and the code put
/// first; +39 and +378 keep the 0, which belongs to their numbers. With +1, eleven digits that begin with 1 have their code, and
/// with +7, eleven that begin with 8 have that in its place. Nothing else is known of numbering plans. Blanks, hyphens, dots,
/// slashes and brackets are dropped, and `(0)` behind a code with them; anything else makes a number malformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Phone {
    code: u16,
}

impl Phone {
    pub(super) fn apply(self, field: &str, out: &mut String) -> Formed {
        if field.is_empty() {
            return Formed::Empty;
        }
        let digits = out;
        let international = field.starts_with('+') || field.starts_with("(+");
        let field = if international { field.replace("(0)", "") } else { field.to_owned() };
        let number = field.strip_prefix("(+").or_else(|| field.strip_prefix('+')).unwrap_or(&field);
        for c in number.chars() {
            match c {
                '0'..='9' => digits.push(c),
                ' ' | '\u{a0}' | '\u{202f}' | '-' | '\u{2010}' | '\u{2011}' | '\u{2013}' | '.' | '/'
                | '(' | ')' => {}
                _ => return malformed(digits),
            }
        }
        let abroad = if self.code == 1 { "011" } else { "00" };
        let code = self.code.to_string();
        let coded = international || (self.code == 1 && digits.len() == 11 && digits.starts_with('1'));
        if coded {
            // As it stands.
        } else if digits.starts_with(abroad) {
            digits.replace_range(..abroad.len(), "");
        } else if self.code == 7 && digits.len() == 11 && digits.starts_with('8') {
            digits.replace_range(..1, "7");
        } else {
            if digits.starts_with('0') && !matches!(self.code, 39 | 378) {
                digits.remove(0);
            }
            digits.insert_str(0, &code);
        }
        if !DIGITS.contains(&digits.len()) || digits.starts_with('0') {
            return malformed(digits);
        }
        digits.insert(0, '+');
        Formed::Text
    }
}

fn malformed(out: &mut String) -> Formed {
    out.clear();
    Formed::Malformed
}

impl fmt::Display for Phone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "+{}", self.code)
    }
}

impl FromStr for Phone {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let digits = text.strip_prefix('+').unwrap_or(text);
        let code =
            digits.parse().ok().filter(|code| (1..=999).contains(code) && !digits.starts_with(['0', '+']));
        let code = code.ok_or_else(|| format!("{text:?} is no country code; write it as in phone:+49"))?;
        Ok(Self { code })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_written_with_their_country() {
        for (code, field, expected) in [
            ("49", "+49 30 123456", "+4930123456"),
            ("49", "0049-30-123456", "+4930123456"),
            ("49", "030 / 12 34 56", "+4930123456"),
            ("49", "(030) 123456", "+4930123456"),
            ("49", "+49 (0)30 123456", "+4930123456"),
            ("49", "(+49) 30 123456", "+4930123456"),
            ("49", "30123456", "+4930123456"),
            ("49", "+1 202 555 0123", "+12025550123"),
            ("1", "(202) 555-0123", "+12025550123"),
            ("1", "1-202-555-0123", "+12025550123"),
            ("1", "011 49 30 123456", "+4930123456"),
            ("39", "06 1234 5678", "+390612345678"),
            ("7", "8 (495) 123-45-67", "+74951234567"),
            ("44", "020 7946 0000", "+442079460000"),
            ("49", "12", ""),
            ("49", "030 123456 x7", ""),
            ("49", "ask Ann", ""),
            ("49", "+49 30 + 1", ""),
            ("49", "++49 30 123456", ""),
            ("49", "(++49) 30 123456", ""),
            ("49", "0+30 123456", ""),
            ("49", "+1234567890123456", ""),
            ("49", "+0301234567", ""),
            ("49", "00", ""),
        ] {
            let phone: Phone = code.parse().unwrap_or_else(|e| panic!("{e}"));
            let mut out = String::new();
            let formed = phone.apply(field, &mut out);
            assert_eq!((formed == Formed::Text, out.as_str()), (!expected.is_empty(), expected), "{field}");
        }
    }
}
