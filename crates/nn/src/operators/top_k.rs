//! TopK, composed of ArgMax, OneHot and Where, one element after another.

use super::{function, prelude::*};
use crate::onnx::Attribute;

pub(super) const ALL: &[Operator] = &[Operator {
    inputs: 2,
    outputs: 2,
    attributes: &["axis", "k", "largest", "sorted"],
    error: Bound::EXACT,
    ..Operator::several(
        "TopK",
        "The greatest or least elements along an axis, in order, and their places.",
        read,
    )
}];

/// LOCAL: the most elements that are taken. Each takes a comparison of all elements.
const MOST: usize = 64;

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Vec<Known>, Fault> {
    let x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let axis = op.axis(op.int("axis", -1)?, lengths.len())?;
    let count = match (op.int("k", 0)?, import.opset) {
        // Before set 10 the number is an attribute.
        (count, ..10) => usize::try_from(count).ok(),
        _ => match op.integers(import, 1)?.as_deref() {
            Some([count]) => usize::try_from(*count).ok(),
            _ => None,
        },
    };
    let count = count.filter(|count| (1..=MOST.min(lengths[axis])).contains(count));
    let Some(count) = count else {
        let cause = format!("its number of elements is none of 1 to {}", MOST.min(lengths[axis]));
        return Err(op.error(cause, "take fewer elements"));
    };
    let largest = op.flag("largest", true)?;
    let turned = |import: &mut Import, of: Known| match largest {
        true => Ok(of),
        false => op.call(import, "Neg", &[&of], &[]),
    };
    let int = |name, n: usize| (name, Attribute::Int(n as i64));
    let along = |import: &mut Import, of: &Known, reduction: &str| {
        let axes = Known::Ints(vec![1], vec![axis as i64]);
        op.call(import, reduction, &[of, &axes], &[int("keepdims", 1)])
    };
    let mut rest = turned(import, x)?;
    // An element that was taken is replaced by one that is less than all others.
    let least = along(import, &rest, "ReduceMin")?;
    let one = Known::Floats(Arc::new(Array::new(&[1], vec![-1.0])));
    let least = op.call(import, "Add", &[&least, &one], &[])?;
    let (mut values, mut places) = (vec![], vec![]);
    for k in 0..count {
        values.push(along(import, &rest, "ReduceMax")?);
        let place = op.call(import, "ArgMax", &[&rest], &[int("axis", axis), int("keepdims", 0)])?;
        let Known::Layer(at) = place else { return Err(op.error("its value is known", "leave it out")) };
        let number = function::numbers(op, import, at)?;
        let new = Known::Ints(vec![1], vec![axis as i64]);
        places.push(op.call(import, "Unsqueeze", &[&number, &new], &[])?);
        if k + 1 < count {
            let depth = Known::Ints(vec![], vec![lengths[axis] as i64]);
            let choice = Known::Ints(vec![2], vec![0, 1]);
            let taken = op.call(import, "OneHot", &[&place, &depth, &choice], &[int("axis", axis)])?;
            rest = op.call(import, "Where", &[&taken, &least, &rest], &[])?;
        }
    }
    let joined = |import: &mut Import, all: &[Known]| match all {
        [one] => Ok(one.clone()),
        _ => op.call(import, "Concat", &all.iter().collect::<Vec<_>>(), &[int("axis", axis)]),
    };
    let values = joined(import, &values)?;
    Ok(vec![turned(import, values)?, joined(import, &places)?])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn the_greatest_and_the_least() {
        for (largest, count) in [(1, 2), (0, 5)] {
            let mut w = Writer::new("t", 1, &[1, 5]);
            let k = w.op("Constant", &[], &[("value_ints", Attribute::Ints(vec![count]))]);
            let y = w.op("TopK", &["input", &k], &[("largest", Attribute::Int(largest))]);
            check(&w.finish(&y), 2.0, |x| {
                let mut all = x.data.clone();
                all.sort_by(|a, b| if largest == 1 { b.total_cmp(a) } else { a.total_cmp(b) });
                all.truncate(count as usize);
                all
            });
        }
    }

    #[test]
    fn the_number_was_an_attribute_before_set_10() {
        let mut w = Writer::new("t", 1, &[1, 5]);
        let y = w.op("TopK", &["input"], &[("k", Attribute::Int(1))]);
        let mut model = w.finish(&y);
        model.opset = 9;
        check(&model, 2.0, |x| vec![x.data.iter().copied().fold(f32::MIN, f32::max)]);
    }
}
