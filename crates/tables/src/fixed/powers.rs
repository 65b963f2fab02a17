//! Roots, exponentials, logarithms and powers.

use super::{FRAC, Fixed, INSIDE, ONE};

/// ln 2 with 60 fractional bits.
const LN_2: i128 = 799_144_290_325_165_979;
/// 1 / ln 2 with 60 fractional bits.
pub(crate) const LOG2_E: i128 = 1_663_314_137_230_540_311;
/// The largest power of two of a result, and the number of bits that follow it.
const MOST: i128 = 62;

/// The square root of a number that is not negative.
#[cfg(test)]
pub(crate) fn root<F: Fixed>(x: F) -> F {
    x.left(FRAC).whole_root()
}

/// e to the power of a number, and whether it is too large.
pub(crate) fn exponential<F: Fixed>(x: F) -> (F, F::Truth) {
    of_inside(limited(x).left(INSIDE - FRAC), beyond(x))
}

/// The number, clamped to the limits of exponentials.
fn limited<F: Fixed>(x: F) -> F {
    let (low, high) = (x.same(-64 << FRAC), x.same(43 << FRAC));
    let x = F::choose(x.below(low), low, x);
    F::choose(high.below(x), high, x)
}

fn beyond<F: Fixed>(x: F) -> F::Truth {
    x.same(42 << FRAC).below(x)
}

/// e to the power of a number from −64 to 43, with [`INSIDE`] fractional bits.
fn of_inside<F: Fixed>(x: F, large: F::Truth) -> (F, F::Truth) {
    // x / ln 2 is a whole number plus a fraction below 1; 33 bits of it are multiplied at a time.
    let upper = x.right(30);
    let lower = x.minus(upper.left(30));
    let turns = upper.times(x.same(LOG2_E), 30).plus(lower.times(x.same(LOG2_E), INSIDE));
    let whole = turns.right(INSIDE);
    let rest = turns.minus(whole.left(INSIDE)).by(x.same(LN_2));
    let factorials = (1..=17).scan(ONE, |term, n| {
        let now = *term;
        *term /= n;
        Some(now)
    });
    let made = rest.polynomial(&factorials.collect::<Vec<_>>());
    // The number is shifted to the greatest power, then right by the difference.
    let mut made = made.left(MOST as u8 - (INSIDE - FRAC));
    let mut missing = x.same(MOST).minus(whole);
    for bit in (0..7).rev() {
        let step = missing.same(1 << bit);
        let less = missing.below(step);
        made = F::choose(less, made, made.right(1 << bit));
        missing = F::choose(less, missing, missing.minus(step));
    }
    (made, large)
}

/// The natural logarithm of a positive number, with [`INSIDE`] fractional bits.
pub(super) fn logarithm_inside<F: Fixed>(x: F) -> F {
    // The highest bit is moved to position 120.
    let large = x.same(1 << 120).below(x);
    let mut m = F::choose(large, x.right(6), x);
    let mut power = F::choose(large, x.same(126), x.same(120));
    for bit in (0..7).rev() {
        let places = 1u8 << bit;
        let fits = m.below(m.same(1 << (121 - places.min(120))));
        m = F::choose(fits, m.left(places), m);
        power = F::choose(fits, power.minus(power.same(places.into())), power);
    }
    let m = m.right(120 - INSIDE);
    // The range from 3/4 to 3/2, where the series is short.
    let high = m.same(ONE + ONE / 2).below(m);
    let m = F::choose(high, m.right(1), m);
    let power = F::choose(high, power.plus(power.same(1)), power).minus(power.same(FRAC.into()));
    let (above, sum) = (m.minus(m.same(ONE)), m.plus(m.same(ONE)));
    let size = above.size().left(INSIDE).over(sum);
    let ratio = F::choose(above.below(above.same(0)), size.negative(), size);
    let odd: Vec<i128> = (0..13).map(|n| ONE / (2 * n + 1)).collect();
    let series = ratio.by(ratio).polynomial(&odd).by(ratio).left(1);
    series.plus(power.times(power.same(LN_2), 0))
}

/// The natural logarithm of a positive number, times a public number with [`INSIDE`] fractional
/// bits.
pub(crate) fn logarithm<F: Fixed>(x: F, times: i128) -> F {
    scaled(logarithm_inside(x), times).right(INSIDE - FRAC)
}

/// The product of an internal number with at most seven bits before the point and a public one with
/// at most two.
fn scaled<F: Fixed>(x: F, times: i128) -> F {
    if times == ONE {
        return x;
    }
    let upper = x.right(30);
    let lower = x.minus(upper.left(30));
    upper.times(x.same(times), 30).plus(lower.times(x.same(times), INSIDE))
}

/// A positive number to the power of another, and whether it is too large.
pub(crate) fn power<F: Fixed>(x: F, exponent: F) -> (F, F::Truth) {
    let logarithm = logarithm_inside(x).right(INSIDE - 48);
    // 40 bits before the point are enough: other exponents give 0, 1 or a number that is too large.
    let most = exponent.same(1 << 62);
    let exponent = F::choose(most.below(exponent), most, exponent);
    let exponent = F::choose(exponent.below(most.negative()), most.negative(), exponent);
    let product = exponent.times(logarithm, 20);
    let whole = product.right(INSIDE - FRAC);
    let (low, high) = (product.same(-64 << INSIDE), product.same(43 << INSIDE));
    let product = F::choose(product.below(low), low, product);
    let product = F::choose(high.below(product), high, product);
    of_inside(product, beyond(whole))
}
