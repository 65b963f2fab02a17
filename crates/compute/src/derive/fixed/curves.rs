//! Functions of one argument by polynomials on pieces of their range, and by reduction to a quarter
//! turn. All pieces are compared with at once, and their coefficients are chosen bit by bit, which
//! takes no AND.
//!
//! Coefficients are Taylor's, about the middle of each piece. They follow from a differential
//! equation, so that integers suffice to compute them.

use super::Sizes;
use crate::derive::constants::{
    Q, density, eighth_turn, erf_slope, ln_2, over_two_pi, quarter_turn, rounded,
};
use crate::{Builder, Comparison, Scalar, Val};

/// The number of terms that suffices for 60 bits on half a piece, and on a whole one.
const TERMS: usize = 48;

/// The relation of a curve to g, whose derivative follows from g by a differential equation.
#[derive(PartialEq)]
enum Relation {
    Same,
    Integral,
    /// The number times the integral.
    TimesIntegral,
}

/// A function of the absolute value. A piece is 2 · 2^-`half` wide.
struct Curve {
    half: u32,
    relation: Relation,
    /// The function at 0, or the integral that it is a multiple of, and g.
    start: [i128; 2],
    /// The next coefficient of g, times its index, from all before it. Coefficients are of powers
    /// of v, which is from −1 to 1 on a piece; the middle of the piece is the number times
    /// 2^-`half`.
    next: fn(i128, &[i128]) -> i128,
    /// The value far from 0. Pieces end where the function, or that integral, is within a step's
    /// 2^-`guard` of it.
    end: i128,
    guard: u32,
}

/// The error function: its derivative 2/√π e^(−x²) has the derivative −2 x times itself.
fn middle() -> Curve {
    Curve {
        half: 3,
        relation: Relation::Integral,
        start: [0, erf_slope()],
        next: |middle, all| {
            let before = if all.len() > 1 { all[all.len() - 2] } else { 0 };
            -(middle * all[all.len() - 1] + before) / 32
        },
        end: 1 << Q,
        guard: 2,
    }
}

/// The logarithm of 1 + e^−x: its derivative g has the derivative −g − g².
fn tail() -> Curve {
    Curve {
        half: 2,
        relation: Relation::Integral,
        start: [ln_2(), -(1 << (Q - 1))],
        next: |_, all| (-all[all.len() - 1] - square(all)) / 4,
        end: 0,
        guard: 2,
    }
}

/// 1 / (1 + e^x): its derivative is its square minus itself.
fn logistic(guard: u32) -> Curve {
    Curve {
        half: 2,
        relation: Relation::Same,
        start: [1 << (Q - 1); 2],
        next: |_, all| (square(all) - all[all.len() - 1]) / 4,
        end: 0,
        guard,
    }
}

/// e^−x: its derivative is its negative.
fn exponential() -> Curve {
    Curve {
        half: 2,
        relation: Relation::Same,
        start: [1 << Q; 2],
        next: |_, all| -all[all.len() - 1] / 4,
        end: 0,
        guard: 12,
    }
}

/// x Φ(−x): Φ is the integral of the normal density, whose derivative is −x times itself. Where Φ
/// ends, x is less than 8.
fn gaussian() -> Curve {
    Curve {
        half: 2,
        relation: Relation::TimesIntegral,
        start: [1 << (Q - 1), -density()],
        next: |middle, all| {
            let before = if all.len() > 1 { all[all.len() - 2] } else { 0 };
            -(middle * all[all.len() - 1] + before) / 16
        },
        end: 0,
        guard: 5,
    }
}

/// The arc tangent of numbers up to 1: its derivative g has the derivative −2 x g².
fn arc() -> Curve {
    Curve {
        half: 3,
        relation: Relation::Integral,
        start: [0, 1 << Q],
        next: |middle, all| -(middle * square(all) + square(&all[..all.len() - 1])) / 32,
        end: eighth_turn(),
        guard: 2,
    }
}

/// The last coefficient that is known of a series' square.
fn square(all: &[i128]) -> i128 {
    all.iter().zip(all.iter().rev()).map(|(x, y)| (x * y) >> Q).sum()
}

impl Curve {
    /// The coefficients of g about a middle at which it has this value.
    fn series(&self, middle: i128, value: i128) -> Vec<i128> {
        let mut all = vec![value];
        while all.len() < TERMS {
            let next = (self.next)(middle, &all) / all.len() as i128;
            all.push(next);
        }
        all
    }

    /// The integral of a piece's series which has this value at its lower end, where v is −1.
    fn integral(&self, series: &[i128], value: i128) -> Vec<i128> {
        let integral = |(n, c): (usize, &i128)| (c >> self.half) / (n as i128 + 1);
        let mut piece: Vec<i128> = series.iter().enumerate().map(integral).collect();
        let below: i128 = piece.iter().enumerate().map(|(n, c)| if n % 2 == 0 { -c } else { *c }).sum();
        piece.insert(0, value - below);
        piece
    }

