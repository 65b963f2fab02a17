//! Gemm, and products with a matrix of weights.

use super::{matmul, prelude::*};

pub(super) const GEMM: Operator = Operator {
    inputs: 3,
    attributes: &["alpha", "beta", "transA", "transB"],
    error: Bound::ROUNDED,
    ..Operator::new("Gemm", "The product of two matrices, each of values or of weights, and a bias.", read)
};

/// A product with a matrix along the last axis, and a bias.
#[derive(Clone, Debug, PartialEq)]
pub struct Dense {
    /// `[in, out]`.
    pub weights: Arc<Array>,
    /// One for each output.
    pub bias: Arc<Vec<f32>>,
}

impl Definition for Dense {
    fn name(&self) -> &'static str {
        "Gemm"
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Weights
    }

    fn part(&self, part: WeightPart) -> Cow<'_, [f32]> {
        part.of(&[(WeightPart::Factors, &self.weights.data), (WeightPart::Terms, &self.bias)])
    }

    fn factors(&self) -> Option<Factors> {
        Some(Factors { rows: self.weights.lengths[0], inner: 1 })
    }

    fn products(&self, made: u64, _: &[&[usize]]) -> u64 {
        made * self.weights.lengths[0] as u64
    }

    fn value(&self, reads: &[Arc<Array>], to: &[usize]) -> Array {
        dense(&reads[0], &self.weights, &self.bias, to)
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let (at, from) = (site.at, site.reads[0]);
        let x = lower.value(from);
        let node = lower.classes.fresh();
        let w = lower.factors(at, self.weights.lengths.clone(), from, node);
        let bias = lower.terms(at, vec![1, self.bias.len()], node);
        let outputs = self.weights.lengths[1];
        let rows = site.lengths.iter().product::<usize>() / outputs;
        let x = x.reshape(shape(&[rows, self.weights.lengths[0]]));
        let sums = x.matmul(w) + bias.broadcast(shape(&[rows, outputs]));
        Ok(Held::wide(sums.reshape(shape(site.lengths)), node, lower.halved(at)))
    }
}

/// Rows times a matrix, plus a bias.
pub(super) fn dense(x: &Array, weights: &Array, bias: &[f32], to: &[usize]) -> Array {
    let (inputs, outputs) = (weights.lengths[0], weights.lengths[1]);
    let mut out = Array::zeros(to);
    for (row, sums) in x.data.chunks(inputs).zip(out.data.chunks_mut(outputs)) {
        sums.copy_from_slice(bias);
        for (x, weights) in row.iter().zip(weights.data.chunks(outputs)) {
            sums.iter_mut().zip(weights).for_each(|(sum, w)| *sum += x * w);
        }
    }
    out
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let (x, y, bias) = (op.input(import, 0)?, op.input(import, 1)?, op.maybe(import, 2)?);
    for of in [&x, &y] {
        let lengths = import.lengths_of(of);
        if lengths.len() != 2 && (!matches!(of, Known::Layer(_)) || op.flag("transA", false)?) {
            return Err(op.error(format!("it has an operand of the lengths {lengths:?}"), "give it a matrix"));
        }
    }
    let (turn_x, turn_y) = (op.flag("transA", false)?, op.flag("transB", false)?);
    if let (Known::Layer(at), Known::Floats(_) | Known::Ints(..), false) = (&x, &y, turn_x) {
        let weights = op.weights(import, 1)?;
        let outputs = weights.lengths[usize::from(!turn_y)];
        // One number for each output, or one for all.
        let fits = |bias: &Known| {
            let lengths = import.lengths_of(bias);
            let count: usize = lengths.iter().product();
            let each = count == outputs && lengths.last() == Some(&outputs);
            !matches!(bias, Known::Layer(_)) && (count == 1 || each)
        };
        if bias.as_ref().is_none_or(fits) {
            return by_weights(op, import, *at, weights, turn_y);
        }
    }
    let turned = |import: &mut Import, of: Known, turn: bool| match turn {
        true => matmul::turned(op, import, &of),
        false => Ok(of),
    };
    let (x, y) = (turned(import, x, turn_x)?, turned(import, y, turn_y)?);
    let product = matmul::product(op, import, &x, &y)?;
    let product = scaled(op, import, product, op.float("alpha", 1.0)?)?;
    match bias {
        Some(bias) => {
            let bias = scaled(op, import, bias, op.float("beta", 1.0)?)?;
            op.call(import, "Add", &[&product, &bias], &[])
        }
        None => Ok(product),
    }
}

/// A value or weights times a constant of the model; a factor of 1 adds no layer.
fn scaled(op: &Reading<'_>, import: &mut Import, of: Known, by: f32) -> Result<Known, Fault> {
    match of {
        of if by == 1.0 => Ok(of),
        Known::Layer(_) => {
            let by = Known::Floats(Arc::new(Array::new(&[1], vec![by])));
            op.call(import, "Mul", &[&of, &by], &[])
        }
        known => Ok(Known::Floats(Arc::new(op.known_weights(&known)?.each(|w| w * by)))),
    }
}

/// A product with weights, and a bias for each output.
fn by_weights(
    op: &Reading<'_>,
    import: &mut Import,
    at: usize,
    weights: Arc<Array>,
    turn: bool,
) -> Result<Known, Fault> {
    let weights = if turn { Arc::new(weights.transposed(&[1, 0])) } else { weights };
    let outputs = weights.lengths[1];
    let (alpha, beta) = (op.float("alpha", 1.0)?, op.float("beta", 1.0)?);
    let weights = if alpha == 1.0 { weights } else { Arc::new(weights.each(|w| w * alpha)) };
    let bias = match op.maybe_weights(import, 2)? {
        Some(bias) if bias.data.len() == outputs => bias.data.iter().map(|b| b * beta).collect(),
        Some(bias) => vec![bias.data[0] * beta; outputs],
        None => vec![0.0; outputs],
    };
    made(op, import, at, weights, bias)
}

/// Adds the layer of a product with a matrix.
pub(super) fn made(
    op: &Reading<'_>,
    import: &mut Import,
    at: usize,
    weights: Arc<Array>,
    bias: Vec<f32>,
) -> Result<Known, Fault> {
    let mut lengths = import.lengths(at).to_vec();
    let (Some(last), [inputs, outputs]) = (lengths.last_mut(), &weights.lengths[..]) else {
        let cause = format!("its weights have the lengths {:?}", weights.lengths);
        return Err(op.error(cause, "give it a matrix, and a value with an axis"));
    };
    if *last != *inputs {
        let cause = format!("its value has {last} columns, and its weights {inputs} rows");
        return Err(op.error(cause, "give both the same length"));
    }
    *last = *outputs;
    op.made(import, Kind::Dense(Dense { weights, bias: Arc::new(bias) }), vec![at], lengths)
}
