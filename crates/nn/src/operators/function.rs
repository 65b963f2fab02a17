//! Functions of one element. Each is a row of [`FUNCTIONS`].
//!
//! They take operands at the nominal scale. Their errors are bounds in steps of that scale, which a
//! test compares with f64 for every function, in rings of all sizes.

use super::prelude::*;
use crate::import::fold::erf;
use hushwire_compute::{Scalar, Val};

/// A function: its name in ONNX, its value, and its operations on shares.
struct Row {
    name: &'static str,
    value: fn(f64) -> f64,
    shares: for<'b> fn(Val<'b>, &Lower<'b>) -> Val<'b>,
    /// The bound on its error, and the arguments of the test.
    #[cfg(test)]
    error: Bound,
    #[cfg(test)]
    over: [f64; 2],
}

/// A function of each element, by its row of [`FUNCTIONS`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Unary(usize);

macro_rules! functions {
    ($($operator:ident $name:literal $doc:literal, $over:expr, $error:expr, $value:expr, $shares:expr;)+) => {
        const FUNCTIONS: &[Row] = &[
            $(Row {
                name: $name,
                value: $value,
                shares: $shares,
                #[cfg(test)]
                error: $error,
                #[cfg(test)]
                over: $over,
            },)+
            TRUNCATED,
        ];
        $(pub(super) const $operator: Operator = Operator { error: $error, ..Operator::new($name, $doc, read) };)+
    };
}

const STEP: Bound = Bound::steps(1.0);
/// A step, and 1/32 of a step for each unit of the value.
const SHARE: Bound = Bound::share(1.0, 1.0 / 32.0);

/// The whole number towards 0, for casts to integers.
const TRUNCATED: Row = Row {
    name: "Trunc",
    value: f64::trunc,
    shares: |x, _| x.truncate(),
    #[cfg(test)]
    error: Bound::EXACT,
    #[cfg(test)]
    over: [-20.0, 20.0],
};

functions! {
    ATAN "Atan" "The arc tangent in radians.", [-20.0, 20.0], Bound::steps(2.5), f64::atan, |x, _| x.atan();
    CEIL "Ceil" "The least whole number that is not less.", [-20.0, 20.0], Bound::EXACT, f64::ceil, |x, _| x.ceil();
    COS "Cos" "The cosine of an angle in radians.", [-30.0, 30.0], STEP, f64::cos, |x, _| x.cos();
    ERF "Erf" "The error function.", [-6.0, 6.0], STEP, erf, |x, _| x.erf();
    EXP "Exp" "e^x.", [-9.0, 5.0], SHARE, f64::exp, |x, _| x.exp();
    FLOOR "Floor" "The greatest whole number that is not greater.", [-20.0, 20.0], Bound::EXACT, f64::floor, |x, _| x.floor();
    HARD_SWISH "HardSwish" "x times x / 6 + 1/2, which is limited to 0 and 1.", [-20.0, 20.0], Bound::steps(2.0), |x| x * (x / 6.0 + 0.5).clamp(0.0, 1.0), hard_swish;
    LOG "Log" "The natural logarithm.", [0.01, 50.0], Bound::steps(1.0 + 1.0 / 32.0), f64::ln, |x, _| x.log();
    MISH "Mish" "x tanh(log(1 + e^x)).", [-20.0, 20.0], Bound::steps(1.5), mish, |x, _| mish_of(x);
    RECIPROCAL "Reciprocal" "1 / x.", [0.05, 40.0], SHARE, f64::recip, |x, _| x.reciprocal();
    ROUND "Round" "The nearest whole number, the even one of two.", [-20.0, 20.0], Bound::EXACT, f64::round_ties_even, |x, _| x.round_even();
    SIN "Sin" "The sine of an angle in radians.", [-30.0, 30.0], STEP, f64::sin, |x, _| x.sin();
    SOFTPLUS "Softplus" "log(1 + e^x).", [-30.0, 30.0], STEP, |x| x.max(0.0) + (-x.abs()).exp().ln_1p(), |x, _| x.softplus();
    SOFTSIGN "Softsign" "x / (1 + |x|).", [-30.0, 30.0], SHARE, |x| x / (1.0 + x.abs()), |x, _| softsign(x);
    SQRT "Sqrt" "The square root.", [0.0, 50.0], SHARE, f64::sqrt, |x, _| x.sqrt();
    TAN "Tan" "The tangent of an angle in radians.", [-1.2, 1.2], Bound::share(2.0, 8.0), f64::tan, |x, _| x.sin().divide(x.cos());
}

impl Unary {
    fn row(self) -> &'static Row {
        &FUNCTIONS[self.0]
    }

    /// Whether it is e^x, whose value on shares is the greatest number where it would be larger.
    pub(crate) fn is_exp(self) -> bool {
        self.row().name == "Exp"
    }

    fn named(name: &str) -> Option<Self> {
        FUNCTIONS.iter().position(|row| row.name == name).map(Unary)
    }
}

impl Definition for Unary {
    fn name(&self) -> &'static str {
        self.row().name
    }

    fn role(&self) -> ScaleRole {
        ScaleRole::Function
    }

    fn value(&self, reads: &[Arc<Array>], _: &[usize]) -> Array {
        reads[0].each(|x| (self.row().value)(f64::from(x)) as f32)
    }

    fn lower<'b>(&self, lower: &mut Lower<'b>, site: Site<'_>) -> Result<Held<'b>, Fault> {
        let held = lower.held(site.reads[0]).val;
        if held.ty().is_some_and(|ty| matches!(ty.scalar, Scalar::Int { .. })) {
            // Places are whole already.
            return Ok(Held::nominal(held.cast(lower.nominal())));
        }
        let x = lower.at_nominal(site.reads[0], site.at);
        Ok(Held::nominal((self.row().shares)(x, lower)))
    }

    /// Products with numbers of up to 4 have `cut` more bits.
    fn room(&self, room: &Room<'_>) -> f64 {
        match self.row().name {
            "HardSwish" => room.own(0.0).min(room.left(4.0, room.node, room.cut())),
            _ => room.own(0.0),
        }
    }
}

