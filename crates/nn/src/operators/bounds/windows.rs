//! Cases: windows over images, and resized images.

use super::{Cases, Nd, ints, known, text, weights};
use crate::onnx::Attribute;

type Window = fn(&[f64]) -> f64;

/// The elements of a window of 2 × 3 in an image, with padding of 1 and 0 before.
fn window(x: &Nd, at: &[usize]) -> Vec<f64> {
    let place =
        |k: usize| [at[0] as isize, at[1] as isize, (at[2] + k / 3) as isize - 1, (at[3] + k % 3) as isize];
    (0..6).filter_map(|k| x.near(&place(k))).collect()
}

fn pools(all: &mut Cases) {
    let mean: Window = |all| all.iter().sum::<f64>() / all.len() as f64;
    let most: Window = |all| all.iter().copied().fold(f64::MIN, f64::max);
    let norm: Window = |all| all.iter().map(|x| x * x).sum::<f64>().sqrt();
    let rest = [("kernel_shape", ints(&[2, 3])), ("pads", ints(&[1, 0, 0, 0]))];
    for (op, f) in [("AveragePool", mean), ("MaxPool", most), ("LpPool", norm)] {
        let mut attributes = rest.to_vec();
        if op == "LpPool" {
            attributes.push(("p", Attribute::Int(2)));
        }
        all.add(
            op,
            &[1, 2, 4, 5],
            [-6.0, 6.0],
            6,
            |w| w.op(op, &["input"], &attributes),
            move |x| Nd::made(&[1, 2, 4, 3], |at| f(&window(x, at))).data,
        );
    }
    for (op, f) in [("GlobalAveragePool", mean), ("GlobalMaxPool", most), ("GlobalLpPool", norm)] {
        all.add(
            op,
            &[2, 3, 4, 5],
            [-6.0, 6.0],
            20,
            |w| w.op(op, &["input"], &[]),
            move |x| x.data.chunks(20).map(f).collect(),
        );
    }
}

fn convolutions(all: &mut Cases) {
    let (by, exact) = weights(41, &[3, 2, 2, 3], 1.0);
    let (bias, terms) = weights(42, &[3], 1.0);
    all.add(
        "Conv",
        &[1, 2, 4, 5],
        [-6.0, 6.0],
        12,
        |w| {
            let (by, bias) = (w.weights(&[3, 2, 2, 3], by.clone()), w.weights(&[3], bias.clone()));
            w.op("Conv", &["input", &by, &bias], &[("pads", ints(&[1, 0, 0, 0]))])
        },
        move |x| {
            let one = |at: &[usize]| {
                let of = |k: usize| {
                    let (c, i, j) = (k / 6, k / 3 % 2, k % 3);
                    let place = [0, c as isize, (at[2] + i) as isize - 1, (at[3] + j) as isize];
                    x.near(&place).unwrap_or(0.0) * exact.at(&[at[1], c, i, j])
                };
                terms.data[at[1]] + (0..12).map(of).sum::<f64>()
            };
            Nd::made(&[1, 3, 4, 3], one).data
        },
    );
    let (by, exact) = weights(43, &[2, 3, 2, 3], 1.0);
    all.add(
        "ConvTranspose",
        &[1, 2, 3, 4],
        [-6.0, 6.0],
        6,
        |w| {
            let by = w.weights(&[2, 3, 2, 3], by.clone());
            w.op("ConvTranspose", &["input", &by], &[("strides", ints(&[2, 2]))])
        },
        move |x| {
            let mut made = Nd::made(&[1, 3, 6, 9], |_| 0.0);
            for (c, i, j) in (0..24).map(|k| (k / 12, k / 4 % 3, k % 4)) {
                for (f, a, b) in (0..18).map(|k| (k / 6, k / 3 % 2, k % 3)) {
                    let at = (f * 6 + 2 * i + a) * 9 + 2 * j + b;
                    made.data[at] += x.at(&[0, c, i, j]) * exact.at(&[c, f, a, b]);
                }
            }
            made.data
        },
    );
}

/// A line resized to another length, linear between the nearest two pixels, whose centres are at
/// halves.
fn between(line: &[f64], to: usize) -> Vec<f64> {
    let by = line.len() as f64 / to as f64;
    let one = |k: usize| {
        let place = ((k as f64 + 0.5) * by - 0.5).clamp(0.0, line.len() as f64 - 1.0);
        let first = place.floor() as usize;
        let part = place - first as f64;
        line[first] * (1.0 - part) + line[(first + 1).min(line.len() - 1)] * part
    };
    (0..to).map(one).collect()
}

fn sizes(all: &mut Cases) {
    all.add(
        "Resize",
        &[1, 2, 4, 6],
        [-6.0, 6.0],
        4,
        |w| {
            let sizes = known(w, &[1, 2, 7, 3]);
            w.op("Resize", &["input", "", "", &sizes], &[("mode", text("linear"))])
        },
        |x| x.lines(2, |line| between(line, 7)).lines(3, |line| between(line, 3)).data,
    );
    all.add(
        "Resize",
        &[1, 2, 4, 6],
        [-6.0, 6.0],
        1,
        |w| {
            let sizes = known(w, &[1, 2, 8, 12]);
            w.op("Resize", &["input", "", "", &sizes], &[("mode", text("nearest"))])
        },
        |x| Nd::made(&[1, 2, 8, 12], |at| x.at(&[0, at[1], at[2] / 2, at[3] / 2])).data,
    );
    all.add(
        "Upsample",
        &[1, 2, 4, 5],
        [-6.0, 6.0],
        1,
        |w| {
            let scales = w.weights(&[4], vec![1.0, 1.0, 2.0, 3.0]);
            w.op("Upsample", &["input", &scales], &[("mode", text("nearest"))])
        },
        |x| Nd::made(&[1, 2, 8, 15], |at| x.at(&[0, at[1], at[2] / 2, at[3] / 3])).data,
    );
    all.add(
        "Upsample",
        &[1, 1, 3, 4],
        [-6.0, 6.0],
        4,
        |w| {
            let scales = w.weights(&[4], vec![1.0, 1.0, 2.0, 2.0]);
            w.op("Upsample", &["input", &scales], &[("mode", text("linear"))])
        },
        |x| {
            let f = |line: &[f64]| {
                let one = |k: usize| {
                    let (first, next) = (line[k / 2], line[(k / 2 + 1).min(line.len() - 1)]);
                    if k.is_multiple_of(2) { first } else { f64::midpoint(first, next) }
                };
                (0..2 * line.len()).map(one).collect()
            };
            x.lines(2, f).lines(3, f).data
        },
    );
}

pub(super) fn add(all: &mut Cases) {
    pools(all);
    convolutions(all);
    sizes(all);
}
