//! The SQL function CONCAT_WS.

use super::{
    FnDef, Leaks, Meaning,
    concat::{after, as_text},
};
use crate::{
    Fault,
    algebra::{ColumnType, Expr, Value},
};

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["concat_ws"],
    arity: 2..=usize::MAX,
    usage: "CONCAT_WS(separator, value, …)",
    gives: "VARCHAR of the sum of all lengths",
    doc: "the texts of the values that are not NULL, with a separator in between",
    example: "CONCAT_WS('-', name, nothing, n)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Rewritten(|arguments| {
        let separator = as_text(arguments.all[0].clone(), arguments.reader)?;
        let none = || Expr::Literal(Value::text(""), ColumnType::Varchar(1));
        let mut made: Option<(Expr, Expr)> = None;
        for of in &arguments.all[1..] {
            let text = as_text(of.clone(), arguments.reader)?;
            let is_null = text.clone().is_null();
            made = Some(match made {
                None => (super::coalesce(vec![text, none()]), is_null),
                Some((before, empty)) => {
                    // A separator only comes between two values that are present.
                    let apart = is_null.clone().or(empty.clone());
                    let between = Expr::Case {
                        branches: vec![(apart, none())],
                        otherwise: Some(Box::new(separator.clone())),
                    };
                    let next = super::coalesce(vec![text, none()]);
                    (after(after(before, between), next), empty.and(is_null))
                }
            });
        }
        match made {
            Some((text, _)) => {
                let null = (separator.is_null(), Expr::Literal(Value::Null, arguments.reader.ty(&text)?));
                Ok(Expr::Case { branches: vec![null], otherwise: Some(Box::new(text)) })
            }
            None => Err(Fault::internal("the query", "CONCAT_WS without a value")),
        }
    }),
};
