//! The SQL aggregate STRING_AGG.

use super::{AggregateArguments, AggregateDef, AggregateMeaning, MIN, Nulls};
use crate::{
    algebra::{ColumnType, Expr, Value, WindowFunction, when, whole},
    functions::coalesce,
};
use hushwire_compute::Comparison;

/// LOCAL: the largest number of a group's texts that are joined.
const MOST: usize = 64;

pub(super) static DEFINITION: AggregateDef = AggregateDef {
    names: &["string_agg", "group_concat", "listagg"],
    arity: 1..=2,
    usage: "CAST(STRING_AGG(text, separator ORDER BY key) AS VARCHAR(60))",
    gives: "the VARCHAR(n) of the CAST around it",
    doc: "the texts of a group in an order, by default their own, with a separator in between, a comma if it is left out, cut to the n bytes of a CAST to VARCHAR(n): without it, its length would tell how many rows a group has",
    example: "CAST(STRING_AGG(name, ', ' ORDER BY id) AS VARCHAR(40))",
    distinct: true,
    meaning: AggregateMeaning::Rewritten(|arguments| {
        let name = arguments.name.to_uppercase();
        let unsupported =
            |clause: &str, remedy: &str| AggregateArguments::unsupported(&format!("{name} {clause}"), remedy);
        let Some(room) = arguments.room else {
            return Err(unsupported(
                "of no certain length, which would tell how many rows a group has",
                "bound its length: CAST(STRING_AGG(name, ', ' ORDER BY name) AS VARCHAR(100))",
            ));
        };
        let of = arguments.all[0].clone();
        let comma = Expr::Literal(Value::text(","), ColumnType::Varchar(1));
        let separator = arguments.all.get(1).cloned().unwrap_or(comma);
        let Expr::Literal(Value::Text(between), _) = &separator else {
            return Err(unsupported(
                "with a separator that is no literal",
                "write it out, as in STRING_AGG(name, ', ')",
            ));
        };
        let of = arguments.call("to_text", vec![of])?;
        // The number of texts that fit if each has one character.
        let count = (usize::from(room) + between.len()).div_ceil(1 + between.len());
        if count > MOST {
            return Err(unsupported(
                &format!("of up to {count} texts"),
                "CAST it to fewer bytes, or write a longer separator: at most 64 texts that a byte is long must have room",
            ));
        }
        let there = of.clone().is_null().not();
        let mut order = vec![(there.clone(), true)];
        if !arguments.distinct {
            for key in arguments.order.clone() {
                if key.nulls == Nulls::First {
                    order.push((key.by.clone().is_null(), true));
                }
                order.push((key.by, key.descending));
            }
        }
        let descending = arguments.distinct && arguments.order.first().is_some_and(|key| key.descending);
        order.push((of.clone(), descending));
        let number = if arguments.distinct { WindowFunction::DenseRank } else { WindowFunction::RowNumber };
        let place = arguments.figures.within(vec![], order, number)?;
        let cut = |e: Expr| e.cast(ColumnType::Varchar(room));
        let mut made: Option<Expr> = None;
        for n in 1..=count {
            let is_this = arguments.compared(Comparison::Equal, place.clone(), whole(n as i128))?;
            let text = arguments.figure(&MIN, when(is_this.and(there.clone()), of.clone()))?;
            made = Some(match made {
                None => cut(text),
                Some(before) => {
                    let next = arguments.call("concat_op", vec![separator.clone(), text])?;
                    let none = Expr::Literal(Value::text(""), ColumnType::Varchar(1));
                    // All texts that a group has come before the missing ones.
                    cut(arguments.call("concat_op", vec![before, coalesce(vec![next, none])])?)
                }
            });
        }
        made.ok_or_else(|| arguments.wrong_count(1))
    }),
};
