//! An operation as text, and its precedence.

use crate::{Member, Netlist, Value};

/// The precedence of comparisons; an operand with a lower precedence gets parentheses.
pub(crate) const COMPARISON: u8 = 3;
/// The precedence of shifts.
pub(crate) const SHIFT: u8 = 4;
/// The precedence of signs before a value.
pub(crate) const UNARY: u8 = 7;
/// The precedence of names and calls.
pub(crate) const WHOLE: u8 = 8;

/// An expression and its precedence.
pub(crate) type Printed = (String, u8);

/// Names of values, members and circuits in a text.
pub(crate) trait Names {
    /// A value as an operand: its name, or the expression that computes it.
    fn operand(&self, value: Value, least: u8) -> String;
    /// Two operands of one type: a single number is bare if its neighbour has that type.
    fn pair(&self, a: Value, b: Value, left: u8, right: u8) -> [String; 2];
    /// A member's name.
    fn member(&self, member: Member) -> &str;
    /// A circuit's number.
    fn circuit(&self, circuit: &Netlist) -> usize;
}

/// An operation to write.
#[derive(Clone, Copy)]
pub(crate) struct Writing<'a> {
    /// The operation's name.
    pub(crate) name: &'static str,
    pub(crate) arguments: &'a [Value],
    pub(crate) names: &'a dyn Names,
}

impl Writing<'_> {
    /// All operands, separated by commas.
    pub(crate) fn all(self) -> String {
        self.arguments.iter().map(|v| self.names.operand(*v, 0)).collect::<Vec<_>>().join(", ")
    }

    /// `name(x, y, more)`, where `more` begins with its comma.
    pub(crate) fn call(self, more: &str) -> Printed {
        (format!("{}({}{more})", self.name, self.all()), WHOLE)
    }

    /// Operators are left-associative; comparisons are not associative.
    pub(crate) fn between(self, strength: u8) -> Printed {
        let left = if strength == COMPARISON { strength + 1 } else { strength };
        let [a, b] = self.names.pair(self.arguments[0], self.arguments[1], left, strength + 1);
        (format!("{a} {} {b}", self.name), strength)
    }

    /// A sign before a value.
    pub(crate) fn before(self) -> Printed {
        (format!("{}{}", self.name, self.names.operand(self.arguments[0], UNARY)), UNARY)
    }

    /// A shift by a number of bits.
    pub(crate) fn shift(self, by: u16) -> Printed {
        (format!("{} {} {by}", self.names.operand(self.arguments[0], SHIFT), self.name), SHIFT)
    }
}

/// An axis that is not the first.
pub(crate) fn axis(axis: u8) -> String {
    if axis == 0 { String::new() } else { format!(", axis={axis}") }
}
