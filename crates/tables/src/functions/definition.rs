//! The parts of a function's definition.

use super::Arguments;
use crate::{
    Fault,
    algebra::{Call, ColumnType, Expr, ExprType, Value, keep_values, united},
    error::Refused,
    lower::cell::{Cell, LOST},
};
use core::{
    fmt,
    hash::{Hash, Hasher},
    ops::RangeInclusive,
};
use hushwire_compute::Val;

/// A scalar function of SQL.
///
/// A definition that lacks a part does not compile:
///
/// ```compile_fail,E0063
/// use hushwire_tables::functions::{FnDef, Leaks};
/// static F: FnDef = FnDef {
///     names: &["f"],
///     arity: 1..=1,
///     usage: "F(x)",
///     gives: "the type of x",
///     doc: "x",
///     example: "F(n)",
///     leaks: Leaks::Nothing,
/// };
/// ```
pub struct FnDef {
    /// The names by which queries call it, in lower case. Documents list the first name.
    pub names: &'static [&'static str],
    /// The number of arguments.
    pub arity: RangeInclusive<usize>,
    /// A call, as documents show it.
    pub usage: &'static str,
    /// The type of its result, for documents.
    pub gives: &'static str,
    /// The value, in one line for documents.
    pub doc: &'static str,
    /// A call on the rows of examples in documents; empty if no such call is possible.
    pub example: &'static str,
    /// The information about a row's values that the parties learn when the function is computed.
    pub leaks: Leaks,
    /// The expression of a call.
    pub meaning: Meaning,
}

/// The information about a row's values that the parties learn when a function is computed. A new
/// variant needs a text in EXPLAIN and in the list of functions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaks {
    /// Nothing: it lowers to operations that open nothing.
    Nothing,
}

/// The ways to define a function.
pub enum Meaning {
    /// Rewritten as other expressions, which plans show instead.
    Rewritten(fn(&Arguments<'_>) -> Result<Expr, Fault>),
    /// An operation of its own, and a function that turns arguments into a call of it.
    Own(&'static Primitive, fn(&'static Primitive, &Arguments<'_>) -> Result<Expr, Fault>),
}

impl FnDef {
    /// The expression of a call.
    ///
    /// # Errors
    /// If the number of arguments is wrong, or their types are.
    pub fn bind(&self, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
        if !self.arity.contains(&arguments.all.len()) {
            let (least, most) = (self.arity.start(), self.arity.end());
            return Err(match most {
                most if least == most => arguments.wrong_count(most),
                &usize::MAX => arguments.wrong_count(format_args!("at least {least}")),
                most => arguments.wrong_count(format_args!("{least} to {most}")),
            });
        }
        match self.meaning {
            Meaning::Rewritten(bind) => bind(arguments),
            Meaning::Own(primitive, bind) => bind(primitive, arguments),
        }
    }
}

/// The members that compute a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ComputedBy {
    /// The parties, on shares. If a call depends on one owner's columns alone, the owner computes
    /// it with the same operations.
    Parties,
    /// The owner of its columns, in the clear, if one owner has all of them; otherwise the parties.
    /// The parties take only these letters, and owners then refuse strings with others.
    OwnerFirst(Letters),
    /// Only the owner of its columns. The call is refused on columns of several owners.
    OwnerOnly,
}

/// The letters in strings for which the parties compute a function as an owner does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Letters {
    /// ASCII: for functions that treat bytes as characters.
    Ascii,
    /// ASCII and Latin-1, U+0000 to U+00FF: for functions that change the case of letters.
    Latin,
}

impl Letters {
    /// Whether a text has only these letters.
    #[must_use]
    pub fn hold(self, text: &str) -> bool {
        match self {
            Letters::Ascii => text.is_ascii(),
            // The upper-case forms of two of its letters are not in Latin-1.
            Letters::Latin => text.chars().all(|c| c <= '\u{ff}' && !['µ', 'ÿ'].contains(&c)),
        }
    }
}

/// An operation of expressions that one function defines.
pub struct Primitive {
    /// The name, which identifies it.
    pub(crate) name: &'static str,
    /// Whether the result is NULL if an operand is. Types, evaluation and lowering take care of
    /// this, so the functions below only handle rows without NULLs.
    pub(crate) strict: bool,
    /// The members that compute it.
    pub(crate) by: ComputedBy,
    /// The type, NULLs and range of its result.
    pub(crate) check: fn(&Operands<'_>) -> Result<ExprType, Refused>,
    /// The value in the clear.
    pub(crate) plain: fn(&Typed<'_>, Vec<Value>) -> Value,
    /// The value as operations of a computation.
    pub(crate) lower: for<'b> fn(&Typed<'_>, &[Cell<'b>]) -> Cell<'b>,
    /// The text of a call in a plan, from its operands' texts and its public arguments. The usual
    /// choice is [`as_call`].
    pub(crate) shown: fn(&Primitive, &[String], &[i128]) -> String,
}

impl Primitive {
    /// A call as an expression. Public arguments are numbers that all parties know.
    pub(crate) fn call(&'static self, operands: Vec<Expr>, public: Vec<i128>) -> Expr {
        Expr::Call(Call { primitive: self, operands, public })
    }
}

/// The lowering of [`ComputedBy::OwnerOnly`]: in a plan, the result of such a call is a column.
///
/// # Panics
/// Always: it is the caller's bug.
pub(crate) fn by_owners<'b>(_: &Typed<'_>, _: &[Cell<'b>]) -> Cell<'b> {
    unreachable!("owners compute it")
}

/// The text `NAME(a, b)`.
pub(crate) fn as_call(of: &Primitive, operands: &[String], _public: &[i128]) -> String {
    format!("{}({})", of.name, operands.join(", "))
}

/// A call with unchanged arguments.
pub(crate) fn of_all(of: &'static Primitive, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    Ok(of.call(arguments.all.clone(), vec![]))
}

/// A call with arguments converted to one type.
pub(crate) fn of_one_type(of: &'static Primitive, arguments: &Arguments<'_>) -> Result<Expr, Fault> {
    Ok(of.call(arguments.reader.united(arguments.all.clone())?, vec![]))
}

/// The types of a call's operands, and its public arguments.
#[derive(Clone, Copy)]
pub(crate) struct Operands<'a> {
    pub(crate) types: &'a [ExprType],
    pub(crate) public: &'a [i128],
}

impl Operands<'_> {
    /// An error that names the operands' types.
    pub(crate) fn refused(&self, remedy: &'static str) -> Refused {
        Refused::operands(self.types, remedy)
    }

    /// The common type of alternatives; it may be NULL if one of them may be.
    pub(crate) fn united(&self) -> Result<ExprType, Refused> {
        let one = united(self.types).ok_or_else(|| self.refused("cast the values to one type"))?;
        if !keep_values(one.ty, self.types) {
            return Err(Refused::narrow(self.types, one.ty));
        }
        Ok(one)
    }
}

/// The types of a checked call.
pub(crate) struct Typed<'a> {
    pub(crate) operands: Operands<'a>,
    /// The type of the result.
    pub(crate) own: ExprType,
}

impl Typed<'_> {
    /// The type of an operand.
    pub(crate) fn ty(&self, operand: usize) -> ColumnType {
        self.operands.types[operand].ty
    }

    /// A result that has no NULLs of its own.
    pub(crate) fn cell<'b>(&self, val: Val<'b>) -> Cell<'b> {
        Cell { val, null: None, ty: self.own.ty, range: self.own.range, id: LOST }
    }
}

impl PartialEq for Primitive {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for Primitive {}

impl Hash for Primitive {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

impl fmt::Debug for Primitive {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}
