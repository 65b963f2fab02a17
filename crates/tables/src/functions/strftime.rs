//! The SQL function STRFTIME.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    calendar::{MONTHS, WEEKDAYS, dated, days},
    dates::{self, DatePart},
    strptime::of_mysql,
    text::{self, of_public, public, varchar},
};
use crate::{
    algebra::{ColumnType, DAY, Expr, Value},
    fixed::{Fixed, Wide},
    lower::{
        bytes::{
            Byte, NOTHING, circuit, constant, digit_byte, digits, equal_bits, is_some, kept, letter, or,
            packed, write,
        },
        cell::Cell,
        divide::{Divisor, divided},
        numbers::{number, resized},
    },
    plain::numbers::civil,
};
use hushwire_circuit::{Bit, Builder as Circuits};
use hushwire_compute::Val;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["strftime", "date_format"],
    arity: 2..=2,
    usage: "STRFTIME(date, '%d.%m.%Y')",
    gives: "VARCHAR of the format's length",
    doc: "the date in a format, a literal with %Y %m %d %H %I %M %S %p %f %j %y %b %B %a %A %u %w and %%, and %-d, %-m and so on without zeros",
    example: "STRFTIME(day, '%d.%m.%Y')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&STRFTIME, |_, arguments| {
        let first = matches!(arguments.all[0], Expr::Literal(Value::Text(_), _));
        let (of, format) = if first { (1, 0) } else { (0, 1) };
        let mut format = text::literal(arguments, format)?;
        if arguments.name == "date_format" {
            // %M is the month's name in MySQL, and the minutes everywhere else.
            let has = |codes: &[u8]| format.windows(2).any(|two| two[0] == b'%' && codes.contains(&two[1]));
            if has(b"M") && has(b"HhIkSs") && !has(b"i") {
                return Err(arguments.unsupported(
                    "DATE_FORMAT with %M, the month's name, beside hours or seconds",
                    "write %i for minutes, or STRFTIME, whose %M is minutes",
                ));
            }
            if has(b"uUvVxX") {
                return Err(arguments.unsupported(
                    "DATE_FORMAT with the number of a week",
                    "write EXTRACT(WEEK FROM day), the week of ISO 8601",
                ));
            }
            format = of_mysql(&format);
        }
        let Some(parts) = parts(&format) else {
            return Err(arguments.unsupported(
                "STRFTIME with codes other than %Y %m %d %H %I %M %S %p %f %j %y %b %B %a %A %u %w",
                "write these codes, as in STRFTIME(d, '%A, %d.%m.%Y')",
            ));
        };
        if parts.iter().map(DateText::bytes).sum::<usize>() > 128 {
            return Err(arguments
                .unsupported("STRFTIME with more than 128 characters", "write two formats, joined by ||"));
        }
        Ok(formatted(dated(arguments.all[of].clone(), arguments.reader)?, &format))
    }),
};

/// A date in a format that is known to be valid.
pub(super) fn formatted(of: Expr, format: &[u8]) -> Expr {
    STRFTIME.call(vec![of], public(format))
}

static STRFTIME: Primitive = Primitive {
    name: "STRFTIME",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        let parts = parts(&of_public(operands.public)).unwrap_or_default();
        match operands.types[0].ty {
            ColumnType::Date | ColumnType::Timestamp => Ok(varchar(parts.iter().map(DateText::bytes).sum())),
            _ => Err(operands.refused("give it a DATE or a TIMESTAMP")),
        }
    },
    plain: |typed, values| {
        let Some(n) = values[0].number() else { return Value::Null };
        let unit = if typed.ty(0) == ColumnType::Timestamp { DAY } else { 1 };
        let (day, time) = (n.div_euclid(unit), n.rem_euclid(unit));
        let parts = parts(&of_public(typed.operands.public)).unwrap_or_default();
        Value::Text(parts.iter().flat_map(|part| part.value(day, time)).collect())
    },
    lower: |typed, cells| {
        let parts = parts(&of_public(typed.operands.public)).unwrap_or_default();
        let bytes = text::bytes(typed.own.ty);
        let of = cells[0];
        let day = of.converted(ColumnType::Date);
        let time = match typed.ty(0) {
            ColumnType::Timestamp => {
                resized(of.val, 64) - resized(day.val, 64) * number(resized(of.val, 64), DAY)
            }
            _ => number(resized(of.val, 64), 0),
        };
        // A column is read even for a literal, so that the circuit has an input.
        let mut columns: Vec<Val<'_>> = vec![resized(day.val, 64)];
        for part in &parts {
            columns.extend(part.number(day, time));
        }
        typed.cell(circuit(&columns, |c, bits| {
            let (mut made, mut keep, mut next) = (vec![], vec![], 1);
            for part in &parts {
                let reads = part.reads();
                let own = part.bytes_of(c, if reads { &bits[next] } else { &[] });
                let there = |byte: &Byte| if part.is_short() { Bit::ONE } else { is_some(c, *byte) };
                keep.extend(own.iter().map(there));
                made.extend(own);
                next += usize::from(reads);
            }
            // A shorter part at the end needs no packing.
            let within = parts.iter().rev().skip(1).any(|part| !part.is_short());
            let made = if within { packed(c, &made, &keep) } else { made };
            write(&made, bytes)
        }))
    },
    shown: text::shown,
};

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateText {
    Letter(u8),
    /// %Y, %m, %d, %H, %I, %M, %S, %f, %j, %y, %u or %w.
    Digits(u8),
    /// %-m, %-d, %-H, %-I, %-M, %-S, %-j or %-y: without zeros at the front.
    Short(u8),
    /// %b, %B, %a, %A or %p.
    Name(u8),
    /// A point and the digits of the second's fraction, without zeros at the end.
    Fraction,
}

