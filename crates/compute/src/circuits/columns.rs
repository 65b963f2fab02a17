//! Operations along an axis: reductions in trees, prefix sums, products of matrices.

use super::{
    arith::{divide, less},
    stages::{Reg, Stages, bits_for},
};
use crate::{ComputeError, Reduction, Scalar, Scan};
use hushwire_circuit::{Bit, Builder, words};

type LoweredRegs = Result<Vec<Reg>, ComputeError>;
/// The elements of one series, each a list of registers.
pub(crate) type Series = Vec<Vec<Reg>>;

/// Reduces each of `series` to one element; all have the same length. An element takes `width`
/// registers.
fn tree(
    stages: &mut Stages,
    width: usize,
    mut series: Vec<Series>,
    join: impl Fn(&mut Builder, &[Bit], &[Bit]) -> Vec<Bit>,
) -> Result<Vec<Vec<Reg>>, ComputeError> {
    while series.first().is_some_and(|s| s.len() > 1) {
        let pairs = series[0].len() / 2;
        let reads = series.iter().flat_map(|s| s[..2 * pairs].concat()).collect();
        let made =
            stages.run(series.len() * pairs, &[width; 2], reads, |b, two| join(b, &two[0], &two[1]))?;
        let mut made = made.chunks_exact(width).map(<[Reg]>::to_vec);
        for s in &mut series {
            let odd = (s.len() % 2 == 1).then(|| s.pop().expect("there is a last one"));
            *s = made.by_ref().take(pairs).chain(odd).collect();
        }
    }
    Ok(series.into_iter().flatten().collect())
}

/// Reduces series of `n` elements to one element each.
pub(crate) fn reduce(
    stages: &mut Stages,
    reduction: Reduction,
    scalar: Scalar,
    series: Vec<Series>,
) -> LoweredRegs {
    let (signed, width) = (scalar.is_signed(), scalar.bits());
    let n = series.first().map_or(0, Vec::len);
    let sum = |b: &mut Builder, x: &[Bit], y: &[Bit]| words::add_mod(b, x, y);
    // If elements are equal, the earlier one stays: y wins only if it is strictly better.
    let better = |b: &mut Builder, x: &[Bit], y: &[Bit], least: bool| {
        if least { less(b, signed, y, x) } else { less(b, signed, x, y) }
    };
    Ok(match reduction {
        Reduction::Sum => tree(stages, width, series, sum)?.concat(),
        Reduction::Mean => {
            let count = series.len();
            let sums = tree(stages, width, series, sum)?.concat();
            stages.run(count, &[width], sums, |b, x| mean(b, &x[0], n, signed))?
        }
        Reduction::Min | Reduction::Max => {
            let least = reduction == Reduction::Min;
            tree(stages, width, series, |b, x, y| {
                let take = better(b, x, y, least);
                words::mux(b, take, y, x)
            })?
            .concat()
        }
        Reduction::All | Reduction::Any => {
            let all = reduction == Reduction::All;
            tree(stages, 1, series, |b, x, y| {
                let both = [x[0], y[0]];
                vec![if all { words::all(b, &both) } else { words::any(b, &both) }]
            })?
            .concat()
        }
        Reduction::Count => {
            let bits = bits_for(n + 1);
            let zero = stages.zero()?;
            let wide = |bit: Vec<Reg>| bit.into_iter().chain(core::iter::repeat(zero)).take(bits).collect();
            let series = series.into_iter().map(|s| s.into_iter().map(wide).collect()).collect();
            padded(&tree(stages, bits, series, sum)?, zero)
        }
        Reduction::ArgMin | Reduction::ArgMax => {
            let (least, bits) = (reduction == Reduction::ArgMin, bits_for(n));
            let numbers = stages.numbers(n, bits)?;
            let with = |(k, x): (usize, Vec<Reg>)| [&x[..], &numbers[k * bits..][..bits]].concat();
            let series = series.into_iter().map(|s| s.into_iter().enumerate().map(with).collect()).collect();
            let found = tree(stages, width + bits, series, |b, x, y| {
                let take = better(b, &x[..width], &y[..width], least);
                words::mux(b, take, y, x)
            })?;
            let places: Vec<Vec<Reg>> = found.iter().map(|f| f[width..].to_vec()).collect();
            padded(&places, stages.zero()?)
        }
    })
}

/// Extends words to 64 bits.
fn padded(words: &[Vec<Reg>], zero: Reg) -> Vec<Reg> {
    words.iter().flat_map(|w| w.iter().copied().chain(core::iter::repeat(zero)).take(64)).collect()
}

