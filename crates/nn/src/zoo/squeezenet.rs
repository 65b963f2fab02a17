//! SqueezeNet: fire modules, which squeeze channels by 1 × 1 windows and expand them by 1 × 1 and 3
//! × 3 windows.

use super::Writer;
use crate::onnx::{Attribute, Model};

/// From `from` channels to `squeeze`, and to twice `expand`.
fn fire(w: &mut Writer, x: &str, [from, squeeze, expand]: [usize; 3]) -> String {
    let squeezed = w.conv(x, [from, squeeze], 1, 1, 0, true);
    let squeezed = w.relu(&squeezed);
    let small = w.conv(&squeezed, [squeeze, expand], 1, 1, 0, true);
    let small = w.relu(&small);
    let large = w.conv(&squeezed, [squeeze, expand], 3, 1, 1, true);
    let large = w.relu(&large);
    w.op("Concat", &[&small, &large], &[("axis", Attribute::Int(1))])
}

fn classified(mut w: Writer, x: &str, channels: [usize; 2]) -> Model {
    let x = w.conv(x, channels, 1, 1, 0, true);
    let x = w.relu(&x);
    let x = w.op("GlobalAveragePool", &[&x], &[]);
    let x = w.op("Flatten", &[&x], &[]);
    w.finish(&x)
}

pub(super) fn imagenet(seed: u64) -> Model {
    let mut w = Writer::new("squeezenet", seed, &[1, 3, 227, 227]);
    let x = w.conv("input", [3, 64], 3, 2, 0, true);
    let x = w.relu(&x);
    let mut x = w.pool("MaxPool", &x, 3, 2, 0, false);
    let fires = [
        [64, 16, 64],
        [128, 16, 64],
        [128, 32, 128],
        [256, 32, 128],
        [256, 48, 192],
        [384, 48, 192],
        [384, 64, 256],
        [512, 64, 256],
    ];
    for (i, sizes) in fires.into_iter().enumerate() {
        if i == 2 || i == 4 {
            x = w.pool("MaxPool", &x, 3, 2, 0, false);
        }
        x = fire(&mut w, &x, sizes);
    }
    classified(w, &x, [512, 1000])
}

pub(super) fn cifar(seed: u64) -> Model {
    let mut w = Writer::new("squeezenet_cifar", seed, &[1, 3, 32, 32]);
    let x = w.conv("input", [3, 64], 3, 1, 1, true);
    let x = w.relu(&x);
    let x = w.pool("MaxPool", &x, 3, 2, 1, false);
    let x = fire(&mut w, &x, [64, 32, 64]);
    let x = fire(&mut w, &x, [128, 32, 64]);
    let x = w.pool("MaxPool", &x, 3, 2, 1, false);
    let x = fire(&mut w, &x, [128, 32, 128]);
    let x = fire(&mut w, &x, [256, 32, 128]);
    classified(w, &x, [256, 10])
}
