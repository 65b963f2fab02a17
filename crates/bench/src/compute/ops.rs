//! The operations themselves: inputs, machines, and what must come out.
//!
//! ```text
//! op       n, columns                                               unit
//! mul      n products                                               element
//! dot      n inner products of `columns` numbers                    MAC
//! matmul   n × n numbers times n × `columns`                        MAC
//! conv2d   a picture of n × n pixels of `columns` channels, as many
//!          filters of 3 × 3, zeros around the picture               MAC
//! reveal   n numbers to all three                                   element
//! ```

use std::sync::{Arc, Mutex, PoisonError};

use hushwire_aes::Backend;
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{
    Batch, Context, Role, ShareError,
    ring::{
        Bilinear, Column, Conv2d, Dot, Geometry, MatMul, Product, Reveal, Word, test_support::share_words,
    },
};
use hushwire_wire::{NetError, drive::Machine};

use crate::{BoxError, bounds::count};

/// One party's side of an operation: begins a run, and takes it back; gives this party's part of the result where it is wanted.
pub(crate) struct Side<M> {
    pub(crate) begin: Box<dyn FnMut(Batch) -> Result<M, BoxError> + Send>,
    pub(crate) end: Box<dyn FnMut(M, bool) -> Option<Vec<u64>> + Send>,
}

/// The form of a result's parts.
#[derive(Clone, Copy)]
pub(crate) enum Parts {
    /// Shares x_i of numbers of so many bits.
    Sum(usize),
    /// The numbers themselves.
    Known,
}

/// An operation with its inputs.
pub(crate) struct Made<M> {
    /// Units of work of a run, and their name.
    pub(crate) units: f64,
    pub(crate) unit: &'static str,
    /// PRF calls of all parties for a unit.
    pub(crate) prf: f64,
    /// Bytes that a party reads and writes in a run, at least.
    pub(crate) touched: usize,
    pub(crate) expected: Vec<u64>,
    pub(crate) parts: Parts,
    pub(crate) side: Box<dyn Fn(Role) -> Side<M> + Send + Sync>,
}

/// Numbers of this seed, and the parties' shares of them.
fn deal<W: Word>(seed: u8, len: usize) -> (Vec<W>, [Arc<Column<W>>; 3]) {
    let prg = |label| Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), label);
    let mut numbers = prg("bench compute numbers");
    let numbers: Vec<W> = (0..len).map(|_| W::of(numbers.next_u64())).collect();
    let shares = share_words(&mut prg("bench compute shares"), &numbers).map(Arc::new);
    (numbers, shares)
}

fn widened<W: Word>(words: &[W]) -> Vec<u64> {
    words.iter().map(|word| word.number()).collect()
}

/// PRF calls of all parties for the zero-share of a word: 16 bytes take two of each.
fn zero_share<W: Word>() -> f64 {
    3.0 * 2.0 * count(W::BYTES as u64) / 16.0
}

type Plain<W> = fn(&[usize], &[W], &[W]) -> Vec<W>;
type New<W, F> = fn(&[usize], Context, Arc<Column<W>>, Arc<Column<W>>) -> Result<Bilinear<W, F>, ShareError>;

/// A bilinear operation: lengths of its factors, multiplications for a result, and its plain form.
struct Form<W: Word, F> {
    shape: Vec<usize>,
    factors: [usize; 2],
    macs: usize,
    new: New<W, F>,
    plain: Plain<W>,
}

fn bilinear<W: Word, F: Send + 'static>(form: Form<W, F>) -> Made<Bilinear<W, F>>
where
    Bilinear<W, F>: Machine<Error = NetError>,
{
    let Form { shape, factors, macs, new, plain } = form;
    let ((x, xs), (y, ys)) = (deal::<W>(1, factors[0]), deal::<W>(2, factors[1]));
    let expected = plain(&shape, &x, &y);
    let results = expected.len();
    let side = move |role: Role| {
        let (x, y, shape) = (xs[role.index()].clone(), ys[role.index()].clone(), shape.clone());
        // Results' memory, used again.
        let spare = Arc::new(Mutex::new(Vec::<Column<W>>::new()));
        let freed = spare.clone();
        Side {
            begin: Box::new(move |mut batch: Batch| {
                let run = new(&shape, batch.context(), x.clone(), y.clone())?;
                let memory = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
                Ok(match memory {
                    Some(memory) => run.with_buffer(memory),
                    None => run,
                })
            }),
            end: Box::new(move |run: Bilinear<W, F>, keep| {
                let z = run.finish();
                let result = keep.then(|| widened(&z.own));
                freed.lock().unwrap_or_else(PoisonError::into_inner).push(z);
                result
            }),
        }
    };
    let units = count((results * macs) as u64);
    Made {
        units,
        unit: if macs == 1 { "elements" } else { "MAC" },
        prf: zero_share::<W>() * count(results as u64) / units,
        // Both shares of the factors and of the result, and both messages.
        touched: (2 * factors[0] + 2 * factors[1] + 4 * results) * W::BYTES,
        expected: widened(&expected),
        parts: Parts::Sum(W::BITS),
        side: Box::new(side),
    }
}