/// A sum divided by a count, rounded towards 0; the count need not fit the sum's width.
fn mean(b: &mut Builder, sum: &[Bit], count: usize, signed: bool) -> Vec<Bit> {
    let width = sum.len().max(bits_for(count + 1)) + 1;
    let more = if signed { sum[sum.len() - 1] } else { Bit::ZERO };
    let wide: Vec<Bit> = sum.iter().copied().chain(core::iter::repeat(more)).take(width).collect();
    let by = words::constant(count as u128, width);
    let scalar = Scalar::Int { signed, bits: u8::try_from(width).unwrap_or(u8::MAX) };
    let mut quotient = divide(b, &wide, &by, scalar).0;
    quotient.truncate(sum.len());
    quotient
}

/// Pairs of places, column by column. In a column, the value at the first place is joined into the
/// value at the second.
type Columns = Vec<Vec<(usize, usize)>>;

/// The network of least depth: J. Sklansky, "Conditional-sum addition logic", IRE Trans. EC-9
/// (1960). It has ⌈log n⌉ columns and (n log n) / 2 joins.
pub(crate) fn shallow(n: usize) -> Columns {
    let reaches = core::iter::successors(Some(1), |r| Some(2 * r)).take_while(|r| *r < n);
    let column = |reach: usize| {
        let places = (0..n).filter(|i| i & reach != 0);
        places.map(|i| ((i & !(2 * reach - 1)) + reach - 1, i)).collect()
    };
    reaches.map(column).collect()
}

/// The network of few joins: R. Brent, H. T. Kung, "A regular layout for parallel adders", IEEE
/// Trans. C-31 (1982). It has fewer than 2n joins and fewer than 2 log n columns.
pub(crate) fn sparse(n: usize) -> Columns {
    let reaches: Vec<usize> =
        core::iter::successors(Some(1), |r| Some(2 * r)).take_while(|r| *r < n).collect();
    let column = |reach: usize, first: usize| -> Vec<_> {
        (first..n).step_by(2 * reach).map(|i| (i - reach, i)).collect()
    };
    let up = reaches.iter().map(|r| column(*r, 2 * r - 1));
    up.chain(reaches.iter().rev().map(|r| column(*r, 3 * r - 1))).filter(|c| !c.is_empty()).collect()
}

/// Joins every element of each series with all elements before it, along a network. All series have
/// the same length.
pub(crate) fn prefixes(
    stages: &mut Stages,
    width: usize,
    mut series: Vec<Series>,
    columns: &Columns,
    join: impl Fn(&mut Builder, &[Bit], &[Bit]) -> Vec<Bit>,
) -> Result<Vec<Series>, ComputeError> {
    for pairs in columns {
        let reads = series
            .iter()
            .flat_map(|s| pairs.iter().flat_map(|(above, here)| [&s[*above][..], &s[*here]].concat()))
            .collect();
        let made =
            stages.run(series.len() * pairs.len(), &[width; 2], reads, |b, two| join(b, &two[0], &two[1]))?;
        let mut made = made.chunks_exact(width).map(<[Reg]>::to_vec);
        for s in &mut series {
            pairs.iter().zip(made.by_ref().take(pairs.len())).for_each(|((_, here), sum)| s[*here] = sum);
        }
    }
    Ok(series)
}

/// Scans rows with restarts. A row is its flag and `elements` of one scalar.
pub(crate) fn scan(
    stages: &mut Stages,
    kind: Scan,
    scalar: Scalar,
    elements: usize,
    rows: Series,
) -> Result<Series, ComputeError> {
    let (signed, width, columns) = (scalar.is_signed(), scalar.bits(), sparse(rows.len()));
    let made = prefixes(stages, 1 + elements * width, vec![rows], &columns, |b, above, here| {
        // The span starts if either part does; a part that does not start takes the value above.
        let none = [above[0], here[0]];
        let mut out = vec![words::any(b, &none)];
        for (x, y) in above[1..].chunks_exact(width).zip(here[1..].chunks_exact(width)) {
            let both = match kind {
                Scan::Sum => words::add_mod(b, x, y),
                Scan::First => x.to_vec(),
                Scan::Min | Scan::Max => {
                    let (low, high) = if kind == Scan::Min { (x, y) } else { (y, x) };
                    let take = less(b, signed, low, high);
                    words::mux(b, take, x, y)
                }
            };
            out.extend(words::mux(b, here[0], y, &both));
        }
        out
    })?;
    Ok(made.into_iter().flatten().collect())
}

/// The sums of products of each pair of series.
pub(crate) fn dots(stages: &mut Stages, width: usize, pairs: &[(Series, Series)]) -> LoweredRegs {
    let n = pairs.first().map_or(0, |(x, _)| x.len());
    let reads =
        pairs.iter().flat_map(|(x, y)| x.iter().zip(y).flat_map(|(x, y)| [&x[..], y].concat())).collect();
    let products =
        stages.run(pairs.len() * n, &[width; 2], reads, |b, two| words::mul(b, &two[0], &two[1], width))?;
    let mut products = products.chunks_exact(width).map(<[Reg]>::to_vec);
    let series = pairs.iter().map(|_| products.by_ref().take(n).collect()).collect();
    Ok(tree(stages, width, series, words::add_mod)?.concat())
}
