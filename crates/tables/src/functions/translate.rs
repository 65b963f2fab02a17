//! The SQL function TRANSLATE.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive, by_owners,
    text::{self, checked, of_public, public, value, varchar},
};
use crate::algebra::Value;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["translate"],
    arity: 3..=3,
    usage: "TRANSLATE(text, characters, others)",
    gives: "VARCHAR of the largest length that the result can have",
    doc: "the text with the characters of the second literal in place of those of the first, and without those that have no other",
    example: "TRANSLATE(note, ', ', '_')",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&TRANSLATE, |of, arguments| {
        let (from, to) = (text::literal(arguments, 1)?, text::literal(arguments, 2)?);
        let all = [public(&from), vec![0], public(&to)].concat();
        Ok(of.call(vec![text::text(arguments.all[0].clone())], all))
    }),
};

/// Pairs of a character and its replacement, if it has one.
fn pairs(public: &[i128]) -> Vec<(char, Option<char>)> {
    let mut parts = public.split(|byte| *byte == 0).map(|part| {
        let text = of_public(part);
        String::from_utf8_lossy(&text).chars().collect::<Vec<char>>()
    });
    let (from, to) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    from.into_iter().enumerate().map(|(k, c)| (c, to.get(k).copied())).collect()
}

static TRANSLATE: Primitive = Primitive {
    name: "TRANSLATE",
    strict: true,
    by: ComputedBy::OwnerOnly,
    check: |operands| {
        let bytes = checked(operands, 0)?;
        let grows =
            |(from, to): &(char, Option<char>)| to.map_or(0, char::len_utf8).div_ceil(from.len_utf8());
        Ok(varchar(bytes * pairs(operands.public).iter().map(grows).max().unwrap_or(1).max(1)))
    },
    plain: |typed, values| {
        let pairs = pairs(typed.operands.public);
        let text = String::from_utf8_lossy(value(&values, 0)).into_owned();
        let one = |c: char| pairs.iter().find(|(from, _)| *from == c).map_or(Some(c), |(_, to)| *to);
        Value::text(&text.chars().filter_map(one).collect::<String>())
    },
    lower: by_owners,
    shown: |of, operands, public| {
        let text = String::from_utf8_lossy(&of_public(public)).replace('\0', "', '");
        format!("{}({}, '{text}')", of.name, operands.join(", "))
    },
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{ColumnType, Expr, Value},
        functions::tests::in_open,
    };

    #[test]
    fn characters_are_put_in_place_of_others() {
        let text = |text: &str| Expr::literal(Value::text(text), ColumnType::Varchar(12));
        let of = |of, from, to| in_open("translate", vec![text(of), text(from), text(to)]);
        assert_eq!(of("12-34.5", "-.1", "_,"), Value::text("2_34,5"));
        assert_eq!(of("über", "ü", "u"), Value::text("uber"));
    }
}
