//! Functions of one argument by polynomials on pieces of their range, and by reduction to a quarter
//! turn. All pieces are compared with at once, and their coefficients are chosen bit by bit, which
//! takes no AND.
//!
//! Coefficients are Taylor's, about the middle of each piece. They follow from a differential
//! equation, so that integers suffice to compute them.

use super::Sizes;
use crate::derive::constants::{Q, erf_slope, ln_2, over_two_pi, quarter_turn, rounded};
use crate::{Builder, Comparison, Scalar, Val};

/// The number of terms that suffices for 60 bits on half a piece, and on a whole one.
const TERMS: usize = 48;

/// A function of the absolute value, with its derivative g: g' follows from g by a differential
/// equation. A piece is 2 · 2^-`half` wide.
struct Curve {
    half: u32,
    /// The function and its derivative at 0.
    start: [i128; 2],
    /// The next coefficient of the derivative, times its index, from all before it. Coefficients
    /// are of powers of v, which is from −1 to 1 on a piece; the middle of the piece is the number
    /// times 2^-`half`.
    next: fn(i128, &[i128]) -> i128,
    /// The value far from 0.
    end: i128,
}

/// The error function: its derivative 2/√π e^(−x²) has the derivative −2 x times itself.
fn middle() -> Curve {
    Curve {
        half: 3,
        start: [0, erf_slope()],
        next: |middle, all| {
            let before = if all.len() > 1 { all[all.len() - 2] } else { 0 };
            -(middle * all[all.len() - 1] + before) / 32
        },
        end: 1 << Q,
    }
}

/// The logarithm of 1 + e^−x: its derivative g has the derivative −g − g².
fn tail() -> Curve {
    Curve {
        half: 2,
        start: [ln_2(), -(1 << (Q - 1))],
        next: |_, all| {
            let square: i128 = (0..all.len()).map(|i| (all[i] * all[all.len() - 1 - i]) >> Q).sum();
            (-all[all.len() - 1] - square) / 4
        },
        end: 0,
    }
}

impl Curve {
    /// The derivative's coefficients about a middle at which it has this value.
    fn series(&self, middle: i128, value: i128) -> Vec<i128> {
        let mut all = vec![value];
        while all.len() < TERMS {
            let next = (self.next)(middle, &all) / all.len() as i128;
            all.push(next);
        }
        all
    }

    /// Coefficients of each piece from 0 on, with 60 fractional bits, until the function is within
    /// 2^-`bits` of its end.
    fn pieces(&self, bits: u32) -> Vec<Vec<i128>> {
        let mut pieces = vec![];
        // The derivative half a piece from 0 is in the middle of the first piece.
        let (mut slope, mut value) = (self.series(0, self.start[1]).iter().sum::<i128>(), self.start[0]);
        while (self.end - value).abs() >> (Q - bits) > 0 {
            let derivative = self.series(2 * pieces.len() as i128 + 1, slope);
            let integral = |(n, c): (usize, &i128)| (c >> self.half) / (n as i128 + 1);
            let mut piece: Vec<i128> = derivative.iter().enumerate().map(integral).collect();
            // At its lower end, where v is −1, the piece continues the one before.
            let below: i128 = piece.iter().enumerate().map(|(n, c)| if n % 2 == 0 { -c } else { *c }).sum();
            piece.insert(0, value - below);
            value = piece.iter().sum();
            slope = derivative.iter().enumerate().map(|(n, c)| c << n.min(60)).sum();
            pieces.push(piece);
        }
        pieces
    }
}

/// Horner's sum of coefficients with p fractional bits, the lowest first.
fn horner<'b>(v: Val<'b>, coefficients: &[Val<'b>], p: u8) -> Val<'b> {
    let (last, rest) = coefficients.split_last().expect("there are some");
    rest.iter().rev().fold(*last, |sum, c| sum.scaled(v, p) + *c)
}

/// Drops p − f bits, rounded to the nearest.
fn nearest(x: Val<'_>, s: Sizes) -> Val<'_> {
    ((x + x.steps(1 << (s.p - s.f - 1))) >> (s.p - s.f).into()).cast(s.whole())
}

/// A curve of a number without sign, with p fractional bits.
fn curve<'b>(b: &'b Builder, of: &Curve, x: Val<'b>, s: Sizes) -> Val<'b> {
    let wide = s.wide();
    let pieces = of.pieces(u32::from(s.f) + 2);
    // Coefficients beyond the last that shows in p bits vanish in every piece.
    let shows = |n: &usize| pieces.iter().any(|piece| rounded(piece[*n], u32::from(s.p)) != 0);
    let degree = (0..TERMS).rev().find(shows).unwrap_or(0);
    let row = |k: usize, n: usize| match pieces.get(k) {
        Some(piece) => rounded(piece[n], u32::from(s.p)),
        None if n == 0 => rounded(of.end, u32::from(s.p)),
        None => 0,
    };
    // Bits of x within a piece, as v from −1 to 1.
    let below = u32::from(s.f) + 1 - of.half;
    let part = (x & x.steps((1 << below) - 1)).cast(wide);
    let up = u16::from(s.p) + 1 - below as u16;
    let v = (part << up) - b.number(wide, 1 << s.p);
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
    horner(v, &coefficients, s.p)
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

    /// The logarithm of 1 + eˣ.
    #[must_use]
    pub fn softplus(self) -> Self {
        let Some((x, s)) = self.sized("softplus") else { return self.none() };
        let size = x.abs().as_bits_of(Scalar::unsigned(s.b));
        let tail = nearest(curve(self.builder, &tail(), size, s), s);
        x.max(x.zero()).wrapping() + tail.as_bits_of(s.fixed())
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
