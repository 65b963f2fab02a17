//! ResNet: bottlenecks with shortcuts, each convolution normalized.

use super::Writer;
use crate::onnx::Model;

/// Makes the summand of a block smaller than its input, as in trained networks. Otherwise sixteen
/// sums would grow.
const ADDED: f32 = 0.3;

/// A convolution, normalized.
fn normalized(w: &mut Writer, x: &str, channels: [usize; 2], size: usize, stride: i64) -> String {
    let x = w.conv(x, channels, size, stride, size as i64 / 2, false);
    w.batch_norm(&x, channels[1])
}

/// Reduces to `inner` channels, applies a 3 × 3 window, and expands to four times as many.
fn bottleneck(w: &mut Writer, x: &str, from: usize, inner: usize, stride: i64) -> String {
    let to = 4 * inner;
    let y = normalized(w, x, [from, inner], 1, 1);
    let y = w.relu(&y);
    let y = normalized(w, &y, [inner, inner], 3, stride);
    let y = w.relu(&y);
    let y = w.conv(&y, [inner, to], 1, 1, 0, false);
    let y = w.batch_norm_by(&y, to, ADDED);
    let shortcut = if from == to { x.to_owned() } else { normalized(w, x, [from, to], 1, stride) };
    let sum = w.op("Add", &[&y, &shortcut], &[]);
    w.relu(&sum)
}

pub(super) fn fifty(seed: u64) -> Model {
    let mut w = Writer::new("resnet50", seed, &[1, 3, 224, 224]);
    let x = normalized(&mut w, "input", [3, 64], 7, 2);
    let x = w.relu(&x);
    let mut x = w.pool("MaxPool", &x, 3, 2, 1, false);
    let mut from = 64;
    for (stage, blocks) in [3, 4, 6, 3].into_iter().enumerate() {
        let inner = 64 << stage;
        for block in 0..blocks {
            let stride = if stage > 0 && block == 0 { 2 } else { 1 };
            x = bottleneck(&mut w, &x, from, inner, stride);
            from = 4 * inner;
        }
    }
    let x = w.op("GlobalAveragePool", &[&x], &[]);
    let x = w.op("Flatten", &[&x], &[]);
    let x = w.gemm(&x, [2048, 1000]);
    w.finish(&x)
}
