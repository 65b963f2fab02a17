//! Sines, cosines and their inverses; angles are in radians.

use super::{FRAC, Fixed, INSIDE, ONE};

/// 2 / π with 60 fractional bits.
const TWO_BY_PI: i128 = 733_972_625_820_500_307;
/// π / 2 with 60 fractional bits.
const HALF_PI: i128 = 1_811_004_864_519_280_711;
/// The number 2^-52, with [`INSIDE`] fractional bits. Sums and products of sines and cosines,
/// rounded down at each step, differ from their values by less.
pub(crate) const SLACK: i128 = 1 << (INSIDE - 52);

/// The quarter in which an angle lies, and its sine and cosine within that quarter.
fn turned<F: Fixed>(x: F) -> (F, F, F) {
    let turns = x.times(x.same(TWO_BY_PI), FRAC);
    let quarter = turns.plus(turns.same(ONE / 2)).right(INSIDE);
    let angle = turns.minus(quarter.left(INSIDE)).by(x.same(HALF_PI));
    let square = angle.by(angle);
    let series = |first: i128| -> Vec<i128> {
        let term = |term: &mut i128, n: i128| {
            let now = *term;
            *term = -now / ((2 * n + 1 + first) * (2 * n + 2 + first));
            Some(now)
        };
        (0..10).scan(ONE, term).collect()
    };
    let (sine, cosine) = (square.polynomial(&series(1)).by(angle), square.polynomial(&series(0)));
    (quarter.minus(quarter.right(2).left(2)), sine, cosine)
}

/// A sine wave that is `ahead` quarters ahead, with [`INSIDE`] fractional bits.
fn wave<F: Fixed>(x: F, ahead: i128) -> F {
    let (quarter, sine, cosine) = turned(x);
    let place = quarter.plus(quarter.same(ahead));
    let place = F::choose(place.below(place.same(4)), place, place.minus(place.same(4)));
    let second = place.below(place.same(2));
    let within = F::choose(second, place, place.minus(place.same(2)));
    let size = F::choose(within.below(within.same(1)), sine, cosine);
    F::choose(second, size, size.negative())
}

/// The sine, with [`FRAC`] or [`INSIDE`] fractional bits.
pub(crate) fn sine<F: Fixed>(x: F, frac: u8) -> F {
    wave(x, 0).right(INSIDE - frac)
}

/// The cosine, with [`FRAC`] or [`INSIDE`] fractional bits.
pub(crate) fn cosine<F: Fixed>(x: F, frac: u8) -> F {
    wave(x, 1).right(INSIDE - frac)
}

/// The angle of a tangent from 0 to 1, with [`INSIDE`] fractional bits.
fn angle<F: Fixed>(tangent: F) -> F {
    // Twice half an angle: half an angle is below 0.2, where the series is short.
    let halved = |x: F| {
        let hypotenuse = x.same(ONE).plus(x.by(x)).left(INSIDE).whole_root();
        x.left(INSIDE).over(x.same(ONE).plus(hypotenuse))
    };
    let x = halved(halved(tangent));
    let odd = |n: i128| if n % 2 == 0 { ONE / (2 * n + 1) } else { -ONE / (2 * n + 1) };
    x.by(x).polynomial(&(0..13).map(odd).collect::<Vec<_>>()).by(x).left(2)
}

fn signed<F: Fixed>(like: F, size: F) -> F {
    F::choose(like.below(like.same(0)), size.negative(), size)
}

/// The arc tangent.
pub(crate) fn arc_tangent<F: Fixed>(x: F) -> F {
    let size = x.size();
    let one = x.same(1 << FRAC);
    let steep = one.below(size);
    // A tangent above 1 is inverted.
    let inverse = x.same(1 << (INSIDE + FRAC)).over(size);
    let flat = F::choose(steep, one, size).left(INSIDE - FRAC);
    let made = angle(F::choose(steep, inverse, flat));
    let made = F::choose(steep, made.same(HALF_PI).minus(made), made);
    signed(x, made.right(INSIDE - FRAC))
}

/// The largest absolute value of a sine or a cosine, with these fractional bits, that has an angle.
/// A number with [`INSIDE`] fractional bits may exceed 1 by the total of the rounding of its parts.
pub(crate) const fn most_of_waves(frac: u8) -> i128 {
    if frac == INSIDE { ONE + SLACK } else { 1 << frac }
}

/// The arc sine, with [`INSIDE`] fractional bits, of a number of at most [`most_of_waves`]; beyond
/// 1 it is that of ±1.
fn arc_inside<F: Fixed>(x: F, frac: u8) -> F {
    let mut size = x.size().left(INSIDE - frac);
    if frac == INSIDE {
        let one = x.same(ONE);
        size = F::choose(one.below(size), one, size);
    }
    let cosine = x.same(ONE).minus(size.by(size)).left(INSIDE).whole_root();
    let made = angle(size.left(INSIDE).over(x.same(ONE).plus(cosine))).left(1);
    signed(x, made)
}

/// The arc sine of a number with these fractional bits.
pub(crate) fn arc_sine<F: Fixed>(x: F, frac: u8) -> F {
    arc_inside(x, frac).right(INSIDE - FRAC)
}

/// The arc cosine of a number with these fractional bits.
pub(crate) fn arc_cosine<F: Fixed>(x: F, frac: u8) -> F {
    x.same(HALF_PI).minus(arc_inside(x, frac)).right(INSIDE - FRAC)
}
