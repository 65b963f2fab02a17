//! Convolutions and products of matrices as products of polynomials.
//!
//! ```text
//! an upload    channel c, row i, column j of a tile of H rows of W      at  c H W + i W + j
//! weights      output m, channel c, row k, column l of its kernel       at  m C H W + O − c H W − k W − l,   O = (C − 1) H W + (h − 1) W + w − 1
//! a result     output m, row i, column j                                at  m C H W + O + i W + j
//! ```
//!
//! What wraps at N lies below O. A product of matrices is a convolution of one pixel. Channels beyond a block are summed from several uploads,
//! outputs beyond a block are answers of their own; planes beyond N are cut into tiles of rows that overlap by h − 1.
//!
//! **Source.** Z. Huang et al., "Cheetah", USENIX Security 2022, section 3.

/// A convolution of images `[channels, rows, columns]`, zeros around included, by kernels `[outputs, channels, h, w]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv {
    /// Channels of an image.
    pub channels: usize,
    /// Rows and columns of an image.
    pub image: [usize; 2],
    /// Kernels.
    pub outputs: usize,
    /// Rows and columns of a kernel.
    pub kernel: [usize; 2],
    /// Rows and columns from one window to the next.
    pub strides: [usize; 2],
}

/// Rows of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    /// The first row, and how many there are.
    pub(crate) row: usize,
    pub(crate) rows: usize,
    /// The first row of results, and how many there are.
    pub(crate) result: usize,
    pub(crate) results: usize,
}

/// The cut of a convolution into polynomials.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) conv: Conv,
    pub(crate) n: usize,
    pub(crate) tiles: Vec<Tile>,
    /// Rows of a tile's place.
    height: usize,
    /// Channels of an upload, outputs of an answer.
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl Conv {
    /// A matrix of `rows` × `columns` times a vector.
    #[must_use]
    pub fn matrix(rows: usize, columns: usize) -> Conv {
        Conv { channels: columns, image: [1; 2], outputs: rows, kernel: [1; 2], strides: [1; 2] }
    }

    /// Rows and columns of results.
    #[must_use]
    pub fn results(&self) -> [usize; 2] {
        [0, 1].map(|k| (self.image[k] - self.kernel[k]) / self.strides[k] + 1)
    }

    /// Products that are summed to one result.
    #[must_use]
    pub fn terms(&self) -> u64 {
        (self.channels * self.kernel[0] * self.kernel[1]) as u64
    }

    /// Products of all results.
    #[must_use]
    pub fn products(&self) -> u64 {
        let [rows, columns] = self.results();
        self.terms() * (self.outputs * rows * columns) as u64
    }

    /// In the open, modulo 2^64.
    #[must_use]
    pub fn plain(&self, image: &[u64], weights: &[u64]) -> Vec<u64> {
        let ([rows, columns], [h, w]) = (self.results(), self.kernel);
        let mut out = vec![0u64; self.outputs * rows * columns];
        for (at, out) in out.iter_mut().enumerate() {
            let (m, i, j) = (at / (rows * columns), at / columns % rows, at % columns);
            for c in 0..self.channels {
                for k in 0..h {
                    for l in 0..w {
                        let row = c * self.image[0] + i * self.strides[0] + k;
                        let x = image[row * self.image[1] + j * self.strides[1] + l];
                        let weight = weights[((m * self.channels + c) * h + k) * w + l];
                        *out = out.wrapping_add(x.wrapping_mul(weight));
                    }
                }
            }
        }
        out
    }
}

impl Layout {
    /// None where a window is wider than a polynomial.
    pub(crate) fn new(conv: Conv, n: usize) -> Option<Layout> {
        let [rows, columns] = conv.image;
        let fits = conv.kernel.iter().zip(&conv.image).all(|(k, of)| (1..=*of).contains(k));
        if !fits || conv.strides.contains(&0) || conv.channels == 0 || conv.outputs == 0 {
            return None;
        }
        let height = rows.min(n / columns);
        if height < conv.kernel[0] {
            return None;
        }
        let (mut tiles, mut result) = (vec![], 0);
        let most = (height - conv.kernel[0]) / conv.strides[0] + 1;
        while result < conv.results()[0] {
            let results = most.min(conv.results()[0] - result);
            let rows = (results - 1) * conv.strides[0] + conv.kernel[0];
            tiles.push(Tile { row: result * conv.strides[0], rows, result, results });
            result += results;
        }
        let inputs = (n / (height * columns)).clamp(1, conv.channels);
        let outputs = (n / (inputs * height * columns)).clamp(1, conv.outputs);
        Some(Layout { conv, n, tiles, height, inputs, outputs })
    }

    /// Uploads of a tile.
    pub(crate) fn blocks(&self) -> usize {
        self.conv.channels.div_ceil(self.inputs)
    }

    /// Answers of a tile.
    pub(crate) fn groups(&self) -> usize {
        self.conv.outputs.div_ceil(self.outputs)
    }

    fn plane(&self) -> usize {
        self.height * self.conv.image[1]
    }

    fn origin(&self) -> usize {
        let [h, w] = self.conv.kernel;
        (self.inputs - 1) * self.plane() + (h - 1) * self.conv.image[1] + w - 1
    }

    /// The polynomials of an image, tile after tile, block after block.
    pub(crate) fn uploads(&self, image: &[u64]) -> Vec<Vec<u64>> {
        let [rows, columns] = self.conv.image;
        let mut all = vec![];
        for tile in &self.tiles {
            for block in 0..self.blocks() {
                let mut of = vec![0; self.n];
                for c in 0..self.inputs.min(self.conv.channels - block * self.inputs) {
                    let from = ((block * self.inputs + c) * rows + tile.row) * columns;
                    let len = tile.rows * columns;
                    of[c * self.plane()..][..len].copy_from_slice(&image[from..from + len]);
                }
                all.push(of);
            }
        }
        all
    }

    /// The polynomial of weights of one block and group.
    pub(crate) fn weights(&self, weights: &[i64], block: usize, group: usize) -> Vec<i64> {
        let ([h, w], columns) = (self.conv.kernel, self.conv.image[1]);
        let mut of = vec![0; self.n];
        for m in 0..self.outputs.min(self.conv.outputs - group * self.outputs) {
            for c in 0..self.inputs.min(self.conv.channels - block * self.inputs) {
                let kernel = (group * self.outputs + m) * self.conv.channels + block * self.inputs + c;
                let first = m * self.inputs * self.plane() + self.origin() - c * self.plane();
                for k in 0..h {
                    for l in 0..w {
                        of[first - k * columns - l] = weights[(kernel * h + k) * w + l];
                    }
                }
            }
        }
        of
    }

    /// Where the results of an answer stand in its polynomial, and among all results.
    pub(crate) fn places(&self, tile: &Tile, group: usize) -> (Vec<usize>, Vec<usize>) {
        let ([rows, columns], width) = (self.conv.results(), self.conv.image[1]);
        let (mut places, mut to) = (vec![], vec![]);
        for m in 0..self.outputs.min(self.conv.outputs - group * self.outputs) {
            let first = m * self.inputs * self.plane() + self.origin();
            for i in 0..tile.results {
                for j in 0..columns {
                    places.push(first + i * self.conv.strides[0] * width + j * self.conv.strides[1]);
                    to.push(((group * self.outputs + m) * rows + tile.result + i) * columns + j);
                }
            }
        }
        (places, to)
    }
}
