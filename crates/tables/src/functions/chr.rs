//! The SQL function CHR.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, by_owners,
    definition::{as_call, of_all},
    text::varchar,
};
use crate::algebra::Value;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["chr"],
    arity: 1..=1,
    usage: "CHR(number)",
    gives: "VARCHAR(4)",
    doc: "the character of this number in Unicode; NULL if there is none",
    example: "CHR(n + 64)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&CHR, of_all),
};

static CHR: Primitive = Primitive {
    name: "CHR",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| {
        let of = operands.types[0].ty;
        if !of.is_integer() {
            return Err(operands.refused("give it a whole number"));
        }
        Ok(crate::algebra::ExprType { nullable: true, ..varchar(4) })
    },
    plain: |_, values| {
        let number = values[0].number().and_then(|n| u32::try_from(n).ok()).filter(|n| *n > 0);
        let found = number.and_then(char::from_u32);
        found.map_or(Value::Null, |c| Value::text(&c.to_string()))
    },
    lower: by_owners,
    shown: as_call,
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{ColumnType, Expr, Value},
        functions::tests::{in_open, int},
    };

    #[test]
    fn characters_and_their_numbers() {
        let code =
            |text: &str| in_open("ascii", vec![Expr::literal(Value::text(text), ColumnType::Varchar(9))]);
        for (text, n) in [("A", 65), ("Ωmega", 937), ("😀", 0x1f600)] {
            assert_eq!(code(text), Value::Number(n));
            let first: String = text.chars().take(1).collect();
            assert_eq!(in_open("chr", vec![int(n)]), Value::text(&first));
        }
        assert_eq!(code(""), Value::Number(0));
        for n in [0, -1, 0xd800, 0x11_0000] {
            assert_eq!(in_open("chr", vec![int(n)]), Value::Null);
        }
    }
}
