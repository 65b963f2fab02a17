//! Tensors of f64 for formulas. The code is written to be short.

/// Numbers along axes, the last axis fastest.
#[derive(Clone, Debug)]
pub(super) struct Nd {
    pub(super) lengths: Vec<usize>,
    pub(super) data: Vec<f64>,
}

/// The indices of an element.
fn indices(lengths: &[usize], mut at: usize) -> Vec<usize> {
    let mut all = vec![0; lengths.len()];
    for axis in (0..lengths.len()).rev() {
        all[axis] = at % lengths[axis];
        at /= lengths[axis];
    }
    all
}

impl Nd {
    pub(super) fn new(lengths: &[usize], data: Vec<f64>) -> Nd {
        assert_eq!(lengths.iter().product::<usize>(), data.len());
        Nd { lengths: lengths.to_vec(), data }
    }

    /// The tensor whose elements are a function of their indices.
    pub(super) fn made(lengths: &[usize], of: impl Fn(&[usize]) -> f64) -> Nd {
        let count: usize = lengths.iter().product();
        Nd::new(lengths, (0..count).map(|at| of(&indices(lengths, at))).collect())
    }

    pub(super) fn at(&self, of: &[usize]) -> f64 {
        let at = of.iter().zip(&self.lengths).fold(0, |at, (index, length)| at * length + index);
        self.data[at]
    }

    /// The element at these indices; `None` outside.
    pub(super) fn near(&self, of: &[isize]) -> Option<f64> {
        let all: Option<Vec<usize>> = of
            .iter()
            .zip(&self.lengths)
            .map(|(index, length)| usize::try_from(*index).ok().filter(|index| index < length))
            .collect();
        all.map(|all| self.at(&all))
    }

    /// Part `k` along the first axis.
    pub(super) fn part(&self, k: usize) -> Nd {
        let lengths = &self.lengths[1..];
        let each: usize = lengths.iter().product();
        Nd::new(lengths, self.data[k * each..(k + 1) * each].to_vec())
    }

    pub(super) fn map(&self, f: impl Fn(f64) -> f64) -> Nd {
        Nd { lengths: self.lengths.clone(), data: self.data.iter().map(|x| f(*x)).collect() }
    }

    pub(super) fn with(&self, other: &Nd, f: impl Fn(f64, f64) -> f64) -> Nd {
        assert_eq!(self.lengths, other.lengths);
        let data = self.data.iter().zip(&other.data).map(|(x, y)| f(*x, *y)).collect();
        Nd { lengths: self.lengths.clone(), data }
    }

    /// Replaces each line along an axis by `f` of it. All results of `f` have one length.
    pub(super) fn lines(&self, axis: usize, f: impl Fn(&[f64]) -> Vec<f64>) -> Nd {
        let inner: usize = self.lengths[axis + 1..].iter().product();
        let outer: usize = self.lengths[..axis].iter().product();
        let count = self.lengths[axis];
        let line = |at: usize| -> Vec<f64> {
            (0..count).map(|k| self.data[(at / inner * count + k) * inner + at % inner]).collect()
        };
        let made: Vec<Vec<f64>> = (0..outer * inner).map(|at| f(&line(at))).collect();
        let to = made.first().map_or(0, Vec::len);
        let mut lengths = self.lengths.clone();
        lengths[axis] = to;
        let data = (0..outer * to * inner)
            .map(|at| {
                let (o, k, i) = (at / (to * inner), at / inner % to, at % inner);
                made[o * inner + i][k]
            })
            .collect();
        Nd { lengths, data }
    }

    /// The product of matrices.
    pub(super) fn times(&self, other: &Nd) -> Nd {
        let inner = self.lengths[1];
        Nd::made(&[self.lengths[0], other.lengths[1]], |at| {
            (0..inner).map(|k| self.at(&[at[0], k]) * other.at(&[k, at[1]])).sum()
        })
    }

    /// The transpose of a matrix.
    pub(super) fn transposed(&self) -> Nd {
        Nd::made(&[self.lengths[1], self.lengths[0]], |at| self.at(&[at[1], at[0]]))
    }
}

/// The place of the greatest element; the first place if several are equal.
pub(super) fn greatest(line: &[f64]) -> usize {
    (0..line.len()).fold(0, |best, i| if line[i] > line[best] { i } else { best })
}

pub(super) fn softmax(line: &[f64]) -> Vec<f64> {
    let most = line.iter().copied().fold(f64::MIN, f64::max);
    let all: Vec<f64> = line.iter().map(|x| (x - most).exp()).collect();
    let sum: f64 = all.iter().sum();
    all.iter().map(|x| x / sum).collect()
}

pub(super) fn log_sum_exp(line: &[f64]) -> f64 {
    let most = line.iter().copied().fold(f64::MIN, f64::max);
    most + line.iter().map(|x| (x - most).exp()).sum::<f64>().ln()
}

/// A row less its mean, divided by its standard deviation.
pub(super) fn normal(line: &[f64], epsilon: f64) -> Vec<f64> {
    let n = line.len() as f64;
    let mean = line.iter().sum::<f64>() / n;
    let square = line.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n;
    line.iter().map(|x| (x - mean) / (square + epsilon).sqrt()).collect()
}

pub(super) fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}
