//! Functions of fixed numbers, made of sums, products and shifts of integers, so that every back
//! end gives the same bits.
//!
//! For `fixed(b, f)` with 4 to 32 fractional bits, at least 8 before the point and at most 64 in
//! all. Internally there are p = f + 8 fractional bits and integers of 2p + 6 bits. A step is 2^-f.
//! Errors are bounds that tests check against f64, for all operands whose result fits:
//!
//! ```text
//!                                              products in a row  thousand ANDs on circuits
//!                error, at most                (32, 16) (64, 32)  (32, 16) (64, 32)
//! divide(x, y)   1 step + 2^-(f+5) |x / y|         8       10        22       73  Newton
//! reciprocal(x)  as 1 / x                          8       10        19       62
//! sqrt(x)        1 step + 2^-(f+5) √x             14       14        39       98  Newton
//! exp(x)         1 step + 2^-(f+5) eˣ              8       12        19       77  Taylor
//! log(x)         1 step + 2^-(f+5)                 7       11        19       77  Taylor, 8 ranges
//! sigmoid(x)     1 step                            2        5         4       25  pieces
//! tanh(x)        1 step                            2        5         3       25  pieces
//! erf(x)         1 step                            2        4         3       19  pieces
//! gelu(x)        1 step                            2        5         3       25  pieces
//! softplus(x)    1 step                            2        5         4       26  pieces
//! sin(x), cos(x) 1 step                           10       14        28      100  a quarter turn
//! softmax(x)     1 step + (2^-(f+5) + n 2^-(f+8)) of the result, for n elements;
//!                pieces, and Newton once
//! log_sum_exp(x), log_softmax(x)
//!                1 step + n 2^-(f+8), for n elements up to 2^23; pieces, and log once
//! floor(x), ceil(x), truncate(x), round_even(x), sign(x)
//!                none
//! round(x)       none                              0        0         1        1
//! multiply(x, y) none: rounded towards −∞          1        1         3       10
//! ```
//!
//! `multiply` takes fixed numbers of all types whose bits and fractional bits are below 128
//! together.
//!
//! *Pieces* are polynomials on pieces of the range, whose coefficients one circuit chooses. A
//! curve's pieces are as narrow as costs least: with 10 fractional bits a sigmoid has 61 lines.
//!
//! On circuits the exact `x / y` has fewer ANDs, 3 and 11 thousand, but a depth of 1153 and 4354,
//! where `divide` has 764 and 1548.
//!
//! Each other function first shifts its operand's highest one to the top, in ⌈log₂ b⌉ steps of a
//! comparison and a select. Newton's iterations are from M. Flynn, "On division by functional
//! iteration", IEEE Trans. C-19 (1970), and, for L. Monier's inverse square root, from J.-M.
//! Muller, "Elementary functions", 2016, Sec. 5.4.

use super::constants::{ln, ln_2, log_e, powers, rounded};
use crate::{Comparison, Reduction, Scalar, Shape, Type, Val};

mod curves;
mod series;
mod table;
mod whole;

/// The sizes of a type's functions.
#[derive(Clone, Copy)]
struct Sizes {
    /// The number of bits of the operand.
    b: u8,
    /// The number of its fractional bits.
    f: u8,
    /// The number of internal fractional bits.
    p: u8,
}

impl Sizes {
    /// The scalar of internal integers.
    fn wide(self) -> Scalar {
        Scalar::signed(2 * self.p + 6)
    }

    fn whole(self) -> Scalar {
        Scalar::signed(self.b)
    }

    fn fixed(self) -> Scalar {
        Scalar::Fixed { bits: self.b, frac: self.f }
    }
}

/// A number without sign whose highest one is at the top, and the shifts that moved it there: by
/// how many bits, and whether.
struct Normal<'b> {
    top: Val<'b>,
    shifts: Vec<(u16, Val<'b>)>,
}

