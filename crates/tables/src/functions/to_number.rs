//! CAST of texts to numbers.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    text::{self, checked, literal_number, value},
};
use crate::{
    algebra::{ColumnType, ExprType, Value},
    lower::{
        bytes::{add, among, any, below, choose, circuit, constant, equal, is_some, letter, or, read},
        cell::Cell,
        numbers::{resized, width},
    },
};
use hushwire_circuit::{Bit, Builder as Circuits};
use hushwire_compute::Scalar;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["to_number"],
    arity: 2..=2,
    usage: "CAST(text AS INTEGER)",
    gives: "the type that is named: a whole number, a DECIMAL, a DOUBLE or a DATE",
    doc: "the number that a text is, with at most 17 digits, a sign and a point, and blanks around it; NULL where it is none, also of TRY_CAST; a DATE as 2026-11-28",
    example: "TRY_CAST(LEFT(note, 2) AS INTEGER)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&TO_NUMBER, |of, arguments| {
        let scale = literal_number(arguments, 1, 0)?;
        Ok(of.call(vec![text::text(arguments.all[0].clone())], vec![scale.min(17)]))
    }),
};

/// The largest number of digits.
const DIGITS: u8 = 18;

static TO_NUMBER: Primitive = Primitive {
    name: "TO_NUMBER",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        checked(operands, 0)?;
        let ty = ColumnType::Decimal { precision: DIGITS, scale: operands.public[0] as u8 };
        Ok(ExprType { ty, nullable: true, range: ty.range() })
    },
    plain: |typed, values| {
        number(value(&values, 0), typed.operands.public[0]).map_or(Value::Null, Value::Number)
    },
    lower: |typed, cells| {
        let scale = typed.operands.public[0];
        let made = circuit(&[cells[0].val], |c, bits| {
            let mut state = Reader::new(scale as usize);
            for byte in read(&bits[0]) {
                state.take(c, byte);
            }
            state.made(c)
        });
        let (size, flags) = (made.part(0, 60), made.part(60, 62));
        let size = resized(size.cast(Scalar::unsigned(60)).cast(Scalar::signed(64)), width(typed.own.range));
        let negative = flags.part(0, 1).cast(Scalar::Bool);
        let b = size.builder();
        let null = Some(flags.part(1, 2).cast(Scalar::Bool));
        Cell { null, ..typed.cell(b.select(negative, -size, size)) }
    },
    shown: |_, operands, public| format!("CAST({} AS DECIMAL(18, {}))", operands.join(", "), public[0]),
};

/// The number that a text denotes, in steps of 10^-scale; further digits are cut off.
fn number(text: &[u8], scale: i128) -> Option<i128> {
    let text = text.trim_ascii();
    let (negative, size) = match text.split_first() {
        Some((b'-', rest)) => (true, rest),
        Some((b'+', rest)) => (false, rest),
        _ => (false, text),
    };
    let (mut made, mut point, mut some) = (0i128, None, false);
    for byte in size {
        match byte {
            b'0'..=b'9' => {
                some = true;
                if point.is_some_and(|digits| digits == scale) {
                    continue;
                }
                if made >= LIMIT {
                    return None;
                }
                made = made * 10 + i128::from(byte - b'0');
                point = point.map(|digits| digits + 1);
            }
            b'.' if point.is_none() => point = Some(0),
            _ => return None,
        }
    }
    for _ in point.unwrap_or(0)..scale {
        if made >= LIMIT {
            return None;
        }
        made *= 10;
    }
    some.then_some(if negative { -made } else { made })
}

/// A number from this limit on takes no further digit.
const LIMIT: i128 = 100_000_000_000_000_000;

/// A circuit's state while it reads a text from its front.
struct Reader {
    size: Vec<Bit>,
    negative: Bit,
    begun: Bit,
    ended: Bit,
    some: Bit,
    point: Bit,
    bad: Bit,
    /// For each count up to the scale, whether that many fractional digits were read.
    after: Vec<Bit>,
}

impl Reader {
    fn new(scale: usize) -> Self {
        let mut after = vec![Bit::ZERO; scale + 1];
        after[0] = Bit::ONE;
        let [zero, none] = [Bit::ZERO; 2];
        Reader {
            size: vec![Bit::ZERO; 60],
            negative: zero,
            begun: zero,
            ended: zero,
            some: none,
            point: zero,
            bad: zero,
            after,
        }
    }

