//! Convolutions and products of matrices as products of polynomials.
//!
//! ```text
//! an upload  channel c, row i, column j of a tile of H rows of W  at c H W + i W + j
//! weights    output m, channel c, row k, column l of its kernel   at m C H W + O − c H W − k W − l
//! a result   output m, row i, column j                            at m C H W + O + i W + j
//!
//! W is a power of two, and O = (C − 1) H W + (h − 1) W + w − 1
//! ```
//!
//! Several small images can share one plane, with image b at b H W / B of B images, so that a batch
//! takes fewer polynomials; windows that reach from one image into the next are no results. Places
//! that wrap at N are below O. Column l of all kernels is a polynomial in x^W times x^(w − 1 − l),
//! so that the transform of the weights consists of w short transforms. If kernels have one pixel,
//! all pixels of an image form one row. A product of matrices is a convolution with one pixel.
//! Channels beyond a block are summed over several uploads. Outputs beyond a block have answers of
//! their own. Planes beyond N are split into tiles of rows that overlap by h − 1.
//!
//! **Source.** Z. Huang et al., "Cheetah", USENIX Security 2022, section 3.

/// AGREEMENT: the places of the narrowest rows of more than one column.
pub(crate) const LEAST: usize = 8;

/// AGREEMENT: the number of products by a column of weights that take as long as a ciphertext.
const MESSAGE: usize = 64;

/// A convolution of images `[channels, rows, columns]`, including zero padding, with kernels
/// `[outputs, channels, h, w]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Conv {
    /// The number of channels of an image.
    pub channels: usize,
    /// The rows and columns of an image.
    pub image: [usize; 2],
    /// The number of kernels.
    pub outputs: usize,
    /// The rows and columns of a kernel.
    pub kernel: [usize; 2],
    /// The rows and columns from one window to the next.
    pub strides: [usize; 2],
}

/// A tile: some rows of an image.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tile {
    /// The first row, and the number of rows.
    pub(crate) row: usize,
    pub(crate) rows: usize,
    /// The first row of results, and their number.
    pub(crate) result: usize,
    pub(crate) results: usize,
}

/// How a convolution is cut into polynomials.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) conv: Conv,
    pub(crate) n: usize,
    pub(crate) tiles: Vec<Tile>,
    /// The rows and columns that a plane holds: a tile's, or those of all images in it.
    height: usize,
    pub(crate) width: usize,
    /// The number of images in a plane; AGREEMENT: it is chosen like `inputs` and `outputs`.
    /// `apart` is the distance from one image to the next.
    pub(crate) images: usize,
    apart: usize,
    /// The number of channels of an upload, and of outputs of an answer. AGREEMENT: they are chosen
    /// so that the total number of uploads and answers, which take about the same time and bytes,
    /// is small.
    pub(crate) inputs: usize,
    pub(crate) outputs: usize,
}

impl Conv {
    /// A matrix of `rows` × `columns` times a vector.
    #[must_use]
    pub fn matrix(rows: usize, columns: usize) -> Conv {
        Conv { channels: columns, image: [1; 2], outputs: rows, kernel: [1; 2], strides: [1; 2] }
    }

    /// The rows and columns of results.
    ///
    /// # Panics
    /// If the image is smaller than a kernel, or a stride is 0 (the caller's bug).
    #[must_use]
    pub fn results(&self) -> [usize; 2] {
        [0, 1].map(|k| (self.image[k] - self.kernel[k]) / self.strides[k] + 1)
    }

    /// For kernels of one pixel: all pixels in one row, which has space for a power of two of them.
    /// The polynomials of weights are then only as long as the number of planes in `n`
    /// coefficients.
    fn in_a_row(self, n: usize) -> Conv {
        let [rows, columns] = self.image;
        match rows.checked_mul(columns) {
            Some(pixels) if self.kernel == [1; 2] && self.strides == [1; 2] && pixels <= n => {
                Conv { image: [1, pixels], ..self }
            }
            _ => self,
        }
    }

    /// The number of products that are summed to one result.
    #[must_use]
    pub fn terms(&self) -> u64 {
        (self.channels * self.kernel[0] * self.kernel[1]) as u64
    }

    /// The number of products of all results.
    ///
    /// # Panics
    /// As [`Conv::results`].
    #[must_use]
    pub fn products(&self) -> u64 {
        let [rows, columns] = self.results();
        self.terms() * (self.outputs * rows * columns) as u64
    }
}

impl Layout {
    /// The layout of least cost for batches of `images` images. `None` if the convolution has no
    /// results, or its windows do not fit a polynomial.
    pub(crate) fn new(conv: Conv, n: usize, images: usize) -> Option<Layout> {
        let conv = conv.in_a_row(n);
        let alone = Layout::of_planes(conv, n, 1)?;
        let fewer = std::iter::successors(Some(images.max(1)), |m| (*m > 2).then(|| m.div_ceil(2)));
        let planes = fewer.filter_map(|m| Layout::of_planes(conv, n, m));
        let cost = |layout: &Layout| (layout.cost(images), layout.images);
        std::iter::once(alone).chain(planes).min_by_key(cost)
    }

    /// The cost of a batch: its ciphertexts, and the products of ciphertexts by columns of weights.
    fn cost(&self, images: usize) -> usize {
        let (blocks, groups) = (self.blocks(), self.groups());
        let plane = MESSAGE * (blocks + groups) + blocks * groups * self.taps();
        images.div_ceil(self.images) * self.tiles.len() * plane
    }

