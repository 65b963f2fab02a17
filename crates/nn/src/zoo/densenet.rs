//! DenseNet: every layer of a block reads the results of all layers before it. Normalization and
//! rectifier precede the convolution.

use super::Writer;
use crate::onnx::{Attribute, Model};

/// The number of channels that a layer adds.
const GROWTH: usize = 32;

fn activated(w: &mut Writer, x: &str, channels: usize) -> String {
    let x = w.batch_norm(x, channels);
    w.relu(&x)
}

/// A layer: reduces to four times the growth, applies a 3 × 3 window, and joins the result to its
/// input.
fn layer(w: &mut Writer, x: &str, from: usize) -> String {
    let y = activated(w, x, from);
    let y = w.conv(&y, [from, 4 * GROWTH], 1, 1, 0, false);
    let y = activated(w, &y, 4 * GROWTH);
    let y = w.conv(&y, [4 * GROWTH, GROWTH], 3, 1, 1, false);
    w.op("Concat", &[x, &y], &[("axis", Attribute::Int(1))])
}

pub(super) fn one_hundred_twenty_one(seed: u64) -> Model {
    let mut w = Writer::new("densenet121", seed, &[1, 3, 224, 224]);
    let x = w.conv("input", [3, 64], 7, 2, 3, false);
    let x = activated(&mut w, &x, 64);
    let mut x = w.pool("MaxPool", &x, 3, 2, 1, false);
    let mut channels = 64;
    for (block, layers) in [6, 12, 24, 16].into_iter().enumerate() {
        for _ in 0..layers {
            x = layer(&mut w, &x, channels);
            channels += GROWTH;
        }
        if block < 3 {
            x = activated(&mut w, &x, channels);
            x = w.conv(&x, [channels, channels / 2], 1, 1, 0, false);
            channels /= 2;
            x = w.pool("AveragePool", &x, 2, 2, 0, false);
        }
    }
    let x = activated(&mut w, &x, channels);
    let x = w.op("GlobalAveragePool", &[&x], &[]);
    let x = w.op("Flatten", &[&x], &[]);
    let x = w.gemm(&x, [channels, 1000]);
    w.finish(&x)
}
