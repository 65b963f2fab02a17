//! The operations: their inputs, machines, and expected results.
//!
//! ```text
//! op       n, columns                                               unit
//! mul      n products                                               element
//! dot      n inner products of `columns` numbers                    element of a factor
//! matmul   n × n numbers times n × `columns`                        MAC
//! conv2d   a picture of n × n pixels of `columns` channels, as many
//!          filters of 3 × 3, zeros around the picture               MAC
//! reveal   n numbers to all three                                   element
//! ```
//!
//! Each of two threads of a party has half of the results: rows of the left matrix, or filters.
//! More operations are in [`bits`](super::bits) and [`orders`](super::orders).

use std::sync::{Arc, Mutex, PoisonError};

use hushwire_aes::Backend;
use hushwire_machine::{
    NetError,
    drive::{Machine, With},
};
use hushwire_prg::{Prg, Seed};
use hushwire_rep3::{
    Batch, Context, Role, ShareError,
    ring::{
        Bilinear, Column, Conv2d, Dot, Geometry, MatMul, Product, Reveal, Word, test_support::share_words,
    },
};

use crate::{BoxError, bounds::count};

/// A run of any operation.
pub(crate) trait OpMachine: Machine<Error = NetError> + Send {
    /// This party's part of the result after the run, if `keep` is set.
    fn end(self: Box<Self>, keep: bool) -> Option<Vec<u64>>;
}

/// A machine with the function that makes its result. [`OpMachine`] hides its type, so that
/// measuring code is compiled once.
impl<M, E> OpMachine for With<M, E>
where
    M: Machine<Error = NetError> + Send,
    E: FnOnce(M, bool) -> Option<Vec<u64>> + Send,
{
    fn end(self: Box<Self>, keep: bool) -> Option<Vec<u64>> {
        (self.with)(self.machine, keep)
    }
}

/// Begins runs of one party.
pub(crate) type Begin = Box<dyn FnMut(Batch) -> Result<Box<dyn OpMachine>, BoxError> + Send>;

/// The form of a result's parts.
#[derive(Clone, Copy)]
pub(crate) enum Parts {
    /// Shares x_i of numbers with this many bits.
    Sum(usize),
    /// The same, for numbers in an order that no party knows.
    Shuffled(usize),
    /// Shares of strings of bits.
    Xor,
    /// The numbers themselves.
    Known,
}

/// An operation with its inputs.
pub(crate) struct OpSetup {
    /// The units of work of a run, and the unit's name.
    pub(crate) units: f64,
    pub(crate) unit: &'static str,
    /// Whether messages are masked, instead of being plain shares.
    pub(crate) masked: bool,
    /// The fewest bytes that a party reads and writes in a run.
    pub(crate) touched: usize,
    pub(crate) expected: Vec<u64>,
    pub(crate) parts: Parts,
    pub(crate) side: Box<dyn Fn(Role) -> Begin + Send + Sync>,
}

/// Numbers from this seed, and the parties' shares of them.
pub(super) fn deal<W: Word>(seed: u8, len: usize) -> (Vec<W>, [Arc<Column<W>>; 3]) {
    let prg = |label| Prg::new(Backend::best(), &Seed::from_bytes([seed; 16]), label);
    let mut numbers = prg("bench compute numbers");
    let numbers: Vec<W> = (0..len).map(|_| W::of(numbers.next_u64())).collect();
    let shares = share_words(&mut prg("bench compute shares"), &numbers).map(Arc::new);
    (numbers, shares)
}

pub(super) fn widened<W: Word>(words: &[W]) -> Vec<u64> {
    words.iter().map(|word| word.number()).collect()
}

type PlainForm<W> = fn(&[usize], &[W], &[W]) -> Vec<W>;
type New<W, F> = fn(&[usize], Context, Arc<Column<W>>, Arc<Column<W>>) -> Result<Bilinear<W, F>, ShareError>;

/// A bilinear operation: the lengths of its factors, the work for a result, and its plain form.
struct BilinearForm<W: Word, F> {
    shape: Vec<usize>,
    factors: [usize; 2],
    /// The multiplications for a result, and the unit's name.
    macs: usize,
    unit: &'static str,
    new: New<W, F>,
    plain: PlainForm<W>,
}

