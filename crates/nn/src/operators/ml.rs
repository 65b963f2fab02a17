//! Operators of the set `ai.onnx.ml` that are composed of others.

use super::{function, imputed, labels, pick, prelude::*};
use crate::onnx::Attribute;

/// The operators.
pub(super) const ALL: &[Operator] = &[
    Operator {
        inputs: 2,
        moves: true,
        error: Bound::EXACT,
        ..Operator::ml(
            "ArrayFeatureExtractor",
            "Elements at known places along the last axis; of weights with up to two axes, also at secret places.",
            extracted,
        )
    },
    Operator {
        attributes: &["threshold"],
        error: Bound::EXACT,
        ..Operator::ml("Binarizer", "1 where the element is greater than a threshold, else 0.", binary)
    },
    Operator {
        attributes: &["cats_int64s", "cats_strings", "inputdimensions"],
        inputs: usize::MAX,
        error: Bound::EXACT,
        ..Operator::ml("FeatureVectorizer", "Values joined along the last axis.", joined)
    },
    Operator {
        attributes: &[
            "imputed_value_floats",
            "imputed_value_int64s",
            "replaced_value_float",
            "replaced_value_int64",
        ],
        error: Bound::ROUNDED,
        ..Operator::ml(
            "Imputer",
            "Another number where the element is the replaced one; else the value itself: inputs are finite numbers.",
            imputer,
        )
    },
    Operator {
        attributes: &[
            "default_float",
            "default_int64",
            "default_string",
            "keys_floats",
            "keys_int64s",
            "keys_strings",
            "values_floats",
            "values_int64s",
            "values_strings",
        ],
        moves: true,
        error: Bound::ROUNDED,
        ..Operator::ml(
            "LabelEncoder",
            "The number that each place or number stands for; places of texts stay.",
            encoded,
        )
    },
    Operator {
        set: "ai.onnx.ml",
        outputs: 2,
        attributes: &[
            "classlabels_ints",
            "classlabels_strings",
            "coefficients",
            "intercepts",
            "multi_class",
            "post_transform",
        ],
        error: Bound::ROUNDED,
        ..Operator::several(
            "LinearClassifier",
            "The place of the greatest of products with weights, and the products.",
            classified,
        )
    },
    Operator {
        attributes: &["cats_int64s", "cats_strings", "zeros"],
        moves: true,
        error: Bound::EXACT,
        ..Operator::ml(
            "OneHotEncoder",
            "1 at the place of the category that the element is, else 0, along a new last axis; zeros for a number that is no category.",
            one_hot,
        )
    },
    Operator {
        attributes: &["coefficients", "intercepts", "post_transform", "targets"],
        error: Bound::ROUNDED,
        ..Operator::ml("LinearRegressor", "Products with weights.", regressed)
    },
    Operator {
        attributes: &["offset", "scale"],
        error: Bound { weights: 2.0, ..Bound::steps(1.0) }.over("factors up to 1, else times the factor"),
        ..Operator::ml("Scaler", "The element less an offset, times a factor.", scaled)
    },
    Operator {
        attributes: &["classlabels_int64s", "classlabels_strings"],
        moves: true,
        error: Bound::EXACT,
        ..Operator::ml(
            "ZipMap",
            "The value itself: the labels are not repeated for each row.",
            |op, import| op.input(import, 0),
        )
    },
];

/// Rows of elements: a single list is one row.
fn rows(op: &Reading<'_>, import: &mut Import) -> Result<(Known, usize), Fault> {
    let of = op.input(import, 0)?;
    let lengths = import.lengths_of(&of);
    match lengths[..] {
        [n] => Ok((pick::reshaped(op, import, of, vec![1, n])?, n)),
        [_, n] => Ok((of, n)),
        _ => Err(op.error(format!("its value has the lengths {lengths:?}"), "give it rows of elements")),
    }
}

/// The numbers of columns: one for each, or one for all.
fn columns(op: &Reading<'_>, name: &str, n: usize) -> Result<Option<Known>, Fault> {
    let all = op.floats(name)?;
    match all.len() {
        0 => Ok(None),
        1 => Ok(Some(Known::floats(&[1], all))),
        m if m == n => Ok(Some(Known::floats(&[n], all))),
        m => Err(op.error(format!("it has {m} numbers ({name}) for {n} columns"), "save the model anew")),
    }
}

