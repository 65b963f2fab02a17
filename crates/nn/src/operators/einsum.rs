//! Einsum: diagonals, sums, and one product of matrices for each further operand.

use super::{pick, prelude::*};
use crate::{array::steps, onnx::Attribute};

/// The operator.
pub(super) const ALL: &[Operator] = &[Operator {
    inputs: usize::MAX,
    attributes: &["equation"],
    error: Bound::ROUNDED,
    ..Operator::new("Einsum", "Sums of products of elements whose axes have the same letters.", read)
}];

/// An operand, and the letter of each of its axes. Axes of an ellipsis have digits.
struct Term {
    value: Known,
    axes: Vec<char>,
}

/// The letters of operands and, if given, of the result.
fn letters(op: &Reading<'_>) -> Result<(Vec<String>, Option<String>), Fault> {
    let text: String = op.text("equation", "")?.chars().filter(|c| !c.is_whitespace()).collect();
    let (operands, result) = match text.split_once("->") {
        Some((operands, result)) => (operands, Some(result.to_owned())),
        None => (&text[..], None),
    };
    let known = |of: &str| of.replace("...", "").chars().all(|c| c.is_ascii_alphabetic());
    let operands: Vec<String> = operands.split(',').map(str::to_owned).collect();
    let odd = operands.iter().chain(&result).any(|of| !known(of));
    if odd || operands.len() != op.node.inputs.len() {
        let cause = format!("its equation is {}", shown(&text));
        return Err(op.error(cause, "write letters for the axes of each operand, as in ij,jk->ik"));
    }
    Ok((operands, result))
}

/// The letters of an operand's axes.
fn axes(op: &Reading<'_>, of: &str, rank: usize) -> Result<Vec<char>, Fault> {
    let (before, after) = of.split_once("...").unwrap_or((of, ""));
    let more = (rank + 3 * usize::from(of.contains("..."))).checked_sub(of.len());
    let more = more.filter(|n| of.contains("...") || *n == 0).filter(|n| *n < 10);
    let more = more.ok_or_else(|| {
        op.error(format!("its operand {} has {rank} axes", shown(of)), "write a letter for each axis")
    })?;
    // Counted from the end, so that operands of different ranks match.
    let middle = (0..more).rev().filter_map(|k| char::from_digit(k as u32, 10));
    Ok(before.chars().chain(middle).chain(after.chars()).collect())
}

impl Term {
    /// The elements of a value whose axes of the same letter have the same index.
    fn diagonal(mut self, op: &Reading<'_>, import: &mut Import) -> Result<Self, Fault> {
        let lengths = import.lengths_of(&self.value);
        let mut once: Vec<char> = vec![];
        self.axes.iter().for_each(|c| {
            if !once.contains(c) {
                once.push(*c);
            }
        });
        if once.len() == self.axes.len() {
            return Ok(self);
        }
        let (own, mut to, mut by) = (steps(&lengths), vec![], vec![]);
        for c in &once {
            let all: Vec<usize> = (0..lengths.len()).filter(|k| self.axes[*k] == *c).collect();
            if all.iter().any(|k| lengths[*k] != lengths[all[0]]) {
                let cause = format!("its axes {c} have unlike lengths {lengths:?}");
                return Err(op.error(cause, "give axes of one letter one length"));
            }
            to.push(lengths[all[0]]);
            by.push(all.iter().map(|k| own[*k]).sum());
        }
        let places: Vec<usize> = crate::array::places(&to, &by).collect();
        self.value = pick::at_places(op, import, self.value, places, to)?;
        self.axes = once;
        Ok(self)
    }

    /// Sums along axes that occur in no other operand, nor in the result.
    fn summed(
        mut self,
        op: &Reading<'_>,
        import: &mut Import,
        keep: impl Fn(char) -> bool,
    ) -> Result<Self, Fault> {
        let gone: Vec<i64> =
            (0..self.axes.len()).filter(|k| !keep(self.axes[*k])).map(|k| k as i64).collect();
        if !gone.is_empty() {
            let attributes = [("keepdims", Attribute::Int(0))];
            self.value = op.call(import, "ReduceSum", &[&self.value, &Known::list(&gone)], &attributes)?;
            self.axes.retain(|c| keep(*c));
        }
        Ok(self)
    }

