//! Parts of texts at secret places, on which SUBSTRING, LEFT and RIGHT of columns are built.

use super::{
    ComputedBy, Primitive, Reader,
    definition::as_call,
    text::{self, checked, value, varchar},
};
use crate::{
    Fault,
    algebra::{Expr, Value, continues},
    lower::{
        bytes::{begins, below, circuit, counts, kept, packed, read, write},
        numbers::number,
    },
};
use hushwire_compute::Comparison;

/// The characters of a text from one place to another, both counted from 0.
static SLICE: Primitive = Primitive {
    name: "SLICE",
    strict: true,
    by: ComputedBy::Parties,
    check: |operands| {
        if !operands.types[1..].iter().all(|t| t.ty.is_integer()) {
            return Err(operands.refused("count characters by whole numbers"));
        }
        Ok(varchar(checked(operands, 0)?))
    },
    plain: |_, values| {
        let ends = [1, 2].map(|place| values[place].number().unwrap_or(0));
        let mut begun = 0;
        let within = |byte: &&u8| {
            begun += i128::from(!continues(**byte));
            ends[0] < begun && begun <= ends[1]
        };
        Value::Text(value(&values, 0).iter().filter(within).copied().collect())
    },
    lower: |typed, cells| {
        let bytes = text::bytes(typed.ty(0));
        // All ends beyond the string are equivalent.
        let most = bytes as i128;
        let end = |place: usize| {
            let (val, b) = (cells[place].val, cells[place].builder());
            let val = super::real::wide_enough(val, most);
            let val = b.select(val.less(number(val, 0)), number(val, 0), val);
            b.select(val.compare(Comparison::Greater, number(val, most)), number(val, most), val)
        };
        typed.cell(circuit(&[cells[0].val, end(1), end(2)], |c, bits| {
            let text = read(&bits[0]);
            let begun: Vec<_> = text.iter().map(|byte| begins(c, *byte)).collect();
            let numbers = counts(c, &begun);
            let mut keep = vec![];
            for n in &numbers {
                let (behind, after) = (below(c, &bits[1], n), below(c, &bits[2], n));
                let before = c.not(after);
                keep.push(c.and(behind, before));
            }
            let text: Vec<_> = text.iter().zip(&keep).map(|(byte, keep)| kept(c, *keep, *byte)).collect();
            write(&packed(c, &text, &keep), bytes)
        }))
    },
    shown: as_call,
};

/// Characters `skip..end` of a text.
pub(super) fn slice(text: Expr, skip: Expr, end: Expr, reader: Reader<'_>) -> Result<Expr, Fault> {
    Ok(SLICE.call(vec![text::text(text), reader.wide(skip)?, reader.wide(end)?], vec![]))
}
