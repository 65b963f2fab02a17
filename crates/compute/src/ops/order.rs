//! `order(key, desc key)` and `meet(key, key, first=10)`: permutations by keys.

use super::*;
use crate::{
    Dim,
    evaluation::order,
    text::{literal::whole, parse::Argument, print::WHOLE},
};

/// The rows of keys.
fn rows(of: Operands<'_>) -> Result<Shape, ComputeError> {
    let rows = of.shape(0);
    if rows.rank() != 1 || of.all.iter().any(|(_, ty)| ty.shape != *rows) {
        return Err(of.wrong_by("keys are vectors of one length"));
    }
    let odd = |(_, ty): &(&str, &crate::Type)| ty.scalar == Scalar::Place || ty.scalar.bits() > 128;
    if let Some(key) = of.all.iter().position(odd) {
        let key = Operands { all: &of.all[key..=key], ..of };
        return Err(key.wrong_by("keys have at most 128 bits"));
    }
    Ok(rows.clone())
}

pub(super) struct Order<'a> {
    pub(super) descending: &'a Vec<bool>,
}

impl<'a> Order<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["order"], "order(key, desc key)", |c| {
            let (mut keys, mut descending) = (vec![], vec![]);
            for argument in c.arguments.all {
                let Argument::Value { desc, value } = argument else {
                    return Err(c.arguments.wrong("its arguments are keys"));
                };
                keys.push(c.scope.value(value, None)?);
                descending.push(*desc);
            }
            Ok((Op::Order { descending }, keys))
        }),
        facts: |_| OpFacts { name: "order", arity: None, role: OpRole::Works },
        infer: |p, of| {
            let (keys, directions) = (of.all.len(), p.descending.len());
            if directions != keys {
                let cause = format!("`order` has {keys} keys and {directions} directions");
                return Err(ComputeError::ty(cause, "give each key one"));
            }
            of.result(Scalar::Place, rows(of)?)
        },
        range: |_, _| Reach::Unknown,
        evaluate: |p, of| Ok(order(of.operands, p.descending)),
        lowering: |p| Lowering::stages(|values, site| values.sorted(site, p.descending)),
        print: |p, w| {
            let key = |(v, down): (&Value, &bool)| {
                format!("{}{}", if *down { "desc " } else { "" }, w.names.operand(*v, 0))
            };
            let keys: Vec<_> = w.arguments.iter().zip(p.descending).map(key).collect();
            (format!("order({})", keys.join(", ")), WHOLE)
        },
    };
}

pub(super) struct Meet<'a> {
    pub(super) first: &'a u64,
}

impl<'a> Meet<'a> {
    pub(super) const DEF: OpDef<Self> = OpDef {
        syntax: Syntax::Call(&["meet"], "meet(key, key, first=10)", |c| {
            let first = c.arguments.named("first")?;
            let missing = "say how many rows the first side has: first=10";
            let first = whole(first.ok_or_else(|| c.arguments.wrong(missing))?)?;
            Ok((Op::Meet { first }, c.operands()?))
        }),
        facts: |_| OpFacts { name: "meet", arity: None, role: OpRole::Works },
        infer: |p, of| {
            let (shape, first) = (rows(of)?, *p.first);
            if let Some(Dim::Known(rows)) = shape.0.first()
                && first > *rows
            {
                let cause = format!("`meet` of {rows} rows, {first} of which are the first side");
                return Err(ComputeError::ty(cause, "a side has no more rows than there are"));
            }
            of.result(Scalar::Place, shape)
        },
        range: |_, _| Reach::Unknown,
        evaluate: |_, of| Ok(order(of.operands, &vec![false; of.operands.len()])),
        lowering: |_| Lowering::stages(|values, site| values.sorted(site, &vec![false; site.args.len()])),
        print: |p, w| w.call(&format!(", first={}", p.first)),
    };
}