    /// Replaces the size by ten times itself plus a digit, if the condition is 1.
    fn shift(&mut self, c: &mut Circuits, digit: &[Bit], condition: Bit) {
        let full = below(c, &self.size, &constant(LIMIT as u64, 60));
        let full = c.not(full);
        let over = c.and(full, condition);
        self.bad = or(c, self.bad, over);
        let (mut two, mut eight) = (vec![Bit::ZERO], vec![Bit::ZERO; 3]);
        two.extend(&self.size);
        eight.extend(&self.size);
        let ten = add(c, &two, &eight, Bit::ZERO);
        let next = add(c, &ten[..60], digit, Bit::ZERO);
        for (bit, next) in self.size.iter_mut().zip(next) {
            *bit = choose(c, condition, next, *bit);
        }
    }

    fn take(&mut self, c: &mut Circuits, byte: [Bit; 8]) {
        let some = is_some(c, byte);
        // The bytes 0x30 to 0x39.
        let ten = below(c, &byte[..4], &constant(10, 4));
        let high = equal(
            c,
            [Bit::ZERO, Bit::ZERO, Bit::ZERO, Bit::ZERO, byte[4], byte[5], byte[6], byte[7]],
            letter(0x30),
        );
        let digit = c.and(ten, high);
        let blank = among(c, byte, b" \t\n\r");
        let (minus, plus) = (equal(c, byte, letter(b'-')), equal(c, byte, letter(b'+')));
        let (sign, point) = (c.xor(minus, plus), equal(c, byte, letter(b'.')));
        let known = any(c, vec![digit, blank, sign, point]);
        let unknown = c.not(known);
        let strange = c.and(some, unknown);
        let late_sign = c.and(sign, self.begun);
        let part = any(c, vec![digit, sign, point]);
        let late = c.and(part, self.ended);
        let second = c.and(point, self.point);
        self.bad = any(c, vec![self.bad, strange, late_sign, late, second]);
        let end = c.and(blank, self.begun);
        self.ended = or(c, self.ended, end);
        self.begun = or(c, self.begun, part);
        self.negative = or(c, self.negative, minus);
        self.some = or(c, self.some, digit);
        let last = *self.after.last().expect("a scale has a place");
        let beyond = c.and(self.point, last);
        let within = c.not(beyond);
        let takes = c.and(digit, within);
        self.shift(c, &byte[..4], takes);
        let moves = c.and(takes, self.point);
        for k in (0..self.after.len()).rev() {
            let before = if k == 0 { Bit::ZERO } else { self.after[k - 1] };
            self.after[k] = choose(c, moves, before, self.after[k]);
        }
        self.point = or(c, self.point, point);
    }

    /// The size, whether the number is negative, and whether there is no number.
    fn made(mut self, c: &mut Circuits) -> Vec<Bit> {
        let mut lacks = Bit::ZERO;
        // The missing fractional digits are filled up with zeros.
        for k in 0..self.after.len() - 1 {
            lacks = or(c, lacks, self.after[k]);
            self.shift(c, &[], lacks);
        }
        let none = c.not(self.some);
        let bad = or(c, self.bad, none);
        self.size.into_iter().chain([self.negative, bad]).collect()
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::{int, numbers, values},
    };

    #[test]
    fn texts_are_read_or_null() {
        let given = [
            ("12", Some(1200), Some(12)),
            (" -7 ", Some(-700), Some(-7)),
            ("+3.25", Some(325), Some(3)),
            ("0.5", Some(50), Some(0)),
            (".5", Some(50), Some(0)),
            ("5.", Some(500), Some(5)),
            ("12345678901234567", None, Some(12_345_678_901_234_567)),
            ("3.999", Some(399), Some(3)),
        ];
        let wrong = ["", "-", "1 2", "1-", "x1", "1.2.3", "1234567890123456789", "é"];
        let texts = given.iter().map(|(text, ..)| *text).chain(wrong).map(Value::text);
        let texts: Vec<Value> = texts.chain([Value::Null]).collect();
        let column = Column::new("x", ColumnType::Varchar(20)).nullable();
        let found = |digits| values("to_number", &[(column.clone(), texts.clone())], &[int(digits)]);
        let nulls = vec![Value::Null; wrong.len() + 1];
        assert_eq!(found(2), [numbers(given.map(|(_, two, _)| two)), nulls.clone()].concat());
        assert_eq!(found(0), [numbers(given.map(|(.., none)| none)), nulls].concat());
    }
}
