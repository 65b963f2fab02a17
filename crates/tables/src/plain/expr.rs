//! Evaluates expressions on one row.

use super::numbers::{product, quotient, rescale};
use crate::{
    algebra::{
        Arithmetic, ColumnType, Expr, ExprType, Quotient, Schema, Token, Value, common_type, continues,
        tokens,
    },
    functions::{Operands, Typed},
};
use core::cmp::Ordering;
use hushwire_compute::Comparison;

/// Converts a value to another type.
pub(crate) fn converted(value: Value, from: ColumnType, to: ColumnType) -> Value {
    let number = |n: i128, from| rescale(n, from, to).map_or(Value::Null, Value::Number);
    match (value, to) {
        (Value::Text(mut bytes), ColumnType::Varchar(most)) => {
            bytes.truncate(most.into());
            Value::Text(bytes)
        }
        (Value::Boolean(truth), to) if to != ColumnType::Boolean => number(truth.into(), ColumnType::Integer),
        (Value::Number(n), _) if from != to => number(n, from),
        (value, _) => value,
    }
}

/// The order of two values of one type, neither of them NULL.
pub(crate) fn compared(a: &Value, b: &Value) -> Ordering {
    a.cmp(b)
}

fn truth(value: &Value) -> Option<bool> {
    match value {
        Value::Boolean(truth) => Some(*truth),
        _ => None,
    }
}

fn of_truth(truth: Option<bool>) -> Value {
    truth.map_or(Value::Null, Value::Boolean)
}

/// The value of a checked expression.
pub(crate) fn value(expr: &Expr, schema: &Schema, row: &[Value]) -> Value {
    let of = |e: &Expr| value(e, schema, row);
    let ty = |e: &Expr| e.check(schema).expect("it was checked").ty;
    let own = || ty(expr);
    match expr {
        Expr::Column(at) => row[*at].clone(),
        Expr::Literal(value, _) => value.clone(),
        Expr::Arithmetic(op, a, b) => match (of(a), of(b)) {
            (Value::Number(x), Value::Number(y)) => {
                let types = [a, b].map(|e| e.check(schema).expect("it was checked"));
                arithmetic(*op, [x, y], types, own()).map_or(Value::Null, Value::Number)
            }
            _ => Value::Null,
        },
        Expr::Negate(a) => match of(a) {
            Value::Number(n) => Value::Number(-n),
            _ => Value::Null,
        },
        Expr::Compare(comparison, a, b) => {
            let common = common_type(ty(a), ty(b)).expect("it was checked");
            match [(of(a), ty(a)), (of(b), ty(b))].map(|(v, from)| converted(v, from, common)) {
                [Value::Null, _] | [_, Value::Null] => Value::Null,
                [x, y] => Value::Boolean(holds(*comparison, compared(&x, &y))),
            }
        }
        Expr::And(a, b) => of_truth(match (truth(&of(a)), truth(&of(b))) {
            (Some(false), _) | (_, Some(false)) => Some(false),
            (Some(true), Some(true)) => Some(true),
            _ => None,
        }),
        Expr::Or(a, b) => of_truth(match (truth(&of(a)), truth(&of(b))) {
            (Some(true), _) | (_, Some(true)) => Some(true),
            (Some(false), Some(false)) => Some(false),
            _ => None,
        }),
        Expr::Not(a) => of_truth(truth(&of(a)).map(|t| !t)),
        Expr::IsNull(a) => Value::Boolean(of(a).is_null()),
        Expr::Case { branches, otherwise } => {
            let taken = branches.iter().find(|(when, _)| truth(&of(when)) == Some(true));
            match taken.map(|(_, then)| then).or(otherwise.as_deref()) {
                Some(then) => converted(of(then), ty(then), own()),
                None => Value::Null,
            }
        }
        Expr::Cast(a, to) => match of(a) {
            Value::Number(n) if ty(a).is_numeric() && to.is_numeric() => {
                let held = rescale(n, ty(a), *to).filter(|n| to.range().low <= *n && *n <= to.range().high);
                held.map_or(Value::Null, Value::Number)
            }
            value => converted(value, ty(a), *to),
        },
        Expr::InList(a, list) => match of(a) {
            Value::Null => Value::Null,
            x if list.contains(&x) => Value::Boolean(true),
            _ if list.contains(&Value::Null) => Value::Null,
            _ => Value::Boolean(false),
        },
        Expr::Like { of: a, pattern, escape } => match of(a) {
            Value::Text(text) => {
                let tokens = tokens(pattern, *escape).expect("it was checked");
                Value::Boolean(like(&text, &tokens))
            }
            _ => Value::Null,
        },
        Expr::Call(call) => {
            let values: Vec<Value> = call.operands.iter().map(of).collect();
            if call.primitive.strict && values.iter().any(Value::is_null) {
                return Value::Null;
            }
            let types = call.operands.iter().map(|e| e.check(schema)).collect::<Result<Vec<_>, _>>();
            let types = types.expect("it was checked");
            let own = call.typed(&types).unwrap_or_else(|_| panic!("it was checked"));
            let operands = Operands { types: &types, public: &call.public };
            (call.primitive.plain)(&Typed { operands, own }, values)
        }
    }
}

fn holds(comparison: Comparison, found: Ordering) -> bool {
    match comparison {
        Comparison::Equal => found.is_eq(),
        Comparison::NotEqual => found.is_ne(),
        Comparison::Less => found.is_lt(),
        Comparison::LessOrEqual => found.is_le(),
        Comparison::Greater => found.is_gt(),
        Comparison::GreaterOrEqual => found.is_ge(),
    }
}

