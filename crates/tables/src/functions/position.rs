//! The SQL function POSITION.

use super::{
    ComputedBy, FnDef, Leaks, Meaning, Primitive,
    definition::as_call,
    text::{checked, number, of_texts, value},
};
use crate::{
    algebra::{Value, continues},
    lower::{
        bytes::{all, any, as_number, begins, choose, circuit, count, equal, is_some, read},
        numbers::width,
    },
};
use hushwire_circuit::Bit;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["position", "strpos", "instr"],
    arity: 2..=2,
    usage: "POSITION(part IN text)",
    gives: "BIGINT",
    doc: "the place of the first character of the first occurrence, from 1; 0 if there is none; STRPOS and INSTR take the text first",
    example: "POSITION('B' IN name)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&POSITION, |of, arguments| {
        let [text, part] = arguments.exactly()?;
        let (text, part) = if arguments.name == "position" { (part, text) } else { (text, part) };
        of_texts(
            of,
            &super::Arguments { name: arguments.name, all: vec![text, part], reader: arguments.reader },
        )
    }),
};

static POSITION: Primitive = Primitive {
    name: "POSITION",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        checked(operands, 1)?;
        Ok(number(checked(operands, 0)?.max(1)))
    },
    plain: |_, values| {
        let (text, part) = (value(&values, 0), value(&values, 1));
        let at = (0..=text.len().saturating_sub(part.len())).find(|at| text[*at..].starts_with(part));
        let place = at.map_or(0, |at| 1 + text[..at].iter().filter(|byte| !continues(**byte)).count());
        Value::Number(place as i128)
    },
    lower: |typed, cells| {
        let made = circuit(&[cells[0].val, cells[1].val], |c, bits| {
            let (text, part) = (read(&bits[0]), read(&bits[1]));
            let ends: Vec<Bit> = part
                .iter()
                .map(|byte| {
                    let some = is_some(c, *byte);
                    c.not(some)
                })
                .collect();
            let mut found = vec![];
            for k in 0..text.len() {
                let mut same = vec![];
                for (i, (byte, end)) in part.iter().zip(&ends).enumerate() {
                    let equal = match text.get(k + i) {
                        Some(other) => equal(c, *byte, *other),
                        None => Bit::ZERO,
                    };
                    same.push(choose(c, *end, Bit::ONE, equal));
                }
                found.push(all(c, same));
            }
            // The characters up to the first occurrence.
            let mut so_far = Bit::ZERO;
            let mut before = vec![];
            for (byte, at) in text.iter().zip(&found) {
                let earlier = c.not(so_far);
                let begun = begins(c, *byte);
                before.push(c.and(begun, earlier));
                so_far = choose(c, so_far, Bit::ONE, *at);
            }
            let place = count(c, &before);
            // An empty part is at place 1, also in an empty text.
            let empty = ends.first().copied().unwrap_or(Bit::ONE);
            let there = any(c, found);
            let there = choose(c, empty, Bit::ONE, there);
            let made = place.into_iter().enumerate().map(|(i, bit)| {
                let of_empty = Bit::constant(i == 0);
                let bit = choose(c, empty, of_empty, bit);
                c.and(there, bit)
            });
            made.collect()
        });
        typed.cell(as_number(made, width(typed.own.range)))
    },
    shown: as_call,
};

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::{numbers, values},
    };

    #[test]
    fn the_first_occurrence_counts() {
        let column = |name, bytes| Column::new(name, ColumnType::Varchar(bytes)).nullable();
        let texts = |all: [&str; 6]| all.map(Value::text).to_vec();
        let given = [
            (column("x", 6), texts(["banana", "banana", "éa", "", "abc", "abc"])),
            (column("y", 3), texts(["an", "x", "a", "", "", "bcd"])),
        ];
        let expected = [Some(2), Some(0), Some(2), Some(1), Some(1), Some(0)];
        assert_eq!(values("strpos", &given, &[]), numbers(expected));
    }
}