fn bilinear<W: Word, F: Send + 'static>(form: BilinearForm<W, F>) -> OpSetup
where
    Bilinear<W, F>: Machine<Error = NetError> + Send,
{
    let BilinearForm { shape, factors, macs, unit, new, plain } = form;
    let ((x, xs), (y, ys)) = (deal::<W>(1, factors[0]), deal::<W>(2, factors[1]));
    let expected = plain(&shape, &x, &y);
    let results = expected.len();
    let side = move |role: Role| {
        let (x, y, shape) = (xs[role.index()].clone(), ys[role.index()].clone(), shape.clone());
        // The memory of results is reused.
        let spare = Arc::new(Mutex::new(Vec::<Column<W>>::new()));
        let begin: Begin = Box::new(move |mut batch: Batch| {
            let run = new(&shape, batch.context(), x.clone(), y.clone())?;
            let memory = spare.lock().unwrap_or_else(PoisonError::into_inner).pop();
            let machine = match memory {
                Some(memory) => run.with_buffer(memory),
                None => run,
            };
            let freed = spare.clone();
            let end = move |run: Bilinear<W, F>, keep: bool| {
                let z = run.finish();
                let result = keep.then(|| widened(&z.own));
                freed.lock().unwrap_or_else(PoisonError::into_inner).push(z);
                result
            };
            Ok(Box::new(With { machine, with: end }))
        });
        begin
    };
    let units = count((results * macs) as u64);
    OpSetup {
        units,
        unit,
        masked: true,
        // Both shares of the factors and of the result, and both messages.
        touched: (2 * factors[0] + 2 * factors[1] + 4 * results) * W::BYTES,
        expected: widened(&expected),
        parts: Parts::Sum(W::BITS),
        side: Box::new(side),
    }
}

pub(crate) fn mul<W: Word>(n: usize) -> OpSetup {
    bilinear::<W, _>(BilinearForm {
        shape: vec![],
        factors: [n, n],
        macs: 1,
        unit: "elements",
        new: |_, cx, x, y| Product::new(cx, x, y),
        plain: |_, x, y| x.iter().zip(y).map(|(x, y)| x.times(*y)).collect(),
    })
}

pub(crate) fn dot<W: Word>(n: usize, columns: usize) -> OpSetup {
    bilinear::<W, _>(BilinearForm {
        shape: vec![n, columns],
        factors: [n * columns; 2],
        macs: columns,
        unit: "elements",
        new: |shape, cx, x, y| Dot::new(cx, [shape[0], shape[1]], x, y),
        plain: |shape, x, y| {
            let rows = x.chunks(shape[1]).zip(y.chunks(shape[1]));
            rows.map(|(x, y)| product(1, shape[1], 1, x, y)[0]).collect()
        },
    })
}

/// The product of matrices whose `shape` has rows, depth and columns.
pub(crate) fn matmul<W: Word>([rows, depth, columns]: [usize; 3]) -> OpSetup {
    bilinear::<W, _>(BilinearForm {
        shape: vec![rows, depth, columns],
        factors: [rows * depth, depth * columns],
        macs: depth,
        unit: "MAC",
        new: |shape, cx, x, y| MatMul::new(cx, [shape[0], shape[1], shape[2]], x, y),
        plain: |shape, x, y| product(shape[0], shape[1], shape[2], x, y),
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
    let [n, channels, filters] = [shape[0], shape[1], shape[2]];
    Geometry {
        groups: 1,
        pictures: [1, n, n, channels],
        window: [3, 3],
        filters,
        stride: [1, 1],
        before: [1, 1],
        after: [1, 1],
    }
}

pub(crate) fn conv2d<W: Word>(n: usize, channels: usize, filters: usize) -> OpSetup {
    bilinear::<W, _>(BilinearForm {
        shape: vec![n, channels, filters],
        factors: [n * n * channels, 9 * channels * filters],
        macs: 9 * channels,
        unit: "MAC",
        new: |shape, cx, x, y| Conv2d::new(cx, geometry(shape), x, y),
        plain: |shape, x, y| {
            let [n, channels, filters] = [shape[0], shape[1], shape[2]];
            // All patches as a matrix.
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
            product(n * n, 9 * channels, filters, &patches, y)
        },
    })
}

impl<W: Word> Finish for Reveal<W> {
    fn parts(self) -> Vec<u64> {
        self.finish().map_or(vec![], |value| widened(&value))
    }
}

pub(crate) fn reveal<W: Word>(n: usize) -> OpSetup {
    let (numbers, shares) = deal::<W>(1, n);
    // Both shares, both messages and the numbers.
    let made = elements(5 * n * W::BYTES, (widened(&numbers), Parts::Known), move |i, _| {
        Ok(Reveal::to_all(Role::ALL[i], shares[i].clone())?)
    });
    OpSetup { masked: false, ..made }
}

/// A machine that ends with this party's part of a result.
pub(super) trait Finish: Machine<Error = NetError> + Send + 'static {
    fn parts(self) -> Vec<u64>;
}

/// An operation whose unit is an element of its result. The arguments are the bytes that it
/// touches, the expected result, and the function that begins a run of the party with this index.
pub(super) fn elements<M: Finish>(
    touched: usize,
    (expected, parts): (Vec<u64>, Parts),
    begin: impl Fn(usize, Batch) -> Result<M, BoxError> + Clone + Send + Sync + 'static,
) -> OpSetup {
    let side = move |role: Role| {
        let begin = begin.clone();
        let begin: Begin = Box::new(move |batch| {
            let end = move |run: M, keep: bool| keep.then(|| run.parts());
            Ok(Box::new(With { machine: begin(role.index(), batch)?, with: end }))
        });
        begin
    };
    let units = count(expected.len() as u64);
    OpSetup { units, unit: "elements", masked: true, touched, expected, parts, side: Box::new(side) }
}
