//! Keys that are numbers, dates or bank accounts, in one spelling each. Functions take fields that
//! are not empty, and return whether they are of the form.

use zeroize::Zeroizing;

/// Writes a date as ISO 8601 has it: `2026-01-05`, from `2026-1-5` or a time at midnight, too.
pub(super) fn date(field: &str, out: &mut String) -> bool {
    let day = field.find(['T', ' ']).map_or(Some(field), |at| {
        let time = field[at + 1..].trim_start();
        let time = time.strip_suffix('Z').or_else(|| time.strip_suffix("UTC")).unwrap_or(time).trim_end();
        let parts = || time.split([':', '.']);
        // Programs write a date as midnight of that day; another time is no date.
        let is_midnight = (2..=4).contains(&parts().count())
            && parts().all(|part| !part.is_empty() && part.bytes().all(|digit| digit == b'0'));
        is_midnight.then_some(&field[..at])
    });
    let Some([year, month, day]) = day.and_then(numbers) else { return false };
    if !is_day(year, month, day) {
        return false;
    }
    for (number, width, mark) in [(year, 4, "-"), (month, 2, "-"), (day, 2, "")] {
        let text = Zeroizing::new(number.to_string());
        out.extend(std::iter::repeat_n('0', width - text.len()));
        out.push_str(&text);
        out.push_str(mark);
    }
    true
}

/// The year, month and day of a text such as `2026-1-5`.
fn numbers(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split('-');
    let mut next = |least: usize, most: usize| {
        let part = parts.next()?;
        let is_number = (least..=most).contains(&part.len()) && part.bytes().all(|b| b.is_ascii_digit());
        is_number.then(|| part.parse().ok())?
    };
    let date = [next(4, 4)?, next(1, 2)?, next(1, 2)?];
    parts.next().is_none().then_some(date)
}

/// Whether the Gregorian calendar has this day.
fn is_day(year: u32, month: u32, day: u32) -> bool {
    let is_leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let length = match month {
        2 => 28 + u32::from(is_leap),
        4 | 6 | 9 | 11 => 30,
        1..=12 => 31,
        _ => 0,
    };
    (1..=length).contains(&day)
}

/// Whether a text begins as a day of the calendar, as `2026-01-05 10:00:00` does.
pub(super) fn begins_with_day(text: &str) -> bool {
    let day = text.split(['T', ' ']).next().and_then(numbers);
    day.is_some_and(|[year, month, day]| is_day(year, month, day))
}

/// Writes a number without zeros that change nothing: `7`, from `007`, `+7` or `7.0`.
pub(super) fn number(field: &str, out: &mut String) -> bool {
    let (is_negative, size) = match field.as_bytes() {
        [b'-', ..] => (true, &field[1..]),
        [b'+', ..] => (false, &field[1..]),
        _ => (false, field),
    };
    let (whole, fraction) = size.split_once('.').unwrap_or((size, ""));
    let is_number = [whole, fraction].iter().all(|part| part.bytes().all(|b| b.is_ascii_digit()));
    if !is_number || whole.len() + fraction.len() == 0 {
        return false;
    }
    let (whole, fraction) = (whole.trim_start_matches('0'), fraction.trim_end_matches('0'));
    if is_negative && whole.len() + fraction.len() > 0 {
        out.push('-');
    }
    out.push_str(if whole.is_empty() { "0" } else { whole });
    if !fraction.is_empty() {
        out.push('.');
        out.push_str(fraction);
    }
    true
}

/// LOCAL: the lengths of account numbers: Norway's have 15 characters, and ISO 13616 allows 34.
const LENGTHS: std::ops::RangeInclusive<usize> = 15..=34;

/// Writes an account number (IBAN, ISO 13616) in capitals without blanks and hyphens. It is
/// malformed if its check digits are wrong.
pub(super) fn iban(field: &str, out: &mut String) -> bool {
    for c in field.chars().filter(|c| !is_mark(*c)) {
        // Full-width letters and digits are those of ASCII.
        let c = match c {
            '\u{ff10}'..='\u{ff19}' | '\u{ff21}'..='\u{ff3a}' | '\u{ff41}'..='\u{ff5a}' => {
                char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c)
            }
            c => c,
        };
        if !c.is_ascii_alphanumeric() && c != ':' {
            return false;
        }
        out.push(c.to_ascii_uppercase());
    }
    if out.starts_with("IBAN") {
        out.drain(..4 + usize::from(out[4..].starts_with(':')));
    }
    is_account(out.as_bytes())
}

