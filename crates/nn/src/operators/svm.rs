//! Support vector machines: kernels of a value with the owner's vectors, and their sums.

use super::{ml, pick, prelude::*};
use crate::onnx::Attribute;

/// The operators.
pub(super) const ALL: &[Operator] = &[
    Operator {
        set: "ai.onnx.ml",
        outputs: 2,
        attributes: &[
            "classlabels_ints",
            "classlabels_strings",
            "coefficients",
            "kernel_params",
            "kernel_type",
            "post_transform",
            "prob_a",
            "prob_b",
            "rho",
            "support_vectors",
            "vectors_per_class",
        ],
        error: Bound::Parts("Exp, or Pow, and Gemm"),
        ..Operator::several(
            "SVMClassifier",
            "The class with the most votes of all pairs, and the pairs' scores; with two classes their scores or probabilities.",
            classifier,
        )
    },
    Operator {
        attributes: &[
            "coefficients",
            "kernel_params",
            "kernel_type",
            "n_supports",
            "one_class",
            "post_transform",
            "rho",
            "support_vectors",
        ],
        error: Bound::Parts("Exp, or Pow, and Gemm"),
        ..Operator::ml("SVMRegressor", "The sum of kernels with vectors, times weights.", regressor)
    },
];

/// A value's kernel with each vector: `[rows, vectors]`.
fn kernels(op: &Reading<'_>, import: &mut Import, vectors: usize) -> Result<Known, Fault> {
    let mut x = op.input(import, 0)?;
    let lengths = import.lengths_of(&x);
    let n = match lengths[..] {
        [n] => {
            x = pick::reshaped(op, import, x, vec![1, n])?;
            n
        }
        [_, n] => n,
        _ => {
            return Err(
                op.error(format!("its value has the lengths {lengths:?}"), "give it rows of elements")
            );
        }
    };
    let all = op.floats("support_vectors")?;
    if vectors == 0 || vectors.checked_mul(n) != Some(all.len()) {
        let cause = format!("it has {} elements of {vectors} vectors for {n} columns", all.len());
        return Err(
            op.error(cause, "train with vectors (SVC or SVR in scikit-learn), or save the model anew")
        );
    }
    let [gamma, start, degree] = op.floats("kernel_params")?[..] else {
        return Err(op.error("its kernel has not three parameters", "save the model anew"));
    };
    let product = |import: &mut Import, by: f32, bias: Vec<f32>| {
        let weights = Known::floats(&[vectors, n], all.iter().map(|v| v * by).collect());
        let bias = Known::floats(&[bias.len()], bias);
        op.call(import, "Gemm", &[&x, &weights, &bias], &[("transB", Attribute::Int(1))])
    };
    match &op.text("kernel_type", "LINEAR")?[..] {
        "LINEAR" => product(import, 1.0, vec![0.0; vectors]),
        "POLY" => {
            let sums = product(import, gamma, vec![start; vectors])?;
            op.call(import, "Pow", &[&sums, &Known::floats(&[], vec![degree])], &[])
        }
        "SIGMOID" => {
            let sums = product(import, gamma, vec![start; vectors])?;
            op.call(import, "Tanh", &[&sums], &[])
        }
        // γ |x − v|² = γ |x|² − 2 γ x v + γ |v|².
        "RBF" => {
            let own = |v: &[f32]| -gamma * v.iter().map(|v| v * v).sum::<f32>();
            let sums = product(import, 2.0 * gamma, all.chunks(n).map(own).collect())?;
            let square = op.call(import, "Mul", &[&x, &x], &[])?;
            let square = op.call(import, "ReduceSum", &[&square, &Known::list(&[1])], &[])?;
            let square = op.call(import, "Mul", &[&square, &Known::floats(&[], vec![-gamma])], &[])?;
            let power = op.call(import, "Add", &[&sums, &square], &[])?;
            op.call(import, "Exp", &[&power], &[])
        }
        other => {
            Err(op.error(format!("its kernel_type is {}", shown(other)), "take LINEAR, POLY, RBF or SIGMOID"))
        }
    }
}

fn count(op: &Reading<'_>, n: i64) -> Result<usize, Fault> {
    usize::try_from(n).map_err(|_| op.error(format!("it has {n} vectors"), "save the model anew"))
}

fn regressor(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let vectors = count(op, op.int("n_supports", 0)?)?;
    let weights = op.floats("coefficients")?;
    if weights.len() != vectors {
        return Err(
            op.error(format!("it has {} weights for {vectors} vectors", weights.len()), "save it anew")
        );
    }
    let kernels = kernels(op, import, vectors)?;
    let bias = Known::floats(&[1], vec![op.floats("rho")?.first().copied().unwrap_or(0.0)]);
    let made = op.call(import, "Gemm", &[&kernels, &Known::floats(&[vectors, 1], weights), &bias], &[])?;
    if !op.flag("one_class", false)? {
        return ml::transformed(op, import, &made);
    }
    let zero = Known::floats(&[], vec![0.0]);
    let above = op.call(import, "Greater", &[&made, &zero], &[])?;
    let [one, minus] = [1.0, -1.0].map(|x| Known::floats(&[], vec![x]));
    op.call(import, "Where", &[&above, &one, &minus], &[])
}

