//! The SQL function TRIM.

use super::{
    Arguments, ComputedBy, FnDef, Leaks, Meaning, Primitive,
    text::{self, checked, literal, of_public, public, shown, value, varchar},
};
use crate::{
    Fault,
    algebra::{Expr, Value},
    lower::bytes::{circuit, end_trimmed, front_trimmed, read, write},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["trim", "btrim"],
    arity: 1..=2,
    usage: "TRIM(text, characters)",
    gives: "the text's type",
    doc: "the text without blanks, or without the ASCII characters of a literal, at its front and the end",
    example: "TRIM(note, 'Rt')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&TRIM, trimmed),
};

static TRIM: Primitive = ends::<true, true>("TRIM");

/// A call with the characters to cut off: a blank by default.
pub(super) fn trimmed(of: &'static Primitive, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let set = match arguments.all.len() {
        1 => b" ".to_vec(),
        _ => literal(arguments, 1)?,
    };
    if !set.is_ascii() {
        return Err(arguments.unsupported(
            "TRIM of characters that are not ASCII",
            "write REGEXP_REPLACE(text, '^[äö]+|[äö]+$', '', 'g') of one owner's column",
        ));
    }
    Ok(of.call(vec![text::text(arguments.all[0].clone())], public(&set)))
}

/// The operation that cuts characters off the front, the end or both.
pub(super) const fn ends<const FRONT: bool, const END: bool>(name: &'static str) -> Primitive {
    Primitive {
        name,
        strict: true,
        by: ComputedBy::Parties,
        check: |operands| Ok(varchar(checked(operands, 0)?)),
        plain: |typed, values| cut(value(&values, 0), &of_public(typed.operands.public), FRONT, END),
        lower: |typed, cells| {
            let set = of_public(typed.operands.public);
            let bytes = text::bytes(typed.ty(0));
            typed.cell(circuit(&[cells[0].val], |c, bits| {
                let text = read(&bits[0]);
                let text = if END { end_trimmed(c, &text, &set) } else { text };
                let text = if FRONT { front_trimmed(c, &text, &set) } else { text };
                write(&text, bytes)
            }))
        },
        shown,
    }
}

/// A text without these characters at its ends.
fn cut(text: &[u8], set: &[u8], front: bool, end: bool) -> Value {
    let stays = |byte: &u8| !set.contains(byte);
    let from = if front { text.iter().position(stays).unwrap_or(text.len()) } else { 0 };
    let to = if end { text.iter().rposition(stays).map_or(0, |at| at + 1) } else { text.len() };
    Value::Text(text.get(from..to).unwrap_or_default().to_vec())
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Expr, Value},
        functions::tests::values,
    };

    #[test]
    fn ends_are_cut() {
        let texts = |all: [&str; 6]| -> Vec<Value> { all.map(Value::text).to_vec() };
        let column = Column::new("x", ColumnType::Varchar(7)).nullable();
        let given = [(column, texts(["  a b ", "", "     ", "abc", "xyx", "       "]))];
        assert_eq!(values("trim", &given, &[]), texts(["a b", "", "", "abc", "xyx", ""]));
        assert_eq!(values("ltrim", &given, &[]), texts(["a b ", "", "", "abc", "xyx", ""]));
        assert_eq!(values("rtrim", &given, &[]), texts(["  a b", "", "", "abc", "xyx", ""]));
        let set = Expr::literal(Value::text("x a"), ColumnType::Varchar(3));
        assert_eq!(values("trim", &given, &[set]), texts(["b", "", "", "bc", "y", ""]));
    }
}
