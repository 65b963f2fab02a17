//! The SQL function STRPTIME.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, by_owners,
    calendar::{MONTHS, WEEKDAYS, days, month_days},
    text::{self, checked, of_public, public, shown, value},
};
use crate::algebra::{ColumnType, DAY, ExprType, Value};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["strptime", "try_strptime", "str_to_date"],
    arity: 2..=2,
    usage: "STRPTIME(text, '%d.%m.%Y')",
    gives: "TIMESTAMP; DATE of STR_TO_DATE where the format has no time",
    doc: "the time that a text is in a format, a literal with %Y %y %m %d %H %I %M %S %f %b %B %a %A %p %j and %%; NULL where it is none; STR_TO_DATE has the codes of MySQL",
    example: "STRPTIME('29.02.2024', '%d.%m.%Y')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&STRPTIME, |of, arguments| {
        let mut format = text::literal(arguments, 1)?;
        let is_mysql = arguments.name == "str_to_date";
        if is_mysql {
            format = of_mysql(&format);
        }
        // Zeros at the front may be there or not.
        let format = plain(&format);
        let codes = codes(&format);
        if let Some(unknown) = codes.iter().find(|code| !b"YymdHIMSfbBaApj%".contains(code)) {
            return Err(arguments.unsupported(
                &format!("{} with the code %{}", arguments.name.to_uppercase(), char::from(*unknown)),
                "write codes of %Y %y %m %d %H %I %M %S %f %b %B %a %A %p %j and %%, as in '%d.%m.%Y %H:%M'",
            ));
        }
        let time = !is_mysql || codes.iter().any(|code| b"HIMSfp".contains(code));
        let all = [vec![i128::from(time)], public(&format)].concat();
        Ok(of.call(vec![text::text(arguments.all[0].clone())], all))
    }),
};

/// A format without the signs of codes such as %-d.
fn plain(format: &[u8]) -> Vec<u8> {
    let (mut made, mut rest) = (vec![], format);
    while let [first, behind @ ..] = rest {
        made.push(*first);
        rest = behind;
        if let (b'%', Some((code, behind))) = (first, behind.split_first()) {
            rest = behind;
            match (code, behind.split_first()) {
                (b'-', Some((code, behind))) => {
                    made.push(*code);
                    rest = behind;
                }
                _ => made.push(*code),
            }
        }
    }
    made
}

/// The codes of a format.
fn codes(format: &[u8]) -> Vec<u8> {
    let (mut found, mut rest) = (vec![], format);
    while let [first, behind @ ..] = rest {
        rest = behind;
        if let (b'%', Some((code, behind))) = (first, behind.split_first()) {
            found.push(*code);
            rest = behind;
        }
    }
    found
}

/// Translates a format of MySQL to the codes of C.
pub(super) fn of_mysql(format: &[u8]) -> Vec<u8> {
    let (mut made, mut rest) = (vec![], format);
    while let [first, behind @ ..] = rest {
        rest = behind;
        let (b'%', Some((code, behind))) = (first, behind.split_first()) else {
            made.push(*first);
            continue;
        };
        rest = behind;
        match code {
            b'i' => made.extend(b"%M"),
            b'M' => made.extend(b"%B"),
            b's' => made.extend(b"%S"),
            b'W' => made.extend(b"%A"),
            b'T' => made.extend(b"%H:%M:%S"),
            b'c' => made.extend(b"%-m"),
            b'e' => made.extend(b"%-d"),
            b'k' => made.extend(b"%-H"),
            b'l' => made.extend(b"%-I"),
            b'h' => made.extend(b"%I"),
            b'r' => made.extend(b"%I:%M:%S %p"),
            other => made.extend([b'%', *other]),
        }
    }
    made
}

static STRPTIME: Primitive = Primitive {
    name: "STRPTIME",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| {
        checked(operands, 0)?;
        let ty = if operands.public[0] == 1 { ColumnType::Timestamp } else { ColumnType::Date };
        Ok(ExprType { ty, nullable: true, range: ty.range() })
    },
    plain: |typed, values| {
        let format = of_public(&typed.operands.public[1..]);
        let made = read(value(&values, 0), &format);
        let unit = if typed.operands.public[0] == 1 { 1 } else { DAY };
        made.map_or(Value::Null, |micros| Value::Number(micros.div_euclid(unit)))
    },
    lower: by_owners,
    shown: |of, operands, public| shown(of, operands, &public[1..]),
};

/// The number in up to `most` digits at the front, and the rest of the text.
fn digits(text: &[u8], most: usize) -> Option<(i128, &[u8])> {
    let count = text.iter().take(most).take_while(|byte| byte.is_ascii_digit()).count();
    let number = std::str::from_utf8(&text[..count]).ok()?.parse().ok()?;
    Some((number, &text[count..]))
}