/// The result; `None` if it is NULL.
fn arithmetic(op: Arithmetic, [x, y]: [i128; 2], [a, b]: [ExprType; 2], to: ColumnType) -> Option<i128> {
    let numbers = to.is_numeric() && a.ty.is_numeric() && b.ty.is_numeric();
    // Sums and remainders have one scale; the scales of products add up.
    let same = |n: i128, from: ColumnType| match (from, to) {
        _ if numbers => rescale(n, from, to),
        (ColumnType::Date, ColumnType::Interval | ColumnType::Timestamp) => {
            rescale(n, from, ColumnType::Timestamp)
        }
        _ => Some(n),
    };
    let both = || Some((same(x, a.ty)?, same(y, b.ty)?));
    match (op, to) {
        (Arithmetic::Add, _) => both()?.0.checked_add(both()?.1),
        (Arithmetic::Subtract, _) => both()?.0.checked_sub(both()?.1),
        (Arithmetic::Multiply, ColumnType::Double { frac }) => product(both()?.0, both()?.1, frac),
        (Arithmetic::Multiply, _) => x.checked_mul(y),
        (Arithmetic::Divide | Arithmetic::DivideWhole, _) => {
            let (x, y) = if matches!(to, ColumnType::Double { .. }) { both()? } else { (x, y) };
            quotient(x, y, &Quotient::new(to, a, b)?)
        }
        (Arithmetic::Remainder, _) => both()?.0.checked_rem(both()?.1),
    }
}

/// Whether a string matches a pattern. A part between two `%` matches at its first occurrence, so
/// the text before the last `%` is never tried again.
fn like(text: &[u8], tokens: &[Token]) -> bool {
    let (mut at, mut token) = (0, 0);
    let mut last: Option<(usize, usize)> = None;
    loop {
        let next = match (tokens.get(token), text.get(at)) {
            (Some(Token::Many), _) => {
                last = Some((token + 1, at));
                Some(at)
            }
            (None, None) => return true,
            (Some(Token::One), Some(first)) if !continues(*first) => {
                let rest = &text[at + 1..];
                Some(at + 1 + rest.iter().position(|byte| !continues(*byte)).unwrap_or(rest.len()))
            }
            (Some(Token::Byte(byte)), Some(first)) if byte == first => Some(at + 1),
            _ => None,
        };
        match (next, &mut last) {
            (Some(next), _) => (at, token) = (next, token + 1),
            (None, Some((behind, from))) if *from < text.len() => {
                *from += 1;
                (at, token) = (*from, *behind);
            }
            _ => return false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns() {
        for (text, pattern, escape, expected) in [
            ("special requests", "%special%requests%", None, true),
            ("requests special", "%special%requests%", None, false),
            ("abc", "a_c", None, true),
            ("ac", "a_c", None, false),
            ("", "%", None, true),
            ("", "", None, true),
            ("a", "", None, false),
            ("50%", "50!%", Some('!'), true),
            ("500", "50!%", Some('!'), false),
            ("aab", "%ab", None, true),
            ("Ünal", "_nal", None, true),
            ("Ünal", "__nal", None, false),
            ("日本", "__", None, true),
            ("日本", "_", None, false),
            ("日本語", "%_語", None, true),
            ("é", "%__", None, false),
            ("aé", "%_", None, true),
        ] {
            let tokens = tokens(pattern, escape).unwrap();
            assert_eq!(like(text.as_bytes(), &tokens), expected, "{text} LIKE {pattern}");
        }
        assert_eq!(tokens("a!", Some('!')), None);
    }

    /// A pattern with many `%` that fails only at its end.
    #[test]
    fn long_patterns_end_soon() {
        let text = "a".repeat(4000);
        let many = tokens(&("%a".repeat(60) + "b"), None).unwrap();
        assert!(!like(text.as_bytes(), &many));
        let many = tokens(&("%_".repeat(60) + "%a"), None).unwrap();
        assert!(like(text.as_bytes(), &many));
    }

    /// The result is the same as when every way to fill a `%` is tried.
    #[test]
    fn patterns_are_as_every_split_has_them() {
        fn every(text: &[u8], tokens: &[Token]) -> bool {
            match (tokens.split_first(), text.split_first()) {
                (None, rest) => rest.is_none(),
                (Some((Token::Many, after)), _) => (0..=text.len()).any(|from| every(&text[from..], after)),
                (Some((Token::One, _)), Some((first, _))) if continues(*first) => false,
                (Some((Token::One, after)), Some((_, rest))) => {
                    let end = rest.iter().position(|byte| !continues(*byte)).unwrap_or(rest.len());
                    every(&rest[end..], after)
                }
                (Some((Token::Byte(byte), after)), Some((first, rest))) => {
                    byte == first && every(rest, after)
                }
                (Some(_), None) => false,
            }
        }
        let mut seed = 1u64;
        let mut pick = |of: &[&str]| {
            seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            of[(seed >> 33) as usize % of.len()].to_owned()
        };
        let mut found = 0;
        for _ in 0..20_000 {
            let text: String = (0..6).map(|_| pick(&["a", "b", "é", ""])).collect();
            let pattern: String = (0..5).map(|_| pick(&["a", "b", "é", "%", "_", "%"])).collect();
            let tokens = tokens(&pattern, None).unwrap();
            let made = like(text.as_bytes(), &tokens);
            assert_eq!(made, every(text.as_bytes(), &tokens), "{text} LIKE {pattern}");
            found += usize::from(made);
        }
        assert!((2000..18_000).contains(&found), "{found} are alike");
    }
}
