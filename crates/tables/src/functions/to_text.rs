//! CAST of numbers, dates and truth values to VARCHAR.

use super::{
    Arguments, ComputedBy, FnDef, Leaks, Meaning, Primitive, interval_text, strftime,
    text::{self, varchar},
};
use crate::{
    Fault,
    algebra::{ColumnType, Expr, ExprType, Value, greatest},
    lower::{
        bytes::{NOTHING, circuit, digit_byte, digits, kept, letter, or, packed, write},
        numbers::number,
    },
};
use hushwire_circuit::Bit;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["to_text"],
    arity: 1..=1,
    usage: "CAST(value AS VARCHAR)",
    gives: "VARCHAR of the largest length that the text can have",
    doc: "the text of a whole number, a DECIMAL, a DATE, a TIMESTAMP, an INTERVAL or a BOOLEAN",
    example: "CAST(price AS VARCHAR)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&TO_TEXT, bind),
};

static TO_TEXT: Primitive = Primitive {
    name: "TO_TEXT",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        let of = operands.types[0];
        match of.ty {
            ty if ty.is_integer() || matches!(ty, ColumnType::Decimal { .. }) => {
                Ok(varchar(form(of).bytes()))
            }
            _ => Err(operands.refused("give it a whole number or a DECIMAL: CAST a DOUBLE to DECIMAL first")),
        }
    },
    plain: |typed, values| match values[0].number() {
        Some(n) => {
            let scale = usize::from(typed.ty(0).scale());
            let size = format!("{:0>width$}", n.unsigned_abs(), width = scale + 1);
            let (whole, behind) = size.split_at(size.len() - scale);
            let point = if scale > 0 { "." } else { "" };
            let sign = if n < 0 { "-" } else { "" };
            Value::text(&format!("{sign}{whole}{point}{behind}"))
        }
        None => Value::Null,
    },
    lower: |typed, cells| {
        let form = form(typed.operands.types[0]);
        let bytes = text::bytes(typed.own.ty);
        let x = cells[0].val;
        let columns = if form.sign { vec![x.abs(), x.less(number(x, 0))] } else { vec![x] };
        typed.cell(circuit(&columns, |c, bits| {
            // The smallest number has no positive counterpart, but its bits are those of its size.
            let all = digits(c, &bits[0], form.whole + form.scale);
            let (whole, behind) = all.split_at(form.whole);
            let (mut made, mut keep) = (vec![], vec![]);
            if form.sign {
                made.push(letter(b'-'));
                keep.push(bits[1][0]);
            }
            let mut begun = Bit::ZERO;
            for (k, digit) in whole.iter().enumerate() {
                for bit in digit {
                    begun = or(c, begun, *bit);
                }
                made.push(digit_byte(*digit));
                keep.push(if k + 1 == form.whole { Bit::ONE } else { begun });
            }
            if form.scale > 0 {
                made.push(letter(b'.'));
                keep.push(Bit::ONE);
            }
            for digit in behind {
                made.push(digit_byte(*digit));
                keep.push(Bit::ONE);
            }
            let made: Vec<_> = made.into_iter().zip(&keep).map(|(byte, keep)| kept(c, *keep, byte)).collect();
            let mut made = packed(c, &made, &keep);
            made.resize(bytes.max(made.len()), NOTHING);
            write(&made, bytes)
        }))
    },
    shown: |_, operands, _| format!("CAST({} AS VARCHAR)", operands.join(", ")),
};

/// The parts of a number's text.
struct Form {
    sign: bool,
    whole: usize,
    scale: usize,
}

impl Form {
    fn bytes(&self) -> usize {
        let behind = if self.scale > 0 { self.scale + 1 } else { 0 };
        usize::from(self.sign) + self.whole + behind
    }
}

fn form(of: ExprType) -> Form {
    let scale = usize::from(of.ty.scale());
    let digits = greatest(of.range).to_string().len();
    Form { sign: of.range.low < 0, whole: digits.saturating_sub(scale).max(1), scale }
}

fn bind(of: &'static Primitive, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let [value] = arguments.exactly()?;
    Ok(match arguments.reader.ty(&value)? {
        _ if matches!(value, Expr::Literal(Value::Null, _)) => text::text(value),
        ColumnType::Varchar(_) => value,
        ColumnType::Boolean => {
            let words = |word: &str| Expr::Literal(Value::text(word), ColumnType::Varchar(5));
            let null = (value.clone().is_null(), Expr::Literal(Value::Null, ColumnType::Varchar(5)));
            Expr::Case {
                branches: vec![(value, words("true")), null],
                otherwise: Some(Box::new(words("false"))),
            }
        }
        ColumnType::Date => strftime::formatted(value, b"%Y-%m-%d"),
        ColumnType::Timestamp => strftime::formatted(value, b"%Y-%m-%d %H:%M:%S%."),
        ColumnType::Interval => interval_text::of(value),
        _ => of.call(vec![value], vec![]),
    })
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::{numbers, values},
    };

    #[test]
    fn numbers_have_their_digits() {
        let texts = |all: [&str; 5]| -> Vec<Value> { all.map(Value::text).to_vec() };
        for ty in [ColumnType::Integer, ColumnType::BigInt] {
            let given = numbers([Some(0), Some(-1), Some(1_234_567_890), Some(-100), Some(ty.range().low)]);
            let made = values("to_text", &[(Column::new("x", ty).nullable(), given)], &[]);
            assert_eq!(made, texts(["0", "-1", "1234567890", "-100", &ty.range().low.to_string()]));
        }
        let decimal = ColumnType::Decimal { precision: 5, scale: 3 };
        let given = numbers([Some(0), Some(-5), Some(12_345), Some(-99_999), Some(1000)]);
        let made = values("to_text", &[(Column::new("x", decimal).nullable(), given)], &[]);
        assert_eq!(made, texts(["0.000", "-0.005", "12.345", "-99.999", "1.000"]));
        let small = Column::new("x", ColumnType::Integer).within(0, 99);
        let made =
            values("to_text", &[(small, numbers([Some(0), Some(7), Some(10), Some(99), Some(50)]))], &[]);
        assert_eq!(made, texts(["0", "7", "10", "99", "50"]));
    }
}