fn scaled(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (mut x, n) = rows(op, import)?;
    if let Some(offset) = columns(op, "offset", n)? {
        x = op.call(import, "Sub", &[&x, &offset], &[])?;
    }
    match columns(op, "scale", n)? {
        Some(scale) => op.call(import, "Mul", &[&x, &scale], &[]),
        None => Ok(x),
    }
}

/// Sums of products with coefficients, with a row for each of `outputs`.
fn products(op: &Reading<'_>, import: &mut Import, outputs: usize) -> Result<Known, Fault> {
    let (x, n) = rows(op, import)?;
    let weights = op.floats("coefficients")?;
    if outputs == 0 || outputs.checked_mul(n) != Some(weights.len()) {
        let cause = format!("it has {} coefficients for {n} columns and {outputs} outputs", weights.len());
        return Err(op.error(cause, "save the model anew"));
    }
    let weights = Known::floats(&[outputs, n], weights);
    let bias = columns(op, "intercepts", outputs)?;
    let inputs = [Some(&x), Some(&weights), bias.as_ref()];
    Ok(op.call_all(import, "Gemm", &inputs, 1, &[("transB", Attribute::Int(1))])?.remove(0))
}

/// Scores after a classifier's transformation.
pub(super) fn transformed(op: &Reading<'_>, import: &mut Import, scores: &Known) -> Result<Known, Fault> {
    match &op.text("post_transform", "NONE")?[..] {
        "NONE" => Ok(scores.clone()),
        "LOGISTIC" => op.call(import, "Sigmoid", &[scores], &[]),
        "SOFTMAX" => op.call(import, "Softmax", &[scores], &[("axis", Attribute::Int(-1))]),
        other => {
            Err(op.error(format!("its post_transform is {}", shown(other)), "take NONE, LOGISTIC or SOFTMAX"))
        }
    }
}

/// The labels of classes in attributes. Texts are replaced by their numbers.
pub(super) fn labels(op: &Reading<'_>, ints: &str, texts: &str) -> Result<Vec<i64>, Fault> {
    Ok(match op.ints(ints)? {
        Some(all) if !all.is_empty() => all,
        _ => (0..op.texts(texts)?.len() as i64).collect(),
    })
}

/// The label of the greatest score of each row.
pub(super) fn greatest(
    op: &Reading<'_>,
    import: &mut Import,
    scores: &Known,
    labels: Vec<i64>,
) -> Result<Known, Fault> {
    let attributes = [("axis", Attribute::Int(-1)), ("keepdims", Attribute::Int(0))];
    let places = op.call(import, "ArgMax", &[scores], &attributes)?;
    labels::named(op, import, places, labels)
}

fn classified(op: &Reading<'_>, import: &mut Import) -> Result<Vec<Known>, Fault> {
    let labels = labels(op, "classlabels_ints", "classlabels_strings")?;
    let count = op.floats("intercepts")?.len();
    if count == 1 && labels.len() == 2 && op.text("post_transform", "NONE")? == "LOGISTIC" {
        // One row describes both classes: the score of the other one is the negative.
        let score = products(op, import, 1)?;
        let other = op.call(import, "Neg", &[&score], &[])?;
        let scores = op.call(import, "Concat", &[&other, &score], &[("axis", Attribute::Int(-1))])?;
        let label = greatest(op, import, &scores, labels)?;
        return Ok(vec![label, transformed(op, import, &scores)?]);
    }
    if count < 2 || labels.len() != count {
        let cause = format!("it has {count} rows of coefficients for {} classes", labels.len());
        return Err(op.error(cause, "give each class a row"));
    }
    let scores = products(op, import, count)?;
    let label = greatest(op, import, &scores, labels)?;
    Ok(vec![label, transformed(op, import, &scores)?])
}

fn regressed(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let targets = usize::try_from(op.int("targets", 1)?).unwrap_or(0);
    let made = products(op, import, targets)?;
    transformed(op, import, &made)
}

