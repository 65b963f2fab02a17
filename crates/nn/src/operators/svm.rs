//! Support vector machines: kernels of a value with the owner's vectors, and sums of these.

use super::{ml, pick, prelude::*};
use crate::onnx::Attribute;

/// The bound on sums of kernels, each with its coefficient.
const BOUND: Bound = Bound { element: 2.0, ..Bound::steps(2.0) }.over("coefficients and operands up to 2");

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
        error: BOUND,
        ..Operator::several(
            "SVMClassifier",
            "The class with the most votes of all pairs, and the pairs' scores, or the classes' probabilities if it has them.",
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
        error: BOUND,
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

/// LOCAL: the largest number of classes whose probabilities are coupled. Each class takes a
/// division, one after the other.
const COUPLED: usize = 32;

/// Probabilities p of classes from the probabilities of pairs. They have the sum 1 and minimize Σ
/// (r_ji p_i − r_ij p_j)² over pairs, where r_ij = 1 / (1 + e^(a s + b)) is the probability of
/// class i in the pair (Wu, Lin and Weng, "Probability estimates for multi-class classification by
/// pairwise coupling", 2004). Runtimes approach the minimum in steps; here the equations are
/// solved. With p_last = 1 − Σ of the others, their matrix is symmetric. Its least eigenvalue is
/// bounded away from 0, so that the pivots can be on the diagonal.
fn coupled(
    op: &Reading<'_>,
    import: &mut Import,
    scores: &Known,
    classes: usize,
    [a, b]: [&[f32]; 2],
) -> Result<Known, Fault> {
    let rows = import.lengths_of(scores)[0];
    let pairs = a.len();
    let negative = |of: &[f32]| Known::floats(&[pairs], of.iter().map(|x| -x).collect());
    let exponents = op.call(import, "Mul", &[scores, &negative(a)], &[])?;
    let exponents = op.call(import, "Add", &[&exponents, &negative(b)], &[])?;
    let of_pairs = op.call(import, "Sigmoid", &[&exponents], &[])?;
    let squares = op.call(import, "Mul", &[&of_pairs, &of_pairs], &[])?;
    let both = op.call(import, "Concat", &[&of_pairs, &squares], &[("axis", Attribute::Int(1))])?;
    // Elements of the matrix and of the right side are sums of these: r_ji² = 1 − 2 r_ij + r_ij².
    let sums = equations(classes);
    let width = (classes - 1) * classes;
    let transposed = (0..2 * pairs).flat_map(|k| sums.iter().map(move |sum| sum[k]));
    let weights = Known::floats(&[2 * pairs, width], transposed.collect());
    let bias = Known::floats(&[width], sums.iter().map(|sum| sum[2 * pairs]).collect());
    let flat = op.call(import, "Gemm", &[&both, &weights, &bias], &[])?;
    let mut rest = pick::reshaped(op, import, flat, vec![rows, classes - 1, classes])?;
    let mut solved: Vec<Known> = vec![];
    // Elimination: each row is divided by its pivot, and multiples of it are subtracted from the
    // rows below.
    for n in (1..classes).rev() {
        let row = pick::pick(op, import, rest.clone(), 1, vec![0])?;
        let pivot = pick::pick(op, import, row.clone(), 2, vec![0])?;
        let right = pick::pick(op, import, row, 2, (1..=n).collect())?;
        let row = op.call(import, "Div", &[&right, &pivot], &[])?;
        if n > 1 {
            let below = pick::pick(op, import, rest, 1, (1..n).collect())?;
            let first = pick::pick(op, import, below.clone(), 2, vec![0])?;
            let below = pick::pick(op, import, below, 2, (1..=n).collect())?;
            let less = op.call(import, "Mul", &[&first, &row], &[])?;
            rest = op.call(import, "Sub", &[&below, &less], &[])?;
        } else {
            rest = row.clone();
        }
        solved.push(row);
    }
    // Back substitution from the last row on: the right side minus products with known values.
    let axis = |axis| [("axis", Attribute::Int(axis))];
    let mut found: Option<Known> = None;
    for (k, row) in solved.into_iter().enumerate().rev() {
        let n = classes - 1 - k;
        let row = pick::reshaped(op, import, row, vec![rows, n])?;
        let mut one = pick::pick(op, import, row.clone(), 1, vec![n - 1])?;
        if let Some(rest) = &found {
            let factors = pick::pick(op, import, row, 1, (0..n - 1).collect())?;
            let products = op.call(import, "Mul", &[&factors, rest], &[])?;
            let less = op.call(import, "ReduceSum", &[&products, &Known::list(&[1])], &[])?;
            one = op.call(import, "Sub", &[&one, &less], &[])?;
        }
        found = Some(match found {
            Some(rest) => op.call(import, "Concat", &[&one, &rest], &axis(1))?,
            None => one,
        });
    }
    let found = found.ok_or_else(|| op.error("it has one class", "report this as a bug"))?;
    let sum = op.call(import, "ReduceSum", &[&found, &Known::list(&[1])], &[])?;
    let last = op.call(import, "Sub", &[&Known::floats(&[], vec![1.0]), &sum], &[])?;
    op.call(import, "Concat", &[&found, &last], &axis(1))
}

/// The matrix and the right side of the equations, row by row, for the probabilities of all of
/// `classes` but the last. Each element is given by factors of the r_ij, factors of their squares,
/// and a constant.
fn equations(classes: usize) -> Vec<Vec<f32>> {
    let pairs = classes * (classes - 1) / 2;
    let pair = |i: usize, j: usize| i * (2 * classes - i - 1) / 2 + j - i - 1;
    // Adds an element of the matrix of all classes.
    let add = |sum: &mut [f32], i: usize, j: usize, by: f32| {
        if i != j {
            // −r_ij r_ji = r_ij² − r_ij.
            let k = pair(i.min(j), i.max(j));
            sum[k] -= by;
            sum[pairs + k] += by;
            return;
        }
        for other in (0..classes).filter(|other| *other != i) {
            let k = pair(i.min(other), i.max(other));
            sum[pairs + k] += by;
            if i < other {
                sum[k] -= 2.0 * by;
                sum[2 * pairs] += by;
            }
        }
    };
    let last = classes - 1;
    let mut all = vec![];
    for i in 0..last {
        for j in 0..=last {
            let mut sum = vec![0.0; 2 * pairs + 1];
            add(&mut sum, last, last, 1.0);
            add(&mut sum, i, last, -1.0);
            if j < last {
                add(&mut sum, i, j, 1.0);
                add(&mut sum, j, last, -1.0);
            }
            all.push(sum);
        }
    }
    all
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
    if !a.is_empty() && classes > COUPLED {
        let cause = format!("it couples the probabilities of {classes} classes");
        return Err(op.error(cause, "train with probability=False, or calibrate with CalibratedClassifierCV"));
    }
    let first = |class: usize| each[..class].iter().sum::<usize>();
    // A column for each pair. The first of its classes wins if the sum is above 0.
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
        let told = match a.is_empty() {
            true => ml::transformed(op, import, &scores)?,
            false => coupled(op, import, &scores, classes, [&a, &b])?,
        };
        return Ok(vec![label, told]);
    }
    let (of, other) = if let ([a], [b]) = (&a[..], &b[..]) {
        // 1 / (1 + e^(a s + b)), and its difference to 1.
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

    /// Compares probabilities with the minimum that 2000 steps of libsvm's algorithm find.
    #[test]
    fn probabilities_are_coupled() {
        let rho = [0.25, -0.5, 0.125, 0.75, -0.25, 0.5];
        let (a, b) = ([-1.5, -2.0, -1.0, -2.5, -1.25, -1.75], [0.25, -0.125, 0.5, 0.0, -0.5, 0.125]);
        for classes in [3, 4] {
            let pairs = classes * (classes - 1) / 2;
            let n = classes as i64;
            let vectors: Vec<f32> = (0..2 * classes).map(|i| i as f32 / 4.0 - 0.75).collect();
            let weights: Vec<f32> =
                (0..(classes - 1) * classes).map(|i| (i % 5) as f32 / 2.0 - 1.0).collect();
            let mut w = Writer::new("svm", 1, &[1, 2]);
            let attributes = [
                ("kernel_type", Attribute::Text("LINEAR".into())),
                ("kernel_params", Attribute::Floats(vec![0.5, 0.25, 2.0])),
                ("support_vectors", Attribute::Floats(vectors.clone())),
                ("vectors_per_class", Attribute::Ints(vec![1; classes])),
                ("classlabels_ints", Attribute::Ints((0..n).collect())),
                ("coefficients", Attribute::Floats(weights.clone())),
                ("rho", Attribute::Floats(rho[..pairs].to_vec())),
                ("prob_a", Attribute::Floats(a[..pairs].to_vec())),
                ("prob_b", Attribute::Floats(b[..pairs].to_vec())),
            ];
            w.op("SVMClassifier", &["input"], &attributes);
            w.outputs_of_last(&["probabilities"]);
            check_ml(w.finish("probabilities"), 48.0, |x| {
                let kernel: Vec<f64> =
                    vectors.chunks(2).map(|v| f64::from(v[0] * x.data[0] + v[1] * x.data[1])).collect();
                let mut r = vec![vec![0.0; classes]; classes];
                let mut pair = 0;
                for i in 0..classes {
                    for j in i + 1..classes {
                        let of = |class: usize, row: usize| {
                            kernel[class] * f64::from(weights[row * classes + class])
                        };
                        let score = of(i, j - 1) + of(j, i) + f64::from(rho[pair]);
                        r[i][j] = 1.0 / (1.0 + (f64::from(a[pair]) * score + f64::from(b[pair])).exp());
                        r[j][i] = 1.0 - r[i][j];
                        pair += 1;
                    }
                }
                steps(&r).into_iter().map(|p| p as f32).collect()
            });
        }
    }

    /// Algorithm 2 of Wu, Lin and Weng.
    fn steps(r: &[Vec<f64>]) -> Vec<f64> {
        let n = r.len();
        let q = |i: usize, j: usize| match i == j {
            true => (0..n).filter(|k| *k != i).map(|k| r[k][i] * r[k][i]).sum::<f64>(),
            false => -r[j][i] * r[i][j],
        };
        let mut p = vec![1.0 / n as f64; n];
        for _ in 0..2000 {
            for t in 0..n {
                let row = |t: usize, p: &[f64]| (0..n).map(|j| q(t, j) * p[j]).sum::<f64>();
                let whole: f64 = (0..n).map(|i| p[i] * row(i, &p)).sum();
                p[t] += (whole - row(t, &p)) / q(t, t);
                let sum: f64 = p.iter().sum();
                p.iter_mut().for_each(|x| *x /= sum);
            }
        }
        p
    }
}
