//! CAST of intervals to VARCHAR: `-3 days -06:00:00.5`, in DuckDB's format.

use super::{
    ComputedBy, Primitive,
    text::{self, varchar},
};
use crate::{
    algebra::{ColumnType, DAY, Expr, ExprType, Range, Value, greatest},
    lower::{
        bytes::{
            NOTHING, any, circuit, constant, digit_byte, digits, equal_bits, kept, letter, or, packed, write,
        },
        divide::{Divisor, divided},
        numbers::{mirrored, number, resized, width},
    },
};
use hushwire_circuit::Bit;

/// The text of an interval.
pub(super) fn of(interval: Expr) -> Expr {
    INTERVAL_TEXT.call(vec![interval], vec![])
}

static INTERVAL_TEXT: Primitive = Primitive {
    name: "INTERVAL_TEXT",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| match operands.types[0].ty {
        // Two signs, the word, the time and its fraction.
        ColumnType::Interval => Ok(varchar(1 + day_digits(operands.types[0]) + 5 + 1 + 1 + 8 + 7)),
        _ => Err(operands.refused("give it the difference of two times")),
    },
    plain: |_, values| match values[0].number() {
        Some(n) => Value::text(&written(n)),
        None => Value::Null,
    },
    lower: |typed, cells| {
        let of = typed.operands.types[0];
        let bytes = text::bytes(typed.own.ty);
        let all = mirrored(of.range);
        let x = resized(cells[0].val, width(all));
        let whole = divided(x.abs(), Range { low: 0, high: all.high }, Divisor::Known(DAY));
        let within = Range { low: 0, high: DAY };
        let time = resized(whole.rest, 64);
        let part = |of, by| resized(divided(of, within, Divisor::Known(by)).whole, 64);
        let rest = |of, by| resized(divided(of, within, Divisor::Known(by)).rest, 64);
        let columns = [
            resized(whole.whole, 64),
            part(time, 3_600_000_000),
            rest(part(time, 60_000_000), 60),
            rest(part(time, 1_000_000), 60),
            rest(time, 1_000_000),
            x.less(number(x, 0)),
        ];
        let most = day_digits(of);
        typed.cell(circuit(&columns, |c, bits| {
            let negative = bits[5][0];
            let has_days = any(c, bits[0].clone());
            let is_one = equal_bits(c, &bits[0], &constant(1, bits[0].len()));
            let several = c.not(is_one);
            let mut parts: Vec<Vec<Bit>> = bits[1..5].to_vec();
            let has_time = any(c, parts.concat());
            let no_days = c.not(has_days);
            let shows_time = or(c, has_time, no_days);
            let (sign_of_days, sign_of_time) = (c.and(has_days, negative), c.and(shows_time, negative));
            let both = c.and(has_days, shows_time);
            // Pairs of a byte and a flag for whether it is part of the text.
            let mut made = vec![(letter(b'-'), sign_of_days)];
            let mut begun = Bit::ZERO;
            let some_bits = (most * 10).div_ceil(3).min(bits[0].len());
            for digit in digits(c, &bits[0][..some_bits], most) {
                for bit in digit {
                    begun = or(c, begun, bit);
                }
                made.push((digit_byte(digit), begun));
            }
            made.extend(b" day".map(|byte| (letter(byte), has_days)));
            let plural = c.and(has_days, several);
            made.extend([(letter(b's'), plural), (letter(b' '), both), (letter(b'-'), sign_of_time)]);
            let micros = parts.pop().unwrap_or_default();
            for (place, part) in parts.iter().enumerate() {
                if place > 0 {
                    made.push((letter(b':'), shows_time));
                }
                let two = digits(c, &part[..7.min(part.len())], 2);
                made.extend(two.into_iter().map(|digit| (digit_byte(digit), shows_time)));
            }
            // Zeros at the end of the fraction are left out.
            let mut fraction = vec![];
            let mut some = Bit::ZERO;
            for digit in digits(c, &micros[..20.min(micros.len())], 6).into_iter().rev() {
                for bit in digit {
                    some = or(c, some, bit);
                }
                fraction.insert(0, (digit_byte(digit), some));
            }
            made.push((letter(b'.'), some));
            made.extend(fraction);
            let keep: Vec<Bit> = made.iter().map(|(_, keep)| *keep).collect();
            let made: Vec<_> = made.into_iter().map(|(byte, keep)| kept(c, keep, byte)).collect();
            let mut made = packed(c, &made, &keep);
            made.resize(bytes.max(made.len()), NOTHING);
            write(&made, bytes)
        }))
    },
    shown: |_, operands, _| format!("CAST({} AS VARCHAR)", operands.join(", ")),
};

/// The digits of the number of days that an interval may have.
fn day_digits(of: ExprType) -> usize {
    (greatest(of.range) / DAY).to_string().len()
}

fn written(n: i128) -> String {
    let sign = if n < 0 { "-" } else { "" };
    let (days, time) = (n.abs() / DAY, n.abs() % DAY);
    let (seconds, micros) = (time / 1_000_000, time % 1_000_000);
    let plural = if days == 1 { "" } else { "s" };
    let mut parts = vec![];
    if days > 0 {
        parts.push(format!("{sign}{days} day{plural}"));
    }
    if time > 0 || days == 0 {
        let fraction = if micros > 0 { format!(".{micros:06}") } else { String::new() };
        let fraction = fraction.trim_end_matches('0');
        let (hours, minutes, seconds) = (seconds / 3600, seconds / 60 % 60, seconds % 60);
        parts.push(format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{fraction}"));
    }
    parts.join(" ")
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::{numbers, values},
    };

    /// The texts are those of DuckDB 0.10.3.
    #[test]
    fn intervals_have_the_texts_of_their_parts() {
        let column = Column::new("x", ColumnType::Interval).nullable();
        let given = numbers([
            Some(0),
            Some(86_400_000_000),
            Some(-86_400_000_000),
            Some(280_800_500_000),
            Some(-367_200_500_000),
            Some(1),
            Some(-61_000_000),
            Some(172_799_999_999),
            None,
        ]);
        let texts = [
            "00:00:00",
            "1 day",
            "-1 day",
            "3 days 06:00:00.5",
            "-4 days -06:00:00.5",
            "00:00:00.000001",
            "-00:01:01",
            "1 day 23:59:59.999999",
        ];
        let mut expected = texts.map(Value::text).to_vec();
        expected.push(Value::Null);
        assert_eq!(values("to_text", &[(column, given.clone())], &[]), expected);
        let small =
            Column::new("x", ColumnType::Interval).within(-400_000_000_000, 400_000_000_000).nullable();
        assert_eq!(values("to_text", &[(small, given)], &[]), expected);
    }
}
