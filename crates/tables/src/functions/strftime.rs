//! STRFTIME.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    calendar::{dated, days},
    dates::{self, DatePart},
    strptime::of_mysql,
    text::{self, of_public, public, varchar},
};
use crate::{
    algebra::{ColumnType, DAY, Expr, Value},
    fixed::{Fixed, Wide},
    lower::{
        bytes::{Byte, NOTHING, circuit, constant, digit_byte, digits, equal_bits, kept, letter, or, write},
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
    doc: "the date in a format, a literal with %Y %m %d %H %M %S %f %j %y %b %a %u %w and %%",
    example: "STRFTIME(day, '%d.%m.%Y')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&STRFTIME, |_, arguments| {
        let first = matches!(arguments.all[0], Expr::Literal(Value::Text(_), _));
        let (of, format) = if first { (1, 0) } else { (0, 1) };
        let mut format = text::literal(arguments, format)?;
        if arguments.name == "date_format" {
            format = of_mysql(&format);
        }
        let Some(parts) = parts(&format) else {
            return Err(arguments
                .unsupported("STRFTIME with codes other than %Y %m %d %H %M %S %f %j %y %b %a %u %w", "write these codes, and MONTHNAME or DAYNAME for whole names, as in DAYNAME(d) || STRFTIME(d, ', %d.%m.')"));
        };
        if parts.iter().map(DateText::bytes).sum::<usize>() > 128 {
            return Err(arguments
                .unsupported("STRFTIME with more than 128 characters", "write two formats, joined by ||"));
        }
        Ok(formatted(dated(arguments.all[of].clone(), arguments.reader)?, &format))
    }),
};

/// A date in a format that is known to have parts.
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
        // A literal has one column, too, so that a circuit reads something.
        let mut columns: Vec<Val<'_>> = vec![resized(day.val, 64)];
        for part in &parts {
            columns.extend(part.number(day, time));
        }
        typed.cell(circuit(&columns, |c, bits| {
            let (mut made, mut next) = (vec![], 1);
            for part in &parts {
                let reads = part.reads();
                made.extend(part.bytes_of(c, if reads { &bits[next] } else { &[] }));
                next += usize::from(reads);
            }
            write(&made, bytes)
        }))
    },
    shown: text::shown,
};

/// A part of a format.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum DateText {
    Letter(u8),
    /// %Y, %m, %d, %H, %M, %S, %f, %j, %y, %u or %w.
    Digits(u8),
    /// %b or %a.
    Name(u8),
    /// A point and the digits of a second that are not 0 at the end.
    Fraction,
}

const MONTHS: &[u8] = b"JanFebMarAprMayJunJulAugSepOctNovDec";
const WEEKDAYS: &[u8] = b"SunMonTueWedThuFriSat";

fn parts(format: &[u8]) -> Option<Vec<DateText>> {
    let (mut made, mut rest) = (vec![], format);
    while let Some((first, more)) = rest.split_first() {
        let (part, more) = match (first, more.split_first()) {
            (b'%', Some((code, more))) => {
                let part = match code {
                    b'Y' | b'm' | b'd' | b'H' | b'M' | b'S' | b'f' | b'j' | b'y' | b'u' | b'w' => {
                        DateText::Digits(*code)
                    }
                    b'b' | b'a' => DateText::Name(*code),
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
            DateText::Digits(b'j') | DateText::Name(_) => 3,
            DateText::Digits(_) => 2,
            DateText::Fraction => 7,
        }
    }

    fn reads(&self) -> bool {
        !matches!(self, DateText::Letter(_))
    }

    /// The number that is written, of a day and the microseconds since midnight.
    fn of(&self, day: i128, time: i128) -> i128 {
        let [year, month, of_month] = civil(day).map(i128::from);
        let weekday = (day + 4).rem_euclid(7);
        match self {
            DateText::Letter(_) => 0,
            DateText::Digits(b'Y') => year.clamp(0, 9999),
            DateText::Digits(b'y') => year.clamp(0, 9999) % 100,
            DateText::Digits(b'm') | DateText::Name(b'b') => month,
            DateText::Digits(b'd') => of_month,
            DateText::Digits(b'H') => time / 3_600_000_000,
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
        let three = |all: &[u8], at: i128| all[3 * at as usize..3 * at as usize + 3].to_vec();
        match self {
            DateText::Letter(byte) => vec![*byte],
            DateText::Digits(_) => format!("{n:0width$}", width = self.bytes()).into_bytes(),
            DateText::Name(b'b') => three(MONTHS, n - 1),
            DateText::Name(_) => three(WEEKDAYS, n),
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
        // Days since a Sunday long before.
        let weekday = || {
            let since = resized(day.val, 64) + number(time, 4 + 7 * (1 << 39));
            let far = crate::algebra::Range { low: 0, high: 1 << 43 };
            resized(divided(since, far, Divisor::Known(7)).rest, 64)
        };
        Some(match self {
            DateText::Letter(_) => return None,
            DateText::Digits(b'Y') => year(),
            DateText::Digits(b'y') => rest(year(), 100),
            DateText::Digits(b'm') | DateText::Name(b'b') => in_range(DatePart::Month, 1, 12),
            DateText::Digits(b'd') => in_range(DatePart::Day, 1, 31),
            DateText::Digits(b'H') => whole(3_600_000_000),
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
            DateText::Name(code) => {
                let (names, first) = if *code == b'b' { (MONTHS, 1) } else { (WEEKDAYS, 0) };
                let mut made = vec![NOTHING; 3];
                for (k, name) in names.chunks(3).enumerate() {
                    let is = equal_bits(c, &bits[..4], &constant(k as u64 + first, 4));
                    for (byte, of) in made.iter_mut().zip(name) {
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
        functions::tests::{numbers, values},
    };

    /// As `date -u -d @… +…` writes them.
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
        }
        let times = numbers([Some(0), Some(1_700_000_000_500_000), Some(-1)]);
        let given = [(Column::new("t", ColumnType::Timestamp), times)];
        let expected = ["1970-01-01 00:00:00", "2023-11-14 22:13:20.5", "1969-12-31 23:59:59.999999"];
        assert_eq!(values("to_text", &given, &[]), texts(expected));
        let expected = ["00:00:00 000000", "22:13:20 500000", "23:59:59 999999"];
        assert_eq!(values("strftime", &given, &[format("%H:%M:%S %f")]), texts(expected));
    }
}
