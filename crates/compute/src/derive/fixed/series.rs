//! Functions of one argument as polynomials on pieces of their range.
//!
//! Coefficients are Taylor's about the middle of each piece. They follow from a differential
//! equation, so that integers suffice to compute them. The degree is then lowered by Chebyshev's
//! polynomials, as in C. Lanczos, "Trigonometric interpolation of empirical and analytical
//! functions", 1938 (economization).

use crate::derive::constants::{Q, density, eighth_turn, erf_slope, ln_2, rounded};

/// The most terms of a series. Fewer suffice for 60 bits on narrow pieces.
const TERMS: usize = 48;

/// The relation of a curve to g, whose derivative follows from g by a differential equation.
#[derive(PartialEq)]
enum Relation {
    Same,
    Integral,
    /// The number times the integral.
    TimesIntegral,
}

/// A function of numbers from 0 on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Curve {
    /// The sigmoid less 1/2.
    Sigmoid,
    /// The hyperbolic tangent of x / 2.
    TanhOfHalf,
    /// The error function.
    Erf,
    /// The logarithm of 1 + e^−x.
    Tail,
    /// e^−x.
    Decline,
    /// x Φ(−x), where Φ is the normal distribution function.
    Gaussian,
    /// The arc tangent of numbers up to 1.
    Arc,
}

/// The terms of g's series so far, in powers of v, which is from −1 to 1 on a piece.
struct Known<'a> {
    /// The middle of the piece times 2^`half`.
    middle: i128,
    half: u32,
    all: &'a [i128],
}

impl Known<'_> {
    fn last(&self) -> i128 {
        self.all[self.all.len() - 1]
    }

    fn before(&self) -> i128 {
        self.all.len().checked_sub(2).map_or(0, |at| self.all[at])
    }

    /// The last coefficient that is known of the series' square.
    fn square(&self) -> i128 {
        square(self.all)
    }

    /// Divides by 2^(n · `half` + more), towards 0, so that series end.
    fn scaled(&self, x: i128, n: u32, more: i32) -> i128 {
        x / (1 << (n * self.half).saturating_add_signed(more))
    }
}

fn square(all: &[i128]) -> i128 {
    all.iter().zip(all.iter().rev()).map(|(x, y)| (x * y) >> Q).sum()
}

/// How a curve follows from g.
struct Equation {
    relation: Relation,
    /// The function at 0, or the integral that it is a multiple of, and g.
    start: [i128; 2],
    /// The next coefficient of g, times its index, from all before it.
    next: fn(&Known<'_>) -> i128,
    /// The value far from 0, which has no error of its own. Pieces end where the function, or that
    /// integral, is within a step's 2^-`guard` of it: the curve is then within half a 2^-`to`.
    end: i128,
    guard: u32,
    /// The curve is `shift` + `times` · the function.
    shift: i128,
    times: i128,
}

impl Curve {
    fn equation(self) -> Equation {
        // 1 / (1 + e^x): its derivative is its square minus itself.
        let logistic = Equation {
            relation: Relation::Same,
            start: [1 << (Q - 1); 2],
            next: |g| g.scaled(g.square() - g.last(), 1, 0),
            end: 0,
            guard: 1,
            shift: 0,
            times: 1,
        };
        match self {
            Curve::Sigmoid => Equation { shift: 1 << (Q - 1), times: -1, ..logistic },
            Curve::TanhOfHalf => Equation { guard: 2, shift: 1 << Q, times: -2, ..logistic },
            // The derivative 2/√π e^(−x²) has the derivative −2 x times itself.
            Curve::Erf => Equation {
                relation: Relation::Integral,
                start: [0, erf_slope()],
                next: |g| -g.scaled(g.middle * g.last() + g.before(), 2, -1),
                end: 1 << Q,
                ..logistic
            },
            // The derivative g has the derivative −g − g².
            Curve::Tail => Equation {
                relation: Relation::Integral,
                start: [ln_2(), -(1 << (Q - 1))],
                next: |g| g.scaled(-g.last() - g.square(), 1, 0),
                ..logistic
            },
            // The derivative is the negative.
            Curve::Decline => {
                Equation { start: [1 << Q; 2], next: |g| -g.scaled(g.last(), 1, 0), guard: 9, ..logistic }
            }
            // Φ is the integral of the normal density, whose derivative is −x times itself. Where Φ
            // ends, x is less than 8.
            Curve::Gaussian => Equation {
                relation: Relation::TimesIntegral,
                start: [1 << (Q - 1), -density()],
                next: |g| -g.scaled(g.middle * g.last() + g.before(), 2, 0),
                guard: 4,
                ..logistic
            },
            // The derivative g has the derivative −2 x g².
            Curve::Arc => Equation {
                relation: Relation::Integral,
                start: [0, 1 << Q],
                next: |g| {
                    let before = square(&g.all[..g.all.len() - 1]);
                    -g.scaled(g.middle * g.square() + before, 2, -1)
                },
                end: eighth_turn(),
                ..logistic
            },
        }
    }
}

/// A curve on pieces that are 2 · 2^-`half` wide.
pub(super) struct Pieces {
    pub(super) half: u32,
    /// The coefficients on each piece, with p fractional bits, the lowest first, and at last those
    /// beyond all pieces.
    pub(super) rows: Vec<Vec<i128>>,
}

/// The numbers of bits that decide on a curve's pieces.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Precision {
    /// The fractional bits of the argument.
    pub(super) of: u8,
    /// The fractional bits of a step, by which pieces end.
    pub(super) step: u8,
    /// The fractional bits of coefficients.
    pub(super) p: u8,
    /// The fractional bits of the result.
    pub(super) to: u8,
}

