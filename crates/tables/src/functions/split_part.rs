//! The SQL function SPLIT_PART.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    text::{self, checked, literal, of_public, public, shown, value, varchar},
};
use crate::{
    algebra::Value,
    lower::bytes::{circuit, constant, count, covered, equal_bits, kept, occurrences, packed, read, write},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["split_part"],
    arity: 3..=3,
    usage: "SPLIT_PART(text, separator, number)",
    gives: "the text's type",
    doc: "the part with this number, from 1, between separators; empty if there is none; both are literals",
    example: "SPLIT_PART(note, ', ', 2)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&SPLIT_PART, |of, arguments| {
        let separator = literal(arguments, 1)?;
        let number = text::literal_number(arguments, 2, 1)?;
        if separator.is_empty() {
            return Err(arguments.unsupported(
                "SPLIT_PART by an empty separator",
                "write SUBSTRING(text, n, 1) for the character n",
            ));
        }
        let all = [vec![number.min(1 << 20)], public(&separator)].concat();
        Ok(of.call(vec![text::text(arguments.all[0].clone())], all))
    }),
};

static SPLIT_PART: Primitive = Primitive {
    name: "SPLIT_PART",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| Ok(varchar(checked(operands, 0)?)),
    plain: |typed, values| {
        let (number, separator) = (typed.operands.public[0], of_public(&typed.operands.public[1..]));
        let (mut rest, mut part, mut made) = (value(&values, 0), 1, vec![]);
        while let Some(first) = rest.first() {
            let found = rest.starts_with(&separator);
            if found {
                part += 1;
            } else if part == number {
                made.push(*first);
            }
            rest = &rest[if found { separator.len() } else { 1 }..];
        }
        Value::Text(made)
    },
    lower: |typed, cells| {
        let (number, separator) = (typed.operands.public[0], of_public(&typed.operands.public[1..]));
        let bytes = text::bytes(typed.ty(0));
        typed.cell(circuit(&[cells[0].val], |c, bits| {
            let text = read(&bits[0]);
            let at = occurrences(c, &text, &separator);
            let within = covered(c, &at, separator.len());
            let mut keep = vec![];
            for k in 0..text.len() {
                let before = count(c, &at[..=k]);
                let wanted = constant(number as u64 - 1, 24);
                let in_part = equal_bits(c, &before, &wanted);
                let not = c.not(within[k]);
                keep.push(c.and(in_part, not));
            }
            let text: Vec<_> = text.iter().zip(&keep).map(|(byte, keep)| kept(c, *keep, *byte)).collect();
            write(&packed(c, &text, &keep), bytes)
        }))
    },
    shown: |of, operands, public| shown(of, operands, &public[1..]),
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Value},
        functions::tests::{int, values},
    };

    #[test]
    fn parts_are_counted_from_1() {
        let texts = |all: [&str; 5]| -> Vec<Value> { all.map(Value::text).to_vec() };
        let literal = |text: &str| Expr::literal(Value::text(text), ColumnType::Varchar(3));
        let column = Column::new("x", ColumnType::Varchar(9)).nullable();
        let given = [(column, texts(["a-bc-d", "", "-x", "abc", "a--b"]))];
        let part = |of, n| values("split_part", &given, &[literal(of), int(n)]);
        assert_eq!(part("-", 1), texts(["a", "", "", "abc", "a"]));
        assert_eq!(part("-", 2), texts(["bc", "", "x", "", ""]));
        assert_eq!(part("-", 3), texts(["d", "", "", "", "b"]));
        assert_eq!(part("--", 2), texts(["", "", "", "", "b"]));
    }
}
