//! Networks in floating point: the oracle of what is computed on shares, and the source of scales.

use crate::{
    Array, Kind, Layer, Network, NnError, Pool,
    array::{places, steps},
    convolved::convolved,
    windows::span,
};
use std::sync::Arc;

/// A network's values in floating point.
pub struct Floats {
    /// Of each layer; empty where it was not kept.
    values: Vec<Arc<Array>>,
    /// The greatest size of an element of each layer's value.
    greatest: Vec<f32>,
    /// Of each layer normalization the greatest root of a row's sum of squared distances from its mean.
    roots: Vec<f32>,
}

impl Floats {
    /// Evaluates a network. `keep` says whether the values of all layers stay, or those of outputs alone.
    ///
    /// # Errors
    /// The input has other lengths than the network's, or an element that is not finite.
    pub fn new(network: &Network, input: &Array, keep: bool) -> Result<Self, NnError> {
        check(network, input)?;
        let mut readers = network.readers();
        let mut values: Vec<Arc<Array>> = Vec::with_capacity(network.layers.len());
        let (mut greatest, mut roots) = (vec![], vec![]);
        for layer in &network.layers {
            let reads: Vec<Arc<Array>> = layer.reads.iter().map(|at| values[*at].clone()).collect();
            let made = if layer.kind == Kind::Input { Arc::new(input.clone()) } else { value(layer, &reads) };
            greatest.push(made.greatest());
            roots.push(if let Kind::LayerNorm(axis, ..) = &layer.kind {
                root(&reads[0], *axis)
            } else {
                0.0
            });
            values.push(made);
            for at in layer.reads.iter().filter(|_| !keep) {
                readers[*at] -= 1;
                if readers[*at] == 0 {
                    values[*at] = Arc::default();
                }
            }
        }
        Ok(Floats { values, greatest, roots })
    }

    /// The value of a layer that was kept.
    #[must_use]
    pub fn value(&self, layer: usize) -> &Array {
        &self.values[layer]
    }

    /// The greatest size of an element of each layer's value.
    #[must_use]
    pub fn greatest(&self) -> &[f32] {
        &self.greatest
    }

    pub(crate) fn root(&self, layer: usize) -> f32 {
        self.roots[layer]
    }
}

/// Whether an array is an input of a network.
pub(crate) fn check(network: &Network, input: &Array) -> Result<(), NnError> {
    let (name, at) = &network.inputs[0];
    let wanted = &network.layers[*at].lengths;
    if *wanted != input.lengths {
        let cause = format!("it has the shape {:?}, and the network takes {wanted:?}", input.lengths);
        return Err(NnError::new(format!("input {name}"), cause, "bring an array of that shape"));
    }
    input.check_finite(&format!("input {name}"))
}

fn value(layer: &Layer, reads: &[Arc<Array>]) -> Arc<Array> {
    let to = &layer.lengths;
    let x = &reads[0];
    let each =
        |f: &dyn Fn(f32) -> f32| Array { lengths: to.clone(), data: x.data.iter().map(|x| f(*x)).collect() };
    Arc::new(match &layer.kind {
        Kind::Input => return x.clone(),
        Kind::Conv(conv) => convolved(conv, x, to),
        Kind::Dense(weights, bias) => dense(x, weights, bias, to),
        Kind::Affine(scale, shift) => {
            let inner: usize = to[2..].iter().product();
            let one =
                |(i, x): (usize, &f32)| x * scale[i / inner % scale.len()] + shift[i / inner % scale.len()];
            Array { lengths: to.clone(), data: x.data.iter().enumerate().map(one).collect() }
        }
        Kind::Add => sum(&x.broadcast(to), &reads[1].broadcast(to)),
        Kind::AddWeights(weights) => sum(&x.broadcast(to), &weights.broadcast(to)),
        Kind::Relu => each(&|x| x.max(0.0)),
        Kind::Clip(low, high) => {
            each(&|x| x.max(low.unwrap_or(f32::NEG_INFINITY)).min(high.unwrap_or(f32::INFINITY)))
        }
        Kind::MaxPool(pool) => maxima(pool, x, to),
        Kind::AveragePool(pool, around) => {
            let whole = pool.size[0] * pool.size[1];
            pooled(pool, x, to, |all, n| all.sum::<f32>() / if *around { whole } else { n } as f32)
        }
        Kind::Concat(axis) => joined(reads, *axis, to),
        Kind::Reshape => Array::clone(x).reshaped(to),
        Kind::Transpose(axes) => x.transposed(axes),
        Kind::Pad(around) => padded(x, around, to),
        Kind::Sigmoid => each(&|x| 1.0 / (1.0 + (-x).exp())),
        Kind::Tanh => each(&f32::tanh),
        Kind::Gelu(near) => each(&|x| gelu(x, *near)),
        Kind::Softmax(axis) => softmax(x, *axis),
        Kind::ArgMax(axis) => arg_max(x, *axis, to),
        Kind::LayerNorm(axis, scale, shift, epsilon) => normalized(x, *axis, scale, shift, *epsilon),
        Kind::MatMul => products(x, &reads[1], to),
    })
}