    /// The axes in a given order, joined into groups.
    fn grouped(&self, op: &Reading<'_>, import: &mut Import, groups: &[&[char]]) -> Result<Known, Fault> {
        let lengths = import.lengths_of(&self.value);
        let place = |c: &char| self.axes.iter().position(|own| own == c).unwrap_or(0);
        let order: Vec<usize> = groups.iter().flat_map(|group| group.iter().map(place)).collect();
        let joined = groups.iter().map(|group| group.iter().map(|c| lengths[place(c)]).product()).collect();
        let turned = pick::turned(op, import, &self.value, &order)?;
        pick::reshaped(op, import, turned, joined)
    }
}

/// The product of two operands, summed along the letters that are not kept.
fn product(
    op: &Reading<'_>,
    import: &mut Import,
    [x, y]: [Term; 2],
    keep: impl Fn(char) -> bool,
) -> Result<Term, Fault> {
    let x = x.summed(op, import, |c| keep(c) || y.axes.contains(&c))?;
    let y = y.summed(op, import, |c| keep(c) || x.axes.contains(&c))?;
    let (mut x, mut y) = (x, y);
    // An axis of length 1 is repeated, as an ellipsis allows.
    for k in 0..x.axes.len() {
        let Some(l) = y.axes.iter().position(|c| *c == x.axes[k]) else { continue };
        let (m, n) = (import.lengths_of(&x.value)[k], import.lengths_of(&y.value)[l]);
        match (m, n) {
            _ if m == n => {}
            (1, n) => x.value = pick::pick(op, import, x.value.clone(), k, vec![0; n])?,
            (m, 1) => y.value = pick::pick(op, import, y.value.clone(), l, vec![0; m])?,
            _ => {
                let cause = format!("its axes {} have the lengths {m} and {n}", x.axes[k]);
                return Err(op.error(cause, "give axes of one letter one length"));
            }
        }
    }
    let both = |c: &&char| y.axes.contains(c);
    let batch: Vec<char> = x.axes.iter().filter(both).filter(|c| keep(**c)).copied().collect();
    let inner: Vec<char> = x.axes.iter().filter(both).filter(|c| !keep(**c)).copied().collect();
    let left: Vec<char> = x.axes.iter().filter(|c| !y.axes.contains(c)).copied().collect();
    let right: Vec<char> = y.axes.iter().filter(|c| !x.axes.contains(c)).copied().collect();
    let length = |import: &Import, c: &char| {
        let of = |term: &Term| {
            term.axes.iter().position(|own| own == c).map(|k| import.lengths_of(&term.value)[k])
        };
        of(&x).or_else(|| of(&y)).unwrap_or(1)
    };
    let axes = [&batch[..], &left, &right].concat();
    let lengths = axes.iter().map(|c| length(import, c)).collect();
    let value = if inner.is_empty() && (left.is_empty() || right.is_empty()) {
        // Products of elements: an axis that one operand lacks has the length 1 there.
        let (a, b) =
            (&x.grouped(op, import, &[&batch, &left, &[]])?, &y.grouped(op, import, &[&batch, &[], &right])?);
        op.call(import, "Mul", &[a, b], &[])?
    } else {
        let a = x.grouped(op, import, &[&batch, &left, &inner])?;
        let b = y.grouped(op, import, &[&batch, &inner, &right])?;
        if batch.is_empty() {
            let flat = |import: &mut Import, of: Known| {
                let lengths = import.lengths_of(&of)[1..].to_vec();
                pick::reshaped(op, import, of, lengths)
            };
            let (a, b) = (flat(import, a)?, flat(import, b)?);
            op.call(import, "MatMul", &[&a, &b], &[])?
        } else {
            op.call(import, "MatMul", &[&a, &b], &[])?
        }
    };
    Ok(Term { value: pick::reshaped(op, import, value, lengths)?, axes })
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (operands, result) = letters(op)?;
    let mut terms = vec![];
    for (k, of) in operands.iter().enumerate() {
        let value = op.input(import, k)?;
        let rank = import.lengths_of(&value).len();
        let term = Term { axes: axes(op, of, rank)?, value };
        terms.push(term.diagonal(op, import)?);
    }
    let digits = |of: &Term| of.axes.iter().filter(|c| c.is_ascii_digit()).count();
    let more = terms.iter().map(digits).max().unwrap_or(0);
    let result = match result {
        Some(result) => axes(op, &result, result.len() - 3 * usize::from(result.contains("...")) + more)?,
        None => {
            // The ellipsis first, then the letters that occur once, in their order.
            let all: String = operands.concat().replace("...", "");
            let mut once: Vec<char> = all.chars().filter(|c| all.matches(*c).count() == 1).collect();
            once.sort_unstable();
            (0..more).rev().filter_map(|k| char::from_digit(k as u32, 10)).chain(once).collect()
        }
    };
    let known = |c: &char| terms.iter().any(|term| term.axes.contains(c));
    let twice = (0..result.len()).any(|k| result[..k].contains(&result[k]));
    if twice || !result.iter().all(known) {
        return Err(op.error("its result has axes that no operand has, or one twice", "save the model anew"));
    }
    let mut rest = terms.into_iter();
    let mut made = rest.next().ok_or_else(|| op.error("it has no operands", "save the model anew"))?;
    let rest: Vec<Term> = rest.collect();
    let mut later: Vec<Vec<char>> =
        (0..rest.len()).map(|k| rest[k + 1..].iter().flat_map(|term| term.axes.clone()).collect()).collect();
    for (term, later) in rest.into_iter().zip(later.drain(..)) {
        let keep = |c: char| result.contains(&c) || later.contains(&c);
        made = product(op, import, [made, term], keep)?;
    }
    let made = made.summed(op, import, |c| result.contains(&c))?;
    let each: Vec<[char; 1]> = result.iter().map(|c| [*c]).collect();
    let groups: Vec<&[char]> = each.iter().map(|one| &one[..]).collect();
    made.grouped(op, import, &groups)
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    fn equation(of: &str) -> [(&'static str, Attribute); 1] {
        [("equation", Attribute::Text(of.into()))]
    }

    #[test]
    fn of_a_value_and_weights() {
        let weights = [0.5, -1.0, 2.0, 0.25, 1.5, -0.75];
        let mut w = Writer::new("e", 1, &[1, 2, 3, 2]);
        let by = w.weights(&[2, 3], weights.to_vec());
        let y = w.op("Einsum", &["input", &by], &equation("nbij,bi->njb"));
        check(&w.finish(&y), 4.0, |x| {
            let at = |b: usize, j: usize| {
                (0..3).map(|i| x.data[(b * 3 + i) * 2 + j] * weights[b * 3 + i]).sum::<f32>()
            };
            vec![at(0, 0), at(1, 0), at(0, 1), at(1, 1)]
        });
    }

    #[test]
    fn of_values_and_of_diagonals() {
        let mut w = Writer::new("e", 1, &[1, 2, 3]);
        let y = w.op("Einsum", &["input", "input"], &equation("nij,nkj->nik"));
        check(&w.finish(&y), 4.0, |x| {
            let dot = |i: usize, k: usize| (0..3).map(|j| x.data[3 * i + j] * x.data[3 * k + j]).sum::<f32>();
            vec![dot(0, 0), dot(0, 1), dot(1, 0), dot(1, 1)]
        });
        let mut w = Writer::new("e", 1, &[1, 2, 3, 3]);
        let y = w.op("Einsum", &["input"], &equation("n...ii->ni..."));
        check(&w.finish(&y), 1.0, |x| (0..6).map(|k| x.data[k % 2 * 9 + k / 2 * 4]).collect());
    }
}