impl Pieces {
    /// The cheapest pieces whose polynomials are within an eighth of 2^-`to` of the curve.
    pub(super) fn new(curve: Curve, precision: Precision) -> Pieces {
        let widths = 1..=6.min(u32::from(precision.of) - 2);
        let all = widths.map(|half| Pieces::of(curve, half, precision));
        all.min_by_key(|pieces| pieces.cost(precision)).expect("there is a width")
    }

    fn degree(&self) -> usize {
        self.rows[0].len() - 1
    }

    /// An estimate in ANDs: a product and a shift for each degree, the search for the piece, and a
    /// thirty-second of the XORs that choose coefficients.
    fn cost(&self, precision: Precision) -> usize {
        let p = usize::from(precision.p);
        let width = p + usize::from(precision.of) + 1 - self.half as usize;
        let choices = self.rows.len() * (self.degree() + 1) * p / 64;
        8 * width * self.degree() + self.rows.len().next_power_of_two() + choices
    }

    fn of(curve: Curve, half: u32, precision: Precision) -> Pieces {
        let equation = curve.equation();
        let mut rows = equation.pieces(half, u32::from(precision.step));
        lower(&mut rows, 1 << (Q - u32::from(precision.to) - 3));
        rows.push(vec![equation.end]);
        let degree = rows.iter().map(Vec::len).max().unwrap_or(0).max(2);
        for row in &mut rows {
            row.resize(degree, 0);
            row.iter_mut().for_each(|c| *c *= equation.times);
            row[0] += equation.shift;
            row.iter_mut().for_each(|c| *c = rounded(*c, precision.p.into()));
        }
        Pieces { half, rows }
    }
}

impl Equation {
    /// The coefficients of g about a middle at which it has this value.
    fn series(&self, middle: i128, half: u32, value: i128) -> Vec<i128> {
        let mut all = vec![value];
        while all.len() < TERMS && !all.ends_with(&[0, 0]) {
            let next = (self.next)(&Known { middle, half, all: &all }) / all.len() as i128;
            all.push(next);
        }
        all
    }

