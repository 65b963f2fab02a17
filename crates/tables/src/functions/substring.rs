//! The SQL function SUBSTRING.

use super::{
    Arguments, ComputedBy, FnDef, Leaks, Letters, Meaning, Primitive, call,
    pad::{self, PAD},
    slice::slice,
    text::characters,
};
use crate::{
    Fault,
    algebra::{Arithmetic, Call, ColumnType, Expr, ExprType, Value, whole},
};
use hushwire_fault::code;

pub(super) static DEFINITION: FnDef = FnDef {
    names: &["substring", "substr"],
    arity: 2..=3,
    usage: "SUBSTRING(text FROM first FOR length)",
    gives: "VARCHAR of the largest length that the result can have",
    doc: "`length` characters of the text from the first one on, counted from 1, or from the end below 0; without `length`, all that follow",
    example: "SUBSTRING(name, 6, 3)",
    leaks: Leaks::Nothing,
    meaning: Meaning::Own(&SUBSTRING, bind),
};

/// The public arguments are the first place, the largest number of characters, and the bytes of the
/// result's type, if it allows more than one byte per character.
static SUBSTRING: Primitive = Primitive {
    name: "SUBSTRING",
    strict: true,
    by: ComputedBy::OwnerFirst(Letters::Ascii),
    check: |operands| {
        let Some((_, taken)) = part(operands.types[0].ty, operands.public) else {
            return Err(match operands.types[0].ty {
                ColumnType::Varchar(_) => {
                    operands.refused("count bytes from 1 up to its length, and take at least one")
                }
                _ => operands.refused("give it a VARCHAR(n)"),
            });
        };
        let room = operands.public.get(2).and_then(|room| u16::try_from(*room).ok()).unwrap_or(taken);
        let ty = ColumnType::Varchar(room.max(taken));
        Ok(ExprType { ty, nullable: false, range: ty.range() })
    },
    plain: |typed, values| match (part(typed.ty(0), typed.operands.public), &values[..]) {
        (Some((before, taken)), [Value::Text(text)]) => {
            Value::Text(characters(text, before.into(), usize::from(before) + usize::from(taken)))
        }
        _ => Value::Null,
    },
    lower: |typed, cells| {
        let (before, taken) = part(typed.ty(0), typed.operands.public).expect("it was checked");
        let end = typed.ty(0).bits() - 8 * before;
        let range = ColumnType::Varchar(taken).range();
        let cut = cells[0].with(cells[0].val.part(end - 8 * taken, end), ColumnType::Varchar(taken), range);
        typed.cell(cut.converted(typed.own.ty).val)
    },
    shown: |_, operands, public| match (operands, public) {
        ([of], [from, length, ..]) => format!("SUBSTRING({of} FROM {from} FOR {length})"),
        _ => format!("SUBSTRING({})", operands.join(", ")),
    },
};

/// A SUBSTRING whose characters may have several bytes, up to the bytes of an enclosing CAST. Any
/// other expression is unchanged.
pub fn with_room(of: Expr, bytes: u16) -> Expr {
    match of {
        Expr::Call(call) if *call.primitive == SUBSTRING && call.public.len() == 2 => {
            let public = [&call.public[..], &[i128::from(bytes)]].concat();
            Expr::Call(Call { public, ..call })
        }
        Expr::Call(call) if *call.primitive == PAD => {
            let public = pad::roomy(&call.public, bytes);
            Expr::Call(Call { public, ..call })
        }
        other => other,
    }
}

/// The numbers of bytes of a type's strings that are skipped and taken.
fn part(ty: ColumnType, public: &[i128]) -> Option<(u16, u16)> {
    let (ColumnType::Varchar(bytes), &[from, length, ..]) = (ty, public) else { return None };
    let before = u16::try_from(from).ok()?.checked_sub(1)?;
    let length = u16::try_from(length).ok()?;
    (before < bytes && length > 0).then(|| (before, length.min(bytes - before)))
}

/// SUBSTRING by characters, for a place or a count that is not a positive literal.
fn by_characters(arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let reader = arguments.reader;
    let (text, from) = (arguments.all[0].clone(), arguments.all[1].clone());
    let length = call("length", vec![text.clone()], reader)?;
    let skip = match &from {
        // A negative place is counted from the end.
        Expr::Literal(Value::Number(..0), _) => reader.arithmetic(Arithmetic::Add, length.clone(), from)?,
        _ => reader.arithmetic(Arithmetic::Subtract, from, whole(1))?,
    };
    let end = match arguments.all.get(2) {
        Some(count) => reader.arithmetic(Arithmetic::Add, skip.clone(), count.clone())?,
        None => length,
    };
    slice(text, skip, end, reader)
}

fn bind(of: &'static Primitive, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    let from_1 = |place: usize, least: i128| match arguments.all.get(place) {
        Some(Expr::Literal(Value::Number(n), ty)) => ty.is_integer() && *n >= least,
        Some(_) => false,
        None => true,
    };
    if !from_1(1, 0) || !from_1(2, i128::MIN) {
        return by_characters(arguments);
    }
    let number = |e: &Expr| match e {
        // No string is longer than 16 bits can express.
        Expr::Literal(Value::Number(n @ 0..), ty) if ty.is_integer() => Ok((*n).min(u16::MAX.into())),
        _ => {
            let clause = "SUBSTRING by numbers that are no literals";
            let remedy = "write SUBSTRING(column FROM 1 FOR 2), with bytes counted from 1";
            Err(Fault::filled(code::SQL_UNSUPPORTED, &[("clause", &clause), ("remedy", &remedy)]))
        }
    };
    let (text, from, length) = match &arguments.all[..] {
        [text, from] => (text, number(from)?, u16::MAX.into()),
        [text, from, length] => (text, number(from)?, number(length)?),
        _ => return Err(arguments.wrong_count("2 or 3")),
    };
    match arguments.reader.ty(text)? {
        // The result is empty for every string, but NULL for NULL.
        ColumnType::Varchar(bytes) if from > bytes.into() || (from > 0 && length == 0) => {
            let ty = ColumnType::Varchar(1);
            let null = (text.clone().is_null(), Expr::Literal(Value::Null, ty));
            let none = Expr::Literal(Value::text(""), ty);
            Ok(Expr::Case { branches: vec![null], otherwise: Some(Box::new(none)) })
        }
        _ => Ok(of.call(vec![text.clone()], vec![from, length])),
    }
}

#[cfg(test)]
mod tests {
    use crate::{
        algebra::{Column, ColumnType, Value},
        functions::tests::{int, refused, values},
    };
    use hushwire_fault::code;

    #[test]
    fn bytes_are_counted_from_1() {
        let texts = |all: [&str; 3]| -> Vec<Value> {
            all.map(Value::text).into_iter().chain([Value::Null]).collect()
        };
        let column = Column::new("x", ColumnType::Varchar(4)).nullable();
        let given = [(column, texts(["abcd", "ab", ""]))];
        assert_eq!(values("substring", &given, &[int(2), int(2)]), texts(["bc", "b", ""]));
        assert_eq!(values("substr", &given, &[int(3)]), texts(["cd", "", ""]));
        assert_eq!(values("substring", &given, &[int(5), int(1)]), texts(["", "", ""]));
        let place = refused("substring", &[int(1), int(-1)]);
        assert_eq!(place.map(|e| e.code()), Some(code::OPERANDS));
    }
}
