//! The SQL function REPLACE.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    text::{self, checked, literal, of_public, public, shown, value, varchar},
};
use crate::{
    algebra::{ColumnType, Expr, MAX_TEXT, Value},
    lower::bytes::{NOTHING, choose_byte, circuit, covered, letter, occurrences, packed, read, write},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["replace"],
    arity: 3..=3,
    usage: "REPLACE(text, part, other)",
    gives: "the text's type",
    doc: "the text with another one, which is not longer, in place of each occurrence of a part; both are literals",
    example: "REPLACE(note, 'east', 'E')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&REPLACE, |of, arguments| {
        let (part, other) = (literal(arguments, 1)?, literal(arguments, 2)?);
        if part.is_empty() {
            return Ok(arguments.all[0].clone());
        }
        if other.len() > part.len() {
            // A circuit would have to make room, so the owner computes this.
            let literal = |text: &[u8]| {
                let text = Value::Text(text.to_vec());
                Expr::Literal(text, ColumnType::Varchar(MAX_TEXT))
            };
            let other = String::from_utf8_lossy(&other).replace('\\', "\\\\");
            let all =
                vec![arguments.all[0].clone(), literal(&part), literal(other.as_bytes()), literal(b"gl")];
            return super::call("regexp_replace", all, arguments.reader);
        }
        let length = i128::try_from(part.len()).unwrap_or_default();
        let texts = [vec![length], public(&part), public(&other)].concat();
        Ok(of.call(vec![text::text(arguments.all[0].clone())], texts))
    }),
};

static REPLACE: Primitive = Primitive {
    name: "REPLACE",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| Ok(varchar(checked(operands, 0)?)),
    plain: |typed, values| {
        let (part, other) = parts(typed.operands.public);
        let (mut rest, mut made) = (value(&values, 0), vec![]);
        while let Some(first) = rest.first() {
            let found = rest.starts_with(&part);
            made.extend_from_slice(if found { &other } else { std::slice::from_ref(first) });
            rest = &rest[if found { part.len() } else { 1 }..];
        }
        Value::Text(made)
    },
    lower: |typed, cells| {
        let (part, other) = parts(typed.operands.public);
        let bytes = text::bytes(typed.ty(0));
        typed.cell(circuit(&[cells[0].val], |c, bits| {
            let text = read(&bits[0]);
            let at = occurrences(c, &text, &part);
            let within = covered(c, &at, part.len());
            let (mut made, mut keep) = (vec![], vec![]);
            for (k, byte) in text.iter().enumerate() {
                let mut byte = choose_byte(c, within[k], NOTHING, *byte);
                let mut kept = c.not(within[k]);
                // The replacement takes the first places of the replaced part.
                for (i, put) in other.iter().enumerate().filter(|(i, _)| *i <= k) {
                    byte = choose_byte(c, at[k - i], letter(*put), byte);
                    kept = c.xor(kept, at[k - i]);
                }
                made.push(byte);
                keep.push(kept);
            }
            write(&packed(c, &made, &keep), bytes)
        }))
    },
    shown: |of, operands, public| shown(of, operands, &public[1..]),
};

/// The part that is replaced, and the replacement.
fn parts(public: &[i128]) -> (Vec<u8>, Vec<u8>) {
    let (length, texts) = public.split_first().expect("it has a length");
    let (part, other) = texts.split_at(*length as usize);
    (of_public(part), of_public(other))
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Value},
        functions::tests::values,
    };

    #[test]
    fn parts_are_replaced_from_the_front() {
        let texts = |all: [&str; 5]| -> Vec<Value> { all.map(Value::text).to_vec() };
        let literal = |text: &str| Expr::literal(Value::text(text), ColumnType::Varchar(3));
        let column = Column::new("x", ColumnType::Varchar(7)).nullable();
        let given = [(column, texts(["aaaab", "", "xaay", "-a-aa-", "aaaaaaa"]))];
        let replaced = |part, other| values("replace", &given, &[literal(part), literal(other)]);
        assert_eq!(replaced("aa", ""), texts(["b", "", "xy", "-a--", "a"]));
        assert_eq!(replaced("aa", "é"), texts(["ééb", "", "xéy", "-a-é-", "éééa"]));
        assert_eq!(replaced("-", "a"), texts(["aaaab", "", "xaay", "aaaaaa", "aaaaaaa"]));
        assert_eq!(replaced("aaa", "b"), texts(["bab", "", "xaay", "-a-aa-", "bba"]));
    }
}