/// Shifts towards the low end by `by` bits, or towards the high end by −`by`.
fn moved(x: Val<'_>, by: i32) -> Val<'_> {
    match by {
        0 => x,
        1.. => x >> by as u16,
        _ => x << by.unsigned_abs() as u16,
    }
}

impl<'b> Val<'b> {
    /// Compares with a constant of the value's type, in steps.
    fn than(self, comparison: Comparison, steps: i128) -> Self {
        self.compare(comparison, self.steps(steps))
    }

    /// Shifts up by multiples of `unit` bits until fewer than `unit` zeros lead; each step halves
    /// the largest shift left.
    fn normal(self, width: u16, unit: u16) -> Normal<'b> {
        let (mut top, mut shifts, mut left) = (self, vec![], (width - 1) / unit);
        while left > 0 {
            let by = left.div_ceil(2) * unit;
            let small = top.than(Comparison::Less, 1 << (width - by));
            top = self.builder.select(small, top << by, top);
            shifts.push((by, small));
            left /= 2;
        }
        Normal { top, shifts }
    }

    /// A constant if the truth value holds, else 0.
    fn times(self, to: Scalar, steps: i128) -> Self {
        let [yes, no] = [steps, 0].map(|n| self.builder.number(to, n));
        self.builder.select(self, yes, no)
    }

    /// The product of integers with p fractional bits.
    fn scaled(self, other: Val<'b>, p: u8) -> Self {
        (self * other) >> p.into()
    }

    /// The reciprocal of a number from 1/2 to 1; it is from 1 to 2.
    fn newton_reciprocal(self, s: Sizes) -> Self {
        let constant = |n: i128, d: i128| (((2 * n) << s.p) / d + 1) / 2;
        // The error is at most 1/17, and each iteration squares it.
        let mut r = self.steps(constant(48, 17)) - self.scaled(self.steps(constant(32, 17)), s.p);
        let mut right = 4;
        while right < s.p + 1 {
            r = r.scaled(self.steps(2 << s.p) - self.scaled(r, s.p), s.p);
            right *= 2;
        }
        r
    }

    /// The reciprocal square root of a number from 1/4 to 1; it is from 1 to 2.
    fn newton_root(self, s: Sizes) -> Self {
        let constant = |thousandths: i128| (thousandths << s.p) / 10_000;
        // A linear function with an error of at most 0.086; an iteration turns an error e into 1.5
        // e².
        let mut z = self.steps(constant(21_327)) - self.scaled(self.steps(constant(12_187)), s.p);
        for _ in 0..4 {
            let square = self.scaled(z.scaled(z, s.p), s.p);
            z = (z * (self.steps(3 << s.p) - square)) >> (s.p + 1).into();
        }
        z
    }

    /// e^x for x in steps within −128 and 128, as a mantissa from 1 to 2 and an exponent of 2.
    fn exp_parts(self, s: Sizes) -> (Self, Self) {
        let q = s.p + 5;
        let exponent = self.as_bits_of(s.whole()).cast(s.wide());
        let t = exponent * exponent.steps(rounded(log_e(), q.into()));
        let point = s.f + q;
        let part = (t & t.steps((1i128 << point) - 1)) >> (point - s.p).into();
        let h = part - part.steps(1 << (s.p - 1));
        let coefficients = powers(s.p.into());
        let (last, rest) = coefficients.split_last().expect("there are some");
        let mantissa = rest.iter().rev().fold(h.steps(*last), |sum, c| sum.scaled(h, s.p) + h.steps(*c));
        (mantissa, (t >> point.into()).cast(Scalar::signed(8)))
    }

    /// The sizes of the value's functions, if its type has them. The value's range is forgotten.
    fn sized(self, name: &str) -> Option<(Self, Sizes)> {
        let remedy = "it takes fixed numbers of at most 64 bits, 4 to 32 of them behind the point and 8 or more before it";
        let fits = |b: u8, f: u8| b <= 64 && (4..=32).contains(&f) && b >= f + 8;
        let ty = self.typed(
            name,
            remedy,
            |ty| matches!(ty.scalar, Scalar::Fixed { bits, frac } if frac <= 32 && fits(bits, frac)),
        )?;
        let (b, f) = (ty.scalar.bits() as u8, ty.scalar.frac());
        Some((self.wrapping(), Sizes { b, f, p: f + 8 }))
    }

    /// The product of fixed numbers of one type in that type, rounded towards −∞. It wraps if it
    /// does not fit; `*` keeps all fractional bits, and wraps far earlier.
    #[must_use]
    pub fn multiply(self, by: Val<'b>) -> Self {
        let remedy = "it takes fixed numbers whose bits and fractional bits are below 128 together";
        let fits = |ty: &Type| matches!(ty.scalar, Scalar::Fixed { bits, frac } if u16::from(bits) + u16::from(frac) < 128);
        let (Some(ty), Some(other)) =
            (self.typed("multiply", remedy, fits), by.typed("multiply", remedy, fits))
        else {
            return self.none();
        };
        if ty.scalar != other.scalar {
            return self.builder.refused("multiply", &[self, by], "operands have one type");
        }
        let frac = ty.scalar.frac();
        // At least one bit before the point, even if the type has none.
        let wide = Scalar::Fixed { bits: ty.scalar.bits() as u8 + frac + 1, frac };
        (self.cast(wide) * by.cast(wide)).rescale(frac).cast(ty.scalar)
    }

    /// The quotient of fixed numbers of one type, by Newton's iteration: fewer rounds than the
    /// exact `/`. It wraps if it does not fit; x / 0 is all bits set.
    #[must_use]
    pub fn divide(self, by: Val<'b>) -> Self {
        let (Some((x, s)), Some((y, other))) = (self.sized("divide"), by.sized("divide")) else {
            return self.none();
        };
        if (s.b, s.f) != (other.b, other.f) {
            return self.builder.refused("divide", &[self, by], "operands have one type");
        }
        let b = self.builder;
        let size = |v: Val<'b>| v.abs().as_bits_of(Scalar::unsigned(s.b));
        let normal = size(y).normal(s.b.into(), 1);
        let mantissa =
            moved(normal.top.cast(Scalar::unsigned(s.b.max(s.p))), i32::from(s.b) - i32::from(s.p));
        let inverse = mantissa.cast(s.wide()).newton_reciprocal(s);
        let wide = Scalar::unsigned(s.b + s.p + 2);
        let mut quotient = (size(x).cast(wide) * inverse.cast(wide)) >> (s.p - s.f + 1).into();
        for (by, small) in normal.shifts {
            quotient = b.select(small, quotient, quotient >> by);
        }
        let quotient = quotient.cast(s.whole());
        let differ = x.than(Comparison::Less, 0) ^ y.than(Comparison::Less, 0);
        let signed = b.select(differ, -quotient, quotient);
        b.select(y.than(Comparison::Equal, 0), signed.steps(-1), signed).as_bits_of(s.fixed())
    }

    /// 1 / x; see [`Val::divide`].
    #[must_use]
    pub fn reciprocal(self) -> Self {
        match self.sized("reciprocal") {
            Some((x, s)) => x.steps(1 << s.f).divide(x),
            None => self.none(),
        }
    }

    /// The square root; 0 for negative numbers.
    #[must_use]
    pub fn sqrt(self) -> Self {
        let Some((x, s)) = self.sized("sqrt") else { return self.none() };
        // Shifts are by even numbers, so the rest of the exponent is even.
        let b = s.b + (s.b - s.f) % 2;
        let of = x.as_bits_of(Scalar::unsigned(s.b)).cast(Scalar::unsigned(b));
        let normal = of.normal(b.into(), 2);
        let mantissa = moved(normal.top.cast(Scalar::unsigned(b.max(s.p))), i32::from(b) - i32::from(s.p));
        let mantissa = mantissa.cast(s.wide());
        let root = mantissa.scaled(mantissa.newton_root(s), s.p);
        let up = (i32::from(b) + i32::from(s.f)) / 2 - i32::from(s.p);
        let mut root = moved(root.cast(Scalar::unsigned(b.max(2 * s.p + 6))), -up);
        for (by, small) in normal.shifts {
            root = self.builder.select(small, root >> (by / 2), root);
        }
        let root = root.cast(s.whole());
        self.builder.select(x.than(Comparison::Less, 0), root.zero(), root).as_bits_of(s.fixed())
    }

    /// e^x. If that exceeds the type: about the greatest number, 2^-f below it in the exponent.
    #[must_use]
    pub fn exp(self) -> Self {
        let Some((x, s)) = self.sized("exp") else { return self.none() };
        let power = |times: i128| (ln_2() * times) >> (60 - u32::from(s.f));
        let most = s.b - 1 - s.f;
        let x = x.clamp(x.steps(-power(i128::from(s.f) + 2)), x.steps(power(most.into()) - 2));
        let (mantissa, exponent) = x.exp_parts(s);
        let down = (exponent.steps(i128::from(most) - 1) - exponent).cast(Scalar::unsigned(7));
        let up = i32::from(s.b) - 2 - i32::from(s.p);
        let whole = Scalar::unsigned(s.b.max(s.p + 2));
        let made = moved(mantissa.cast(whole), -up).shift_right_by(down);
        made.cast(s.whole()).as_bits_of(s.fixed())
    }

    /// The natural logarithm; the least number for 0 and negative numbers.
    #[must_use]
    pub fn log(self) -> Self {
        let Some((x, s)) = self.sized("log") else { return self.none() };
        let (b, wide) = (self.builder, s.wide());
        let of = x.as_bits_of(Scalar::unsigned(s.b));
        let normal = of.normal(s.b.into(), 1);
        let mantissa =
            moved(normal.top.cast(Scalar::unsigned(s.b.max(s.p))), i32::from(s.b) - i32::from(s.p));
        // For one of eight ranges: about the reciprocal of its middle, with 8 fractional bits, and
        // the logarithm of that.
        let near = |range: i128| (2 * (32 << 8) / (17 + 2 * range) + 1) / 2;
        let logs = |range: i128| rounded(ln(near(range), 256), s.p.into());
        let (mut factor, mut sum) = (b.number(wide, near(0)), b.number(wide, -logs(0)));
        for range in 1..8 {
            // All ranges below are passed too: the differences add up to the entry.
            let above = normal.top.than(Comparison::GreaterOrEqual, (8 + range) << (s.b - 4));
            factor = factor ^ above.times(wide, near(range) ^ near(range - 1));
            sum = sum ^ above.times(wide, -logs(range) ^ -logs(range - 1));
        }
        let point = i128::from(s.b - s.f);
        sum = sum + sum.steps(rounded(ln_2(), s.p.into()) * point);
        for (by, small) in normal.shifts {
            sum = sum - small.times(wide, rounded(ln_2(), s.p.into()) * i128::from(by));
        }
        // The rest is within 1/16 of 1.
        let rest = ((mantissa.cast(wide) * factor) >> 8) - sum.steps(1 << s.p);
        let terms =
            (1..).take_while(|k| 4 * k < u32::from(s.p) + 3).map(|k| ((2 << s.p) / i128::from(k) + 1) / 2);
        let terms: Vec<i128> = terms.collect();
        let (last, lower) = terms.split_last().expect("there are some");
        let series =
            lower.iter().rev().fold(rest.steps(*last), |sum, c| rest.steps(*c) - sum.scaled(rest, s.p));
        let made = (sum + series.scaled(rest, s.p)) >> (s.p - s.f).into();
        let made = made.cast(s.whole());
        let least = made.steps(i128::MIN >> (128 - s.b));
        b.select(x.than(Comparison::LessOrEqual, 0), least, made).as_bits_of(s.fixed())
    }

    /// e^x of each element of a column, divided by the sum of all; of a matrix row by row: for
    /// fewer than 2^30 elements of a row.
    #[must_use]
    pub fn softmax(self) -> Self {
        let Some((powers, sum, s, _)) = self.powers("softmax") else { return self.none() };
        // The highest one of the sum is at p or above.
        let width = s.p + 32;
        let normal = sum.normal(width.into(), 1);
        let inverse = (normal.top >> 32).cast(s.wide()).newton_reciprocal(s);
        let mut inverse = inverse.cast(Scalar::unsigned(2 * s.p + 2)) << u16::from(s.p - 1);
        for (by, small) in normal.shifts {
            inverse = self.builder.select(small, inverse, inverse >> by);
        }
        let inverse = inverse.cast(Scalar::unsigned(2 * s.p + 4)).beside(powers);
        let product = powers.cast(Scalar::unsigned(2 * s.p + 4)) * inverse;
        (product >> (2 * s.p - s.f).into()).cast(s.whole()).as_bits_of(s.fixed())
    }

    /// The logarithm of the sum of e^x of a column's elements, or of each row of a matrix.
    #[must_use]
    pub fn log_sum_exp(self) -> Self {
        let Some((_, sum, s, greatest)) = self.powers("log_sum_exp") else { return self.none() };
        // The sum is 1 or more; its logarithm has room for 24 bits before the point.
        let frac = s.p.min(32);
        let sum = (sum >> (s.p - frac).into()).cast(Scalar::unsigned(frac + 24));
        let log = sum.as_bits_of(Scalar::Fixed { bits: frac + 24, frac }).log();
        // Rounded to the nearest, if bits go.
        let half = log.steps((1 << (frac - s.f)) >> 1);
        let log = (log + half).cast(Scalar::Fixed { bits: s.f + 24, frac: s.f });
        let log = log.as_bits_of(Scalar::signed(s.f + 24)).cast(s.whole());
        (greatest + log).as_bits_of(s.fixed())
    }

    /// The logarithm of the softmax: each element minus [`Val::log_sum_exp`].
    #[must_use]
    pub fn log_softmax(self) -> Self {
        let sums = self.log_sum_exp();
        self.wrapping() - sums.beside(self)
    }

    /// One element for each row of a matrix, repeated along the rows; a single element as it is.
    fn beside(self, of: Val<'b>) -> Self {
        match (self.ty(), of.ty()) {
            (Some(own), Some(ty)) if ty.shape.rank() == 2 => {
                let rows = own.shape.0[0].clone();
                self.reshape(Shape::matrix(rows, 1)).broadcast(ty.shape)
            }
            _ => self,
        }
    }

    /// The powers of e of a row's elements minus its greatest one, with p fractional bits, their
    /// sum in p + 32 bits, and the greatest element in steps.
    fn powers(self, name: &str) -> Option<(Self, Self, Sizes, Self)> {
        let rows = |ty: &Type| [1, 2].contains(&ty.shape.rank());
        self.typed(name, "it takes a column or a matrix of fixed numbers", rows)?;
        let (x, s) = self.sized(name)?;
        let axis = x.ty()?.shape.rank() as u8 - 1;
        // Minus the greatest element, so that no power exceeds 1.
        let greatest = x.reduce(Reduction::Max, axis);
        let below = (greatest.beside(x) - x).wrapping().as_bits_of(Scalar::unsigned(s.b));
        let powers = curves::decline(below, s);
        let sum = powers.cast(Scalar::unsigned(s.p + 32)).reduce(Reduction::Sum, axis);
        Some((powers, sum, s, greatest.as_bits_of(s.whole())))
    }

    /// The nearest whole number, the greater one of two, as a number of the same type: exact. It
    /// wraps if it does not fit.
    #[must_use]
    pub fn round(self) -> Self {
        let fixed = |ty: &Type| matches!(ty.scalar, Scalar::Fixed { .. });
        let Some(ty) = self.typed("round", "it takes fixed numbers", fixed) else { return self.none() };
        let frac = u16::from(ty.scalar.frac());
        let x = self.wrapping();
        if frac == 0 {
            return x;
        }
        let x = x.as_bits_of(Scalar::signed(ty.scalar.bits() as u8));
        // All of 128 bits may be fractional.
        let before = (-1i128).checked_shl(frac.into()).unwrap_or(0);
        ((x + x.steps(1 << (frac - 1))) & x.steps(before)).as_bits_of(ty.scalar)
    }
}
