//! And, Or, Xor and Not of truth values, which are elements that are 0 or 1.

use super::prelude::*;

macro_rules! logic {
    ($($operator:ident $name:literal $truth:ident $inputs:literal $doc:literal;)+) => {
        $(pub(super) const $operator: Operator = Operator {
            inputs: $inputs,
            error: Bound::EXACT,
            ..Operator::new($name, $doc, |op, import| read(op, import, Truth::$truth))
        };)+

        /// A function of truth values.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum Truth {
            $($truth,)+
        }

        impl Truth {
            fn name(self) -> &'static str {
                match self {
                    $(Truth::$truth => $name,)+
                }
            }
        }
    };
}

logic! {
    AND "And" And 2 "Whether both are true.";
    OR "Or" Or 2 "Whether one is true, or both.";
    XOR "Xor" Xor 2 "Whether one alone is true.";
    NOT "Not" Not 1 "Whether it is false.";
}

/// A function of truth values.
#[derive(Clone, Debug, PartialEq)]
pub struct Logic {
    truth: Truth,
    /// The second operand, if all members know it.
    known: Option<Arc<Array>>,
}

impl Definition for Logic {
    fn name(&self) -> &'static str {
        self.truth.name()
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Other
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        let x = reads[0].broadcast(to);
        let y = self.known.as_ref().or(reads.get(1)).map(|y| y.broadcast(to));
        let one = |i: usize| {
            let (a, b) = (x.data[i] != 0.0, y.as_ref().is_some_and(|y| y.data[i] != 0.0));
            let made = match self.truth {
                Truth::And => a && b,
                Truth::Or => a || b,
                Truth::Xor => a != b,
                Truth::Not => !a,
            };
            f32::from(u8::from(made))
        };
        Array { lengths: to.to_vec(), data: (0..x.data.len()).map(one).collect() }
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let to = site.lengths;
        let truth = |lower: &mut Lower<'b>, at: usize| {
            let bit = lower.truth(at);
            lower.spread(bit, at, to)
        };
        let x = truth(lower, site.reads[0]);
        let y = match (&self.known, site.reads.get(1)) {
            (Some(known), _) => Some(lower.known_truth(&known.broadcast(to))),
            (None, Some(at)) => Some(truth(lower, *at)),
            (None, None) => None,
        };
        Ok(lower.of_truth(match (self.truth, y) {
            (Truth::And, Some(y)) => x & y,
            (Truth::Or, Some(y)) => x | y,
            (Truth::Xor, Some(y)) => x ^ y,
            _ => !x,
        }))
    }
}

fn read(op: &Reading<'_>, import: &mut Import, truth: Truth) -> Result<Known, Fault> {
    if truth == Truth::Not {
        return op.alike(import, Kind::Logic(Logic { truth, known: None }));
    }
    for k in 0..2 {
        if let Known::Floats(_) = op.input(import, k)? {
            return Err(op.error(format!("its input {k} is weights"), "give it truth values"));
        }
    }
    let (reads, known, lengths) = op.two(import, "it joins known truth values")?;
    op.made(import, Kind::Logic(Logic { truth, known }), reads, lengths)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::zoo::Writer;

    #[test]
    fn of_truth_values() {
        type Formula = fn(bool, bool) -> bool;
        let all: [(&str, Formula); 4] =
            [("And", |x, y| x && y), ("Or", |x, y| x || y), ("Xor", |x, y| x != y), ("Not", |x, _| !x)];
        for (op, formula) in all {
            let mut w = Writer::new("t", 1, &[2, 6]);
            let [low, high] = [-0.5, 0.25].map(|x| w.weights(&[1], vec![x]));
            let x = w.op("Greater", &["input", &low], &[]);
            let y = w.op("Less", &["input", &high], &[]);
            let z = w.op(op, &if op == "Not" { vec![&x[..]] } else { vec![&x[..], &y] }, &[]);
            check(&w.finish(&z), 0.0, |x| {
                x.data.iter().map(|x| f32::from(u8::from(formula(*x > -0.5, *x < 0.25)))).collect()
            });
        }
    }
}
