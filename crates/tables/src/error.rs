//! Errors of relations and of tables' rows, as faults with a code.

use crate::algebra::{ColumnType, ExprType, MAX_DIGITS, castable, told};
use core::fmt::Display;
use hushwire_fault::{Code, Fault, IntoText, Text, code};

/// Refuses a relation for a reason that has no code of its own.
pub(crate) fn refused(cause: impl IntoText, remedy: impl IntoText) -> Fault {
    Fault::of(code::QUERY, &[("cause", cause.into_text()), ("remedy", remedy.into_text())])
}

/// The fault of values of two types without a common type, in a place such as `a comparison`.
#[must_use]
pub fn types_differ([left, right]: [ColumnType; 2], place: &dyn Display) -> Fault {
    let digests = [left, right].iter().any(|ty| matches!(ty, ColumnType::Digest { .. }));
    let remedy = if castable(left, right) || castable(right, left) {
        "cast one of them"
    } else if digests {
        "declare the column as VARCHAR(n): of a digest one knows whether it equals another, and not its string"
    } else if [left, right].iter().any(|ty| matches!(ty, ColumnType::Varchar(_))) {
        "CAST one of them: the text to a number or a DATE, as CAST(code AS INTEGER), which is NULL where it does not fit, or the other one to VARCHAR(n)"
    } else {
        "choose values of one kind; none of the two types can be cast to the other"
    };
    let types: [(_, &dyn Display); 2] = [("left", &left), ("right", &right)];
    Fault::filled(code::TYPES_DIFFER, &[&types[..], &[("place", place), ("remedy", &remedy)]].concat())
}

/// The reason why an operation does not take its operands. It becomes a [`Fault`] where the
/// operation's text is known.
pub(crate) struct Refused {
    code: Code,
    places: Vec<(&'static str, Text)>,
}

impl Refused {
    fn new(code: Code, types: &[ExprType]) -> Self {
        Self { code, places: vec![("operands", told(types).into())] }
    }

    fn with(mut self, name: &'static str, words: impl IntoText) -> Self {
        self.places.push((name, words.into_text()));
        self
    }

    /// The operands have types that the operation does not take.
    pub(crate) fn operands(types: &[ExprType], remedy: impl IntoText) -> Self {
        Self::new(code::OPERANDS, types).with("remedy", remedy)
    }

    /// The common type of the operands does not hold all of their values.
    pub(crate) fn narrow(types: &[ExprType], ty: ColumnType) -> Self {
        Self::new(code::TYPE_TOO_NARROW, types).with("type", ty)
    }

    /// The operands are digests, but the operation takes values with an order.
    pub(crate) fn no_order(types: &[ExprType]) -> Self {
        Self::new(code::NO_ORDER, types)
    }

    /// The result of the operands may have too many digits.
    pub(crate) fn digits(types: &[ExprType], result: &str) -> Self {
        Self::new(code::TOO_MANY_DIGITS, types).with("result", result).with("most", MAX_DIGITS)
    }

    /// The fault of this operation.
    pub(crate) fn of(self, operation: impl IntoText) -> Fault {
        let Self { code, places } = self.with("operation", operation);
        Fault::of(code, &places)
    }
}