/// Blanks, hyphens, dots and invisible characters between groups of an account number.
fn is_mark(c: char) -> bool {
    c.is_whitespace()
        || matches!(c, '-' | '.' | '\u{2010}'..='\u{2015}' | '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}')
}

/// Whether a text has the form of an account number, and the right check digits: its characters,
/// from the fifth on and then the first four, are 1 modulo 97 as a number in which A is 10.
fn is_account(text: &[u8]) -> bool {
    let [a, b, c, d, rest @ ..] = text else { return false };
    let has_form = [a, b].iter().all(|letter| letter.is_ascii_uppercase())
        && [c, d].iter().all(|digit| digit.is_ascii_digit())
        && rest.iter().all(u8::is_ascii_alphanumeric)
        && LENGTHS.contains(&text.len());
    let value = |sum: u32, byte: &u8| match byte {
        b'0'..=b'9' => (sum * 10 + u32::from(byte - b'0')) % 97,
        letter => (sum * 100 + u32::from(letter.saturating_sub(b'A')) + 10) % 97,
    };
    has_form && rest.iter().chain(&text[..4]).fold(0, value) == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(form: fn(&str, &mut String) -> bool, field: &str) -> Option<String> {
        let mut out = String::new();
        form(field, &mut out).then_some(out)
    }

    #[test]
    fn dates_have_one_spelling() {
        for (field, expected) in [
            ("2026-01-05", Some("2026-01-05")),
            ("2026-1-5", Some("2026-01-05")),
            ("2026-01-05 00:00:00", Some("2026-01-05")),
            ("2026-01-05T00:00:00.000Z", Some("2026-01-05")),
            ("2026-01-05T00:00", Some("2026-01-05")),
            ("0800-02-29", Some("0800-02-29")),
            ("2000-02-29", Some("2000-02-29")),
            ("1900-02-29", None),
            ("2026-02-30", None),
            ("2026-13-01", None),
            ("2026-00-01", None),
            ("2026-01-05 00:00:01", None),
            ("2026-01-05 ", None),
            ("2026-01-05T0", None),
            ("2026-01-05T00:00:00+02:00", None),
            ("05.01.2026", None),
            ("20260105", None),
            ("26-01-05", None),
            ("2026-01-05-01", None),
            ("2026-01", None),
            ("-2026-01-05", None),
        ] {
            assert_eq!(made(date, field).as_deref(), expected, "{field:?}");
        }
    }

    #[test]
    fn numbers_have_one_spelling() {
        for (field, expected) in [
            ("7", Some("7")),
            ("007", Some("7")),
            ("+7", Some("7")),
            ("7.0", Some("7")),
            ("7.", Some("7")),
            ("-07.50", Some("-7.5")),
            (".5", Some("0.5")),
            ("0", Some("0")),
            ("-0.00", Some("0")),
            ("123456789012345678901234567890", Some("123456789012345678901234567890")),
            // A rounded number is no key, and marks of other spellings need an option.
            ("4.9E+11", None),
            ("1,5", None),
            ("1 000", None),
            ("x7", None),
            (".", None),
            ("-", None),
            ("--7", None),
            ("1.2.3", None),
            ("NaN", None),
        ] {
            assert_eq!(made(number, field).as_deref(), expected, "{field:?}");
        }
    }

    #[test]
    fn account_numbers_have_one_spelling() {
        for (field, expected) in [
            ("DE89 3704 0044 0532 0130 00", Some("DE89370400440532013000")),
            ("de89370400440532013000", Some("DE89370400440532013000")),
            ("IBAN: DE89-3704-0044-0532-0130-00", Some("DE89370400440532013000")),
            ("IBAN DE89\u{a0}3704\u{a0}0044\u{a0}0532\u{a0}0130\u{a0}00", Some("DE89370400440532013000")),
            ("gb82 west 1234 5698 7654 32", Some("GB82WEST12345698765432")),
            ("NO93 8601 1117 947", Some("NO9386011117947")),
            ("MT84MALT011000012345MTLCAST001S", Some("MT84MALT011000012345MTLCAST001S")),
            ("\u{ff24}\u{ff25}89370400440532013000", Some("DE89370400440532013000")),
            // Two digits are exchanged, one is missing, or it is no account number.
            ("DE98370400440532013000", None),
            ("DE8937040044053201300", None),
            ("370400440532013000", None),
            ("DE89:370400440532013000", None),
            ("DE89370400440532013000/1", None),
            ("IBAN", None),
            ("\u{e4}E89370400440532013000", None),
        ] {
            assert_eq!(made(iban, field).as_deref(), expected, "{field:?}");
        }
    }
}