    /// Coefficients of each piece from 0 on, with 60 fractional bits, until the function is within
    /// 2^-(`bits` + `guard`) of its end.
    fn pieces(&self, half: u32, bits: u32) -> Vec<Vec<i128>> {
        let mut pieces = vec![];
        // Half a piece from 0 is the middle of the first piece.
        let at_0 = self.series(0, half, self.start[1]);
        let (mut slope, mut value) = (at_0.iter().sum::<i128>(), self.start[0]);
        while (self.end - value).abs() >> (Q - bits - self.guard) > 0 {
            let middle = 2 * pieces.len() as i128 + 1;
            let series = self.series(middle, half, slope);
            slope = series.iter().enumerate().map(|(n, c)| c << n.min(60)).sum();
            let same = self.relation == Relation::Same;
            let piece = if same { series } else { integral(&series, half, value) };
            value = piece.iter().sum();
            pieces.push(match self.relation {
                Relation::TimesIntegral => {
                    let before = [0].into_iter().chain(piece.iter().copied());
                    piece.iter().chain(&[0]).zip(before).map(|(c, d)| (middle * c + d) >> half).collect()
                }
                Relation::Same | Relation::Integral => piece,
            });
        }
        pieces
    }
}

/// The integral of a piece's series which has this value at its lower end, where v is −1.
fn integral(series: &[i128], half: u32, value: i128) -> Vec<i128> {
    let integral = |(n, c): (usize, &i128)| (c >> half) / (n as i128 + 1);
    let mut piece: Vec<i128> = series.iter().enumerate().map(integral).collect();
    let below: i128 = piece.iter().enumerate().map(|(n, c)| if n % 2 == 0 { -c } else { *c }).sum();
    piece.insert(0, value - below);
    piece
}

/// Lowers the degree of all polynomials as far as each stays within `most` of what it was, for v
/// from −1 to 1: vⁿ is 2^(1 − n) times Chebyshev's polynomial, which is at most 1, plus lower
/// powers.
fn lower(rows: &mut [Vec<i128>], most: i128) {
    let mut errors = vec![0; rows.len()];
    for n in (2..=rows.iter().map(Vec::len).max().unwrap_or(0)).rev() {
        let chebyshev = chebyshev(n);
        let coefficient = |row: &Vec<i128>| row.get(n).copied().unwrap_or(0);
        let added = |row: &Vec<i128>| coefficient(row).abs() >> (n - 1);
        let fits = |(row, error): (&Vec<i128>, &i128)| error + added(row) <= most;
        if !rows.iter().zip(&errors).all(fits) {
            return;
        }
        for (row, error) in rows.iter_mut().zip(&mut errors) {
            *error += added(row);
            let top = coefficient(row);
            row.truncate(n);
            row.iter_mut().zip(&chebyshev).for_each(|(c, t)| *c -= (top * t) >> (n - 1));
        }
    }
}

/// The coefficients of Chebyshev's polynomial of degree n, the lowest first.
fn chebyshev(n: usize) -> Vec<i128> {
    let (mut before, mut last) = (vec![1], vec![0, 1]);
    for _ in 1..n {
        let mut next = vec![0];
        next.extend(last.iter().map(|c| 2 * c));
        next.iter_mut().zip(&before).for_each(|(c, b)| *c -= b);
        (before, last) = (last, next);
    }
    if n == 0 { before } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chebyshev_polynomials_are_cosines() {
        for n in 0..30 {
            let of = chebyshev(n);
            for angle in [0.0, 0.3, 1.0, 2.5, 3.0f64] {
                let value: f64 = of.iter().rev().fold(0.0, |sum, c| sum * angle.cos() + *c as f64);
                // Coefficients of both signs cancel.
                assert!((value - (n as f64 * angle).cos()).abs() < 1e-15 * 2.5f64.powi(n as i32), "{n}");
            }
        }
    }

    /// Narrow pieces and low degrees, where a step has few bits.
    #[test]
    fn few_bits_take_lines() {
        let precision = |f| Precision { of: f, step: f, p: f + 8, to: f };
        for (curve, f, degree) in [(Curve::Sigmoid, 10, 1), (Curve::Sigmoid, 16, 2), (Curve::Erf, 8, 1)] {
            assert_eq!(Pieces::new(curve, precision(f)).degree(), degree);
        }
        // With 10 fractional bits: the lines of a sigmoid, and the row beyond them.
        assert_eq!(Pieces::new(Curve::Sigmoid, precision(10)).rows.len(), 61 + 1);
    }
}