pub(crate) fn mul<W: Word>(n: usize) -> Made<Product<W>> {
    bilinear(Form {
        shape: vec![],
        factors: [n, n],
        macs: 1,
        new: |_, cx, x, y| Product::new(cx, x, y),
        plain: |_, x, y| x.iter().zip(y).map(|(x, y)| x.times(*y)).collect(),
    })
}

pub(crate) fn dot<W: Word>(n: usize, columns: usize) -> Made<Dot<W>> {
    bilinear(Form {
        shape: vec![n, columns],
        factors: [n * columns; 2],
        macs: columns,
        new: |shape, cx, x, y| Dot::new(cx, [shape[0], shape[1]], x, y),
        plain: |shape, x, y| {
            let rows = x.chunks(shape[1]).zip(y.chunks(shape[1]));
            rows.map(|(x, y)| product(1, shape[1], 1, x, y)[0]).collect()
        },
    })
}

pub(crate) fn matmul<W: Word>(n: usize, columns: usize) -> Made<MatMul<W>> {
    bilinear(Form {
        shape: vec![n, columns],
        factors: [n * n, n * columns],
        macs: n,
        new: |shape, cx, x, y| MatMul::new(cx, [shape[0], shape[0], shape[1]], x, y),
        plain: |shape, x, y| product(shape[0], shape[0], shape[1], x, y),
    })
}

/// A row-major product of matrices.
fn product<W: Word>(rows: usize, depth: usize, columns: usize, x: &[W], y: &[W]) -> Vec<W> {
    let mut z = vec![W::default(); rows * columns];
    for (z, x) in z.chunks_mut(columns).zip(x.chunks(depth)) {
        for (x, y) in x.iter().zip(y.chunks(columns)) {
            z.iter_mut().zip(y).for_each(|(z, y)| *z = z.plus(x.times(*y)));
        }
    }
    z
}

fn geometry(shape: &[usize]) -> Geometry {
    let [n, channels] = [shape[0], shape[1]];
    Geometry {
        pictures: [1, n, n, channels],
        window: [3, 3],
        filters: channels,
        stride: [1, 1],
        before: [1, 1],
        after: [1, 1],
    }
}

pub(crate) fn conv2d<W: Word>(n: usize, channels: usize) -> Made<Conv2d<W>> {
    bilinear(Form {
        shape: vec![n, channels],
        factors: [n * n * channels, 9 * channels * channels],
        macs: 9 * channels,
        new: |shape, cx, x, y| Conv2d::new(cx, geometry(shape), x, y),
        plain: |shape, x, y| {
            let [n, channels] = [shape[0], shape[1]];
            // All patches, as a matrix.
            let mut patches = Vec::with_capacity(n * n * 9 * channels);
            for (row, column) in (0..n).flat_map(|row| (0..n).map(move |column| (row, column))) {
                for (down, across) in (0..3).flat_map(|down| (0..3).map(move |across| (down, across))) {
                    let pixel = |at: usize| at.checked_sub(1).filter(|at| *at < n);
                    match pixel(row + down).zip(pixel(column + across)) {
                        Some((row, column)) => {
                            patches.extend(&x[(row * n + column) * channels..][..channels]);
                        }

                        None => patches.resize(patches.len() + channels, W::default()),
                    }
                }
            }
            product(n * n, 9 * channels, channels, &patches, y)
        },
    })
}

pub(crate) fn reveal<W: Word>(n: usize) -> Made<Reveal<W>> {
    let (numbers, shares) = deal::<W>(1, n);
    let side = move |role: Role| {
        let column = shares[role.index()].clone();
        Side {
            begin: Box::new(move |_| Ok(Reveal::to_all(role, column.clone())?)),
            end: Box::new(|run: Reveal<W>, keep| run.finish().filter(|_| keep).map(|value| widened(&value))),
        }
    };
    Made {
        units: count(n as u64),
        unit: "elements",
        prf: 0.0,
        // Both shares, both messages and the numbers.
        touched: 5 * n * W::BYTES,
        expected: widened(&numbers),
        parts: Parts::Known,
        side: Box::new(side),
    }
}