fn sum(a: &Array, b: &Array) -> Array {
    Array { lengths: a.lengths.clone(), data: a.data.iter().zip(&b.data).map(|(a, b)| a + b).collect() }
}

fn dense(x: &Array, weights: &Array, bias: &[f32], to: &[usize]) -> Array {
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

fn products(a: &Array, b: &Array, to: &[usize]) -> Array {
    let [k, n] = [b.lengths[b.lengths.len() - 2], b.lengths[b.lengths.len() - 1]];
    let m = to[to.len() - 2];
    let mut out = Array::zeros(to);
    for (at, sums) in out.data.chunks_mut(m * n).enumerate() {
        let one = Array::new(&[m, k], a.data[at * m * k..][..m * k].to_vec());
        let other = Array::new(&[k, n], b.data[at * k * n..][..k * n].to_vec());
        sums.copy_from_slice(&dense(&one, &other, &vec![0.0; n], &[m, n]).data);
    }
    out
}

/// The greatest of each window: of the columns of its rows, then of those, which come to the same in whatever order.
fn maxima(pool: &Pool, x: &Array, to: &[usize]) -> Array {
    let [rows, columns] = [x.lengths[2], x.lengths[3]];
    let [stride, step] = pool.steps.strides.map(|n| n as usize);
    let [above, left] = [0, 1].map(|k| pool.steps.padding[k] as usize);
    let mut out = Array::zeros(to);
    let mut best = vec![0f32; columns];
    for (made, i) in out.data.chunks_exact_mut(to[3].max(1)).zip(0..) {
        let (plane, window) = (i / to[2], i % to[2]);
        best.fill(f32::NEG_INFINITY);
        for row in span(window, pool.size[0], stride, above, rows) {
            let line = &x.data[(plane * rows + row) * columns..][..columns];
            best.iter_mut().zip(line).for_each(|(best, x)| *best = best.max(*x));
        }
        for (made, window) in made.iter_mut().zip(0..) {
            let across = &best[span(window, pool.size[1], step, left, columns)];
            *made = across.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        }
    }
    out
}

fn pooled(
    pool: &Pool,
    x: &Array,
    to: &[usize],
    of: impl Fn(&mut dyn Iterator<Item = f32>, usize) -> f32,
) -> Array {
    let [rows, columns] = [x.lengths[2], x.lengths[3]];
    let steps = pool.steps;
    let [stride, step] = steps.strides.map(|n| n as usize);
    let mut out = Array::zeros(to);
    for (made, i) in out.data.iter_mut().zip(0..) {
        let (plane, window) = (i / (to[2] * to[3]), i % (to[2] * to[3]));
        let down = span(window / to[3], pool.size[0], stride, steps.padding[0] as usize, rows);
        let across = span(window % to[3], pool.size[1], step, steps.padding[1] as usize, columns);
        let n = down.len() * across.len();
        let mut all = down.flat_map(|r| {
            let line = &x.data[(plane * rows + r) * columns..][across.clone()];
            line.iter().copied()
        });
        *made = of(&mut all, n);
    }
    out
}

fn joined(parts: &[Arc<Array>], axis: usize, to: &[usize]) -> Array {
    let outer: usize = to[..axis].iter().product();
    let mut data = Vec::with_capacity(to.iter().product());
    for k in 0..outer {
        for part in parts {
            let each: usize = part.lengths[axis..].iter().product();
            data.extend_from_slice(&part.data[k * each..][..each]);
        }
    }
    Array { lengths: to.to_vec(), data }
}

fn padded(x: &Array, around: &[[usize; 2]], to: &[usize]) -> Array {
    let mut out = Array::zeros(to);
    let steps = steps(to);
    let first: usize = around.iter().zip(&steps).map(|([before, _], step)| before * step).sum();
    places(&x.lengths, &steps).zip(&x.data).for_each(|(place, x)| out.data[first + place] = *x);
    out
}

fn gelu(x: f32, near: bool) -> f32 {
    let x = f64::from(x);
    let phi = if near {
        let inner = (2.0 / std::f64::consts::PI).sqrt() * (x + 0.044_715 * x.powi(3));
        (1.0 + inner.tanh()) / 2.0
    } else {
        normal(x)
    };
    (x * phi) as f32
}

/// The normal distribution function, by its series about 0; beyond 6 deviations nothing is left in a float.
fn normal(x: f64) -> f64 {
    if x.abs() > 6.0 {
        return if x > 0.0 { 1.0 } else { 0.0 };
    }
    let (mut term, mut sum, mut k) = (x, x, 1.0);
    while term.abs() > 1e-17 * sum.abs() && k < 400.0 {
        term *= x * x / (2.0 * k + 1.0);
        sum += term;
        k += 1.0;
    }
    0.5 + sum * (-x * x / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()
}

/// Lines along an axis: where each begins, and from one element to the next.
pub(crate) fn lines(lengths: &[usize], axis: usize) -> (Vec<usize>, usize) {
    let step: usize = lengths[axis + 1..].iter().product();
    let outer: usize = lengths[..axis].iter().product();
    ((0..outer).flat_map(|o| (0..step).map(move |i| o * step * lengths[axis] + i)).collect(), step)
}

fn softmax(x: &Array, axis: usize) -> Array {
    let (firsts, step) = lines(&x.lengths, axis);
    let mut out = x.clone();
    for first in firsts {
        let at = |i: usize| first + i * step;
        let n = x.lengths[axis];
        let most = (0..n).map(|i| x.data[at(i)]).fold(f32::NEG_INFINITY, f32::max);
        let sum: f32 = (0..n).map(|i| (x.data[at(i)] - most).exp()).sum();
        (0..n).for_each(|i| out.data[at(i)] = (x.data[at(i)] - most).exp() / sum);
    }
    out
}

fn arg_max(x: &Array, axis: usize, to: &[usize]) -> Array {
    let (firsts, step) = lines(&x.lengths, axis);
    let one = |first: usize| {
        let better = |best: usize, i: usize| {
            if x.data[first + i * step] > x.data[first + best * step] { i } else { best }
        };
        (1..x.lengths[axis]).fold(0, better) as f32
    };
    Array { lengths: to.to_vec(), data: firsts.into_iter().map(one).collect() }
}

/// The mean of numbers, and the sum of squared distances from it.
fn spread(row: &[f32]) -> (f32, f32) {
    let mean = row.iter().sum::<f32>() / row.len() as f32;
    (mean, row.iter().map(|x| (x - mean).powi(2)).sum())
}

fn root(x: &Array, axis: usize) -> f32 {
    let n = x.lengths[axis..].iter().product();
    x.data.chunks(n).map(|row| spread(row).1.sqrt()).fold(0.0, f32::max)
}

fn normalized(x: &Array, axis: usize, scale: &[f32], shift: &[f32], epsilon: f32) -> Array {
    let n: usize = x.lengths[axis..].iter().product();
    let mut out = x.clone();
    for line in out.data.chunks_mut(n) {
        let (mean, squares) = spread(line);
        let factor = 1.0 / (squares / n as f32 + epsilon).sqrt();
        for (i, x) in line.iter_mut().enumerate() {
            *x = (*x - mean) * factor * scale[i] + shift[i];
        }
    }
    out
}