/// The names of a code, and the number of the first one.
fn names(code: u8) -> (Vec<&'static str>, i128) {
    let short = |all: &[&'static str]| all.iter().map(|name| &name[..3]).collect();
    match code {
        b'b' => (short(&MONTHS), 1),
        b'B' => (MONTHS.to_vec(), 1),
        b'a' => (short(&WEEKDAYS), 0),
        b'A' => (WEEKDAYS.to_vec(), 0),
        _ => (vec!["AM", "PM"], 0),
    }
}

fn parts(format: &[u8]) -> Option<Vec<DateText>> {
    let (mut made, mut rest) = (vec![], format);
    while let Some((first, more)) = rest.split_first() {
        let (part, more) = match (first, more.split_first()) {
            (b'%', Some((b'-', more))) => {
                let (code, more) = more.split_first()?;
                (DateText::Short(*b"mdHIMSjy".iter().find(|short| *short == code)?), more)
            }
            (b'%', Some((code, more))) => {
                let part = match code {
                    b'Y' | b'm' | b'd' | b'H' | b'I' | b'M' | b'S' | b'f' | b'j' | b'y' | b'u' | b'w' => {
                        DateText::Digits(*code)
                    }
                    b'b' | b'B' | b'a' | b'A' | b'p' => DateText::Name(*code),
                    b'.' => DateText::Fraction,
                    b'%' => DateText::Letter(b'%'),
                    _ => return None,
                };
                (part, more)
            }
            (b'%', None) => return None,
            (other, _) => (DateText::Letter(*other), more),
        };
        made.push(part);
        rest = more;
    }
    Some(made)
}

impl DateText {
    fn bytes(&self) -> usize {
        match self {
            DateText::Letter(_) | DateText::Digits(b'u' | b'w') => 1,
            DateText::Digits(b'Y') => 4,
            DateText::Digits(b'f') => 6,
            DateText::Digits(b'j') => 3,
            DateText::Digits(_) => 2,
            DateText::Short(code) => DateText::Digits(*code).bytes(),
            DateText::Name(code) => names(*code).0.iter().map(|name| name.len()).max().unwrap_or(0),
            DateText::Fraction => 7,
        }
    }

    /// Whether the part has the same number of bytes for all times.
    fn is_short(&self) -> bool {
        !matches!(self, DateText::Name(b'B' | b'A') | DateText::Fraction | DateText::Short(_))
    }

    fn reads(&self) -> bool {
        !matches!(self, DateText::Letter(_))
    }

    /// The number to write, from a day and the microseconds since midnight.
    fn of(&self, day: i128, time: i128) -> i128 {
        let [year, month, of_month] = civil(day);
        let weekday = (day + 4).rem_euclid(7);
        match self {
            DateText::Letter(_) => 0,
            DateText::Short(code) => DateText::Digits(*code).of(day, time),
            DateText::Digits(b'Y') => year.clamp(0, 9999),
            DateText::Digits(b'y') => year.clamp(0, 9999) % 100,
            DateText::Digits(b'm') | DateText::Name(b'b' | b'B') => month,
            DateText::Digits(b'd') => of_month,
            DateText::Digits(b'H') => time / 3_600_000_000,
            DateText::Digits(b'I') => (time / 3_600_000_000 + 11) % 12 + 1,
            DateText::Name(b'p') => time / 43_200_000_000,
            DateText::Digits(b'M') => time / 60_000_000 % 60,
            DateText::Digits(b'S') => time / 1_000_000 % 60,
            DateText::Digits(b'f') | DateText::Fraction => time % 1_000_000,
            DateText::Digits(b'j') => day - days(year, 1, 1) + 1,
            DateText::Digits(b'u') => (weekday + 6) % 7 + 1,
            DateText::Digits(_) | DateText::Name(_) => weekday,
        }
    }

    fn value(&self, day: i128, time: i128) -> Vec<u8> {
        let n = self.of(day, time);
        match self {
            DateText::Letter(byte) => vec![*byte],
            DateText::Digits(_) => format!("{n:0width$}", width = self.bytes()).into_bytes(),
            DateText::Short(_) => n.to_string().into_bytes(),
            DateText::Name(code) => {
                let (names, first) = names(*code);
                names[(n - first) as usize].as_bytes().to_vec()
            }
            DateText::Fraction if n == 0 => vec![],
            DateText::Fraction => format!(".{n:06}").trim_end_matches('0').as_bytes().to_vec(),
        }
    }

    /// The number on shares.
    fn number<'b>(&self, day: Cell<'b>, time: Val<'b>) -> Option<Val<'b>> {
        let in_range = |part: DatePart, low, high| {
            let range = crate::algebra::Range { low, high };
            resized(dates::part(part, day, range), 64)
        };
        let all = crate::algebra::Range { low: 0, high: DAY };
        let whole = |by: i128| resized(divided(time, all, Divisor::Known(by)).whole, 64);
        let rest = |of: Val<'b>, by: i128| resized(divided(of, all, Divisor::Known(by)).rest, 64);
        let least = |part| dates::range(part, day.range);
        let year = || {
            let range = least(DatePart::Year);
            let year = in_range(DatePart::Year, range.low, range.high);
            let b = year.builder();
            let year = b.select(year.less(number(year, 0)), number(year, 0), year);
            b.select(year.less(number(year, 9999)), year, number(year, 9999))
        };
        // The number of days since a Sunday long ago.
        let weekday = || {
            let since = resized(day.val, 64) + number(time, 4 + 7 * (1 << 39));
            let far = crate::algebra::Range { low: 0, high: 1 << 43 };
            resized(divided(since, far, Divisor::Known(7)).rest, 64)
        };
        Some(match self {
            DateText::Letter(_) => return None,
            DateText::Short(code) => return DateText::Digits(*code).number(day, time),
            DateText::Digits(b'Y') => year(),
            DateText::Digits(b'y') => rest(year(), 100),
            DateText::Digits(b'm') | DateText::Name(b'b' | b'B') => in_range(DatePart::Month, 1, 12),
            DateText::Digits(b'd') => in_range(DatePart::Day, 1, 31),
            DateText::Digits(b'H') => whole(3_600_000_000),
            DateText::Digits(b'I') => {
                let ahead = whole(3_600_000_000) + number(time, 11);
                rest(ahead, 12) + number(time, 1)
            }
            DateText::Name(b'p') => whole(43_200_000_000),
            DateText::Digits(b'M') => rest(whole(60_000_000), 60),
            DateText::Digits(b'S') => rest(whole(1_000_000), 60),
            DateText::Digits(b'f') | DateText::Fraction => rest(time, 1_000_000),
            DateText::Digits(b'j') => {
                let range = least(DatePart::Year);
                let year = Wide(in_range(DatePart::Year, range.low, range.high));
                let first = days(year, year.same(1), year.same(1));
                resized(day.val, 64) - first.0 + number(time, 1)
            }
            DateText::Digits(b'u') => {
                let weekday = weekday();
                let b = weekday.builder();
                b.select(weekday.equals(number(weekday, 0)), number(weekday, 7), weekday)
            }
            DateText::Digits(_) | DateText::Name(_) => weekday(),
        })
    }

    fn bytes_of(&self, c: &mut Circuits, bits: &[Bit]) -> Vec<Byte> {
        match self {
            DateText::Letter(byte) => vec![letter(*byte)],
            DateText::Digits(_) => {
                let width = (self.bytes() * 10).div_ceil(3).min(bits.len());
                digits(c, &bits[..width], self.bytes()).into_iter().map(digit_byte).collect()
            }
            DateText::Short(code) => {
                let mut made = DateText::Digits(*code).bytes_of(c, bits);
                let (mut some, last) = (Bit::ZERO, made.len() - 1);
                for byte in &mut made[..last] {
                    // The low bits of a digit are the number itself.
                    some = byte[..4].iter().fold(some, |some, bit| or(c, some, *bit));
                    *byte = kept(c, some, *byte);
                }
                made
            }
            DateText::Name(code) => {
                let (names, first) = names(*code);
                let mut made = vec![NOTHING; self.bytes()];
                for (k, name) in names.iter().enumerate() {
                    let is = equal_bits(c, &bits[..4], &constant(k as u64 + first as u64, 4));
                    for (byte, of) in made.iter_mut().zip(name.as_bytes()) {
                        let put = kept(c, is, letter(*of));
                        *byte = core::array::from_fn(|i| c.xor(byte[i], put[i]));
                    }
                }
                made
            }
            DateText::Fraction => {
                let all = digits(c, &bits[..20.min(bits.len())], 6);
                let mut made = vec![];
                let mut some = Bit::ZERO;
                for digit in all.iter().rev() {
                    for bit in digit {
                        some = or(c, some, *bit);
                    }
                    made.insert(0, kept(c, some, digit_byte(*digit)));
                }
                made.insert(0, kept(c, some, letter(b'.')));
                made
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Value},
        functions::tests::{numbers, refused, values},
    };
    use hushwire_fault::code;

    #[test]
    fn minutes_of_mysql_are_not_its_months() {
        let ty = ColumnType::Varchar(40);
        let time = Expr::literal(Value::Number(0), ColumnType::Timestamp);
        let of = |format: &str| [time.clone(), Expr::literal(Value::text(format), ty)];
        let made = refused("date_format", &of("%H:%M")).unwrap();
        assert_eq!(made.code(), code::SQL_UNSUPPORTED, "{made}");
        assert!(refused("date_format", &of("%H:%i, %M")).is_none());
        // %u is a week in MySQL, and a weekday everywhere else.
        assert!(refused("date_format", &of("%Y-%u")).is_some() && refused("strftime", &of("%u")).is_none());
    }

    /// The expected texts are from `date -u -d @… +…`.
    #[test]
    fn formats() {
        let format = |text: &str| Expr::literal(Value::text(text), ColumnType::Varchar(40));
        let texts = |all: [&str; 3]| -> Vec<Value> { all.map(Value::text).to_vec() };
        let days = numbers([Some(0), Some(19_782), Some(-1)]);
        for column in
            [Column::new("d", ColumnType::Date), Column::new("d", ColumnType::Date).within(-5, 20_000)]
        {
            let given = [(column, days.clone())];
            let made = values("strftime", &given, &[format("%a %d.%m.%Y, %b %j %u%w %y%%")]);
            let expected = [
                "Thu 01.01.1970, Jan 001 44 70%",
                "Thu 29.02.2024, Feb 060 44 24%",
                "Wed 31.12.1969, Dec 365 33 69%",
            ];
            assert_eq!(made, texts(expected));
            assert_eq!(values("to_text", &given, &[]), texts(["1970-01-01", "2024-02-29", "1969-12-31"]));
            let made = values("strftime", &given, &[format("%A, %d %B %Y")]);
            let expected =
                ["Thursday, 01 January 1970", "Thursday, 29 February 2024", "Wednesday, 31 December 1969"];
            assert_eq!(made, texts(expected));
            assert_eq!(
                values("strftime", &given, &[format("%B")]),
                texts(["January", "February", "December"])
            );
            let made = values("date_format", &given, &[format("%W, %e %M")]);
            assert_eq!(made[1], Value::text("Thursday, 29 February"));
            let made = values("strftime", &given, &[format("%-d/%-m/%-y, %-j.")]);
            assert_eq!(made, texts(["1/1/70, 1.", "29/2/24, 60.", "31/12/69, 365."]));
            // MySQL's %c and %e have no zeros at the front.
            let made = values("date_format", &given, &[format("%e.%c.%Y")]);
            assert_eq!(made, texts(["1.1.1970", "29.2.2024", "31.12.1969"]));
        }
        let times = numbers([Some(0), Some(1_700_000_000_500_000), Some(-1)]);
        let given = [(Column::new("t", ColumnType::Timestamp), times)];
        let expected = ["1970-01-01 00:00:00", "2023-11-14 22:13:20.5", "1969-12-31 23:59:59.999999"];
        assert_eq!(values("to_text", &given, &[]), texts(expected));
        let expected = ["12:00 AM", "10:13 PM", "11:59 PM"];
        assert_eq!(values("strftime", &given, &[format("%I:%M %p")]), texts(expected));
        let expected = ["0:0:0 12", "22:13:20 10", "23:59:59 11"];
        assert_eq!(values("strftime", &given, &[format("%-H:%-M:%-S %-I")]), texts(expected));
        assert_eq!(values("date_format", &given, &[format("%k:%i:%s %l")])[0], Value::text("0:00:00 12"));
        let expected = ["00:00:00 000000", "22:13:20 500000", "23:59:59 999999"];
        assert_eq!(values("strftime", &given, &[format("%H:%M:%S %f")]), texts(expected));
    }
}