    /// The layout with `images` images in a plane; several of them have one tile.
    fn of_planes(conv: Conv, n: usize, images: usize) -> Option<Layout> {
        let [rows, columns] = conv.image;
        let fits = conv.kernel.iter().zip(&conv.image).all(|(k, of)| (1..=*of).contains(k));
        if !fits || conv.strides.contains(&0) || conv.channels == 0 || conv.outputs == 0 {
            return None;
        }
        // In a row, the pixels of all images lie side by side; otherwise images lie below each
        // other.
        let is_row = rows == 1 && conv.kernel == [1; 2];
        let beside = if is_row { columns.checked_mul(images)? } else { columns };
        // Rows are whole vectors, unless there is only one column.
        let width = if beside == 1 { 1 } else { beside.checked_next_power_of_two()?.max(LEAST) };
        let tile = rows.min(n / width);
        if tile < conv.kernel[0] {
            return None;
        }
        let (height, apart) = if is_row { (1, columns) } else { (tile * images, tile * width) };
        let (mut tiles, mut result) = (vec![], 0);
        let most = (tile - conv.kernel[0]) / conv.strides[0] + 1;
        while result < conv.results()[0] {
            let results = most.min(conv.results()[0] - result);
            let rows = (results - 1) * conv.strides[0] + conv.kernel[0];
            tiles.push(Tile { row: result * conv.strides[0], rows, result, results });
            result += results;
        }
        if images > 1 && (tiles.len() > 1 || height.checked_mul(width)? > n) {
            return None;
        }
        let places = (n / (height * width)).max(1);
        let cut = |inputs: usize| {
            let outputs = (places / inputs).clamp(1, conv.outputs);
            (conv.channels.div_ceil(inputs) + conv.outputs.div_ceil(outputs), inputs, outputs)
        };
        let halves =
            std::iter::successors(Some(places.min(conv.channels)), |i| (*i > 1).then(|| i.div_ceil(2)));
        let (_, inputs, outputs) = halves.map(cut).min().unwrap_or((0, 1, 1));
        Some(Layout { conv, n, tiles, height, width, images, apart, inputs, outputs })
    }

    /// The number of uploads of a tile.
    pub(crate) fn blocks(&self) -> usize {
        self.conv.channels.div_ceil(self.inputs)
    }

    /// The number of answers of a tile.
    pub(crate) fn groups(&self) -> usize {
        self.conv.outputs.div_ceil(self.outputs)
    }

    fn plane(&self) -> usize {
        self.height * self.width
    }

    fn origin(&self) -> usize {
        let [h, w] = self.conv.kernel;
        (self.inputs - 1) * self.plane() + (h - 1) * self.width + w - 1
    }

    /// The polynomials of a plane's images, tile by tile, block by block.
    pub(crate) fn uploads(&self, images: &[u64]) -> Vec<Vec<u64>> {
        let [rows, columns] = self.conv.image;
        let mut all = vec![];
        for tile in &self.tiles {
            for block in 0..self.blocks() {
                let mut of = vec![0; self.n];
                for (i, image) in images.chunks_exact(self.conv.channels * rows * columns).enumerate() {
                    for c in 0..self.inputs.min(self.conv.channels - block * self.inputs) {
                        let from = ((block * self.inputs + c) * rows + tile.row) * columns;
                        let rows = image[from..].chunks_exact(columns).take(tile.rows);
                        let to = of[c * self.plane() + i * self.apart..].chunks_mut(self.width);
                        to.zip(rows).for_each(|(to, row)| to[..columns].copy_from_slice(row));
                    }
                }
                all.push(of);
            }
        }
        all
    }

    /// The number of columns of kernels; each is a polynomial of weights in x^W.
    pub(crate) fn taps(&self) -> usize {
        self.conv.kernel[1]
    }

    /// The weights of one block and group, column by column in descending powers.
    pub(crate) fn weights(&self, weights: &[i64], block: usize, group: usize) -> Vec<Vec<i64>> {
        let [h, w] = self.conv.kernel;
        let mut of = vec![vec![0; self.n / self.width]; w];
        for m in 0..self.outputs.min(self.conv.outputs - group * self.outputs) {
            for c in 0..self.inputs.min(self.conv.channels - block * self.inputs) {
                let kernel = (group * self.outputs + m) * self.conv.channels + block * self.inputs + c;
                let first = (m * self.inputs + self.inputs - 1 - c) * self.height + h - 1;
                for k in 0..h {
                    for (l, of) in of.iter_mut().enumerate() {
                        of[first - k] = weights[(kernel * h + k) * w + l];
                    }
                }
            }
        }
        of
    }

    /// The number of results of an answer about a plane with this many images.
    pub(crate) fn results(&self, tile: &Tile, group: usize, images: usize) -> usize {
        let outputs = self.outputs.min(self.conv.outputs - group * self.outputs);
        images * outputs * tile.results * self.conv.results()[1]
    }

    /// The places of an answer's results in its polynomial, and among all results of the plane's
    /// images.
    pub(crate) fn places(&self, tile: &Tile, group: usize, images: usize) -> (Vec<usize>, Vec<usize>) {
        let ([rows, columns], width) = (self.conv.results(), self.width);
        let (mut places, mut to) = (vec![], vec![]);
        for image in 0..images {
            for m in 0..self.outputs.min(self.conv.outputs - group * self.outputs) {
                let first = m * self.inputs * self.plane() + self.origin() + image * self.apart;
                let output = image * self.conv.outputs + group * self.outputs + m;
                for i in 0..tile.results {
                    for j in 0..columns {
                        places.push(first + i * self.conv.strides[0] * width + j * self.conv.strides[1]);
                        to.push((output * rows + tile.result + i) * columns + j);
                    }
                }
            }
        }
        (places, to)
    }
}