fn read(op: &Reading<'_>, import: &mut Import) -> Result<Known, Fault> {
    let function = Unary::named(&op.node.op);
    let function = function.ok_or_else(|| op.error("it is no function", "report this as a bug"))?;
    op.alike(import, Kind::Unary(function))
}

/// Converts places to numbers; another value stays as it is.
pub(crate) fn numbers(op: &Reading<'_>, import: &mut Import, at: usize) -> Result<Known, Fault> {
    if import.is_places(at) { truncated(op, import, at) } else { Ok(Known::Layer(at)) }
}

/// The elements of a layer's value, rounded towards 0.
pub(super) fn truncated(op: &Reading<'_>, import: &mut Import, at: usize) -> Result<Known, Fault> {
    let lengths = import.lengths(at).to_vec();
    op.made(import, Kind::Unary(Unary(FUNCTIONS.len() - 1)), vec![at], lengths)
}

/// A constant with `frac` fractional bits, and otherwise the type of another number.
fn number<'b>(of: Val<'b>, frac: u8, x: f64) -> Val<'b> {
    let bits = of.ty().map_or(64, |ty| ty.scalar.bits() as u8);
    let steps = (x * 2f64.powi(frac.into())).round() as i128;
    of.builder().number(Scalar::Fixed { bits, frac }, steps)
}

/// The operand limited to ±`most`, and the amount by which it is greater.
fn near<'b>(x: Val<'b>, most: f64) -> (Val<'b>, Val<'b>) {
    let frac = x.ty().map_or(0, |ty| ty.scalar.frac());
    let near = x.clamp(number(x, frac, -most), number(x, frac, most)).wrapping();
    (near, (x - near).max(number(x, frac, 0.0)))
}

/// Beyond ±3 the factor is 0 or 1. It is computed with `cut` fractional bits.
fn hard_swish<'b>(x: Val<'b>, lower: &Lower<'b>) -> Val<'b> {
    let (frac, cut) = (lower.numbers.frac, lower.numbers.cut);
    let (near, above) = near(x, 3.0);
    let factor = near * number(x, cut, 1.0 / 6.0) + number(x, frac + cut, 0.5);
    let product = near * factor.rescale(frac) + number(x, frac + cut, 0.5 / 2f64.powi(frac.into()));
    product.rescale(cut) + above
}

fn softsign(x: Val<'_>) -> Val<'_> {
    let frac = x.ty().map_or(0, |ty| ty.scalar.frac());
    x.divide(x.abs().wrapping() + number(x, frac, 1.0))
}

fn mish(x: f64) -> f64 {
    let n = (-x.abs()).exp();
    let (above, below) = if x < 0.0 { (n * n + 2.0 * n, 2.0) } else { (1.0 + 2.0 * n, 2.0 * n * n) };
    x * above / (above + below)
}

/// With n = e^−|x|, the factor is (2 n + 1) / (2 n + 1 + 2 n²) for x ≥ 0, and
/// (2 n + n²) / (2 n + n² + 2) below 0. Up to 8 more fractional bits make up for the product with
/// x. Beyond the limits, Mish is x or 0.
fn mish_of(x: Val<'_>) -> Val<'_> {
    let Some(of) = x.ty().map(|ty| ty.scalar) else { return x };
    let frac = of.frac();
    let (near, above) = near(x, 0.75 * f64::from(frac + 4) + 3.0);
    let fine = (frac + 8).min(32);
    let x = near.cast(Scalar::Fixed { bits: fine + 12, frac: fine });
    let power = (-x.abs()).exp();
    let (square, one) = (power.multiply(power), number(x, fine, 1.0));
    let is_below = x.less(number(x, fine, 0.0));
    let select = |yes, no| x.builder().select(is_below, yes, no);
    let dividend = (power << 1) + select(square, one);
    let divisor = dividend + (select(one, square) << 1);
    let made = x.multiply(dividend.divide(divisor));
    let half = number(x, fine, 2f64.powi(-i32::from(frac) - 1));
    let made = if fine == frac { made } else { made + half };
    made.cast(of) + above
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operators::checks::fixed;

    /// Every function, compared with f64 on arguments of its range and on whole numbers.
    #[test]
    fn errors_are_as_stated() {
        for (at, row) in FUNCTIONS.iter().enumerate() {
            let [low, high] = row.over;
            let all: Vec<f64> = (0..200).map(|k| low + (high - low) * f64::from(k) / 199.0).collect();
            for numbers in [32, 40, 64].map(Numbers::of) {
                let (given, made) = fixed(Kind::Unary(Unary(at)), &all, numbers);
                let step = 2f64.powi(-i32::from(numbers.frac));
                let Bound { steps, value, .. } = row.error;
                for (x, y) in given.iter().zip(made) {
                    let exact = (row.value)(*x);
                    let off = (y - exact).abs() / step;
                    let most = f64::from(steps) + f64::from(value) * exact.abs();
                    assert!(off <= most + 1e-6, "{} of {x}: {y}, not {exact}: {off} steps", row.name);
                }
            }
        }
    }
}