fn imputer(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let whole = op.ints("imputed_value_int64s")?.filter(|all| !all.is_empty());
    let replaced = match &whole {
        Some(_) => op.int("replaced_value_int64", 0)? as f32,
        None => op.float("replaced_value_float", 0.0)?,
    };
    let (x, n) = rows(op, import)?;
    let new: Vec<f32> = match whole {
        Some(all) => all.iter().map(|n| *n as f32).collect(),
        None => op.floats("imputed_value_floats")?,
    };
    if new.len() != 1 && new.len() != n {
        let cause = format!("it has {} numbers for {n} columns", new.len());
        return Err(op.error(cause, "save the model anew"));
    }
    if !replaced.is_finite() {
        return match op.input(import, 0)? {
            // Values of functions may be infinite or NaN in floating point; inputs are finite.
            Known::Layer(at) if !matches!(import.layers[at].kind, Kind::Input(_)) => {
                let lengths = import.lengths(at).to_vec();
                op.made(import, Kind::Imputed(imputed::Imputed { replaced, by: new }), vec![at], lengths)
            }
            known => Ok(known),
        };
    }
    let is = op.call(import, "Equal", &[&x, &Known::floats(&[], vec![replaced])], &[])?;
    op.call(import, "Where", &[&is, &Known::floats(&[new.len()], new), &x], &[])
}

fn binary(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let x = op.input(import, 0)?;
    let threshold = Known::floats(&[1], vec![op.float("threshold", 0.0)?]);
    op.call(import, "Greater", &[&x, &threshold], &[])
}

fn joined(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let all = (0..op.node.inputs.len()).map(|k| op.input(import, k)).collect::<Result<Vec<_>, _>>()?;
    let all: Vec<&Known> = all.iter().collect();
    op.call(import, "Concat", &all, &[("axis", Attribute::Int(-1))])
}

fn extracted(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    match (of, op.input(import, 1)?) {
        // The labels of classes, by the place of the greatest score.
        (Known::Ints(_, names), Known::Layer(at)) if import.is_places(at) => {
            let lengths = import.lengths(at).to_vec();
            let count = lengths.iter().product();
            let named = labels::named(op, import, Known::Layer(at), names)?;
            pick::reshaped(op, import, named, vec![1, count])
        }
        (of, Known::Layer(at)) if of.is_known() => {
            let (lengths, count) = (import.lengths_of(&of), import.lengths(at).iter().product());
            let columns: usize = lengths.iter().product();
            let rows = lengths.iter().rev().skip(1).product::<usize>();
            if lengths.len() > 2 {
                let cause = format!("it extracts columns of {lengths:?} at secret places");
                return Err(op.error(cause, "extract from rows of numbers"));
            }
            // Columns become rows: each secret place reads one row.
            let columns = columns / rows.max(1);
            let mut table = pick::reshaped(op, import, of, vec![rows, columns])?;
            table = pick::turned(op, import, &table, &[1, 0])?;
            let flat = pick::reshaped(op, import, Known::Layer(at), vec![count])?;
            let Known::Layer(flat) = flat else {
                return Err(op.error("its places are known", "leave it out"));
            };
            let made = super::lookup::read(op, import, &table, flat, 0)?;
            pick::turned(op, import, &made, &[1, 0])
        }
        (_, Known::Layer(_)) => {
            Err(op.error("its places are secret", "extract labels by the place of a greatest score"))
        }
        (of, places) => {
            let Known::Ints(_, places) = places else {
                return Err(op.error("its places are no integers", "save the model anew"));
            };
            let mut of = of;
            let lengths = import.lengths_of(&of);
            if lengths.len() < 2 {
                of = pick::reshaped(op, import, of, vec![1, lengths.iter().product()])?;
            }
            let places = Known::list(&places);
            op.call(import, "Gather", &[&of, &places], &[("axis", Attribute::Int(-1))])
        }
    }
}