    /// Coefficients of each piece from 0 on, with 60 fractional bits, until the function is within
    /// 2^-`bits` of its end.
    fn pieces(&self, bits: u32) -> Vec<Vec<i128>> {
        let mut pieces = vec![];
        // Half a piece from 0 is the middle of the first piece.
        let (mut slope, mut value) = (self.series(0, self.start[1]).iter().sum::<i128>(), self.start[0]);
        while (self.end - value).abs() >> (Q - bits) > 0 {
            let middle = 2 * pieces.len() as i128 + 1;
            let series = self.series(middle, slope);
            slope = series.iter().enumerate().map(|(n, c)| c << n.min(60)).sum();
            let piece = if self.relation == Relation::Same { series } else { self.integral(&series, value) };
            value = piece.iter().sum();
            pieces.push(match self.relation {
                Relation::TimesIntegral => {
                    let before = [0].into_iter().chain(piece.iter().copied());
                    piece.iter().chain(&[0]).zip(before).map(|(c, d)| (middle * c + d) >> self.half).collect()
                }
                Relation::Same | Relation::Integral => piece,
            });
        }
        pieces
    }
}

/// Horner's sum of coefficients with p fractional bits, the lowest first, in a number with `v_frac`
/// of them.
fn horner<'b>(v: Val<'b>, coefficients: &[Val<'b>], v_frac: u8) -> Val<'b> {
    let (last, rest) = coefficients.split_last().expect("there are some");
    rest.iter().rev().fold(*last, |sum, c| sum.scaled(v, v_frac) + *c)
}

/// Drops p − f bits, rounded to the nearest.
fn nearest(x: Val<'_>, s: Sizes) -> Val<'_> {
    ((x + x.steps(1 << (s.p - s.f - 1))) >> (s.p - s.f).into()).cast(s.whole())
}

/// A curve of a number without sign, with p fractional bits.
fn curve<'b>(b: &'b Builder, of: &Curve, x: Val<'b>, s: Sizes) -> Val<'b> {
    let pieces = of.pieces(u32::from(s.f) + of.guard);
    // Coefficients beyond the last that shows in p bits vanish in every piece.
    let shows = |n: &usize| pieces.iter().any(|piece| rounded(piece[*n], u32::from(s.p)) != 0);
    let degree = (0..TERMS).rev().find(shows).unwrap_or(0);
    let row = |k: usize, n: usize| match pieces.get(k) {
        Some(piece) => rounded(piece[n], u32::from(s.p)),
        None if n == 0 => rounded(of.end, u32::from(s.p)),
        None => 0,
    };
    let below = s.f + 1 - of.half as u8;
    // Sums that v multiplies are at most 1/2, others at most 1, and v at most 2^(below − 1).
    // Operands' bits are the least, so that nothing is widened at the end.
    let wide = Scalar::signed((s.p + below).max(s.b));
    // Beyond the last piece all numbers have the same value, so that few bits are compared.
    let beyond = pieces.len() as i128;
    let narrow = Scalar::unsigned(below + (beyond.ilog2() + 1) as u8);
    let x = x.min(x.steps(beyond << below)).cast(narrow);
    // Bits of x within a piece, as v from −1 to 1.
    let v = (x & x.steps((1 << below) - 1)).cast(wide) - b.number(wide, 1 << (below - 1));
    let above: Vec<Val<'b>> =
        (1..=pieces.len()).map(|k| x.than(Comparison::GreaterOrEqual, (k as i128) << below)).collect();
    // All pieces below a number's own are passed too: the differences add up to the entry.
    let chosen = |n: usize| {
        let first = b.number(wide, row(0, n));
        above
            .iter()
            .zip(1..)
            .fold(first, |sum, (is_above, k)| sum ^ is_above.times(wide, row(k, n) ^ row(k - 1, n)))
    };
    let coefficients: Vec<Val<'b>> = (0..=degree).map(chosen).collect();
    horner(v, &coefficients, below - 1)
}

/// e^−x of a number without sign, with p fractional bits: within 2^-p, and 1 for 0. With 10
/// fractional bits, products fit rings of 32 bits.
pub(super) fn decline(x: Val<'_>, s: Sizes) -> Val<'_> {
    let more = 5 + u8::from(s.f > 10);
    let made = curve(x.builder, &exponential(), x, Sizes { p: s.p + more, ..s });
    ((made + made.steps(1 << (more - 1))) >> more.into()).cast(Scalar::unsigned(s.p + 2))
}

impl<'b> Val<'b> {
    /// The error function 2/√π ∫₀ˣ e^(−t²) dt.
    #[must_use]
    pub fn erf(self) -> Self {
        let Some((x, s)) = self.sized("erf") else { return self.none() };
        let size = x.abs().as_bits_of(Scalar::unsigned(s.b));
        let made = nearest(curve(self.builder, &middle(), size, s), s);
        self.builder.select(x.than(Comparison::Less, 0), -made, made).as_bits_of(s.fixed())
    }

    /// 1 / (1 + e^−x).
    #[must_use]
    pub fn sigmoid(self) -> Self {
        let Some((x, s)) = self.sized("sigmoid") else { return self.none() };
        let size = x.abs().as_bits_of(Scalar::unsigned(s.b));
        let below = nearest(curve(self.builder, &logistic(2), size, s), s);
        let above = below.steps(1 << s.f) - below;
        self.builder.select(x.than(Comparison::Less, 0), below, above).as_bits_of(s.fixed())
    }

    /// The hyperbolic tangent, 1 − 2 / (1 + e^2x).
    #[must_use]
    pub fn tanh(self) -> Self {
        let Some((x, s)) = self.sized("tanh") else { return self.none() };
        let size = x.abs().as_bits_of(Scalar::unsigned(s.b)).cast(Scalar::unsigned(s.b + 1)) << 1;
        let half = curve(self.builder, &logistic(3), size, s);
        let below = nearest(half + half, s);
        let made = below.steps(1 << s.f) - below;
        self.builder.select(x.than(Comparison::Less, 0), -made, made).as_bits_of(s.fixed())
    }

    /// The logarithm of 1 + eˣ.
    #[must_use]
    pub fn softplus(self) -> Self {
        let Some((x, s)) = self.sized("softplus") else { return self.none() };
        let size = x.abs().as_bits_of(Scalar::unsigned(s.b));
        let tail = nearest(curve(self.builder, &tail(), size, s), s);
        x.max(x.zero()).wrapping() + tail.as_bits_of(s.fixed())
    }

    /// x Φ(x), of the normal distribution function Φ.
    #[must_use]
    pub fn gelu(self) -> Self {
        let Some((x, s)) = self.sized("gelu") else { return self.none() };
        let size = x.abs().as_bits_of(Scalar::unsigned(s.b));
        let less = nearest(curve(self.builder, &gaussian(), size, s), s);
        x.max(x.zero()).wrapping() - less.as_bits_of(s.fixed())
    }

    /// The arc tangent in radians, within 2.5 steps.
    #[must_use]
    pub fn atan(self) -> Self {
        let Some((x, s)) = self.sized("atan") else { return self.none() };
        let (b, without_sign) = (self.builder, Scalar::unsigned(s.b));
        let size = x.abs().as_bits_of(without_sign);
        // A quarter turn less the arc tangent of the reciprocal, which is no number below 0.
        let is_great = size.than(Comparison::Greater, 1 << s.f);
        let inverse = size.as_bits_of(s.fixed()).reciprocal();
        let inverse = inverse.max(inverse.zero()).wrapping().as_bits_of(without_sign);
        let near = nearest(curve(b, &arc(), b.select(is_great, inverse, size), s), s);
        let rest = near.steps(rounded(2 * eighth_turn(), s.f.into())) - near;
        let made = b.select(is_great, rest, near);
        b.select(x.than(Comparison::Less, 0), -made, made).as_bits_of(s.fixed())
    }

    /// The sine of an angle in radians.
    #[must_use]
    pub fn sin(self) -> Self {
        self.turned("sin", 0)
    }

    /// The cosine of an angle in radians.
    #[must_use]
    pub fn cos(self) -> Self {
        self.turned("cos", 1)
    }

    /// The sine of an angle plus some quarters of a turn.
    fn turned(self, name: &str, quarters: i128) -> Self {
        let Some((x, s)) = self.sized(name) else { return self.none() };
        let b = self.builder;
        // In turns, of which whole ones wrap: bits enough that the error of the greatest angle is
        // below a sixteenth of a step.
        let q = s.b + 6;
        let turn = Scalar::unsigned(s.f + q);
        let turns = x.as_bits_of(s.whole()).cast(turn) * b.number(turn, over_two_pi(q.into()));
        let turns = turns + turns.steps(quarters << (s.f + q - 2));
        // The two highest bits are the quarter; p + 1 bits of the rest are kept.
        let kept = s.p + 3;
        let quarter = turns >> (s.f + q - 2).into();
        let [odd, negative] = [0, 1].map(|k| quarter.bit(k));
        let rest = (turns >> (s.f + q - kept).into()).cast(Scalar::unsigned(kept));
        let rest = rest & rest.steps((1 << (s.p + 1)) - 1);
        // In odd quarters the sine falls.
        let rest = rest ^ odd.times(Scalar::unsigned(kept), (1 << (s.p + 1)) - 1);
        let h = (rest.cast(s.wide()) >> 1) - b.number(s.wide(), 1 << (s.p - 1));
        let coefficients = quarter_turn(s.p.into());
        let coefficients: Vec<Val<'b>> = coefficients.iter().map(|c| b.number(s.wide(), *c)).collect();
        let made = nearest(horner(h, &coefficients, s.p), s);
        b.select(negative, -made, made).as_bits_of(s.fixed())
    }
}
