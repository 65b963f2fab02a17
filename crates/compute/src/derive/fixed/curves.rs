//! Functions of one argument by polynomials on pieces of their range, and by reduction to a quarter
//! turn.

use super::{
    Sizes,
    series::{Curve, Precision},
    table::{CurveTable, Lookup, Sides},
};
use crate::derive::constants::{eighth_turn, over_two_pi, quarter_turn, rounded};
use crate::{Comparison, Op, Scalar, Val};

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

impl Sizes {
    /// A step for numbers and results.
    fn precision(self) -> Precision {
        Precision { of: self.f, step: self.f, p: self.p, to: self.f }
    }
}

/// A curve of a number, as an integer of `to` fractional bits, rounded to the nearest.
fn curve<'b>(x: Val<'b>, curve: Curve, sides: Sides, precision: Precision) -> Val<'b> {
    let Some(ty) = x.ty() else { return x.none() };
    let (b, bits) = (x.builder, ty.scalar.bits() as u16);
    let table = CurveTable::of(Lookup { curve, sides, bits, precision });
    let point = table.below - 1;
    // Sums that v multiplies are at most 1/2, others at most 1, and v at most 2^point. Operands'
    // bits are the least, so that nothing is widened at the end.
    let wide = Scalar::signed((precision.p + table.below + 1).max(bits as u8));
    let made = b.apply(Op::Circuit(table.circuit.clone()), &[x.cast(Scalar::Bits(bits))]);
    let mut from = 0;
    let mut next = |scalar: Scalar| {
        let to = from + scalar.bits() as u16;
        let part = made.part(from, to).cast(scalar).cast(wide);
        from = to;
        part
    };
    let coefficients: Vec<Val<'b>> = table.widths.iter().map(|bits| next(Scalar::signed(*bits))).collect();
    // The place within a piece, as v from −1 to 1.
    let v = next(Scalar::unsigned(table.below + 1)) - b.number(wide, 1 << point);
    let (first, rest) = coefficients.split_first().expect("a curve is no constant");
    // The last product is rounded together with the result, by one shift.
    let sum = horner(v, rest, point) * v + (*first << point.into());
    let excess = point + precision.p - precision.to;
    (sum + sum.steps(1 << (excess - 1))) >> excess.into()
}

/// e^−x of a number without sign, with p fractional bits: within 2^-p, and 1 for 0. With 10
/// fractional bits, products fit rings of 32 bits.
pub(super) fn decline(x: Val<'_>, s: Sizes) -> Val<'_> {
    let more = 5 + u8::from(s.f > 10);
    let precision = Precision { p: s.p + more, to: s.p, ..s.precision() };
    curve(x, Curve::Decline, Sides::Right, precision).cast(Scalar::unsigned(s.p + 2))
}

impl<'b> Val<'b> {
    /// The error function 2/√π ∫₀ˣ e^(−t²) dt.
    #[must_use]
    pub fn erf(self) -> Self {
        let Some((x, s)) = self.sized("erf") else { return self.none() };
        curve(x, Curve::Erf, Sides::Odd, s.precision()).cast(s.whole()).as_bits_of(s.fixed())
    }

    /// 1 / (1 + e^−x).
    #[must_use]
    pub fn sigmoid(self) -> Self {
        let Some((x, s)) = self.sized("sigmoid") else { return self.none() };
        let above = curve(x, Curve::Sigmoid, Sides::Odd, s.precision());
        (above + above.steps(1 << (s.f - 1))).cast(s.whole()).as_bits_of(s.fixed())
    }

    /// The hyperbolic tangent, 1 − 2 / (1 + e^2x).
    #[must_use]
    pub fn tanh(self) -> Self {
        let Some((x, s)) = self.sized("tanh") else { return self.none() };
        // With a fractional bit less, the same bits are twice the number.
        let precision = Precision { of: s.f - 1, ..s.precision() };
        curve(x, Curve::TanhOfHalf, Sides::Odd, precision).cast(s.whole()).as_bits_of(s.fixed())
    }

    /// The logarithm of 1 + eˣ.
    #[must_use]
    pub fn softplus(self) -> Self {
        let Some((x, s)) = self.sized("softplus") else { return self.none() };
        let tail = curve(x, Curve::Tail, Sides::Even, s.precision()).cast(s.whole());
        x.max(x.zero()).wrapping() + tail.as_bits_of(s.fixed())
    }

    /// x Φ(x), of the normal distribution function Φ.
    #[must_use]
    pub fn gelu(self) -> Self {
        let Some((x, s)) = self.sized("gelu") else { return self.none() };
        let less = curve(x, Curve::Gaussian, Sides::Even, s.precision()).cast(s.whole());
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
        let near = b.select(is_great, inverse, size);
        let near = curve(near, Curve::Arc, Sides::Right, s.precision()).cast(s.whole());
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