/// Maps each number to another one. It sums, over all keys, whether the number is equal to the key,
/// times the value of the key.
fn mapped(op: &Reading<'_>, import: &mut Import, of: &Known) -> Result<Known, Fault> {
    let list = |ints: &str, floats: &str| {
        Ok::<_, Fault>(match op.ints(ints)? {
            Some(all) if !all.is_empty() => all.iter().map(|n| *n as f32).collect(),
            _ => op.floats(floats)?,
        })
    };
    let (keys, values) = (list("keys_int64s", "keys_floats")?, list("values_int64s", "values_floats")?);
    if keys.is_empty() || keys.len() != values.len() || keys.len() > 1 << 16 {
        let cause = format!("it has {} keys and {} values that are numbers", keys.len(), values.len());
        return Err(op.error(cause, "encode texts before the run"));
    }
    let whole = op.ints("values_int64s")?.is_some_and(|all| !all.is_empty());
    let rest = if whole { op.int("default_int64", -1)? as f32 } else { op.float("default_float", 0.0)? };
    let n = keys.len();
    let rank = import.lengths_of(of).len() as i64;
    let each = op.call(import, "Unsqueeze", &[of, &Known::list(&[rank])], &[])?;
    let is = op.call(import, "Equal", &[&each, &Known::floats(&[n], keys)], &[])?;
    let more = Known::floats(&[n, 1], values.iter().map(|value| value - rest).collect());
    let made = op.call(import, "MatMul", &[&is, &more], &[])?;
    let made = op.call(import, "Squeeze", &[&made, &Known::list(&[rank])], &[])?;
    op.call(import, "Add", &[&made, &Known::floats(&[], vec![rest])], &[])
}

/// For each number and category, whether they are equal. For places, and for categories 0, 1, 2 and
/// so on, no fractions are needed.
fn one_hot(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let cats = op.ints("cats_int64s")?.filter(|all| !all.is_empty());
    let Some(cats) = cats.filter(|all| all.len() <= 1 << 16) else {
        return Err(op.error("its categories are not up to 65,536 integers", "encode texts before the run"));
    };
    let Known::Layer(at) = op.input(import, 0)? else {
        return Err(op.error("its value is known", "leave it out"));
    };
    let n = cats.len();
    if import.is_places(at) && cats.iter().copied().eq(0..n as i64) {
        let inputs = [&Known::Layer(at), &Known::Ints(vec![], vec![n as i64]), &Known::list(&[0, 1])];
        return op.call(import, "OneHot", &inputs, &[("axis", Attribute::Int(-1))]);
    }
    let whole = op.reads_whole(import, 0) && !import.is_places(at);
    let of = if whole { Known::Layer(at) } else { function::truncated(op, import, at)? };
    let rank = import.lengths_of(&of).len() as i64;
    let each = op.call(import, "Unsqueeze", &[&of, &Known::list(&[rank])], &[])?;
    let cats = Known::floats(&[n], cats.iter().map(|cat| *cat as f32).collect());
    op.call(import, "Equal", &[&each, &cats], &[])
}

fn encoded(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let of = op.input(import, 0)?;
    let Known::Layer(at) = of else { return Err(op.error("its value is known", "leave it out")) };
    if !import.is_places(at) {
        return mapped(op, import, &of);
    }
    let keys = op.ints("keys_int64s")?;
    if keys.is_some_and(|keys| !keys.iter().copied().eq(0..keys.len() as i64)) {
        return Err(op.error("its keys are not the places 0, 1, …", "encode labels in the classes' order"));
    }
    match op.ints("values_int64s")? {
        Some(values) => labels::named(op, import, of, values),
        None => Ok(of),
    }
}

#[cfg(test)]
mod tests {
    use super::super::checks::check_ml;
    use crate::{Array, onnx::Attribute, zoo::Writer};

    /// The place of the greatest element of each four elements.
    fn places(x: &Array) -> Vec<usize> {
        let greatest = |row: &[f32]| (0..4).fold(0, |best, i| if row[i] > row[best] { i } else { best });
        x.data.chunks(4).map(greatest).collect()
    }

    fn arg_max(w: &mut Writer) -> String {
        w.op("ArgMax", &["input"], &[("axis", Attribute::Int(1)), ("keepdims", Attribute::Int(0))])
    }

