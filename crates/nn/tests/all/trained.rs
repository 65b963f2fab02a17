//! A network that the test trains on images that it makes. Its decisions in fixed point are those
//! in floating point.

use super::{fixed::report, network};
use hushwire_nn::{
    Array, Floats, Numbers,
    onnx::{Attribute, Model},
    zoo::{Random, Writer},
};

const CLASSES: usize = 6;
const SIDE: usize = 12;
const FILTERS: usize = 6;
/// The rows and columns after the convolution, and after the pooling.
const INNER: usize = SIDE - 2;
const POOLED: usize = INNER / 2;
const FLAT: usize = FILTERS * POOLED * POOLED;

/// A bar, a column, two diagonals, a cross or a frame, somewhere, with noise.
fn image(random: &mut Random, class: usize) -> Vec<f32> {
    let (top, left) = (random.below(SIDE - 7), random.below(SIDE - 7));
    let set = |i: usize, j: usize| match class {
        0 => i == 3,
        1 => j == 3,
        2 => i == j,
        3 => i + j == 6,
        4 => i == 3 || j == 3,
        _ => i == 0 || j == 0 || i == 6 || j == 6,
    };
    let mut pixels: Vec<f32> = (0..SIDE * SIDE).map(|_| 0.25 * random.normal()).collect();
    for (i, j) in (0..7).flat_map(|i| (0..7).map(move |j| (i, j))).filter(|(i, j)| set(*i, *j)) {
        pixels[(top + i) * SIDE + left + j] += 1.0;
    }
    pixels
}

struct Net {
    kernels: Vec<f32>,
    biases: Vec<f32>,
    weights: Vec<f32>,
    last: Vec<f32>,
}

/// For each window of 2 × 2 of a convolution's rectified result, the place of the greatest element,
/// and that element.
struct Seen {
    places: Vec<usize>,
    pooled: Vec<f32>,
    likely: Vec<f32>,
}

impl Net {
    fn seen(&self, x: &[f32]) -> Seen {
        let mut seen = Seen { places: vec![0; FLAT], pooled: vec![0.0; FLAT], likely: self.last.clone() };
        for f in 0..FILTERS {
            for (r, c) in (0..INNER).flat_map(|r| (0..INNER).map(move |c| (r, c))) {
                let taps = (0..9).map(|k| self.kernels[f * 9 + k] * x[(r + k / 3) * SIDE + c + k % 3]);
                let sum = taps.sum::<f32>() + self.biases[f];
                let at = (f * POOLED + r / 2) * POOLED + c / 2;
                if sum > seen.pooled[at] {
                    (seen.pooled[at], seen.places[at]) = (sum, r * SIDE + c);
                }
            }
        }
        for (x, weights) in seen.pooled.iter().zip(self.weights.chunks(CLASSES)) {
            seen.likely.iter_mut().zip(weights).for_each(|(sum, w)| *sum += x * w);
        }
        let most = seen.likely.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        seen.likely.iter_mut().for_each(|x| *x = (*x - most).exp());
        let sum: f32 = seen.likely.iter().sum();
        seen.likely.iter_mut().for_each(|x| *x /= sum);
        seen
    }

    /// One step down the gradient of the cross entropy.
    fn learn(&mut self, x: &[f32], class: usize, rate: f32) {
        let Seen { places, pooled, likely } = self.seen(x);
        let wrong: Vec<f32> =
            likely.iter().enumerate().map(|(k, p)| p - f32::from(u8::from(k == class))).collect();
        for at in 0..FLAT {
            let weights = &mut self.weights[at * CLASSES..][..CLASSES];
            let back: f32 = weights.iter().zip(&wrong).map(|(w, e)| w * e).sum();
            weights.iter_mut().zip(&wrong).for_each(|(w, e)| *w -= rate * e * pooled[at]);
            if pooled[at] > 0.0 {
                let f = at / (POOLED * POOLED);
                for k in 0..9 {
                    self.kernels[f * 9 + k] -= rate * back * x[places[at] + k / 3 * SIDE + k % 3];
                }
                self.biases[f] -= rate * back;
            }
        }
        self.last.iter_mut().zip(&wrong).for_each(|(b, e)| *b -= rate * e);
    }

    fn trained(random: &mut Random) -> Self {
        let mut normal = |n: usize, by: f32| (0..n).map(|_| by * random.normal()).collect::<Vec<_>>();
        let (kernels, weights) = (normal(FILTERS * 9, 0.4), normal(FLAT * CLASSES, 0.05));
        let mut net = Net { kernels, biases: vec![0.0; FILTERS], weights, last: vec![0.0; CLASSES] };
        for step in 0..6000 {
            let class = random.below(CLASSES);
            let x = image(random, class);
            net.learn(&x, class, if step < 4000 { 0.02 } else { 0.005 });
        }
        net
    }

    fn model(&self) -> Model {
        let mut w = Writer::new("bars", 0, &[1, 1, SIDE, SIDE]);
        let kernels = w.weights(&[FILTERS, 1, 3, 3], self.kernels.clone());
        let biases = w.weights(&[FILTERS], self.biases.clone());
        let x = w.op("Conv", &["input", &kernels, &biases], &[("kernel_shape", Attribute::Ints(vec![3; 2]))]);
        let x = w.relu(&x);
        let x = w.pool("MaxPool", &x, 2, 2, 0, false);
        let x = w.op("Flatten", &[&x], &[]);
        let weights = w.weights(&[FLAT, CLASSES], self.weights.clone());
        let last = w.weights(&[CLASSES], self.last.clone());
        let x = w.op("Gemm", &[&x, &weights, &last], &[]);
        w.finish(&x)
    }
}

#[test]
fn a_trained_network_says_the_same() {
    let mut random = Random::new(11);
    let model = Net::trained(&mut random).model();
    let classes: Vec<usize> = (0..300).map(|i| i % CLASSES).collect();
    let data: Vec<f32> = classes.iter().flat_map(|class| image(&mut random, *class)).collect();
    let test = Array::new(&[300, 1, SIDE, SIDE], data);
    let network = network(&model, Some(&test.lengths));
    let floats = Floats::new(&network, &test, true).unwrap();
    let rows = floats.value(network.outputs[0].1).data.chunks(CLASSES);
    let best = |row: &[f32]| (0..CLASSES).fold(0, |best, k| if row[k] > row[best] { k } else { best });
    let right = rows.zip(&classes).filter(|(row, class)| best(row) == **class).count();
    assert!(right >= 270, "it has learnt: {right} of 300");
    let report = report(&network, Numbers::default(), &test);
    assert_eq!(report.places, 300);
    assert!(report.agree >= 297, "{} of 300 agree", report.agree);
}
