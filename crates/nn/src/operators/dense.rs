//! Gemm, and products with a matrix of weights.

use super::prelude::*;

pub(super) const GEMM: Operator = Operator {
    inputs: 3,
    attributes: &["alpha", "beta", "transA", "transB"],
    ..Operator::new("Gemm", "The product with a matrix of weights, and a bias.", read)
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
        match part {
            WeightPart::Factors => Cow::Borrowed(&self.weights.data),
            WeightPart::Terms => Cow::Borrowed(&self.bias),
            _ => Cow::Borrowed(&[]),
        }
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
    let at = op.layer(import, 0)?;
    let weights = op.weights(import, 1)?;
    if op.flag("transA", false)? {
        return Err(op.error("it turns its value", "put a Transpose before it"));
    }
    let weights = if op.flag("transB", false)? && weights.lengths.len() == 2 {
        Arc::new(weights.transposed(&[1, 0]))
    } else {
        weights
    };
    let [_, outputs] = weights.lengths[..] else {
        let cause = format!("its weights have the lengths {:?}", weights.lengths);
        return Err(op.error(cause, "give it a matrix"));
    };
    let (alpha, beta) = (op.float("alpha", 1.0)?, op.float("beta", 1.0)?);
    let weights = if alpha == 1.0 {
        weights
    } else {
        let data = weights.data.iter().map(|w| w * alpha).collect();
        Arc::new(Array { lengths: weights.lengths.clone(), data })
    };
    let bias = match op.maybe_weights(import, 2)? {
        // The bias lies along the last axis: it may not differ between rows.
        Some(bias) if bias.data.len() == outputs && bias.lengths.last() == Some(&outputs) => {
            bias.data.iter().map(|b| b * beta).collect()
        }
        Some(bias) if bias.data.len() == 1 => vec![bias.data[0] * beta; outputs],
        Some(bias) => {
            let cause = format!("its bias has the lengths {:?} for {outputs} outputs", bias.lengths);
            return Err(op.error(cause, "give it one number for each output"));
        }
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