/// The index of the name at the front, whole or abbreviated to three letters, and the rest of the
/// text.
fn named<'t>(text: &'t [u8], names: &[&str]) -> Option<(i128, &'t [u8])> {
    let begins =
        |name: &str| text.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name.as_bytes()));
    names.iter().enumerate().find_map(|(at, name)| {
        let length = [name.len(), 3].into_iter().find(|length| begins(&name[..*length]))?;
        Some((at as i128, &text[length..]))
    })
}

/// Reads a text in a format, as microseconds since 1970.
fn read(text: &[u8], format: &[u8]) -> Option<i128> {
    let (mut year, mut month, mut day, mut of_year) = (1900, 1, 1, None);
    let (mut hour, mut minute, mut second, mut micros, mut afternoon) = (0, 0, 0, 0, None);
    let (mut text, mut format) = (text.trim_ascii(), format);
    while let [first, behind @ ..] = format {
        format = behind;
        let (b'%', Some((code, behind))) = (first, behind.split_first()) else {
            text = match text.split_first() {
                Some((own, rest)) if own == first => rest,
                _ => return None,
            };
            continue;
        };
        format = behind;
        let mut number = |most: usize| {
            let (number, rest) = digits(text, most)?;
            text = rest;
            Some(number)
        };
        match code {
            b'Y' => year = number(4)?,
            b'y' => {
                let short = number(2)?;
                year = if short < 69 { 2000 + short } else { 1900 + short };
            }
            b'm' => month = number(2)?,
            b'd' => day = number(2)?,
            b'j' => of_year = Some(number(3)?),
            b'H' | b'I' => hour = number(2)?,
            b'M' => minute = number(2)?,
            b'S' => second = number(2)?,
            b'f' => {
                let before = text.len();
                let (found, rest) = digits(text, 6)?;
                micros = found * 10i128.pow(6 - (before - rest.len()) as u32);
                text = rest;
            }
            b'b' | b'B' => {
                let (at, rest) = named(text, &MONTHS)?;
                (month, text) = (at + 1, rest);
            }
            b'a' | b'A' => (_, text) = named(text, &WEEKDAYS)?,
            b'p' => {
                let (at, rest) = named(&[text.get(..2)?, b" "].concat(), &["am ", "pm "])
                    .map(|(at, _)| (at, &text[2..]))?;
                (afternoon, text) = (Some(at == 1), rest);
            }
            _ => text = text.strip_prefix(b"%")?,
        }
    }
    if let Some(afternoon) = afternoon {
        hour =
            if (1..=12).contains(&hour) { hour % 12 + if afternoon { 12 } else { 0 } } else { return None };
    }
    let in_time = hour < 24 && minute < 60 && second < 60;
    if !text.is_empty() || !in_time || !(1..=9999).contains(&year) || !(1..=12).contains(&month) {
        return None;
    }
    if !(1..=month_days(year, month)).contains(&day) {
        return None;
    }
    let date = match of_year {
        None => days(year, month, day),
        Some(n) if (1..=days(year + 1, 1, 1) - days(year, 1, 1)).contains(&n) => days(year, 1, 1) + n - 1,
        Some(_) => return None,
    };
    Some(date * DAY + ((hour * 60 + minute) * 60 + second) * 1_000_000 + micros)
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{ColumnType, DAY, Expr, Value},
        functions::tests::{in_open, refused},
    };

    #[test]
    fn texts_are_read_in_a_format() {
        let text = |text: &str| Expr::literal(Value::text(text), ColumnType::Varchar(60));
        let read = |name: &str, of: &str, format: &str| in_open(name, vec![text(of), text(format)]);
        // The expected days are from `date -u -d …`.
        assert_eq!(read("strptime", "29.02.2024", "%d.%m.%Y"), Value::Number(19_782 * DAY));
        assert_eq!(read("str_to_date", "August 10 2017", "%M %d %Y"), Value::Number(17_388));
        assert_eq!(
            read("str_to_date", "2017/08/10 13:05", "%Y/%m/%d %H:%i"),
            Value::Number(17_388 * DAY + 47_100_000_000)
        );
        assert_eq!(
            read("strptime", "Thu, 10 Aug 17 01:05:09.5 PM", "%a, %d %b %y %I:%M:%S.%f %p"),
            Value::Number(17_388 * DAY + 47_109_500_000)
        );
        assert_eq!(read("strptime", "2017-222", "%Y-%j"), Value::Number(17_388 * DAY));
        for (of, format) in
            [("30.02.2024", "%d.%m.%Y"), ("1.1.24x", "%d.%m.%y"), ("", "%Y"), ("24:00", "%H:%M"), ("x", "%%")]
        {
            assert_eq!(read("strptime", of, format), Value::Null, "{of}");
        }
        assert!(refused("strptime", &[text("1"), text("%Q")]).is_some());
    }
}