    #[test]
    fn categories_of_places_and_of_numbers() {
        for cats in [vec![0, 1, 2, 3], vec![3, 1]] {
            let mut w = Writer::new("one-hot", 1, &[3, 4]);
            let x = arg_max(&mut w);
            let y = w.op("OneHotEncoder", &[&x], &[("cats_int64s", Attribute::Ints(cats.clone()))]);
            check_ml(w.finish(&y), 0.0, |x| {
                let is = |place: usize| cats.iter().map(move |cat| f32::from(u8::from(*cat == place as i64)));
                places(x).into_iter().flat_map(is).collect()
            });
        }
        let mut w = Writer::new("one-hot", 1, &[1, 4]);
        let x = w.op("Sign", &["input"], &[]);
        let y = w.op("OneHotEncoder", &[&x], &[("cats_int64s", Attribute::Ints(vec![-1, 0, 1]))]);
        check_ml(w.finish(&y), 0.0, |x| {
            let is = |x: &f32| [-1.0, 0.0, 1.0].map(|cat| if x.signum() == cat { 1.0 } else { 0.0 });
            x.data.iter().flat_map(is).collect()
        });
    }

    /// One row of coefficients for two classes.
    #[test]
    fn one_row_for_two_classes() {
        let floats = |all: &[f32]| Attribute::Floats(all.to_vec());
        let attributes = [
            ("coefficients", floats(&[0.5, -1.0, 0.25, 0.75])),
            ("intercepts", floats(&[0.125])),
            ("classlabels_ints", Attribute::Ints(vec![0, 1])),
            ("post_transform", Attribute::Text("LOGISTIC".into())),
        ];
        let mut w = Writer::new("linear", 1, &[1, 4]);
        let label = w.op("LinearClassifier", &["input"], &attributes);
        w.outputs_of_last(&["scores"]);
        let score =
            |x: &Array| x.data.iter().zip([0.5, -1.0, 0.25, 0.75]).map(|(x, w)| x * w).sum::<f32>() + 0.125;
        let logistic = |x: f32| 1.0 / (1.0 + (-x).exp());
        check_ml(w.finish("scores"), 2.0, |x| vec![logistic(-score(x)), logistic(score(x))]);
        let mut w = Writer::new("linear", 1, &[1, 4]);
        let again = w.op("LinearClassifier", &["input"], &attributes);
        assert_eq!(label, again);
        check_ml(w.finish(&label), 0.0, |x| vec![f32::from(u8::from(score(x) > 0.0))]);
    }

    /// As in Yeo and Johnson's transformation: powers of both sides, one of which is NaN.
    #[test]
    fn powers_that_are_no_numbers() {
        let mut w = Writer::new("powers", 1, &[1, 4]);
        let half = w.weights(&[1], vec![0.5]);
        let number = |x: f32| Attribute::Floats(vec![x]);
        let root = w.op("Sqrt", &["input"], &[]);
        let imputer =
            [("imputed_value_floats", number(0.0)), ("replaced_value_float", Attribute::Float(f32::NAN))];
        let root = w.op("Imputer", &[&root], &imputer);
        let zero = w.weights(&[1], vec![0.0]);
        let is = w.op("Greater", &["input", &zero], &[]);
        let is = w.op("Cast", &[&is], &[("to", Attribute::Int(1))]);
        let y = w.op("Mul", &[&root, &is], &[]);
        let y = w.op("Mul", &[&y, &half], &[]);
        check_ml(w.finish(&y), 4.0, |x| x.data.iter().map(|x| x.max(0.0).sqrt() / 2.0).collect());
    }

    /// Places are numbers without a sign, and labels may be negative.
    #[test]
    fn labels_below_0() {
        let labels = [-5, 7, 300, -1];
        let mut w = Writer::new("labels", 1, &[3, 4]);
        let x = arg_max(&mut w);
        let names = w.integers(7, &[4], labels.to_vec());
        let y = w.op("ArrayFeatureExtractor", &[&names, &x], &[]);
        check_ml(w.finish(&y), 0.0, |x| places(x).into_iter().map(|place| labels[place] as f32).collect());
    }

    #[test]
    fn columns_of_weights_at_secret_places() {
        let table: Vec<f32> = (0..8).map(|i| i as f32 / 2.0 - 1.5).collect();
        let mut w = Writer::new("extract", 1, &[3, 4]);
        let x = arg_max(&mut w);
        let weights = w.weights(&[2, 4], table.clone());
        let y = w.op("ArrayFeatureExtractor", &[&weights, &x], &[]);
        check_ml(w.finish(&y), 0.0, |x| {
            (0..2)
                .flat_map(|row| places(x).into_iter().map(move |place| (row, place)))
                .map(|(row, place)| table[4 * row + place])
                .collect()
        });
    }
}