fn classifier(op: &Reading<'_>, import: &mut Import) -> Result<Vec<Known>, Fault> {
    let labels = ml::labels(op, "classlabels_ints", "classlabels_strings")?;
    let classes = labels.len();
    let each = op.ints("vectors_per_class")?.unwrap_or_default();
    let each = each.iter().map(|n| count(op, *n)).collect::<Result<Vec<usize>, _>>()?;
    let (weights, bias) = (op.floats("coefficients")?, op.floats("rho")?);
    let (a, b) = (op.floats("prob_a")?, op.floats("prob_b")?);
    let vectors: usize = each.iter().sum();
    let pairs = classes * classes.saturating_sub(1) / 2;
    let fits = classes >= 2
        && each.len() == classes
        && weights.len() == (classes - 1) * vectors
        && bias.len() == pairs
        && a.len() == b.len()
        && (a.is_empty() || a.len() == pairs);
    if !fits {
        let cause = format!("its lists do not fit {classes} classes with {each:?} vectors");
        return Err(op.error(cause, "train with vectors (SVC in scikit-learn), or save the model anew"));
    }
    if !a.is_empty() && classes > 2 {
        let cause = "it couples the probabilities of more than two classes";
        return Err(op.error(cause, "train with probability=False, or calibrate with CalibratedClassifierCV"));
    }
    let first = |class: usize| each[..class].iter().sum::<usize>();
    // A column for each pair; the first of its classes wins where the sum is above 0.
    let mut of_pairs = vec![0.0; vectors * pairs];
    let (mut votes, mut all, mut pair) = (vec![0.0; pairs * classes], vec![0.0; classes], 0);
    for i in 0..classes {
        for j in i + 1..classes {
            for (class, row) in [(i, j - 1), (j, i)] {
                for v in first(class)..first(class) + each[class] {
                    of_pairs[v * pairs + pair] = weights[row * vectors + v];
                }
            }
            votes[pair * classes + i] = 1.0;
            votes[pair * classes + j] = -1.0;
            all[j] += 1.0;
            pair += 1;
        }
    }
    let kernels = kernels(op, import, vectors)?;
    let inputs = [&kernels, &Known::floats(&[vectors, pairs], of_pairs), &Known::floats(&[pairs], bias)];
    let scores = op.call(import, "Gemm", &inputs, &[])?;
    let wins = op.call(import, "Greater", &[&scores, &Known::floats(&[], vec![0.0])], &[])?;
    let inputs = [&wins, &Known::floats(&[pairs, classes], votes), &Known::floats(&[classes], all)];
    let votes = op.call(import, "Gemm", &inputs, &[])?;
    let label = ml::greatest(op, import, &votes, labels)?;
    if classes > 2 {
        return Ok(vec![label, ml::transformed(op, import, &scores)?]);
    }
    let (of, other) = if let ([a], [b]) = (&a[..], &b[..]) {
        // 1 / (1 + e^(a s + b)), and what is missing to 1.
        let inputs = [&scores, &Known::floats(&[1, 2], vec![-a, *a]), &Known::floats(&[2], vec![-b, *b])];
        let made = op.call(import, "Gemm", &inputs, &[])?;
        return Ok(vec![label, op.call(import, "Sigmoid", &[&made], &[])?]);
    } else {
        (op.call(import, "Neg", &[&scores], &[])?, scores)
    };
    let made = op.call(import, "Concat", &[&of, &other], &[("axis", Attribute::Int(1))])?;
    Ok(vec![label, ml::transformed(op, import, &made)?])
}

#[cfg(test)]
mod tests {
    use super::super::checks::check_ml;
    use crate::{onnx::Attribute, zoo::Writer};

    #[test]
    fn kernels_are_summed() {
        let vectors = [0.5, -0.25, 1.0, 0.75, -1.0, 0.0];
        type Kernel = fn(f32, f32) -> f32;
        let all: [(&str, Kernel); 4] = [
            ("LINEAR", |dot, _| dot),
            ("POLY", |dot, _| (0.5 * dot + 0.25).powi(2)),
            ("SIGMOID", |dot, _| (0.5 * dot + 0.25).tanh()),
            ("RBF", |_, square| (-0.5 * square).exp()),
        ];
        for (kind, kernel) in all {
            let mut w = Writer::new("svm", 1, &[1, 2]);
            let attributes = [
                ("kernel_type", Attribute::Text(kind.into())),
                ("kernel_params", Attribute::Floats(vec![0.5, 0.25, 2.0])),
                ("support_vectors", Attribute::Floats(vectors.to_vec())),
                ("n_supports", Attribute::Int(3)),
                ("coefficients", Attribute::Floats(vec![1.0, -0.5, 2.0])),
                ("rho", Attribute::Floats(vec![0.125])),
            ];
            let y = w.op("SVMRegressor", &["input"], &attributes);
            check_ml(w.finish(&y), 16.0, |x| {
                let one = |(v, weight): (&[f32], f32)| {
                    let dot = v[0] * x.data[0] + v[1] * x.data[1];
                    let square = (v[0] - x.data[0]).powi(2) + (v[1] - x.data[1]).powi(2);
                    weight * kernel(dot, square)
                };
                vec![0.125 + vectors.chunks(2).zip([1.0, -0.5, 2.0]).map(one).sum::<f32>()]
            });
        }
    }
}
